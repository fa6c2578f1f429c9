"""The word rule, and what follows from it: counts and edits. Sentences are in ``sentences`` and ``alignment``.

Words (docs/format.md, 1) are maximal runs of characters that are neither white space nor a dash between letters, and that
hold at least one letter or digit. That is all of the rule "penmark-1". By "penmark-2" each letter or digit of a script that is
written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) is a word by itself, with what follows it and is none:
who writes in these counts characters, and a text in two scripts needs no label. Elsewhere both rules give the same words.
Counting takes time linear in the text.
*Reads* and *writes* nothing. *Never* changes a text that is scanned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD_RULE = "penmark-2"
"""The name of the rule, as it stands in protocol and manifest from format 2 on."""
SPACED = "penmark-1"
"""The rule of format 1, for which spaces alone make words."""
MOST_A_WORD = 40
"""Characters a word, on average, at most: a text with more is in a script that no rule here can count."""
_LONG = 400
"""Characters of a text that is said to be uncountable, at least: one address is no language."""

MOST_EDITED = 20_000
"""Words of a text that was edited, and of its draft, at most: counting what was changed takes the square of them."""
# Unicode's White_Space property. `str.split` and `\s` also take U+001C to U+001F, which do not have it.
_SPACE = "\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3040-\u30ff\u3105-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f"
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
"""Thai and Lao, Burmese, Khmer, Japanese and Chinese: in which no space stands between words."""
_SEPARATORS = "\x1c\x1d\x1e\x1f"
_SPACES = re.compile(f"[{_SPACE}]+")
_RUN = re.compile(f"[^{_SPACE}]+")
_ALNUM = re.compile(r"[^\W_]")  # exactly the characters for which str.isalnum holds
# From the first letter or digit of a run to its end: one match for each run that holds one, and none is read twice.
_WORD = re.compile(rf"[^\W_][^{_SPACE}]*")
_ALONE = rf"(?=[^\W_])[{_UNSPACED}]"
_UNIT = re.compile(rf"{_ALONE}(?:(?![^\W_]).)*|(?:(?!{_ALONE}).)+")
"""Parts of a run that holds such letters: one of them and what is no letter or digit behind it, or what stands between."""
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_NEITHER = bytes(code for code in range(128) if not chr(code).isalnum() and chr(code) not in "\t\n\v\f\r ")
_CLASSES = bytes(ord("a" if chr(code).isalnum() else " ") for code in range(128)) + bytes(128)
_DASH = re.compile(r"(?<=[^\W_])[\u2013\u2014](?=[^\W_])")


def rule_of(format_number: int) -> str:
    """The word rule of editions of a format."""
    return SPACED if format_number == 1 else WORD_RULE


def countable(text: str, count: int) -> bool:
    """Whether a text of so many words is one whose words the rule can tell apart."""
    return len(text) < _LONG or len(text) <= MOST_A_WORD * count


def count_words(text: str, rule: str = WORD_RULE) -> int:
    """The number of words."""
    if text.isascii():  # what is neither letter, digit nor white space taken away, the runs that are left are words
        return (b" " + text.encode().translate(_CLASSES, _NEITHER)).count(b" a")
    if rule != SPACED and _HAS_UNSPACED.search(text) is not None:
        return len(list_words(text, rule))
    return len(_WORD.findall(_replace_dashes(text)))


def list_words(text: str, rule: str = WORD_RULE) -> list[str]:
    """The words, in order, with the punctuation that belongs to their runs."""
    runs = [run for run in _RUN.findall(_replace_dashes(text)) if _ALNUM.search(run) is not None]
    if rule == SPACED or _HAS_UNSPACED.search(text) is None:
        return runs
    return [part for run in runs for part in _UNIT.findall(run) if _ALNUM.search(part) is not None]


def fold_white_space(text: str) -> str:
    """The text with each run of white space made one space, and none at the ends. Used to find look-alikes only."""
    # str.split knows the same white space and four control characters more; it is ten times faster.
    if not any(separator in text for separator in _SEPARATORS):
        return " ".join(text.split())
    return _SPACES.sub(" ", text).strip(" ")


def count_changed_words(before: Sequence[str], after: Sequence[str]) -> int:
    """Words inserted, deleted or replaced in a minimal alignment of two word lists (Levenshtein).

    Bit-parallel: Hyyrö, H. (2003), A bit-vector algorithm for computing Levenshtein and Damerau edit distances,
    Nordic Journal of Computing 10(1): 29-39, with integers as wide as ``before`` is long.
    """
    width = len(before)
    if width == 0 or len(after) == 0:
        return max(width, len(after))
    places: dict[str, int] = {}
    for i, word in enumerate(before):
        places[word] = places.get(word, 0) | 1 << i
    full, last = (1 << width) - 1, 1 << (width - 1)
    up, down, distance = full, 0, width  # where the column's next cell is one more, one less
    for word in after:
        match = places.get(word, 0)
        diagonal = (((match & up) + up) ^ up) | match | down
        more = (down | ~(diagonal | up)) & full
        less = up & diagonal
        distance += (more & last != 0) - (less & last != 0)
        more = more << 1 | 1
        up = (less << 1 | ~(diagonal | more)) & full
        down = more & diagonal & full
    return distance


def _replace_dashes(text: str) -> str:
    """The text with a space for each dash between letters. (``½—a`` is a word: ½ is a number, not a letter.)"""
    return _DASH.sub(_space_between_letters, text) if "\u2014" in text or "\u2013" in text else text


def _space_between_letters(dash: re.Match[str]) -> str:
    text, at = dash.string, dash.start()
    return " " if text[at - 1].isalpha() and text[at + 1].isalpha() else dash[0]
