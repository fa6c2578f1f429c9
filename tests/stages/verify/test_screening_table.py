"""What screening.csv tells is read as it was before it was guarded, and is about arms and documents that are here."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Corpus

from penmark import study
from penmark.stages.verify.check4_corpus import screening_table
from penmark.stages.verify.check_findings import Findings

HEADER = ("rule", "arm", "document")
IDS = {"A": ["'A", "-1", "=A()", "A-1"], "C": ["'=C()", "@c"]}


def faults(root: Path, header: tuple[str, ...], *rows: tuple[str, ...]) -> list[str]:
    """What is wrong with a table of these findings."""
    made = Corpus(root, *(Corpus.arm(name, truth, len(IDS[name])) for name, truth in (("A", "human"), ("C", "ai"))))
    study.write_bytes(made.edition.screening, study.encode_csv(header, rows))
    found = Findings(4, "corpus")
    told = screening_table.read_screening_table(made.edition, found)
    ids = [name for arm in IDS.values() for name in arm]
    screening_table.check_finding_subjects(told, made.protocol, {name: at for at, name in enumerate(ids)}, found)
    assert {(row[0], row[header.index("document")]) for row in rows} <= told.rules
    return [f"{each.subject}: {each.got}" for each in found.checks() if each.state == "failed"]


def test_every_document_of_its_arm_and_the_corpus_as_a_whole(tmp_path: Path) -> None:
    rows = [("bom", arm, name) for arm, names in IDS.items() for name in names]
    rows += [("left-out", "A", ""), ("not-screened", "", ""), ("withdrawn", "C", "gone")]
    assert faults(tmp_path / "a", HEADER, *rows) == []
    assert faults(tmp_path / "b", ("rule", "document"), ("bom", "=A()"), ("left-out", "")) == []


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (("bom", "A", "A-2"), "a finding about A-2"),
        (("bom", "A", "@d"), "a finding about @d"),
        (("bom", "C", "A-1"), "a finding about A-1 of C"),
        (("bom", "", "A-1"), "a finding about A-1 of "),
        (("bom", "B", "A-1"), "a finding about the arm B"),
        (("withdrawn", "B", "gone"), "a finding about the arm B"),
        (("Withdrawn", "A", "gone"), "a finding about gone"),
    ],
)
def test_nobody_and_nothing(tmp_path: Path, row: tuple[str, ...], fault: str) -> None:
    assert faults(tmp_path, HEADER, ("bom", "A", "A-1"), row) == [f"screening.csv:3: {fault}"]
