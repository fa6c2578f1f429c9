"""Texts that were there before: in earlier editions of the study, in the demonstration, among the practice texts.

*Reads* the frozen manifests of earlier editions, the texts that the study keeps of them, and those that ship with
penmark. *Writes* nothing. What an earlier edition's manifest names and the study no longer holds is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import NamedTuple

from penmark import study
from penmark.corpus.exposures import list_earlier_editions
from penmark.stages.screen.findings import ScreeningFindings
from penmark.stages.screen.record_pass import RecordPass
from penmark.study import Edition, Study

DEMONSTRATION = "penmark-demo"
"""The study that is the demonstration; its own texts are no news in it."""
_DEMONSTRATED = "the demonstration's text"


ANEW = "An arm that does not persist is made anew for each edition: write the text again, after the promise."


class Old(NamedTuple):
    """A text of before: what it is called, its bytes, whether it is withheld, and whether an edition of this study had it."""

    name: str
    raw: bytes
    hidden: bool
    edition: bool = False


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
        self.forms: dict[str, list[tuple[str, str]]] = {}
        """By address, canonical digest or draft's digest: the documents and editions that had it, whatever is kept of them."""
        for other in list_earlier_editions(place, edition):
            for number, value in study.read_json_lines(other.manifest):
                if number > 1:
                    draft = value["provenance"].get("draft_sha256")
                    for digest in {value["address"], value["canonical_sha256"], draft} - {None}:
                        self.forms.setdefault(digest, []).append((value["id"], other.tag))
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
                    yield Old(f"{name} of {row.edition}", raw, row.hidden, True)


def again(ledger: RecordPass, earlier: Earlier, found: ScreeningFindings) -> None:
    """Tell of texts that an earlier edition had, by their digests alone: byte for byte, but for form, or as a draft.

    A document that persists under its own id is none of them.
    """
    drafts = {edit.entry.where.document: edit.draft_sha256 for edit in ledger.edits}
    for entry in ledger.entries:
        arm, name = ledger.protocol.arms[entry.number], entry.where.document
        own = [each for each in (entry.address, entry.canonical_sha256, drafts.get(name)) if each is not None]
        before = [
            each for digest in own for each in earlier.forms.get(digest, ()) if each[0] != name or not arm.persists
        ]
        if not before:
            continue
        old, tag = before[-1]
        if arm.persists:
            message = f"has the text of {old} of {tag}, under another id"
            remedy = "Give it its old id, or replace it: what happened to the text goes with it."
            found.add("seen-before", entry.where, message, remedy)
        else:
            ledger.again.add(name)
            found.add("made-before", entry.where, f"has the text of {old} of {tag}, or its draft", ANEW)


def list_shipped_texts(study_name: str, demonstrated: Iterable[tuple[str, bytes]] = ()) -> Iterator[Old]:
    """The practice texts, and the demonstration's: those that come with penmark, and ``demonstrated``."""
    folders = [("shipped/practice", "the practice text")]
    if study_name != DEMONSTRATION:
        folders.append(("demo/texts", _DEMONSTRATED))
        yield from (Old(f"{_DEMONSTRATED} {name}", raw, False) for name, raw in demonstrated)
    for folder, called in folders:
        inside = files("penmark").joinpath(folder)
        for path in sorted(inside.iterdir(), key=lambda each: each.name) if inside.is_dir() else []:
            if path.name.endswith(".txt"):
                yield Old(f"{called} {path.name.removesuffix('.txt')}", path.read_bytes(), False)
