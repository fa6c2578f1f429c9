"""An arm while it is filled: what is there, what comes, and how it is put on the disk.

*Reads* ``corpus/``, ``private/salts.jsonl`` and the manifests of other editions. *Writes* as ``collecting`` says: salts
and texts first, then the records, so that no record ever stands without its text; what is left over is removed last.
*Never* removes a file that it did not write.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from penmark import study
from penmark.corpus import provenance
from penmark.errors import Fault, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.plugins import Draft
from penmark.records import Arm, Document
from penmark.stages.collect.candidate_pool import draw_candidates
from penmark.stages.collect.document_builder import BuiltDocument, build_document
from penmark.study import Study

_ADDRESS = re.compile(r"[0-9a-f]{64}")
_SHARD = re.compile(r"[0-9]{4,}\.jsonl\.gz")
NOTHING: Mapping[str, Mapping[str, int]] = {}
NOTHING_DEMOTED: Mapping[str, int] = {}


class Pool(NamedTuple):
    """How many texts were candidates of a draw, and how many of them eligible."""

    candidates: int
    eligible: int


class Collected(NamedTuple):
    """What a collection did to an arm. ``unused``: names of the source that no record knows; ``withdrawn``: texts that
    the source still has and their authors took back; ``pool``: where the arm was drawn; ``lacking``: what the arm asks of
    the texts of this source and does not get, at their places; ``demoted``: how many texts are of grade ``stated``, since
    what the source says of them cannot be asked for, by why."""

    arm: str
    added: int
    updated: int
    unchanged: int
    documents: int
    unused: tuple[str, ...]
    withdrawn: tuple[str, ...] = ()
    pool: Pool | None = None
    lacking: tuple[Fault, ...] = ()
    demoted: Mapping[str, int] = NOTHING_DEMOTED


class ArmStore:
    """The arm ``arm`` of a study, for the edition that is prepared. ``anew``: what is there goes. ``by``: the source."""

    def __init__(self, place: Study, arm: Arm, *, anew: bool, edition: str, by: str | None = None) -> None:
        self._place, self._arm, self._by = place, arm, by
        self._path = place.documents(arm.name)
        self._pool_path = place.pool(arm.name, edition)
        self._pool: list[dict[str, Any]] = []
        self._claims_path = place.arm(arm.name) / "claims.jsonl"
        self._entries: dict[str, BuiltDocument] = {}
        self._places: dict[str, str] = {}
        self._before = _collect_documents(self._path)
        frozen = _count_frozen(place, edition, arm.name)
        self._earlier = set(frozen) if arm.persists else set()  # documents that stay from earlier editions
        self._kept = set(frozen.values())  # addresses that the bundles of other editions need
        if anew and any(document.attested for document in self._before.values()):
            raise UsageError(
                f"the arm {arm.name} holds attested texts, which are not thrown away by the way",
                place=str(self._path),
                remedy="Take single texts out with `penmark withdraw ID`.",
            )
        if anew:
            self._before = {}
        elif not arm.persists:  # made anew for each edition; the earlier one has its manifest
            self._before = {name: known for name, known in self._before.items() if name not in frozen}
        self._salts = provenance.read_salts(place)
        self._held = set(self._salts)  # whose salts were there before
        self._withdrawn = provenance.read_withdrawn(place)
        self._back: set[str] = set()  # what was withdrawn and comes again
        self._elsewhere = {
            str(value.get("id")): path.parent.name
            for path in sorted(place.corpus.glob("*/documents.jsonl"))
            if path != self._path
            for _, value in study.read_json_lines(path)
        }

    def take(self, draft: Draft, faults: list[Fault]) -> None:
        """Make a document of a draft; what is wrong goes to ``faults``."""
        if draft.id in self._places:
            fact = f"the id {draft.id} is already at {self._places[draft.id]}"
            faults.append(Fault(draft.place, fact, "Give each text an id of its own."))
            return
        self._places[draft.id] = draft.place
        if draft.id in self._withdrawn:
            self._back.add(draft.id)
            return
        if draft.id in self._elsewhere:
            fact = f"the id {draft.id} is already in the arm {self._elsewhere[draft.id]}"
            faults.append(Fault(draft.place, fact, "Ids are unique over all arms of a study."))
            return
        try:
            made = build_document(draft, self._arm, self._make_salt, self._by)
        except PenmarkError as error:
            faults.extend(error.faults)
            return
        known = self._before.get(draft.id)
        if known is not None and known.address != made.document.address:
            fact = f"the id {draft.id} stands in the arm {self._arm.name} with another text"
            anew = "" if known.attested else f", or fill it again with `penmark collect {self._arm.name} --anew`"
            faults.append(Fault(draft.place, fact, f"Give the new text an id of its own{anew}."))
            return
        self._entries[draft.id] = made

    def _make_salt(self, name: str) -> bytes:
        if name not in self._salts:
            self._salts[name] = secrets.token_bytes(32)
        return self._salts[name]

    def draw(self, seed: bytes) -> None:
        """Of all that was taken keep what is drawn. Raises UsageError where that would drop an attested text."""
        kept = {name: document for name, document in self._before.items() if name in self._earlier}
        found = draw_candidates(self._arm, seed, [e for n, e in self._entries.items() if n not in kept], kept.values())
        dropped = self._before.keys() - kept.keys() - found.documents
        if any(self._before[name].attested for name in dropped):
            raise UsageError(
                f"this pool draws other texts, and {', '.join(sorted(dropped)[:5])} would have to go",
                place=str(self._pool_path),
                remedy="Attested texts are taken out by `penmark withdraw ID` alone; draw again from the pool of before.",
            )
        self._before = {name: document for name, document in self._before.items() if name not in dropped}
        self._entries = {name: entry for name, entry in self._entries.items() if name in found.documents | kept.keys()}
        self._salts = {n: salt for n, salt in self._salts.items() if n in self._held or n in self._entries}
        self._pool = found.lines

    def store(self, left_out: Mapping[str, Mapping[str, int]] = NOTHING) -> Collected:
        """Put everything on the disk. ``left_out``: what the source had and did not give, by what was read and reason."""
        merged = self._before | {name: made.document for name, made in self._entries.items()}
        texts = self._texts()
        wanted = self._kept.union(*(_list_addresses(document) for document in merged.values()))
        folder = self._place.arm(self._arm.name)
        _keep_folder(folder, texts, wanted)
        claims = {v["document"]: v["claims"] for _, v in _list_lines(self._claims_path) if v.get("document") in merged}
        claims |= {name: made.claims for name, made in self._entries.items()}
        told = [{"claims": claims[name], "document": name} for name in sorted(claims) if claims[name]]
        _write_values(self._claims_path, told, needed=bool(told))
        _write_left_out(folder / "left_out.json", left_out)
        if self._pool:
            _write_values(self._pool_path, self._pool, needed=True)
        _write_values(
            self._path, [merged[n].model_dump(mode="json", by_alias=True) for n in sorted(merged)], needed=True
        )
        _remove_loose(folder, wanted)
        same = sum(self._before.get(name) == made.document for name, made in self._entries.items())
        updated = sum(name in self._before for name in self._entries) - same
        unused = frozenset[str]().union(*(made.unused for made in self._entries.values()))
        added = len(self._entries) - same - updated
        counts = (added, updated, same, len(merged))
        pool = Pool(len(self._pool), sum(line["eligible"] for line in self._pool)) if self._pool else None
        names = (tuple(sorted(unused)), tuple(sorted(self._back)))
        demoted = Counter(made.demoted for made in self._entries.values() if made.demoted is not None)
        return Collected(
            self._arm.name, *counts, *names, pool, tuple(self._list_lacking()), dict(sorted(demoted.items()))
        )

    def _list_lacking(self) -> Iterator[Fault]:
        """What screening will find wrong with where these texts are from; but for sentences, about which a person decides."""
        for name, made in self._entries.items():
            for lack in provenance.list_shortfalls(made.document, self._arm):
                if lack.rule != provenance.SENTENCES:
                    yield Fault(self._places[name], lack.message, lack.remedy)

    def _texts(self) -> dict[str, bytes]:
        """The texts that lie open, by address. Those of attested documents go to private places on the way."""
        attested = [made for made in self._entries.values() if made.document.attested]
        if attested:
            salts = [{"document": name, "salt": salt.hex()} for name, salt in sorted(self._salts.items())]
            _write_private(self._place.salts, b"".join(canonical_json.encode_json(line) + b"\n" for line in salts))
        for made in attested:
            _write_private(self._place.private_texts / f"{made.document.address}.txt", made.text)
        texts = {e.document.address: e.text for e in self._entries.values() if not e.document.attested}
        return texts | {canonical_json.sha256(e.draft): e.draft for e in self._entries.values() if e.draft is not None}


# --- what is there -------------------------------------------------------------------------------------------------


def _list_addresses(document: Document) -> list[str]:
    """Under which names the bytes of a document lie in ``corpus/<arm>/``."""
    own = [] if document.attested else [document.address]
    return [*own, document.provenance.draft_sha256] if document.provenance.kind == "edited" else own


def _collect_documents(path: Path) -> dict[str, Document]:
    found: dict[str, Document] = {}
    if path.exists():
        for number, line in study.read_lines(path):
            try:
                document = Document.model_validate_json(line)
            except ValidationError as error:
                raise study.make_validation_faults(f"{path}:{number}", error.errors(include_url=False)) from None
            if document.id in found:
                remedy = "Remove one of the two lines, or restore the file."
                raise PenmarkError(f"the id {document.id} a second time", place=f"{path}:{number}", remedy=remedy)
            found[document.id] = document
    return found


def _list_lines(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    return study.read_json_lines(path) if path.exists() else ()


def _count_frozen(place: Study, edition: str, arm: str) -> dict[str, str]:
    """Ids and addresses of the arm's documents in the manifests of other editions."""
    found: dict[str, str] = {}
    for other in place.editions():
        if other.tag != edition:
            rows = (value for _, value in _list_lines(other.manifest) if value.get("arm") == arm)
            found |= {str(value.get("id")): str(value.get("address")) for value in rows}
    return found


# --- writing -------------------------------------------------------------------------------------------------------


def _write_private(path: Path, data: bytes) -> None:
    if not path.exists() or study.read_bytes(path) != data:
        study.write_private(path, data)


def _write_left_out(path: Path, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Keep what sources left out; what was read again replaces what was said of it before."""
    if counts:
        before = study.read_json(path) if path.exists() else {}
        study.write_bytes(
            path, canonical_json.encode_json(before | {name: dict(reasons) for name, reasons in counts.items()})
        )


def _write_values(path: Path, values: list[dict[str, Any]], *, needed: bool) -> None:
    data = b"".join(canonical_json.encode_json(value) + b"\n" for value in values)
    if path.exists() and not needed:
        path.unlink()
    elif needed and not (path.exists() and study.read_bytes(path) == data):
        study.write_bytes(path, data)


def _keep_folder(folder: Path, texts: dict[str, bytes], wanted: set[str]) -> None:
    """Write the texts that are not there yet: loose, or in shards."""
    sharded = folder.is_dir() and any(folder.glob("*.jsonl.gz"))
    if not sharded and len(wanted) < study.LOOSE:
        for address, raw in sorted(texts.items()):
            if not (folder / f"{address}.txt").exists():
                study.write_bytes(folder / f"{address}.txt", raw)
        return
    there = {address: raw for address, raw, _ in study.read_texts(folder) if _ADDRESS.fullmatch(address)}
    loose = any(_ADDRESS.fullmatch(path.stem) for path in folder.glob("*.txt"))
    if loose or not texts.keys() <= there.keys():
        study.write_texts(folder, there | texts)


def _remove_loose(folder: Path, wanted: set[str]) -> None:
    """Remove loose texts that lie in shards, or that no document has any more."""
    sharded = any(_SHARD.fullmatch(path.name) for path in folder.glob("*.jsonl.gz"))
    for path in folder.glob("*.txt"):
        if _ADDRESS.fullmatch(path.stem) and (sharded or path.stem not in wanted):
            path.unlink()
