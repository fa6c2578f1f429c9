"""``penmark publish`` as a user runs it: a bundle is made of files that fit one another, or not at all."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from tests.cases.case_study import Trial, arm, penmark, seen, texts, verdicts


@pytest.fixture
def reported(tmp_path: Path) -> Trial:
    """A study whose evidence is sealed and whose page is made."""
    trial = Trial(tmp_path / "study", [arm("A", "human", 2)], cards=[seen(**verdicts(Human="human", AI="ai"))])
    trial.frozen(A=texts(2))
    rows = [{"document": f"A-00{n}", "displayed": shown} for n, shown in ((1, "Human"), (2, "AI"))]
    trial.record("seen", rows, "--by", "N", ending="csv")
    trial.done("report", "--close")
    return trial


AMEND = ("amend", "--what", "More texts.", "--why", "Too few.", "--before", "2 texts", "--after", "4 texts")


def test_a_page_that_was_made_before_an_amendment_is_not_published(reported: Trial, tmp_path: Path) -> None:
    reported.done(*AMEND)
    bundle = tmp_path / "bundle"
    said = reported.run("publish", "--out", str(bundle))
    assert said.code == 1
    assert f"{reported.edition.report / 'index.html'}: is not the page that the files of this edition give" in said.err
    assert "Run `penmark report` again" in said.err
    assert not bundle.exists()
    reported.done("report")
    reported.done("publish", "--out", str(bundle))
    verified = penmark("verify", str(bundle))
    assert verified.code == 0, verified.out
    assert "8 pages         ok" in verified.out


@pytest.mark.parametrize(
    "change",
    [
        lambda edition: edition.deviations.write_bytes(
            b'{"at":"2026-11-30T10:00:00Z","detector":null,"what":"A power cut."}\n'
        ),
        lambda edition: (edition.report / "index.html").write_bytes(
            (edition.report / "index.html").read_bytes().replace(b"Headline rates", b"Head line rates")
        ),
        lambda edition: (edition.report / "index.html").unlink(),
    ],
)
def test_any_other_page_is_not_published(reported: Trial, tmp_path: Path, change: object) -> None:
    assert callable(change)
    change(reported.edition)
    said = reported.run("publish", "--out", str(tmp_path / "bundle"))
    assert said.code == 1
    assert "index.html: " in said.err
    assert not (tmp_path / "bundle").exists()
    reported.done("report")
    reported.done("publish", "--out", str(tmp_path / "bundle"))


def test_before_the_report_there_is_nothing_to_publish(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[seen(**verdicts(Human="human", AI="ai"))])
    said = trial.run("publish")
    assert said.code == 2
    assert "the evidence is not sealed yet" in said.err


def test_what_is_published_was_verified(reported: Trial, tmp_path: Path) -> None:
    said = reported.run("publish", "--out", str(tmp_path / "bundle"))
    assert said.code == 0
    last = penmark("verify", str(tmp_path / "bundle")).out.splitlines()[-1]
    assert last == f"nothing failed: {said.out.split('verified: ')[1].splitlines()[0]}"


def test_the_citation_gives_the_digest_that_it_asks_for(reported: Trial, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    reported.done("publish", "--out", str(bundle), "--no-tar")
    told = (bundle / "CITATION.cff").read_text()
    assert "cite this edition and the digest of its evidence seal, given here as an identifier" in told
    digest = hashlib.sha256((bundle / "seals" / "evidence.json").read_bytes()).hexdigest()
    assert (
        told.partition("identifiers:\n")[2]
        == f"""  - type: other
    value: "sha256:{digest}"
    description: "SHA-256 of seals/evidence.json, which binds promise, corpus, journals and tables"
"""
    )


def test_a_bundle_that_would_fail_its_own_verification_is_not_published(reported: Trial, tmp_path: Path) -> None:
    journal = reported.edition.journals / "seen.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines, lines[-1]]))  # behind the sealed head, which a look at the seals leaves alone
    said = reported.run("publish", "--out", str(tmp_path / "out" / "bundle"))
    assert said.code == 1
    assert f"{tmp_path / 'out' / 'bundle'}: is not published: " in said.err
    assert "5 journals: journal/seen.jsonl" in said.err
    assert list((tmp_path / "out").iterdir()) == []
    assert "--despite-failures" in said.err
    said = reported.run("publish", "--despite-failures", "--out", str(tmp_path / "out" / "bundle"))
    assert said.code == 1
    assert re.search(r"verified: \d+ ok, [1-9]\d* failed", said.out)
    assert "  5 journals failed: journal/seen.jsonl" in said.out
    assert penmark("verify", str(tmp_path / "out" / "bundle")).code == 1


@pytest.mark.parametrize("folder", ["editions/other", "corpus/A/bundle", "private/bundle"])
def test_no_bundle_lies_where_the_study_keeps_other_things(reported: Trial, folder: str) -> None:
    said = reported.run("publish", "--out", str(reported.root / folder))
    assert said.code == 2
    assert "where penmark would take it for something else" in said.err
    assert not (reported.root / folder).exists()


def test_an_older_tar_stops_it_before_anything_is_made(reported: Trial, tmp_path: Path) -> None:
    (tmp_path / "bundle.tar").write_bytes(b"an older one")
    said = reported.run("publish", "--out", str(tmp_path / "bundle"))
    assert said.code == 2
    assert f"{tmp_path / 'bundle.tar'}: is there already" in said.err
    assert not (tmp_path / "bundle").exists()
    reported.done("publish", "--out", str(tmp_path / "bundle"), "--no-tar")
    assert (tmp_path / "bundle.tar").read_bytes() == b"an older one"


def test_an_edition_that_was_sealed_by_other_rules_is_published_with_a_word(reported: Trial, tmp_path: Path) -> None:
    seal = reported.edition.seal("evidence")
    before = seal.read_bytes()
    seal.write_bytes(re.sub(rb'"rules":[0-9]+', b'"rules":9', before))
    reported.done("report")
    said = reported.run("publish", "--out", str(tmp_path / "bundle"))
    assert said.code == 0, said
    assert "warning: this edition's evidence was sealed by rules 9; this release has" in said.err
    verified = penmark("verify", str(tmp_path / "bundle"))
    assert verified.code == 0
    assert "page and words, made again: they were made by rules 9; this release has" in verified.out
