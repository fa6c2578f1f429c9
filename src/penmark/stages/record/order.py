"""Answers without ids: a file says in which order the texts were given, and what an answer tells of its text is held to it.

*Reads* that file, the frozen documents of an arm and their texts. *Writes* nothing. *Never* presumes an order: that of ids,
of the manifest and of a spreadsheet are three.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from penmark import study
from penmark.corpus.sealed_edition import Documents, Texts
from penmark.errors import Fault, FaultsError, PenmarkError
from penmark.format import canonical_json
from penmark.stages.record import answer_rows as files
from penmark.stages.record.answer_rows import AnswerRow

_NAMES = ("id", "document", "document_id", "name")
_LENGTHS = frozenset({"length", "characters", "chars", "char_count", "character_count", "text_length"})
_WORDS = frozenset({"words", "word_count", "wordcount"})
_BEGINNING = 60
"""So many characters, white space left out, tell one text from another."""
REMEDY = (
    "Name the file in whose order the texts were given: --order FILE, the table, list or JSON that has their ids or the texts "
    "themselves (or a .txt with an id in each line)."
)


class Order:
    """The documents of an arm as a file names them, one a row. ``positions``: in the manifest."""

    def __init__(self, path: Path, documents: Documents, texts: Texts, arm: str) -> None:
        self._documents = documents
        self._arm = documents.positions(arm)
        self._texts = {at: _remove_white_space(texts.text(at)) for at in self._arm}
        self._counts = {at: (len(text), len(text.split())) for at in self._arm for text in [texts.text(at)]}
        self._known: dict[str, list[int]] = {}
        for at, bare in self._texts.items():
            for key in {_digest_text(bare), _make_beginning_key(bare)} - {None}:
                self._known.setdefault(str(key), []).append(at)
        self.positions = self._read(path, arm)

    def _read(self, path: Path, arm: str) -> list[int]:
        found: dict[int, str] = {}
        faults: list[Fault] = []
        for place, value in _read_entries(path):
            at = self._named(value, found)
            if at is None:
                fact = f"names no document of the arm {arm}, by its id or its text"
                faults.append(Fault(place, fact, "It has one row for each answer, in the order of the answers."))
            elif at in found:
                faults.append(Fault(place, f"names {self._documents.ids[at]} again; the first time is {found[at]}"))
            else:
                found[at] = place
        if faults:
            raise FaultsError(faults[:20])
        return list(found)

    def _named(self, value: dict[str, Any], taken: dict[int, str]) -> int | None:
        """The document that a row names. Of several with one text, the next: their answers are about the same."""
        for name in _NAMES:
            at = self._documents.position(value[name]) if isinstance(value.get(name), str) else None
            if at is not None and at in self._texts:
                return at
        alike = [
            at for said in _list_strings(value) for at in self._known.get(_digest_text(_remove_white_space(said)), ())
        ]
        return next((at for at in alike if at not in taken), alike[0] if alike else None)

    def faults(self, rows: Sequence[AnswerRow]) -> Iterator[Fault]:
        """What in the rows, which stand in this order, tells of another document. Nothing for rows that cannot be read."""
        values = [_parse_row(row) for row in rows]
        for row, at, value in zip(rows, self.positions, values, strict=True):
            other = self._describe_mismatch(value, at)
            if other is not None:
                yield Fault(row.place, f"stands where {self._documents.ids[at]} does, and {other}", _AGAIN)
        for name in sorted({name for value in values for name in value if name.lower() in _LENGTHS | _WORDS}):
            told = [value.get(name) for value in values]
            own = [str(self._counts[at][name.lower() in _WORDS]) for at in self.positions]
            if told != own and sorted(map(str, told)) == sorted(own):
                wrong = next(number for number, (one, two) in enumerate(zip(told, own, strict=True)) if one != two)
                document = self._documents.ids[self.positions[wrong]]
                fact = f"says {name} {told[wrong]} where {document} stands, which has {own[wrong]}; others have them"
                yield Fault(rows[wrong].place, fact, _AGAIN)

    def _describe_mismatch(self, value: dict[str, Any], at: int) -> str | None:
        for name in _NAMES:
            said = value.get(name)
            there = self._documents.position(said) if isinstance(said, str) else None
            if there is not None and there != at and there in self._texts:
                return f"its {name} is {said}"
        for said in _list_strings(value):
            bare = _remove_white_space(said)
            for key in (_digest_text(bare), _make_beginning_key(bare)):
                known = self._known.get(key, []) if key is not None else []
                if known and at not in known:
                    return f"quotes the text of {self._documents.ids[known[0]]}"
        return None


_AGAIN = "The order is another: look which file has that in which the texts were given. Nothing was recorded."


def _read_entries(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix.lower() == ".txt":
        for number, line in enumerate(study.read_bytes(path).decode("utf-8-sig", "replace").splitlines(), 1):
            if line.strip():
                yield f"{path}:{number}", {"id": line.strip()}
        return
    for row in files.read_answer_rows(path):
        yield row.place, _parse_row(row)


def _parse_row(row: AnswerRow) -> dict[str, Any]:
    """The row, a number being its characters."""
    try:
        value = json.loads(row.body, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        raise PenmarkError("is not JSON that can be read", place=row.place) from None
    return value if isinstance(value, dict) else {}


def _list_strings(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict | list):
            left += part.values() if isinstance(part, dict) else part


def _remove_white_space(text: str) -> str:
    return "".join(text.split())


def _digest_text(bare: str) -> str:
    return canonical_json.sha256(bare.encode("utf-8", "replace"))


def _make_beginning_key(bare: str) -> str | None:
    return f"begins {bare[:_BEGINNING]}" if len(bare) >= _BEGINNING else None
