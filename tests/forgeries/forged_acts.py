"""The forgeries: who does what, which check must notice, which file it must name, and what ``verify.py`` leaves out.

``threat`` is the row of docs/threats.md; a test holds the two together. Each act changes one thing; ``Forger.finish``
then makes all the rest fit, but for the stages in ``but``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.forgeries.forger import Forger, Json
from tests.golden import golden_inputs

from penmark.format import canonical_json

Act = Callable[[Forger], None]


@dataclass(frozen=True)
class Forgery:
    """``checks``: just these fail in penmark verify; ``alone``: just these in verify.py. ``named``: what a fault names."""

    name: str
    act: Act
    threat: str
    checks: frozenset[int]
    alone: frozenset[int]
    named: str
    but: tuple[str, ...]


FORGERIES: list[Forgery] = []


def forgery(
    threat: str, check: int | set[int], named: str, *but: str, alone: int | set[int] | None = None
) -> Callable[[Act], Act]:
    """Register an act. ``alone``: the checks of verify.py, where they are others; the empty set where it leaves it out."""

    def several(numbers: int | set[int]) -> frozenset[int]:
        return frozenset({numbers} if isinstance(numbers, int) else numbers)

    def of(act: Act) -> Act:
        checks = several(check)
        found = checks if alone is None else several(alone)
        FORGERIES.append(Forgery(act.__name__, act, threat, checks, found, named, but))
        return act

    return of


NOTHING: set[int] = set()


def block(values: list[Json], document: str) -> list[Json]:
    """The lines of a journal that are about a document."""
    return [value for value in values if value.get("document") == document]


# --- 1 sums ------------------------------------------------------------------------------------------------------------

TRANSIT = "changes, adds, removes a file"


@forgery(TRANSIT, {1, 8}, "LICENSE", "readme", "changes", "sums", alone=1)
def one_letter_of_the_licence(forger: Forger) -> None:
    forger.replace("LICENSE", "anyone", "nobody")


@forgery(TRANSIT, 1, "CITATION.cff", "readme", "changes", "sums")
def a_file_is_gone(forger: Forger) -> None:
    (forger.root / "CITATION.cff").unlink()


@forgery(TRANSIT, 1, "notes.txt")
def a_file_more_and_its_sum(forger: Forger) -> None:
    forger.write("notes.txt", b"Trust me.\n")


@forgery(TRANSIT, 1, "texts/notes.jsonl", "sums")
def a_file_more_without_its_sum(forger: Forger) -> None:
    forger.write("texts/notes.jsonl", b"{}\n")


@forgery(TRANSIT, 1, "README.md", "readme", "changes")
def a_file_that_every_bundle_has_is_gone_with_its_sum(forger: Forger) -> None:
    (forger.root / "README.md").unlink()


@forgery(TRANSIT, 1, "format")
def a_format_of_the_future(forger: Forger) -> None:
    forger.write("format", b"3\n")


# --- 2 seals -----------------------------------------------------------------------------------------------------------

AFTER = "changes the protocol or a card after the promise"


@forgery(AFTER, {2, 3}, "protocol.json", "promise")
def another_level_after_the_promise(forger: Forger) -> None:
    forger.promise(lambda value: value.update(level="0.90"))


@forgery(AFTER, {2, 3}, "detectors/edge.2.json", "promise")
def another_boundary_in_a_card_after_the_promise(forger: Forger) -> None:
    forger.edit("detectors/edge.2.json", lambda value: value["card"]["boundary"].update(value="0.8"))
    forger.cards()


@forgery(AFTER, {2, 3}, "detectors/edge.2.json", "promise")
def another_pointer_in_a_card_after_the_promise(forger: Forger) -> None:
    forger.edit("detectors/edge.2.json", lambda value: value["card"]["answer"].update(version=None))
    forger.cards()
    for path in forger.journals("edge.2"):
        forger.lines(path, lambda values: [v | {"version": None} if v["kind"] == "reading" else v for v in values])


@forgery(AFTER, 2, "seals/corpus.json", "promise", "corpus", "heads", "evidence")
def a_promise_with_another_time(forger: Forger) -> None:
    forger.edit("seals/promise.json", lambda value: value.update(sealed_at="2024-10-01T08:00:00Z"))


@forgery("hides a start or a stop of the scan", 2, "heads-0003")
def a_start_of_the_scan_is_hidden(forger: Forger) -> None:
    (forger.root / "seals/heads-0002.json").unlink()


@forgery(AFTER, {2, 4}, "seals/corpus.json")
def a_corpus_older_than_its_promise(forger: Forger) -> None:
    def change(value: Json) -> None:
        value.update(sealed_at="2024-10-01T08:00:00Z")
        value["announced"].update(captured_at="2024-09-30T08:00:00Z")

    forger.edit("seals/corpus.json", change)


@forgery(AFTER, 2, "seals/corpus.json")
def an_announcement_after_the_freeze(forger: Forger) -> None:
    forger.edit("seals/corpus.json", lambda value: value["announced"].update(captured_at="2024-10-21T08:00:00Z"))


@forgery(AFTER, 2, "seals/evidence.json", "evidence")
def a_table_beside_the_seal(forger: Forger) -> None:
    def less(value: Json) -> None:
        del value["digests"]["tables/units.csv"]

    forger.edit("seals/evidence.json", less)


# --- 3 promise kept ----------------------------------------------------------------------------------------------------

YAML = "says other rules in `protocol.yaml` than in `protocol.json`"
DEPARTS = "hides how the study departs from its template"
AMENDS = "adds an amendment after the fact"
TUNES = "tunes a boundary, or changes facts of a card that ships under its own name"
MORE = "adds a detector after the promise"


@forgery(YAML, 3, "protocol.yaml", alone=NOTHING)
def other_rules_for_people(forger: Forger) -> None:
    forger.replace("protocol.yaml", "attempts: 2", "attempts: 3")


@forgery(YAML, 3, "protocol.yaml:", alone=NOTHING)
def rules_for_people_that_mean_two_things(forger: Forger) -> None:
    forger.replace("protocol.yaml", "payer: nobody\n", "payer: nobody\npayer: the vendor of humane\n")


@forgery(DEPARTS, 3, "tables/departures.csv", "departures", alone=NOTHING)
def a_departure_less(forger: Forger) -> None:
    forger.write("tables/departures.csv", b"\n".join(forger.read("tables/departures.csv").split(b"\n")[:-2]) + b"\n")


BREAKS = "keeps documents that break a rule of the promise, and tells no departure, or of fewer"


@forgery(BREAKS, 3, "tables/departures.csv", "departures", alone=NOTHING)
def a_date_after_the_cutoff_is_no_departure(forger: Forger) -> None:
    rows = forger.read("tables/departures.csv").split(b"\n")[:-1]
    kept = [row for row in rows if b",after-cutoff," not in row]
    assert len(kept) == len(rows) - 1
    numbered = [kept[0], *(re.sub(rb"^[0-9]+", b"%d" % number, row) for number, row in enumerate(kept[1:], 1))]
    forger.write("tables/departures.csv", b"\n".join(numbered) + b"\n")


@forgery(BREAKS, 3, "tables/departures.csv", "departures", alone=NOTHING)
def fewer_edits_over_their_budget_than_there_are(forger: Forger) -> None:
    forger.replace("tables/departures.csv", "arm C2: 1 of 3 documents do not", "arm C2: 0 of 3 documents do not")


@forgery(TUNES, 3, "tables/departures.csv", "departures", alone=NOTHING)
def a_tuned_boundary_that_is_not_told(forger: Forger) -> None:
    rows = forger.read("tables/departures.csv").split(b"\n")
    kept = [row for row in rows if b"tuned-boundary" not in row]
    assert len(kept) == len(rows) - 1
    numbered = [kept[0], *(re.sub(rb"^[0-9]+", str(n).encode(), row) for n, row in enumerate(kept[1:], 1))]
    forger.write("tables/departures.csv", b"\n".join(numbered))


@forgery(AMENDS, 3, "amendments/0001.json")
def an_amendment_after_the_promise_that_it_binds(forger: Forger) -> None:
    forger.edit("amendments/0001.json", lambda value: value.update(announced_at="2024-10-02T09:00:00Z"))


@forgery(AMENDS, 3, "amendments/0002.json")
def an_amendment_is_gone(forger: Forger) -> None:
    (forger.root / "amendments/0001.json").unlink()


@forgery(AMENDS, 3, "amendments/0002.json")
def a_later_amendment_binds_this_edition(forger: Forger) -> None:
    forger.edit("amendments/0002.json", lambda value: value.update(binds_from="GOLDEN-2024-Q4"))


UNSAID = "changes a rule from one edition to the next, and announces nothing"


@forgery(UNSAID, 3, "protocol.json /attempts", "earlier")
def a_rule_that_changed_without_an_amendment(forger: Forger) -> None:
    forger.edit("earlier/protocol.json", lambda value: value.update(attempts=3))
    _seal_earlier(forger)


@forgery(UNSAID, 3, "protocol.json /detectors/gone", "earlier")
def a_detector_that_was_dropped(forger: Forger) -> None:
    def more(value: Json) -> None:
        value["detectors"].append(next(d for d in value["detectors"] if d["name"] == "plain") | {"name": "gone"})

    forger.edit("earlier/protocol.json", more)
    forger.write("earlier/detector-gone.json", forger.read("detectors/plain.json"))
    _seal_earlier(forger)


@forgery(UNSAID, 3, "protocol.json /cards/plain/limits", "earlier")
def a_card_that_says_otherwise(forger: Forger) -> None:
    forger.edit("earlier/detector-plain.json", lambda value: value["card"]["limits"].update(minimum_words=1))
    _seal_earlier(forger)


@forgery(UNSAID, 3, "protocol.json /attempts", "earlier")
def an_amendment_that_was_not_followed(forger: Forger) -> None:
    change = {"at": "/attempts", "was": "2", "becomes": "3"}
    forger.edit("amendments/0001.json", lambda value: value.update(covers=[change]))


@forgery(UNSAID, 3, "amendments/0001.json /attempts", "earlier")
def an_amendment_of_what_was_never_promised(forger: Forger) -> None:
    change = {"at": "/attempts", "was": "9", "becomes": "2"}
    forger.edit("amendments/0001.json", lambda value: value.update(covers=[change]))


@forgery(UNSAID, {2, 3}, "earlier/protocol.json", "earlier", "promise")
def an_earlier_promise_that_was_rewritten(forger: Forger) -> None:
    forger.edit("earlier/protocol.json", lambda value: value.update(title="Another"))
    forger.edit("earlier/promise.json", lambda seal: seal.update(sealed_at="2024-07-02T09:00:00Z"))


@forgery(UNSAID, 3, "amendments/0001.json")
def no_earlier_promise_under_an_amendment(forger: Forger) -> None:
    for path in list(forger.edition.earlier.root.iterdir()):
        path.unlink()
    forger.edition.earlier.root.rmdir()


def _seal_earlier(forger: Forger) -> None:
    """Let the seal of the earlier promise hold what stands in earlier/."""
    names = [detector["name"] for detector in forger.value("earlier/protocol.json")["detectors"]]
    digests = {"protocol.json": canonical_json.sha256(forger.read("earlier/protocol.json"))}
    digests |= {
        f"detectors/{name}.json": canonical_json.sha256(forger.read(f"earlier/detector-{name}.json")) for name in names
    }
    forger.edit("earlier/promise.json", lambda seal: seal["digests"].update(digests))


@forgery(MORE, 3, "detectors/rogue.json")
def a_card_that_the_protocol_does_not_name(forger: Forger) -> None:
    forger.write("detectors/rogue.json", forger.read("detectors/plain.json"))


@forgery(MORE, 3, "deviations.jsonl:5", alone=NOTHING)
def a_deviation_of_nobody(forger: Forger) -> None:
    forger.lines("deviations.jsonl", lambda values: values.append(values[-1] | {"detector": "rogue"}))


# --- 4 corpus ----------------------------------------------------------------------------------------------------------

DOCUMENTS = "adds, drops or swaps a document after the freeze"
TEXT = "edits a text"
CLAIMS = (
    "claims a provenance without what it must carry, a date after the cutoff without saying so, an edit over its budget"
)
ORDER = "scans in an order of his liking, or starts with the documents he prefers"


def address(forger: Forger, document: str) -> str:
    """The address of a document in the manifest."""
    [value] = [v for v in map(json.loads, forger.read("manifest.jsonl").splitlines()) if v.get("id") == document]
    return str(value["address"])


@forgery(TEXT, 4, "texts/")
def a_word_of_a_text(forger: Forger) -> None:
    forger.replace(f"texts/{address(forger, 'C-01')}.txt", "rewarding", "revolting")


@forgery(TEXT, 4, "texts/")
def a_word_of_an_attested_text(forger: Forger) -> None:
    forger.replace(f"texts/{address(forger, 'B-01')}.txt", "bicycle", "unicycle")


@forgery(TEXT, 4, "texts/")
def two_texts_change_places(forger: Forger) -> None:
    one, two = (f"texts/{address(forger, name)}.txt" for name in ("A-01", "C-01"))
    first, second = forger.read(one), forger.read(two)
    forger.write(one, second)
    forger.write(two, first)


@forgery(TEXT, 4, "texts/")
def a_draft_that_was_never_edited(forger: Forger) -> None:
    draft = canonical_json.sha256(golden_inputs.DRAFTS["E-01"].encode())
    forger.replace(f"texts/{draft}.txt", "promote", "improve")


@forgery(TEXT, 4, "text of C-02")
def a_text_is_not_published_and_not_withheld(forger: Forger) -> None:
    (forger.root / f"texts/{address(forger, 'C-02')}.txt").unlink()


@forgery(TEXT, 4, "texts/")
def a_text_more(forger: Forger) -> None:
    forger.write(f"texts/{canonical_json.sha256(b'more')}.txt", b"more")


@forgery(TEXT, 4, "manifest.jsonl")
def fewer_words_than_the_text_has(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value.update(words=31), id="C-01")


@forgery(DOCUMENTS, {2, 4, 5}, "manifest.jsonl", "corpus", "tables", alone={2, 4, 5, 6, 7})
def a_document_is_dropped_and_nothing_else_is_made_again(forger: Forger) -> None:
    def change(values: list[Json]) -> list[Json]:
        return [value for value in values if value.get("id") != "E-01"]

    forger.lines("manifest.jsonl", change)


@forgery(DOCUMENTS, 4, "arm C2")
def a_document_is_dropped_everywhere(forger: Forger) -> None:
    drop(forger, "E-01")


@forgery(DOCUMENTS, 4, "manifest.jsonl")
def two_documents_change_arms(forger: Forger) -> None:
    def change(values: list[Json]) -> list[Json]:
        for value in values[1:]:
            if value["id"] in ("A-05", "A-06"):
                value["arm"] = "C"
            elif value["id"] in ("C-01", "C-02"):
                value["arm"] = "A"
                value["register"] = "casual"
        rows = [
            v for arm in ("A", "B", "C", "C2") for v in sorted(values[1:], key=lambda v: v["id"]) if v["arm"] == arm
        ]
        for value in rows:
            if value["id"] in ("A-05", "A-06"):
                value["register"] = None
        return [values[0], *rows]

    forger.lines("manifest.jsonl", change)
    for name in ("A-05", "A-06"):
        forger.replace("screening.csv", f",A,{name},", f",C,{name},", count=9)

    def fewer(value: Json) -> None:
        for arm in value["arms"]:
            if arm["name"] == "C":
                arm["quotas"] = []
            if arm["name"] == "A":
                arm["words"] = None

    forger.promise(fewer)


@forgery("counts a text twice without saying so", 4, "screening.csv")
def a_document_twice_and_not_told(forger: Forger) -> None:
    rows = forger.read("screening.csv").split(b"\n")
    forger.write("screening.csv", b"\n".join(row for row in rows if b"duplicate-text" not in row))


@forgery(CLAIMS, 4, "manifest.jsonl:16", alone=NOTHING)
def a_recorded_text_without_its_prompt(forger: Forger) -> None:
    def change(value: Json) -> None:
        value["provenance"].update(grade="recorded", prompt=None)
        value.update(gathered_by="generation")

    forger.row("manifest.jsonl", change, id="C-01")


@forgery(CLAIMS, 4, "manifest.jsonl:2", alone=NOTHING)
def a_date_that_is_only_stated(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value["provenance"].update(grade="stated"), id="A-01")


@forgery(CLAIMS, 4, "manifest.jsonl:5")
def a_date_after_the_cutoff_that_is_not_told(forger: Forger) -> None:
    rows = forger.read("screening.csv").split(b"\n")
    forger.write("screening.csv", b"\n".join(row for row in rows if b"after-cutoff" not in row))


@forgery(CLAIMS, 4, "manifest.jsonl:23")
def an_edit_over_its_budget_that_is_not_told(forger: Forger) -> None:
    rows = forger.read("screening.csv").split(b"\n")
    forger.write("screening.csv", b"\n".join(row for row in rows if b"over-budget" not in row))


@forgery(CLAIMS, 4, "manifest.jsonl", alone=NOTHING)
def fewer_words_changed_than_were(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value["provenance"].update(words_changed=2), id="E-03")


SENTENCES = (
    "says that a sentence was kept which was not, or nothing of it: links that cover nothing, or lie beyond the text"
)


def linked(forger: Forger, *links: tuple[str, list[int] | None, list[int] | None], verdict: str = "kept") -> None:
    """Say of E-01 what became of its draft's sentences."""
    told = [{"kind": kind, "draft": draft, "text": text} for kind, draft, text in links]
    value = {"splitters": ["sentencex 0", "nupunkt 0"], "verdict": verdict, "because": "", "links": told}
    forger.row("manifest.jsonl", lambda row: row["provenance"].update(sentences=value), id="E-01")


@forgery(SENTENCES, 4, "manifest.jsonl")
def no_links_at_all(forger: Forger) -> None:
    linked(forger)


@forgery(SENTENCES, 4, "manifest.jsonl")
def links_beyond_the_text(forger: Forger) -> None:
    size = len(golden_inputs.TEXTS["E-01"])
    linked(forger, ("kept", [0, len(golden_inputs.DRAFTS["E-01"])], [0, size + 1]))


@forgery(SENTENCES, 4, "manifest.jsonl")
def a_link_of_the_beginning_alone(forger: Forger) -> None:
    linked(forger, ("kept", [0, 9], [0, 9]))


MARKED = (
    "marks the texts of an arm with what no reader sees, so that a detector can read the arm, and tells nothing of it"
)


def rewrite(forger: Forger, document: str, text: str) -> None:
    """Let another text have been frozen, sent and quoted, of as many words."""
    old, raw = address(forger, document), text.encode()
    before = forger.read(f"texts/{old}.txt").decode()
    (forger.root / f"texts/{old}.txt").unlink()
    forger.write(f"texts/{canonical_json.sha256(raw)}.txt", raw)
    form = {"canonical_sha256": canonical_json.sha256(canonical_json.make_canonical_text(raw)), "characters": len(text)}
    forger.row("manifest.jsonl", lambda row: row.update(form, address=canonical_json.sha256(raw)), id=document)
    for detector in ("edge.2", "humane", "plain", "typed"):
        held = forger.answers(detector).get(document)
        forger.reading(detector, document, address=canonical_json.sha256(raw))
        if held is not None and (quoted := json.dumps(before)[1:-1]) in held["body"]:
            forger.answer(detector, document, held["body"].replace(quoted, json.dumps(text)[1:-1]))


@forgery(MARKED, 4, "screening.csv")
def two_tags_in_a_text_of_a_model(forger: Forger) -> None:
    text = forger.read(f"texts/{address(forger, 'C-01')}.txt").decode()
    rewrite(forger, "C-01", text.replace(" ", " \U000e0061\U000e0069", 1))


@forgery(MARKED, 4, "screening.csv")
def a_manifest_in_variation_selectors(forger: Forger) -> None:
    text = forger.read(f"texts/{address(forger, 'C-01')}.txt").decode()
    rewrite(forger, "C-01", text.replace(" ", "\ufeff" + "".join(chr(0xFE00 + at) for at in range(16)) + " ", 1))


@forgery("shows what a withheld text could be", 4, "manifest.jsonl")
def the_words_of_a_withheld_text(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value.update(words=36), id="B-04")


@forgery("shows what a withheld text could be", 4, "salts.jsonl")
def the_salt_of_a_withheld_text(forger: Forger) -> None:
    line = {"document": "B-04", "salt": golden_inputs.salt(4).hex()}
    forger.lines("salts.jsonl", lambda values: values.insert(3, line))


@forgery(TEXT, {4, 5}, "texts/")
def two_salts_change_places(forger: Forger) -> None:
    def change(values: list[Json]) -> None:
        values[0]["salt"], values[1]["salt"] = values[1]["salt"], values[0]["salt"]

    forger.lines("salts.jsonl", change)


@forgery(ORDER, 4, "seed.json")
def another_seed(forger: Forger) -> None:
    forger.edit("seed.json", lambda value: value.update(seed="00" * 32))


@forgery(ORDER, 4, "journal/")
def another_seed_and_its_promise(forger: Forger) -> None:
    forger.edit("seed.json", lambda value: value.update(seed="00" * 32))
    forger.promise(lambda value: value.update(seed_sha256=canonical_json.sha256(bytes(32))))


@forgery(ORDER, 4, "journal/plain.jsonl")
def two_questions_change_places(forger: Forger) -> None:
    def change(values: list[Json]) -> list[Json]:
        first, second = block(values, "A-01"), block(values, "C-01")
        rest = [value for value in values if value not in first + second]
        asked = [v["document"] for v in values if v["kind"] == "sent" and v["document"] in ("A-01", "C-01")]
        swapped = {"A-01": second, "C-01": first}
        made: list[Json] = []
        for value in values:
            if value in rest:
                made.append(value)
            elif value["kind"] == "sent" and value["document"] in asked:
                made += swapped[value["document"]]
        return made

    forger.lines("journal/plain.jsonl", change)
    forger.keep("plain", forger.answers("plain"))


@forgery(ORDER, 4, "journal/edge.2.1of2.jsonl")
def a_question_of_another_shard(forger: Forger) -> None:
    moved: list[Json] = []

    def take(values: list[Json]) -> list[Json]:
        there = block(values, "A-01")
        # on the day of the other shard, before the seal over its end
        moved.extend({k: v.replace("-03T", "-02T") if isinstance(v, str) else v for k, v in e.items()} for e in there)
        return [value for value in values if value not in there]

    forger.lines("journal/edge.2.2of2.jsonl", take)
    forger.lines("journal/edge.2.1of2.jsonl", lambda values: [*values[:-1], *moved, values[-1]])
    forger.keep("edge.2", forger.answers("edge.2"))


# --- 5 journals --------------------------------------------------------------------------------------------------------

CHAIN = "drops, changes, reorders or inserts a reading"
TWICE = "asks twice and keeps the better answer"
NOT_THERE = "reads a number from an answer that is not there"
OTHER = "scores another text than the one in the bundle, where the vendor echoes it"
REMARKS = "leaves out the remark that a vendor read a text twice, or only its beginning"
SKIPS = "does not ask about a document that could be asked about"
WINDOW = "scans before the freeze, outside the window, or with other code than was promised"


@forgery(CHAIN, 5, "journal/plain.jsonl", "journals", "heads", "evidence", "tables", "page")
def one_word_of_a_journal(forger: Forger) -> None:
    forger.replace("journal/plain.jsonl", "the machine went down", "the machine stood up!")


@forgery(CHAIN, 5, "journal/typed.jsonl", "heads", "evidence")
def the_last_line_is_gone(forger: Forger) -> None:
    forger.lines("journal/typed.jsonl", lambda values: values[:-1])


@forgery(CHAIN, 5, "journal/typed.jsonl", "heads", "evidence", "tables")
def a_reading_more_after_the_seal(forger: Forger) -> None:
    forger.lines("journal/typed.jsonl", lambda values: [*values, values[-1]])


@forgery(NOT_THERE, 5, "journal/edge.2")
def a_better_score(forger: Forger) -> None:
    forger.reading("edge.2", "C-01", score="0.09", displayed="0.09")


@forgery(NOT_THERE, 5, "journal/edge.2")
def a_score_with_other_digits(forger: Forger) -> None:
    forger.reading("edge.2", "A-02", score="0.5")


@forgery(NOT_THERE, 5, "journal/plain.jsonl")
def another_verdict(forger: Forger) -> None:
    forger.reading("plain", "A-04", label="Human", displayed="Human")


@forgery(NOT_THERE, 5, "journal/typed.jsonl")
def another_verdict_than_was_typed(forger: Forger) -> None:
    forger.reading("typed", "B-02", label="Likely human")


@forgery(NOT_THERE, 5, "journal/plain.jsonl")
def an_answer_is_called_declined(forger: Forger) -> None:
    forger.reading("plain", "A-04", state="declined", reason="it would not say")


@forgery(NOT_THERE, 5, "journal/plain.jsonl")
def an_answer_is_called_failed(forger: Forger) -> None:
    forger.reading("plain", "A-04", state="failed", reason="no route to the vendor")


@forgery(NOT_THERE, 5, "journal/plain.jsonl")
def an_answer_without_evidence(forger: Forger) -> None:
    forger.reading("plain", "A-04", evidence_sha256=None)
    forger.keep("plain", forger.answers("plain"))


@forgery(NOT_THERE, 5, "evidence/plain")
def another_answer_than_was_read(forger: Forger) -> None:
    forger.row("evidence/plain-0001.jsonl.gz", lambda value: value.update(body='{"verdict":"AI!"}'), document="C-01")


@forgery(NOT_THERE, 5, "evidence/plain")
def two_answers_change_places(forger: Forger) -> None:
    forger.lines("evidence/plain-0001.jsonl.gz", lambda values: values.reverse())


@forgery(NOT_THERE, 5, "evidence")
def an_answer_is_gone(forger: Forger) -> None:
    forger.lines("evidence/plain-0001.jsonl.gz", lambda values: values[1:])


@forgery(NOT_THERE, 5, "evidence/plain")
def an_answer_more(forger: Forger) -> None:
    forger.lines("evidence/plain-0001.jsonl.gz", lambda values: [*values, values[-1] | {"attempt": 2}])


@forgery(NOT_THERE, 5, "evidence/plain-0002.jsonl.gz")
def evidence_with_a_gap(forger: Forger) -> None:
    (forger.root / "evidence/plain-0001.jsonl.gz").rename(forger.root / "evidence/plain-0002.jsonl.gz")


@forgery(NOT_THERE, 5, "evidence/plain")
def a_body_with_another_spelling(forger: Forger) -> None:
    def change(value: Json) -> None:
        assert (value["encoding"], value["body"][-2:]) == ("base64", "Q=")
        value["body"] = value["body"][:-2] + "R="  # bits that no decoder looks at

    forger.row("evidence/plain-0001.jsonl.gz", change, document="A-06")


@forgery("hides that a detector changed its version", 5, "journal/edge.2")
def the_second_version_is_called_the_first(forger: Forger) -> None:
    for path in forger.journals("edge.2"):
        forger.lines(path, lambda values: [v.update(version="2.0") for v in values if v.get("version")] and None)


@forgery(OTHER, 5, "journal/edge.2")
def an_answer_about_another_text(forger: Forger) -> None:
    body = '{"class":"Human","model":"2.0","score":0.02,"text":"Rain again. No boats today."}'
    forger.answer("edge.2", "C-01", body, score="0.02", displayed="0.02", label="Human")


@forgery(OTHER, 5, "journal/edge.2")
def two_answers_with_echoes_change_places(forger: Forger) -> None:
    answers = forger.answers("edge.2")
    one, two = answers["C-01"]["body"], answers["A-01"]["body"]
    forger.answer("edge.2", "C-01", two, score="0.03", displayed="0.03", label="Human")
    forger.answer("edge.2", "A-01", one, score="0.99", displayed="0.99", label="AI")


@forgery(OTHER, 5, "journal/edge.2")
def an_answer_about_the_text_is_called_about_another(forger: Forger) -> None:
    forger.reading("edge.2", "A-04", state="declined", reason="other text scanned")


def asked_again(forger: Forger, document: str, body: str, **change: Any) -> None:
    """Another question about a document of plain after its answer, and another answer."""

    def more(values: list[Json]) -> list[Json]:
        sent, read = (v for v in values if v.get("document") == document)
        digest = forger.address(document, body.encode())
        again = read | {"attempt": 2, "evidence_sha256": digest, **change}
        return [*values[:-1], sent | {"attempt": 2}, again, values[-1]]

    forger.lines("journal/plain.jsonl", more)
    line = {"attempt": 2, "body": body, "detector": "plain", "document": document, "encoding": "utf-8"}
    line["sha256"] = forger.address(document, body.encode())
    forger.lines("evidence/plain-0001.jsonl.gz", lambda values: [*values, line])


@forgery(REMARKS, 5, "journal/edge.2", alone=NOTHING)
def a_remark_that_the_answer_does_not_call_for(forger: Forger) -> None:
    forger.reading("edge.2", "A-04", reason="the answer quotes the text 2 times")


@forgery(REMARKS, 5, "journal/edge.2", alone=NOTHING)
def a_remark_that_is_left_out(forger: Forger) -> None:
    forger.reading("edge.2", "A-01", reason=None)


@forgery(TWICE, 5, "journal/plain.jsonl", alone={5, 7})
def a_second_answer_beside_the_first(forger: Forger) -> None:
    asked_again(forger, "A-04", '{"verdict":"Human"}', displayed="Human", label="Human")


@forgery(TWICE, 5, "journal/plain.jsonl", alone={5, 7})
def a_question_after_its_answer(forger: Forger) -> None:
    def more(values: list[Json]) -> list[Json]:
        return [*values[:-1], next(v for v in values if v.get("document") == "A-04") | {"attempt": 2}, values[-1]]

    forger.lines("journal/plain.jsonl", more)


@forgery(TWICE, 5, "journal/plain.jsonl")
def more_attempts_than_promised(forger: Forger) -> None:
    def more(values: list[Json]) -> list[Json]:
        sent = next(v for v in values if v["kind"] == "sent" and v["document"] == "A-04")
        retry = sent | {"kind": "retry", "reason": "no route"}
        at = values.index(sent)
        tries = [sent, retry, sent | {"attempt": 2}, retry | {"attempt": 2}, sent | {"attempt": 3}]
        return [*values[:at], *tries, *values[at + 1 :]]

    forger.lines("journal/plain.jsonl", more)
    forger.reading("plain", "A-04", attempt=3)
    forger.row("evidence/plain-0001.jsonl.gz", lambda value: value.update(attempt=3), document="A-04")


@forgery(TWICE, 5, "journal/plain.jsonl")
def a_pair_in_doubt_is_asked_again(forger: Forger) -> None:
    def more(values: list[Json]) -> list[Json]:
        sent = next(v for v in values if v["kind"] == "sent" and v["document"] == "B-02")
        return [*values[:-1], sent | {"attempt": 2}, values[-1]]

    forger.lines("journal/plain.jsonl", more)


@forgery(TWICE, 5, "journal/plain.jsonl")
def a_retry_of_what_was_not_sent(forger: Forger) -> None:
    line = {"at": "2024-11-05T08:00:12Z", "attempt": 2, "document": "A-04", "kind": "retry", "reason": "no route"}
    forger.lines("journal/plain.jsonl", lambda values: [*values[:-1], line, values[-1]])


@forgery(TWICE, 5, "journal/plain.jsonl", alone={5, 7})
def an_answer_that_nobody_asked_for(forger: Forger) -> None:
    def less(values: list[Json]) -> list[Json]:
        return [v for v in values if not (v["kind"] == "sent" and v["document"] == "A-04")]

    forger.lines("journal/plain.jsonl", less)


@forgery(SKIPS, 5, "journal/plain.jsonl", alone=NOTHING)
def an_embarrassing_document_is_skipped(forger: Forger) -> None:
    def less(values: list[Json]) -> list[Json]:
        [sent, _] = block(values, "A-04")
        skip = {"at": sent["at"], "document": "A-04", "kind": "skipped", "reason": "language de, not en"}
        made = [skip if v == sent else v for v in values]
        return [v for v in made if v["kind"] == "skipped" or v.get("document") != "A-04"]

    forger.lines("journal/plain.jsonl", less)
    answers = forger.answers("plain")
    del answers["A-04"]
    forger.keep("plain", answers)


@forgery(SKIPS, 5, "journal/plain.jsonl", alone=NOTHING)
def another_reason_for_a_skip(forger: Forger) -> None:
    forger.replace("journal/plain.jsonl", "language fr, not en", "language is, not en")


@forgery(WINDOW, 5, "journal/plain.jsonl")
def scanned_after_the_window(forger: Forger) -> None:
    forger.replace("journal/plain.jsonl", "2024-11-05T08:00:01", "2024-12-01T08:00:01", count=99)


@forgery(WINDOW, 5, "journal/plain.jsonl")
def scanned_before_the_freeze(forger: Forger) -> None:
    forger.promise(lambda value: value["window"].update(opens="2024-10-03"))
    forger.replace("journal/plain.jsonl", "2024-11-04T08:00:01", "2024-10-19T08:00:01", count=99)


@forgery(WINDOW, 5, "journal/plain.jsonl")
def scanned_after_the_evidence_was_sealed(forger: Forger) -> None:
    forger.edit("seals/evidence.json", lambda value: value.update(sealed_at="2024-11-09T08:00:00Z"))
    forger.replace("journal/plain.jsonl", "2024-11-05T08:00:01", "2024-11-10T08:00:01", count=99)


@forgery(WINDOW, 5, "journal/plain.jsonl:1")
def asked_by_other_code(forger: Forger) -> None:
    forger.row(
        "journal/plain.jsonl", lambda value: value["plugin"].update(sha256="0" * 64), at=first_at(forger, "plain")
    )


@forgery(WINDOW, 5, "journal/plain.jsonl:1")
def asked_by_code_that_nobody_names(forger: Forger) -> None:
    forger.row("journal/plain.jsonl", lambda value: value.update(plugin=None), at=first_at(forger, "plain"))


@forgery(WINDOW, 5, "journal/plain.jsonl")
def sent_at_another_time_than_it_was(forger: Forger) -> None:
    forger.reading("plain", "A-04", sent_at="2024-11-05T07:00:00Z")


@forgery("hides that a detector changed its version", 5, "journal/edge.2")
def another_version_was_asked_for(forger: Forger) -> None:
    for path in forger.journals("edge.2"):
        forger.lines(
            path, lambda values: [v | {"version_asked": "3.0"} if v["kind"] == "reading" else v for v in values]
        )


def first_at(forger: Forger, detector: str) -> str:
    """The time of the first start line."""
    return str(json.loads(forger.read(f"journal/{detector}.jsonl").split(b"\n")[0])["at"])


@forgery(MORE, 5, "journal/rogue.jsonl")
def a_journal_of_nobody(forger: Forger) -> None:
    forger.write("journal/rogue.jsonl", forger.read("journal/typed.jsonl").replace(b'"typed"', b'"rogue"'))


@forgery(MORE, 5, "evidence/rogue-0001.jsonl.gz")
def evidence_of_nobody(forger: Forger) -> None:
    forger.write("evidence/rogue-0001.jsonl.gz", forger.read("evidence/typed-0001.jsonl.gz"))


@forgery(CHAIN, 5, "journal/plain.jsonl")
def a_start_line_of_another_detector(forger: Forger) -> None:
    def more(values: list[Json]) -> list[Json]:
        card = canonical_json.sha256(forger.read("detectors/typed.json"))
        return [*values, values[0] | {"detector": "typed", "plugin": None, "card_sha256": card}]

    forger.lines("journal/plain.jsonl", more)


# --- 6 completeness ----------------------------------------------------------------------------------------------------

DENOMINATOR = "drops failures or refusals from a denominator"


@forgery(DENOMINATOR, 6, "reason")
def a_failure_without_a_reason(forger: Forger) -> None:
    forger.reading("edge.2", "C-02", reason="")


@forgery(DENOMINATOR, {6, 7}, "tables/readings.csv", "tables")
def a_refusal_is_left_out_of_the_readings(forger: Forger) -> None:
    rows = forger.read("tables/readings.csv").split(b"\n")
    kept = [row for row in rows if b"would not say" not in row]
    assert len(kept) == len(rows) - 1
    forger.write("tables/readings.csv", b"\n".join(kept))


@forgery(DENOMINATOR, {6, 7}, "tables/rates.csv", "tables")
def a_refusal_is_left_out_of_the_rates(forger: Forger) -> None:
    cell(forger, "tables/rates.csv", 1, "no_result", "1")


# --- 7 tables ----------------------------------------------------------------------------------------------------------

RATE = "prints another rate, interval or count"
RULES = "writes the rules after the answers existed"


def cell(forger: Forger, path: str, row: int, column: str, value: str) -> None:
    """Write another value into a cell (no quoted cell stands before it)."""
    rows = forger.read(path).decode().split("\n")
    at = rows[0].split(",").index(column)
    cells = rows[row].split(",")
    assert cells[at] != value
    cells[at] = value
    rows[row] = ",".join(cells)
    forger.write(path, "\n".join(rows).encode())


@forgery(RATE, 7, "tables/rates.csv:2", "tables")
def a_narrower_interval(forger: Forger) -> None:
    cell(forger, "tables/rates.csv", 1, "high", "0.500001")


@forgery(RATE, 7, "tables/table2.csv", "tables")
def another_rate_in_table_2(forger: Forger) -> None:
    cell(forger, "tables/table2.csv", 1, "rate", "0.000001")


@forgery(RATE, 7, "tables/documents.csv", "tables")
def another_truth_in_the_list_of_documents(forger: Forger) -> None:
    cell(forger, "tables/documents.csv", 1, "truth", "ai")


@forgery("prints a rate over the few texts that were answered as if it were over all", 7, "tables/table1.csv", "tables")
def nothing_said_of_texts_without_an_answer(forger: Forger) -> None:
    cell(forger, "tables/table1.csv", 2, "detection_unanswered", "")


@forgery(RATE, 7, "tables/agreement.csv", "tables")
def more_agreement(forger: Forger) -> None:
    cell(forger, "tables/agreement.csv", 1, "count", "5")


@forgery(RATE, 7, "tables/winners.csv", alone=NOTHING)
def a_table_that_nothing_computes(forger: Forger) -> None:
    forger.write("tables/winners.csv", b"detector\nhumane\n")


def prospective(forger: Forger) -> None:
    """Let every table say that the rules came first, whatever the journals say."""
    forger.finish("departures", "promise", "corpus", "heads", "evidence", "page", "readme", "changes", "sums")
    for path in forger.edition.tables.iterdir():
        path.write_bytes(path.read_bytes().replace(b"retrospective", b"prospective"))


@forgery(RULES, 7, "tables/", "tables")
def an_answer_older_than_the_promise_is_called_prospective(forger: Forger) -> None:
    forger.reading("humane", "A-01", got_at="2024-10-01T09:00:00Z")
    prospective(forger)


@forgery(RULES, 7, "tables/", "tables")
def an_undated_answer_is_called_prospective(forger: Forger) -> None:
    forger.reading("humane", "A-01", got_at=None)
    prospective(forger)


@forgery(RULES, 7, "tables/", "tables")
def an_undated_answer_about_another_text_is_called_prospective(forger: Forger) -> None:
    forger.reading("edge.2", "C-04", got_at=None)
    prospective(forger)


# --- 8 pages -----------------------------------------------------------------------------------------------------------

SAYS = "prints a page or a README that says something else than the tables"
LEAVES = "leaves a detector or a row out of the page"


@forgery(SAYS, 8, "report/index.html", "page", alone=NOTHING)
def another_rate_on_the_page(forger: Forger) -> None:
    forger.replace("report/index.html", ">50.00\u00a0%<", ">05.00\u00a0%<")


@forgery(SAYS, 8, "report/index.html", "page", alone=NOTHING)
def a_figure_that_cites_another_cell(forger: Forger) -> None:
    page = forger.read("report/index.html").decode()
    [cited] = re.findall(r'<span data-cell="tables/table1\.csv:1:fp_rate"[^>]*>[^<]*</span>', page)[:1]
    other = re.sub(r">[^<]*<", ">37.50\u00a0%<", cited.replace("csv:1:fp", "csv:4:fp"))
    forger.write("report/index.html", page.replace(cited, other).encode())


@forgery(SAYS, 8, "README.md", "readme", alone=NOTHING)
def another_rate_in_the_readme(forger: Forger) -> None:
    text = forger.read("README.md").decode()
    line = next(line for line in text.split("\n") if line.startswith("| humane"))
    forger.replace("README.md", line, line.replace(" of 12 ", " of 21 "))


@forgery(SAYS, 8, "README.md", "readme", alone=NOTHING)
def a_row_of_the_readme_is_gone(forger: Forger) -> None:
    text = forger.read("README.md").decode()
    line = next(line for line in text.split("\n") if line.startswith("| plain"))
    forger.replace("README.md", f"{line}\n", "")


@forgery(SAYS, 8, "CHANGES.md", "changes", alone=NOTHING)
def a_deviation_is_not_in_the_changelog(forger: Forger) -> None:
    forger.replace("CHANGES.md", "The office was closed on the first day of the window.", "")


@forgery(LEAVES, 8, "report/index.html", "page", alone=NOTHING)
def a_row_of_the_page_is_gone(forger: Forger) -> None:
    page = forger.read("report/index.html").decode()
    rows = [row for row in re.findall(r"<tr>.*?</tr>", page, re.S) if "tables/table1.csv:4:" in row]
    assert rows
    for row in rows:
        page = page.replace(row, "")
    forger.write("report/index.html", page.encode())


@forgery(LEAVES, 8, "report/index.html", "page", alone=NOTHING)
def a_script_on_the_page(forger: Forger) -> None:
    forger.replace("report/index.html", "</body>", "<script>document.title = '0 %'</script></body>")


def drop(forger: Forger, document: str) -> None:
    """Take a document out of everything."""
    published = address(forger, document)

    def less(values: list[Json]) -> list[Json]:
        head, *rows = [value for value in values if value.get("id") != document]
        head["documents"] -= 1
        head["arms"][next(v["arm"] for v in values[1:] if v["id"] == document)] -= 1
        return [head, *rows]

    forger.lines("manifest.jsonl", less)
    for detector in ("edge.2", "humane", "plain", "typed"):
        answers = forger.answers(detector)
        answers.pop(document, None)
        for path in forger.journals(detector):
            forger.lines(path, lambda values: [v for v in values if v.get("document") != document])
        forger.keep(detector, answers)
    (forger.root / f"texts/{published}.txt").unlink()
    if document in golden_inputs.DRAFTS:
        (forger.root / f"texts/{canonical_json.sha256(golden_inputs.DRAFTS[document].encode())}.txt").unlink()
