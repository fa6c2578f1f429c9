"""Each format that was ever written stays verifiable, under releases that write another, and under later names of this one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.forgeries import both_verifiers

import penmark
from penmark.format import versions

FORMAT1 = Path(__file__).parent / "format1"
VERIFIER = Path(penmark.__file__).parent / "standalone" / "verify.py"
OF_RULES = ("page and words, made again", "tables/departures.csv, of cards", "tables/warnings.csv")
"""What depends on the rules of a release, which are others now, by subject."""


@pytest.fixture(scope="module")
def format1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden bundle as the last release that wrote format 1 wrote it."""
    folder = tmp_path_factory.mktemp("format1") / "GOLDEN-2024-Q4"
    with tarfile.open(FORMAT1 / "bundle.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return folder


def _of_rules(check: dict[str, Any]) -> bool:
    journal = check["subject"].startswith("journal/") and "remarks on answers" in str(check["got"])
    return journal or check["subject"] in OF_RULES


def _alike(got: str) -> str:
    """Words about how much was held, and about whose file verify.py is, without the number and the age."""
    return re.sub(r"^\d+ (?=tables)", "", got.replace("an earlier release", "this release"))


def _left(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = [
        {key: value for key, value in check.items() if value is not None} for check in checks if not _of_rules(check)
    ]
    return [{**each, "got": _alike(str(each.get("got")))} for each in kept]


def test_a_bundle_of_format_1_is_found_as_before_word_for_word(format1: Path) -> None:
    before = json.loads((FORMAT1 / "findings.json").read_text(encoding="utf-8"))
    ours = [check.model_dump() for check in both_verifiers.ours(format1).checks]
    assert _left(ours) == _left(before["penmark"])
    alone = subprocess.run([sys.executable, VERIFIER, format1, "--json"], capture_output=True, check=False)
    assert alone.returncode == 0
    assert json.loads(alone.stdout)["checks"] == before["verify.py"]


def test_what_follows_from_the_rules_of_a_release_is_not_checked_under_others_and_says_so(format1: Path) -> None:
    of_rules = [check for check in both_verifiers.ours(format1).checks if _of_rules(check.model_dump())]
    assert {check.state for check in of_rules} == {"not checked"}
    assert all(
        f"rules 1; this release has {versions.RULES}" in str(c.got) for c in of_rules if "journal" not in c.subject
    )


def test_a_release_whose_number_alone_changed_leaves_no_more_not_checked(golden: Path, tmp_path: Path) -> None:
    later = tmp_path / "later" / "penmark"
    shutil.copytree(Path(penmark.__file__).parent, later, ignore=shutil.ignore_patterns("__pycache__"))
    start = later / "__init__.py"
    text = start.read_text(encoding="utf-8")
    start.write_text(text.replace(f'"{penmark.__version__}"', '"0.9.9"'), encoding="utf-8")
    found = {}
    for name, source in (("now", Path(penmark.__file__).parents[1]), ("later", later.parent)):
        argv = [sys.executable, "-m", "penmark", "verify", str(golden), "--json"]
        environment = {**os.environ, "PYTHONPATH": str(source)}
        done = subprocess.run(argv, capture_output=True, env=environment, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr
        found[name] = json.loads(done.stdout)["checks"]
    version = [sys.executable, "-m", "penmark", "--version"]
    environment = {**os.environ, "PYTHONPATH": str(later.parent)}
    said = subprocess.run(version, capture_output=True, env=environment, cwd=tmp_path, check=False, text=True).stdout
    assert said == "penmark 0.9.9\n"
    assert found["later"] == found["now"]


@pytest.mark.parametrize("number", ["3", "17", "999999999"])
def test_a_bundle_of_a_newer_format_is_one_line_and_exit_2_in_both_verifiers(
    golden: Path, tmp_path: Path, number: str
) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(golden, bundle)
    (bundle / "format").write_text(f"{number}\n")
    argv = [sys.executable, "-m", "penmark", "verify", str(bundle)]
    ours = subprocess.run(argv, capture_output=True, check=False, text=True)
    assert (ours.returncode, ours.stdout) == (2, "")
    assert ours.stderr == f"penmark: {bundle}: is of format {number}; this release knows 1 and 2: use a newer release\n"
    alone = subprocess.run([sys.executable, VERIFIER, bundle], capture_output=True, check=False, text=True)
    assert (alone.returncode, alone.stdout) == (2, "")
    assert alone.stderr == f"{bundle}: is of format {number}; this verify.py knows 1 and 2: use a newer release\n"


@pytest.mark.parametrize("number", ["1", "0", "02", "2 ", "two", ""])
def test_a_number_that_is_not_that_of_the_bundle_fails_in_both_verifiers(
    golden: Path, tmp_path: Path, number: str
) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(golden, bundle)
    (bundle / "format").write_text(f"{number}\n")
    assert both_verifiers.ours(bundle).failed
    assert both_verifiers.alone(bundle).failed
