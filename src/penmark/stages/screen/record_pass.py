"""The records of a corpus, one pass: who is there, and whether each has what its arm asks.

*Reads* ``corpus/<arm>/documents.jsonl``, ``claims.jsonl`` and ``decisions.csv``, and the promise's time. *Writes* nothing.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import ValidationError

from penmark import study
from penmark.corpus import grades, provenance
from penmark.errors import PenmarkError, count_noun
from penmark.format import canonical_json
from penmark.records import Arm, Document, Protocol, Sentences
from penmark.stages.screen.decisions import SENTENCES, read_decisions
from penmark.stages.screen.findings import Decision, ScreeningFindings, Where
from penmark.stages.screen.source_claims import list_contradictions
from penmark.study import Edition, Study

_UNITS = ("author", "topic", "source", "parent", "prompt")
_OLD = "2022-01-01"
_TYPO = "Correct the id, or take the line out."
_WHOLE = {"stop", "eos", "eos_token", "stop_sequence", "end_turn", "STOP", "COMPLETE", "STOP_SEQUENCE", "not reported"}
"""Reasons to end that are known to mean a whole text. A generator takes none without a reason; a table may not have it."""


class Entry(NamedTuple):
    """What is kept of a record until its text is read. ``unit``: what it is not independent of; ``prompt``: of a
    generated text."""

    where: Where
    number: int
    address: str
    attested: bool
    canonical_sha256: str | None
    words: int | None
    characters: int | None
    language: str | None
    unit: str
    prompt: str | None
    published: bool


class Edit(NamedTuple):
    """An edited text: its draft, and the edit as recorded."""

    entry: Entry
    draft_sha256: str
    words_changed: int
    draft_words: int
    sentences: Sentences | None
    language: str | None


class Child(NamedTuple):
    """A text that was made from another."""

    entry: Entry
    parent: str
    parent_sha256: str | None
    prompt: str | None


@dataclass
class RecordPass:
    """The records of all arms. Positions are those of ``entries``; ``number`` is the arm's in the protocol."""

    protocol: Protocol
    found: ScreeningFindings
    promised_on: str
    entries: list[Entry] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    again: set[str] = field(default_factory=set)
    """Documents whose text an earlier edition had, by their record."""
    _forms: dict[str, str] = field(default_factory=dict)

    def read(self, place: Study, number: int) -> None:
        """Take the records of an arm, and tell what is wrong with them."""
        arm = self.protocol.arms[number]
        path = place.documents(arm.name)
        file = path.relative_to(place.root).as_posix()
        units: dict[str, Counter[str]] = {name: Counter() for name in _UNITS}
        cells: list[Counter[tuple[str | None, ...]]] = [Counter() for _ in arm.quotas]
        claims = self._read_claims(place, arm)
        dates: list[str] = []
        said: dict[str, list[Where]] = {}  # what the source says against the record, and of which documents
        count = 0
        decided = self._read_decisions(place, arm)
        for row, document in self._documents(place, arm, file):
            count += 1
            where = Where(arm.name, document.id, file, row, document.attested and document.withheld is not None)
            self._enter(document, where, number)
            self._judge(document, arm, where)
            for message in list_contradictions(claims.get(document.id, {}), document, arm):
                said.setdefault(message, []).append(where)
            for unit, values in units.items():
                value = getattr(document.provenance, unit, None) if unit == "prompt" else document.facet(unit)
                if value is not None:
                    values[value] += 1
            for quota, cell in zip(arm.quotas, cells, strict=True):
                cell[tuple(document.facet(name) for name in sorted(quota.where))] += 1
            if document.provenance.kind == "archive":
                dates.append(document.provenance.evidence_date)
        for each in decided:
            if each.document not in self.ids or self.entries[self.ids[each.document]].number != number:
                fact = f"a decision about {each.document}, which is no document of the arm"
                self.found.add(
                    "invalid-decision", Where(arm.name, file=f"corpus/{arm.name}/decisions.csv"), fact, _TYPO
                )
        self._add_contradictions(arm, said, count, Where(arm.name, file=file))
        self._check_sizes(arm, count, cells, Where(arm.name, file=file))
        self._check_units(arm, units, Where(arm.name, file=file))
        late = [date for date in dates if date >= _OLD]
        if arm.truth == "human" and late:
            message = (
                f"the evidence of {len(late)} of {count} texts is of {_OLD[:4]} or later (the latest of {max(late)}): "
                "it does not show that they are older than the chat models"
            )
            remedy = "Find older copies; else the rates of this arm are of text that is said to be human."
            self.found.add("age-not-shown", Where(arm.name, file=file), message, remedy)

    def _documents(self, place: Study, arm: Arm, file: str) -> Iterator[tuple[int, Document]]:
        for row, line in self._lines(place, arm, file):
            try:
                canonical_json.decode_json(line, place=file)
                document = Document.model_validate_json(line)
            except ValidationError as error:
                told = study.make_validation_faults(file, error.errors(include_url=False)).faults
                self._add_invalid(arm, file, row, "; ".join(str(fault).removeprefix(f"{file}: ") for fault in told))
            except PenmarkError as error:
                self._add_invalid(arm, file, row, error.faults[0].fact)
            else:
                if document.arm == arm.name:
                    yield row, document
                else:
                    self._add_invalid(arm, file, row, f"the record says it is of the arm {document.arm}")

    def _lines(self, place: Study, arm: Arm, file: str) -> Iterator[tuple[int, bytes]]:
        path = place.documents(arm.name)
        try:
            yield from study.read_lines(path) if path.exists() else ()
        except PenmarkError as error:
            self._add_invalid(arm, file, None, error.faults[0].fact)

    def _add_invalid(self, arm: Arm, file: str, row: int | None, fact: str) -> None:
        where = Where(arm.name, file=file, row=row)
        self.found.add("invalid-record", where, fact, f"Fill the arm again: `penmark collect {arm.name}`.")

    def _read_claims(self, place: Study, arm: Arm) -> dict[str, dict[str, str]]:
        path = place.arm(arm.name) / "claims.jsonl"
        try:
            return {v["document"]: v["claims"] for _, v in study.read_json_lines(path)} if path.exists() else {}
        except (PenmarkError, KeyError) as error:
            self._add_invalid(arm, path.relative_to(place.root).as_posix(), None, str(error))
            return {}

    def _read_decisions(self, place: Study, arm: Arm) -> list[Decision]:
        path = place.arm(arm.name) / "decisions.csv"
        where = Where(arm.name, file=path.relative_to(place.root).as_posix())
        made = list(read_decisions(path, where, self.found))
        self.found.decisions |= {(each.rule, each.document): each for each in made}
        return made

    def _enter(self, document: Document, where: Where, number: int) -> None:
        own, unit = document.provenance, self.protocol.arms[number].unit
        entry = Entry(
            where,
            number,
            document.address,
            document.attested,
            document.canonical_sha256,
            document.words,
            document.characters,
            document.language,
            (None if unit == "document" else document.facet(unit)) or document.id,
            own.prompt if own.kind == "generated" else None,
            document.withheld is None,
        )
        first = self.ids.setdefault(document.id, len(self.entries))
        if first != len(self.entries):
            other = self.entries[first].where
            message = f"the id is also in {other.file}:{other.row}"
            self.found.add("duplicate-id", where, message, "Give each document an id of its own.")
        form = unicodedata.normalize("NFC", document.id)
        look = self._forms.setdefault(form, document.id)
        if look != document.id:
            message = f"the id looks like {look!a}, and is another: {document.id!a}"
            self.found.add("look-alike-id", where, message, "Give one of them another id; they are not merged.")
        self.entries.append(entry)
        if own.kind == "edited":
            edit = (own.draft_sha256, own.words_changed, own.draft_words, own.sentences, document.language)
            self.edits.append(Edit(entry, *edit))
        elif own.kind == "transformed":
            self.children.append(Child(entry, own.parent, own.parent_sha256, own.prompt))

    def _judge(self, document: Document, arm: Arm, where: Where) -> None:
        for lack in provenance.list_shortfalls(document, arm):
            self.found.add(lack.rule, where, lack.message, lack.remedy)
            decided = self.found.decisions.get((lack.rule, document.id))
            if lack.rule == SENTENCES and decided is not None and decided.decision == "changed":
                self.found.add("sentences-changed", where, str(decided), "Replace the text: an edit is not undone.")
        if self.protocol.format > 1 and (claimed := grades.lacking(document)) is not None:
            remedy = "Collect it again from where the evidence is, or as of grade stated: that grade is given by evidence alone."
            self.found.add("missing-provenance", where, claimed, remedy)
        own = document.provenance
        if own.kind == "attested" and own.session is not None and arm.sessions is not None and own.consent.publish:
            told = own.session.model_dump()
            for name in (name for name in arm.sessions.model_dump(exclude_none=True) if told.get(name) is None):
                message = f"a session that does not say its {name}; the arm asks for it"
                self.found.add("missing-provenance", where, message, "Give it, or replace the text.")
        if own.kind == "archive" and document.withheld is not None:
            message = (
                f"the text is not published ({document.withheld}); it is at {own.source}, SHA-256 {document.address}"
            )
            remedy = "Nothing need be done: with address and digest anyone can fetch it and see that it is the same."
            self.found.add("not-published", where, message, remedy)
        made = own.draft if own.kind == "edited" else own
        if made.kind != "generated":
            return
        if not arm.persists and made.generated_on is not None and made.generated_on < self.promised_on:
            message = f"generated on {made.generated_on}; the promise was sealed on {self.promised_on}"
            remedy = "An arm that is made anew for an edition is made after its promise: generate it again."
            self.found.add("made-before-promise", where, message, remedy)
        if made.finish_reason is not None and made.finish_reason not in _WHOLE:
            message = f"the model may not have ended the text (finish reason {made.finish_reason})"
            self.found.add("cut-off", where, message, "Replace it by the protocol's rule; texts are not completed.")

    def _add_contradictions(self, arm: Arm, said: dict[str, list[Where]], count: int, where: Where) -> None:
        """One finding for the arm where its source says the same of every document, else one for each document."""
        remedy = "Find out which is right; the truth of an arm is what the protocol says."
        for message, places in said.items():
            if len(places) == count > 1:
                self.found.add("contradictory-provenance", where, f"{message} (all {count} documents)", remedy)
            else:
                for place in places:
                    self.found.add("contradictory-provenance", place, message, remedy)

    def _check_sizes(self, arm: Arm, count: int, cells: list[Counter[tuple[str | None, ...]]], where: Where) -> None:
        if count != arm.documents:
            message = f"{count_noun(count, 'document')}; the promise is {arm.documents}"
            more = f"Add {arm.documents - count} (`penmark collect {arm.name}`)"
            if count > arm.documents:
                more = f"Take {count - arm.documents} out of its source, then `penmark collect {arm.name} --anew`"
            remedy = f"{more}; another size is another promise: `penmark amend`."
            self.found.add("unmet-quota", where, message, remedy)
        for quota, cell in zip(arm.quotas, cells, strict=True):
            names = sorted(quota.where)
            got = cell[tuple(quota.where[name] for name in names)]
            if got != quota.documents:
                asked = ", ".join(f"{name} {quota.where[name]}" for name in names)
                present = ", ".join(
                    f"{' / '.join(v or 'none' for v in values)} {n}" for values, n in cell.most_common(6)
                )
                message = f"{count_noun(got, 'document')} with {asked}; the promise is {quota.documents}"
                message += f" (there are: {present or 'none'})"
                remedy = "Collect what is missing, correct the records, or take out what is too much "
                remedy += f"(`penmark collect {arm.name} --anew` empties the arm first)."
                self.found.add("unmet-quota", where, message, remedy)

    def _check_units(self, arm: Arm, units: dict[str, Counter[str]], where: Where) -> None:
        for unit, values in units.items():
            total = values.total()
            if total > len(values) and unit != arm.unit:
                most = max(values.values())
                message = f"{total} documents come from {count_noun(len(values), unit)}; one stands behind {most}"
                remedy = f"They are not independent: `unit: {unit}` in the next edition's protocol gives the interval for that."
                if unit == "prompt":
                    remedy = "They are not independent: the interval covers chance among texts, not among prompts."
                self.found.add("repeated-unit", where, message, remedy)


def date_promise(edition: Edition) -> str:
    """The day on which the promise was sealed; empty where it is not."""
    path = edition.seal("promise")
    return str(study.read_json(path).get("sealed_at", ""))[:10] if path.exists() else ""
