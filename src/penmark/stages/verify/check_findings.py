"""What one check finds, kept until all is said.

A check never stops at its first fault. What it cannot read is its failure; what it cannot know is *not checked*.
*Never* lets a bundle steer a terminal: what it holds is shown without control characters.
"""

from __future__ import annotations

from pathlib import Path

from penmark.errors import PenmarkError
from penmark.records import Check
from penmark.stages.verify.first_difference import cut_around

LISTED = 50
"""Faults listed per check; the rest are counted."""
_LONGEST = 300
_AGAIN = "Get the bundle again from where it was published."


class Findings:
    """The findings of the check ``number`` about the bundle in ``root``; places are told relative to it."""

    def __init__(self, number: int, name: str, root: Path | None = None) -> None:
        self.number, self.name = number, name
        self._root = "" if root is None else f"{root}/"
        self._kept: list[Check] = []
        self._faults = 0

    def failed(self, subject: str, got: str, expected: str, remedy: str) -> None:
        """Something is not as it must be: where, what is so, what would be right, what to do."""
        if got != expected and make_plain(got) == make_plain(expected):
            got, expected = cut_around(got, expected)
        if self._faults >= LISTED or self._add("failed", subject, got, expected, remedy):
            self._faults += 1

    def not_checked(self, subject: str, why: str, remedy: str) -> None:
        """Something that this program, here, cannot know."""
        self._add("not checked", subject, why, None, remedy)

    def not_applicable(self, subject: str, why: str) -> None:
        """Something that this bundle does not have."""
        self._add("not applicable", subject, why, None, None)

    def ok(self, subject: str, what: str) -> None:
        """Something that was checked and holds."""
        self._add("ok", subject, what, None, None)

    def error(self, error: PenmarkError) -> None:
        """A file that cannot be read fails the check that needs it."""
        for fault in error.faults:
            self.failed(fault.place or "the bundle", fault.fact, "a readable file", fault.remedy or _AGAIN)

    def equal(self, subject: str, got: object, expected: object, remedy: str) -> bool:
        """Fail unless both are equal; says whether they are."""
        if got != expected:
            self.failed(subject, _describe_value(got), _describe_value(expected), remedy)
        return got == expected

    @property
    def clean(self) -> bool:
        """True as long as nothing failed."""
        return self._faults == 0

    def checks(self) -> list[Check]:
        """All findings; where there is none the check is ok as a whole."""
        if self._faults > LISTED:
            left = self._faults - LISTED
            rest = Check(
                number=self.number,
                name=self.name,
                state="failed",
                subject="the bundle",
                got=f"{left} more fault{'s' if left > 1 else ''} of this check",
                expected="none",
                remedy=_AGAIN,
            )
            return [*self._kept, rest]
        return self._kept or [Check(number=self.number, name=self.name, state="ok", subject="the bundle")]

    def _add(self, state: str, subject: str, got: str | None, expected: str | None, remedy: str | None) -> bool:
        """Keep a finding; False where it is there already: two readers of a file may find the same."""
        one = Check.model_validate(
            {
                "number": self.number,
                "name": self.name,
                "state": state,
                "subject": make_plain(subject.replace(self._root, "") if self._root else subject),
                "got": None if got is None else make_plain(got),
                "expected": None if expected is None else make_plain(expected),
                "remedy": None if remedy is None else make_plain(remedy),
            }
        )
        new = one not in self._kept
        if new:
            self._kept.append(one)
        return new


def _describe_value(value: object) -> str:
    return "nothing" if value is None else str(value)


def make_plain(text: str) -> str:
    """``text`` in one line, cut where it is long; characters that are not printable are shown by their numbers."""
    cut = text[:_LONGEST]
    shown = "".join(c if c.isprintable() or c == "\u00a0" else c.encode("unicode_escape").decode() for c in cut)
    return shown if len(text) <= _LONGEST else shown + "…"
