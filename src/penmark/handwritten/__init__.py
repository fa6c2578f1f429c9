"""YAML files that people write (protocols, cards), read into records with every fault in one pass.

*Reads* YAML 1.2, of which only what a reader needs: mappings, lists, scalars. Every scalar is a string until the record
types it: ``0.399`` keeps its digits and ``no`` stays a word. An empty plain scalar, ``~`` and ``null`` mean nothing.
*Writes* nothing; ``emit`` and ``replaced`` return text.
*Never*: anchors, aliases, tags, directives, a key twice, a key that the record does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from penmark import study
from penmark.errors import Fault, FaultsError, PenmarkError
from penmark.handwritten.nodes import Loc, Node, at, compose
from penmark.handwritten.typed import Further, Remark, Sheet

__all__ = ["Further", "Loc", "Remark", "emit", "parse", "read", "replaced", "scalar", "scalars"]

MAX_FILE = 2**18
"""A file that a person writes is not larger than this (bytes)."""

M = TypeVar("M", bound=BaseModel)
NOTHING: Further = {}


def read(path: Path, model: type[M], further: Further = NOTHING) -> M:
    """The record written in ``path``. ``further``: what else is asked of records of a type, wherever they stand.

    Raises FaultsError with every fault at its line, in the order of lines; PenmarkError where nothing can be read.
    """
    return parse(study.read(path, limit=MAX_FILE), str(path), model, further)


def parse(data: bytes, place: str, model: type[M], further: Further = NOTHING) -> M:
    """The record written in ``data``; faults name ``place``. Raises as ``read``."""
    sheet = Sheet(place, *compose(_text(data, place), place), further)
    record = sheet.record(model)
    if record is None or sheet.faults:
        raise FaultsError(sorted(sheet.faults, key=_line))
    return record


def replaced(path: Path, values: Mapping[Loc, str]) -> str:
    """The text of ``path`` with other scalars at these places; every other character stays, comments too.

    Raises PenmarkError where the file has no scalar at one of them.
    """
    text = _text(study.read(path, limit=MAX_FILE), str(path))
    root, faults = compose(text, str(path))
    if faults:
        raise FaultsError(faults)
    spans = []
    for loc, value in values.items():
        node = at(root, loc)
        if node is None or isinstance(node.value, list | dict):
            name = ".".join(str(part) for part in loc)
            raise PenmarkError(f"{name} is missing", place=str(path), remedy="Write it, then run the command again.")
        spans.append((node.span, value))
    for (start, end), value in sorted(spans, reverse=True):
        # The span of a block scalar holds its line end.
        text = text[:start] + scalar(value) + ("\n" if text[start:end].endswith("\n") else "") + text[end:]
    return text


def scalars(path: Path) -> Iterator[tuple[int, str]]:
    """Line (from 1) and text of every key and every value of a file, in its order. Raises as ``read``."""
    root, _ = compose(_text(study.read(path, limit=MAX_FILE), str(path)), str(path))
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        match node.value:
            case str() as text:
                yield node.line, text
            case list() as items:
                waiting += reversed(items)
            case dict() as held:
                yield from ((value.line, key) for key, value in held.items())
                waiting += reversed(held.values())


def _text(data: bytes, place: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PenmarkError("is not UTF-8", place=f"{place}:{line}", remedy="Save the file as UTF-8.") from None
    if not text.strip():
        raise PenmarkError(
            "is empty", place=f"{place}:1", remedy="Restore the file, or start anew with `penmark init`."
        )
    return text


def _line(fault: Fault) -> int:
    return int((fault.place or "").rpartition(":")[2] or 0)


# --- writing -------------------------------------------------------------------------------------------------------

_PLAIN = re.compile(r"[A-Za-z0-9<](?:[A-Za-z0-9 ._/()<>%+-]*[A-Za-z0-9._/()<>%+-])?")
_NOTHING = ("null", "Null", "NULL")


def scalar(value: str) -> str:
    """A string as a YAML scalar that reads back as just that string; quoted only where it must be."""
    if _PLAIN.fullmatch(value) and value not in _NOTHING:
        return value
    return '"' + "".join(_escaped(c) for c in value) + '"'


def emit(value: Mapping[str, Any], indent: int = 0) -> str:
    """JSON values (strings, whole numbers, true, false, null, lists, mappings) as block YAML that reads back."""
    pad = "  " * indent
    return "".join(f"{pad}{scalar(key)}:{_value(item, indent)}" for key, item in value.items())


def _value(item: Any, indent: int) -> str:
    match item:
        case Mapping() if item:
            return "\n" + emit(item, indent + 1)
        case list() | tuple() if item:
            return "\n" + "".join(_item(each, indent + 1) for each in item)
    return f" {_flat(item)}\n"


def _item(each: Any, indent: int) -> str:
    pad = "  " * indent
    if isinstance(each, Mapping) and each:
        return f"{pad}- {emit(each, indent + 1).lstrip(' ')}"
    return f"{pad}- {_flat(each)}\n"


def _flat(item: Any) -> str:
    match item:
        case None:
            return "null"
        case bool():
            return "true" if item else "false"
        case int():
            return str(item)
        case str():
            return scalar(item)
        case Mapping() | list() | tuple() if not item:
            return "{}" if isinstance(item, Mapping) else "[]"
    raise TypeError(f"{type(item).__name__} has no place in a file for people")


def _escaped(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c.isprintable():
        return c
    code = ord(c)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
