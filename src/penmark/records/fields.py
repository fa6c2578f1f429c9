"""Fields of records: closed lists of words, patterns of dates, digests and names, and what every record has in common."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from penmark.records import patterns

Truth = Literal["human", "ai", "mixed"]
State = Literal["answered", "declined", "failed", "in_doubt", "not_scannable", "not_run"]
VersionState = Literal["as_asked", "floating", "not_reported", "changed"]
Verdict = Literal["ai", "human", "mixed", "assisted", "uncertain"]
Grade = Literal["archived", "released", "witnessed", "recorded", "stated"]
Operator = Literal[">", ">=", "<", "<="]
Beyond = Literal["refuses", "answers all the same", "cuts silently", "unknown"]
Gate = Literal["empty", "refused", "cut off", "error message", "prompt residue", "chat residue", "word limits"]
"""Why a text that a model wrote is not taken into an arm."""
Mark = Literal["documented", "transcribed", "seen", "inferred", "guess"]
"""How a fact is known: by the vendor's own pages, a copy of them, client code or captured answers, reasoning, or not."""

Date = Annotated[str, StringConstraints(pattern=patterns.DATE)]
Time = Annotated[str, StringConstraints(pattern=patterns.TIME)]
Digest = Annotated[str, StringConstraints(pattern=patterns.DIGEST)]
Decimals = Annotated[str, StringConstraints(pattern=patterns.DECIMALS)]
Pointer = Annotated[str, StringConstraints(pattern=patterns.POINTER)]
DetectorName = Annotated[str, StringConstraints(pattern=patterns.DETECTOR)]
ArmName = Annotated[str, StringConstraints(pattern=patterns.ARM)]
EditionTag = Annotated[str, StringConstraints(pattern=patterns.EDITION)]
Named = Annotated[str, StringConstraints(pattern=patterns.NAMED)]
Secret = Annotated[str, StringConstraints(pattern=patterns.SECRET)]
DocumentId = Annotated[str, StringConstraints(pattern=patterns.DOCUMENT)]


class Misplaced(ValueError):  # noqa: N818 - pydantic makes a fault of it
    """A fault of a record whose fields are each right, with the place in it where a person would look."""

    def __init__(self, fact: str, *loc: str | int) -> None:
        super().__init__(fact)
        self.loc = loc


class Record(BaseModel):
    """A frozen value that refuses what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _is_empty(value: object) -> bool:
    """True for fields that are not written where they say nothing, so that what was sealed before they existed stays whole."""
    return value is None or value == () or value == {}


def _is_unknown(value: object) -> bool:
    """As ``_is_empty``, for what is not known where nothing is said."""
    return value == "not known"


def _make_undecided(value: Any, known: Callable[[Any], Any]) -> Any:
    """``value`` where it still says ``<...>``, which `status` lists and `commit` refuses; else what the field knows."""
    return value if isinstance(value, str) and re.fullmatch("<[^<>]+>", value) else known(value)


def _is_none(value: object) -> bool:
    """As ``_is_empty``, for fields in which an empty list says something."""
    return value is None
