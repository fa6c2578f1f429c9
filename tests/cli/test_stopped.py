"""Ctrl-C, wherever a command is: exit code 130 and one line, and the study goes on from there."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cases.case_study import Said, Trial, arm, card, everything, seen, texts, verdicts

STOPPER = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started the tests with it ignored

class Stopper:
    '''Sends this process what Ctrl-C sends, when it looks for a module.'''
    def find_spec(self, name, path=None, target=None):
        if name == os.environ.get("STOP_AT"):
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Stopper())
"""
UNCHANGED = "stopped; nothing was changed\n"
STANDS = "stopped; no file is half written, and `penmark status` says where the study stands\n"


def stopped(folder: Path, at: str, *argv: str) -> Said:
    """Run the program, and stop it where it loads a module."""
    (folder / "stopper").mkdir(exist_ok=True)
    (folder / "stopper" / "sitecustomize.py").write_text(STOPPER)
    known = os.pathsep.join([str(folder / "stopper"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "penmark", *argv],
        env=os.environ | {"PYTHONPATH": known, "STOP_AT": at},
        capture_output=True,
        text=True,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    """A study that can be reported."""
    made = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[seen(**verdicts(Human="human", AI="ai"))])
    made.frozen(A=texts(1))
    assert made.record("seen", [{"document": "A-001", "displayed": "AI"}], "--by", "N", ending="csv").code == 0
    return made


@pytest.mark.parametrize("at", ["penmark.cli", "typer", "penmark.cli.terminal"])
@pytest.mark.parametrize("verb", ["status", "scan", "-h"])
def test_while_the_program_is_loaded(tmp_path: Path, at: str, verb: str) -> None:
    assert stopped(tmp_path, at, verb) == (130, "", UNCHANGED)


def test_a_command_that_only_reads(trial: Trial, tmp_path: Path) -> None:
    assert stopped(tmp_path, "penmark.stages.status", "-C", str(trial.root), "status") == (130, "", UNCHANGED)
    bundle = trial.published()
    for at in ("penmark.stages.verify", "penmark.page"):
        assert stopped(tmp_path, at, "verify", str(bundle)) == (130, "", UNCHANGED)


def reads(process: int) -> set[str]:
    """The files that a process has open."""
    found = set()
    with contextlib.suppress(OSError):  # it closes them as we look
        for held in Path(f"/proc/{process}/fd").iterdir():
            found.add(str(held.readlink()))
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc to see what a program reads")
def test_while_sums_are_made_of_very_large_files(trial: Trial, tmp_path: Path) -> None:
    """Nobody waits for what would take minutes: the sums are made in a thread."""
    bundle = trial.published()
    large = [bundle / "tables" / f"large{number}.csv" for number in range(4)]
    for path in large:
        with path.open("wb") as file:
            file.truncate(60 * 2**30)  # it takes no room
    listed = (bundle / "SHA256SUMS").read_text().splitlines()
    listed += [f"{'0' * 64}  tables/{path.name}" for path in large]
    (bundle / "SHA256SUMS").write_text("".join(f"{line}\n" for line in sorted(listed, key=lambda line: line[66:])))
    stopper = tmp_path / "stopper"
    stopper.mkdir()
    (stopper / "sitecustomize.py").write_text(STOPPER)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(stopper), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "penmark", "verify", str(bundle)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and str(large[0]) not in reads(process.pid):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, "", UNCHANGED)


def test_report_and_publish(trial: Trial, tmp_path: Path) -> None:
    run = ("-C", str(trial.root))
    before = everything(trial.root)
    assert stopped(tmp_path, "penmark.stages.score", *run, "report", "--close") == (130, "", STANDS)
    assert everything(trial.root) == before
    trial.done("report", "--close")
    before = everything(trial.root)
    assert stopped(tmp_path, "penmark.page.descriptions", *run, "publish") == (130, "", STANDS)
    assert everything(trial.root) == before
    trial.done("publish")


def test_a_scan_that_has_not_begun(tmp_path: Path) -> None:
    shipped = card(
        "length", ask={"by": "plugin", "plugin": "length"}, answer={"displayed": "/score", "score": "/score"}
    )
    made = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[shipped])
    made.frozen(A=texts(1))
    before = everything(made.root)
    assert stopped(tmp_path, "penmark.shipped.detectors.controls", "-C", str(made.root), "scan") == (130, "", STANDS)
    assert everything(made.root) == before
    assert made.run("scan").out.startswith("length: 1 documents: 1 ")
