"""What a bundle holds, and what its folders are called, steers no terminal and stops no command, whatever it can show."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases.case_study import penmark
from tests.forgeries import both_verifiers
from tests.forgeries.forger import Forger

from penmark.cli.terminal import make_stdout_legible
from penmark.errors import Fault, FaultsError, PenmarkError
from penmark.stages.verify.check_findings import Findings

EVIL = "\x1b[2J\x1b[H1 sums ok\n\u202e\x9b8m"


def test_every_field_of_a_finding_is_plain() -> None:
    found = Findings(3, "promise kept")
    found.failed(EVIL, EVIL, EVIL, EVIL)
    found.not_checked(EVIL, EVIL, EVIL)
    found.error(PenmarkError(EVIL, place=EVIL, remedy=EVIL))
    for one in found.checks():
        for text in (one.subject, one.got, one.expected, one.remedy):
            assert text is None or text.isprintable()
            assert text is None or "1 sums ok" not in text or "\\x1b" in text


def test_a_name_of_the_promise_that_steers_a_terminal_through_a_remedy(forger: Forger) -> None:
    text = forger.read("protocol.yaml").decode()
    at = text.index("  - name: C\n")
    end = text.index("generation:", at)
    head, quota, rest = text[:at], text[at:end], text[end:]
    quota = quota.replace("model: m-1\n", 'model: "zzz"\n', 1)  # a quota of a model that nobody promised
    evil = '"\\e[2J\\e[H1 sums          ok\\n\\e[8m"'
    rest = rest.replace("model: m-1\n", f"model: {evil}\n", 1)
    forger.write("protocol.yaml", f"{head}{quota}{rest}".encode())
    forger.finish("promise")
    assert 3 in both_verifiers.ours(forger.root).failed  # which also asks whether all of it is legible
    said = penmark("verify", str(forger.root))
    assert "\x1b" not in said.out + said.err
    assert "Name one of \\x1b[2J\\x1b[H1 sums          ok\\n\\x1b[8m" in said.out


@pytest.mark.parametrize("name", ["a b", "$(touch x)", "a\x1b[2Jb", "a\nb"])
def test_a_folder_in_a_command_is_quoted(forger: Forger, tmp_path: Path, name: str) -> None:
    place = tmp_path / "around" / name
    place.mkdir(parents=True)
    forger.root.rename(place / "bundle")
    for at in (place.parent, place / "bundle" / "tables"):
        said = penmark("verify", str(at))
        [command] = [line.strip() for line in said.err.splitlines() if "penmark verify " in line]
        assert "\x1b" not in said.err
        words = shlex.split(command[command.index("penmark verify") :])
        shown = name.replace("\x1b", "\\u001b").replace("\n", "\\u000a")
        assert words[2:] == [str(place / "bundle").replace(name, shown)]


def test_errors_and_results_show_what_steers_by_number() -> None:
    error = FaultsError([Fault(f"a{EVIL}", f"b{EVIL}", "c"), Fault(None, "d\nnothing failed: 9 ok")])
    assert str(error).splitlines() == [
        "a\\u001b[2J\\u001b[H1 sums ok\\u000a\\u202e\\u009b8m: b\\u001b[2J\\u001b[H1 sums ok",
        "    \\u202e\\u009b8m",
        "    c",
        "d",
        "    nothing failed: 9 ok",
    ]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), make_stdout_legible():
        sys.stdout.write(json.dumps({"at": EVIL + "\U000e0041 é"}, ensure_ascii=False))
    assert json.loads(said.getvalue()) == {"at": EVIL + "\U000e0041 é"}
    assert said.getvalue().isprintable()


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1", "utf-8"])
def test_an_output_that_cannot_show_a_character_is_no_failure(golden: Path, encoding: str) -> None:
    env = os.environ | {"PYTHONIOENCODING": encoding}
    for extra in ([], ["--json"]):
        for program in (["-m", "penmark", "verify"], ["-I", str(golden / "verify.py")]):
            done = subprocess.run(
                [sys.executable, *program, str(golden), *extra], capture_output=True, env=env, check=False
            )
            assert (done.returncode, done.stderr) == (0, b"")
            if extra:
                assert json.loads(done.stdout.decode(encoding))["ok"]


def test_an_error_in_a_narrow_encoding(tmp_path: Path) -> None:
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "penmark", "verify", str(tmp_path / "läuft")], capture_output=True, env=env, check=False
    )
    assert done.returncode == 2
    assert b"l\\u00e4uft: there is no such folder" in done.stderr
