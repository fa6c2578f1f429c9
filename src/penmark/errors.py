"""The one tree of errors.

Every message has a place (file, line, cell), a fact (what is so) and a remedy (what to do about it).
*Never*: a traceback in front of a user; the command line prints these and exits with ``exit_code``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import NamedTuple

ALIKE = 4
"""So many faults that differ in their place alone are told as one."""


class Fault(NamedTuple):
    """One thing that is wrong: where, what, and what to do."""

    place: str | None
    fact: str
    remedy: str | None = None

    def __str__(self) -> str:
        parts = [self.fact if self.place is None else f"{_render_one_line(self.place)}: {self.fact}"]
        parts += [] if self.remedy is None else [self.remedy]
        return "\n    ".join(make_legible(_START.sub("\n    ", part)) for part in parts)


class PenmarkError(Exception):
    """Something is wrong with the material: a file, a record, a text. Exit code 1."""

    exit_code = 1

    def __init__(self, fact: str, *, place: str | None = None, remedy: str | None = None) -> None:
        self.faults: tuple[Fault, ...] = (Fault(place, fact, remedy),)
        super().__init__(str(self.faults[0]))


class FaultsError(PenmarkError):
    """Several faults found in one pass; every one is reported. Those that differ in their place alone are told together."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        listed = tuple(faults)
        super().__init__("no fault given" if not listed else listed[0].fact)
        self.faults = listed

    def __str__(self) -> str:
        alike: dict[tuple[str, str | None], list[str | None]] = {}
        for fault in self.faults:
            alike.setdefault((fault.fact, fault.remedy), []).append(fault.place)
        told = []
        for fault in self.faults:
            places = alike[fault.fact, fault.remedy]
            if len(places) < ALIKE:
                told.append(fault)
            elif places[0] == fault.place:
                file, last = (fault.place or "").rpartition(":")[0], places[-1] or ""
                last = f"line {last[len(file) + 1 :]}" if file and last.startswith(f"{file}:") else last
                told.append(fault._replace(fact=f"{fault.fact} (and {len(places) - 1} more like it, to {last})"))
        return "\n".join(map(str, dict.fromkeys(told)))


class UsageError(PenmarkError):
    """The command does not fit its arguments or the state of the study. Exit code 2."""

    exit_code = 2


class ServiceError(PenmarkError):
    """Something outside penmark did not do its part: a vendor, an authority, a registry, the disk. Exit code 3."""

    exit_code = 3


_START = re.compile(r"\n(?! {4})")
"""Where a further line of a message begins like a message of its own: what a file holds could pretend to be one."""
_SPACES = frozenset(
    "\n\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
"""What is not printable by Python's word, and does no harm."""


def make_legible(text: str) -> str:
    """``text`` as a terminal may have it: control and format characters but line end and tab as their numbers, in the
    form that JSON has for them (``\\u001b``)."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _SPACES else number_characters(c) for c in text)


def _render_one_line(text: str) -> str:
    return make_legible(text).replace("\n", number_characters("\n"))


def number_characters(text: str) -> str:
    """Each character as its number in UTF-16, as JSON writes it: ``\\u00e9``."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def count_noun(count: int, noun: str) -> str:
    """``1 text``, ``2 texts``: how a message counts things."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def describe_install(extra: str) -> str:
    """The line that brings what an extra of penmark needs, for those who have it from a registry or a checkout."""
    return f"pip install 'penmark[{extra}]' (in a checkout of penmark: pip install '.[{extra}]')"


def suggest_name(name: str, known: Iterable[str]) -> str:
    """`` (did you mean X?)``, or nothing where no known name is close. X is never the very same word."""
    lowered = {k.lower(): k for k in known if k != name}
    close = difflib.get_close_matches(name.lower(), sorted(lowered), n=1)
    return f" (did you mean {quote_blanks(lowered[close[0]])}?)" if close else ""


def quote_blanks(name: str) -> str:
    """A name as it is; in quotation marks where blanks stand around it, which nobody would see."""
    return name if name == name.strip() else repr(name)
