"""The ``kfrc`` program: its verbs, and how it ends (0 fine, 1 bad data, 2 wrong usage, 130 Ctrl-C, 143 SIGTERM)."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kfrc_app._interrupts import Working
from kfrc_app._missing import is_ours, missing_package
from kfrc_app._streams import flush_output, unwritten
from kfrc_app.cli import app as page
from kfrc_app.cli import compare, demo, diagnose, fit, indices, predict, study
from kfrc_app.cli.console import say_problem
from kfrc_app.cli.termination import INTERRUPTED, orderly_termination

DATA_PROBLEM = 1


class Verbs(TyperGroup):
    """Runs a verb; what is wrong with the data becomes one line, not a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        try:
            with Working(), orderly_termination():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            say_problem("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise  # the reader of our output left: no problem of the data
        except ModuleNotFoundError as error:
            if is_ours(error):
                raise  # a mistake of ours, which installing packages would not help
            say_problem(missing_package(error))
        except MemoryError as error:
            say_problem(str(error) or "not enough memory for these data: use fewer rows")
        except OSError as error:
            say_problem(_in_words(error))
            flush_output()
        except ValueError as error:
            say_problem(error)
        raise typer.Exit(DATA_PROBLEM)


def _in_words(error: OSError) -> str:
    """What the system says, with the name of the file and without a number."""
    if error.strerror is None:
        return str(error)
    return unwritten(error) if error.filename is None else f"{error.filename}: {error.strerror}"


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes around help and errors do not fit a narrow window
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (
    demo.demo,
    page.app,
    fit.fit,
    predict.predict,
    diagnose.diagnose,
    indices.indices,
    compare.compare,
):
    app.command()(verb)
app.add_typer(study.app, name="study")


def _show_version(value: bool) -> None:
    if value:
        from kfrc import __version__

        typer.echo(f"kfrc {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Fuzzy clustering with tuned bandwidths: which rows belong together, to what degree, by which columns."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a bar or a Greek letter gets a question mark instead of an error.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    app()
