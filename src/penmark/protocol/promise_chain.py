"""The promise before this one: which it is, what an edition carries of it, what differs, and which amendments are announced.

*Reads* seals/promise.json, protocol.json, detectors/ and amendments/ of promised editions. *Writes* earlier/ of one that is
about to be promised. *Never* takes a file for promised that the earlier seal does not name.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from penmark import cards, protocol, study
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.protocol.promise_differences import Difference, between, keyed
from penmark.records import Amendment
from penmark.study import Edition, seal_files

_RESTORE = "Restore the promise of the earlier edition from a copy, or from its bundle."


class Earlier(NamedTuple):
    """The promise before: its edition, when it was sealed, and what it says (``differences.keyed``)."""

    tag: str
    sealed_at: str
    promise: dict[str, Any]


def before(editions: Iterable[Edition], edition: Edition) -> Edition | None:
    """Of these editions, oldest first, the last that was promised before ``edition``, published or not; None without one."""
    found = None
    for each in editions:
        if each.root == edition.root:
            break
        if each.seal("promise").is_file():
            found = each
    return found


def read(edition: Edition, *, held: bool = True) -> Earlier:
    """What was promised in an edition, or what of it lies in ``earlier/``. ``held``: raise PenmarkError where a file is not as
    sealed; of an edition's own promise others say so."""
    seal, promised = seal_files.read_seal(edition, "promise"), protocol.read_sealed(edition)
    names = [detector.name for detector in promised.detectors]
    for path, file in _collect_sealed_files(edition, names).items() if held else ():
        if canonical_json.sha256(study.read_bytes(file)) != seal.digests.get(path):
            fact = f"is not the file that the promise of {seal.edition} names"
            raise PenmarkError(fact, place=str(file), remedy=_RESTORE)
    return Earlier(
        seal.edition, seal.sealed_at, keyed(promised, {name: cards.read_sealed_card(edition, name) for name in names})
    )


def carry(earlier: Edition, edition: Edition) -> None:
    """Copy what strangers need of an earlier promise into ``earlier/``: its seal, its protocol and its cards."""
    names = [detector.name for detector in protocol.read_sealed(earlier).detectors]
    target = edition.earlier
    for left_over in target.root.glob("*.json"):
        left_over.unlink()  # of a commit that did not come to its seal
    for source, copy in zip(
        _collect_sealed_files(earlier, names).values(), _collect_sealed_files(target, names).values(), strict=True
    ):
        study.write_bytes(copy, study.read_bytes(source))
    study.write_bytes(target.seal("promise"), study.read_bytes(earlier.seal("promise")))


def previous(edition: Edition) -> str | None:
    """The digest of the promise seal in ``earlier/``, which the next one names; None for the first promise of a study."""
    path = edition.earlier.seal("promise")
    return canonical_json.sha256(study.read_bytes(path)) if path.is_file() else None


def differences(edition: Edition) -> tuple[Earlier, list[Difference]] | None:
    """The promise before that of ``edition``, and what differs; None for the first. Raises PenmarkError as ``read``."""
    if not edition.earlier.seal("promise").is_file():
        return None
    earlier = read(edition.earlier)
    return earlier, between(earlier.promise, read(edition, held=False).promise)


# --- the amendments between promises -----------------------------------------------------------------------------------


def read_amendment(path: Path) -> Amendment:
    """The amendment in a file. Raises PenmarkError where it is not canonical or not an amendment of that number."""
    data = study.read_bytes(path, limit=2**24)
    canonical_json.decode_json(data, place=str(path))
    try:
        found = Amendment.model_validate_json(data)
    except ValidationError as error:
        raise study.make_validation_faults(str(path), error.errors(include_url=False)) from None
    if path.name != f"{found.number:04d}.json":
        raise PenmarkError(
            f"holds amendment {found.number}", place=str(path), remedy="Restore the file of that number."
        )
    return found


def announced(editions: Iterable[Edition]) -> list[Amendment]:
    """All amendments of these editions by number, each once. Raises PenmarkError where two differ under one number."""
    found: dict[int, Amendment] = {}
    for path in amendment_files(editions):
        amendment = read_amendment(path)
        if found.setdefault(amendment.number, amendment) != amendment:
            raise PenmarkError(
                f"is another amendment {amendment.number} than that of an earlier edition",
                place=str(path),
                remedy="Restore it: an amendment is announced once and stays as it is.",
            )
    return [found[number] for number in sorted(found)]


def amendment_files(editions: Iterable[Edition]) -> list[Path]:
    """The files of amendments of these editions, each edition's by number."""
    return [path for edition in editions for path in sorted(edition.amendments.glob("*.json"))]


def quarter(tag: str) -> tuple[int, int]:
    """Year and quarter of an edition's tag, which sort as the editions do."""
    year, number = tag.rsplit("-", 2)[1:]
    return int(year), int(number.removeprefix("Q"))


def _collect_sealed_files(edition: Edition, names: Iterable[str]) -> dict[str, Path]:
    """Protocol and cards, by the path that the seal of an edition names."""
    return {"protocol.json": edition.protocol_json} | {f"detectors/{n}.json": edition.sealed_card(n) for n in names}
