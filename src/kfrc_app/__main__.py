"""The program's entry: says in one line which package is missing, or hands over to the command line."""

from __future__ import annotations

import sys

from kfrc_app._missing import missing_package
from kfrc_app.cli.termination import INTERRUPTED, orderly_termination, prompt_end

MISSING_PACKAGE = 1


def main() -> None:
    """Run the ``kfrc`` program."""
    with prompt_end(), orderly_termination():
        try:
            _run()
        except KeyboardInterrupt:  # before the command line could say so
            print("kfrc: interrupted", file=sys.stderr)
            raise SystemExit(INTERRUPTED) from None


def _run() -> None:
    try:
        from kfrc_app.cli.main import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("kfrc", "kfrc_app"):
            raise  # a module of our own: installing packages would not help
        print(f"kfrc: {missing_package(error)}", file=sys.stderr)
        raise SystemExit(MISSING_PACKAGE) from None
    app(prog_name="kfrc")


if __name__ == "__main__":
    main()
