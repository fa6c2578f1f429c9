"""Few values, an order that is another detector's or that of length, and answers that quote something else."""

from __future__ import annotations

from pathlib import Path

from tests.judged_study import Judged, arm, card, document

from penmark.records import Card
from penmark.stages import score
from penmark.stages.score import Notice

TWICE = "the answer quotes the text 2 times"
SHUFFLED = [n * 37 % 60 for n in range(60)]


def bench(root: Path, *held: Card, size: int = 60) -> Judged:
    rows = [document(f"h-{n:02d}", "A", words=100 + n) for n in range(size)]
    return Judged(root, [arm("A", "human")], rows, list(held))


def told(made: Judged, rule: str) -> list[Notice]:
    return [notice for notice in score.list_warnings(score.score_edition(made.edition)) if notice.rule == rule]


def scores(values: list[int], digits: str = "") -> dict[str, str]:
    return {f"h-{n:02d}": f"0.{value + 101}{digits}" for n, value in enumerate(values)}


def test_two_detectors_that_order_the_texts_alike(tmp_path: Path) -> None:
    human = {"meaning": "probability", "direction": "human", "low": "0", "high": "1"}
    made = bench(tmp_path, card("a"), card("b"), card("c"), card("d", operator="<=", scale=human))
    made.answers("a", scores(SHUFFLED))
    made.answers("b", scores([value // 2 + 300 for value in SHUFFLED], "7"))
    made.answers("c", scores([n * 23 % 60 for n in range(60)]))
    made.answers("d", scores([60 - value for value in SHUFFLED]))
    alike = "(rank correlation {} over 60 texts): perhaps one product under two names"
    assert told(made, "kin") == [
        Notice("kin", "a", None, f"orders the texts as b does in 1 of 1 arms {alike.format('1.00 to 1.00')}"),
        Notice("kin", "a", None, f"orders the texts as d does in 1 of 1 arms {alike.format('1.00 to 1.00')}"),
        Notice("kin", "b", None, f"orders the texts as d does in 1 of 1 arms {alike.format('1.00 to 1.00')}"),
    ]


def test_a_text_that_one_of_them_got_twice_is_not_compared(tmp_path: Path) -> None:
    made = bench(tmp_path, card("a"), card("b"))
    made.answers("a", scores(SHUFFLED))
    half = SHUFFLED[:30] + [n * 23 % 60 for n in range(30)]
    repeated = {name for name in scores(SHUFFLED) if int(name[2:]) >= 30}
    lines = [
        line
        for name, score in scores(half).items()
        for line in made.scanned(name, score=score, reason=TWICE if name in repeated else None)
    ]
    made.journal("b", *lines)
    [notice] = told(made, "kin")
    assert "over 30 texts" in notice.message
    [quoted] = told(made, "quoted")
    assert quoted == Notice("quoted", "b", "A", "quotes the text 2 times in 30 of 60 answers")


def test_fewer_than_twenty_texts_say_nothing(tmp_path: Path) -> None:
    made = bench(tmp_path, card("a"), card("b"), size=19)
    made.answers("a", scores(SHUFFLED[:19]))
    made.answers("b", scores(SHUFFLED[:19], "1"))
    assert told(made, "kin") == []


def test_a_ladder_of_verdicts(tmp_path: Path) -> None:
    made = bench(tmp_path, card("a"), card("b"))
    made.answers("a", scores([value % 4 * 125 for value in SHUFFLED]))
    made.answers("b", scores([value % 13 for value in SHUFFLED]))
    assert told(made, "steps") == [
        Notice("steps", "a", None, "shows only 4 different scores in 60 answers: rather a ladder of verdicts")
    ]


def test_scores_that_follow_the_length(tmp_path: Path) -> None:
    made = bench(tmp_path, card("a"), card("b"))
    made.answers("a", scores([300 - n for n in range(60)]))
    made.answers("b", scores(SHUFFLED))
    assert told(made, "length") == [
        Notice("length", "a", "A", "scores longer texts lower (rank correlation with the number of words -1.00)")
    ]
