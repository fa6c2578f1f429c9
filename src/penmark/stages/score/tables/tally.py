"""Counts: how many pairs of each version are in each state and have each call, by what documents are sliced by.

*Reads* and *writes* nothing. *Never* loses a document: the counts of a group add up to its documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

import polars as pl

from penmark.stages.score import Scored
from penmark.statistics import wilson
from penmark.statistics.wilson import format_six

SLICES = ("register", "subgroup", "model", "style", "provider")

K = TypeVar("K")
Key = tuple[str, str, str]
"""Arm, ``slice_by``, ``slice``; the last two are "" for a whole arm."""


class Counts(NamedTuple):
    """Pairs of one version. ``n``: answered with a call; ``k`` and ``k_lenient``: called ai."""

    documents: int = 0
    n: int = 0
    k: int = 0
    k_lenient: int = 0
    uncertain: int = 0
    declined: int = 0
    failed: int = 0
    in_doubt: int = 0
    not_scannable: int = 0
    not_run: int = 0

    @property
    def no_result(self) -> int:
        """Declined, failed, in doubt."""
        return self.declined + self.failed + self.in_doubt

    @property
    def missing(self) -> int:
        """All without an answer that counts: no result, not scannable, not run."""
        return self.documents - self.n


@dataclass(frozen=True)
class Tally:
    """The counts of every version, in the order of ``Scored.versions``: by slice, and by group of table 2."""

    slices: list[dict[Key, Counts]]
    groups: list[dict[str, Counts]]

    def apart(self, level: str) -> list[bool]:
        """Of each version whether its arms are ``uneven``."""
        wholes = ([counts for (_, by, _), counts in held.items() if by == ""] for held in self.slices)
        return [uneven(arms, level) for arms in wholes]


def count_pairs(scored: Scored) -> Tally:
    """Count once, over the distinct values of all that documents are sliced by."""
    traits = scored.documents.select("arm", *SLICES, select_group(), *_list_mark_columns(scored.documents))
    cells = traits.unique(maintain_order=True).with_row_index("cell")
    cell_of = traits.join(cells, on=traits.columns, how="left", nulls_equal=True, maintain_order="left").select("cell")
    held = list(cells.iter_rows(named=True))
    slices, groups = [], []
    for version in scored.versions:
        counts = _count_pairs(cell_of.hstack(version.pairs.select("state", "call", "call_lenient", "uncertain")))
        slices.append(_sum_counts((key, counts[row["cell"]]) for row in held for key in _list_keys(row)))
        groups.append(_sum_counts((name, counts[row["cell"]]) for row in held for name in _list_groups(row)))
    return Tally(slices, groups)


def _count_pairs(pairs: pl.DataFrame) -> dict[int, Counts]:
    answered, state = pl.col("state") == "answered", pl.col("state")
    counted = pairs.group_by("cell").agg(
        pl.len().alias("documents"),
        answered.sum().alias("n"),
        (pl.col("call") == "ai").sum().alias("k"),
        (pl.col("call_lenient") == "ai").sum().alias("k_lenient"),
        pl.col("uncertain").sum().alias("uncertain"),
        *((state == name).sum().alias(name) for name in Counts._fields[5:]),
    )
    return {cell: Counts(*counts) for cell, *counts in counted.iter_rows()}


def _list_keys(row: dict[str, str | None]) -> Iterator[Key]:
    arm = row["arm"] or ""
    yield arm, "", ""
    for by in SLICES:
        if (value := row[by]) is not None:
            yield arm, by, value


def _list_groups(row: dict[str, str | None]) -> Iterator[str]:
    """The groups of table 2 that a cell counts in: its own, and of AI texts that by watermark, where both exist."""
    if (name := row["group"]) is not None:
        yield name
        if name == "unedited AI" and (mark := row.get("marked")) is not None:
            yield f"{name}, {mark}"


def _list_mark_columns(documents: pl.DataFrame) -> Iterator[pl.Expr]:
    """``marked``: what is said of a text's watermark, where of some unedited AI texts one says yes and another no."""
    said = documents.select(select_group(), "provenance").filter(
        (pl.col("group") == "unedited AI") & pl.col("provenance").str.contains('"marked":', literal=True)
    )
    own = pl.col("provenance").str.json_path_match("$.marked")
    if {"yes", "no"} <= set(said.select(own).to_series().to_list()):
        here = pl.col("provenance").str.contains('"marked":', literal=True)
        found = pl.when(here).then(own).otherwise(None).fill_null("not known")
        yield found.replace_strict(MARKED, default=None).alias("marked")


def _sum_counts(parts: Iterable[tuple[K, Counts]]) -> dict[K, Counts]:
    sums: defaultdict[K, list[int]] = defaultdict(lambda: [0] * len(Counts._fields))
    for key, counts in parts:
        held = sums[key]
        for at, count in enumerate(counts):
            held[at] += count
    return {key: Counts(*held) for key, held in sums.items()}


def sum_counts(counts: Iterable[Counts]) -> Counts:
    """The sum; all 0 of nothing."""
    return _sum_counts(("", each) for each in counts).get("", Counts())


GROUPS = {
    "native volunteers": "false positives",
    "non-native volunteers": "false positives",
    "volunteers, group not stated": "false positives",
    "pre-2022 archive": "false positives",
    "archive, date stated only": "false positives",
    "archive, not shown to predate 2022": "false positives",
    "unedited AI": "detections",
    "unedited AI, marked": "detections",
    "unedited AI, not marked": "detections",
    "unedited AI, marking not known": "detections",
    "rewritten AI": "detections",
    "lightly edited AI": "flagged",
    "other mixed text": "flagged",
}
"""The groups of table 2 in their order, and what a flag means there."""
MARKED = {"yes": "marked", "no": "not marked", "not known": "marking not known"}
"""How a group is called by what its provider says of a watermark."""


def select_group() -> pl.Expr:
    """The group of table 2 that a document (columns of documents.csv) is in; null where in none."""
    truth, kind, grade = pl.col("truth"), pl.col("kind"), pl.col("grade")
    early = pl.col("evidence_date").fill_null("9999") < "2022-01-01"
    volunteers = (
        pl.when(pl.col("subgroup") == "native").then(pl.lit("native volunteers"))
        .when(pl.col("subgroup") == "non-native").then(pl.lit("non-native volunteers"))
        .otherwise(pl.lit("volunteers, group not stated"))
    )  # fmt: skip
    archive = (
        pl.when(early & grade.is_in(["archived", "released"])).then(pl.lit("pre-2022 archive"))
        .when(early & (grade == "stated")).then(pl.lit("archive, date stated only"))
        .otherwise(pl.lit("archive, not shown to predate 2022"))
    )  # fmt: skip
    return (
        pl.when((truth == "ai") & (kind == "transformed")).then(pl.lit("rewritten AI"))
        .when(truth == "ai").then(pl.lit("unedited AI"))
        .when((truth == "mixed") & (kind == "edited")).then(pl.lit("lightly edited AI"))
        .when(truth == "mixed").then(pl.lit("other mixed text"))
        .when(kind == "attested").then(volunteers)
        .when(kind == "archive").then(archive)
        .alias("group")
    )  # fmt: skip


# --- rates as cells --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=65_536)
def format_rate(k: int, n: int, level: str) -> tuple[str, str, str]:
    """``format_rate``, ``low``, ``high`` of k of n with six decimals; blanks where n is 0."""
    ends = wilson.compute_wilson(k, n, level)
    if ends is None:
        return "", "", ""
    return format_six(wilson.compute_rate(k, n)), format_six(ends.low), format_six(ends.high)


@lru_cache(maxsize=65_536)
def format_worst(k: int, n: int, no_result: int, level: str) -> tuple[str, str]:
    """``worst_low`` and ``worst_high``; blanks where there is neither an answer nor a missing one."""
    ends = wilson.bound_worst_case(k, n, no_result, level)
    return ("", "") if ends is None else (format_six(ends.low), format_six(ends.high))


_FEW = 20
"""One text in so many may be without an answer, and nothing is said beside the rate."""


def uneven(arms: Iterable[Counts], level: str) -> bool:
    """Whether two arms of a version differ in what has no answer by more than chance would have it: the Wilson intervals
    of their shares do not meet. Then a rate over what is left may be one of other texts."""
    ends = [format_rate(arm.missing, arm.documents, level)[1:] for arm in arms if arm.documents]
    return bool(ends) and max(low for low, _ in ends) > min(high for _, high in ends)


def unanswered(parts: Mapping[str, Counts], apart: bool) -> str:
    """What is said beside a rate over these parts where more than one text in twenty has no answer, or any has none while
    the arms are uneven (``apart``): ``no answer to 579 of 600``, and of several parts how many of each."""
    sums = sum_counts(parts.values())
    if sums.missing == 0 or (sums.missing * _FEW <= sums.documents and not apart):
        return ""
    each = " + ".join(f"{counts.missing} {name}" for name, counts in parts.items())
    return f"no answer to {sums.missing} of {sums.documents}" + (f": {each}" if len(parts) > 1 else "")


def make_rate_cells(counts: Counts, level: str, k: int) -> list[str | int]:
    """``documents`` to ``high``, as in rates.csv and table2.csv; ``k`` is one of the two of the counts."""
    states = (counts.uncertain, counts.no_result, counts.not_scannable, counts.not_run)
    return [counts.documents, counts.n, k, *states, *format_rate(k, counts.n, level)]
