"""``study.yaml``, which makes a folder a study: one line ``study: NAME`` beside remarks.

*Reads* that file. *Writes* nothing. *Never* takes it for more than a mark: what is promised stands in the protocols.
"""

from __future__ import annotations

from pathlib import Path

from penmark.errors import Fault, FaultsError, PenmarkError, suggest_name
from penmark.study.files import read_bytes

_LONGEST = 2**16
_KEY = "study"
_WRITE = f"Write one line, `{_KEY}: NAME`, and nothing else but remarks, which begin with #."


def check_study_marker(path: Path) -> None:
    """Raises FaultsError with every fault of the file at its line; PenmarkError where it cannot be read."""
    data = read_bytes(path, limit=_LONGEST)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        raise PenmarkError("is not UTF-8", place=f"{path}:{at}", remedy="Save the file as UTF-8.") from None
    faults: list[Fault] = []
    first: int | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() == "" or line.lstrip().startswith("#"):
            continue
        key, colon, value = line.rstrip().partition(":")
        said = value.partition(" #")[0].strip()
        if not colon or line != line.lstrip() or (value and not value.startswith(" ")):
            fact = "is no line of the form `key: value`"
        elif key != _KEY:
            fact = f"unknown key {key[:60]!r}{suggest_name(key, [_KEY])}"
        elif first is not None:
            fact = f"the key `{_KEY}` stands twice (first in line {first})"
        else:
            first = number
            fact = "" if said not in ("", "~", "null", '""', "''") else f"{_KEY}: is empty"
        faults += [Fault(f"{path}:{number}", fact, _WRITE)] if fact else []
    if first is None and not faults:
        faults = [Fault(f"{path}:1", f"has no line `{_KEY}: NAME`", _WRITE)]
    if faults:
        raise FaultsError(faults)
