"""What tells arms apart: the AUC against its definition, and when it is worth a warning."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark.screening import screen
from penmark.screening.contrast import auc, features, lower

counts = st.lists(st.integers(0, 6), min_size=1, max_size=12)


@settings(max_examples=80)
@given(counts, counts)
def test_the_area_is_its_definition(first, second):
    wins = sum((b > a) + (b == a) / 2 for a in first for b in second)
    assert auc(Counter(first), Counter(second)) == pytest.approx(wins / (len(first) * len(second)))


def test_the_interval_has_the_known_variance_where_nothing_separates():
    # At an area of one half the formula gives the variance of Mann and Whitney's U: (n + m + 1) / (12 n m).
    for n, m in ((5, 5), (20, 75), (394, 352)):
        assert lower(0.5, n, m) == pytest.approx(0.5 - 1.96 * ((n + m + 1) / (12 * n * m)) ** 0.5)
    assert lower(1.0, 5, 5) == 1.0
    assert lower(0.8, 50, 50) < lower(0.8, 500, 500) < 0.8


def test_features():
    assert set(features("Plain text.")) == set()
    assert set(features(" “A” –  b ,\n- c\n")) == {
        "a final line end",
        "white space at the beginning",
        "a line break inside",
        "two spaces in a row",
        "a space before a comma or full stop",
        "curly quotation marks or apostrophes",
        "an en or em dash",
        "a list mark at the start of a line",
        "a character outside ASCII",
    }


def test_an_arm_of_short_texts_is_told(corpus):
    made = corpus(corpus.arm("A", "human", 10), corpus.arm("B", "human", 10))
    long = " ".join(f"word{n}" for n in range(300)) + "."
    made.collect("A", *(corpus.draft(f"a{n}", long if n else f"{long[:200]}.") for n in range(10)))
    made.collect("B", *(corpus.draft(f"b{n}", long.replace("word", f"w{n}x")) for n in range(10)))
    [finding] = [each for each in screen(made.place, made.edition, made.protocol) if each.rule == "short-texts"]
    assert finding.arm == "A"
    assert finding.message == "1 of 10 texts have fewer than 300 words, 1 of them fewer than 250 characters"
