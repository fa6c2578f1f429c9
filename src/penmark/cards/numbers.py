"""How the number of an answer becomes its score, by the rules that a card states: numerals, and whose number it is.

``scale.numerals``: digits of any script, with a point or a comma as the decimal sign. ``answer.score_of`` ``label``: the
number is the confidence in the displayed verdict, so that both are read together.
*Reads* and *writes* nothing. *Never*: changes what was displayed; reads a number that could be read in two ways.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

from penmark.cards.call_rules import NUMBER, fold_classes, fold_verdict
from penmark.errors import count_noun
from penmark.records import Card, Rule
from penmark.yaml_records import Remark

WHITE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_PERCENT = re.compile(f"({NUMBER.pattern})[{WHITE}]*%")
_PERCENT_FIRST = re.compile(f"%[{WHITE}]*({NUMBER.pattern})")
_HIDDEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Marks of direction, which screens of scripts from right to left put around numbers."""
_TURNED = str.maketrans("\u2212\u066a\ufe6a\uff05\uff0e\uff0c\u066b", "-%%%.,\0")
_OTHER_DIGIT = re.compile(r"[^\W0-9]")
_SHORT = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?")
_EXACT = Context(prec=4000, Emax=MAX_EMAX, Emin=MIN_EMIN)


def displayed(card: Card, shown: str) -> str | None:
    """The number in what a screen displays (without white space at the ends), in ASCII; None where it is none."""
    if card.answer.score_of is not None:
        return None  # a number alone does not say of which verdict it is
    numerals = None if card.scale is None else card.scale.numerals
    plain = shown if numerals is None else _convert_to_ascii(shown, numerals)
    if card.scale is None or card.scale.unit != "percent":
        return plain if NUMBER.fullmatch(plain) else None
    found = _PERCENT.fullmatch(plain)
    if found is None and numerals is not None:
        found = _PERCENT_FIRST.fullmatch(plain)
    return None if found is None else found[1]


def score(card: Card, number: str | None, label: str | None) -> str | None:
    """The score, of what stands in a raw answer as number and as verdict."""
    if number is not None and card.scale is not None and card.scale.numerals is not None:
        plain = _convert_to_ascii(number.strip(WHITE), card.scale.numerals)
        percent = (
            (_PERCENT.fullmatch(plain) or _PERCENT_FIRST.fullmatch(plain)) if card.scale.unit == "percent" else None
        )
        number = percent[1] if percent is not None else plain if NUMBER.fullmatch(plain) else number
    return number if number is None or card.answer.score_of is None else _of_label(card, number, label)


def _convert_to_ascii(shown: str, numerals: str) -> str:
    plain = _HIDDEN.sub("", shown).translate(_TURNED)
    plain = _OTHER_DIGIT.sub(lambda found: _convert_digit(found[0]), plain)
    if numerals == "comma":
        plain = "" if "." in plain else plain.replace(",", ".")
    return plain.replace("\0", ".").strip(WHITE)


def _convert_digit(character: str) -> str:
    """A digit of the basic plane as the one of ASCII; anything else as it is."""
    value = unicodedata.decimal(character, None) if character <= "\uffff" else None
    return character if value is None else str(value)


def _of_label(card: Card, number: str, label: str | None) -> str | None:
    """The number where the verdict is what a higher number speaks for, else what is left of the scale: for a verdict that
    is neither AI nor human there is none."""
    meant = None if label is None else fold_classes(card).get(fold_verdict(label))
    scale = card.scale
    if scale is None or scale.low is None or scale.high is None or meant not in ("ai", "human"):
        return None
    if meant == scale.direction or NUMBER.fullmatch(number) is None:
        return number
    if _SHORT.fullmatch(number) is None:
        return None
    return format(_EXACT.subtract(_EXACT.add(Decimal(scale.low), Decimal(scale.high)), Decimal(number)), "f")


def faults(card: Card) -> Iterator[Remark]:
    """What is wrong with a card whose number is the confidence in its verdict."""
    if card.answer.score_of is None:
        return
    place = ("answer", "score_of")
    if card.answer.score is None or card.answer.label is None:
        yield Remark(
            place, "needs the pointers score and label", "Write where the number stands, and where its verdict."
        )
    if card.scale is None or card.scale.low is None or card.scale.high is None:
        yield Remark(place, "needs a scale with both ends", 'Write scale: {…, low: "0", high: "1"}.')
    if not {"ai", "human"} <= set(card.verdicts.values()):
        yield Remark(
            place, "needs verdicts of both kinds", "Write in `verdicts` which of them means ai, and which human."
        )


def misread(card: Card, rule: Rule) -> str | None:
    """Why a rule that people write cannot be meant, or None: it puts a boundary on confidences in whichever verdict."""
    meaning = None if card.scale is None else card.scale.meaning
    if rule.kind != "boundary" or meaning != "confidence in label" or card.answer.score_of is not None:
        return None
    return (
        "a boundary on a confidence in the displayed verdict means nothing: a text that is surely human has a high number, "
        "too"
    )


MISREAD = "Write answer.score_of: label, so that number and verdict are read together; or let the verdict decide."


ONE_SIDE = 10
"""From so many texts on it is told that a detector calls all of them alike."""


def one_sided(calls: Iterable[tuple[str, str]]) -> str | None:
    """What to say of calls (``ai`` or ``not-ai``) of texts by their truth (``human`` or ``ai``): that all of them are alike,
    although some would have to differ; read on from the detector's name. None where they are not, or are few."""
    of = Counter(calls)
    total, sides = of.total(), {call for _, call in of}
    if total < ONE_SIDE or len(sides) != 1:
        return None
    human, written = (sum(count for (truth, _), count in of.items() if truth == whose) for whose in ("human", "ai"))
    if sides == {"ai"} and human >= ONE_SIDE:
        return f"calls all {count_noun(human, 'text')} of people AI"
    if sides == {"not-ai"} and human > 0 and written >= ONE_SIDE:
        return f"calls none of {count_noun(written, 'text')} of models AI"
    return None
