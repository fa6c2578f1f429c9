"""The ground that answers stand on: the sealed promise, and the frozen documents as columns, with their bytes.

*Reads* protocol.json, detectors/, seals/ and manifest.jsonl of an edition; of the study the seed, the salts and the texts.
*Writes* nothing but a temporary copy of sharded texts. *Never* gives out a text whose address is another.
A document is known by its position in the manifest (from 0), so that a million of them stay small.
"""

from __future__ import annotations

import bisect
import os
import re
import tempfile
import threading
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from penmark import cards, protocol, study
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.records import Document, Head, Protocol, Seal, SealedCard
from penmark.study import Edition, Study, seal_files

_LOST = "Restore the journal from a copy. Its answers are not asked for a second time."
_HEX64 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class SealedEdition:
    """What was sealed: the protocol, the cards by detector, the digests of their files, and of the corpus seal."""

    edition: Edition
    protocol: Protocol
    cards: dict[str, SealedCard]
    card_sha256: dict[str, str]
    corpus_sha256: str


def open_sealed_edition(edition: Edition, *, verb: str) -> SealedEdition:
    """The sealed ground of an edition, for ``verb`` ("scan", "record"), every sealed file held against its seal.

    Raises UsageError, with the next command to run, where a seal is missing or the evidence is already sealed.
    """
    promise, corpus = _read_seal(edition, "promise", verb), _read_seal(edition, "corpus", verb)
    if edition.seal("evidence").exists():
        raise UsageError(
            f"the evidence of {edition.tag} is sealed: no answer can be added",
            place=str(edition.seal("evidence")),
            remedy="Answers given from now on belong to the next edition: `penmark init --edition TAG` starts it.",
        )
    for seal, needed in ((promise, "protocol.json"), (corpus, "manifest.jsonl")):
        for path in dict.fromkeys(
            [needed, *seal.digests]
        ):  # the next seal would notice: that is after the first question
            _as_sealed(edition, path, seal)
    if gone := find_lost_lines(edition):
        raise FaultsError(gone)
    promised = protocol.read_sealed(edition)
    names = [detector.name for detector in promised.detectors]
    digests = {name: _as_sealed(edition, f"detectors/{name}.json", promise) for name in names}
    return SealedEdition(
        edition=edition,
        protocol=promised,
        cards={name: cards.read_sealed_card(edition, name) for name in names},
        card_sha256=digests,
        corpus_sha256=canonical_json.sha256(study.read_bytes(edition.seal("corpus"))),
    )


def _read_seal(edition: Edition, name: str, verb: str) -> Seal:
    path = edition.seal(name)
    if not path.exists():
        missing, command = {
            "promise": ("nothing is promised yet", "commit"),
            "corpus": ("the corpus is not frozen", "freeze"),
        }[name]
        pilot = "; `penmark scan --pilot` tries the detectors on practice texts before that" if verb == "scan" else ""
        raise UsageError(
            f"{edition.tag}: {missing}, so there is nothing to {verb} against",
            place=str(path),
            remedy=f"Run `penmark {command}` first{pilot}.",
        )
    return seal_files.read_seal(edition, name)


def _as_sealed(edition: Edition, path: str, seal: Seal) -> str:
    raw, sealed = study.read_bytes(edition.root / path), seal.digests.get(path)
    digest = canonical_json.sha256(raw)
    if sealed != digest:
        why = canonical_json.compare_line_ends(raw, lambda other: canonical_json.sha256(other) == sealed)
        raise PenmarkError(
            f"is not the file that the {seal.kind} seal names{why}",
            place=str(edition.root / path),
            remedy="Restore the sealed file from a copy; a change of rules is for the next edition: `penmark amend`.",
        )
    return digest


def find_lost_lines(edition: Edition) -> list[Fault]:
    """Journals that are not as they were sealed: what was lost would be asked a second time. Raises as ``_read_seal``."""
    heads: dict[str, tuple[str, Head]] = {}
    for name in edition.seal_names():
        if name.startswith("heads-"):
            heads |= {path: (name, head) for path, head in _read_seal(edition, name, "scan").journals.items()}
    return [
        Fault(str(edition.root / path), f"does not hold the {head.lines} lines that {name} was sealed over", _LOST)
        for path, (name, head) in heads.items()
        if not study.has_line_digest(edition.root / path, head.lines, head.head)
    ]


def read_seed(place: Study, promised: Protocol) -> bytes:
    """The secret seed: 32 bytes whose digest the promise names. Raises PenmarkError where it is another."""
    raw = study.read_bytes(place.seed_of(promised.edition), limit=4096)
    if canonical_json.sha256(raw) != promised.seed_sha256:
        raise PenmarkError(
            "is not the seed whose digest is in the promise",
            place=str(place.seed_of(promised.edition)),
            remedy="Restore the file `private/seed` that this edition was committed with.",
        )
    return raw


# --- documents as columns ------------------------------------------------------------------------------------------


@dataclass
class Documents:
    """The frozen documents: ids, arms and addresses by position."""

    arms: list[str]
    ids: list[str] = field(default_factory=list)
    attested: bytearray = field(default_factory=bytearray)
    _arm: array[int] = field(default_factory=lambda: array("H"))
    _addresses: bytearray = field(default_factory=bytearray)

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, document: Document) -> None:
        """Take the next document of the manifest."""
        self.ids.append(document.id)
        self.attested.append(document.attested)
        self._arm.append(self.arms.index(document.arm))
        self._addresses += bytes.fromhex(document.address)

    def address(self, position: int) -> str:
        """The address, 64 hexadecimal digits."""
        return self.key(position).hex()

    def key(self, position: int) -> bytes:
        """The address, 32 bytes."""
        return bytes(self._addresses[32 * position : 32 * position + 32])

    def arm(self, position: int) -> str:
        """The name of the arm."""
        return self.arms[self._arm[position]]

    def position(self, name: str) -> int | None:
        """Where the document of that id stands, or None. The ids of each arm are sorted, and no two are equal."""
        low = 0
        for number in range(len(self.arms)):
            high = bisect.bisect_right(self._arm, number, low)
            at = bisect.bisect_left(self.ids, name, low, high)
            if at < high and self.ids[at] == name:
                return at
            low = high
        return None

    def positions(self, arm: str) -> list[int]:
        """The positions of an arm's documents, in manifest order (by id)."""
        number = self.arms.index(arm)
        return list(range(bisect.bisect_left(self._arm, number), bisect.bisect_right(self._arm, number)))


def load_documents(
    ground: SealedEdition, see: Callable[[int, Document], None] = lambda position, document: None
) -> Documents:
    """The frozen documents. ``see`` is shown each one, with all its fields, as it goes by."""
    found = Documents([arm.name for arm in ground.protocol.arms])
    for position, document in enumerate(_read_documents(ground)):
        found.add(document)
        see(position, document)
    return found


def _read_documents(ground: SealedEdition) -> Iterator[Document]:
    lines = study.read_lines(ground.edition.manifest)
    next(lines, None)  # the head: counts by arm
    for number, line in lines:
        try:
            yield Document.model_validate_json(line)
        except ValidationError as error:
            raise study.make_validation_faults(f"{ground.edition.manifest}:{number}", error.errors()) from None


# --- texts ---------------------------------------------------------------------------------------------------------


class Texts:
    """The bytes of the frozen documents, from ``corpus/<arm>/`` and ``private/texts``, each held against its address."""

    def __init__(self, place: Study, documents: Documents) -> None:
        self._study, self._documents = place, documents
        self._spools: dict[str, _Spool] = {}
        self._lock = threading.Lock()
        self._salts = _read_salts(place)

    def name(self, position: int) -> str:
        """The document's id."""
        return self._documents.ids[position]

    def address(self, position: int) -> str:
        """The document's address."""
        return self._documents.address(position)

    def salt(self, position: int) -> bytes | None:
        """The salt of an attested document, else None. Raises PenmarkError where it is missing."""
        if not self._documents.attested[position]:
            return None
        name = self._documents.ids[position]
        if name not in self._salts:
            raise PenmarkError(
                f"there is no salt for the attested document {name}",
                place=str(self._study.salts),
                remedy="Restore the file; a text that was withdrawn cannot be asked about.",
            )
        return self._salts[name]

    def digest(self, position: int, raw: bytes) -> str:
        """The address of ``raw`` as a text of, or an answer about, that document: plain, or keyed with its salt."""
        salt = self.salt(position)
        return canonical_json.sha256(raw) if salt is None else canonical_json.fingerprint_text(salt, raw)

    def text(self, position: int) -> str:
        """The text, unchanged. Raises PenmarkError where it is missing, another, or not UTF-8."""
        raw, place = self._read(position), f"document {self._documents.ids[position]}"
        address = self._documents.address(position)
        if self.digest(position, raw) != address:
            why = canonical_json.compare_line_ends(raw, lambda other: self.digest(position, other) == address)
            raise PenmarkError(
                f"the stored text is not the frozen one (its address differs{why})",
                place=place,
                remedy="Restore the text; the corpus is sealed.",
            )
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise PenmarkError(f"the text is not UTF-8 ({error.reason} at byte {error.start})", place=place) from None

    def close(self) -> None:
        """Let go of the temporary copies."""
        with self._lock:
            for spool in self._spools.values():
                spool.close()
            self._spools = {}

    def _read(self, position: int) -> bytes:
        arm, name = self._documents.arm(position), f"{self._documents.address(position)}.txt"
        attested = self._documents.attested[position]
        if not attested and arm in self._spools:  # most texts of an arm are where its others are
            raw = self._spools[arm].read(self._documents.key(position))
            if raw is not None:
                return raw
        loose = self._study.private_texts / name if attested else self._study.arm(arm) / name
        if attested or loose.exists():
            return study.read_bytes(loose)
        with self._lock:  # several detectors ask side by side
            if arm not in self._spools:
                self._spools[arm] = _Spool(self._study.arm(arm))
        raw = self._spools[arm].read(self._documents.key(position))
        if raw is None:
            raise PenmarkError(
                f"the text of document {self._documents.ids[position]} is missing",
                place=str(loose),
                remedy="Restore it from where it came; the corpus is sealed, so it cannot be left out.",
            )
        return raw


class _Spool:
    """The sharded texts of one arm, unpacked into a temporary file that goes with the process; found by address."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the scan
        keys, starts = bytearray(), array("q")
        end = 0
        for address, raw, place in study.read_texts(folder):
            if not _HEX64.fullmatch(address):
                raise PenmarkError(f"{address!r} is not an address", place=place)
            keys += bytes.fromhex(address)
            starts.append(end)
            end += self._file.write(len(raw).to_bytes(8, "big") + raw)
        self._file.flush()
        order = sorted(range(len(starts)), key=lambda i: keys[32 * i : 32 * i + 32])
        self._keys = b"".join(bytes(keys[32 * i : 32 * i + 32]) for i in order)
        self._starts = array("q", (starts[i] for i in order))

    def close(self) -> None:
        self._file.close()

    def read(self, key: bytes) -> bytes | None:
        low, high = 0, len(self._starts)
        while low < high:
            middle = (low + high) // 2
            if self._keys[32 * middle : 32 * middle + 32] < key:
                low = middle + 1
            else:
                high = middle
        if self._keys[32 * low : 32 * low + 32] != key:
            return None
        size = int.from_bytes(os.pread(self._file.fileno(), 8, self._starts[low]), "big")
        return os.pread(self._file.fileno(), size, self._starts[low] + 8)


def _read_salts(place: Study) -> dict[str, bytes]:
    if not place.salts.exists():
        return {}
    found: dict[str, bytes] = {}
    for number, value in study.read_json_lines(place.salts):
        where = f"{place.salts}:{number}"
        if set(value) != {"document", "salt"} or not _HEX64.fullmatch(str(value["salt"])):
            raise PenmarkError("is not {document, salt}", place=where)
        if value["document"] in found:
            raise PenmarkError(f"a second salt for {value['document']}", place=where)
        found[value["document"]] = bytes.fromhex(value["salt"])
    return found
