"""Contact details and names of persons, in texts that are to be published: marked for a person to read.

Contact details are found by their form. Names are only guessed, in English: a title before a capital letter, a verb of
naming, or two capitalised words that stand inside a sentence and are no place, month or institution of a short list. Many
names are missed, and some that are found are none: nobody is safe because this rule is silent.
*Reads* and *writes* nothing. *Never* repeats what it found: it tells where it stands, so that a text that is withdrawn
leaves nothing behind in the findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from penmark.stages.screen.text_marks import TextMark

_READ = "A person reads it before it is published: agreed with the writer, or a text that is replaced."
_SHOWN = 5

_CONTACTS = {
    "an e-mail address": re.compile(
        r"\b[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]{0,250}\.[A-Za-z]{2,24}\b"
    ),
    "a web address": re.compile(r"\b(?:https?://|www\.)[^\s<>\"]{3,200}", re.IGNORECASE),
    "a telephone number": re.compile(
        r"(?<![\w.,/-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,5}\)[ .-]?)?\d{2,8}(?:[ .-]\d{2,8}){1,4}(?![\w/]|[.,-]\d)"
    ),
    "an account": re.compile(r"(?<![\w@.])@(?![A-Z]+\d*\b)[A-Za-z][A-Za-z0-9_]{2,30}\b(?!\.\w)"),
}
_DIGITS = range(9, 16)
"""A telephone number with area code has so many digits."""
_TITLED = r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Madam|Aunt|Uncle|Coach)\.? (?:[A-Z]\. )?[A-Z][a-z]{1,20}"
_NAMED = r"(?:[Nn]amed|[Cc]alled|[Nn]ame is|[Nn]ame was) [A-Z][a-z]{1,20}"
_PAIR = r"(?<=[a-z,;] )[A-Z][a-z]{1,15}(?: [A-Z]\.)? [A-Z][a-z]{2,20}(?:-[A-Z][a-z]{2,20})?"
_NAME = re.compile(rf"\b(?:{_TITLED}|{_NAMED}|{_PAIR})\b")
# Capitalised words that are no names of persons.
_WORDS = """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August
    September October November December Christmas Easter Thanksgiving New North South East West Northern Southern
    Eastern Western Central Great United Los Las San Santa Saint Hong Saudi Sri Puerto Costa El La Le The Old Upper
    Lower University College School Institute Academy Street Road Avenue Park River Lake Mount Ocean Sea Bay Island
    Islands City State States Kingdom Republic House Court Committee Company Museum Library Church Hospital
    Department Ministry World War Day Week Year American British English French German Spanish Italian Chinese
    Japanese Indian Russian African European Asian Latin Middle Supreme High Prime President Minister Congress
    Parliament Union Nations Google Facebook Windows Internet"""
_NO_NAMES = frozenset(_WORDS.split())


def find_contacts(text: str) -> Iterator[TextMark]:
    """Addresses, telephone numbers and accounts."""
    found: dict[str, list[int]] = {}
    taken: list[tuple[int, int]] = []
    for what, pattern in _CONTACTS.items():
        for match in pattern.finditer(text):
            digits = sum(c.isdigit() for c in match[0])
            if what == "a telephone number" and digits not in _DIGITS:
                continue
            if not any(start < match.end() and match.start() < end for start, end in taken):
                taken.append(match.span())
                found.setdefault(what, []).append(match.start())
    if found:
        told = " and ".join(f"{what} ({_describe_places(places)})" for what, places in found.items())
        yield TextMark("contact-details", f"holds what looks like {told}", _READ)


def find_name_positions(text: str) -> list[int]:
    """Where names of persons seem to stand."""
    return [m.start() for m in _NAME.finditer(text) if not set(re.findall(r"[A-Za-z]+", m[0])) & _NO_NAMES]


def find_names(text: str) -> Iterator[TextMark]:
    """What looks like names of persons."""
    found = find_name_positions(text)
    if found:
        yield TextMark("personal-name", f"seems to name persons ({_describe_places(found)})", _READ)


def _describe_places(places: list[int]) -> str:
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return f"at {', '.join(map(str, places[:_SHOWN]))}{more}"
