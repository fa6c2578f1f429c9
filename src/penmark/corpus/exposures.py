"""Exposures: what happened to a document in earlier editions, so that fresh texts and known ones can be told apart.

*Reads* the manifests, protocols, journals and seals of the study's earlier editions. *Writes* nothing.
*Never* guesses: an edition is said to be public from the day on which its evidence was sealed.
"""

from __future__ import annotations

from collections.abc import Iterator

from penmark import protocol, study
from penmark.corpus import provenance
from penmark.errors import PenmarkError
from penmark.study import Edition, Study


def find_exposures(place: Study, edition: Edition) -> dict[str, tuple[str, ...]]:
    """By document that an earlier edition froze: "TAG", "TAG sent to DETECTOR" for each that does not run here, and
    "TAG public since DATE" where its text was published.

    Raises PenmarkError for an earlier edition that cannot be read.
    """
    return of_documents(place, edition)[0]


def of_documents(place: Study, edition: Edition) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Exposures by document, and by canonical text: under another id a text is no other. Raises as ``find_exposures``."""
    found: dict[str, list[str]] = {}
    forms: dict[str, list[str]] = {}
    for other in list_earlier_editions(place, edition):
        public = _public_since(other)
        asked = _collect_asked_documents(other)
        gone = provenance.read_withdrawn(place)
        for number, value in study.read_json_lines(other.manifest):
            if number == 1:
                continue
            name = str(value["id"])
            told = [other.tag, *(f"{other.tag} sent to {each}" for each in sorted(asked) if name in asked[each])]
            if public is not None and value["withheld"] is None and name not in gone:
                told.append(f"{other.tag} public since {public}")
            found.setdefault(name, []).extend(told)
            if value["canonical_sha256"] is not None:
                forms.setdefault(value["canonical_sha256"], []).extend(told)
    return {name: tuple(told) for name, told in found.items()}, {form: tuple(told) for form, told in forms.items()}


def list_earlier_editions(place: Study, edition: Edition) -> list[Edition]:
    """The frozen editions that are older than this one, oldest first."""
    every = place.editions()
    tags = [each.tag for each in every]
    older = every[: tags.index(edition.tag)] if edition.tag in tags else every
    return [each for each in older if each.seal("corpus").exists() and each.manifest.exists()]


def _public_since(edition: Edition) -> str | None:
    path = edition.seal("evidence")
    return str(study.read_json(path)["sealed_at"])[:10] if path.exists() else None


def _collect_asked_documents(edition: Edition) -> dict[str, set[str]]:
    """The documents that each detector of others was given, or that answers of others are about."""
    promised = protocol.read_sealed(edition)
    away = {detector.name for detector in promised.detectors if detector.surface != "local"}
    found: dict[str, set[str]] = {}
    for path in edition.journal_files():
        name = ""
        for _, line in _read_journal_lines(edition, path.name):
            name = str(line["detector"]) if line["kind"] == "start" else name
            if name in away and line["kind"] in ("sent", "reading"):
                found.setdefault(name, set()).add(str(line["document"]))
    return found


def _read_journal_lines(edition: Edition, name: str) -> Iterator[tuple[int, dict[str, object]]]:
    path = edition.journals / name
    for number, line in study.read_json_lines(path):
        if "kind" not in line:
            raise PenmarkError("is no line of a journal", place=f"{path}:{number}", remedy="Restore the journal.")
        yield number, line
