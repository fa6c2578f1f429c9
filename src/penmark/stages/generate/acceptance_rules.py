"""Gates: why a text that a model wrote is not taken.

*Reads* and *writes* nothing. *Never*: judges how well a text is written; takes the wording of a refusal for one (a letter
may begin so: screening marks it, and a person decides); looks at what any detector would say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from penmark.plugins import Written
from penmark.records import Gate, Words
from penmark.text import count_words, fold_white_space, list_words
from penmark.text.chats import residues

MAX_ERROR = 40
"""Words: a longer text is none of the messages that programs show in place of one."""
RESIDUE, THEME = 6, 2
"""So many words of the prompt in a row, at most so many of them of the topic, are a residue of it."""
LENGTH = 4
"""So many words in a row that tell the length asked for ("in about 640 words") are one as well."""
SIGNED = 5
"""Words of a last line, at most, that needs no final mark: a signature, a place and a date."""
_ERROR = re.compile(
    r"(?:\[?error\b|network error|internal server error|service (?:is )?(?:temporarily )?unavailable|bad gateway"
    r"|gateway time-?out|too many requests|rate limit|request timed out|connection (?:error|reset|refused)"
    r"|an? (?:unexpected |unknown )?error (?:has )?occurred|something went wrong"
    r"|(?:undefined|null|none|nan|\[object object\])\W*$|\{\s*\"(?:error|detail|message)\"|<!doctype html|<html)",
    re.IGNORECASE,
)
_CLOSING = "\"'”’»›)]}*_`"
_FINAL = ".!?…。！？؟।:;"
_BARE = re.compile(r"[^\w]+")


class RejectionReason(NamedTuple):
    """A gate that a text did not pass, and why."""

    gate: Gate
    because: str


def judge_text(
    written: Written, prompt: str, topic: str, limits: Words | None, gates: tuple[Gate, ...]
) -> list[RejectionReason]:
    """Every gate among ``gates`` that what was written does not pass, in their order."""
    found: dict[Gate, RejectionReason] = {}
    for remark in _find_remarks(written, prompt, topic, limits):
        found.setdefault(remark.gate, remark)
    if written.text is None and not found:
        found["empty"] = RejectionReason("empty", written.remark or "no text")
    # Without a text there is nothing to take, whatever the protocol says about gates.
    return [found[gate] for gate in found if gate in gates or written.text is None]


def _find_remarks(written: Written, prompt: str, topic: str, limits: Words | None) -> Iterator[RejectionReason]:
    if written.refused:
        yield RejectionReason("refused", written.remark or f"finish reason {written.finish_reason}")
    text = written.text
    if text is None or count_words(text) == 0:
        if not written.refused:
            yield RejectionReason("empty", written.remark or "no word")
        return
    if written.cut:
        yield RejectionReason("cut off", _describe_finish(written))
    elif not has_end(text):
        yield RejectionReason("cut off", "ends without a final mark")
    if is_error_message(text):
        yield RejectionReason("error message", "reads like an error message")
    if (run := find_prompt_residue(text, prompt, topic)) is not None:
        yield RejectionReason("prompt residue", f"repeats the prompt: {run}")
    if left := "; ".join(residues(text)):
        yield RejectionReason("chat residue", left)
    count = count_words(text)
    if limits is not None and not limits.minimum <= count <= limits.maximum:
        yield RejectionReason("word limits", f"{count} words, not {limits.minimum} to {limits.maximum}")


def _describe_finish(written: Written) -> str:
    return "no finish reason" if written.finish_reason is None else f"finish reason {written.finish_reason}"


def has_end(text: str) -> bool:
    """Whether a text has an end: a final mark, or a short last line after one (a signature)."""
    lines = [line.strip().rstrip(_CLOSING).rstrip() for line in text.splitlines()]
    lines = [line for line in lines if line != ""]
    if not lines:
        return False
    if lines[-1][-1] in _FINAL:
        return True
    return len(lines) > 1 and count_words(lines[-1]) <= SIGNED and lines[-2][-1] in _FINAL + ","


def is_error_message(text: str) -> bool:
    """Whether a text is what a program shows in place of one."""
    folded = fold_white_space(text)
    return _ERROR.match(folded) is not None and count_words(folded) <= MAX_ERROR


def find_prompt_residue(text: str, prompt: str, topic: str) -> str | None:
    """Words of the prompt that stand in a row in the text, if there are, most of them not of the topic; or its length."""
    asked, about, own = _list_bare_words(prompt), _list_bare_words(topic), _list_bare_words(text)
    at = next((n for n in range(len(asked)) if about and asked[n : n + len(about)] == about), len(asked))
    given = [at <= n < at + len(about) for n in range(len(asked))]
    for size, most in ((min(RESIDUE, len(asked)), THEME), (LENGTH, 0)):
        runs = {
            tuple(asked[n : n + size])
            for n in range(len(asked) - size + 1)
            if sum(given[n : n + size]) <= most and (size > LENGTH or any(w.isdigit() for w in asked[n : n + size]))
        }
        found = (run for n in range(len(own) - size + 1) if (run := tuple(own[n : n + size])) in runs)
        if (first := next(found, None)) is not None:
            return " ".join(first)
    return None


def _list_bare_words(text: str) -> list[str]:
    """The words in lower case, without punctuation."""
    return [bare for word in list_words(text) if (bare := _BARE.sub("", word.casefold())) != ""]
