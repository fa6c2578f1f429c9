"""Forgeries: somebody changes one thing and makes all the rest fit it, and just the right check notices."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.forgeries import (
    both_verifiers,
    boundary_forgeries,
    oversized_forgeries,
    provenance_forgeries,
    remade_pages,
    subtle_forgeries,
    time_forgeries,
    typed_forgeries,
)
from tests.forgeries.forged_acts import FORGERIES, Forgery
from tests.forgeries.forger import Forger
from tests.forgeries.hidden_text_forgeries import UNSEEN
from tests.golden import golden_inputs

from penmark import cards, protocol
from penmark.corpus import edition_departures
from penmark.format import canonical_json, versions
from penmark.stages.verify.check5_journals import same_shape

SUBJECTS = (oversized_forgeries, remade_pages)
"""Forgeries that need nothing here but to be known."""
THREATS = Path(__file__).parents[2] / "docs" / "threats.md"


def test_the_forger_who_changes_nothing_changes_nothing(golden: Path, forger: Forger) -> None:
    forger.finish()
    files = sorted(p.relative_to(golden) for p in golden.rglob("*") if p.is_file())
    assert files == sorted(p.relative_to(forger.root) for p in forger.root.rglob("*") if p.is_file())
    assert [name for name in files if (golden / name).read_bytes() != (forger.root / name).read_bytes()] == []


def test_answers_are_proven_by_their_shape_in_what_is_forged(forger: Forger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else no forgery would try that way."""
    counts: list[tuple[int, int]] = []
    unproven = same_shape.Shapes.unproven

    def counted(self: same_shape.Shapes, rows: pl.DataFrame) -> pl.DataFrame:
        left = unproven(self, rows)
        counts.append((rows.height, left.height))
        return left

    monkeypatch.setattr(same_shape.Shapes, "unproven", counted)
    assert both_verifiers.ours(forger.root).failed == set()
    assert any(0 < left < given for given, left in counts)


@pytest.mark.parametrize("forged", FORGERIES, ids=lambda forged: forged.name)
def test_only_its_check_notices(forger: Forger, forged: Forgery) -> None:
    forged.act(forger)
    forger.finish(*forged.but)
    ours, alone = both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)
    told = "\n".join(f"{n}: {ours.faults(n)}" for n in sorted(ours.failed))
    assert ours.failed == forged.checks, told
    assert ours.says(forged.named), told
    said = "\n".join(f"{n}: {alone.faults(n)}" for n in sorted(alone.failed))
    assert alone.failed == forged.alone, said
    if forged.alone == forged.checks:
        assert alone.says(forged.named), said


def test_answers_from_elsewhere_are_told_where_a_program_could_ask(forger: Forger) -> None:
    subtle_forgeries.unasked(forger, origin="typed", read_by="operator 7")
    forger.finish()
    for told in (both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)):
        assert told.failed == set()
        assert "5 journal/plain: 1 answer" in told.unknown()
        assert "from elsewhere" in told.unknown()


def test_remarks_of_another_release_are_not_vouched_for(forger: Forger) -> None:
    for path in forger.journals("edge.2"):
        forger.lines(
            path,
            lambda values: [v | {"rules": 9, "software": "other 1"} if v["kind"] == "start" else v for v in values],
        )
    forger.reading("edge.2", "A-01", reason="this text is known to be AI")
    forger.finish()
    told = both_verifiers.ours(forger.root)
    assert told.failed == set()
    assert "5 journal/edge.2.1of2.jsonl: other rules wrote it (other 1)" in told.unknown()


def test_remarks_of_another_release_are_told_where_nothing_is_echoed(forger: Forger) -> None:
    older = {"rules": 9, "software": "penmark 0.0.9"}
    forger.lines("journal/plain.jsonl", lambda values: [v | older if v["kind"] == "start" else v for v in values])
    forger.reading("plain", "A-04", reason="this text is known to be AI")
    told = both_verifiers.ours(finished(forger))
    assert told.failed == set()
    assert "5 journal/plain.jsonl: other rules wrote it (penmark 0.0.9)" in told.unknown()


def test_warnings_of_another_release_are_told_even_where_there_are_none(forger: Forger) -> None:
    forger.edit("seals/evidence.json", lambda seal: seal.update(rules=9))
    (forger.root / "tables/warnings.csv").unlink()
    forger.finish("tables")
    for told in (both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)):
        assert told.failed == set(), told.faults(8)
        assert "7 tables/warnings.csv: " in told.unknown()
    assert (
        f"the evidence was sealed by rules 9; this release has {versions.RULES}"
        in both_verifiers.ours(forger.root).unknown()
    )


def test_departures_from_a_template_of_another_release_are_not_known(forger: Forger) -> None:
    forger.promise(lambda value: value["template"].update(name="another", sha256="0" * 64))
    forger.write("tables/departures.csv", b"number,rule,template,study,explanation\n")
    told = both_verifiers.ours(finished(forger))
    assert told.failed == both_verifiers.alone(forger.root).failed == set()
    assert "3 tables/departures.csv: this release ships no template another" in told.unknown()
    assert "departures are not known" in told.unknown()
    page = forger.read("report/index.html").decode()
    section = page[page.index('id="departures"') :]
    assert ">Not known: the template that the protocol names, <" in section
    assert "<p>None.</p>" not in section


def test_a_card_of_a_shipped_name_is_held_against_it_by_the_release_that_ships_it_alone(forger: Forger) -> None:
    provenance_forgeries.named_as_shipped(forger)
    told = both_verifiers.ours(finished(forger))
    assert told.failed == both_verifiers.alone(forger.root).failed == set()
    rows = forger.read("tables/departures.csv").decode()
    assert "tuned-boundary,edge.2: >= 0 (in the card that ships under this name),>= 0.5" in rows
    assert "changed-card,edge.2: the card that ships under this name," in rows
    named = "3 tables/departures.csv, of cards: the evidence was sealed by rules 9"
    assert named not in told.unknown()
    # What another release shipped is not known here, whether its table tells of it or not; all else is.
    kept = [row for row in rows.split("\n") if "ships under this name" not in row]
    without = "\n".join([kept[0], *(re.sub("^[0-9]+", str(n), row) for n, row in enumerate(kept[1:], 1))])
    for table, faults in ((rows, set()), (without, set()), (without.replace("arm-size", "arm-shape", 1), {3})):
        forger.write("tables/departures.csv", table.encode())
        forger.edit("seals/evidence.json", lambda seal: seal.update(rules=9))
        forger.finish("departures")
        told = both_verifiers.ours(forger.root)
        assert told.failed == faults, told.faults(3)
        assert named in told.unknown()
        # Who asks again, with `status` or `report`, is told what the release that sealed it told.
        promised = protocol.read_sealed(forger.edition)
        known = {d.name: cards.read_sealed_card(forger.edition, d.name).card for d in promised.detectors}
        assert (
            protocol.write_departures_csv(edition_departures.recompute_departures(forger.edition, promised, known))
            == table.encode()
        )


def test_a_rewritten_ai_text_is_a_group_of_its_own(forger: Forger) -> None:
    provenance_forgeries.rewritten(forger, "C-02")
    assert both_verifiers.ours(finished(forger)).failed == both_verifiers.alone(forger.root).failed == set()
    rows = [line.split(b",") for line in forger.read("tables/table2.csv").split(b"\n")[1:-1]]
    documents = [(row[3], row[4], row[5]) for row in rows if row[0] == b"plain" and b" AI" in row[3]]
    assert documents == [
        (b"unedited AI", b"detections", b"4"),
        (b"rewritten AI", b"detections", b"1"),
        (b"lightly edited AI", b"flagged", b"3"),
    ]


def test_ai_texts_that_are_kept_back_are_a_departure(forger: Forger) -> None:
    provenance_forgeries.withhold(forger, "C-02", "kept for next year")
    told = both_verifiers.ours(finished(forger))
    assert told.failed == both_verifiers.alone(forger.root).failed == set()
    assert b"arm C: 1 of 5 texts are not" in forger.read("tables/departures.csv")
    assert "arm C: 1 of 5 texts are not" in forger.read("report/index.html").decode()


def test_screening_tells_of_a_parent_that_is_another_text(forger: Forger) -> None:
    provenance_forgeries.rewritten(forger, "C-02", hashlib.sha256(b"another text").hexdigest())
    boundary_forgeries.find(forger, "contradictory-provenance", "C", "C-01")
    assert both_verifiers.ours(finished(forger)).failed == both_verifiers.alone(forger.root).failed == set()


@pytest.mark.parametrize("read", [typed_forgeries.screens, typed_forgeries.settled], ids=["alike", "settled"])
def test_what_two_people_typed_counts(forger: Forger, read: Callable[[Forger], None]) -> None:
    read(forger)
    assert both_verifiers.ours(finished(forger)).failed == both_verifiers.alone(forger.root).failed == set()


def test_an_account_that_was_refused_uses_up_no_attempt(forger: Forger) -> None:
    subtle_forgeries.asked_again(forger, 1, 1, 1, 2, reason="stopped: the account was refused")
    ours = both_verifiers.ours(finished(forger))
    assert ours.failed == both_verifiers.alone(forger.root).failed == {5}
    assert ours.faults(5).count("A-04: attempt") == 1  # after a stop the number is the same


@pytest.mark.parametrize(
    "score", ["1e9999999999999999999", "1e-9999999999999999999", "-0", "9" * 5000, "0e99999999999"]
)
def test_numbers_beyond_all_others_are_called_alike(forger: Forger, score: str) -> None:
    forger.edit("detectors/edge.2.json", lambda value: value["card"]["scale"].update(low=None, high=None))
    forger.cards()
    body = f'{{"class":"AI","model":"2.0","score":{score},"text":{json.dumps(golden_inputs.TEXTS["C-01"])}}}'
    forger.answer("edge.2", "C-01", body, score=score, displayed=score, label="AI")
    assert both_verifiers.ours(finished(forger)).failed == both_verifiers.alone(forger.root).failed == set()


@pytest.mark.parametrize("at", ["yesterday", "2024-12-01"])
def test_a_withdrawal_at_no_time(forger: Forger, at: str) -> None:
    forger.write("withdrawn.jsonl", canonical_json.encode_json({"at": at, "document": "B-06"}) + b"\n")
    ours, alone = both_verifiers.ours(finished(forger)), both_verifiers.alone(forger.root)
    assert "withdrawn.jsonl:1" in ours.faults(4)
    assert "withdrawn.jsonl:1" in alone.faults(4)


@pytest.mark.parametrize("day", ["2024-10-01", "2024-10-02", "2031-01-01"])
def test_a_reply_may_come_at_any_time_after_the_promise(forger: Forger, day: str) -> None:
    boundary_forgeries.reply(forger, day)
    assert both_verifiers.ours(finished(forger)).failed == both_verifiers.alone(forger.root).failed == set()


@pytest.mark.parametrize("at", ["2024-10-20T07:58:00Z", "2024-12-24T00:00:00Z", "2031-01-01T00:00:00Z"])
def test_a_text_may_be_taken_back_at_any_time_after_the_freeze(forger: Forger, at: str) -> None:
    boundary_forgeries.take_back(forger, "B-06", at)
    asked = {5} if at < "2024-11" else set()  # as if nobody had known of it
    assert both_verifiers.ours(finished(forger)).failed == both_verifiers.alone(forger.root).failed == asked


def test_a_text_that_was_taken_back_is_left_out_from_then_on(forger: Forger) -> None:
    boundary_forgeries.left_out(forger, "B-06")
    boundary_forgeries.take_back(forger, "B-06", "2024-11-04T00:00:00Z")
    assert both_verifiers.ours(finished(forger)).failed == both_verifiers.alone(forger.root).failed == set()


def test_screening_names_what_was_taken_back_before_the_freeze(forger: Forger) -> None:
    boundary_forgeries.find(forger, "withdrawn", "B", "B-99")
    boundary_forgeries.find(forger, "unpromised-arm", "", "")
    assert both_verifiers.ours(finished(forger)).failed == both_verifiers.alone(forger.root).failed == set()


def test_an_empty_manifest_is_said_to_be_empty(forger: Forger) -> None:
    forger.write("manifest.jsonl", b"")
    for told in (both_verifiers.ours(finished(forger)), both_verifiers.alone(forger.root)):
        [empty] = [c for c in told.checks if c.subject == "manifest.jsonl" and "empty" in (c.got or "")]
        assert (empty.number, empty.state) == (4, "failed")
        assert "a head" in (empty.expected or "")
        assert empty.remedy
        assert "None" not in told.faults(4)


def finished(forger: Forger) -> Path:
    """The bundle, all the rest made to fit."""
    forger.finish()
    return forger.root


def test_a_start_of_the_scan_that_no_seal_saw_is_told(forger: Forger) -> None:
    time_forgeries.renumbered(forger, 3)
    for told in (both_verifiers.ours(finished(forger)), both_verifiers.alone(forger.root)):
        assert told.failed == set()
        assert "5 journal/plain.jsonl: 1 of 2 scans ended without a seal" in told.unknown()
        assert told.unknown().count("ended without a seal") == 1


def test_a_scan_that_no_seal_saw_at_all_is_told(forger: Forger) -> None:
    time_forgeries.renumbered(forger, 1, 2, 3, 4)
    for told in (both_verifiers.ours(finished(forger)), both_verifiers.alone(forger.root)):
        assert told.failed == set()
        assert "5 journal/plain.jsonl: 2 of 2 scans ended without a seal" in told.unknown()
        assert "5 journal/edge.2.2of2.jsonl: 1 of 1 scans ended without a seal" in told.unknown()
        assert "journal/typed.jsonl" not in told.unknown()  # nobody scanned there


def test_a_scan_that_stopped_under_a_seal_each_time_is_not_told(golden: Path) -> None:
    for told in (both_verifiers.ours(golden), both_verifiers.alone(golden)):
        assert "without a seal" not in told.unknown()


def test_a_question_that_was_stopped_again_and_again_is_told(forger: Forger) -> None:
    subtle_forgeries.asked_again(forger, *[1] * 51, reason="stopped: the answer was not to our liking")
    for told in (both_verifiers.ours(finished(forger)), both_verifiers.alone(forger.root)):
        assert told.failed == set()
        assert "5 journal/plain: asked about more often than 2 times, since it was stopped: A-04 (51)" in told.unknown()


ELSEWHERE = {
    "changes a file and `SHA256SUMS` with it": "test_flips.py",
    "rewrites the promise and every later seal": "test_stamps.py",
    "puts a token of an authority of his own, dated as he likes, beside one that you trust": "test_masked.py",
    "chooses the corpus when the answers are there, and has it stamped then": "test_masked.py",
    "puts a verifier of his own into the bundle": "test_forgeries.py",
    "attacks the reader's machine: paths, links, giant or deeply nested files, zip bombs, scripts in pages, cells that a "
    "spreadsheet runs": "test_hostile.py",
}
"""Rows of docs/threats.md whose tests are of another form."""


def test_every_threat_has_a_forgery_and_every_forgery_its_threat() -> None:
    text = THREATS.read_text(encoding="utf-8")
    shown = text[text.index("## What is shown") : text.index("## What is not checked here")]
    rows = [
        line.split(" | ")[1] for line in shown.splitlines() if line.startswith("| ") and not line.startswith("| who")
    ]
    assert len(rows) > 20
    assert set(rows) == {forged.threat for forged in FORGERIES} | set(ELSEWHERE)


def test_every_check_has_several_forgeries() -> None:
    only = [next(iter(forged.checks)) for forged in FORGERIES if len(forged.checks) == 1]
    assert all(only.count(number) >= 3 for number in (1, 2, 3, 4, 5, 7, 8))
    assert 6 in only


def test_what_cannot_be_shown_is_told() -> None:
    text = THREATS.read_text(encoding="utf-8")
    numbers = {int(n) for n in re.findall(r"^([0-9]+)\. ", text[text.index("## What cannot be shown") :], re.MULTILINE)}
    assert {one.number for one in UNSEEN} <= numbers


def test_another_verifier_in_the_bundle(forger: Forger) -> None:
    forger.write("verify.py", b"print('all well')\n")
    forger.finish()
    ours = both_verifiers.ours(forger.root)
    assert ours.failed == both_verifiers.alone(forger.root).failed == set()
    assert "1 verify.py: is not the one of this release of penmark" in ours.unknown()
