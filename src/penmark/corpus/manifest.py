"""The manifest: the frozen list of an edition's documents (docs/format.md, 5).

*Reads* ``corpus/<arm>/documents.jsonl`` and the pools of drawn arms to freeze, ``manifest.jsonl`` to read. *Writes*
``manifest.jsonl`` and, where an arm was drawn, ``pool.jsonl``.
*Never* freezes twice, or before the promise; never seals (``penmark freeze`` screens, freezes and seals); never reads
two documents with one id, or more or fewer than its head says. Many rows stay plain dictionaries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from penmark import study
from penmark.corpus.exposures import of_documents
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.records import Document, Protocol
from penmark.study import Edition, Study
from penmark.text import SPACED, WORD_RULE, rule_of

_HEAD = {"arms", "documents", "edition", "kind", "study", "word_rule"}
_FURTHER = {"gathered_by"}  # from format 2 on, where a source gave the text
_KEYS = {field.alias or name for name, field in Document.model_fields.items()} - _FURTHER
_RESTORE = "Restore the manifest as it was sealed, or get the bundle again."


@dataclass(frozen=True)
class Manifest:
    """A frozen corpus. ``arms``: documents by arm, as promised; ``documents``: one row a document, in order."""

    study: str
    edition: str
    arms: dict[str, int]
    documents: list[dict[str, Any]]

    def records(self) -> Iterator[Document]:
        """The documents as records. Raises FaultsError for a row that is none."""
        for number, row in enumerate(self.documents, 2):
            try:
                yield Document.model_validate_json(canonical_json.encode_json(row))
            except ValidationError as error:
                raise study.make_validation_faults(
                    f"manifest.jsonl:{number}", error.errors(include_url=False)
                ) from None


def freeze_manifest(place: Study, edition: Edition, protocol: Protocol) -> Manifest:
    """Write the manifest of the corpus as it lies there, for all arms of the protocol; what it says is returned.

    Screening comes before. Documents carry what happened to them in earlier editions (``exposing``).
    Raises UsageError before the promise or after the freeze, FaultsError for records that cannot be read, an id twice,
    or an arm of another size than promised.
    """
    check_ready_to_freeze(edition)
    faults: list[Fault] = []
    rows: list[dict[str, Any]] = []
    seen: dict[str, str] = {}
    for arm in protocol.arms:
        own = sorted(_read_documents(place, arm.name, faults), key=lambda pair: str(pair[1]["id"]))
        for where, row in own:
            if row["id"] in seen:
                fact = f"the id {row['id']} is also at {seen[row['id']]}"
                faults.append(Fault(where, fact, "Give each document an id of its own."))
            seen[row["id"]] = where
        if len(own) != arm.documents:
            fact = f"{len(own)} documents in the arm {arm.name}; the promise is {arm.documents}"
            faults.append(Fault(str(place.documents(arm.name)), fact, f"`penmark collect {arm.name}` fills it."))
        rows.extend(row for _, row in own)
    if faults:
        raise FaultsError(faults)
    known, forms = of_documents(place, edition)
    for row in rows:
        row["exposures"] = list(
            dict.fromkeys([*row["exposures"], *known.get(row["id"], ()), *forms.get(row["canonical_sha256"], ())])
        )
    counts = Counter(str(row["arm"]) for row in rows)
    found = Manifest(protocol.study, edition.tag, {arm.name: counts[arm.name] for arm in protocol.arms}, rows)
    study.write_records(edition.manifest, [_make_head(found, rule_of(protocol.format)), *rows])
    _write_pools(place, edition, protocol)
    return found


def list_sealed_files(edition: Edition) -> list[str]:
    """The files, below the edition, that the corpus seal holds."""
    return ["manifest.jsonl", "screening.csv", *(["pool.jsonl"] if edition.pool.exists() else [])]


def _write_pools(place: Study, edition: Edition, protocol: Protocol) -> None:
    """The pools of the arms that were drawn for this edition, one after the other."""
    paths = [place.pool(arm.name, edition.tag) for arm in protocol.arms]
    lines = [value for path in paths if path.exists() for _, value in study.read_json_lines(path)]
    if lines:
        study.write_records(edition.pool, lines)
    elif edition.pool.exists():
        edition.pool.unlink()  # of a freeze that did not come to its seal


def check_ready_to_freeze(edition: Edition) -> None:
    """Raises UsageError unless the promise is sealed and the corpus is not."""
    if not edition.seal("promise").exists():
        raise UsageError(
            f"{edition.tag} is not promised yet, so nothing can be frozen",
            place=str(edition.seal("promise")),
            remedy="Run `penmark commit` first.",
        )
    if edition.seal("corpus").exists():
        raise UsageError(
            f"the corpus of {edition.tag} is frozen already",
            place=str(edition.seal("corpus")),
            remedy="A change binds the next edition: announce it with `penmark amend`. `penmark status` says what is next here.",
        )


def read_manifest(edition: Edition) -> Manifest:
    """The frozen corpus of an edition or bundle.

    Every line equals its canonical form, has the keys of a document, an id of its own, and an arm of the head; the
    head counts right. Raises PenmarkError (FaultsError for several faults) otherwise.
    """
    path = edition.manifest
    lines = study.read_json_lines(path)
    first = next(lines, None)
    head = first[1] if first is not None else {}
    if set(head) != _HEAD or head["kind"] != "manifest" or not isinstance(head["arms"], dict):
        raise PenmarkError("does not begin with the head of a manifest", place=f"{path}:1", remedy=_RESTORE)
    if head["word_rule"] not in (SPACED, WORD_RULE):
        fact = f"counts words by {head['word_rule']}; this release knows {SPACED} and {WORD_RULE}"
        raise PenmarkError(fact, place=f"{path}:1", remedy="Use the penmark release that wrote it.")
    faults: list[Fault] = []
    rows: list[dict[str, Any]] = []
    ids: set[str] = set()
    counts: Counter[str] = Counter()
    for number, row in lines:
        wrong = _describe_row_fault(row, ids, head["arms"])
        if wrong is None:
            ids.add(row["id"])
            counts[row["arm"]] += 1
            rows.append(row)
        else:
            faults.append(Fault(f"{path}:{number}", wrong, _RESTORE))
    if not faults and (dict(counts) != {k: n for k, n in head["arms"].items() if n} or len(rows) != head["documents"]):
        fact = f"says {head['documents']} documents {head['arms']}; there are {len(rows)} {dict(counts)}"
        faults.append(Fault(f"{path}:1", fact, _RESTORE))
    if faults:
        raise FaultsError(faults)
    return Manifest(head["study"], head["edition"], head["arms"], rows)


def _describe_row_fault(row: dict[str, Any], ids: set[str], arms: dict[str, int]) -> str | None:
    """What is wrong with a row, without making a record of it."""
    if row.keys() - _FURTHER != _KEYS:
        odd = sorted(_KEYS ^ (row.keys() - _FURTHER))
        return f"has not the keys of a document: {', '.join(odd)}"
    if not isinstance(row["id"], str) or row["id"] in ids:
        return f"the id {row['id']} a second time" if row["id"] in ids else "has no id"
    if row["arm"] not in arms:
        return f"is of the arm {row['arm']}, which the head does not name"
    if not isinstance(row["provenance"], dict):
        return "has no provenance"
    return None


def _make_head(frozen: Manifest, word_rule: str) -> dict[str, Any]:
    return {
        "arms": frozen.arms,
        "documents": len(frozen.documents),
        "edition": frozen.edition,
        "kind": "manifest",
        "study": frozen.study,
        "word_rule": word_rule,
    }


def _read_documents(place: Study, arm: str, faults: list[Fault]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and row of each document of an arm; each was a record before it is frozen."""
    path: Path = place.documents(arm)
    if not path.exists():
        return
    for number, line in study.read_lines(path):
        where = f"{path}:{number}"
        row = canonical_json.decode_json(line, place=where)
        try:
            document = Document.model_validate_json(line)
        except ValidationError as error:
            faults.extend(study.make_validation_faults(where, error.errors(include_url=False)).faults)
            continue
        if document.arm != arm:
            faults.append(Fault(where, f"says it is of the arm {document.arm}", f"Fill {arm} with `penmark collect`."))
        elif row.keys() - _FURTHER != _KEYS:
            faults.append(Fault(where, "leaves fields out", f"Fill {arm} again with `penmark collect`."))
        else:
            yield where, row
