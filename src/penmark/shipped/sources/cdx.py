"""The index of a web archive: how it is asked which captures of an address it has, and what it answers.

Two forms are read: the Wayback Machine's list of rows with a header, and the objects, one a line, of pywb archives.
*Reads* and *writes* nothing.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.parse import quote

from penmark.errors import ServiceError
from penmark.shipped.sources.captures import is_real_stamp

MOST = 200
"""Captures that are asked for: the oldest ones."""
_NAMES = {"original": "url", "mimetype": "mime", "statuscode": "status"}


class Listed(NamedTuple):
    """A capture as an index lists it. ``status`` is None where it says none (a revisit of unchanged content)."""

    at: str
    url: str
    mime: str
    status: int | None
    digest: str


def make_cdx_query(index: str, url: str, since: str, until: str) -> str:
    """The address that asks for the captures of ``url`` between two stamps, both included, the oldest first."""
    return f"{index}?url={quote(url, safe='')}&output=json&from={since}&to={until}&limit={MOST}"


def parse_cdx_answer(body: bytes, place: str) -> list[Listed]:
    """The captures in an answer, oldest first. Raises ServiceError, at ``place``, for what is no such answer."""
    try:
        text = body.decode("utf-8").strip()
        rows = (
            _list_table(json.loads(text)) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
        )
        return sorted(_make_one(row) for row in rows)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ServiceError(
            f"the archive's index answered something else than a list of captures ({error})",
            place=place,
            remedy="Look at that address in a browser; correct the option `index`.",
        ) from None


def _list_table(rows: list[list[str]]) -> list[dict[str, Any]]:
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def _make_one(row: dict[str, Any]) -> Listed:
    told = {_NAMES.get(name, name): str(value) for name, value in row.items()}
    at = told["timestamp"][:14]
    if not is_real_stamp(at):
        raise ValueError(f"{told['timestamp']} is no time")
    status = told.get("status", "-")
    number = int(status) if status.isascii() and status.isdigit() else None
    return Listed(at, told["url"], told.get("mime", ""), number, told["digest"])
