"""Texts of one author are not so many witnesses."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.expected_findings import rows
from tests.judged_study import Judged, arm, card, document

from penmark.stages import score
from penmark.stages.score.clustered_units import compute_effective
from penmark.statistics.wilson import compute_wilson, format_six

AUTHORS = [(5, 5)] * 3 + [(0, 5)] * 27
"""30 authors x 5 texts, three of them flagged on all five."""


def ends(counts: Iterable[tuple[int, int]]) -> tuple[str, str]:
    found = compute_effective(counts, "0.95").interval
    assert found is not None
    return format_six(found.low), format_six(found.high)


def test_thirty_authors() -> None:
    found = compute_effective(AUTHORS, "0.95")
    assert (found.units, found.deff, found.n, found.reason) == (30, 5, 30, None)
    assert ends(AUTHORS) == ("0.034600", "0.256211")  # Wilson of 3 of 30
    assert ends(reversed(AUTHORS)) == ends(AUTHORS)


def test_it_is_the_cluster_robust_variance() -> None:
    deff = compute_effective(AUTHORS, "0.95").deff
    assert deff is not None
    error = (deff * Decimal("0.1") * Decimal("0.9") / 150).sqrt()
    assert f"se={error:.6f};" in rows("cluster_robust_se")[-1]["expected"]
    assert (
        f"Wilson on clusters 3/30={'..'.join(ends(AUTHORS))};design effect={deff};n_eff=30"
        in rows("cluster_bootstrap")[-1]["expected"]
    )


def test_texts_of_an_author_that_differ_are_no_worse_than_any() -> None:
    # One flag in each group of five: less variation than chance would give; deff stays 1.
    found = compute_effective([(1, 5)] * 20, "0.95")
    assert (found.deff, found.n) == (1, 100)
    plain = compute_wilson(20, 100)
    assert found.interval is not None
    assert plain is not None
    assert tuple(map(format_six, found.interval)) == tuple(map(format_six, plain))


def test_at_none_and_at_all_the_units_count() -> None:
    none, every = compute_effective([(0, 5)] * 20, "0.95"), compute_effective([(3, 3)] * 20, "0.95")
    assert (none.units, none.deff, none.n) == (20, 5, 20)
    assert (every.units, every.deff, every.n) == (20, 3, 20)
    for found, plain in ((none, compute_wilson(0, 20)), (every, compute_wilson(20, 20))):
        assert found.interval is not None
        assert plain is not None
        assert found.interval == plain


def test_too_few_units_have_no_interval() -> None:
    few, enough = (
        compute_effective([(1, 2), *[(0, 2)] * 13], "0.95"),
        compute_effective([(1, 2), *[(0, 2)] * 14], "0.95"),
    )
    assert (few.units, few.interval, few.reason) == (14, None, "fewer than 15 units")
    assert few.deff is not None
    assert enough.interval is not None
    assert compute_effective([], "0.95") == (0, None, None, None, "no answers")
    assert compute_effective([(0, 0)], "0.95") == (0, None, None, None, "no answers")


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=15, max_size=40)
)
def test_properties(counts: list[tuple[int, int]]) -> None:
    found = compute_effective(counts, "0.95")
    n, k = sum(n for _, n in counts), sum(k for k, _ in counts)
    assert found.deff is not None
    assert found.n is not None
    assert found.interval is not None
    assert found.deff >= 1
    assert abs(Fraction(found.n) - Fraction(n) / Fraction(found.deff)) < Fraction(1, 10**30)
    assert 0 <= found.interval.low <= Decimal(k) / n + Decimal("1e-25")
    assert Decimal(k) / n - Decimal("1e-25") <= found.interval.high <= 1
    if 0 < k < n:
        share = Fraction(k, n)
        variance = sum((kc - nc * share) ** 2 for kc, nc in counts) / Fraction(n) ** 2
        exact = max(Fraction(1), variance / (share * (1 - share) / n))
        assert abs(Fraction(found.deff) - exact) < Fraction(1, 10**40)


def test_rates_of_a_study(tmp_path: Path) -> None:
    arms = [arm("A", "human", unit="author"), arm("C", "ai", unit="topic"), arm("D", "human")]
    rows = [document(f"a-{n:03d}", "A", author=f"w{n % 20}") for n in range(100)]
    rows += [document("c-1", "C", topic="t"), document("c-2", "C"), document("d-1", "D")]
    made = Judged(tmp_path, arms, rows, [card("x")])
    # Two writers are flagged on all their texts; one text has no answer.
    made.answers("x", {f"a-{n:03d}": "1" if n % 20 < 2 else "0" for n in range(1, 100)} | {"c-1": "1", "c-2": "1"})
    scored = score.score_edition(made.edition)
    writers, topics = score.rate_units(scored)
    assert (writers.arm, writers.unit, writers.documents, writers.n, writers.k) == ("A", "author", 100, 99, 9)
    assert writers.effective.units == 20
    assert writers.effective.deff is not None
    assert 4 < writers.effective.deff < 6
    assert (topics.arm, topics.effective.units, topics.effective.reason) == ("C", 1, "1 without topic")
    assert [n.message for n in score.list_warnings(scored) if n.rule == "units"] == [
        f"the texts of one author are alike: 99 texts count as {writers.effective.n:.1f} (units.csv)"
    ]


def test_texts_that_were_made_of_one_text_are_one_unit(tmp_path: Path) -> None:
    rows = []
    for number in range(396):
        made = {"kind": "transformed", "grade": "stated", "attack": "paraphrase", "parent": f'parent "é" {number % 33}'}
        rows.append(document(f"c-{number:03d}", "C", made))
    study = Judged(tmp_path, [arm("C", "ai", unit="parent")], rows, [card("x")])
    study.answers("x", {f"c-{n:03d}": "1" if n % 33 < 11 else "0" for n in range(396)})
    scored = score.score_edition(study.edition)
    (rate,) = score.rate_units(scored)
    assert (rate.unit, rate.n, rate.k, rate.effective.units, rate.effective.n) == ("parent", 396, 132, 33, 33)
    assert [n.message for n in score.list_warnings(scored) if n.rule == "units"] == [
        "the texts of one parent are alike: 396 texts count as 33.0 (units.csv)"
    ]
