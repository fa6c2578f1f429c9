"""Reading journals: every line is its own canonical form, follows from the line before, and holds what its kind holds.

A parser is never trusted with that. A fast one (polars) reads the columns, which are then written out again in
canonical form and compared with the line, byte for byte: columns that give back the line are what it says, whoever
read them. Lines for which that fails are read one by one by ``lines.decode``, which says what is wrong.

*Reads* journal files, in one pass. *Writes* nothing. *Never* takes a line on trust, or stops at the first fault.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from penmark import study
from penmark.errors import Fault, FaultsError
from penmark.journal import journal_lines as form

MAX_FAULTS = 20
"""So many faults are told; then reading stops."""
BLOCK = 8 * 2**20
"""Bytes that are read and judged at a time."""
WORKERS = 2
"""Threads that judge blocks; the digests of the chain are made beside them."""

_READ = {name: kind for name, kind in form.TYPES.items() if name != "prev"}
_COLUMNS = {kind: [name for name in form.FIELDS[kind] if name not in ("kind", "prev")] for kind in form.BULK}


@dataclass(frozen=True)
class Journal:
    """One journal as columns. A frame has the fields of its kind, but for ``kind`` and ``prev``, and ``line`` (from 1).

    ``head``: SHA-256 of the last line. ``starts`` and ``stops``: the objects of those lines, with ``line``.
    """

    path: Path
    detector: str
    shard: str
    head: str
    lines: int
    starts: tuple[dict[str, Any], ...]
    stops: tuple[dict[str, Any], ...]
    sent: pl.DataFrame
    retries: pl.DataFrame
    skipped: pl.DataFrame
    readings: pl.DataFrame

    def place(self, line: int) -> str:
        """``…/journal/zippy.jsonl:17``."""
        return f"{self.path}:{line}"

    def first_sent(self) -> pl.Series:
        """The documents in the order of their first ``sent`` lines."""
        return self.sent["document"].unique(maintain_order=True)


def name_journal(detector: str, shard: str = "1/1") -> str:
    """The name of a detector's journal: ``zippy.jsonl``, or ``zippy.2of4.jsonl`` for the shard "2/4"."""
    part, _, whole = shard.partition("/")
    return f"{detector}.jsonl" if whole == "1" else f"{detector}.{part}of{whole}.jsonl"


def make_schema(kind: str) -> dict[str, pl.DataType]:
    """The columns of a frame of that kind (sent, retry, skipped, reading)."""
    return {name: form.TYPES[name] for name in _COLUMNS[kind]} | {"line": pl.UInt32()}


def read_journal(path: Path, first_prev: str) -> Journal:
    """The journal in one file, whose chain begins at ``first_prev``, the SHA-256 of ``seals/corpus.json``.

    Raises FaultsError with up to MAX_FAULTS faults, PenmarkError for a file that is missing or a link.
    """
    return next(read_journals([path], first_prev))


def read_journals(paths: Iterable[Path], first_prev: str) -> Iterator[Journal]:
    """As ``read_journal``: each journal, in the order given, as soon as it is read. One file's fault does not hide another's.

    FaultsError comes when all is read, so what was given before it may not be relied on until the end.
    """
    faults: list[Fault] = []
    with ThreadPoolExecutor(WORKERS) as workers:
        waiting: deque[tuple[_Block, Future[_Sifted]]] = deque()
        for block in _read_blocks(paths, first_prev):
            waiting.append((block, workers.submit(_sift_block, block)))
            if len(waiting) > WORKERS:
                yield from _settle_block(*waiting.popleft(), faults)
            if len(faults) >= MAX_FAULTS:
                break
        while waiting:
            yield from _settle_block(*waiting.popleft(), faults)
    if faults:
        raise FaultsError(faults[:MAX_FAULTS])


# --- blocks, and the chain ------------------------------------------------------------------------------------------


@dataclass
class _File:
    """What was read of one file so far."""

    path: Path
    head: str
    lines: int = 0
    torn: bool = False
    faults: int = 0
    frames: dict[str, list[pl.DataFrame]] = field(default_factory=lambda: {kind: [] for kind in form.BULK})
    single: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {kind: [] for kind in form.KINDS})


class _Block(NamedTuple):
    """Whole lines of a file (``data`` with, ``lines`` without LF), the number of lines before, the digests of the lines
    before each; ``last`` is set on the block after the last, which has no lines."""

    file: _File
    before: int
    data: bytes
    lines: list[bytes]
    expected: list[str]
    last: bool


class _Sifted(NamedTuple):
    """The rows of a block that are proven sound, by kind; and the positions of the lines that are not."""

    frames: dict[str, pl.DataFrame]
    rest: list[int]


def _read_blocks(paths: Iterable[Path], first_prev: str) -> Iterator[_Block]:
    sha256 = hashlib.sha256
    for path in paths:
        file = _File(path, first_prev)
        for data in study.read_blocks(path, BLOCK):
            lines = data.split(b"\n")
            if lines.pop() != b"":
                file.torn = True
                data = data[: data.rfind(b"\n") + 1]
            digests = [file.head]
            digests += [sha256(line).hexdigest() for line in lines]
            block = _Block(file, file.lines, data, lines, digests, False)
            file.head, file.lines = digests.pop(), file.lines + len(lines)
            yield block
        yield _Block(file, file.lines, b"", [], [], True)


def _sift_block(block: _Block) -> _Sifted:
    every = list(range(len(block.lines)))
    if not every:
        return _Sifted({}, [])
    try:
        frame = pl.read_ndjson(block.data, schema=_READ)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return _Sifted({}, every)
    if frame.height != len(every):
        return _Sifted({}, every)
    frame = frame.with_columns(
        pl.Series("_raw", block.lines, dtype=pl.Binary),
        pl.Series("_expected", block.expected, dtype=pl.String),
        pl.int_range(block.before + 1, block.before + 1 + len(every), dtype=pl.UInt32).alias("line"),
    )
    frames = {}
    sound = frame.clear().get_column("line")
    for kind in frame.get_column("kind").unique().to_list():
        if kind not in form.BULK:
            continue
        rows = frame.lazy().filter(pl.col("kind") == kind)
        part = rows.select(*_COLUMNS[kind], "line", _sound=_make_proof_expression(kind)).collect()
        good = part.drop("_sound") if part.get_column("_sound").all() else part.filter("_sound").drop("_sound")
        frames[kind] = good
        sound = sound.append(good.get_column("line"))
    if len(sound) == len(every):
        return _Sifted(frames, [])
    kept = set(sound.to_list())
    return _Sifted(frames, [at for at in every if block.before + 1 + at not in kept])


def _make_proof_expression(kind: str) -> pl.Expr:
    """True where the row, with the digest of the line before as its ``prev``, gives back the line."""
    fields = [pl.col("_expected").alias("prev") if name == "prev" else pl.col(name) for name in form.FIELDS[kind]]
    same = pl.struct(fields).struct.json_encode().cast(pl.Binary) == pl.col("_raw")
    return (same & form.select_sound(kind)).fill_null(False)


# --- files ----------------------------------------------------------------------------------------------------------


def _settle_block(block: _Block, future: Future[_Sifted], faults: list[Fault]) -> Iterator[Journal]:
    file, sifted = block.file, future.result()
    found: list[Fault] = []
    for kind, frame in sifted.frames.items():
        file.frames[kind].append(frame)
    for at in sifted.rest:
        found += _find_line_faults(file, block.lines[at], block.before + at + 1, block.expected[at])
        if len(faults) + len(found) >= MAX_FAULTS:
            break
    if block.last:
        found += _find_end_faults(file)
    file.faults += len(found)
    faults += found
    if block.last and file.faults == 0:
        yield _make_journal(file)


def _find_line_faults(file: _File, line: bytes, number: int, expected: str) -> list[Fault]:
    place = f"{file.path}:{number}"
    value, faults = form.decode_line(line, place)
    if value is None:
        return faults
    if value["prev"] != expected:
        fact = "the chain is broken: `prev` is not the digest of the line before"
        if number == 1:
            fact = "the journal belongs to another corpus: its first `prev` is not the digest of seals/corpus.json"
        return [Fault(place, fact, "A line was changed, added or taken away; restore the file from where it came.")]
    file.single[value["kind"]].append({**value, "line": number})
    return []


def _find_end_faults(file: _File) -> list[Fault]:
    """What only shows at the end of a file."""
    faults = []
    if file.torn:
        place = f"{file.path}:{file.lines + 1}"
        remedy = "Run the scan again: it moves that line aside and goes on."
        faults.append(Fault(place, "the last line is not finished", remedy))
    starts = file.single["start"]
    if file.faults == 0 and (not starts or starts[0]["line"] != 1):
        faults.append(Fault(f"{file.path}:1", "a journal begins with a start line", form.REMEDY))
    for start in starts:
        if (name := name_journal(start["detector"], start["shard"])) != file.path.name:
            fact = f"the journal of {start['detector']}, shard {start['shard']}, is called {name}"
            faults.append(Fault(f"{file.path}:{start['line']}", fact, form.REMEDY))
    return faults


def _make_journal(file: _File) -> Journal:
    first = file.single["start"][0]
    return Journal(
        path=file.path,
        detector=first["detector"],
        shard=first["shard"],
        head=file.head,
        lines=file.lines,
        starts=tuple(file.single["start"]),
        stops=tuple(file.single["stop"]),
        sent=_join_frames(file, "sent"),
        retries=_join_frames(file, "retry"),
        skipped=_join_frames(file, "skipped"),
        readings=_join_frames(file, "reading"),
    )


def _join_frames(file: _File, kind: str) -> pl.DataFrame:
    frames, rows = file.frames.pop(kind), file.single[kind]
    single = pl.DataFrame([{name: row[name] for name in make_schema(kind)} for row in rows], schema=make_schema(kind))
    if single.is_empty():
        return pl.concat(frames, rechunk=True) if frames else single
    return pl.concat([*frames, single], rechunk=True).sort("line")
