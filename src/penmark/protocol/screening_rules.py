"""What the screening may find, and how grave it is: the names that a protocol may write under ``screening``.

*Reads* and *writes* nothing. *Never* finds anything: that is the screening's.
"""

from __future__ import annotations

from typing import Literal

Severity = Literal["error", "warning", "note"]
"""An error stops a freeze; a warning is published; a note only says how things are."""

RULES: dict[str, tuple[Severity, str]] = {
    # what stops a freeze
    "empty": ("error", "a text without a word"),
    "uncountable": (
        "error",
        "a text in a script whose words nobody here can tell apart: limits and budgets mean nothing",
    ),
    "duplicate-id": ("error", "an id that two documents have"),
    "look-alike-id": ("error", "ids that look the same and are not"),
    "missing-provenance": ("error", "provenance of a kind, grade, model or style that the arm does not take"),
    "unmet-quota": ("error", "an arm or a quota with another number of documents than promised"),
    "invalid-record": ("error", "a record that cannot be read"),
    "wrong-record": ("error", "a record that says something else than its text"),
    "missing-text": ("error", "a document without its text, or its draft"),
    "changed-text": ("error", "a text that is not the one that was collected"),
    "nul": ("error", "a NUL character"),
    "invalid-decision": ("error", "a decision about a finding that cannot be read, or that is about nothing"),
    "draw-differs": ("error", "documents that are not those that were drawn"),
    "pooled-panel": ("error", "new documents in an arm that persists from an earlier edition"),
    "made-before": ("error", "a text of an arm that is made anew, and that an earlier edition had, or nearly"),
    # what is told
    "after-cutoff": ("warning", "evidence that is not older than the arm asks"),
    "age-not-shown": ("warning", "human text that is not shown to be older than 2022"),
    "made-before-promise": ("warning", "AI text of this edition that is older than its promise"),
    "contradictory-provenance": ("warning", "truth, provenance and what the source says do not agree"),
    "not-edited": ("warning", "an edited text that equals its draft"),
    "over-budget": ("warning", "an edit of more words than the arm allows"),
    "sentences-changed": ("warning", "an edit that added or deleted a sentence"),
    "sentences-unclear": ("warning", "an edit of which a person must say whether a sentence was added or deleted"),
    "left-out": ("warning", "texts that a source had and did not give, and why"),
    "withdrawn": ("warning", "a text that its author took back"),
    "not-published": ("warning", "an archived text that is not published, where it is kept, and its digest"),
    "word-limit": ("warning", "a text outside the arm's word limits"),
    "word-limit-margin": ("warning", "a text within 2 % of a word limit: another counting rule may judge otherwise"),
    "duplicate-bytes": ("warning", "texts with the same bytes"),
    "duplicate-text": ("warning", "texts that are the same but for BOM, line ends or Unicode form"),
    "duplicate-folded": ("warning", "texts that are the same but for white space and form"),
    "near-duplicate": ("warning", "texts that share much of their wording"),
    "seen-before": ("warning", "a text like one of an earlier edition, of the demonstration or of the practice texts"),
    "repeated-unit": ("warning", "an author, topic, source, parent or prompt behind several documents"),
    "short-texts": ("warning", "an arm of which a tenth or more is shorter than detectors ask for"),
    "length-contrast": ("warning", "arms that length alone tells apart"),
    "format-contrast": ("warning", "arms that matters of format alone tell apart"),
    "topic-contrast": ("warning", "arms that topic words alone tell apart"),
    "other-language": ("warning", "a text that reads as another language than it is said to be in"),
    "bom": ("warning", "a byte order mark"),
    "carriage-return": ("warning", "carriage returns"),
    "control-character": ("warning", "control characters and line separators"),
    "private-use": ("warning", "private-use characters"),
    "unassigned": ("warning", "code points without a character"),
    "replacement-character": ("warning", "U+FFFD: a character was lost"),
    "ligature": ("warning", "ligatures, as conversions from PDF leave them"),
    "hidden-marks": ("warning", "characters that no reader sees, where no script and no emoji needs them"),
    "zero-width": ("warning", "characters without width"),
    "bidi-control": ("warning", "characters that turn the direction of writing"),
    "no-break-space": ("warning", "no-break spaces"),
    "not-nfc": ("warning", "a text that is not in Unicode's form NFC"),
    "mixed-scripts": ("warning", "letters of two scripts that look alike in one word"),
    "mojibake": ("warning", "UTF-8 that was once read as something else"),
    "repeated-paragraph": ("warning", "a paragraph, or the whole text, twice"),
    "markup": ("warning", "HTML, Markdown or wiki marks"),
    "boilerplate": ("warning", "words of a web page around a text"),
    "placeholder": ("warning", "marks that stand for something else"),
    "chat-residue": ("warning", "words or tokens of a chat interface; in texts of models thoughts and turns, too"),
    "prompt-echo": ("warning", "words of the prompt in the text that it asked for"),
    "refusal": ("warning", "what reads like a refusal"),
    "error-text": ("warning", "an error message in place of a text"),
    "cut-off": ("warning", "a text without a final mark, or one that its model did not finish"),
    "contact-details": ("warning", "an address, a telephone number or an account in a text to be published"),
    "personal-name": ("warning", "what looks like names of persons in texts to be published"),
    "unpromised-arm": ("warning", "a folder of documents that belongs to no arm"),
    "unknown-rule": ("warning", "a name under `screening` in the protocol that is no rule"),
    "not-screened": ("warning", "what was not looked for, since a package is missing or is another version"),
    # what a reader should know
    "profile": ("note", "what the public texts of an arm are like in length and format"),
}
"""Every rule: how grave it is unless the protocol makes it graver, and what it finds."""
