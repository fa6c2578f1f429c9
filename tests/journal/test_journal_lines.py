"""What a line is: one by one and in bulk, which must say the same."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penmark import journal
from penmark.errors import Fault, FaultsError
from penmark.format import canonical_json
from penmark.journal import journal_lines, journal_reader

PREV = "a" * 64
AT = "2026-11-30T12:00:00Z"
START: dict[str, Any] = {"at": AT, "card_sha256": "b" * 64, "detector": "zippy", "kind": "start", "plugin": None}
START |= {"rules": 2, "shard": "1/1", "software": "a test"}
READING: dict[str, Any] = {"address": "c" * 64, "at": AT, "attempt": 1, "document": "007", "kind": "reading"}
READING |= {"displayed": "0.50", "score": "0.50", "label": None, "state": "answered", "reason": None, "origin": "scan"}
READING |= {"sent_at": AT, "got_at": AT, "vendor_at": None, "version": "1", "version_asked": "1"}
READING |= {"evidence_sha256": None, "read_by": None}
SENT = {"at": AT, "attempt": 1, "document": "007", "kind": "sent"}
RETRY = {"at": AT, "attempt": 1, "document": "NA", "kind": "retry", "reason": "the connection was closed"}
SKIPPED = {"at": AT, "document": "NA", "kind": "skipped", "reason": "too short"}
STOP = {"at": AT, "kind": "stop", "reason": "done"}
EVERY = {"start": START, "sent": SENT, "retry": RETRY, "skipped": SKIPPED, "reading": READING, "stop": STOP}


def chained(values: Sequence[dict[str, Any]], first: str = PREV) -> bytes:
    """A journal of these lines, each linked to the line before."""
    out = bytearray()
    for value in values:
        line = orjson.dumps({**value, "prev": first}, option=orjson.OPT_SORT_KEYS)
        first = canonical_json.sha256(line)
        out += line + b"\n"
    return bytes(out)


@pytest.mark.parametrize("kind", sorted(EVERY))
def test_each_kind_is_accepted_whole_and_refused_with_a_key_more_or_less(kind: str) -> None:
    value = {**EVERY[kind], "prev": PREV}
    assert tuple(sorted(value)) == journal.FIELDS[kind]
    assert journal_lines.check_line(value, "x:1") == []
    for key in value.keys() - {"rules"}:  # which format 1 has not
        rest = {k: v for k, v in value.items() if k != key}
        found = journal_lines.check_line(rest, "x:1")
        assert found
        assert all(fault.place is not None and fault.place.startswith("x:1") for fault in found)
    assert journal_lines.check_line(value | {"more": 1}, "x:1")


def test_a_start_line_of_format_1_names_no_rules_and_none_names_them_as_nothing() -> None:
    value = {**START, "prev": PREV}
    assert journal_lines.check_line({key: each for key, each in value.items() if key != "rules"}, "x:1") == []
    assert [
        journal_lines.check_line(value | {"rules": wrong}, "x:1") != [] for wrong in (None, "2", -1, 2.0, True)
    ] == [True] * 5


@pytest.mark.parametrize(
    "change",
    [
        {"attempt": 0},
        {"attempt": True},
        {"attempt": "1"},
        {"attempt": 2**53},
        {"state": "maybe"},
        {"state": "declined"},
        {"state": "failed", "displayed": None},
        {"displayed": None},
        {"origin": "guessed"},
        {"score": 0.5},
        {"score": 1},
        {"at": "2026-11-30 12:00:00"},
        {"at": None},
        {"got_at": "2026-11-30T12:00:00+01:00"},
        {"got_at": "2026-11-30T12:00:00.1234567Z"},
        {"got_at": "٢٠٢٦-11-30T12:00:00Z"},
        {"address": "C" * 64},
        {"address": "c" * 63},
        {"evidence_sha256": ""},
        {"document": "a/b"},
        {"document": ""},
        {"document": "a\x7f"},
        {"document": "a" * 129},
        {"label": ["AI"]},
        {"version": {"a": "b"}},
        {"vendor_at": AT},
        {"vendor_at": ""},
    ],
    ids=repr,
)
def test_a_reading_that_is_none_is_refused_with_its_place(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "zippy.jsonl"
    path.write_bytes(chained([START, SENT, {**READING, **change}]))
    with pytest.raises(FaultsError) as caught:
        journal.read_journal(path, PREV)
    assert {str(fault.place).split(": ")[0] for fault in caught.value.faults} == {f"{path}:3"}
    assert all(fault.remedy is not None for fault in caught.value.faults)


@pytest.mark.parametrize(
    "change",
    [
        {"got_at": "2026-11-30T12:00:00.123456Z"},
        {"got_at": None, "sent_at": None, "origin": "recorded"},
        {"document": "café — 007"},
        {"displayed": '"=1+1"\n\u2028\x00\\', "score": None, "label": "ΑΙ"},
        {"state": "declined", "reason": "other text scanned", "displayed": None},
        {"reason": "the answer quotes the text twice"},
        {"attempt": 2**53 - 1},
        {"score": "NaN"},
        {"version": ""},
    ],
    ids=repr,
)
def test_unusual_readings_are_read_as_they_are(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "zippy.jsonl"
    value = {**READING, **change}
    path.write_bytes(chained([START, SENT, value]))
    (row,) = journal.read_journal(path, PREV).readings.iter_rows(named=True)
    assert row == {k: v for k, v in value.items() if k != "kind"} | {"line": 3}


# --- in bulk as one by one -----------------------------------------------------------------------------------------

WORDS = st.one_of(
    st.sampled_from(["0.5", "AI", "", "a,b", '"', "\\", "\n", "\u2028", "\x00", "é", "😀", "null", "c" * 64, AT]),
    st.text(max_size=5),
)
VALUES = st.one_of(
    WORDS, st.none(), st.integers(-2, 3), st.floats(allow_nan=False), st.booleans(), st.just([]), st.just({})
)


@st.composite
def odd_lines(draw: st.DrawFn) -> bytes | dict[str, Any]:
    value: dict[str, Any] = dict(draw(st.sampled_from([SENT, READING, READING, READING, RETRY, SKIPPED, STOP])))
    for key in draw(st.lists(st.sampled_from(sorted(value)), max_size=2)):
        value[key] = draw(VALUES)
    if draw(st.integers(0, 9)) == 0:
        value.pop(draw(st.sampled_from(sorted(value))), None)
    if draw(st.integers(0, 9)) == 0:
        value[draw(st.sampled_from(["reason", "more", "é"]))] = draw(VALUES)
    if draw(st.integers(0, 9)) == 0:
        spoiled = orjson.dumps({**value, "prev": PREV})
        return draw(
            st.sampled_from([spoiled, spoiled.replace(b":", b": ", 1), b"", b"{}", b"[1]", b"\xff", spoiled + b" "])
        )
    return value


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(held=st.lists(odd_lines(), max_size=12), block=st.sampled_from([64, 700, 8 * 2**20]))
def test_bulk_says_what_single_lines_say(tmp_path: Path, held: list[Any], block: int) -> None:
    path = tmp_path / "zippy.jsonl"
    data, prev = chained([START]), ""
    for value in held:
        prev = canonical_json.sha256(data[:-1].rpartition(b"\n")[2])
        line = value if isinstance(value, bytes) else orjson.dumps({**value, "prev": prev}, option=orjson.OPT_SORT_KEYS)
        data += line.replace(b"\n", b" ") + b"\n"
    path.write_bytes(data)
    expected: dict[int, dict[str, Any]] = {}
    wrong, prev = set(), PREV
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        value, faults = journal_lines.decode_line(line, "x")
        if value is None or value["prev"] != prev:
            assert faults or value is not None
            wrong.add(number)
        else:
            expected[number] = value
        prev = canonical_json.sha256(line)
    found, faults = _read(path, block)
    if found is None:
        places = {int(str(fault.place).removeprefix(f"{path}:").split(":")[0]) for fault in faults}
        assert places == set(sorted(wrong)[: len(places)])
        assert len(places) == len(wrong) or len(faults) == journal.MAX_FAULTS
        return
    assert wrong == set()
    frames = {"sent": found.sent, "retry": found.retries, "skipped": found.skipped, "reading": found.readings}
    rows = [dict(row, kind=kind) for kind, frame in frames.items() for row in frame.iter_rows(named=True)]
    rows += [dict(row) for row in itertools.chain(found.starts, found.stops)]
    given_back = {row.pop("line"): {k: v for k, v in row.items() if k != "prev"} for row in rows}
    assert given_back == {n: {k: v for k, v in value.items() if k != "prev"} for n, value in expected.items()}
    assert found.head == prev
    assert found.lines == len(expected)


def _read(path: Path, block: int) -> tuple[journal.Journal | None, Sequence[Fault]]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(journal_reader, "BLOCK", block)
        try:
            return journal.read_journal(path, PREV), ()
        except FaultsError as error:
            return None, error.faults


def test_the_bulk_encoding_is_the_canonical_one() -> None:
    odd = [chr(c) for c in range(0x20)] + [
        '"',
        "\\",
        "/",
        "\x7f",
        "\x80",
        "\u2028",
        "\ufeff",
        "é",
        "😀",
        "\ud7ff",
        "\ue000",
    ]
    frame = pl.DataFrame({"a": odd, "b": [None] * len(odd), "n": range(len(odd))}, schema_overrides={"b": pl.String})
    written = frame.select(pl.struct("a", "b", "n").struct.json_encode()).to_series().to_list()
    assert [line.encode() for line in written] == [
        canonical_json.encode_json(row) for row in frame.iter_rows(named=True)
    ]
