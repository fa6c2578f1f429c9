"""Evidence read in bulk is what is read line by line; what is not proven sound is not given at all."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penmark.format import canonical_json
from penmark.journal import evidence_log
from penmark.journal.evidence_log import Kept
from penmark.stages.verify.check5_journals import evidence_columns


def line(kept: Kept, **other: object) -> bytes:
    return orjson.dumps(evidence_log.make_evidence_line(kept) | other, option=orjson.OPT_SORT_KEYS)


def kept(body: str = '{"score": 0.50}', attempt: int = 1) -> Kept:
    return Kept("zippy", "d-1", attempt, body.encode(), "a" * 64)


def taken(lines: list[bytes]) -> list[Kept] | None:
    """What the lines hold, by bulk; None where one is not proven."""
    frame = evidence_columns.parse_kept_columns(lines)
    return None if frame is None else list(map(Kept._make, frame.iter_rows()))


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=8))
def test_what_bulk_gives_is_what_single_lines_give(bodies: list[str]) -> None:
    lines = [line(kept(body, number)) for number, body in enumerate(bodies, 1)]
    singly = [evidence_log.parse_evidence(canonical_json.decode_json(one, place="x"), place="x") for one in lines]
    assert taken(lines) in (singly, None)


def test_plain_lines_are_taken_in_bulk() -> None:
    given = [kept(), kept('{"text": "naïve — \\"so\\"\\n"}', 2), kept("")]
    assert taken([line(one) for one in given]) == given


def test_what_was_read_line_by_line_has_the_same_columns() -> None:
    given = [kept(), Kept("zippy", "d-2", 2, b"\xff\x00", "b" * 64)]
    table = evidence_columns.make_kept_table(given)
    assert list(map(Kept._make, table.iter_rows())) == given
    sound = evidence_columns.parse_kept_columns([line(kept())])
    assert sound is not None
    assert sound.schema == table.schema == evidence_columns.make_kept_table([]).schema


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        line(kept()) + b" ",
        line(kept()) + b"\r",
        line(kept()).replace(b'":', b'": ', 1),
        line(kept()).replace(b'"body"', b'"body":"","body"'),
        line(kept()).replace(b"zippy", b"\\u007aippy"),
        line(kept()).replace(b"zippy", b"\\ud800"),
        line(kept()).replace(b"zippy", b"\xff"),
        line(kept(), attempt="1"),
        line(kept(), attempt=1.0),
        line(kept(), attempt=True),
        line(kept(), attempt=None),
        line(kept(), attempt=2**53),
        line(kept(), attempt=-(2**53)),
        line(kept(), body=None),
        line(kept(), detector=5),
        line(kept(), more="x"),
        line(kept(), encoding="base64"),
        line(kept(), encoding="latin-1"),
        line(kept())[:-1],
        line(kept()) + line(kept()),
        line(kept()) + b"\n" + line(kept()),
    ],
)
@pytest.mark.parametrize("first", [False, True])
def test_one_odd_line_and_nothing_is_given(odd: bytes, first: bool) -> None:
    assert evidence_columns.parse_kept_columns([odd, line(kept())] if first else [line(kept()), odd]) is None
    assert evidence_columns.parse_kept_columns([odd]) is None
