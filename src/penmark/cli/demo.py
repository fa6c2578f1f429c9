"""Run the whole pipeline on a small corpus, without keys: a study, its bundle, and both verifiers.

It demonstrates the machinery and measures nothing. Every command is printed as you would type it. With `--vendors` it
rehearses a run that costs money, against servers on this machine that answer as the vendors do; that is not published.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from penmark import demo, study
from penmark.cli import invoke
from penmark.demo import rehearsal
from penmark.demo.authority import run_local_authority
from penmark.errors import PenmarkError, UsageError

UNFINISHED = "unfinished.lock"
"""Lies in the folder until the demonstration has come to its end."""
_PARTS = ("authority", "study", "material", "bundle", "bundle.tar", ".bundle.tmp", ".bundle.tar.tmp")
_ELSEWHERE = "Name a new folder with --out (`make demo DEMO=FOLDER`), or move that one away."


def run(
    ctx: typer.Context,
    out: Annotated[Path, typer.Option("--out", help="A new folder for study and bundle.")] = Path("penmark-demo"),
    vendors: Annotated[
        bool, typer.Option("--vendors", help="Rehearse a paid run: doubles answer in the vendors' place.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON at the end.")] = False,
) -> int:
    said = sys.stderr if as_json else sys.stdout
    print(demo.SAID_FIRST, file=said, flush=True)
    demo.check_installed(detectors=not vendors)
    with _open_fresh_folder(out):
        return _run_rehearsal(out.resolve(), as_json) if vendors else _run_demonstration(out.resolve(), as_json)


@contextlib.contextmanager
def _open_fresh_folder(out: Path) -> Iterator[None]:
    """The folder of a demonstration, empty. One that did not come to its end is begun anew: the same command does that,
    after whatever stopped it. Raises UsageError for a folder that holds anything else."""
    mark = out / UNFINISHED
    if out.exists() and not mark.is_file() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("is there already", place=str(out), remedy=_ELSEWHERE)
    with study.lock_file(mark, "`penmark demo`"):
        there = sorted(path.name for path in out.iterdir() if path != mark)
        if others := [name for name in there if name not in _PARTS]:
            fact = f"holds a demonstration that did not come to its end, and {', '.join(others[:3])}"
            raise UsageError(fact, place=str(out), remedy=_ELSEWHERE)
        for name in there:
            shutil.rmtree(out / name) if (out / name).is_dir() else (out / name).unlink()
        yield
        mark.unlink()


def _run_demonstration(out: Path, as_json: bool) -> int:
    said = sys.stderr if as_json else sys.stdout
    with run_local_authority(out / "authority", "demo") as authority:
        _make_study(out, authority.url)
    print("\nTable 1 (of a demonstration: it measures nothing)\n", file=said)
    for line in demo.summarise_table1(out / "bundle" / "tables" / "table1.csv"):
        print(line, file=said)
    print("\nThe checks of penmark verify\n", file=said, flush=True)
    code = _run_verb("verify", str(out / "bundle"))
    print("\nThe checks of verify.py, which needs nothing but Python\n", file=said, flush=True)
    alone = [sys.executable, "-I", str(out / "bundle" / "verify.py"), str(out / "bundle")]
    echo_command(alone)
    second = subprocess.run(alone, check=False, stdout=sys.stderr if as_json else None).returncode
    page = out / "bundle" / "report" / "index.html"
    if as_json:
        result = {
            "study": str(out / "study"),
            "bundle": str(out / "bundle"),
            "page": str(page),
            "verify": code,
            "verify_py": second,
        }
        print(json.dumps(result))
    print(f"\nThe page is at {page}", file=said)
    for line in _describe_trust(out):
        print(line, file=said)
    print(f"Change one digit anywhere in {out / 'bundle'}, verify again, and see where it is found.", file=said)
    return max(code, second)


def _describe_trust(out: Path) -> list[str]:
    """Why the timestamps are not checked, and with what they are."""
    stamps = len(list((out / "bundle" / "seals").glob("*.tsr")))
    return [
        f'The {stamps} timestamps are "not checked" above, since no known authority signed them: it was one that the',
        "demonstration made on this machine, and a bundle cannot say whom to trust. If you trust it, they are ok:",
        f"    penmark verify {_shorten_path(out / 'bundle')} --trust {_shorten_path(out / 'authority' / 'root.pem')}",
    ]


def _shorten_path(path: Path) -> Path:
    """The path as one would type it from here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _make_study(out: Path, authority: str) -> None:
    place = str(out / "study")
    _run_or_stop("init", place, "--template", "humanflow", "--name", "penmark-demo")
    demo.write_demo_protocol(study.Study(out / "study").edition(), authority)
    print("  (the demonstration's protocol takes the template's place)", file=sys.stderr)
    _make_corpus(out)
    _run_or_stop("-C", place, "scan")
    _run_or_stop("-C", place, "report")
    _run_or_stop("-C", place, "publish", "--out", str(out / "bundle"))


def _make_corpus(out: Path, *, written: bool = False) -> None:
    """Promise, collect, screen and freeze. ``written``: by the models of the protocol, not taken from what is stored."""
    at = ("-C", str(out / "study"))
    _run_or_stop(*at, "commit")
    human, ai = demo.write_material(out / "material")
    stored = [("A", human, "archive", "released"), *([] if written else [("C", ai, "generated", "stated")])]
    for arm, folder, kind, grade in stored:
        options = [f"--option={each}" for each in ("language=en", f"kind={kind}", f"grade={grade}")]
        _run_or_stop(*at, "collect", arm, "--from", "folder", "--path", str(folder), *options)
    if written:
        _run_or_stop(*at, "collect", "C", "--plan")
        _run_or_stop(*at, "collect", "C")
    _run_or_stop(*at, "screen")
    _run_or_stop(*at, "freeze")


# --- the rehearsal -------------------------------------------------------------------------------------------------


def _run_rehearsal(out: Path, as_json: bool) -> int:
    """A paid run against the vendors' doubles, up to the page. Exit code 0 where `publish` has refused it."""
    said = sys.stderr if as_json else sys.stdout
    place, at = study.Study(out / "study"), ("-C", str(out / "study"))
    with (
        run_local_authority(out / "authority", "demo") as authority,
        rehearsal.run_vendor_doubles() as there,
        rehearsal.run_provider_doubles() as writers,
    ):
        _run_or_stop("init", str(place.root), "--template", "humanflow", "--name", "penmark-rehearsal")
        edition = place.edition()
        demo.write_demo_protocol(
            edition, authority.url, title=rehearsal.TITLE, detectors=rehearsal.list_detector_lines()
        )
        rehearsal.write_cards(place, there)
        rehearsal.write_models(edition, writers)
        told = "doubles stand for providers and vendors"
        print(f"  (the rehearsal's protocol and cards take their places: {told})", file=sys.stderr)
        _make_corpus(out, written=True)
        _run_or_stop(*at, "scan", "--check")
        _run_or_stop(*at, "scan", "--plan")
        _run_or_stop(*at, "scan", *rehearsal.list_budget_options(place, edition))
        _run_or_stop(*at, "report")
    print("\nTable 1 (of a rehearsal: it measures nothing)\n", file=said)
    for line in demo.summarise_table1(edition.tables / "table1.csv"):
        print(line, file=said)
    try:
        _run_verb(*at, "publish", "--out", str(out / "bundle"))
        refused = ""
    except UsageError as error:
        refused = str(error)
        print(f"penmark: {refused}", file=sys.stderr)
    page = edition.report / "index.html"
    if as_json:
        print(json.dumps({"study": str(place.root), "page": str(page), "publish": refused}))
    print(f"\nThe page is at {page}", file=said)
    return 0 if refused else 1


def _run_or_stop(*argv: str) -> None:
    code = _run_verb(*argv)
    if code != 0:
        raise PenmarkError(f"`penmark {' '.join(argv)}` ended with {code}", remedy="What it printed above says why.")


def _run_verb(*argv: str) -> int:
    echo_command(["penmark", *argv])
    return invoke(list(argv))


def echo_command(argv: list[str]) -> None:
    """The command as one would type it, on stderr, after what is still to be written to stdout."""
    sys.stdout.flush()
    print(
        "$ "
        + " ".join(a if a.replace("/", "").replace("-", "").replace(".", "").isalnum() else f"'{a}'" for a in argv),
        file=sys.stderr,
        flush=True,
    )
