"""Fixtures for more than one room: a study whose promise is sealed, and the data that lie beside the repository."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from penmark import protocol, study
from penmark.format import canonical_json
from penmark.plugins import Draft
from penmark.records import Protocol, Seal

settings.register_profile("penmark", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("penmark")  # nothing is timed: a busy machine is no fault

EDITION = "BENCH-2026-Q4"
SEED = bytes(range(32))
ARCHIVE = {
    "kind": "archive",
    "grade": "archived",
    "source": "https://example.org/a",
    "archive": "a web archive",
    "evidence_date": "2020-05-01",
    "evidence_sha256": canonical_json.sha256(b"what the archive kept"),
    "licence": "CC0",
    "locator.by": "web-archive",
    "locator.url": "https://example.org/a",
}
GENERATED = {"kind": "generated", "grade": "stated", "provider": "P", "model": "M", "style": "plain"}
KINDS = {"human": ["archive", "attested"], "ai": ["generated", "transformed"], "mixed": ["edited", "transformed"]}


class Drafts:
    """A source that yields what it was given, faults last."""

    def __init__(self, *drafts: Draft, faults: Exception | None = None) -> None:
        self._drafts, self._faults = drafts, faults

    def gather(self, arm_name: str) -> Iterator[Draft]:
        yield from self._drafts
        if self._faults is not None:
            raise self._faults


class Corpus:
    """A study with a sealed promise, and short ways to fill it."""

    def __init__(self, root: Path, *arms: dict[str, Any], **further: Any) -> None:
        self.place = study.Study(root)
        (root / "study.yaml").parent.mkdir(parents=True, exist_ok=True)
        (root / "study.yaml").write_text("study: small\n")
        study.write_private(self.place.seed, SEED)
        self.protocol = Protocol.model_validate_json(canonical_json.encode_json(self._protocol(arms, further)))
        self.edition = study.Edition(root / "editions" / EDITION)
        study.write_bytes(self.edition.protocol_json, protocol.encode_protocol(self.protocol))
        study.write_bytes(self.edition.protocol_yaml, b"study: small\n")
        digests = {
            name: canonical_json.sha256(study.read_bytes(self.edition.root / name))
            for name in ("protocol.json", "protocol.yaml")
        }
        promise = Seal(
            kind="promise",
            study="small",
            edition=EDITION,
            sealed_at="2026-10-01T00:00:00Z",
            software="penmark test",
            rules=2,
            previous=None,
            digests=digests,
        )
        study.write_bytes(self.edition.seal("promise"), canonical_json.encode_json(promise.model_dump(mode="json")))

    @staticmethod
    def _protocol(arms: tuple[dict[str, Any], ...], further: dict[str, Any]) -> dict[str, Any]:
        detector = {
            "name": "coin",
            "card": "coin",
            "surface": "local",
            "tier": "none",
            "payer": "none",
            "relation": "none",
        }
        return {
            "study": "small",
            "title": "A small study",
            "edition": EDITION,
            "people": [{"name": "N", "role": "runs it", "interests": "none"}],
            "payer": "N",
            "schedule": "once",
            "window": {"opens": "2026-10-01", "closes": "2026-12-31"},
            "seed_sha256": canonical_json.sha256(SEED),
            "arms": list(arms) or [Corpus.arm("A", "human"), Corpus.arm("C", "ai")],
            "detectors": [detector],
        } | further

    @staticmethod
    def arm(name: str, truth: str, documents: int = 2, **further: Any) -> dict[str, Any]:
        """An arm as the protocol has it."""
        grades = ["archived", "released", "witnessed", "recorded", "stated"]
        return {
            "name": name,
            "title": name,
            "truth": truth,
            "documents": documents,
            "headline": truth != "mixed",
            "evidence": {"kinds": KINDS[truth], "grades": grades},
            "filled": "by the test",
            "persists": True,
        } | further

    def collect(self, arm: str, *drafts: Draft, anew: bool = False, faults: Exception | None = None) -> Any:
        """Collect drafts into an arm."""
        from penmark.stages.collect import collect_arm

        return collect_arm(self.place, self.protocol, arm, Drafts(*drafts, faults=faults), lambda n: None, anew=anew)

    def documents(self, arm: str) -> list[dict[str, Any]]:
        """The records of an arm."""
        return [value for _, value in study.read_json_lines(self.place.documents(arm))]


def draft(name: str, text: str | bytes, *, place: str | None = None, **further: str) -> Draft:
    """A draft; archive text unless ``kind`` says otherwise. Names of fields become fields, the rest provenance."""
    fields = {"language", "register", "subgroup", "author", "topic", "source", "exposures", "withheld"}
    told = {n: v for n, v in further.items() if n in fields}
    given = {n: v for n, v in further.items() if n not in fields}
    base = (
        GENERATED if given.get("kind") == "generated" else ARCHIVE if given.get("kind", "archive") == "archive" else {}
    )
    raw = text.encode() if isinstance(text, str) else text
    return Draft(name, raw, place or f"row {name}", told, base | given)


@pytest.fixture
def corpus(tmp_path: Path) -> Callable[..., Corpus]:
    """Makes a study in a folder of its own: ``corpus(arm, …, **protocol_fields)``."""

    def make(*arms: dict[str, Any], **further: Any) -> Corpus:
        return Corpus(tmp_path / "study", *arms, **further)

    make.arm = Corpus.arm  # type: ignore[attr-defined]
    make.draft = draft  # type: ignore[attr-defined]
    return make


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with data of others; skips where there is none."""
    folder = Path(os.environ.get("PENMARK_SHARED", Path(__file__).parents[2] / "shared")) / "data"
    if not folder.is_dir():
        pytest.skip("the data of others are not here (PENMARK_SHARED)")
    return folder
