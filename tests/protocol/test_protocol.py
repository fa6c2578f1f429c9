"""The protocol: the templates hold every rule, faults have lines, departures are computed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penmark import cards, protocol, records, study
from penmark.corpus import provenance
from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.records import Card, Protocol, Rule

VALUES = {
    "study": "bench: ours",
    "edition": "BENCH-2026-Q4",
    "opens": "2026-11-30",
    "closes": "2026-12-31",
    "seed_sha256": "ab" * 32,
}
# A released template never changes: what was published is computed from it. A new one gets a new name.
DIGESTS = {
    "humanflow": "a7928be2a2076f3f8b5d126a234b8c17147eaa03e6eb0650e642fceea68c90e8",
    "small": "e9703c7696470bb227832e777bbdd2f09b8dc386fad7965c418ef2028b60fa81",
}
FORMAT1 = {
    "humanflow": "b07d70c26a700fa1adc2144bb15c9a824bacdec89af410f8cebf3aefc195f528",
    "small": "a4a2319433fe671de88c12159b3ab006ced5ff6f4399e4c69ebe1f94362b37ad",
}
"""Those that shipped while format 1 was written: published departures are computed from them."""


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes the filled template, with texts replaced, each of which must be there."""

    def make(name: str = "humanflow", *replaced: tuple[str, str]) -> Path:
        text = protocol.fill_template(name, VALUES)
        for before, after in replaced:
            assert before in text
            text = text.replace(before, after)
        path = tmp_path / "protocol.yaml"
        path.write_text(text)
        return path

    return make


def known_cards(given: Protocol, **changes: Any) -> dict[str, Card]:
    """The cards that ship, with documented boundaries."""
    found = {}
    for detector in given.detectors:
        card = cards.load_card(cards.find_card(detector.card, None))
        rule = card.boundary.model_copy(update={"confidence": "documented", **changes})
        found[detector.name] = card.model_copy(update={"boundary": rule})
    return found


# --- templates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", protocol.TEMPLATES)
def test_a_template_stays_what_it_was_when_it_was_released(name: str) -> None:
    assert protocol.load_template(name).sha256 == DIGESTS[name]
    for digest in (DIGESTS[name], FORMAT1[name]):
        assert protocol.find_followed_template(records.Template(name=name, sha256=digest)).sha256 == digest


def test_the_default_template_holds_every_rule_of_the_published_protocol(write: Callable[..., Path]) -> None:
    given = protocol.load_protocol(write())
    a, b, c, c2 = given.arms
    assert [arm.name for arm in given.arms] == ["A", "B", "C", "C2"]
    assert [arm.truth for arm in given.arms] == ["human", "human", "ai", "mixed"]
    assert [arm.documents for arm in given.arms] == [150, 75, 150, 45]
    assert sum(arm.documents for arm in given.arms) == 420
    assert [arm.headline for arm in given.arms] == [True, True, True, False]
    assert [arm.persists for arm in given.arms] == [True, True, False, False]
    assert {q.where["register"]: q.documents for q in a.quotas} == {"academic": 50, "professional": 50, "casual": 50}
    assert a.words is not None
    assert (a.words.minimum, a.words.maximum) == (300, 1200)
    assert (a.evidence.kinds, a.evidence.grades, a.evidence.before) == (
        ("archive",),
        ("archived", "released"),
        "2022-01-01",
    )
    assert {q.where["subgroup"]: q.documents for q in b.quotas} == {"native": 38, "non-native": 37}
    assert (b.evidence.kinds, b.evidence.grades) == (("attested",), ("witnessed",))
    assert c.generation is not None
    assert len({m.model for m in c.generation.models}) == 5
    assert len({m.provider for m in c.generation.models}) == 3
    assert [s.name for s in c.generation.styles] == ["plain", "styled", "matched"]
    assert (c.generation.temperature, c.generation.topics_from) == ("not sent", ("A", "B"))
    assert (len(c.quotas), {q.documents for q in c.quotas}) == (15, {10})
    assert c.evidence.grades == ("recorded",)
    assert c2.budget is not None
    assert (c2.budget.words_percent, c2.budget.sentences) == ("10", "none added or deleted")
    assert (given.scans, given.interval, given.level, given.winner, given.raw_scores) == (
        1,
        "wilson",
        "0.95",
        "never",
        "published",
    )
    assert given.schedule == "quarterly"
    assert len(given.authorities) == 2
    assert all(detector.rule is None and detector.settings == {} for detector in given.detectors)
    assert [detector.name for detector in given.detectors] == ["aifingerprint", "uncanny", "zippy"]


def test_the_small_template_is_the_same_protocol_with_fewer_documents(write: Callable[..., Path]) -> None:
    small, full = protocol.load_protocol(write("small")), protocol.load_protocol(write("humanflow"))
    assert [arm.documents for arm in small.arms] == [15, 8, 15, 4]
    assert [{q.documents for q in arm.quotas} for arm in small.arms] == [{5}, {4}, {1}, set()]
    same = {"arms", "title"}
    assert small.model_dump(exclude=same) == full.model_dump(exclude=same)
    shared = {"documents", "quotas", "filled"}
    assert [a.model_dump(exclude=shared) for a in small.arms] == [a.model_dump(exclude=shared) for a in full.arms]
    found = protocol.list_departures(small, known_cards(small))
    assert [(d.rule, d.study) for d in found] == [("arm-size", f"{n} documents") for n in (15, 8, 15, 4)]


def test_archived_texts_that_are_not_published_are_a_departure(write: Callable[..., Path], tmp_path: Path) -> None:
    given = protocol.load_protocol(write())
    edition = study.Edition(tmp_path / "BENCH-2026-Q4")
    assert protocol.count_unpublished(edition) == ({}, {}), "before the freeze"
    forbidden, ours = "its licence forbids it", {"kind": "attested"}
    documents = [
        {"arm": "A", "id": "A-1", "provenance": {"kind": "archive"}, "withheld": None},
        {"arm": "A", "id": "A-2", "provenance": {"kind": "archive"}, "withheld": forbidden},
        {"arm": "A", "id": "A-3", "provenance": {"kind": "archive"}, "withheld": forbidden},
        {"arm": "B", "id": "B-1", "provenance": ours, "withheld": "its author wants it so"},
        {"arm": "C", "id": "C-1", "provenance": {"kind": "generated"}, "withheld": "kept for next year"},
        {"arm": "C2", "id": "E-1", "provenance": {"kind": "edited"}, "withheld": None},
    ]
    study.write_records(edition.manifest, [{"kind": "manifest"}, *documents])
    counts = protocol.count_unpublished(edition)
    assert counts == ({"A": 2}, {"C": 1}), "what volunteers withhold is as the template has it"
    found, made = protocol.list_departures(given, known_cards(given), counts)
    assert (found.rule, found.study) == ("not-published", "arm A: 2 of 150 texts are not")
    assert (made.rule, made.study) == ("not-published", "arm C: 1 of 150 texts are not")


def test_a_new_protocol_follows_its_template_and_says_what_is_left_to_decide(write: Callable[..., Path]) -> None:
    given = protocol.load_protocol(write())
    assert given.study == "bench: ours"
    assert protocol.list_departures(given, known_cards(given)) == []
    places = dict(protocol.list_placeholders(given))
    assert places["people.0.name"] == "<your name>"
    assert places["payer"].startswith("<who pays")
    assert places["arms.C.generation.models.4.model"] == "<model 5>"
    assert places["arms.C.quotas.14.where.model"] == "<model 5>"
    assert not protocol.list_placeholders(given.model_copy(update={"arms": (), "payer": "a < b, <>", "people": ()}))


def test_the_template_is_about_a_hundred_readable_lines() -> None:
    for name in protocol.TEMPLATES:
        text = protocol.load_template(name).text.splitlines()
        assert len(text) < 150
        assert max(len(line) for line in text) <= 150


def test_names_of_templates() -> None:
    with pytest.raises(UsageError, match="did you mean humanflow"):
        protocol.load_template("humanflo")


# --- faults --------------------------------------------------------------------------------------------------------


def test_every_fault_in_one_pass_each_with_its_line(write: Callable[..., Path]) -> None:
    path = write(
        "humanflow",
        ("schedule: quarterly", "shedule: quarterly"),
        ("level: 0.95", "level: 0.94"),
        ("attempts: 3", "attempts: three"),
        ("headline: false", "headline: no"),
        ("{where: {register: casual}, documents: 50}", "{where: {register: casual}, documents: 40}"),
        ("opens: 2026-11-30", "opens: 2026-11-31"),
        ("winner: never", "winner: never\nwinner: zippy"),
        ("relation: none}\nnominations", "relation: nome}\nnominations"),
    )
    with pytest.raises(FaultsError) as caught:
        protocol.load_protocol(path)
    lines = ["", *path.read_text().splitlines()]
    numbers = [int(str(fault.place).removeprefix(f"{path}:")) for fault in caught.value.faults]
    assert numbers == sorted(numbers)
    first = next(number for number, line in enumerate(lines) if line.startswith("winner: never"))
    assert [(lines[n].strip()[:14], fault.fact) for n, fault in zip(numbers, caught.value.faults, strict=True)] == [
        ('study: "bench:', "schedule: is missing"),
        ("shedule: quart", "shedule: unknown key (did you mean schedule?)"),
        ("window: {opens", "window.opens: '2026-11-31' is not on the calendar"),
        ("attempts: thre", "attempts: 'three' is not a whole number"),
        ("level: 0.94", "level: '0.94' is not possible here"),
        ("winner: zippy ", f"the key `winner` stands twice (first in line {first})"),
        ("- name: A", "arms.A: the quotas by register add up to 140, the arm to 150: change them, or `documents`"),
        ("headline: no", "arms.C2.headline: 'no' is neither true nor false"),
        ("- {name: zippy", "detectors.zippy.relation: 'nome' is not possible here (did you mean none?)"),
    ]


def test_a_list_whose_items_are_all_faulty_is_not_called_empty(write: Callable[..., Path]) -> None:
    with pytest.raises(FaultsError) as caught:
        protocol.load_protocol(write("small", ("relation: none}", "relation: frends}")))
    assert [fault.fact.split(":")[0] for fault in caught.value.faults] == [
        "detectors.aifingerprint.relation",
        "detectors.uncanny.relation",
        "detectors.zippy.relation",
    ]


@pytest.mark.parametrize(
    ("before", "after", "fact"),
    [
        (
            "minimum: 300, maximum: 1200}\n    quotas:\n      - {where: {reg",
            "minimum: 1300, maximum: 1200}\n    quotas:\n      - {where: {reg",
            "arms.A.words: the minimum, 1300, is above the maximum, 1200",
        ),
        ("{register: casual}", "{registre: casual}", "a quota cannot ask for `registre` (did you mean register?)"),
        ("{register: casual}", "{register: academic}", "this quota stands twice"),
        (
            "{model: <model 1>, style: plain}",
            "{model: <model 9>, style: plain}",
            "the model '<model 9>' is not among those",
        ),
        (
            "style: plain}, documents: 10}",
            "style: plane}, documents: 10}",
            "the style 'plane' is not among those of the arm's generation (did you mean plain?)",
        ),
        (
            "documents: 45\n    headline: false",
            "documents: 45\n    headline: true",
            "a mixed arm never enters headline rates",
        ),
        (
            "closes: 2026-12-31",
            "closes: 2026-11-01",
            "window: the scan window closes (2026-11-01) before it opens (2026-11-30): swap the two dates",
        ),
        ("name: uncanny, card", "name: zippy, card", "detector named twice: zippy"),
        ("name: freetsa", "name: digicert", "this authority is named twice"),
        (
            "comparisons: []",
            "comparisons: [{first: zippy, second: gptzero}]",
            "does not name two detectors of the study",
        ),
        ("study: ", "format: 3\nstudy: ", "3 is no format that this release knows (1 and 2)"),
    ],
)
def test_what_no_single_field_shows(write: Callable[..., Path], before: str, after: str, fact: str) -> None:
    with pytest.raises(FaultsError) as caught:
        protocol.load_protocol(write("humanflow", (before, after)))
    assert any(fact in fault.fact for fault in caught.value.faults), caught.value


@pytest.mark.parametrize(
    ("before", "after", "line", "fact"),
    [
        ("  - name: C2\n", "  - name: A\n", -1, "arms.A: arm named twice: A"),
        ("name: uncanny, card", "name: zippy, card", -1, "detectors.zippy: detector named twice: zippy"),
        ("level: 0.95", "level: 0.95\nnear_duplicates: 3", 0, "near_duplicates: 3 is not from 0.2 to 1"),
    ],
)
def test_what_no_single_field_shows_has_its_line(
    write: Callable[..., Path], before: str, after: str, line: int, fact: str
) -> None:
    path = write("humanflow", (before, after))
    with pytest.raises(FaultsError) as caught:
        protocol.load_protocol(path)
    [told] = [each for each in caught.value.faults if fact in each.fact]
    word = after.strip().split("\n")[-1]
    lines = [n for n, text in enumerate(path.read_text().splitlines(), 1) if word.partition(", card")[0] in text]
    assert told.place == f"{path}:{lines[line]}"


@pytest.mark.parametrize(("written", "taken"), [("0.9", "0.90"), ("0.950", "0.95"), ("9e-1", "0.90"), ("0.99", "0.99")])
def test_the_same_number_in_other_digits_is_taken(write: Callable[..., Path], written: str, taken: str) -> None:
    assert protocol.load_protocol(write("humanflow", ("level: 0.95", f"level: {written}"))).level == taken


# --- the sealed form -----------------------------------------------------------------------------------------------


def test_the_sealed_protocol_is_the_canonical_one(write: Callable[..., Path], tmp_path: Path) -> None:
    given = protocol.load_protocol(write())
    edition = study.Edition(tmp_path)
    study.write_bytes(edition.protocol_json, protocol.encode_protocol(given))
    assert protocol.read_sealed(edition) == given
    value = json.loads(protocol.encode_protocol(given))
    for spoil, fact in (
        (lambda v: v.pop("beacon"), "leaves fields out"),
        (lambda v: v.update(format=3), "is of format 3; this release knows 1 and 2"),
        (lambda v: v.update(winner="zippy"), "winner"),
        (lambda v: v.update(more=1), "more"),
        (lambda v: v["arms"][0].update(documents="150"), "documents"),
    ):
        other = json.loads(json.dumps(value))
        spoil(other)
        study.write_bytes(edition.protocol_json, canonical_json.encode_json(other))
        with pytest.raises(PenmarkError, match=fact):
            protocol.read_sealed(edition)
    for data in (b"", b"[]", b"{}", b"null", protocol.encode_protocol(given) + b"\n"):
        study.write_bytes(edition.protocol_json, data)
        with pytest.raises(PenmarkError):
            protocol.read_sealed(edition)


# --- departures ----------------------------------------------------------------------------------------------------

_ARM_C = "    words: {minimum: 300, maximum: 1200}\n    quotas:                        # every model"
_CASES = [
    ("arm-size", "documents: 45", "documents: 44", "45 documents", "44 documents"),
    ("arm-size", "documents: 45", "documents: 90", "45 documents", "90 documents"),
    ("arm-truth", "    truth: mixed ", "    truth: ai    ", "arm C2: mixed", "ai"),
    ("arm-headline", "documents: 75\n    headline: true", "documents: 75\n    headline: false", "arm B: yes", "no"),
    ("arm-persists", "persists: true                 # A and B", "persists: false   # A and B", "arm A: yes", "no"),
    ("arm-unit", "unit: author", "unit: document", "arm B: author", "document"),
    ("word-limits", _ARM_C, _ARM_C.replace("300", "100"), "arm C: 300 to 1200 words", "100 to 1200 words"),
    ("word-limits", _ARM_C, _ARM_C.split("\n")[1], "arm C: 300 to 1200 words", "any number of words"),
    ("evidence-kinds", "[attested]", "[attested, archive]", "arm B: attested", "attested, archive"),
    (
        "evidence-grades",
        "[archived, released]",
        "[archived, released, stated]",
        "arm A: archived, released",
        "archived, released, stated",
    ),
    ("cutoff-date", "2022-01-01", "2022-11-30", "arm A: before 2022-01-01", "before 2022-11-30"),
    ("cutoff-date", ", before: 2022-01-01", "", "arm A: before 2022-01-01", "no cutoff date"),
    ("level", "level: 0.95", "level: 0.99", "0.95", "0.99"),
    ("attempts", "attempts: 3", "attempts: 5", "3", "5"),
    ("ask-again", "ask_again_in_doubt: false", "ask_again_in_doubt: true", "no", "yes"),
    ("version-change", "on_version_change: stop", "on_version_change: split", "stop", "split"),
    ("schedule", "schedule: quarterly", "schedule: once", "quarterly", "once"),
    (
        "edition-quarter",
        "closes: 2026-12-31",
        "closes: 2027-01-01",
        "BENCH-2026-Q4: 2026-10-01 to 2026-12-31",
        "2026-11-30 to 2027-01-01",
    ),
    (
        "interests",
        "interests: <your interests, such as an employer or an affiliate link, or none>",
        'interests: " "',
        "stated",
        "nothing stated by <your name>",
    ),
    ("authorities", '  - {name: freetsa, url: "https://freetsa.org/tsr"}\n', "", "2 timestamp authorities", "1"),
    ("temperature", "temperature: not sent  ", "temperature: 0.7  ", "arm C: not sent", "0.7"),
    (
        "prompt",
        "about {topic}, in about {words} words.",
        "about {topic}.",
        "arm C: plain: Write an essay about {topic}, in about {words} words.",
        "Write an essay about {topic}.",
    ),
    (
        "gates",
        "topics_from: [A, B]",
        "gates: [empty, refused, error message, prompt residue, word limits]\n      topics_from: [A, B]",
        "arm C: empty, refused, cut off, error message, prompt residue, chat residue, word limits",
        "empty, refused, error message, prompt residue, word limits",
    ),
    ("gates", "topics_from: [A, B]", "gates: []\n      topics_from: [A, B]", "arm C: empty, refused", "no gates"),
    (
        "replacement",
        "topics_from: [A, B]",
        "replacement: none\n      topics_from: [A, B]",
        "arm C: up to 3 topics at a spot",
        "none in place of a rejected text",
    ),
    (
        "replacement",
        "topics_from: [A, B]",
        "attempts: 9\n      topics_from: [A, B]",
        "arm C: up to 3 topics at a spot",
        "up to 9",
    ),
    ("topics", "topics_from: [A, B]", "topics_from: []", "arm C: matched to arms A, B", "not matched"),
    (
        "edit-budget",
        "words_percent: 10",
        "words_percent: 20",
        "arm C2: 10 % of words, sentences none added or deleted",
        "20 % of words, sentences none added or deleted",
    ),
    (
        "edit-budget",
        "sentences: none added or deleted",
        "sentences: any",
        "arm C2: 10 % of words, sentences none added or deleted",
        "10 % of words, sentences any",
    ),
    (
        "screening",
        "screening: {}",
        "screening: {duplicate: warning}",
        "duplicate: as penmark has it",
        "duplicate: warning",
    ),
    ("providers", "provider: <provider 3>", "provider: <provider 2>", "arm C: at least 3 providers", "2"),
    (
        "settings",
        "zippy, surface: local,",
        "zippy, surface: local, settings: {mode: strict},",
        "zippy: the vendor's defaults",
        "mode = strict",
    ),
    (
        "free-access",
        "relation: none}\nnominations",
        "relation: free credits}\nnominations",
        "zippy: an account that the operator pays for",
        "free credits",
    ),
]


@pytest.mark.parametrize(
    ("rule", "before", "after", "template", "here"), _CASES, ids=[f"{c[0]}-{n}" for n, c in enumerate(_CASES)]
)
def test_a_departure_is_found(
    write: Callable[..., Path], rule: str, before: str, after: str, template: str, here: str
) -> None:
    given = protocol.load_protocol(write("humanflow", (before, after)))
    (found,) = protocol.list_departures(given, known_cards(given))
    assert (found.rule, found.study) == (rule, here)
    assert template in found.template
    assert found.explanation.endswith(".")


def _without_arm(text: str, name: str) -> str:
    head, tail = text.split(f"  - name: {name}\n")
    parts = tail.split("\n  - name: ", 1)
    return head + ("  - name: " + parts[1] if len(parts) > 1 else tail[tail.index("\n# Every detector") :])


def test_missing_and_extra_arms(tmp_path: Path) -> None:
    path = tmp_path / "protocol.yaml"
    text = _without_arm(protocol.fill_template("humanflow", VALUES), "B").replace("- name: C2", "- name: C3")
    path.write_text(text)
    given = protocol.load_protocol(path)
    assert [(d.rule, d.template, d.study) for d in protocol.list_departures(given, known_cards(given))] == [
        ("arm-missing", "arm B: 75 documents", "not in this study"),
        ("arm-missing", "arm C2: 45 documents", "not in this study"),
        ("extra-arm", "no such arm", "arm C3: 45 documents, truth mixed"),
    ]


def test_quotas(write: Callable[..., Path]) -> None:
    casual = "- {where: {register: casual}, documents: 50}"
    academic = "- {where: {register: academic}, documents: 50}"
    cases: list[tuple[list[tuple[str, str]], list[tuple[str, str]]]] = [
        (
            [(academic, academic.replace("50", "60")), (casual, casual.replace("50", "40"))],
            [("arm A: 50 of 150 register academic", "60 of 150"), ("arm A: 50 of 150 register casual", "40 of 150")],
        ),
        (
            [(academic, academic.replace("50", "100")), (casual, casual.replace("50", "0"))],
            [("arm A: 50 of 150 register academic", "100 of 150"), ("arm A: 50 of 150 register casual", "0 of 150")],
        ),
        (
            [(casual, casual.replace("casual", "poems"))],
            [("arm A: 50 of 150 register casual", "none of 150"), ("arm A: none register poems", "50 of 150")],
        ),
        (
            [("{subgroup: native}", "{language: en}"), ("{subgroup: non-native}", "{language: fr}")],
            [("arm B: quotas by subgroup", "none")],
        ),
        (
            [
                ("{model: <model 1>, style: plain}, documents: 10", "{model: <model 1>, style: plain}, documents: 12"),
                ("{model: <model 2>, style: plain}, documents: 10", "{model: <model 2>, style: plain}, documents: 8"),
            ],
            [("arm C: every model x style alike", "8 to 12 documents")],
        ),
        # 39 + 36 is within one document of the template's shares of 75: rounding, no departure.
        (
            [
                ("{subgroup: native}, documents: 38", "{subgroup: native}, documents: 39"),
                ("{subgroup: non-native}, documents: 37", "{subgroup: non-native}, documents: 36"),
            ],
            [("arm B: 38 of 75 subgroup native", "39 of 75"), ("arm B: 37 of 75 subgroup non-native", "36 of 75")],
        ),
    ]
    for replaced, expected in cases:
        given = protocol.load_protocol(write("humanflow", *replaced))
        found = protocol.list_departures(given, known_cards(given))
        assert [(d.template, d.study) for d in found] == expected
        assert {d.rule for d in found} == {"quota"}


def test_fewer_models_and_styles(write: Callable[..., Path]) -> None:
    text = write().read_text()
    lines = [
        line
        for line in text.splitlines()
        if "model 5" not in line and "style: styled" not in line and "name: styled" not in line
    ]
    path = write()
    path.write_text(
        "\n".join(lines).replace(
            "documents: 150\n    headline: true\n    persists: false",
            "documents: 80\n    headline: true\n    persists: false",
        )
        + "\n"
    )
    given = protocol.load_protocol(path)
    found = protocol.list_departures(given, known_cards(given))
    assert [d.rule for d in found] == ["arm-size", "quota", "quota", "quota", "models", "providers", "styles"]
    assert found[-1].explanation == "No text is asked for in the style styled."


def test_generation_left_out(write: Callable[..., Path]) -> None:
    text = write().read_text()
    start, end = text.index("    generation:"), text.index("    filled: Generated")
    path = write()
    path.write_text(text[:start] + text[end:])
    given = protocol.load_protocol(path)
    assert [d.rule for d in protocol.list_departures(given, known_cards(given))] == ["generation"]


def test_boundaries(write: Callable[..., Path]) -> None:
    rule = "{kind: boundary, operator: '>=', value: 0.01, source: chosen afterwards, date: 2026-11-30}"
    tuned = f"relation: none, rule: {rule}}}\nnominations"
    given = protocol.load_protocol(write("humanflow", ("relation: none}\nnominations", tuned)))
    (found,) = protocol.list_departures(given, known_cards(given))
    assert (found.rule, found.template, found.study) == ("tuned-boundary", "zippy: >= 0 (its own default)", ">= 0.01")
    same = tuned.replace("0.01", "0")
    given = protocol.load_protocol(write("humanflow", ("relation: none}\nnominations", same)))
    assert protocol.list_departures(given, known_cards(given)) == []
    found_rules = [(d.rule, d.study) for d in protocol.list_departures(given, known_cards(given, confidence="guess"))]
    assert found_rules == [("boundary-evidence", "> 40 (guess)"), ("boundary-evidence", ">= 0.5 (guess)")]


def test_a_study_without_a_template_and_one_with_an_unknown_template(write: Callable[..., Path]) -> None:
    given = protocol.load_protocol(write())
    free = given.model_copy(update={"template": None})
    assert [d.rule for d in protocol.list_departures(free, {})] == ["no-template"]
    digest = protocol.load_template("humanflow").sha256
    for before, after in (
        (digest, "0" * 64),
        ("{name: humanflow", "{name: small"),
        ("{name: humanflow", "{name: other"),
    ):
        other = protocol.load_protocol(write("humanflow", (before, after)))
        with pytest.raises(protocol.UnknownTemplate, match="ships no template"):
            protocol.list_departures(other, {})


def test_a_study_may_follow_the_small_template_itself(write: Callable[..., Path]) -> None:
    small = protocol.load_template("small")
    replaced = (
        "{name: humanflow, sha256: " + protocol.load_template("humanflow").sha256,
        "{name: small, sha256: " + small.sha256,
    )
    given = protocol.load_protocol(write("small", replaced))
    assert protocol.list_departures(given, known_cards(given)) == []


def test_departures_as_a_table(write: Callable[..., Path]) -> None:
    given = protocol.load_protocol(write("small"))
    data = protocol.write_departures_csv(protocol.list_departures(given, known_cards(given)))
    assert data.splitlines()[0] == b"number,rule,template,study,explanation"
    assert data.splitlines()[1] == b"1,arm-size,arm A: 150 documents,15 documents,Fewer documents: intervals are wider."
    assert protocol.write_departures_csv([]) == b"number,rule,template,study,explanation\n"


def test_quarters() -> None:
    assert protocol.date_quarter("BENCH-2027-Q1") == ("2027-01-01", "2027-03-31")
    assert protocol.date_quarter("X9-2026-Q2") == ("2026-04-01", "2026-06-30")
    assert protocol.date_quarter("BENCH-2026-Q4") == ("2026-10-01", "2026-12-31")


def test_rules_print_as_the_tables_show_them() -> None:
    assert str(Rule(kind="boundary", operator=">", value="40", source="s", date="2026-11-30")) == "> 40"


def test_the_small_template_explains_what_the_full_one_explains() -> None:
    """A beginner takes the small one: every comment at a line of the full one stands there too, but for two of sizes."""
    full, small = (
        re.findall(r"\S +(# .*)$", protocol.load_template(name).text, re.MULTILINE) for name in protocol.TEMPLATES
    )
    assert len(full) > 30
    missing = [comment for comment in full if comment not in small]
    sizes = ["# 420 documents in all", "# every model in every style alike; name the models here as under generation"]
    assert missing == sizes
    assert "# 42 documents in all" in small


@pytest.mark.parametrize("where", ["settings", "options"])
def test_settings_of_a_single_model_are_departures_from_defaults_that_are_not_sent(
    write: Callable[..., Path], where: str
) -> None:
    given = protocol.load_protocol(write("humanflow"))
    arm = given.arm("C")
    assert arm.generation is not None
    name = "temperature" if where == "settings" else "settings.temperature"
    first, *others = arm.generation.models
    odd = first.model_copy(update={where: {name: "0"}})
    generation = arm.generation.model_copy(update={"models": (odd, *others)})
    arms = tuple(each if each.name != "C" else arm.model_copy(update={"generation": generation}) for each in given.arms)
    changed = given.model_copy(update={"arms": arms})
    (found,) = protocol.list_departures(changed, known_cards(changed))
    assert (found.rule, found.template) == ("settings", "arm C: no settings, temperature not sent")
    assert found.study == f"{first.provider} {first.model}: temperature 0"


@pytest.mark.parametrize(
    ("rule", "before", "after", "told"),
    [
        ("fresh-date", "since: 2026-01-01", "since: 2019-01-01", "on 2019-01-01 or later"),
        ("fresh-date", ", since: 2026-01-01", "", "on any day"),
        ("sessions", "pastes: 5", "pastes: 50", "pastes 50"),
        ("sessions", "active_minutes: 10, ", "", "active_minutes not asked for"),
    ],
)
def test_what_is_asked_of_volunteers_is_a_departure_where_it_is_less(
    write: Callable[..., Path], rule: str, before: str, after: str, told: str
) -> None:
    given = protocol.load_protocol(write("humanflow", (before, after)))
    (found,) = protocol.list_departures(given, known_cards(given))
    assert (found.rule, found.study) == (rule, told)


def test_an_old_or_a_pasted_text_is_refused_by_the_template_as_it_ships(write: Callable[..., Path]) -> None:
    arm = protocol.load_protocol(write("humanflow")).arm("B")
    session = {"history_sha256": "1" * 64, "operations": 900, "active_minutes": 30, "pastes": 0}
    session |= {"largest_insert_percent": 3}
    value: dict[str, Any] = {"kind": "attested", "grade": "witnessed", "attestation": "I wrote this.", "adult": True}
    value |= {"attestation_sha256": "0" * 64, "written_on": "2026-11-01", "review": "accepted", "session": session}
    value |= {"consent": {"publish": True, "vendors": ["*"]}}

    def lacks(**changes: Any) -> list[str]:
        own = value | changes
        record = {"id": "b", "arm": "B", "address": "2" * 64, "words": 400, "characters": 2000} | {
            "provenance": own,
            "canonical_sha256": None,
        }
        document = records.Document.model_validate_json(canonical_json.encode_json(record))
        return [lack.rule for lack in provenance.list_shortfalls(document, arm)]

    assert lacks() == []
    assert lacks(written_on="2019-01-01") == ["missing-provenance"]
    one_paste = session | {"operations": 1, "active_minutes": 0, "pastes": 1, "largest_insert_percent": 100}
    assert lacks(session=one_paste) == ["missing-provenance"] * 3
