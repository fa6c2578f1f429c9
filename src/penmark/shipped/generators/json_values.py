"""Values in JSON, as requests hold them and answers bring them: nothing is taken for something that it is not.

*Reads* and *writes* nothing.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""A number as JSON has it."""


def get_value(value: Any, *path: str | int) -> Any:
    """What stands at a place in a JSON value, or None."""
    for part in path:
        if isinstance(part, int) and isinstance(value, list) and part < len(value):
            value = value[part]
        elif isinstance(part, str) and isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


def get_string(value: Any, *path: str | int) -> str | None:
    """A string at a place, or None."""
    found = get_value(value, *path)
    return found if isinstance(found, str) else None


def get_count(value: Any, *path: str | int) -> int | None:
    """A whole number at a place (some write it as 12.0), or None."""
    found = get_value(value, *path)
    whole = isinstance(found, int | float) and not isinstance(found, bool) and found >= 0 and found == int(found)
    return int(found) if whole else None


def join_parts(parts: Any, key: str = "text", kind: str | None = "text") -> str | None:
    """The texts of a list of parts, one after the other; parts of another kind (thoughts, calls) are no text."""
    if not isinstance(parts, list):
        return None
    texts = [
        p[key] for p in parts if isinstance(p, dict) and isinstance(p.get(key), str) and p.get("type", kind) == kind
    ]
    return "".join(texts) if texts else None


def parse_setting(value: str) -> Any:
    """A setting as it is written in JSON: its exact digits, true, false, an object or a list, or else a string."""
    if NUMBER.fullmatch(value) or value in ("true", "false"):
        return orjson.Fragment(value)
    if value[:1] in ("{", "["):
        try:
            json.loads(value)
        except ValueError:
            return value
        return orjson.Fragment(value)
    return value
