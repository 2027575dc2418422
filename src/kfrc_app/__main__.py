"""The program's entry: from here on Ctrl-C is one line, and so is a package that is missing or a full disk."""

from __future__ import annotations

import sys

from kfrc_app._interrupts import INTERRUPTED, answer_interrupts, clean_up_quietly

MISSING_PACKAGE = 1


def main() -> None:
    """Run the ``kfrc`` program."""
    answer_interrupts()
    clean_up_quietly()
    from kfrc_app._streams import UNWRITTEN, flush_output, open_closed_streams, say_unwritten

    open_closed_streams()
    from kfrc_app.cli.termination import orderly_termination, prompt_end

    with prompt_end(), orderly_termination():
        try:
            code = _run()
        except KeyboardInterrupt:  # where somebody else answers Ctrl-C
            print("kfrc: interrupted", file=sys.stderr)
            raise SystemExit(INTERRUPTED) from None
        except OSError as error:  # help that cannot be printed
            flush_output()
            say_unwritten(error)
            raise SystemExit(UNWRITTEN) from None
        problem = flush_output()
        if problem is not None:
            say_unwritten(problem)
        raise SystemExit(code or (UNWRITTEN if problem else 0))


def _run() -> int:
    """The status of the command line."""
    from kfrc_app._missing import is_ours, missing_package

    try:
        from kfrc_app.cli.main import app
    except ModuleNotFoundError as error:
        if is_ours(error):
            raise  # installing packages would not help
        print(f"kfrc: {missing_package(error)}", file=sys.stderr)
        return MISSING_PACKAGE
    try:
        app(prog_name="kfrc")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


if __name__ == "__main__":
    main()
