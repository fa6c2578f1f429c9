"""``penmark verify`` and ``verify.py`` before they check anything: whether there is a bundle, and where."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from tests.cases.case_study import Said, Trial, arm, penmark, seen, texts, verdicts

from penmark.demo.authority import run_local_authority


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds a study, and in it its bundle."""
    root = tmp_path_factory.mktemp("studied")
    trial = Trial(root / "study", [arm("A", "human", 1)], cards=[seen(**verdicts(Human="human", AI="ai"))])
    trial.frozen(A=texts(1))
    trial.record("seen", [{"document": "A-001", "displayed": "AI"}], "--by", "N", ending="csv")
    trial.done("report", "--close")
    trial.done("publish", "--no-tar")
    return root


def _bundle(root: Path) -> Path:
    [bundle] = (root / "study" / "bundles").iterdir()
    return bundle


def _alone(*argv: str | Path, cwd: Path | None = None) -> Said:
    program = str(files("penmark.standalone").joinpath("verify.py"))
    done = subprocess.run(
        [sys.executable, "-I", program, *map(str, argv)], capture_output=True, text=True, check=False, cwd=cwd
    )
    return Said(done.returncode, done.stdout, done.stderr)


Place = Callable[[Path], Path]
NONE: dict[str, tuple[Place, str]] = {
    "one level too high": (lambda root: _bundle(root).parent, "below"),
    "a study": (lambda root: root / "study", "below"),
    "above the study": (lambda root: root, "below"),
    "inside": (lambda root: _bundle(root) / "tables", "around"),
    "an edition": (lambda root: next((root / "study" / "editions").iterdir()), "study"),
}


@pytest.mark.parametrize("name", NONE)
def test_a_folder_that_is_no_bundle_is_told_where_one_is(studied: Path, name: str) -> None:
    place, where = NONE[name]
    said = penmark("verify", str(place(studied)))
    assert (said.code, said.out) == (2, "")
    fact, *remedy = said.err.splitlines()
    assert fact == f"penmark: {place(studied)}: is no bundle: it has neither format nor SHA256SUMS"
    told = "\n".join(remedy)
    assert (f"penmark verify {_bundle(studied)}" in told) == (where != "study")
    assert ("`penmark publish` makes its bundle" in told) == (where == "study")
    alone = _alone(place(studied))
    assert (alone.code, alone.out) == (2, "")
    assert alone.err.startswith(f"{place(studied)} is no bundle: it has neither format nor SHA256SUMS")
    assert (f"\n    {_bundle(studied)}\n" in alone.err) == (where != "study")


def test_an_empty_folder_and_one_that_is_not_there(tmp_path: Path) -> None:
    said = penmark("verify", str(tmp_path))
    assert said.code == 2
    assert "is no bundle" in said.err
    assert "tar -xf BUNDLE.tar" in said.err
    assert _alone(tmp_path).code == 2
    assert "there is no such folder" in penmark("verify", str(tmp_path / "gone")).err
    assert _alone(tmp_path / "gone").code == 2


def test_without_an_argument_it_is_the_current_folder(studied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_bundle(studied))
    said = penmark("verify")
    assert said.code == 0, said
    assert (
        said.out == penmark("verify", str(_bundle(studied))).out == penmark("-C", str(_bundle(studied)), "verify").out
    )
    assert _alone(cwd=_bundle(studied)).code == 0


@pytest.mark.parametrize("gone", ["format", "SHA256SUMS", "seals", "tables", "manifest.jsonl"])
def test_a_bundle_that_lacks_something_is_a_damaged_bundle(studied: Path, tmp_path: Path, gone: str) -> None:
    """What an attacker takes away makes a check fail, and never the question go away."""
    bundle = tmp_path / "bundle"
    shutil.copytree(_bundle(studied), bundle)
    shutil.rmtree(bundle / gone) if (bundle / gone).is_dir() else (bundle / gone).unlink()
    for said in (penmark("verify", str(bundle)), _alone(bundle)):
        assert said.code == 1
        assert "zip()" not in said.out + said.err


def test_a_row_of_another_length_is_told_in_words(studied: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(_bundle(studied), bundle)
    path = bundle / "tables" / "rates.csv"
    path.write_bytes(path.read_bytes().rstrip(b"\n") + b",1\n")
    for said in (penmark("verify", str(bundle)), _alone(bundle)):
        assert said.code == 1
        assert "rates.csv" in said.out
        assert "zip()" not in said.out + said.err


def test_a_damaged_timestamp_is_told_in_words_and_by_its_file(tmp_path: Path) -> None:
    with run_local_authority(tmp_path / "authority", "clock") as authority:
        further = {"authorities": [{"name": "clock", "url": authority.url}]}
        shown = seen(**verdicts(Human="human", AI="ai"))
        trial = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[shown], **further)
        trial.frozen(A=texts(1))
        trial.record("seen", [{"document": "A-001", "displayed": "AI"}], "--by", "N", ending="csv")
        bundle = trial.published()
    token = bundle / "seals" / "promise-clock.tsr"
    token.write_bytes(token.read_bytes()[:-20])
    said = penmark("verify", str(bundle))
    assert said.code == 1
    told = "2 seals         FAILED       seals/promise-clock.tsr: the token is damaged: a part of it cannot be read as what"
    assert any(line.startswith(told) for line in said.out.splitlines()), said.out
    assert "ParseError" not in said.out + said.err
