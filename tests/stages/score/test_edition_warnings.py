"""What a careful person wants to know comes up by itself, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.judged_study import GENERATED, Judged, arm, card, document

from penmark.cards.judge import OTHER_TEXT
from penmark.records import Card
from penmark.stages import score
from penmark.stages.score import Notice


def bench(root: Path, *held: Card, size: int = 12) -> Judged:
    rows = [document(f"h-{n:02d}", "A") for n in range(size)] + [
        document(f"m-{n:02d}", "C", GENERATED) for n in range(size)
    ]
    return Judged(root, [arm("A", "human"), arm("C", "ai")], rows, list(held))


def told(made: Judged, *rules: str) -> list[Notice]:
    return [notice for notice in score.list_warnings(score.score_edition(made.edition)) if notice.rule in rules]


def spread(prefix: str, low: int, size: int = 12) -> dict[str, str]:
    return {f"{prefix}-{n:02d}": f"0.{low + n * 17:03d}" for n in range(size)}


def test_a_quiet_study_is_quiet(tmp_path: Path) -> None:
    made = bench(tmp_path, card("x"), card("y"))
    made.answers("x", spread("h", 101) | spread("m", 601))
    made.answers("y", spread("h", 203) | spread("m", 707))
    assert score.list_warnings(score.score_edition(made.edition)) == []


def test_a_direction_that_looks_inverted(tmp_path: Path) -> None:
    human = {"meaning": "probability", "direction": "human", "low": "0", "high": "1"}
    made = bench(tmp_path, card("x"), card("y", operator="<=", scale=human), card("z", operator="<=", scale=human))
    made.answers("x", spread("h", 601) | spread("m", 101))
    made.answers("y", spread("h", 103) | spread("m", 703))
    made.answers("z", spread("h", 707) | spread("m", 107))
    assert told(made, "direction") == [
        Notice(
            "direction",
            "x",
            None,
            "looks inverted: human texts score above AI texts, and its card says that a higher number speaks for AI",
        ),
        Notice(
            "direction",
            "y",
            None,
            "looks inverted: AI texts score above human texts, and its card says that a higher number speaks for a human",
        ),
    ]


def test_one_score_for_all_is_uninformative_and_not_inverted(tmp_path: Path) -> None:
    made = bench(tmp_path, card("x"))
    made.answers("x", dict.fromkeys([*spread("h", 0), *spread("m", 0)], "1.0"))
    assert told(made, "uninformative", "direction") == [
        Notice("uninformative", "x", None, "gives all 24 texts one score, 1.0")
    ]


def test_ties_at_the_boundary_are_counted_as_numbers(tmp_path: Path) -> None:
    made = bench(tmp_path, card("x", operator=">"), card("y"))
    made.answers("x", spread("h", 101) | {"h-00": "0.5", "h-01": "0.500", "m-00": "5e-1", "m-01": "0.5000000000000001"})
    made.answers("y", spread("h", 103) | {"h-00": "0.5", "m-00": "0.51"})
    assert told(made, "tie") == [
        Notice("tie", "x", "A", "2 scores stand exactly at the boundary, 0.5, and are not called AI"),
        Notice("tie", "x", "C", "one score stands exactly at the boundary, 0.5, and is not called AI"),
        Notice("tie", "y", "A", "one score stands exactly at the boundary, 0.5, and is called AI"),
    ]


def test_two_names_for_one_product(tmp_path: Path) -> None:
    made = bench(tmp_path, card("a"), card("b"), card("c"))
    made.answers("a", spread("h", 101) | spread("m", 601))
    near = {name: f"{score}009" for name, score in (spread("h", 101) | spread("m", 601)).items()}
    made.answers("b", near | {"m-00": "0.2", "m-01": "0.2", "m-02": "0.2"})
    made.answers("c", spread("h", 131) | spread("m", 633))
    assert told(made, "alike") == [
        Notice("alike", "a", "A", "agrees with b on 12 of 12 scores: perhaps one product under two names")
    ]


def test_agreement_at_an_end_of_the_scale_says_nothing(tmp_path: Path) -> None:
    made = bench(tmp_path, card("a"), card("b"))
    made.answers("a", dict.fromkeys(spread("h", 0), "0.000001") | spread("m", 601))
    made.answers("b", dict.fromkeys(spread("h", 0), "0.000002") | spread("m", 713))
    assert told(made, "alike") == []


def test_the_same_numbers_on_scales_without_ends(tmp_path: Path) -> None:
    open_ended = {"meaning": "distance", "direction": "ai"}
    made = bench(tmp_path, card("a", scale=open_ended), card("b", scale=open_ended), card("c", scale=open_ended))
    made.answers("a", spread("h", 101))
    made.answers("b", spread("h", 101))
    made.answers("c", {name: f"{score}000001" for name, score in spread("h", 101).items()})
    assert [(notice.detector, notice.message.split()[2]) for notice in told(made, "alike")] == [("a", "b")]


def test_fewer_digits_in_one_arm(tmp_path: Path) -> None:
    made = bench(tmp_path, card("x"))
    long = {name: f"{score}4142135623731" for name, score in spread("m", 601).items()}
    made.answers("x", {name: score[:4] for name, score in spread("h", 101).items()} | long)
    assert told(made, "digits") == [
        Notice("digits", "x", "A", "shows at most 2 digits here and about 16 in C: perhaps another version")
    ]


@pytest.mark.parametrize(
    ("human", "ai"),
    [
        ("0.0000{n:02}", "0.98{n:04}"),
        ("0", "0.98{n:03}4142135623731"),
        ("1", "0.98{n:03}4142135623731"),
        ("1.4142135623{n:02}e-9", "0.98{n:03}4142135623"),
        ("0.0{n:02}5", "0.36{n:02}9999999999997"),
    ],
)
def test_small_saturated_and_binary_numbers_are_no_other_digits(tmp_path: Path, human: str, ai: str) -> None:
    made = bench(tmp_path, card("x"))
    said = {f"h-{n:02d}": human.format(n=n + 11) for n in range(12)} | {
        f"m-{n:02d}": ai.format(n=n + 11) for n in range(12)
    }
    made.answers("x", said)
    assert told(made, "digits") == []


def test_a_detector_that_calls_all_texts_of_people_ai_is_told(tmp_path: Path) -> None:
    made = bench(tmp_path, card("x"), card("y"), card("z"))
    made.answers("x", spread("h", 601) | spread("m", 603))
    made.answers("y", spread("h", 101) | spread("m", 103))
    made.answers("z", spread("h", 401) | spread("m", 403))
    assert [(notice.detector, notice.message) for notice in told(made, "one side")] == [
        ("x", "calls all 12 texts of people AI"),
        ("y", "calls none of 12 texts of models AI"),
    ]


def test_numbers_that_say_the_contrary_of_their_verdicts_are_told(tmp_path: Path) -> None:
    further = {"answer": {"score": "/score", "label": "/label"}, "verdicts": {"Real": "human", "Fake": "ai"}}
    made = bench(tmp_path, card("x", **further))
    made.answers("x", spread("h", 601) | spread("m", 603), label="Real")
    assert [notice.message for notice in told(made, "number against verdict")] == [
        "24 answers have beside their numbers verdicts that say the contrary (the first about h-00); their numbers alone decide"
    ]


@pytest.mark.parametrize("late", [False, True])
def test_a_retrospective_edition_says_so_first(tmp_path: Path, late: bool) -> None:
    made = bench(tmp_path, card("x"))
    made.journal("x", *made.scanned("h-00", score="0.1", **({"got_at": None} if late else {})))
    scored = score.score_edition(made.edition)
    rules = [notice.rule for notice in score.list_warnings(scored)]
    assert (scored.timing == "retrospective") is late
    assert rules.count("retrospective") == late
    if late:
        first = score.list_warnings(scored)[0]
        assert (first.rule, first.detector, first.arm) == ("retrospective", "", None)
        assert "its rules were written after the answers existed" in first.message


def test_an_arm_that_was_never_run_and_a_text_that_was_another(tmp_path: Path) -> None:
    made = bench(tmp_path, card("x"), card("y"))
    made.journal(
        "x",
        *(
            line
            for n in range(3)
            for line in made.scanned(f"h-{n:02d}", state="declined", reason=OTHER_TEXT, version="2")
        ),
        *made.scanned("m-02", score="0.9", version="2"),
        *made.scanned("m-00", score="0.9", version="1"),
        *made.scanned("m-01", state="declined", reason=OTHER_TEXT, version="1"),
    )
    assert told(made, "not run", "other text") == [
        Notice("not run", "y", "A", "was never run on this arm: none of its 12 texts"),
        Notice("not run", "y", "C", "was never run on this arm: none of its 12 texts"),
        Notice("other text", "x", "A", "scanned another text than the one it was given in 3 of 12"),
        Notice("other text", "x", "C", "(version 1) scanned another text than the one it was given in 1 of 12"),
    ]


def test_answers_of_which_the_card_makes_nothing(tmp_path: Path) -> None:
    given = spread("h", 101) | {"h-03": "1.7", "h-05": "-0.1", "m-01": "62%", "m-02": "NaN", "m-03": "1.0e3"}
    made = bench(tmp_path, card("x"), card("y", operator=None))
    made.journal(
        "x",
        *(line for name, score in given.items() for line in made.scanned(name, score=score)),
        *made.scanned("m-04", state="declined", reason="score outside the declared scale: by the vendor's own word"),
    )
    labels = {"h-00": "AI", "h-01": "pre-committed <b>", "h-02": "ai", "m-00": "Robot 9"}
    lines = [line for name, label in labels.items() for line in made.scanned(name, label=label)]
    made.journal("y", *lines, *made.scanned("m-01", displayed="?"))
    kept = "they are kept as they are and count as no result"
    assert told(made, "no call", "unknown verdict") == [
        Notice(
            "no call",
            "x",
            None,
            f"3 answers are outside the scale 0 to 1 of its card (the first: 1.7 about h-03); {kept}",
        ),
        Notice("no call", "x", None, f"2 answers are no decimal numbers (the first about m-01); {kept}"),
        Notice(
            "no call", "y", None, f"2 answers are verdicts that its card does not know (the first about h-01); {kept}"
        ),
        Notice(
            "no call", "y", None, "1 answer has no verdict (about m-01); it is kept as it is and counts as no result"
        ),
    ]


def test_each_version_is_told_apart(tmp_path: Path) -> None:
    made = bench(tmp_path, card("x"))
    lines = [*made.scanned("h-00", score="2"), *made.scanned("h-01", score="3", version="2")]
    made.journal("x", *lines)
    assert [notice.message.partition(";")[0] for notice in told(made, "no call")] == [
        "1 answer is outside the scale 0 to 1 of its card (2 about h-00)",
        "(version 2) 1 answer is outside the scale 0 to 1 of its card (3 about h-01)",
    ]


def test_a_verdict_beside_a_number_that_the_card_does_not_know(tmp_path: Path) -> None:
    verdicts = {"AI": "ai", "Human": "human"}
    made = bench(tmp_path, card("x", verdicts=verdicts), card("y"), card("z", verdicts=verdicts))
    for name, label in (("x", "Cyborg"), ("y", "Cyborg"), ("z", " human ")):
        lines = [line for n in range(3) for line in made.scanned(f"h-{n:02d}", score=f"0.{n}1", label=label)]
        made.journal(name, *lines, *made.scanned("m-00", score="0.99", label="AI"))
    scored = score.score_edition(made.edition)
    assert scored.versions[0].pairs["call"].to_list()[:3] == ["not-ai"] * 3
    assert told(made, "no call", "unknown verdict") == [
        Notice(
            "unknown verdict",
            "x",
            None,
            "3 answers have beside their numbers verdicts that its card does not know (the first about h-00); their numbers "
            "alone decide",
        )
    ]
