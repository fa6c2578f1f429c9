"""What one check finds, kept until all is said.

A check never stops at its first fault. What it cannot read is its failure; what it cannot know is *not checked*.
"""

from __future__ import annotations

from penmark.errors import PenmarkError
from penmark.records import Check

LISTED = 50
"""Faults listed per check; the rest are counted."""


class Found:
    """The findings of the check ``number``."""

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name
        self._kept: list[Check] = []
        self._left_out = 0

    def failed(self, subject: str, got: str, expected: str, remedy: str) -> None:
        """Something is not as it must be: where, what is so, what would be right, what to do."""
        if sum(c.state == "failed" for c in self._kept) >= LISTED:
            self._left_out += 1
            return
        self._add("failed", subject, got, expected, remedy)

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
            self.failed(
                fault.place or "the bundle", fault.fact, "a readable file", fault.remedy or "Get the bundle again."
            )

    def equal(self, subject: str, got: object, expected: object, remedy: str) -> bool:
        """Fail unless both are equal; says whether they are."""
        if got != expected:
            self.failed(subject, _short(got), _short(expected), remedy)
        return got == expected

    @property
    def clean(self) -> bool:
        """True as long as nothing failed."""
        return all(c.state != "failed" for c in self._kept)

    def checks(self) -> list[Check]:
        """All findings; where there is none the check is ok as a whole."""
        if self._left_out:
            self._add("failed", "the bundle", f"{self._left_out} more faults of this kind", None, None)
            self._left_out = 0
        return self._kept or [Check(number=self.number, name=self.name, state="ok", subject="the bundle")]

    def _add(self, state: str, subject: str, got: str | None, expected: str | None, remedy: str | None) -> None:
        self._kept.append(
            Check.model_validate(
                {
                    "number": self.number,
                    "name": self.name,
                    "state": state,
                    "subject": subject,
                    "got": got,
                    "expected": expected,
                    "remedy": remedy,
                }
            )
        )


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 300 else text[:300] + "…"
