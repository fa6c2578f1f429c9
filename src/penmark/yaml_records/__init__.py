"""YAML files that people write (protocols, cards), read into records with every fault in one pass.

*Reads* YAML 1.2, of which only what a reader needs: mappings, lists, scalars. Every scalar is a string until the record
types it: ``0.399`` keeps its digits and ``no`` stays a word. An empty plain scalar, ``~`` and ``null`` mean nothing.
*Writes* nothing; ``format_yaml`` and ``replace_scalars`` return text.
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
from penmark.yaml_records.validate import Further, Remark, Sheet
from penmark.yaml_records.yaml_nodes import Loc, Node, compose_nodes, find_node

__all__ = [
    "Further",
    "Loc",
    "Remark",
    "format_scalar",
    "format_yaml",
    "list_scalars",
    "parse_record",
    "read_record",
    "replace_scalars",
]

MAX_FILE = 2**18
"""A file that a person writes is not larger than this (bytes)."""

M = TypeVar("M", bound=BaseModel)
NOTHING: Further = {}


def read_record(path: Path, model: type[M], further: Further = NOTHING) -> M:
    """The record written in ``path``. ``further``: what else is asked of records of a type, wherever they stand.

    Raises FaultsError with every fault at its line, in the order of lines; PenmarkError where nothing can be read.
    """
    return parse_record(study.read_bytes(path, limit=MAX_FILE), str(path), model, further)


def parse_record(data: bytes, place: str, model: type[M], further: Further = NOTHING) -> M:
    """The record written in ``data``; faults name ``place``. Raises as ``read_record``."""
    sheet = Sheet(place, *compose_nodes(_decode_text(data, place), place), further)
    record = sheet.record(model)
    if record is None or sheet.faults:
        raise FaultsError(sorted(sheet.faults, key=_parse_line_number))
    return record


def replace_scalars(path: Path, values: Mapping[Loc, str]) -> str:
    """The text of ``path`` with other scalars at these places; every other character stays, comments too.

    Raises PenmarkError where the file has no scalar at one of them.
    """
    text = _decode_text(study.read_bytes(path, limit=MAX_FILE), str(path))
    root, faults = compose_nodes(text, str(path))
    if faults:
        raise FaultsError(faults)
    spans = []
    for loc, value in values.items():
        node = find_node(root, loc)
        if node is None or isinstance(node.value, list | dict):
            name = ".".join(str(part) for part in loc)
            raise PenmarkError(f"{name} is missing", place=str(path), remedy="Write it, then run the command again.")
        spans.append((node.span, value))
    for (start, end), value in sorted(spans, reverse=True):
        # The span of a block scalar holds its line end.
        text = text[:start] + format_scalar(value) + ("\n" if text[start:end].endswith("\n") else "") + text[end:]
    return text


def list_scalars(path: Path) -> Iterator[tuple[int, str]]:
    """Line (from 1) and text of every key and every value of a file, in its order. Raises as ``read_record``."""
    root, _ = compose_nodes(_decode_text(study.read_bytes(path, limit=MAX_FILE), str(path)), str(path))
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


def _decode_text(data: bytes, place: str) -> str:
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


def _parse_line_number(fault: Fault) -> int:
    return int((fault.place or "").rpartition(":")[2] or 0)


# --- writing -------------------------------------------------------------------------------------------------------

_PLAIN = re.compile(r"[A-Za-z0-9<](?:[A-Za-z0-9 ._/()<>%+-]*[A-Za-z0-9._/()<>%+-])?")
_NOTHING = ("null", "Null", "NULL")


def format_scalar(value: str) -> str:
    """A string as a YAML scalar that reads back as just that string; quoted only where it must be."""
    if _PLAIN.fullmatch(value) and value not in _NOTHING:
        return value
    return '"' + "".join(_escape_character(c) for c in value) + '"'


def format_yaml(value: Mapping[str, Any], indent: int = 0) -> str:
    """JSON values (strings, whole numbers, true, false, null, lists, mappings) as block YAML that reads back."""
    pad = "  " * indent
    return "".join(f"{pad}{format_scalar(key)}:{_render_value(item, indent)}" for key, item in value.items())


def _render_value(item: Any, indent: int) -> str:
    match item:
        case Mapping() if item:
            return "\n" + format_yaml(item, indent + 1)
        case list() | tuple() if item:
            return "\n" + "".join(_render_item(each, indent + 1) for each in item)
    return f" {_render_scalar(item)}\n"


def _render_item(each: Any, indent: int) -> str:
    pad = "  " * indent
    if isinstance(each, Mapping) and each:
        return f"{pad}- {format_yaml(each, indent + 1).lstrip(' ')}"
    return f"{pad}- {_render_scalar(each)}\n"


def _render_scalar(item: Any) -> str:
    match item:
        case None:
            return "null"
        case bool():
            return "true" if item else "false"
        case int():
            return str(item)
        case str():
            return format_scalar(item)
        case Mapping() | list() | tuple() if not item:
            return "{}" if isinstance(item, Mapping) else "[]"
    raise TypeError(f"{type(item).__name__} has no place in a file for people")


def _escape_character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c.isprintable():
        return c
    code = ord(c)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
