"""What tells arms apart without knowing anything about AI: length, matters of format, topic words.

A rule that looks only at one of these should not be able to tell human from AI text; where it can, a detector may be
doing just that. Each rule is tried on texts that it has not seen: folds keep all texts of a unit together, a text's
score is the mean log-odds of its marks (naive Bayes, counts plus one), and the AUC (exact, ties count half) is told as
mean over the folds with Student's 95 % interval. A warning needs a lower end beyond 0.6; else it is a note.
*Reads* and *writes* nothing. Texts that are withheld do not enter; of a large arm a fixed sample does.
"""

from __future__ import annotations

import math
import statistics
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import combinations
from typing import NamedTuple

from penmark.records import Arm
from penmark.stages.screen.features import FEATURES, Case
from penmark.stages.screen.findings import ScreeningFindings, Where

BOUND = 0.6
"""The lower end of an AUC beyond which it is a warning."""
FEWEST = 10
"""Units on each side without which nothing is said."""
SHORT_WORDS, SHORT_CHARACTERS = 300, 250
"""Below so many detectors say little, or refuse."""
_MANY = 50
_STUDENT = {5: 2.776, 10: 2.262}  # 97.5 % of t with folds - 1 degrees of freedom
_RARE, _COMMON = 3, 0.25  # a topic word is in so many texts at least, and in such a share of them at most
_REPEATED = 0.4  # and of the texts that hold it, such a share holds it twice or more
_MATCH = "Match the arms in this before the promise of the next edition, or say beside each rate that they differ."
_FINE = "Nothing need be done."
_Marks = Sequence[int]
_Why = Callable[["Side", "Side"], str]


class Side(NamedTuple):
    """The texts of an arm, or of all arms of one truth."""

    name: str
    arm: str
    cases: list[Case]


class Area(NamedTuple):
    """An AUC, the mean over folds, with its interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"AUC {self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


def find_contrasts(
    arms: tuple[Arm, ...], cases: dict[str, list[Case]], words: Sequence[str], found: ScreeningFindings
) -> None:
    """Tell how far length, format and topic words alone separate arms whose rates are set side by side.

    ``cases``: by arm; ``words``: the topic words by their number.
    """
    sides = {arm.name: Side(arm.name, arm.name, cases[arm.name]) for arm in arms if arm.truth != "mixed"}
    by_truth = {
        truth: [sides[arm.name] for arm in arms if arm.truth == truth and cases[arm.name]] for truth in ("human", "ai")
    }
    pairs = [(one, other) for one in by_truth["human"] for other in by_truth["ai"]]
    if len(pairs) > 1:
        pooled = [
            Side(f"all {name} arms", "", [case for side in by_truth[truth] for case in side.cases])
            for truth, name in (("human", "human"), ("ai", "AI"))
        ]
        pairs.insert(0, (pooled[0], pooled[1]))
    for one, other in pairs:
        _check_length(one, other, found)
        _check_contrast("format-contrast", "format", one, other, _format_marks, _format_why, found)
        _check_contrast("topic-contrast", "topic words", one, other, _topic_marks, _topic_why(words), found)
    for one, other in combinations(by_truth["human"], 2):
        _check_length(one, other, found)


def describe_arms(
    arms: tuple[Arm, ...], cases: dict[str, list[Case]], totals: dict[str, int], found: ScreeningFindings
) -> None:
    """Say of each arm what its public texts are like. ``totals``: public texts by arm, of which ``cases`` is a sample."""
    for arm in arms:
        held = cases[arm.name]
        if len(held) < FEWEST:
            continue
        counts = sorted(case.words for case in held)
        quarters = [f"{cut:.0f}" for cut in statistics.quantiles(counts, n=4, method="inclusive")]
        features = Counter(feature for case in held for feature in case.format)
        told = ", ".join(f"{FEATURES[number]} {features[number]}" for number in sorted(features)) or "nothing of note"
        part = f"{len(held)} of " if len(held) != totals[arm.name] else ""
        message = f"of {part}{totals[arm.name]} public texts: words from {counts[0]} to {counts[-1]}"
        message += f", quartiles {', '.join(quarters)}; with {told}"
        found.add("profile", Where(arm.name), message, _FINE)


def find_short_arms(lengths: dict[str, list[int]], totals: dict[str, int], found: ScreeningFindings) -> None:
    """Tell of arms of which a tenth or more is short. ``lengths``: characters of each short public text, by arm."""
    for arm, held in lengths.items():
        if totals[arm] >= 5 and 10 * len(held) >= totals[arm]:
            least = sum(length < SHORT_CHARACTERS for length in held)
            message = f"{len(held)} of {totals[arm]} texts have fewer than {SHORT_WORDS} words"
            message += f", {least} of them fewer than {SHORT_CHARACTERS} characters"
            remedy = "Detectors ask for some 300 words and do worse below: say so beside the rates, or set word limits."
            found.add("short-texts", Where(arm), message, remedy)


def compute_auc(first: Counter[float], second: Counter[float]) -> float:
    """The chance that a member of ``second`` is greater than one of ``first``, ties counting half. Both hold some."""
    below, twice = 0, 0
    for value in sorted(first | second):
        twice += second[value] * (2 * below + first[value])
        below += first[value]
    return twice / (2 * first.total() * second.total())


def compute_area(one: Side, other: Side, marks: tuple[list[_Marks], list[_Marks]]) -> Area | None:
    """How well marks alone tell two sides apart, on texts that were not learned from; None where there are too few.

    ``marks``: of each text of each side, in its order.
    """
    units = [{case.unit for case in side.cases} for side in (one, other)]
    if min(map(len, units)) < FEWEST:
        return None
    number = 10 if min(map(len, units)) >= _MANY else 5
    folds = _assign_folds((one.cases, other.cases), number)
    totals = [Counter(mark for each in side for mark in each) for side in marks]
    areas = []
    for fold in range(number):
        tested = [
            [each for each, at in zip(m, f, strict=True) if at == fold] for m, f in zip(marks, folds, strict=True)
        ]
        if all(tested):
            areas.append(_fold_area(tested, totals, [len(side) for side in marks]))
    if len(areas) < 3:
        return None
    mean = statistics.fmean(areas)
    half = _STUDENT[number] * statistics.stdev(areas) / math.sqrt(len(areas))
    return Area(mean, max(0.0, mean - half), min(1.0, mean + half))


def _fold_area(tested: list[list[_Marks]], totals: list[Counter[int]], sizes: list[int]) -> float:
    """The AUC of one fold, by what all others show."""
    here = [Counter(mark for each in side for mark in each) for side in tested]
    left = [size - len(side) for size, side in zip(sizes, tested, strict=True)]
    weights: dict[int, float] = {}
    for mark in here[0].keys() | here[1].keys():
        first, second = ((totals[s][mark] - here[s][mark] + 1) / (left[s] + 2) for s in (0, 1))
        weights[mark] = math.log(second / first)
    scores = [Counter(sum(map(weights.__getitem__, each)) / (1 + len(each)) for each in side) for side in tested]
    return compute_auc(scores[0], scores[1])


def _assign_folds(sides: tuple[list[Case], list[Case]], number: int) -> tuple[list[int], list[int]]:
    """The fold of each case: a unit is in one fold, and folds are filled evenly on both sides."""
    sizes: dict[str, list[int]] = {}
    for side, cases in enumerate(sides):
        for case in cases:
            sizes.setdefault(case.unit, [0, 0])[side] += 1
    held = [[0, 0] for _ in range(number)]
    chosen: dict[str, int] = {}
    for unit in sorted(sizes, key=lambda name: (-sum(sizes[name]), sha256(name.encode()).digest())):
        more = 0 if sizes[unit][0] >= sizes[unit][1] else 1
        best = min(range(number), key=lambda fold: (held[fold][more], sum(held[fold]), fold))
        chosen[unit] = best
        held[best] = [have + size for have, size in zip(held[best], sizes[unit], strict=True)]
    first, second = ([chosen[case.unit] for case in cases] for cases in sides)
    return first, second


# --- the three rules -----------------------------------------------------------------------------------------------


def _check_contrast(
    rule: str,
    what: str,
    one: Side,
    other: Side,
    marks: Callable[[Side, Side], tuple[list[_Marks], list[_Marks]]],
    why: _Why,
    found: ScreeningFindings,
) -> None:
    got = compute_area(one, other, marks(one, other))
    if got is None:
        return
    beyond = got.low > BOUND
    message = f"a rule that looks only at {what} separates {one.name} from {other.name} with {got}"
    if beyond:
        message += why(one, other)
    found.add(rule, Where(one.arm), message, _MATCH if beyond else _FINE, note=not beyond)


def _check_length(one: Side, other: Side, found: ScreeningFindings) -> None:
    _check_contrast("length-contrast", "the number of words", one, other, _length_marks, _length_why, found)


def _length_marks(one: Side, other: Side) -> tuple[list[_Marks], list[_Marks]]:
    """In which part of all lengths a text lies: between two and eight parts, of as many texts each."""
    counts = sorted(case.words for side in (one, other) for case in side.cases)
    parts = max(2, min(8, min(len(one.cases), len(other.cases)) // 10))
    edges = [counts[len(counts) * i // parts] for i in range(1, parts)] if counts else []
    first, second = ([(sum(case.words >= e for e in edges),) for case in side.cases] for side in (one, other))
    return list(first), list(second)


def _length_why(one: Side, other: Side) -> str:
    median = [statistics.median(case.words for case in side.cases) for side in (one, other)]
    if median[0] == median[1]:
        return "; the medians are the same"
    return (
        f"; {(one if median[0] > median[1] else other).name} is longer ({median[0]:g} and {median[1]:g} in the middle)"
    )


def _format_marks(one: Side, other: Side) -> tuple[list[_Marks], list[_Marks]]:
    first, second = (
        [[2 * n + (n in case.format) for n in range(len(FEATURES))] for case in side.cases] for side in (one, other)
    )
    return list(first), list(second)


def _format_why(one: Side, other: Side) -> str:
    counts = [Counter(number for case in side.cases for number in case.format) for side in (one, other)]
    sizes = [len(side.cases) for side in (one, other)]
    apart = {n: abs(counts[0][n] / sizes[0] - counts[1][n] / sizes[1]) for n in range(len(FEATURES))}
    most = sorted((n for n in apart if apart[n] > 0), key=lambda n: (-apart[n], n))[:3]
    told = "; ".join(
        f"{FEATURES[n]} ({one.name} {counts[0][n]} of {sizes[0]}, {other.name} {counts[1][n]} of {sizes[1]})"
        for n in most
    )
    return f", most by {told}"


def _topic_marks(one: Side, other: Side) -> tuple[list[_Marks], list[_Marks]]:
    """The topic words of each text. What a text is about it names again; what belongs to a manner stands there once.

    Church, K. (2000), Empirical estimates of adaptation, COLING: the chance of a second mention tells the two apart.
    """
    cases = [case for side in (one, other) for case in side.cases]
    once = Counter(word for case in cases for word in case.once)
    again = Counter(word for case in cases for word in case.again)
    most = _COMMON * len(cases)
    fit = {word for word, count in once.items() if _RARE <= count <= most and again[word] >= _REPEATED * count}
    first, second = ([_keep_fitting_words(case.once, fit) for case in side.cases] for side in (one, other))
    return list(first), list(second)


def _keep_fitting_words(words: Iterable[int], fit: set[int]) -> _Marks:
    return array("L", (word for word in words if word in fit))


def _topic_why(words: Sequence[str]) -> _Why:
    def why(one: Side, other: Side) -> str:
        counts = [Counter(word for marks in side for word in marks) for side in _topic_marks(one, other)]
        sizes = [len(side.cases) for side in (one, other)]
        apart = {w: counts[0][w] / sizes[0] - counts[1][w] / sizes[1] for w in counts[0] | counts[1]}
        told = []
        for side, sign in ((one, 1), (other, -1)):
            most = sorted((w for w in apart if sign * apart[w] > 0), key=lambda w: (-sign * apart[w], words[w]))[:4]
            told += [f"{side.name}: {', '.join(words[w] for w in most)}"] if most else []
        return f", most by {'; '.join(told)}" if told else ""

    return why
