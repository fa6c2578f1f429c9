"""The frozen documents as columns: the denominators of every rate.

*Reads* manifest.jsonl. *Writes* nothing. *Never* counts anything but what was frozen.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import polars as pl
from pydantic import ValidationError

from penmark import study
from penmark.errors import Fault, FaultsError, PenmarkError
from penmark.format import canonical_json
from penmark.records import Document, Protocol
from penmark.study import Edition

COLUMNS: dict[str, pl.DataType] = {
    **dict.fromkeys(("id", "arm", "truth", "address", "canonical_sha256"), pl.String()),
    "words": pl.Int64(),
    "characters": pl.Int64(),
    **dict.fromkeys(("language", "register", "subgroup", "author", "topic", "source", "exposures"), pl.String()),
    **dict.fromkeys(("withheld", "kind", "grade", "evidence_date", "provider", "model", "style"), pl.String()),
    "provenance": pl.String(),
}
"""The columns of documents.csv, in its order; ``exposures`` joined with "; ", ``provenance`` its canonical JSON."""

_BLOCK = 8 * 2**20
_PART = 2**15
"""Documents that are held as objects at a time."""
_MAX_FAULTS = 20
_HEADER = {"arms", "documents", "edition", "kind", "study", "word_rule"}
_REMEDY = "The manifest is sealed; restore the file from where it came."


def read_document_columns(edition: Edition, protocol: Protocol) -> pl.DataFrame:
    """One row a document, in manifest order. Raises FaultsError for lines that are no documents of this protocol."""
    truths = {arm.name: arm.truth for arm in protocol.arms}
    lines = _read_lines(edition)
    place = f"{edition.manifest}:1"
    head = canonical_json.decode_json(next(lines, b""), place=place)
    if not isinstance(head, dict) or set(head) != _HEADER or head["kind"] != "manifest":
        raise PenmarkError("is not the head of a manifest", place=place, remedy=_REMEDY)
    frame = pl.concat(_read_frames(edition, lines, truths), rechunk=True)
    twice = frame.filter(pl.col("id").is_duplicated()).get_column("id").unique(maintain_order=True)
    if len(twice):
        raise FaultsError(Fault(str(edition.manifest), f"two documents are called {name}", _REMEDY) for name in twice)
    if frame.height != head["documents"]:
        fact = f"{frame.height} documents; its head says {head['documents']}"
        raise PenmarkError(fact, place=str(edition.manifest), remedy=_REMEDY)
    return frame


def _read_frames(edition: Edition, lines: Iterator[bytes], truths: Mapping[str, str]) -> Iterator[pl.DataFrame]:
    """The documents, so many at a time: as objects of Python they take far more room."""
    numbered, faults = enumerate(lines, 2), list[Fault]()
    yield _make_frame([], edition, 2)
    while (some := list(itertools.islice(numbered, _PART))) and len(faults) < _MAX_FAULTS:
        held: list[Any] = []  # cell after cell: a million small tuples would keep the garbage collector busy
        for number, line in some:
            try:
                held.extend(_parse_row(line, truths))
            except (ValueError, KeyError, TypeError, AttributeError):
                faults += _find_line_faults(line, f"{edition.manifest}:{number}", truths)
                if len(faults) >= _MAX_FAULTS:
                    break
        if not faults:
            yield _make_frame(held, edition, some[0][0])
    if faults:
        raise FaultsError(faults)


def _read_lines(edition: Edition) -> Iterator[bytes]:
    for block in study.read_blocks(edition.manifest, _BLOCK):
        lines = block.split(b"\n")
        if lines.pop() != b"":
            raise PenmarkError("the last line is not finished", place=str(edition.manifest), remedy=_REMEDY)
        yield from lines


def _parse_row(line: bytes, truths: Mapping[str, str]) -> tuple[Any, ...]:
    value = orjson.loads(line)
    if orjson.dumps(value, option=orjson.OPT_SORT_KEYS) != line:
        raise ValueError("not canonical")
    made = value["provenance"]
    kind = made["kind"]
    model = made["draft"] if kind == "edited" else made if kind == "generated" else {}
    # The keys after it hold no objects, so that the last `,"register":` of the line is the document's own.
    start, end = line.index(b'"provenance":') + 13, line.rindex(b',"register":')
    arm = value["arm"]
    return (
        value["id"],
        arm,
        truths[arm],
        value["address"],
        value["canonical_sha256"],
        value["words"],
        value["characters"],
        value["language"],
        value["register"],
        value["subgroup"],
        value["author"],
        value["topic"],
        value["source"],
        "; ".join(value["exposures"]),
        value["withheld"],
        kind,
        made["grade"],
        made.get("evidence_date"),
        model.get("provider"),
        model.get("model"),
        model.get("style"),
        line[start:end].decode(),
    )


def _make_frame(held: list[Any], edition: Edition, first: int) -> pl.DataFrame:
    """The cells of some documents as columns. ``first``: the line of the first."""
    width, place = len(COLUMNS), edition.manifest
    try:
        return pl.DataFrame([pl.Series(name, held[at::width], dtype=COLUMNS[name]) for at, name in enumerate(COLUMNS)])
    except (TypeError, OverflowError):
        rows = (held[at : at + width] for at in range(0, len(held), width))
        faults = [fault for number, row in enumerate(rows, first) for fault in _check_types(row, f"{place}:{number}")]
        raise FaultsError(faults[:_MAX_FAULTS]) from None


def _check_types(row: list[Any], place: str) -> list[Fault]:
    wrong = [
        name
        for (name, kind), value in zip(COLUMNS.items(), row, strict=True)
        if value is not None and type(value) is not (int if kind == pl.Int64() else str)
    ]
    return [Fault(place, f"`{name}` is not of its type", _REMEDY) for name in wrong]


def _find_line_faults(line: bytes, place: str, truths: Mapping[str, str]) -> list[Fault]:
    """Why a line is no document, in words."""
    try:
        value = canonical_json.decode_json(line, place=place)
        Document.model_validate_json(line)
    except PenmarkError as error:
        return list(error.faults)
    except ValidationError as error:
        return [
            f._replace(remedy=_REMEDY)
            for f in study.make_validation_faults(place, error.errors(include_url=False)).faults
        ]
    if value["arm"] not in truths:
        return [Fault(place, f"the protocol has no arm {value['arm']}", _REMEDY)]
    return [Fault(place, "leaves fields out", _REMEDY)]
