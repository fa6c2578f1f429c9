"""table1.csv: one row a version: boundary and dates, false positives, detections, and what gave no answer."""

from __future__ import annotations

from penmark import study
from penmark.records import Truth
from penmark.stages.score import Scored, Version
from penmark.stages.score.tables.tally import Counts, Key, Tally, format_rate, sum_counts, unanswered, uneven

HEADER = (
    *("detector", "version", "version_state", "timing", "surface", "tier", "payer", "relation", "boundary"),
    *("boundary_source", "boundary_date", "first_scanned_at", "last_scanned_at", "human_documents", "human_n"),
    *("false_positives", "fp_rate", "fp_low", "fp_high", "human_mix", "ai_documents", "ai_n", "detections"),
    *("detection_rate", "detection_low", "detection_high", "ai_mix", "uncertain", "declined", "failed"),
    *("in_doubt", "not_scannable", "not_run", "status"),
)
ADDED = ("fp_unanswered", "detection_unanswered")
"""Columns behind these from format 2 on."""


def make_table1(scored: Scored, tally: Tally) -> bytes:
    """The CSV, by version."""
    held = zip(scored.versions, tally.slices, strict=True)
    header = HEADER if scored.protocol.format == 1 else HEADER + ADDED
    return study.encode_csv(header, (_make_row(scored, version, counted)[: len(header)] for version, counted in held))


def _make_row(scored: Scored, version: Version, counted: dict[Key, Counts]) -> list[str | int | None]:
    detector, rule = version.detector, version.rule
    by_arm = {arm.name: counted.get((arm.name, "", ""), Counts()) for arm in scored.protocol.arms}

    def headline(truth: Truth) -> dict[str, Counts]:
        return {arm.name: by_arm[arm.name] for arm in scored.protocol.arms if arm.headline and arm.truth == truth}

    human, ai = headline("human"), headline("ai")
    both, apart = sum_counts([*human.values(), *ai.values()]), uneven(by_arm.values(), scored.level)
    return [
        *(detector.name, version.version, version.state, scored.timing),
        *(detector.surface, detector.tier, detector.payer, detector.relation),
        *(str(rule), rule.source, rule.date),
        *(version.first_scanned_at, version.last_scanned_at),
        *_pool_counts(human, scored.level),
        *_pool_counts(ai, scored.level),
        *(both.uncertain, both.declined, both.failed, both.in_doubt, both.not_scannable, both.not_run),
        _describe_status(sum_counts(by_arm.values())),
        *(unanswered(parts, apart) for parts in (human, ai)),
    ]


def _pool_counts(parts: dict[str, Counts], level: str) -> list[str | int]:
    """Documents, n, k, rate, interval, and the mix: a pooled rate never stands without its parts."""
    sums = sum_counts(parts.values())
    mix = " + ".join(f"{counts.n} {arm}" for arm, counts in parts.items())
    return [sums.documents, sums.n, sums.k, *format_rate(sums.k, sums.n, level), mix]


def _describe_status(everything: Counts) -> str:
    done = everything.documents - everything.not_run
    return "COMPLETE" if everything.not_run == 0 else f"INCOMPLETE {done} of {everything.documents}"
