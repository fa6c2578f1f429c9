"""Where things are: the folders and files of a study and of its editions.

*Reads* names, and whether study.yaml says that a folder is a study. *Writes* nothing. *Never* knows what is in other files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penmark.errors import UsageError
from penmark.study import study_marker
from penmark.study.files import beside

EXTRACT = "SAME-AS-BUNDLE.sha256"
"""The list in an extract about one detector: its files that are byte for byte those of the bundle."""


@dataclass(frozen=True)
class Edition:
    """The places of one edition, also of a bundle, which has the same layout. Paths only."""

    root: Path

    @property
    def tag(self) -> str:
        return self.root.name

    @property
    def protocol_yaml(self) -> Path:
        return self.root / "protocol.yaml"

    @property
    def protocol_json(self) -> Path:
        return self.root / "protocol.json"

    @property
    def manifest(self) -> Path:
        return self.root / "manifest.jsonl"

    @property
    def pool(self) -> Path:
        """Who was a candidate of the arms that were drawn; absent where none was."""
        return self.root / "pool.jsonl"

    @property
    def screening(self) -> Path:
        return self.root / "screening.csv"

    @property
    def seals(self) -> Path:
        return self.root / "seals"

    @property
    def detectors(self) -> Path:
        return self.root / "detectors"

    @property
    def journals(self) -> Path:
        return self.root / "journal"

    @property
    def evidence(self) -> Path:
        return self.root / "evidence"

    @property
    def tables(self) -> Path:
        return self.root / "tables"

    @property
    def report(self) -> Path:
        return self.root / "report"

    @property
    def amendments(self) -> Path:
        return self.root / "amendments"

    @property
    def earlier(self) -> Earlier:
        """What this edition carries of the promise before it."""
        return Earlier(self.root / "earlier")

    @property
    def deviations(self) -> Path:
        return self.root / "deviations.jsonl"

    @property
    def pilot(self) -> Path:
        return self.root / "pilot"

    def seal(self, name: str) -> Path:
        return self.seals / f"{name}.json"

    def seal_names(self) -> list[str]:
        """The seals that exist, in their order: promise, corpus, heads-0001 …, evidence."""
        rank = {"promise": 0, "corpus": 1, "evidence": 3}
        return sorted((p.stem for p in _list_files(self.seals, ".json")), key=lambda name: (rank.get(name, 2), name))

    def sealed_card(self, detector: str) -> Path:
        return self.detectors / f"{detector}.json"

    def journal_files(self) -> list[Path]:
        """Every journal, by name."""
        return sorted(_list_files(self.journals, ".jsonl"), key=lambda p: p.name.encode())


def _list_files(folder: Path, ending: str) -> list[Path]:
    """What is in a folder and has that ending. Raises OSError for a folder that may not be read, where ``glob`` finds
    nothing: nobody is told that nothing is sealed because he may not look."""
    found = folder.iterdir() if folder.is_dir() else ()
    return [path for path in found if path.name.endswith(ending) and not beside(path.name)]


@dataclass(frozen=True)
class Earlier(Edition):
    """The places of what an edition carries of the promise before its own: seal, protocol and cards, in one folder."""

    def seal(self, name: str) -> Path:
        return self.root / f"{name}.json"

    def sealed_card(self, detector: str) -> Path:
        return self.root / f"detector-{detector}.json"


@dataclass(frozen=True)
class Study:
    """The places of a study. Paths only."""

    root: Path

    @property
    def marker(self) -> Path:
        return self.root / "study.yaml"

    @property
    def private(self) -> Path:
        return self.root / "private"

    @property
    def seed(self) -> Path:
        return self.private / "seed"

    def seed_of(self, tag: str) -> Path:
        """The secret seed of an edition: ``private/seed``, or once a later edition has begun ``private/seed-<tag>``."""
        kept = self.private / f"seed-{tag}"
        return kept if kept.exists() else self.seed

    @property
    def salts(self) -> Path:
        return self.private / "salts.jsonl"

    @property
    def signing(self) -> Path:
        """The private key under which exports of written sessions are signed."""
        return self.private / "signing.pem"

    @property
    def withdrawn(self) -> Path:
        """The tombstones of texts that their authors took back."""
        return self.private / "withdrawn.jsonl"

    @property
    def private_texts(self) -> Path:
        return self.private / "texts"

    @property
    def corpus(self) -> Path:
        return self.root / "corpus"

    @property
    def cards(self) -> Path:
        """Cards of the user's own, beside the protocol."""
        return self.root / "cards"

    @property
    def changes(self) -> Path:
        return self.root / "CHANGES.md"

    def arm(self, name: str) -> Path:
        return self.corpus / name

    def documents(self, arm: str) -> Path:
        return self.corpus / arm / "documents.jsonl"

    def pool(self, arm: str, tag: str) -> Path:
        """From whom an arm was drawn for an edition."""
        return self.corpus / arm / f"pool-{tag}.jsonl"

    def rejected(self, arm: str, tag: str) -> Path:
        """What models were asked for, for an edition, and is not in the arm."""
        return self.corpus / arm / tag / "rejected.jsonl"

    @property
    def bundles(self) -> Path:
        """Where `publish` puts bundles unless told otherwise."""
        return self.root / "bundles"

    def editions(self) -> list[Edition]:
        """All editions, oldest first (tags sort by name within a series, then year and quarter)."""
        folder = self.root / "editions"
        found = [Edition(p) for p in folder.iterdir() if p.is_dir()] if folder.is_dir() else []
        return sorted(found, key=lambda e: (e.tag.split("-")[1:], e.tag))

    def edition(self, tag: str | None = None) -> Edition:
        """The edition of that tag, or the newest. Raises UsageError where there is none."""
        known = self.editions()
        found = known if tag is None else [e for e in known if e.tag == tag]
        if not found:
            tags = ", ".join(e.tag for e in known)
            raise UsageError(
                f"there is no edition {tag}" if tag is not None else "the study has no edition",
                place=str(self.root / "editions"),
                remedy=f"It has {tags}." if tags else "Start one with `penmark init`.",
            )
        return found[-1]


def is_bundle(folder: Path) -> bool:
    """Whether a folder looks like a published bundle; whether it is a sound one, `penmark verify` says."""
    return (folder / "format").is_file() and (folder / "SHA256SUMS").is_file()


def refuse_extract(folder: Path) -> None:
    """Raises UsageError for an extract about one detector (`publish --detector`), which looks like a bundle and is none."""
    if (folder / EXTRACT).is_file() and not any((folder / name).exists() for name in ("format", "SHA256SUMS")):
        raise UsageError(
            "is an extract about one detector, not a bundle",
            place=str(folder),
            remedy=f"It is checked against the bundle that it was taken from: `sha256sum -c {EXTRACT}` here, the same file in "
            "the folder of that bundle, then `penmark verify BUNDLE`. Its README.md has the lines.",
        )


def find_study(folder: Path) -> Study:
    """The study in ``folder``, or in the nearest folder above it.

    Raises UsageError where there is none, PenmarkError where its ``study.yaml`` is not one.
    """
    study = _find_study(folder)
    study_marker.check_study_marker(study.marker)
    return study


def _find_study(folder: Path) -> Study:
    study = Study(folder)
    if not folder.is_dir():
        raise UsageError("there is no such folder", place=str(folder), remedy="Look at the name after -C.")
    if not study.marker.is_file():
        for above in folder.resolve().parents:
            if Study(above).marker.is_file():
                return Study(above)
        refuse_extract(folder)
        if is_bundle(folder):
            remedy = "`penmark verify` checks it; `penmark init FOLDER --from BUNDLE` starts a replication of it."
            raise UsageError("is a bundle, not a study", place=str(folder), remedy=remedy)
        raise UsageError(
            "there is no study here, nor above (no study.yaml)",
            place=str(folder),
            remedy="Go to the study's folder, name it with -C DIR, or start one with `penmark init`.",
        )
    return study
