"""The command line: one file a verb, imported only when it is called.

Results go to stdout, progress to stderr. Exit codes: 0 done, 1 a check failed or work is left, 2 usage, 3 a service failed.
*Never*: a traceback in front of a user, a prompt where there is no terminal.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from penmark import __version__
from penmark.errors import PenmarkError

VERBS = {
    "init": "Start a study, or a replication of somebody's bundle.",
    "commit": "Seal the promise: protocol, cards, seed.",
    "collect": "Fill an arm with texts and their provenance.",
    "screen": "Report every fault of the corpus in one pass.",
    "freeze": "Seal the corpus: from here on the documents stand.",
    "amend": "Announce a change of the promise for a later edition.",
    "scan": "Ask every detector about every document, once.",
    "record": "Import answers that exist elsewhere.",
    "report": "Make tables and page, and seal the evidence.",
    "publish": "Make the bundle that anyone can check.",
    "withdraw": "Take a volunteer's text out, for good.",
    "verify": "Check a bundle, in eight numbered checks.",
    "status": "Say where the study stands and what to run next.",
    "demo": "Run the whole pipeline on a small corpus, without keys.",
}
MISUSED: Any = typer.BadParameter.__mro__[2]
"""Every fault of usage; typer exports no nearer name of the class."""


class Verbs(TyperGroup):
    """A group whose commands are imported when they are called, so that `--help` stays quick."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"penmark.cli.{cmd_name}")
        single = typer.Typer(add_completion=False)
        single.command(name=cmd_name, help=(module.__doc__ or "").strip() or VERBS[cmd_name])(module.run)
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


app = typer.Typer(cls=Verbs, no_args_is_help=True, add_completion=True, rich_markup_mode=None)


def _version(value: bool) -> None:
    if value:
        print(f"penmark {__version__}")
        raise typer.Exit


@app.callback()
def _penmark(
    ctx: typer.Context,
    folder: Annotated[str, typer.Option("-C", metavar="DIR", help="Work on the study in DIR.")] = ".",
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Honest, checkable tests of AI-text detectors."""
    ctx.obj = folder


def invoke(argv: list[str] | None = None) -> int:
    """Run one command in this process; its exit code. Raises what the command raises."""
    code: Any = app(args=argv, standalone_mode=False)
    return code if isinstance(code, int) else 0


def main(argv: list[str] | None = None) -> None:
    """Entry point of the program ``penmark``."""
    code = 0
    try:
        code = invoke(argv)
    except (typer.Abort, KeyboardInterrupt):
        print("stopped", file=sys.stderr)
        sys.exit(130)
    except MISUSED as error:
        error.show()
        sys.exit(2)
    except PenmarkError as error:
        print(f"penmark: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        _unexpected(error)
        sys.exit(1)
    sys.exit(code)


def _unexpected(error: Exception) -> None:
    if os.environ.get("PENMARK_TRACEBACK"):
        raise error
    print(
        f"penmark: this should not happen ({type(error).__name__}: {error})\n"
        "    Please report it with what you ran; PENMARK_TRACEBACK=1 shows where it was.",
        file=sys.stderr,
    )
