"""Findings: what screening says, how grave it is, and in what order.

*Reads* and *writes* nothing. *Never* lets a finding that follows from a withheld text into the public file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from penmark import study
from penmark.errors import did_you_mean
from penmark.records import Protocol

Severity = Literal["error", "warning"]

RULES: dict[str, tuple[Severity, str]] = {
    # what stops a freeze
    "empty": ("error", "a text without a word"),
    "duplicate-id": ("error", "an id that two documents have"),
    "look-alike-id": ("error", "ids that look the same and are not"),
    "missing-provenance": ("error", "provenance of a kind or grade that the arm does not take"),
    "unmet-quota": ("error", "an arm or a quota with another number of documents than promised"),
    "invalid-record": ("error", "a record that cannot be read"),
    "wrong-record": ("error", "a record that says something else than its text"),
    "missing-text": ("error", "a document without its text, or its draft"),
    "changed-text": ("error", "a text that is not the one that was collected"),
    "nul": ("error", "a NUL character"),
    # what is told
    "after-cutoff": ("warning", "evidence that is not older than the arm asks"),
    "age-not-shown": ("warning", "human text that is not shown to be older than 2022"),
    "made-before-promise": ("warning", "AI text of this edition that is older than its promise"),
    "contradictory-provenance": ("warning", "truth, provenance and what the source says do not agree"),
    "not-edited": ("warning", "an edited text that equals its draft"),
    "over-budget": ("warning", "an edit of more words than the arm allows"),
    "word-limit": ("warning", "a text outside the arm's word limits"),
    "word-limit-margin": ("warning", "a text within 2 % of a word limit: another counting rule may judge otherwise"),
    "duplicate-bytes": ("warning", "texts with the same bytes"),
    "duplicate-text": ("warning", "texts that are the same but for BOM, line ends or Unicode form"),
    "duplicate-folded": ("warning", "texts that are the same but for white space"),
    "near-duplicate": ("warning", "texts that share much of their wording"),
    "repeated-unit": ("warning", "an author, topic, source or prompt behind several documents"),
    "length-contrast": ("warning", "arms that length alone tells apart"),
    "format-contrast": ("warning", "arms that a matter of format alone tells apart"),
    "bom": ("warning", "a byte order mark"),
    "carriage-return": ("warning", "carriage returns"),
    "control-character": ("warning", "control characters and line separators"),
    "private-use": ("warning", "private-use characters"),
    "unassigned": ("warning", "code points without a character"),
    "replacement-character": ("warning", "U+FFFD: a character was lost"),
    "ligature": ("warning", "ligatures, as conversions from PDF leave them"),
    "zero-width": ("warning", "characters without width"),
    "bidi-control": ("warning", "characters that turn the direction of writing"),
    "no-break-space": ("warning", "no-break spaces"),
    "not-nfc": ("warning", "a text that is not in Unicode's form NFC"),
    "mixed-scripts": ("warning", "Latin and Cyrillic letters in one word"),
    "mojibake": ("warning", "UTF-8 that was once read as something else"),
    "repeated-paragraph": ("warning", "a paragraph, or the whole text, twice"),
    "markup": ("warning", "HTML or Markdown"),
    "boilerplate": ("warning", "words of a web page around a text"),
    "placeholder": ("warning", "marks that stand for something else"),
    "chat-residue": ("warning", "words or tokens of a chat interface"),
    "refusal": ("warning", "what reads like a refusal"),
    "error-text": ("warning", "an error message in place of a text"),
    "cut-off": ("warning", "a text without a final mark, or one that its model did not finish"),
    "unpromised-arm": ("warning", "a folder of documents that belongs to no arm"),
    "unknown-rule": ("warning", "a name under `screening` in the protocol that is no rule"),
}
"""Every rule: how grave it is unless the protocol makes it graver, and what it finds."""

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


class Findings:
    """Collects findings, each with the severity that the protocol gives its rule."""

    def __init__(self, protocol: Protocol) -> None:
        self._raised = protocol.screening
        self._order = {arm.name: number for number, arm in enumerate(protocol.arms)}
        self._found: list[Finding] = []
        for rule in sorted(set(protocol.screening) - set(RULES)):
            fact = f"the protocol's `screening` names {rule}, which is no rule{did_you_mean(rule, RULES)}"
            self.add("unknown-rule", Where(file="protocol.json"), fact, f"The rules: {', '.join(sorted(RULES))}.")

    def add(self, rule: str, where: Where, message: str, remedy: str, *, of_text: bool = False) -> None:
        """Add one. ``of_text``: it follows from the text itself, so that of a withheld one it stays private."""
        severity = RULES[rule][0] if RULES[rule][0] == "error" else self._raised.get(rule, "warning")
        private = where.hidden and of_text
        place = (where.arm, where.document, where.file, where.row)
        self._found.append(Finding(severity, rule, *place, message, remedy, private))

    def ordered(self) -> list[Finding]:
        """All: errors first, then by rule, arm as promised, row, and message."""
        return sorted(self._found, key=self._rank)

    def _rank(self, finding: Finding) -> tuple[str, str, int, str, int, str]:
        arm = self._order.get(finding.arm, len(self._order))
        row = finding.row if finding.row is not None else 0
        return finding.severity, finding.rule, arm, finding.arm, row, finding.message


def to_csv(findings: Iterable[Finding], *, private: bool = False) -> bytes:
    """``screening.csv``: the public findings, or those that are private."""
    return study.csv_bytes(COLUMNS, (finding[:8] for finding in findings if finding.private == private))
