"""The forger's toolkit: change one thing in a bundle, then make all the rest fit it again, as far as anyone can.

A forger has everything but timestamps of authorities that the reader trusts, copies that others hold, and the release
from which the reader takes the verifier. ``finish`` links journals again, seals again, computes tables, page, README and
sums again; what is named in ``but`` it leaves as it is.
*Reads* and *writes* one bundle. *Never* cares whether what it makes is true.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from penmark import cards, protocol, study, yaml_records
from penmark.corpus import edition_departures
from penmark.corpus.manifest import read_manifest
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.journal import evidence_log
from penmark.page import descriptions, render_page
from penmark.stages import score
from penmark.stages.score import tables
from penmark.study import Edition

Json = dict[str, Any]
STAGES = (
    "departures",
    "earlier",
    "promise",
    "corpus",
    "journals",
    "tables",
    "heads",
    "evidence",
    "page",
    "readme",
    "changes",
    "sums",
)
"""What ``finish`` makes again."""


class Forger:
    """One bundle in the hands of somebody who wants it to say something else."""

    def __init__(self, root: Path) -> None:
        self.root, self.edition = root, Edition(root)

    # --- one thing -------------------------------------------------------------------------------------------------

    def read(self, path: str) -> bytes:
        """The bytes of a file; those in a ``.gz`` unpacked."""
        data = (self.root / path).read_bytes()
        return gzip.decompress(data) if path.endswith(".gz") else data

    def write(self, path: str, data: bytes) -> None:
        """Write a file; one that ends in ``.gz`` packed."""
        target = self.root / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(study.compress_gzip(data) if path.endswith(".gz") else data)

    def value(self, path: str) -> Any:
        """The value of a JSON file."""
        return json.loads(self.read(path))

    def replace(self, path: str, old: str, new: str, count: int = 1) -> None:
        """Put ``new`` where ``old`` stands, which must be there."""
        data = self.read(path)
        assert old.encode() in data, f"{path} has no {old!r}"
        self.write(path, data.replace(old.encode(), new.encode(), count))

    def edit(self, path: str, change: Callable[[Any], Any]) -> None:
        """Change the value of a canonical JSON file in place, or to what ``change`` returns."""
        value = json.loads(self.read(path))
        made = change(value)
        self.write(path, canonical_json.encode_json(value if made is None else made))

    def lines(self, path: str, change: Callable[[list[Any]], Any]) -> None:
        """Change the list of values of a JSON Lines file in place, or to what ``change`` returns."""
        values = [json.loads(line) for line in self.read(path).split(b"\n")[:-1]]
        made = change(values)
        self.write(path, b"".join(canonical_json.encode_json(v) + b"\n" for v in (values if made is None else made)))

    def row(self, path: str, change: Callable[[Json], Any], **wanted: Any) -> None:
        """Change the one line of a JSON Lines file that has these values."""

        def of(values: list[Json]) -> None:
            [value] = [v for v in values if all(v.get(k) == w for k, w in wanted.items())]
            change(value)

        self.lines(path, of)

    def promise(self, change: Callable[[Json], Any]) -> None:
        """Change the protocol, for machines and for people."""
        self.edit("protocol.json", change)
        self.write("protocol.yaml", yaml_records.format_yaml(json.loads(self.read("protocol.json"))).encode())

    def journals(self, detector: str) -> list[str]:
        """The journals of a detector."""
        name = re.compile(re.escape(detector) + r"(\.[0-9]+of[0-9]+)?\.jsonl")
        return [f"journal/{p.name}" for p in self.edition.journal_files() if name.fullmatch(p.name)]

    def answers(self, detector: str) -> dict[str, Json]:
        """The evidence about a detector, by document."""
        path = f"evidence/{detector}-0001.jsonl.gz"
        held = self.read(path).split(b"\n")[:-1] if (self.root / path).exists() else []
        return {value["document"]: value for value in map(json.loads, held)}

    def keep(self, detector: str, answers: dict[str, Json]) -> None:
        """Write the evidence about a detector in the order of its readings."""
        order = [
            value["document"]
            for path in self.journals(detector)
            for value in map(json.loads, self.read(path).split(b"\n")[:-1])
            if value["kind"] == "reading" and value["evidence_sha256"] is not None
        ]
        kept = [canonical_json.encode_json(answers[name]) + b"\n" for name in order if name in answers]
        self.write(f"evidence/{detector}-0001.jsonl.gz", b"".join(kept))

    def answer(self, detector: str, document: str, body: str, **reading: Any) -> None:
        """Let a detector have answered ``body`` about a document; ``reading``: what the reading then says."""
        raw = body.encode()
        digest = self.address(document, raw)
        answers = self.answers(detector)
        attempt = answers[document]["attempt"] if document in answers else 1
        answers[document] = evidence_log.make_evidence_line(evidence_log.Kept(detector, document, attempt, raw, digest))
        self.reading(detector, document, evidence_sha256=digest, **reading)
        self.keep(detector, answers)

    def reading(self, detector: str, document: str, **change: Any) -> None:
        """Change what the reading of a document says, in whichever journal it stands."""
        for path in self.journals(detector):
            values = [json.loads(line) for line in self.read(path).split(b"\n")[:-1]]
            if any(v["kind"] == "reading" and v["document"] == document for v in values):
                self.row(path, lambda value: value.update(change), kind="reading", document=document)

    def address(self, document: str, raw: bytes) -> str:
        """The address of ``raw`` as a text of, or an answer about, a document."""
        salts = self.root / "salts.jsonl"
        held = [json.loads(line) for line in salts.read_bytes().split(b"\n")[:-1]] if salts.exists() else []
        salt = {value["document"]: bytes.fromhex(value["salt"]) for value in held}.get(document)
        return canonical_json.sha256(raw) if salt is None else canonical_json.fingerprint_text(salt, raw)

    # --- all the rest ----------------------------------------------------------------------------------------------

    def finish(self, *but: str) -> None:
        """Make everything fit again, except ``but``."""
        assert set(but) <= set(STAGES), but
        if "departures" not in but:
            self._departures()
        if not {"earlier", "promise"} & set(but):
            self._earlier()
        if "promise" not in but:
            self.seal("promise", self._promised())
        if "corpus" not in but:
            self.seal("corpus", ["manifest.jsonl", "screening.csv"])
        if "journals" not in but:
            self.relink()
        made = {} if "tables" in but else self._tables()
        if "heads" not in but:
            for name in self.edition.seal_names():
                if name.startswith("heads-"):
                    self.seal(name, [])
        if "evidence" not in but:
            self.seal("evidence", sorted(f"tables/{p.name}" for p in self.edition.tables.iterdir()))
        if "page" not in but:
            self._page(made)
        if not {"readme", "changes"} <= set(but):
            self._words(but)
        if "sums" not in but:
            self.sums()

    def seal(self, name: str, files: Iterable[str]) -> None:
        """Seal these files and the journals again: those that the seal named, or for the evidence all that are there."""
        path = f"seals/{name}.json"
        if not (self.root / path).exists():
            return
        order = self.edition.seal_names()
        first = "earlier/promise.json" if (self.root / "earlier/promise.json").exists() else None
        before = f"seals/{order[order.index(name) - 1]}.json" if order.index(name) else first

        def change(seal: Json) -> None:
            seal["digests"] = {
                f: canonical_json.sha256((self.root / f).read_bytes()) for f in files if (self.root / f).exists()
            }
            seal["previous"] = None if before is None else canonical_json.sha256(self.read(before))
            if name == "evidence":
                seal["journals"] = {f"journal/{p.name}": {"lines": 0} for p in self.edition.journal_files()}
            heads = {}
            for journal, head in seal["journals"].items():
                if (self.root / journal).exists():
                    lines = self.read(journal).split(b"\n")[:-1]
                    count = len(lines) if name == "evidence" else min(head["lines"], len(lines))
                    heads[journal] = {"head": canonical_json.sha256(lines[count - 1]), "lines": count}
            seal["journals"] = heads

        self.edit(path, change)

    def _earlier(self) -> None:
        """Let the promise before have said what this one says: nothing tells it, as long as nobody has that promise."""
        if not self.edition.earlier.root.is_dir():
            return
        with contextlib.suppress(ValueError, KeyError, TypeError):
            was, now = self.value("earlier/protocol.json"), self.value("protocol.json")
            for name in [detector["name"] for detector in was["detectors"]]:
                (self.root / f"earlier/detector-{name}.json").unlink()
            own = {key: was[key] for key in ("edition", "seed_sha256", "window")}
            self.write("earlier/protocol.json", canonical_json.encode_json(now | own))
            digests = {"protocol.json": canonical_json.sha256(self.read("earlier/protocol.json"))}
            for name in [detector["name"] for detector in now["detectors"]]:
                if (self.root / f"detectors/{name}.json").exists():
                    self.write(f"earlier/detector-{name}.json", self.read(f"detectors/{name}.json"))
                    digests[f"detectors/{name}.json"] = canonical_json.sha256(self.read(f"detectors/{name}.json"))
            self.edit("earlier/promise.json", lambda seal: seal["digests"].update(digests))

    def relink(self) -> None:
        """Chain every journal again, from the corpus seal on."""
        for path in self.edition.journal_files():
            head = canonical_json.sha256(self.read("seals/corpus.json"))
            made = []
            for line in path.read_bytes().split(b"\n")[:-1]:
                made.append(canonical_json.encode_json({**json.loads(line), "prev": head}))
                head = canonical_json.sha256(made[-1])
            path.write_bytes(b"".join(line + b"\n" for line in made))

    def cards(self) -> None:
        """Let the journals say that they were made by the cards as they are now."""
        for path in self.edition.journal_files():
            text = path.read_bytes()
            detector = json.loads(text.split(b"\n")[0])["detector"]
            digest = canonical_json.sha256(self.read(f"detectors/{detector}.json"))
            path.write_bytes(re.sub(rb'"card_sha256":"[0-9a-f]{64}"', f'"card_sha256":"{digest}"'.encode(), text))

    def sums(self) -> None:
        """SHA256SUMS of all that is there."""
        files = (p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_file())
        names = sorted((name for name in files if name != "SHA256SUMS"), key=lambda name: name.encode())
        listed = "".join(f"{canonical_json.sha256((self.root / name).read_bytes())}  {name}\n" for name in names)
        (self.root / "SHA256SUMS").write_text(listed, encoding="utf-8")

    def _promised(self) -> list[str]:
        return ["protocol.json", "protocol.yaml", *(f"detectors/{p.name}" for p in self.edition.detectors.iterdir())]

    def _departures(self) -> None:
        with contextlib.suppress(PenmarkError):  # the promise is broken on purpose
            promised = protocol.read_sealed(self.edition)
            known = {d.name: cards.read_sealed_card(self.edition, d.name).card for d in promised.detectors}
            departures = edition_departures.frozen(self.edition, promised, known)
            self.write("tables/departures.csv", protocol.write_departures_csv(departures))

    def _tables(self) -> dict[str, bytes]:
        try:
            made = tables.compute_tables(score.score_edition(self.edition), self.read("tables/departures.csv"))
        except PenmarkError:
            return {}  # nothing follows from what was made
        for path, data in made.items():
            self.write(path, data)
        return made

    def _page(self, made: dict[str, bytes]) -> None:
        held = made or {f"tables/{p.name}": p.read_bytes() for p in self.edition.tables.iterdir()}
        held = {path: self.read(path) for path in held}
        with contextlib.suppress(PenmarkError):  # no page follows from what was made
            self.write("report/index.html", render_page(self.edition, held))

    def _words(self, but: tuple[str, ...]) -> None:
        kept = {
            name: self.read(name)
            for name, stage in (("README.md", "readme"), ("CHANGES.md", "changes"))
            if stage in but
        }
        verifier = self.read("verify.py") if (self.root / "verify.py").exists() else None
        try:
            promised, frozen = protocol.read_sealed(self.edition), read_manifest(self.edition)
            gone = self.root / "withdrawn.jsonl"
            withdrawn = gone.read_bytes().count(b"\n") if gone.exists() else 0
            descriptions.write_descriptions(self.edition, promised, frozen, self.root, withdrawn=withdrawn)
        except PenmarkError:
            return
        if verifier is not None:
            self.write("verify.py", verifier)
        for name, data in kept.items():
            self.write(name, data)
