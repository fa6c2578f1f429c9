"""What a forger can do that no check shows, by the number in docs/threats.md ("What cannot be shown").

Each act is carried through to the end, and every check passes. ``trace``: what a reader sees of it all the same, in a
file. ``sealed``: it changes what is sealed, so that a timestamp of an authority that the reader trusts would show it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.forgeries.boundary_forgeries import take_back
from tests.forgeries.forged_acts import block
from tests.forgeries.forger import Forger, Json

from penmark.format import canonical_json

Act = Callable[[Forger], None]


@dataclass(frozen=True)
class Unseen:
    """``trace``: file and words that tell of it, None where nothing does."""

    name: str
    act: Act
    number: int
    sealed: bool
    trace: tuple[str, str] | None


UNSEEN: list[Unseen] = []


def unseen(number: int, *, sealed: bool, trace: tuple[str, str] | None = None) -> Callable[[Act], Act]:
    """Register an act."""

    def of(act: Act) -> Act:
        UNSEEN.append(Unseen(act.__name__, act, number, sealed, trace))
        return act

    return of


@unseen(1, sealed=True)
def an_invented_answer(forger: Forger) -> None:
    body = '{"class":"Human","model":"2.0","score":0.01,"text":"' + text(forger, "C-01") + '"}'
    forger.answer("edge.2", "C-01", body, score="0.01", displayed="0.01", label="Human")


def text(forger: Forger, document: str) -> str:
    """The text of a document, which holds nothing that JSON escapes."""
    from tests.golden import golden_inputs

    return golden_inputs.TEXTS[document]


@unseen(1, sealed=True)
def two_answers_without_an_echo_change_places(forger: Forger) -> None:
    answers = forger.answers("plain")
    one, two = answers["A-01"]["body"], answers["C-01"]["body"]
    forger.answer("plain", "A-01", two, displayed="AI", label="AI")
    forger.answer("plain", "C-01", one, displayed="Human", label="Human")


@unseen(1, sealed=True, trace=("tables/table1.csv", "plain,,not_reported"))
def an_answer_and_its_evidence_become_a_refusal(forger: Forger) -> None:
    nothing = dict.fromkeys(("displayed", "score", "label", "evidence_sha256"))
    forger.reading("plain", "A-04", state="declined", reason="it would not say", **nothing)
    forger.keep("plain", forger.answers("plain"))


@unseen(1, sealed=True, trace=("tables/readings.csv", "no answer on record"))
def an_answer_is_said_to_be_lost(forger: Forger) -> None:
    forger.lines("journal/plain.jsonl", lambda values: [v for v in values if _no_answer_about(v, "A-04")])
    forger.keep("plain", {k: v for k, v in forger.answers("plain").items() if k != "A-04"})


def _no_answer_about(value: Json, document: str) -> bool:
    return (value["kind"], value.get("document")) != ("reading", document)


@unseen(2, sealed=True, trace=("tables/table1.csv", "INCOMPLETE 21 of 22"))
def a_question_and_its_answer_were_never_there(forger: Forger) -> None:
    forger.lines("journal/plain.jsonl", lambda values: [v for v in values if v not in block(values, "A-04")])
    forger.keep("plain", {k: v for k, v in forger.answers("plain").items() if k != "A-04"})


@unseen(2, sealed=True, trace=("tables/readings.csv", ",2,,"))
def an_answer_was_called_a_failure_in_transport_and_asked_for_again(forger: Forger) -> None:
    def more(values: list[Json]) -> list[Json]:
        at = next(n for n, v in enumerate(values) if v["kind"] == "sent" and v["document"] == "A-04")
        first = values[at] | {"attempt": 1}
        failed = first | {"kind": "retry", "reason": "connection reset"}
        return [*values[:at], first, failed, values[at] | {"attempt": 2}, *values[at + 1 :]]

    forger.lines("journal/plain.jsonl", more)
    forger.reading("plain", "A-04", attempt=2)
    forger.row("evidence/plain-0001.jsonl.gz", lambda value: value.update(attempt=2), document="A-04")


@unseen(8, sealed=True, trace=("tables/departures.csv", "level,0.95,0.90"))
def other_rules_and_every_later_seal(forger: Forger) -> None:
    forger.promise(lambda value: value.update(level="0.90"))


@unseen(8, sealed=True)
def another_pointer_and_every_later_seal(forger: Forger) -> None:
    forger.edit("detectors/edge.2.json", lambda value: value["card"]["answer"].update(version=None))
    forger.cards()
    for path in forger.journals("edge.2"):
        forger.lines(path, lambda values: [v | {"version": None} if v["kind"] == "reading" else v for v in values])


@unseen(8, sealed=True)
def a_wider_window(forger: Forger) -> None:
    forger.promise(lambda value: value["window"].update(closes="2024-12-31"))


@unseen(6, sealed=True, trace=("tables/documents.csv", "on second thoughts"))
def an_embarrassing_text_is_withheld_after_the_freeze(forger: Forger) -> None:
    from tests.forgeries.forged_acts import address

    published = address(forger, "A-04")
    forger.row("manifest.jsonl", lambda value: value.update(withheld="on second thoughts"), id="A-04")
    (forger.root / f"texts/{published}.txt").unlink()
    for detector in ("edge.2", "humane", "plain"):
        forger.keep(detector, {k: v for k, v in forger.answers(detector).items() if k != "A-04"})


@unseen(11, sealed=True)
def a_finding_that_only_the_text_shows_is_not_told(forger: Forger) -> None:
    rows = forger.read("screening.csv").split(b"\n")
    kept = [row for row in rows if b"not-nfc" not in row]
    assert len(kept) < len(rows)
    forger.write("screening.csv", b"\n".join(kept))


@unseen(12, sealed=False)
def the_deviations_are_gone(forger: Forger) -> None:
    (forger.root / "deviations.jsonl").unlink()


@unseen(12, sealed=False)
def an_amendment_with_another_date(forger: Forger) -> None:
    forger.edit("amendments/0002.json", lambda value: value.update(announced_at="2024-10-01T08:00:00Z"))


@unseen(12, sealed=False)
def the_amendments_are_gone(forger: Forger) -> None:
    for path in forger.edition.amendments.iterdir():
        path.unlink()
    forger.edition.amendments.rmdir()


@unseen(6, sealed=True, trace=("withdrawn.jsonl", "B-06"))
def an_answer_about_a_withdrawn_text_is_another(forger: Forger) -> None:
    take_back(forger, "B-06", "2024-12-01T00:00:00Z")
    forger.reading("plain", "B-06", displayed="Human", label="Human")


@unseen(13, sealed=True, trace=("tables/documents.csv", "fr,academic"))
def a_text_is_called_french_and_so_not_scannable(forger: Forger) -> None:
    def skipped(values: list[Json]) -> list[Json]:
        [reason] = {v["reason"] for v in values if v.get("document") == "A-08"}
        line = {"at": values[-1]["at"], "document": "A-04", "kind": "skipped", "reason": reason}
        return [*values[:-1], line, values[-1]]

    forger.row("manifest.jsonl", lambda value: value.update(language="fr"), id="A-04")
    forger.lines("journal/plain.jsonl", lambda values: [v for v in values if v not in block(values, "A-04")])
    forger.lines("journal/plain.jsonl", skipped)
    forger.keep("plain", {k: v for k, v in forger.answers("plain").items() if k != "A-04"})


@unseen(13, sealed=True)
def a_text_was_never_anywhere(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value.update(exposures=[]), id="A-03")


@unseen(14, sealed=True, trace=("tables/readings.csv", "no result"))
def a_card_that_calls_a_verdict_no_result(forger: Forger) -> None:
    sign = {"among": ["AI"], "at": "/verdict", "because": "no result"}
    forger.edit("detectors/plain.json", lambda value: value["card"]["answer"].update(unmeasured=[sign]))
    forger.cards()
    nothing = dict.fromkeys(("displayed", "score", "label"))
    for name, answer in forger.answers("plain").items():
        if answer["body"] in ('{"verdict":"AI"}', '{"verdict":"\\u0041I"}'):
            forger.reading("plain", name, state="declined", reason="no result", **nothing)


@unseen(15, sealed=True)
def an_interest_that_is_not_told(forger: Forger) -> None:
    def change(value: Json) -> None:
        for detector in value["detectors"]:
            detector["relation"] = "none"

    forger.promise(change)


@unseen(1, sealed=True)
def recorded_answers_are_written_down_as_a_scan(forger: Forger) -> None:
    at, seed = "2024-11-06T12:00:00Z", bytes.fromhex(forger.value("seed.json")["seed"])

    def scanned(values: list[Json]) -> list[Json]:
        readings = [v for v in values if v["kind"] == "reading"]
        made = [v for v in values if v["kind"] == "start"]
        for read in sorted(readings, key=lambda value: canonical_json.rank_name(seed, "scan", value["document"])):
            made.append({"at": at, "attempt": 1, "document": read["document"], "kind": "sent"})
            made.append(read | {"origin": "scan", "read_by": None, **dict.fromkeys(("sent_at", "got_at", "at"), at)})
        return [*made, *(v for v in values if v["kind"] not in ("start", "reading"))]

    forger.lines("journal/humane.jsonl", scanned)
    forger.keep("humane", forger.answers("humane"))
