"""What the system refuses: an output that is closed or full, a folder that is gone or may not be read. No traceback."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PENMARK = f"{shlex.quote(sys.executable)} -m penmark"
FULL = Path("/dev/full")


def run(line: str, cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run(["sh", "-c", line], cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A study that was begun."""
    folder = tmp_path / "study"
    assert run(f"{PENMARK} init study --template small --edition BENCH-2027-Q1", tmp_path)[0] == 0
    return folder


@pytest.mark.parametrize("verb", ["status", "status --json", "-h", "--version", "scan -h"])
@pytest.mark.parametrize(
    ("where", "said"),
    [
        (">&-", "penmark: standard output: bad file descriptor\n"),
        pytest.param(
            ">/dev/full",
            "penmark: standard output: no space left on device\n",
            marks=pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full"),
        ),
    ],
)
def test_a_standard_output_that_takes_nothing_is_told_in_a_line(begun: Path, verb: str, where: str, said: str) -> None:
    assert run(f"{PENMARK} {verb} {where}", begun) == (3, "", said)


def test_nothing_is_said_where_nobody_could_read_it(begun: Path) -> None:
    assert run(f"{PENMARK} status >&- 2>&-", begun) == (3, "", "")


@pytest.mark.parametrize("verb", ["status", "-h", "screen --json"])
def test_a_reader_that_has_seen_enough_is_no_fault(begun: Path, verb: str) -> None:
    code, out, err = run(f"{PENMARK} {verb} | head -c 1 >/dev/null; echo done", begun)
    assert (code, out) == (0, "done\n")
    assert "Traceback" not in err
    assert "should not happen" not in err


@pytest.mark.parametrize("verb", ["status", "scan", "verify", "commit"])
def test_a_working_folder_that_was_removed_is_named(tmp_path: Path, verb: str) -> None:
    code, out, err = run(f"mkdir gone && cd gone && rmdir ../gone && {PENMARK} {verb}", tmp_path)
    assert (code, out) == (3, "")
    assert err == "penmark: the working folder: was removed: go to one that is there\n"


DROPPED = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
"""Root, but for the right to read what nobody may."""
LESS = DROPPED if os.geteuid() == 0 else []


@pytest.mark.skipif(bool(LESS) and shutil.which("setpriv") is None, reason="root reads everything, without setpriv")
@pytest.mark.parametrize(
    ("verb", "folder"),
    [
        *itertools.product(
            ["status", "commit", "screen", "scan", "report"],
            ["", "editions", "editions/BENCH-2027-Q1", "editions/BENCH-2027-Q1/seals"],
        ),
        ("status", "corpus"),
        ("commit", "corpus"),
    ],
)
def test_a_folder_that_may_not_be_read_is_named(begun: Path, verb: str, folder: str) -> None:
    shut = begun / folder
    shut.mkdir(parents=True, exist_ok=True)
    shut.chmod(0)
    argv = [*LESS, sys.executable, "-m", "penmark", "-C", str(begun), verb]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    shut.chmod(0o755)
    assert done.returncode in (1, 2, 3), (done.stdout, done.stderr)
    assert "should not happen" not in done.stderr
    assert "ermission denied" in done.stderr + done.stdout, (done.stdout, done.stderr)
    assert folder in done.stderr + done.stdout
    assert "next: penmark" not in done.stdout
