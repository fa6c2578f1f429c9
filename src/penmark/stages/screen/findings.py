"""Findings: what screening says, how grave it is, and in what order.

*Reads* and *writes* nothing. *Never* lets a finding that follows from a withheld text into the public file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from penmark import study
from penmark.errors import suggest_name
from penmark.protocol import RULES, Severity
from penmark.records import Protocol

PERSON = frozenset(
    {
        *("sentences-unclear", "refusal", "chat-residue", "prompt-echo", "error-text", "cut-off"),
        *("other-language", "contact-details", "personal-name"),
    }
)
"""The rules whose findings a person decides about: no rule can tell a refusal from a letter."""

COLUMNS = ("severity", "rule", "arm", "document", "file", "row", "message", "remedy")


class Finding(NamedTuple):
    """One finding. ``arm``, ``document``, ``file`` are empty and ``row`` is None where they do not apply.

    ``private``: it follows from a text that is withheld, and is told to the operator alone.
    """

    severity: Severity
    rule: str
    arm: str
    document: str
    file: str
    row: int | None
    message: str
    remedy: str
    private: bool = False


class Where(NamedTuple):
    """What a finding is about; ``hidden``: a withheld text."""

    arm: str = ""
    document: str = ""
    file: str = ""
    row: int | None = None
    hidden: bool = False


class Decision(NamedTuple):
    """What a person decided about a finding, and why."""

    rule: str
    document: str
    decision: str
    by: str
    at: str
    why: str

    def __str__(self) -> str:
        return f"decided by {self.by} on {self.at}: {self.decision} ({self.why})"


class ScreeningFindings:
    """Collects findings, each with the severity that the protocol gives its rule.

    ``decisions``: by rule and document; a finding about which somebody decided is a warning, and says so.
    """

    def __init__(self, protocol: Protocol) -> None:
        self.decisions: dict[tuple[str, str], Decision] = {}
        self._raised = protocol.screening
        self._order = {arm.name: number for number, arm in enumerate(protocol.arms)}
        self._found: list[Finding] = []
        for rule in sorted(set(protocol.screening) - set(RULES)):
            fact = f"the protocol's `screening` names {rule}, which is no rule{suggest_name(rule, RULES)}"
            self.add("unknown-rule", Where(file="protocol.json"), fact, f"The rules: {', '.join(sorted(RULES))}.")

    def add(
        self, rule: str, where: Where, message: str, remedy: str, *, of_text: bool = False, note: bool = False
    ) -> None:
        """Add one. ``of_text``: it follows from the text itself, so that of a withheld one it stays private.

        ``note``: this one only says how things are.
        """
        own = RULES[rule][0]
        severity: Severity = "note" if note else own if own == "error" else self._raised.get(rule, own)
        decided = self.decisions.get((rule, where.document)) if where.document else None
        if decided is not None:
            severity, message = "warning", f"{message}; {decided}"
        private = where.hidden and of_text
        place = (where.arm, where.document, where.file, where.row)
        self._found.append(Finding(severity, rule, *place, message, remedy, private))

    def ordered(self) -> list[Finding]:
        """All: errors, warnings, notes; then by rule, arm as promised, row, and message."""
        return sorted(self._found, key=self._rank)

    def _rank(self, finding: Finding) -> tuple[int, str, int, str, int, str]:
        arm = self._order.get(finding.arm, len(self._order))
        row = finding.row if finding.row is not None else 0
        grave = ("error", "warning", "note").index(finding.severity)
        return grave, finding.rule, arm, finding.arm, row, finding.message


def write_screening_csv(findings: Iterable[Finding], *, private: bool = False) -> bytes:
    """``screening.csv``: the public findings, or those that are private."""
    return study.encode_csv(COLUMNS, (finding[:8] for finding in findings if finding.private == private))
