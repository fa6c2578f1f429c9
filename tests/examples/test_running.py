"""The examples' scripts before and when something goes wrong: nothing half made is left, and nothing else is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = ["liang2023", "zippy"]


def run(name: str, *argv: str | Path, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Run an example's script."""
    command = ["sh", str(EXAMPLES / name / "run"), *map(str, argv)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHON": python})


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_run_that_fails_leaves_no_study(tmp_path: Path, name: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for _ in range(2):  # the same line can be run again
        done = run(name, data, tmp_path / "out")
        assert done.returncode != 0
        assert "$ penmark init" in done.stdout
        assert done.stderr.endswith("the study was not finished, and is removed again\n")
        assert not any((tmp_path / "out").iterdir())


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_is_there_is_not_touched(tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    done = run(name, tmp_path, tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{tmp_path / 'out'} is not empty: name a new folder\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_usage(tmp_path: Path, name: str) -> None:
    done = run(name)
    assert done.returncode == 2
    assert "DATA" in done.stderr
    assert "removed" in done.stderr
    done = run(name, tmp_path / "gone", tmp_path / "out")
    assert (done.returncode, done.stderr) == (2, f"there is no folder {tmp_path / 'gone'}\n")
    done = run(name, tmp_path, tmp_path / "out", python="false")
    assert done.returncode == 2
    assert done.stderr.startswith("false has no penmark: make demo, or name another with PYTHON=")
    assert not (tmp_path / "out").exists()
