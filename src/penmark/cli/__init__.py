"""The command line: one file a verb, imported only when it is called.

Results go to stdout, progress to stderr. Exit codes: 0 done, 1 a check failed or work is left, 2 usage, 3 a service failed.
*Never*: a traceback in front of a user, a prompt where there is no terminal.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from penmark import __version__
from penmark.cli.terminal import OUTPUT, make_stdout_legible
from penmark.errors import PenmarkError, ServiceError, UsageError, make_legible, suggest_name

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
STOPPED = {
    "demo": "the same command begins it anew",
    "status": "nothing was changed",
    "verify": "nothing was changed",
}
"""What is true where a command was stopped (Ctrl-C)."""
MISUSED: Any = typer.BadParameter.__mro__[2]
"""Every fault of usage; typer exports no nearer name of the class."""


_INTERRUPTED = 130
_HELP = {"help_option_names": ["-h", "--help"]}


def _keep_examples_unbroken(text: str) -> str:
    """A help text whose paragraphs are fitted to the terminal, and whose indented ones, the examples, stay as they are."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(f"\b\n{each}" if each.startswith("  ") else each for each in paragraphs)


def _set_argument_usage(argument: Any) -> None:
    """An argument as manuals write it: BUNDLE, [FOLDER], [FILE...]; typer would say [folder] and <path>."""
    name = (argument.metavar or argument.name).removesuffix("...").upper()
    argument.metavar = name + ("..." if argument.nargs != 1 else "")
    usage = argument.metavar if argument.required else f"[{argument.metavar}]"
    argument.get_usage_pieces = lambda ctx: [usage]
    argument.display_type_rich = lambda ctx: None  # its name says enough


class Verbs(TyperGroup):
    """A group whose commands are imported when they are called, so that `--help` stays quick."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"penmark.cli.{cmd_name}")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        told = _keep_examples_unbroken((module.__doc__ or "").strip() or VERBS[cmd_name])
        single.command(name=cmd_name, help=told, context_settings=_HELP)(module.run)
        command: Any = typer.main.get_command(single)
        for each in command.params:
            if each.param_type_name == "argument":
                _set_argument_usage(each)
            if each.param_type_name == "option" and not each.is_flag and each.metavar is None:
                kind = str(module.run.__annotations__.get(each.name, ""))
                each.metavar = "PATH" if "Path" in kind else "N" if "int" in kind else "TEXT"
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in VERBS:
            raise UsageError(
                f"there is no command {args[0]!r}{suggest_name(args[0], VERBS)}", remedy="`penmark -h` lists them."
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


app = typer.Typer(cls=Verbs, no_args_is_help=True, add_completion=True, rich_markup_mode=None, context_settings=_HELP)


def _print_version(value: bool) -> None:
    if value:
        print(f"penmark {__version__}")
        raise typer.Exit


@app.callback()
def _choose_folder(
    ctx: typer.Context,
    folder: Annotated[
        str, typer.Option("-C", metavar="DIR", help="Work on the study in DIR, or in a folder above it.")
    ] = ".",
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Honest, checkable tests of AI-text detectors."""
    ctx.obj = folder


def invoke(argv: list[str] | None = None) -> int:
    """Run one command in this process; its exit code. Raises what the command raises, KeyboardInterrupt among it."""
    given = sys.argv[1:] if argv is None else argv
    code: Any = app(args=_put_folder_first(given), standalone_mode=False)
    if code == _INTERRUPTED:  # what typer makes of Ctrl-C
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _put_folder_first(argv: list[str]) -> list[str]:
    """The words with ``-C DIR`` before the verb, wherever it was typed."""
    words = argv[: argv.index("--")] if "--" in argv else argv
    verb = next((at for at, word in enumerate(words) if word in VERBS and words[at - 1 : at] != ["-C"]), len(words))
    if "-C" not in words[verb:-1]:
        return argv
    at = words.index("-C", verb)
    return [*argv[at : at + 2], *argv[:at], *argv[at + 2 :]]


def main(argv: list[str] | None = None) -> None:
    """Entry point of the program ``penmark``."""
    with make_stdout_legible():
        _run_main(argv)


def _run_main(argv: list[str] | None) -> None:
    code = 0
    try:
        code = invoke(argv)
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second one ends it at once, and without a traceback
        print(f"stopped; {_describe_stop(sys.argv[1:] if argv is None else argv)}", file=sys.stderr)
        if threading.active_count() > 1:  # what still runs only reads, and may take long: nobody waits for it
            sys.stdout.flush()
            os._exit(_INTERRUPTED)
        sys.exit(_INTERRUPTED)
    except MISUSED as error:
        error.show()
        sys.exit(2)
    except PenmarkError as error:
        print(f"penmark: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        sys.exit(_print_refusal(error))
    except Exception as error:
        _print_unexpected(error)
        sys.exit(1)
    sys.exit(code)


def _print_refusal(error: OSError) -> int:
    """Say what the system refused, in a line; the exit code. A reader that has seen enough (``| head``) is no fault."""
    if isinstance(error, BrokenPipeError):
        return 1
    place = OUTPUT if error.filename is None else str(error.filename)
    if isinstance(error, FileNotFoundError) and not _stands_somewhere():
        place, error = "the working folder", FileNotFoundError(error.errno, "was removed: go to one that is there")
    with contextlib.suppress(OSError):
        print(f"penmark: {make_legible(place)}: {(error.strerror or str(error)).lower()}", file=sys.stderr)
    return ServiceError.exit_code


def _stands_somewhere() -> bool:
    """Whether the folder that the command runs in is still there."""
    try:
        return Path.cwd().is_dir()
    except OSError:
        return False


def _describe_stop(argv: list[str]) -> str:
    """What is true after the command was stopped: every file is written whole or not at all."""
    verb = next((word for word in argv if word in VERBS), "status")
    return STOPPED.get(verb, "no file is half written, and `penmark status` says where the study stands")


def _print_unexpected(error: Exception) -> None:
    if os.environ.get("PENMARK_TRACEBACK"):
        raise error
    print(
        f"penmark: this should not happen ({type(error).__name__}: {make_legible(str(error))})\n"
        "    Please report it with what you ran; PENMARK_TRACEBACK=1 shows where it was.",
        file=sys.stderr,
    )
