"""Edited texts whose drafts were written by models, as an AI arm's texts are: each edit is joined to its draft, by id.

*Reads* the drafts that passed every gate, and what a source of edits yields. *Writes* ``corpus/<arm>/<edition>/drafts/``,
a file for each draft, for those who edit. *Never* takes an edit of another draft than the one that is on record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penmark import study
from penmark.errors import Fault, FaultsError, suggest_name
from penmark.plugins import Draft, Source
from penmark.records import Arm
from penmark.stages.generate.accepted_texts import AcceptedTexts
from penmark.stages.generate.open_run import ArmContext

_OWN = ("kind", "grade")


def holds_edits(arm: Arm) -> bool:
    """Whether the arm holds edits of what its models write, and not these texts themselves."""
    return arm.generation is not None and "edited" in arm.evidence.kinds and "generated" not in arm.evidence.kinds


def write_drafts(base: ArmContext, made: AcceptedTexts) -> int:
    """Lay out the drafts as they came, one file each; how many there are. A draft that a person took out goes."""
    folder = base.files.root / "drafts"
    drafts = {f"{draft.id}.txt": draft.text for draft in made.gather(base.arm.name)}
    for name, text in drafts.items():
        if not (folder / name).exists() or study.read_bytes(folder / name) != text:
            study.write_bytes(folder / name, text)
    for spot in base.grid.spots:
        if f"{spot.id}.txt" not in drafts:
            (folder / f"{spot.id}.txt").unlink(missing_ok=True)
    return len(drafts)


class Edits:
    """A source of edits, each with the draft that was made here under its id."""

    def __init__(self, source: Source, base: ArmContext) -> None:
        self._source, self._base = source, base

    @property
    def left_out(self) -> Mapping[str, Mapping[str, int]]:
        """What the source had and did not give."""
        found: Mapping[str, Mapping[str, int]] = getattr(self._source, "left_out", {})
        return found

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """The edits. Raises FaultsError at the end, for an edit without a draft, or of another one."""
        drafts = {draft.id: draft for draft in AcceptedTexts(self._base).gather(arm_name)}
        faults: list[Fault] = []
        try:
            for edit in self._source.gather(arm_name):
                if edit.provenance.get("kind") != "edited":
                    yield edit
                elif edit.id not in drafts:
                    fact = f"no draft of the arm is called {edit.id}{suggest_name(edit.id, drafts)}"
                    faults.append(Fault(edit.place, fact, "Give the edit the name of its draft."))
                else:
                    wrong = _find_contradictions(edit, drafts[edit.id])
                    faults += wrong
                    if not wrong:
                        yield _join_edit(edit, drafts[edit.id])
        except FaultsError as error:
            faults += error.faults
        if faults:
            raise FaultsError(faults)


def _find_contradictions(edit: Draft, draft: Draft) -> list[Fault]:
    """What the source says of the draft and the record says otherwise."""
    found = []
    if edit.draft not in (None, b"", draft.text):  # an empty cell says nothing
        found.append(Fault(edit.place, "is an edit of another draft than the one on record", "Leave the draft out."))
    for name, value in sorted(edit.provenance.items()):
        known = draft.provenance.get(name, value)
        if name not in _OWN and value != known:
            fact = f"{name} is {value}; the exchange of its draft says {known or 'nothing'}"
            found.append(Fault(edit.place, fact, f"Leave out the column `{name}`."))
    return found


def _join_edit(edit: Draft, draft: Draft) -> Draft:
    recorded = {name: value for name, value in draft.provenance.items() if name not in _OWN}
    return edit._replace(
        fields=draft.fields | edit.fields,
        provenance=recorded | {"draft_grade": draft.provenance["grade"]} | edit.provenance,
        draft=draft.text,
    )
