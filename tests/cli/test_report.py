"""``penmark report`` as a user runs it, before its time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases.case_study import Trial, arm, everything, penmark, read_csv, seen, texts, verdicts

CARD = seen(**verdicts(Human="human", AI="ai"))


@pytest.mark.parametrize("further", [(), ("--boundary", "seen=0.5"), ("--close",)])
def test_before_its_time_it_names_the_next_command(tmp_path: Path, further: tuple[str, ...]) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[CARD])
    said = trial.run("report", *further)
    assert said.code == 2
    assert "is not promised yet, so there is nothing to report\n    Run `penmark commit` first." in said.err
    trial.done("commit")
    said = trial.run("report", *further)
    assert said.code == 2
    assert "has no frozen corpus yet, so there is nothing to report\n    Run `penmark freeze` first." in said.err


def test_without_what_makes_the_page_nothing_is_sealed(tmp_path: Path) -> None:
    """In a program of its own, in which neither jinja2 nor what it brings along can be imported."""
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[CARD])
    trial.frozen(A=texts(1))
    hidden = "import sys\nsys.modules |= {'jinja2': None, 'markupsafe': None}\nfrom penmark.cli import main\nmain(sys.argv[1:])"
    for words, state in ((("report", "--close"), False), (("report", "--help"), False)):
        argv = [sys.executable, "-c", hidden, "-C", str(trial.root), *words]
        said = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert (trial.edition.seal("evidence").exists(), said.returncode) == (state, 0 if "--help" in words else 2)
        assert "this should not happen" not in said.stderr
        if "--help" not in words:
            assert said.stderr == (
                "penmark: the page needs jinja2, which is not installed\n"
                "    pip install 'penmark[report]' (in a checkout of penmark: pip install '.[report]')\n"
            )


@pytest.fixture
def published(tmp_path: Path) -> tuple[Trial, Path]:
    """Four human texts whose displays people copied: at the promised boundary, 0.5, one of them is called AI."""
    trial = Trial(tmp_path / "study", [arm("A", "human", 4)], cards=[seen()])
    trial.frozen(A=texts(4))
    rows = [{"document": f"A-00{n}", "displayed": shown} for n, shown in enumerate(("0.1", "0.30", "0.45", "0.9"), 1)]
    trial.record("seen", rows, ending="csv")
    return trial, trial.published()


def test_anyone_may_ask_a_bundle_for_another_boundary(published: tuple[Trial, Path]) -> None:
    trial, bundle = published
    before = everything(bundle)
    said = penmark("-C", str(bundle), "report", "--boundary", "seen=0.30")
    folder = bundle.with_name("study-bundle-what-if") / "seen-0.30"
    assert (said.code, said.out) == (
        0, f"{folder}: tables and page at another boundary than the promised one; each says so\n"
    )  # fmt: skip
    [row] = read_csv(folder / "tables" / "table1.csv")
    assert (row["false_positives"], row["human_n"], row["fp_rate"]) == ("3", "4", "0.750000")
    assert row["what_if"] == "recomputed at seen 0.30; not the promised boundary"
    told = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "Recomputed at another boundary than the promised one for" in told
    assert everything(bundle) == before
    trial.done("report", "--boundary", "seen=0.30")
    assert everything(trial.edition.root / "what-if" / "seen-0.30") == everything(folder)


def test_numbers_of_a_bundle_that_fails_are_not_made(published: tuple[Trial, Path], tmp_path: Path) -> None:
    bundle = published[1]
    path = bundle / "tables" / "table1.csv"
    path.write_bytes(path.read_bytes().replace(b"0.250000", b"0.260000"))
    said = penmark("-C", str(bundle), "report", "--boundary", "seen=0.3", "--out", str(tmp_path / "new"))
    assert said.code == 1
    assert f"{bundle}: fails its verification (" in said.err
    assert f"`penmark verify {bundle}` says which" in said.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--boundary", "seen"), "--boundary seen\n    Write --boundary DETECTOR=VALUE"),
        (("--boundary", "=1"), "--boundary =1\n    Write --boundary DETECTOR=VALUE"),
        (
            ("--boundary", "seen=1", "--boundary", "seen=2"),
            "--boundary seen=2\n    Write --boundary DETECTOR=VALUE, once",
        ),
        (("--boundary", "sen=1"), "there is no detector sen (did you mean seen?)"),
        (("--boundary", "seen=0,3"), "is not a decimal number"),
        (("--boundary", "seen=0.3", "--out", "BUNDLE/new"), "lies inside the bundle\n    Name a folder beside it"),
        (("--boundary", "seen=0.3", "--out", "BUNDLE/../full"), "full: is there already\n    Name a new folder"),
        (("--out", "new"), "--out without --boundary"),
    ],
)
def test_what_cannot_be_asked(published: tuple[Trial, Path], given: tuple[str, ...], told: str) -> None:
    bundle = published[1]
    (bundle.parent / "full").mkdir()
    (bundle.parent / "full" / "notes").write_text("mine")
    before = everything(bundle.parent)
    said = penmark("-C", str(bundle), "report", *(word.replace("BUNDLE", str(bundle)) for word in given))
    assert said.code == 2
    assert told in said.err
    assert everything(bundle.parent) == before
