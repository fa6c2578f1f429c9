"""Texts that were there before: in earlier editions of the study, in the demonstration, among the practice texts.

*Reads* the frozen manifests of earlier editions, the texts that the study keeps of them, and those that ship with
penmark. *Writes* nothing. What an earlier edition's manifest names and the study no longer holds is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import NamedTuple

from penmark import study
from penmark.exposing import before
from penmark.study import Edition, Study

DEMONSTRATION = "penmark-demo"
"""The study that is the demonstration; its own texts are no news in it."""
_DEMONSTRATED = "the demonstration's text"


class Old(NamedTuple):
    """A text of before: what it is called, its bytes, and whether it is withheld."""

    name: str
    raw: bytes
    hidden: bool


class Row(NamedTuple):
    """A document of an earlier edition. ``hidden``: attested, and withheld."""

    edition: str
    arm: str
    address: str
    attested: bool
    hidden: bool


class Earlier:
    """What the editions before this one froze, by document; of several the last one counts."""

    def __init__(self, place: Study, edition: Edition) -> None:
        self._place = place
        self.rows: dict[str, Row] = {}
        for other in before(place, edition):
            for number, value in study.records(other.manifest):
                if number > 1:
                    made = value["provenance"]["kind"] == "attested"
                    hidden = made and value["withheld"] is not None
                    self.rows[value["id"]] = Row(other.tag, value["arm"], value["address"], made, hidden)

    def arm(self, name: str) -> set[str]:
        """The documents that an arm had before."""
        return {document for document, row in self.rows.items() if row.arm == name}

    def texts(self, present: set[str]) -> Iterator[Old]:
        """The texts of before that are not among the addresses ``present``."""
        wanted = {row.address: (name, row) for name, row in self.rows.items() if row.address not in present}
        folders = [self._place.arm(name) for name in sorted({row.arm for _, row in wanted.values()})]
        for folder in [*folders, self._place.private_texts] if wanted else []:
            for address, raw, _ in study.read_texts(folder):
                if address in wanted:
                    name, row = wanted.pop(address)
                    yield Old(f"{name} of {row.edition}", raw, row.hidden)


def shipped(study_name: str, demonstrated: Iterable[tuple[str, bytes]] = ()) -> Iterator[Old]:
    """The practice texts, and the demonstration's: those that come with penmark, and ``demonstrated``."""
    folders = [("practice", "the practice text")]
    if study_name != DEMONSTRATION:
        folders.append(("demo/texts", _DEMONSTRATED))
        yield from (Old(f"{_DEMONSTRATED} {name}", raw, False) for name, raw in demonstrated)
    for folder, called in folders:
        inside = files("penmark").joinpath(folder)
        for path in sorted(inside.iterdir(), key=lambda each: each.name) if inside.is_dir() else []:
            if path.name.endswith(".txt"):
                yield Old(f"{called} {path.name.removesuffix('.txt')}", path.read_bytes(), False)
