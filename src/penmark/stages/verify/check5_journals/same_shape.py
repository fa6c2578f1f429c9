"""Check 5, shapes: thousands of raw answers that differ only in their strings, numbers and truth values.

The one reader of answers (``cards.extract_answer``) reads the first of them. Its shape is the pattern of all texts that are this
answer with other strings, numbers and truth values in the same places: JSON with the same keys, nested as the first is.
In a text that has the shape, what the card's pointers find is what stands in their places, character by character.
*Reads* and *writes* nothing. *Never* says that an answer is wrong: what is not proven here is read one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from penmark import cards
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.records import Card

MOST = 8
"""Shapes of the answers of one detector that are looked for; the others are read one by one."""
LONGEST = 4096
"""Bytes of an answer whose shape is worth a pattern."""
PLACES = 16
"""Places of which a pattern catches what stands there: memory grows with their number times its length."""

_TOKEN = re.compile(r'[\t\n\r ]+|"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\t\n\r ]+')
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
# In a string that a pointer finds, every character stands for itself; of others only the end is of interest.
_FOUND, _ANY = r'[^"\\\x00-\x1f]*', r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*'
_Path = tuple[str, ...]


class _Shape(NamedTuple):
    """``pattern``: of its texts. ``told``: true where what it caught (``_caught``) is what the reading says."""

    pattern: str
    told: pl.Expr


class Shapes:
    """The shapes of the answers of one detector, as they come. ``card``: its sealed card."""

    def __init__(self, card: Card) -> None:
        self._card = card
        self._known: list[_Shape] = []
        # What an answer echoes is held against the text that was sent, and a score that is reckoned is, one by one.
        reckoned = card.answer.score_of is not None or (card.scale is not None and card.scale.numerals is not None)
        self._left = 0 if card.answer.text is not None or reckoned else MOST

    def unproven(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows but for those that are proven: an answered reading without a remark, about a text that is not attested,
        that says what its raw answer (``body``) says, whose digest it gives."""
        if not self._known and not self._left:
            return rows
        bodies = rows["body"].to_list()
        texts, digests = (
            _decode_texts(rows["body"]),
            pl.Series([canonical_json.sha256(body) for body in bodies], dtype=pl.String),
        )
        plain = _PLAIN & (pl.col("evidence_sha256") == digests) & texts.is_not_null()
        rest = rows.with_columns(texts.alias("_text"), plain.fill_null(False).alias("_plain"))
        for known in self._known:
            rest = _remove_proven(rest, known)
        while self._left and (other := rest.filter("_plain")).height:
            self._left -= 1
            shape = self._make_shape(other["body"][0])
            if shape is None or (less := _remove_proven(rest, shape)).height == rest.height:
                break
            self._known.append(shape)
            rest = less
        return rest.drop("_text", "_plain")

    def _make_shape(self, body: bytes) -> _Shape | None:
        """The shape of a raw answer; None where it is none, is too long, or the card looks in too many places."""
        if len(body) > LONGEST:
            return None
        try:
            cards.extract_answer(self._card, body)
        except PenmarkError:
            return None
        at = self._card.answer
        pointers = [at.displayed, at.score, at.label, at.version, *(row.at for row in at.unmeasured)]
        paths = {
            pointer: tuple(key for key, _ in cards.parse_pointer(pointer))
            for pointer in pointers
            if pointer is not None
        }
        if len(places := set(paths.values())) > PLACES:
            return None
        pattern, groups = _make_pattern(body.decode(), places)
        caught = pl.col("_caught").struct

        def found(pointer: str | None) -> pl.Expr:
            group = None if pointer is None else groups.get(paths[pointer])
            return pl.lit(None, dtype=pl.String) if group is None else caught.field(str(group))

        score, label = found(at.score), found(at.label)
        displayed = pl.coalesce(found(at.displayed), score, label)
        tests = [caught.field("1").is_not_null(), displayed.is_not_null()]
        tests += [~found(row.at).is_in(list(row.among)).fill_null(False) for row in at.unmeasured]
        told = {"displayed": displayed, "score": score, "label": label, "version": found(at.version)}
        return _Shape(pattern, pl.all_horizontal(*tests, *(pl.col(name).eq_missing(to) for name, to in told.items())))


_PLAIN = (
    (pl.col("state") == "answered")
    & (pl.col("origin") != "typed")
    & pl.col("reason").is_null()
    & pl.col("attested").not_()
)
"""The readings of which nothing else is to be said than what their answer says."""


def _decode_texts(bodies: pl.Series) -> pl.Series:
    """The raw answers as text; null for those that are not UTF-8."""
    try:
        return bodies.cast(pl.String)
    except pl.exceptions.PolarsError:
        return pl.Series([_decode_text(body) for body in bodies.to_list()], dtype=pl.String)


def _decode_text(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _remove_proven(rows: pl.DataFrame, shape: _Shape) -> pl.DataFrame:
    """The rows that are not plain, or not told by the shape."""
    caught = pl.col("_text").str.extract_groups(shape.pattern)
    try:
        held = rows.with_columns(caught.alias("_caught"))
        return held.filter((pl.col("_plain") & shape.told).fill_null(False).not_()).drop("_caught")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):  # a pattern that is too large
        return rows


def _make_pattern(text: str, paths: set[_Path]) -> tuple[str, dict[_Path, int]]:
    """The pattern of the texts that are shaped as ``text``, which is JSON; and the groups that catch what stands at
    ``paths``. The first group catches nothing: it is there where a text fits."""
    parts, groups = [r"\A()"], dict[_Path, int]()
    for token, path in _parse_tokens(text):
        if path is None or token == "null":
            parts.append(pl.escape_regex(token))
            continue
        caught = path in paths
        if token.startswith('"'):
            inner, mark = (_FOUND if caught else _ANY), '"'
        else:
            inner, mark = ("true|false" if token in ("true", "false") else _NUMBER), ""
        if caught:
            groups[path] = len(groups) + 2
        parts.append(f"{mark}({inner}){mark}" if caught else f"{mark}(?:{inner}){mark}")
    return "".join([*parts, r"\z"]), groups


def _parse_tokens(text: str) -> Iterator[tuple[str, _Path | None]]:
    """Each token of ``text``, which is JSON; with each value that is no object and no array, the keys and positions on the
    way to it, as a pointer has them."""
    path: list[str | int | None] = []  # of each object or array around: the key (None before it comes), or the position
    for token in _TOKEN.findall(text):
        if token in "{[":
            path.append(None if token == "{" else 0)
        elif token in "}]":
            path.pop()
        elif token == ",":
            last = path.pop()
            path.append(last + 1 if isinstance(last, int) else None)
        elif token == ":" or token.isspace():
            pass
        elif path and path[-1] is None:
            path[-1] = json.loads(token)
        else:
            yield token, tuple(map(str, path))
            continue
        yield token, None
