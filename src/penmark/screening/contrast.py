"""What tells arms apart without knowing anything about AI: length, and matters of format.

A rule that looks only at the length, or only at a final line end, should not be able to tell human from AI text; where
it can, a detector may be doing just that. The AUC is exact, ties count half; a warning needs the lower end of an
approximate 95 % interval (Hanley, J. A. and McNeil, B. J. (1982), Radiology 143(1): 29-36) beyond 0.6.
*Reads* and *writes* nothing. Texts that are withheld do not enter.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from penmark.records import Arm
from penmark.screening.findings import Findings, Where

_Z = 1.96
_BOUND = 0.6
_FEWEST = 5
_MATCH = "Match the arms in this before the promise of the next edition, or say beside each rate that they differ."

FEATURES = (
    "a final line end",
    "white space at the beginning",
    "a line break inside",
    "two spaces in a row",
    "a space before a comma or full stop",
    "curly quotation marks or apostrophes",
    "an en or em dash",
    "a list mark at the start of a line",
    "a character outside ASCII",
)
_LIST = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]", re.MULTILINE)


def features(text: str) -> Iterator[str]:
    """The matters of format, of FEATURES, that a text has."""
    inside = text.strip()
    has = (
        text.endswith(("\n", "\r")),
        text[:1].isspace(),
        "\n" in inside or "\r" in inside,
        "  " in inside,
        " ," in inside or " ." in inside,
        any(c in text for c in "“”‘’"),
        "–" in text or "—" in text,
        _LIST.search(text) is not None,
        not text.isascii(),
    )
    return (name for name, present in zip(FEATURES, has, strict=True) if present)


@dataclass
class Tally:
    """What an arm's public texts are like: how many have so many words, how many have a feature."""

    texts: int = 0
    words: Counter[int] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, words: int) -> None:
        """Count a text."""
        self.texts += 1
        self.words[words] += 1
        self.features.update(features(text))

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.texts + other.texts, self.words + other.words, self.features + other.features)


def auc(first: Counter[int], second: Counter[int]) -> float:
    """The chance that a member of ``second`` is greater than one of ``first``, ties counting half. Both hold some."""
    below, twice = 0, 0
    for value in sorted(first | second):
        twice += second[value] * (2 * below + first[value])
        below += first[value]
    return twice / (2 * first.total() * second.total())


def lower(area: float, n: int, m: int) -> float:
    """The lower end of an approximate 95 % interval for an AUC of at least 0.5, of n and m cases."""
    q1, q2, square = area / (2 - area), 2 * area * area / (1 + area), area * area
    variance = (area * (1 - area) + (n - 1) * (q1 - square) + (m - 1) * (q2 - square)) / (n * m)
    return area - _Z * math.sqrt(max(variance, 0.0))


def contrasts(arms: tuple[Arm, ...], tallies: dict[str, Tally], found: Findings) -> None:
    """Tell where length or format alone separates arms whose rates are set side by side."""
    enough = [arm for arm in arms if arm.truth != "mixed" and tallies[arm.name].texts >= _FEWEST]
    pooled = {
        truth: sum((tallies[arm.name] for arm in enough if arm.truth == truth), Tally()) for truth in ("human", "ai")
    }
    sides = Counter(arm.truth for arm in enough)
    if sides["human"] and sides["ai"]:
        if enough and len(enough) > 2:
            _length("all human arms", pooled["human"], "all AI arms", pooled["ai"], "", found)
        for feature in FEATURES:
            _format(feature, enough, tallies, pooled, found)
    for one, other in combinations(enough, 2):
        if "human" in (one.truth, other.truth):
            _length(one.name, tallies[one.name], other.name, tallies[other.name], one.name, found)


def _length(name: str, one: Tally, against: str, other: Tally, arm: str, found: Findings) -> None:
    area = auc(one.words, other.words)
    strength = max(area, 1 - area)
    if lower(strength, one.texts, other.texts) > _BOUND:
        longer = against if area >= 0.5 else name
        message = (
            f"a rule that looks only at the number of words separates {name} from {against} with AUC {strength:.3f} "
            f"({longer} longer)"
        )
        found.add("length-contrast", Where(arm=arm), message, _MATCH)


def _format(
    feature: str, arms: list[Arm], tallies: dict[str, Tally], pooled: dict[str, Tally], found: Findings
) -> None:
    """One finding a feature: where all human and all AI texts differ in it, or a human and an AI arm do."""
    sides = [(pooled["human"], pooled["ai"])]
    sides += [
        (tallies[one.name], tallies[other.name])
        for one in arms
        for other in arms
        if one.truth == "human" and other.truth == "ai"
    ]
    if any(_separates(one, other, feature) for one, other in sides):
        told = ", ".join(
            f"{arm.name} {tallies[arm.name].features[feature]} of {tallies[arm.name].texts}" for arm in arms
        )
        message = f"human and AI arms differ in this: {feature} ({told})"
        found.add("format-contrast", Where(), message, _MATCH)


def _separates(one: Tally, other: Tally, feature: str) -> bool:
    p, q = one.features[feature] / one.texts, other.features[feature] / other.texts
    spread = math.sqrt(p * (1 - p) / one.texts + q * (1 - q) / other.texts)
    # The AUC of a yes-or-no rule is 1/2 + |p - q| / 2.
    return 0.5 + (abs(p - q) - _Z * spread) / 2 > _BOUND
