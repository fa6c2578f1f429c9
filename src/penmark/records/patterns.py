"""How dates, digests, names and the like are spelled: each pattern once, and in words for whoever wrote it otherwise.

*Reads* and *writes* nothing. *Never* tells a user a regular expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DATE = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
TIME = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?Z$"
DIGEST = r"^[0-9a-f]{64}$"
DECIMALS = r"^-?[0-9]{1,40}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?$"
POINTER = r"^(/([^/~]|~[01])*)*$"
PLACE = r"^(/([^/~]|~[01])+)+$"
DETECTOR = r"^[a-z0-9][a-z0-9.-]{0,62}$"
ARM = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$"
EDITION = r"^[A-Z][A-Z0-9]{0,15}-[0-9]{4}-Q[1-4]$"
NAMED = r"^[a-z][a-z0-9_]{0,31}$"
SECRET = r"^[A-Z][A-Z0-9_]{0,63}$"
DOCUMENT = r"^[^\x00-\x1f\x7f/\\]{1,128}$"
AUTHORITY = r"^[a-z0-9][a-z0-9-]{0,31}$"

WORDS: Mapping[str, str] = {
    DATE: "a date (YYYY-MM-DD)",
    TIME: "a time in UTC (2026-11-30T12:00:00Z)",
    DIGEST: "a SHA-256 digest (64 lower-case hexadecimal digits)",
    DECIMALS: "a decimal number (0.5, 65, 1e-3)",
    POINTER: "a JSON pointer (/result/score)",
    PLACE: "a place of the promise (/arms/B/documents)",
    DETECTOR: "a name of lower-case letters, digits, dots and hyphens, at most 63, with a letter or a digit first",
    ARM: "a name of letters, digits, hyphens and underscores, at most 63, with a letter or a digit first",
    EDITION: "an edition's tag (BENCH-2026-Q4)",
    NAMED: "a name of lower-case letters, digits and underscores, at most 32, with a letter first",
    SECRET: "the name of an environment variable (VENDOR_API_KEY)",
    DOCUMENT: "an id of 1 to 128 characters without slash, backslash, tab, line end or other control characters",
    AUTHORITY: "a name of lower-case letters, digits and hyphens, at most 32, with a letter or a digit first",
}
"""What a text that fits the pattern is."""


def explain_pattern(error: Mapping[str, Any]) -> str | None:
    """What a text is not, where pydantic says that it does not fit its pattern; None for any other error of its."""
    if error["type"] != "string_pattern_mismatch":
        return None
    return f"is not {WORDS.get(str(error.get('ctx', {}).get('pattern')), 'spelled as it must be')}"
