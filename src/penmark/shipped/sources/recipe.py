"""A recipe: the facts of one data set, as ``recipes/<name>.yaml`` has them.

*Reads* that file. *Writes* nothing. *Never* a date or a digest that nobody has seen: unknown ones are called unknown.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from penmark import yaml_records
from penmark.errors import UsageError, suggest_name
from penmark.records import Date, Digest, Record

FOLDER = Path(__file__).parent / "recipes"


class Among(Record):
    """A column, and the values of it that a row must have one of."""

    column: str
    among: tuple[str, ...] = Field(min_length=1)


class Meaning(Record):
    """A cell as the file has it, and what a record has for it."""

    cell: str
    means: str


class Part(Record):
    """The texts of a data set that are of one kind. ``each``: a column that holds a list of texts; ``files``: patterns
    of text files, where the data set is a folder."""

    about: str
    where: tuple[Among, ...] = ()
    each: str | None = None
    files: str | None = None
    columns: dict[str, str] = {}
    fields: dict[str, str] = {}


class Recipe(Record):
    """``issued``: a day on which the data set was public, which dates its texts where it says nothing of each of them.

    ``columns``, ``values``, ``fields``: for all parts, NAME by NAME: which column holds it, what a cell of it means, and
    what it is where no column holds it. NAME is as in ``mapping``.
    """

    name: str
    title: str
    where: str
    licence: str
    archive: str
    issued: Date | None = None
    file: str
    sha256: Digest | Literal["unknown"]
    columns: dict[str, str] = {}
    values: dict[str, tuple[Meaning, ...]] = {}
    fields: dict[str, str] = {}
    parts: dict[str, Part] = Field(min_length=1)
    flaws: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _guard_writes(self) -> Recipe:
        for name, part in self.parts.items():
            columns = self.columns | part.columns
            if (part.files is None) == ("text" not in columns and part.each is None):
                raise ValueError(f"the part {name} needs one of a column `text`, `each`, and `files`")
            unmapped = sorted(set(self.values) - set(columns))
            if unmapped:
                raise ValueError(f"`values` of {', '.join(unmapped)}, which the part {name} takes from no column")
        return self

    def part(self, name: str) -> Part:
        """The part of that name. Raises UsageError."""
        if name not in self.parts:
            known = "; ".join(f"{each}: {part.about}" for each, part in self.parts.items())
            fact = f"{self.name} has no part {name}{suggest_name(name, self.parts)}"
            raise UsageError(fact, remedy=f"Name the arm like its part, or give part=…. {known}")
        return self.parts[name]


def list_recipes() -> list[str]:
    """The recipes that ship, by name."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


@functools.cache
def load_recipe(name: str) -> Recipe:
    """The recipe of that name. Raises UsageError where there is none."""
    if name not in list_recipes():
        raise UsageError(
            f"there is no recipe {name!r}{suggest_name(name, list_recipes())}",
            remedy=f"There are {', '.join(list_recipes())}; other data sets are described by options (docs/corpus.md).",
        )
    return yaml_records.read_record(FOLDER / f"{name}.yaml", Recipe)
