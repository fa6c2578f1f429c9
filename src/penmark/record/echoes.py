"""What an answer says of the text that it was given, wherever it says it: the text twice, its beginning, other spaces.

*Reads* rows and texts. *Writes* nothing. *Never* changes a state: what the card compares decides; this is told beside it.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

MIN_CHARACTERS = 60
"""A shorter string says nothing about a text."""
MAX_TIMES = 9
SHARED = 40
"""So many first characters in common: a string that was once the text."""


class Echoes:
    """Counts, over the rows of a file, the strings that are the text in another form, by pointer.

    ``judged``: the pointer that the card itself compares, whose differences have a state of their own.
    """

    def __init__(self, judged: str | None = None) -> None:
        self._judged, self._rows, self._found = judged, 0, Counter[tuple[str, str]]()

    def see(self, body: bytes, text: str) -> None:
        """Look at the strings of one answer about ``text``; those inside lists are pieces, and are left out."""
        self._rows += 1
        folded = " ".join(text.split())
        if len(folded) < MIN_CHARACTERS:
            return
        for pointer, string in _strings(json.loads(body)):
            form = None if pointer == self._judged else _form(string, text, folded)
            if form is not None:
                self._found[pointer, form] += 1

    def told(self) -> list[str]:
        """One sentence for each place and form."""
        return [
            f"{count} of {self._rows} answers hold {form} at {pointer}"
            for (pointer, form), count in sorted(self._found.items())
        ]


def _form(string: str, text: str, folded: str) -> str | None:
    """What ``string`` is of ``text``, where it is neither the text itself nor something else."""
    if string == text or len(string) < MIN_CHARACTERS:
        return None
    given = " ".join(string.split())
    if given == folded:
        return "the text with other white space"
    if given[:SHARED] != folded[:SHARED]:
        return None
    for times in range(2, MAX_TIMES + 1):
        if len(given) == times * (len(folded) + 1) - 1 and given == " ".join([folded] * times):
            return f"the text {times} times"
    if folded.startswith(given):
        return "the beginning of the text"
    return "the text in another form"


def _strings(value: Any) -> list[tuple[str, str]]:
    """Pointer and string for each string of a row that stands in objects only."""
    found: list[tuple[str, str]] = []
    left: list[tuple[str, Any]] = [("", value)]
    while left:
        pointer, here = left.pop()
        if isinstance(here, str):
            found.append((pointer, here))
        elif isinstance(here, dict):
            left += [(f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", item) for key, item in here.items()]
    return found
