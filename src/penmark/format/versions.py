"""The numbers under which bundles are written: that of the format, and that of a release's rules.

**Format**: what files hold and what must follow from what (docs/format.md). An edition keeps the number of its promise, in
``format``, ``protocol.json`` and every seal. Each format that was ever written stays verifiable.
**Rules**: what a release says beyond the format: remarks on answers, warnings, the words of page and README, the cards that
ship. Seals and start lines hold the number of the release that wrote them; equal numbers, equal words, whatever the release
is called.

*Reads* the first bytes of ``format``. *Writes* nothing. *Never* guesses at a format that this release does not know.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path

from penmark.errors import UsageError

WRITES = 2
"""The format of editions that are promised from now on."""
READS = (1, 2)
"""The formats that this release verifies, oldest first."""
RULES = 2
"""The rules of this release. Raise it with any change of remarks, warnings, words of page or README, or shipped cards."""
BEFORE = {"penmark 0.1.0": 1}
"""The rules of releases whose seals and start lines name no number (those of format 1)."""
_NUMBER = re.compile(rb"([1-9][0-9]{0,8})\n")


def find_format(bundle: Path) -> int | None:
    """The number in the file ``format`` of a bundle; None where there is none: check 1 says so."""
    path = bundle / "format"
    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # a named pipe would never answer
            return None
        with path.open("rb") as file:
            match = _NUMBER.fullmatch(file.read(16))
    except OSError:
        return None
    return None if match is None else int(match[1])


def refuse_newer(bundle: Path) -> None:
    """Raises UsageError for a bundle of a format that came after this release."""
    number = find_format(bundle)
    if number is not None and number > READS[-1]:
        fact = f"is of format {number}; this release knows {describe_known()}: use a newer release"
        raise UsageError(fact, place=str(bundle))


def describe_known() -> str:
    """The formats that this release knows, in words: ``1 and 2``."""
    *others, last = map(str, READS)
    return f"{', '.join(others)} and {last}" if others else last


def rules_written(number: int) -> int | None:
    """The number of rules that seals and start lines of an edition of that format hold."""
    return None if number == 1 else RULES


def rules_of(software: str, rules: int | None) -> int | None:
    """The number of the rules by which a seal or a start line was written; None where nobody here knows it."""
    return rules if rules is not None else BEFORE.get(software)
