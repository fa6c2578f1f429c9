"""What a careful person wants to know before trusting the numbers. Told, never repaired.

*Reads* and *writes* nothing. *Never* changes a score, a call or a count.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import NamedTuple

import polars as pl

from penmark import cards
from penmark.cards.judge import OTHER_TEXT
from penmark.errors import count_noun
from penmark.stages.score.clustered_units import WARN_FROM, rate_units
from penmark.stages.score.pair_states import Version
from penmark.stages.score.score_patterns import find_score_patterns
from penmark.stages.score.scored_edition import Scored

NEAR = 1e-5
"""Two scores agree where they lie within so much of the scale."""
ALIKE = (10, 0.8)
"""Two detectors are alike where so many scores, and such a share of them, agree."""
FEW_DIGITS = (5, 4)
"""Digits are compared between arms with so many scores off the ends of the scale, and differ where one has half, and so many
fewer."""
LOOKED_AT = 2000
"""So many scores of an arm tell how finely they are given."""

CLEAR = 1e-9
"""Floats tell two numbers apart that differ by more than this part of them; what is closer is compared exactly."""

_MISSED = ("state", "score", "label", "reason", "uncalled", "call")
AFTER = (
    "the edition is retrospective: its rules were written after the answers existed, so whoever wrote them could have known"
    " the results; this holds for every number of every table, also of those that have no column for it"
)

_ROUNDED = Context(prec=12, Emax=MAX_EMAX, Emin=MIN_EMIN)
_EXACT = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)
_NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


class Notice(NamedTuple):
    """One thing to know. ``arm``: None where it is about all of them. ``message`` reads on from the detector's name, and
    begins with the version where that is not the detector's first; ``detector`` is empty where it is about the edition."""

    rule: str
    detector: str
    arm: str | None
    message: str


def list_warnings(scored: Scored) -> list[Notice]:
    """All there is to be warned of, by rule."""
    found = [Notice("retrospective", "", None, AFTER)] if scored.timing == "retrospective" else []
    found += _not_run(scored)
    for version in scored.versions:
        named = "" if version.first else f"(version {version.version or 'not reported'}) "
        found += (notice._replace(message=named + notice.message) for notice in _of_one(scored, version))
    found += _check_alike_scores(scored)
    found += _check_units(scored)
    found += (Notice(*each) for each in find_score_patterns(scored))
    order = list(dict.fromkeys(notice.rule for notice in found))
    return sorted(found, key=lambda notice: order.index(notice.rule))


def _not_run(scored: Scored) -> Iterator[Notice]:
    arms = scored.documents.get_column("arm")
    for name in dict.fromkeys(version.detector.name for version in scored.versions):
        states = [version.pairs.get_column("state") for version in scored.versions if version.detector.name == name]
        idle = pl.select(pl.all_horizontal(state == "not_run" for state in states)).to_series()
        for arm in scored.protocol.arms:
            mine = idle.filter(arms == arm.name)
            if len(mine) and mine.all():
                yield Notice(
                    "not run", name, arm.name, f"was never run on this arm: none of its {count_noun(len(mine), 'text')}"
                )


def _of_one(scored: Scored, version: Version) -> Iterator[Notice]:
    yield from _check_missed_answers(scored, version)
    rows = scored.documents.select("arm", "truth").hstack(version.pairs.select("state", "reason", "score", "call"))
    arms = [arm.name for arm in scored.protocol.arms]
    name = version.detector.name
    for arm in arms:
        mine = rows.filter(pl.col("arm") == arm)
        if other := mine.filter(pl.col("reason") == OTHER_TEXT).height:
            message = f"scanned another text than the one it was given in {other} of {mine.height}"
            yield Notice("other text", name, arm, message)
    yield from _one_sided(version, rows)
    given = rows.filter(pl.col("state") == "answered", pl.col("score").str.contains(_NUMBER))
    if version.card.scale is None or given.is_empty():
        return
    if given.height > 1 and given["score"].n_unique() == 1:
        yield Notice("uninformative", name, None, f"gives all {given.height} texts one score, {given['score'].item(0)}")
    else:
        yield from _check_direction(version, given)
    yield from _check_ties(version, given, arms)
    yield from _check_digits(version, given, arms)


def _check_missed_answers(scored: Scored, version: Version) -> Iterator[Notice]:
    """Answers of which the card makes nothing, by kind; then verdicts beside numbers that it does not know, or that say the
    contrary. Of what a vendor wrote only numbers are quoted: a page has no words of its choice."""
    card, rows = version.card, scored.documents.select("id").hstack(version.pairs.select(_MISSED))
    reason = pl.col("reason").str.splitn(": ", 2)
    uncalled = rows.filter("uncalled").select("id", kind=reason.struct[0], shown=reason.struct[1])
    kinds = uncalled.group_by("kind", maintain_order=True).agg(pl.len().alias("count"), pl.first("id", "shown"))
    for kind, count, document, shown in kinds.iter_rows():
        message = cards.render_misses(card, kind, count, document, shown if kind == cards.OUTSIDE else None)
        yield Notice("no call", version.detector.name, None, message)
    known = cards.fold_classes(card)
    if version.rule.kind == "boundary" and known:
        called = rows.filter(pl.col("state") == "answered", pl.col("score").is_not_null())
        of = {
            label: known.get(cards.fold_verdict(label))
            for label in called["label"].drop_nulls().unique(maintain_order=True)
        }
        strange = pl.col("label").is_in([label for label, meant in of.items() if meant is None])
        sides = [({"ai": "ai", "human": "not-ai"}.get(str(meant)), label) for label, meant in of.items()]
        against = pl.any_horizontal(
            pl.lit(False),
            *(
                pl.col("label").is_in([label for side, label in sides if side == said]) & (pl.col("call") != said)
                for said in ("ai", "not-ai")
            ),
        )
        for rule, kind, which in (
            ("unknown verdict", cards.BESIDE, strange),
            ("number against verdict", cards.AGAINST, against),
        ):
            if (beside := called.filter(which)).height:
                message = cards.render_misses(card, kind, beside.height, beside["id"].item(0), None)
                yield Notice(rule, version.detector.name, None, message)


def _one_sided(version: Version, rows: pl.DataFrame) -> Iterator[Notice]:
    """One call for all texts, whoever wrote them: then perhaps its number is not what its card says. Control detectors are
    made so."""
    called = rows.filter(pl.col("call").is_not_null(), pl.col("truth").is_in(["human", "ai"]))
    said = cards.one_sided(called.select("truth", "call").iter_rows()) if called["call"].n_unique() == 1 else None
    if said is not None:
        yield Notice("one side", version.detector.name, None, said)


def _check_direction(version: Version, given: pl.DataFrame) -> Iterator[Notice]:
    human, ai = (given.filter(pl.col("truth") == truth)["score"] for truth in ("human", "ai"))
    scale, order = version.card.scale, _compare_means(human, ai)
    if scale is None or order == 0:
        return
    if (order > 0) == (scale.direction == "ai"):
        higher, lower = ("human", "AI") if order > 0 else ("AI", "human")
        says = f"its card says that a higher number speaks for {'AI' if scale.direction == 'ai' else 'a human'}"
        yield Notice(
            "direction",
            version.detector.name,
            None,
            f"looks inverted: {higher} texts score above {lower} texts, and {says}",
        )


def _compare_means(one: pl.Series, two: pl.Series) -> int:
    """Which mean is greater: 1, -1, or 0 where they are equal or one has no scores. Exact; floats decide what is clear."""
    if one.is_empty() or two.is_empty():
        return 0
    first, second = (sum(scores.cast(pl.Float64, strict=False).drop_nulls()) / len(scores) for scores in (one, two))
    if abs(first - second) > CLEAR * (abs(first) + abs(second)):
        return 1 if first > second else -1
    return int(_compute_mean(one).compare(_compute_mean(two)))


def _compute_mean(scores: pl.Series) -> Decimal:
    total = Decimal(0)
    for score, times in scores.value_counts(sort=False).sort("score").iter_rows():
        total = _EXACT.add(total, _EXACT.multiply(cards.parse_decimal(score), Decimal(times)))
    return _EXACT.divide(total, Decimal(len(scores)))


def _check_ties(version: Version, given: pl.DataFrame, arms: list[str]) -> Iterator[Notice]:
    rule = version.rule
    if rule.value is None:
        return
    boundary = cards.parse_decimal(rule.value)
    shown = given.get_column("score").unique()
    near = (shown.cast(pl.Float64, strict=False) - float(boundary)).abs() <= CLEAR * max(1.0, abs(float(boundary)))
    tied = [score for score in shown.filter(near).to_list() if cards.parse_decimal(score) == boundary]
    for arm in arms if tied else ():
        count = given.filter(pl.col("arm") == arm, pl.col("score").is_in(tied)).height
        if count:
            scores, are = ("one score stands", "is") if count == 1 else (f"{count} scores stand", "are")
            called = "called AI" if rule.operator in (">=", "<=") else "not called AI"
            message = f"{scores} exactly at the boundary, {rule.value}, and {are} {called}"
            yield Notice("tie", version.detector.name, arm, message)


def _check_digits(version: Version, given: pl.DataFrame, arms: list[str]) -> Iterator[Notice]:
    """How finely scores are given: a figure copied from a screen is coarser than one out of an interface. No score of the arm
    is as fine as half of those of another, by digits and by decimals alike: of small numbers with a few decimals only the
    first are few, of large ones out of a float only the second. The ends of the scale are written the same by everybody."""
    scale, finest = version.card.scale, dict[str, tuple[int, int]]()
    ends = [cards.parse_decimal(end) for end in (scale.low, scale.high) if end is not None] if scale is not None else []
    usual: dict[str, tuple[int, int]] = {}
    for arm in arms:
        scores = given.filter(pl.col("arm") == arm)["score"].head(LOOKED_AT).to_list()
        inner = [fineness(score) for score in scores if cards.parse_decimal(score) not in ends]
        if len(inner) >= FEW_DIGITS[0]:
            digits, decimals = (sorted(column) for column in zip(*inner, strict=True))
            finest[arm], usual[arm] = (digits[-1], decimals[-1]), (_find_middle(digits), _find_middle(decimals))
    for arm, here in finest.items():
        finer = [name for name, there in usual.items() if all(map(_is_coarser, here, there))]
        if finer:
            other = max(finer, key=lambda name: usual[name])
            fact = f"shows at most {count_noun(here[0], 'digit')} here and about {usual[other][0]} in {other}"
            yield Notice("digits", version.detector.name, arm, f"{fact}: perhaps another version")


def _is_coarser(here: int, there: int) -> bool:
    return 2 * here <= there and here + FEW_DIGITS[1] <= there


def fineness(score: str) -> tuple[int, int]:
    """Digits from the first that is not zero, and decimals. What a binary float adds to a short number (0.36869999999999997)
    is left out."""
    number = cards.parse_decimal(score)
    if len(number.as_tuple().digits) >= 15:
        rounded = _ROUNDED.normalize(number)
        number = rounded if len(rounded.as_tuple().digits) <= 10 else number
    return len(number.as_tuple().digits), max(0, -int(number.as_tuple().exponent))


def _find_middle(ordered: list[int]) -> int:
    return ordered[(len(ordered) - 1) // 2]


def _check_alike_scores(scored: Scored) -> Iterator[Notice]:
    """Two detectors that give nearly the same scores: perhaps one product under two names."""
    held = [version for version in scored.versions if version.first and version.card.scale is not None]
    columns = [_on_scale(version) for version in held]
    for (one, ours), (two, theirs) in itertools.combinations(zip(held, columns, strict=True), 2):
        both = pl.DataFrame({"arm": scored.documents["arm"], "one": ours, "two": theirs}).drop_nulls()
        near = (pl.col("one") - pl.col("two")).abs() <= (NEAR if _has_ends(one) and _has_ends(two) else 0)
        # At an end of the scale everybody meets: that two say "surely human" makes them no relatives.
        ends = near & ((pl.max_horizontal("one", "two") <= NEAR) | (pl.min_horizontal("one", "two") >= 1 - NEAR))
        counts = both.group_by("arm").agg(
            pl.len().alias("texts"),
            near.sum().alias("near"),
            (near & ~ends).sum().alias("apart"),
            (~ends).sum().alias("inner"),
            ((pl.col("one") == pl.col("two")).all() & (pl.col("one").n_unique() > 1)).alias("same"),
        )
        found = {row["arm"]: row for row in counts.iter_rows(named=True)}
        for arm in (arm.name for arm in scored.protocol.arms if arm.name in found):
            row = found[arm]
            enough = row["inner"] >= ALIKE[0] and row["apart"] >= ALIKE[1] * row["inner"]
            if enough or (row["same"] and row["texts"] >= ALIKE[0]):
                agree = f"agrees with {two.detector.name} on {row['near']} of {row['texts']} scores"
                yield Notice("alike", one.detector.name, arm, f"{agree}: perhaps one product under two names")


def _has_ends(version: Version) -> bool:
    scale = version.card.scale
    return scale is not None and scale.low is not None and scale.high is not None


def _on_scale(version: Version) -> pl.Series:
    """Answered scores as parts of the scale (as given where it has no ends), in floats: they find look-alikes only."""
    scale = version.card.scale
    answered = pl.when(pl.col("state") == "answered", pl.col("score").str.contains(_NUMBER)).then(pl.col("score"))
    number = answered.cast(pl.Float64, strict=False)
    if scale is not None and scale.low is not None and scale.high is not None:
        number = (number - float(scale.low)) / (float(scale.high) - float(scale.low))
    return version.pairs.select(number.alias("score")).to_series()


def _check_units(scored: Scored) -> Iterator[Notice]:
    for rate in rate_units(scored):
        deff = rate.effective.deff
        if deff is not None and deff >= WARN_FROM:
            message = (
                f"the texts of one {rate.unit} are alike: {rate.n} texts count as {rate.effective.n:.1f} (units.csv)"
            )
            yield Notice("units", rate.version.detector.name, rate.arm, message)
