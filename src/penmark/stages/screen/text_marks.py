"""What a text by itself shows: characters, debris, repetition, a missing end.

*Reads* and *writes* nothing. *Never* repairs. Everything takes time linear in the text. What reads like a refusal or a
chat may be a letter: such findings are marked for a person.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from penmark.records import Truth
from penmark.stages.screen.language import load_tools
from penmark.text import fold_white_space
from penmark.text.chats import residues, tokens
from penmark.text.hidden import hidden


class TextMark(NamedTuple):
    """A rule, the fact, and what to do about it."""

    rule: str
    message: str
    remedy: str


_STAY = "Texts are not repaired: take a better copy, or let the finding stand."
_MARKED = "A detector can read them: take a copy without them, or say in `filled` why the text has them. They are not taken out."
_PERSON = "A person reads it and decides by the protocol's rule; texts are not edited."

_CLASSES = {
    "\r": "carriage-return",
    "\0": "nul",
    "\ufffd": "replacement-character",
    **dict.fromkeys(map(chr, range(0xFB00, 0xFB07)), "ligature"),
    **dict.fromkeys("\u00ad\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff", "zero-width"),
    **dict.fromkeys("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", "bidi-control"),
    **dict.fromkeys("\u00a0\u2007\u202f", "no-break-space"),
    **dict.fromkeys("\u2028\u2029", "control-character"),
    **dict.fromkeys("\t\n", ""),
}
_CATEGORIES = {"Cc": "control-character", "Co": "private-use", "Cn": "unassigned", "Cs": "unassigned"}


@functools.lru_cache(maxsize=8192)
def _find_character_class(character: str) -> str:
    known = _CLASSES.get(character)
    return known if known is not None else _CATEGORIES.get(unicodedata.category(character), "")


def find_text_marks(text: str, truth: Truth) -> Iterator[TextMark]:
    """Everything that a text of an arm of that truth shows by itself."""
    yield from find_odd_characters(text)
    yield from _check_debris(text, truth)
    yield from _check_repetition(text)
    if truth != "human":
        yield from _check_chat(text)
    if not _has_ending(text):
        yield TextMark("cut-off", "ends without a final mark", _PERSON)


def find_odd_characters(text: str) -> Iterator[TextMark]:
    """Characters that people do not type, or that show a conversion."""
    odd: dict[str, Counter[str]] = {}
    for character in set(text):
        rule = _find_character_class(character)
        if rule:
            odd.setdefault(rule, Counter())[character] = text.count(character)
    if text.startswith("\ufeff"):
        yield TextMark("bom", "begins with a byte order mark", _STAY)
        odd["zero-width"]["\ufeff"] -= 1
    for rule, counts in sorted(odd.items()):
        if rule == "carriage-return":
            lone = text.count("\r") - text.count("\r\n")
            yield TextMark(
                rule, f"carriage returns {_format_times(counts.total())}, {lone} of them without a line feed", _STAY
            )
        elif counts.total():
            listed = ", ".join(f"U+{ord(c):04X} {_format_times(n)}" for c, n in sorted(counts.items()) if n)
            yield TextMark(rule, f"holds {listed}", _STAY)
    marks = [
        f"{each.kind} {_format_times(each.number)}{f' ({each.says})' if each.says else ''}" for each in hidden(text)
    ]
    if marks:
        yield TextMark("hidden-marks", f"holds what no reader sees: {', '.join(marks)}", _MARKED)
    if text.isascii():
        return
    if not unicodedata.is_normalized("NFC", text):
        yield TextMark("not-nfc", "is not in Unicode's form NFC; its canonical digest is of another form", _STAY)
    mixed = [name for name, pattern in _MIXED.items() if pattern.search(text) is not None]
    if mixed:
        yield TextMark("mixed-scripts", f"Latin and {' and '.join(mixed)} letters stand in one word", _STAY)
    known = load_tools().broken
    broken = max(len(_MOJIBAKE.findall(text)), 0 if known is None else known(text))
    if broken:
        yield TextMark("mojibake", f"looks {_format_times(broken)} like UTF-8 that was read in another encoding", _STAY)


# Of Greek letters only those that look Latin: a μ, a β or a Δ before a unit or a noun is no disguise.
_GREEK = (
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5"
)
_MIXED = {
    "Cyrillic": re.compile("[A-Za-z][\u0400-\u04ff]|[\u0400-\u04ff][A-Za-z]"),
    "Greek": re.compile(f"[A-Za-z]{{2}}[{_GREEK}]|[{_GREEK}][A-Za-z]{{2}}|[A-Za-z][{_GREEK}][A-Za-z]"),
    "Armenian": re.compile("[A-Za-z][\u0530-\u058f]|[\u0530-\u058f][A-Za-z]"),
}
_MOJIBAKE = re.compile("[\u00c2\u00c3][\u0080-\u00bf]|\u00e2[\u0080-\u009f\u20ac]")

_DEBRIS = {
    "chat-residue": re.compile(
        r"\bas an? (?:ai|artificial intelligence|large)(?: language)? model\b|\bmy (?:knowledge|training) cut-?off\b"
        r"|:contentReference\[|\bturn\d+search\d+",
        re.IGNORECASE,
    ),
    "markup": re.compile(
        r"</?(?:p|br|div|span|a|b|i|em|strong|ul|ol|li|h[1-6]|table|script|img)\b[^<>]{0,200}>|&(?:nbsp|amp|lt|gt|quot);"
        r"|^#{1,6} \S|\*\*[^*\n]{1,200}\*\*|^```|\[[^\[\]\n]{1,80}\]\(https?:|<!--|\[\[[^\[\]\n]{1,200}\]\]"
        r"|\{\{[^{}\n]{1,200}\}\}|^={2,5} ?[^=\n]{1,80}={2,5}$|^\|.{0,200}\|[ \t]*$|^[ \t]*(?:[-*_] ?){3,20}[ \t]*$|&#\d{2,5};"
        r"|\\(?:textbf|emph|cite|section|begin)\{",
        re.IGNORECASE | re.MULTILINE,
    ),
    "boilerplate": re.compile(
        r"\b(?:we|this (?:web)?site) uses? cookies\b|\baccept (?:all )?cookies\b|\bcookie policy\b"
        r"|\bskip to (?:main )?content\b|\bsubscribe to our newsletter\b|\ball rights reserved\b",
        re.IGNORECASE,
    ),
    "placeholder": re.compile(
        r"\[(?:your|insert|name|date|company|address|recipient|my)\b[^\[\]\n]{0,40}\]|(?-i:@[A-Z]{3,12}\d+)",
        re.IGNORECASE,
    ),
}
# Without any of these a pattern cannot match: most texts are spared the search.
_HINTS = {
    "chat-residue": (" model", "cutoff", "cut-off", ":contentreference", "search"),
    "markup": ("<", "&", "#", "**", "`" * 3, "](", "[[", "{{", "==", "|", "---", "***", "___", "- - ", "* * ", "\\"),
    "boilerplate": ("cookie", "content", "newsletter", "rights reserved"),
    "placeholder": ("[", "@"),
}
_FOUND = {
    "chat-residue": "words or tokens of a chat interface",
    "markup": "HTML, Markdown or wiki marks",
    "boilerplate": "words that web pages put around a text",
    "placeholder": "marks that stand for something else",
}
_OPENING = re.compile(
    r"\s*(?:(?:sure|certainly|of course|absolutely)[,!.]\s|here(?:'s|’s| is) (?:a|an|the|your)\b|topic:\s)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\bI(?:'m|’m| am) (?:sorry|unable to|not able to|afraid I can)\b|\bI (?:must|have to) (?:decline|refuse)\b"
    r"|\bI (?:can't|can’t|cannot|can not|won't|won’t) (?:help|assist|fulfil|provide|write|comply|do that|create|generate)",
    re.IGNORECASE,
)
_RUN, _START = 8, 400
_PLAIN = re.compile(r"[^\W_]+")
_ERROR = re.compile(
    r"(?:network error|internal server error|service unavailable|bad gateway|gateway time-?out|too many requests"
    r"|rate limit (?:reached|exceeded)|an error occurred|something went wrong|undefined|null|none|nan)\b.{0,120}",
    re.IGNORECASE,
)


def _check_debris(text: str, truth: Truth) -> Iterator[TextMark]:
    lowered = text.lower()
    for rule, pattern in _DEBRIS.items():
        count = len(pattern.findall(text)) if any(hint in lowered for hint in _HINTS[rule]) else 0
        if count:
            yield TextMark(
                rule, f"{_FOUND[rule]}, {_format_times(count)}", _PERSON if rule == "chat-residue" else _STAY
            )
    if truth == "human" and (count := tokens(text)):
        yield TextMark("chat-residue", f"special tokens of a model, {_format_times(count)}", _PERSON)
    if truth != "human" and len(text) < 200 and _ERROR.fullmatch(fold_white_space(text)) is not None:
        yield TextMark("error-text", "reads like an error message", _PERSON)


def _check_chat(text: str) -> Iterator[TextMark]:
    left = list(residues(text))
    if left:
        yield TextMark("chat-residue", f"holds what a chat leaves: {'; '.join(left)}", _PERSON)
    elif _OPENING.match(text) is not None:
        yield TextMark("chat-residue", "begins like an answer in a chat", _PERSON)
    if _REFUSAL.search(text, 0, 400) is not None:
        yield TextMark("refusal", "reads like a refusal near its beginning; it may be a letter", _PERSON)


def find_prompt_echo(text: str, prompt: str) -> Iterator[TextMark]:
    """Eight words in a row of the prompt's beginning, or all of a shorter one, at the beginning of the text."""
    asked, said = (_PLAIN.findall(each[:_START].lower()) for each in (prompt, text))
    run = min(_RUN, len(asked))
    if run < 3:
        return
    known = set(zip(*(asked[i:] for i in range(run)), strict=False))
    if any(words in known for words in zip(*(said[i:] for i in range(run)), strict=False)):
        yield TextMark("prompt-echo", f"begins with {run} words in a row of its prompt", _PERSON)


def _check_repetition(text: str) -> Iterator[TextMark]:
    folded = fold_white_space(text)
    half = len(folded) // 2
    if half >= 40 and folded[:half] == folded[half + 1 :]:
        yield TextMark("repeated-paragraph", "the whole text stands there twice", _STAY)
        return
    parts = text.split("\n")
    counts = Counter(part for part in map(fold_white_space, parts) if len(part) >= 40) if len(parts) > 1 else Counter()
    again = sum(n - 1 for n in counts.values())
    if again:
        yield TextMark("repeated-paragraph", f"a paragraph that stands there already, {_format_times(again)}", _STAY)


_CLOSING = "\"'”’»›)]}*_"
_FINAL = ".!?…。！？؟।:;"


def _format_times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _has_ending(text: str) -> bool:
    end = text.rstrip().rstrip(_CLOSING).rstrip()
    return end == "" or end[-1] in _FINAL
