"""Timestamps beside a file: each is judged offline, and its time is kept where its signature holds.

*Reads* ``<stem>-<authority>.tsr`` beside a JSON file, and that file. *Never* asks an authority, or believes one that the
reader does not trust: such a token is *not checked*, and its time counts against the bundle only.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from penmark import study, timestamps
from penmark.errors import PenmarkError
from penmark.stages.verify.check_findings import Findings

DAY = timedelta(days=1)
"""How far a date may be off that people wrote down."""

CLOCK = timedelta(minutes=5)
"""How far an operator's clock may be from an authority's."""


LARGEST = 2**16
"""No token file is larger (bytes)."""


class Stamp(NamedTuple):
    """What a token whose signature holds says: its time (RFC 3339), and whether the reader trusts whose word that is."""

    at: str
    trusted: bool


def judge_tokens_beside(path: Path, trust: timestamps.Trust, found: Findings) -> list[Stamp]:
    """Judge every token over the file ``path``; what those say whose signature holds."""
    times: list[Stamp] = []
    name = path.parent.name
    try:
        data = study.read_bytes(path, limit=2**26)
    except PenmarkError:
        return []  # whoever reads it says so
    for token in sorted(path.parent.glob(f"{path.stem}-*.tsr")):
        subject = f"{name}/{token.name}"
        try:
            result = timestamps.check_token(study.read_bytes(token, limit=LARGEST), data, trust)
        except PenmarkError as error:
            found.error(error)
            continue
        if result.at is not None:
            times.append(Stamp(result.at, result.state == "ok"))
        if result.state == "failed":
            remedy = "Get the token again from its authority."
            found.failed(subject, result.detail, f"a valid token over {name}/{path.name}", remedy)
        elif result.state == "ok":
            found.ok(subject, f"{result.authority} at {result.at}")
        else:
            remedy = "Give the authority's root certificate with --trust FILE, if you trust it."
            found.not_checked(subject, f"authority unknown: {result.detail}", remedy)
    return times


def find_stray_tokens(folder: Path, found: Findings) -> None:
    """Tokens of a folder that stand beside no file."""
    names = [path.stem for path in study.own(folder, "*.json")]
    for path in study.own(folder, "*.tsr"):
        if not any(path.name.startswith(f"{name}-") for name in names):
            subject = f"{folder.name}/{path.name}"
            found.failed(subject, "is a token of nothing", "tokens beside their files", "Remove it, or find its file.")


def find_first_time(times: Iterable[Stamp]) -> str | None:
    """Since when others had a file: the earliest of the trusted times, or where there is none the earliest of all; None
    without a token. An authority that nobody knows is made in a second, so its word hides no other's."""
    held = list(times)
    return min(
        (one.at for one in held if one.trusted or not list_trusted(held)), key=timestamps.parse_rfc3339, default=None
    )


def list_trusted(times: Iterable[Stamp]) -> list[Stamp]:
    """Those that the reader trusts."""
    return [one for one in times if one.trusted]


def check_time(at: str, place: str) -> None:
    """Raises PenmarkError, at ``place``, for a time that has the right form and is none, such as 31 November."""
    try:
        timestamps.parse_rfc3339(at)
    except ValueError:
        raise PenmarkError(f"{at} is no time", place=place, remedy="Get the file again.") from None
