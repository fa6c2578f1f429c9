"""What scores are like, seen over many texts: few values, an order that is another detector's, or that of length.

*Reads* and *writes* nothing. *Never* decides anything: each finding is a sentence for people (``notices``), told as
(rule, detector, arm or None, message).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from decimal import Decimal

import polars as pl

from penmark.stages.score.pair_states import Version
from penmark.stages.score.scored_edition import Scored
from penmark.statistics.rank_correlation import correlate_ranks
from penmark.text import quotation

Told = tuple[str, str, str | None, str]

STEPS = (20, 5)
"""So few values, with so many answers to each, are a ladder of verdicts."""
KIN = (20, Decimal("0.9"))
"""Two detectors order so many texts of an arm alike where their ranks correlate so highly."""
SAMPLE = (1000, Decimal("0.75"))
"""Of many texts so many are looked at first; where they do not agree so far, the rest is not compared."""
LENGTH = (50, Decimal("0.5"))
"""And scores of so many texts follow their length."""

_NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


def find_score_patterns(scored: Scored) -> Iterator[Told]:
    """All of them, by detector; those of two detectors last."""
    arms = [arm.name for arm in scored.protocol.arms]
    held = [version for version in scored.versions if version.first]
    numbers = [_collect_scores(scored, version) for version in held]
    for version, rows in zip(held, numbers, strict=True):
        yield from _check_quotes(version, rows, arms)
        yield from _check_steps(version, rows)
        yield from _check_lengths(version, rows, arms)
    pairs = list(zip(held, numbers, strict=True))
    for (one, ours), (two, theirs) in itertools.combinations(pairs, 2):
        yield from _check_kinship(one, ours, two, theirs, arms)


def _collect_scores(scored: Scored, version: Version) -> pl.DataFrame:
    """``arm``, ``words``, ``score`` (a float, for ranks only) and ``remark`` of each document; null where not answered."""
    answered = pl.col("state") == "answered"
    score = pl.when(answered, pl.col("score").str.contains(_NUMBER)).then(pl.col("score"))
    remark = pl.when(answered).then(pl.col("reason"))
    read = version.pairs.select(
        score=score.cast(pl.Float64, strict=False),
        shown=score,
        remark=remark,
        answered=answered,
    )
    return scored.documents.select("arm", "words").hstack(read)


def _check_quotes(version: Version, rows: pl.DataFrame, arms: list[str]) -> Iterator[Told]:
    for arm in arms:
        answered = rows.filter(pl.col("arm") == arm, pl.col("answered"))
        remarks = answered.get_column("remark").drop_nulls().to_list()
        for sentence in quotation.describe_remarks(remarks, answered.height):
            yield "quoted", version.detector.name, arm, sentence


def _check_steps(version: Version, rows: pl.DataFrame) -> Iterator[Told]:
    shown = rows.get_column("shown").drop_nulls()
    values, each = shown.n_unique(), STEPS[1]
    if 1 < values <= STEPS[0] and len(shown) >= each * values:
        message = f"shows only {values} different scores in {len(shown)} answers: rather a ladder of verdicts"
        yield "steps", version.detector.name, None, message


def _check_lengths(version: Version, rows: pl.DataFrame, arms: list[str]) -> Iterator[Told]:
    for arm in arms:
        mine = rows.filter(pl.col("arm") == arm).select("score", "words").drop_nulls()
        found = correlate_ranks(mine["score"], mine["words"]) if mine.height >= LENGTH[0] else None
        if found is not None and abs(found) >= LENGTH[1]:
            longer = "higher" if found > 0 else "lower"
            message = f"scores longer texts {longer} (rank correlation with the number of words {found:.2f})"
            yield "length", version.detector.name, arm, message


def _check_kinship(
    one: Version, ours: pl.DataFrame, two: Version, theirs: pl.DataFrame, arms: list[str]
) -> Iterator[Told]:
    """Over texts that both were given as they are: a detector that got a text twice, or half of it, read another one."""
    asis = ours["remark"].is_null() & theirs["remark"].is_null()
    both = pl.DataFrame([ours["arm"], ours["score"].alias("one"), theirs["score"].alias("two")])
    both = both.filter(asis).drop_nulls()
    found: list[Decimal] = []
    texts = compared = 0
    for arm in arms:
        mine = both.filter(pl.col("arm") == arm)
        rho = _correlate_scores(mine) if mine.height >= KIN[0] else None
        compared += rho is not None
        if rho is not None and _find_direction(one) * _find_direction(two) * rho >= KIN[1]:
            found.append(abs(rho))
            texts += mine.height
    if found:
        message = (
            f"orders the texts as {two.detector.name} does in {len(found)} of {compared} arms (rank correlation "
            f"{min(found):.2f} to {max(found):.2f} over {texts} texts): perhaps one product under two names"
        )
        yield "kin", one.detector.name, None, message


def _correlate_scores(both: pl.DataFrame) -> Decimal | None:
    first = both.head(SAMPLE[0])
    rho = correlate_ranks(first["one"], first["two"])
    if both.height <= SAMPLE[0] or (rho is not None and abs(rho) < SAMPLE[1]):
        return rho
    return correlate_ranks(both["one"], both["two"])


def _find_direction(version: Version) -> int:
    return -1 if version.card.scale is not None and version.card.scale.direction == "human" else 1
