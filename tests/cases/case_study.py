"""A whole study in a folder of its own, made by the commands as they are typed; and a detector that says what it is told.

*Reads* and *writes* below the folder it is given. *Never* the network, a mock of penmark, or an answer that the scan or
`record` did not take down.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from penmark import protocol
from penmark.cli import main
from penmark.format import canonical_json
from penmark.study import Study

TODAY = datetime.now(UTC).date().isoformat()
ARCHIVE = {
    "kind": "archive",
    "grade": "archived",
    "source": "https://example.org/a",
    "archive": "a web archive",
    "evidence_date": "2020-05-01",
    "licence": "CC0",
    "evidence_sha256": canonical_json.sha256(b"what the archive kept"),
    "locator.by": "web-archive",
    "locator.url": "https://example.org/a",
}
GENERATED = {"kind": "generated", "grade": "stated", "provider": "P", "model": "M", "style": "plain"}
ATTESTED = {
    "kind": "attested",
    "grade": "stated",
    "attestation": "I wrote this.",
    "attestation_sha256": "0" * 64,
    "written_on": TODAY,
    "adult": "yes",
    "publish": "yes",
    "vendors": "*",
    "review": "accepted",
}
KINDS = {"human": ["archive", "attested"], "ai": ["generated"], "mixed": ["edited"]}

SAYS = """
import json, os, signal, time
from penmark.errors import ServiceError
from penmark.plugins import Answer, Declined

class Says:
    '''Answers with the last line of a text; where that has several parts, each time with the next.'''
    version = "1"
    def __init__(self, options):
        self.log, self.seen = options.get("log"), {}
        self.instead = options.get("instead")
        self.interrupt = int(options.get("interrupt", "0"))
    def read(self, text):
        if self.log:
            handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(handle, (json.dumps(text) + "\\n").encode())
            os.close(handle)
            with open(self.log, "rb") as asked:
                if len(asked.readlines()) == self.interrupt:
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.3)  # until the signal has been taken in
        parts = text.rstrip("\\n").rpartition("\\n")[2].split(" || ")
        turn = self.seen[text] = self.seen.get(text, -1) + 1
        said = parts[min(turn, len(parts) - 1)]
        if said == "time-out": raise ServiceError("timed out after 60 seconds")
        if said == "429": raise ServiceError("429 too many requests")
        if said == "refuse": return Declined("will not say")
        if said == "die": os._exit(9)
        return Answer((self.instead or said).encode())
"""


class Said(NamedTuple):
    """What a command left behind: its exit code, stdout, stderr."""

    code: int
    out: str
    err: str


def penmark(*argv: str) -> Said:
    """Run the program as its entry point does."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(argv))
        except SystemExit as ended:
            code = ended.code
    return Said(code or 0, out.getvalue(), err.getvalue())


def now() -> str:
    """This moment, as a person would write it into a table of typed readings."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def card(name: str = "says", **further: Any) -> dict[str, Any]:
    """A card as people write it: a probability, AI from 0.5 on, asked through the detector that says what it is told."""
    answer = {"displayed": "/score", "score": "/score", "version": "/version"}
    return {
        "name": name,
        "title": name,
        "vendor": f"vendor of {name}",
        "homepage": "https://example.org",
        "ask": {"by": "plugin", "plugin": "says"},
        "answer": answer,
        "scale": {"meaning": "probability", "direction": "ai", "low": "0", "high": "1"},
        "boundary": boundary(">=", "0.5"),
        "display": "document",
        "terms": {"where": "none", "results_may_be_published": "yes"},
        "facts_as_of": "2026-09-01",
    } | further


def seen(name: str = "seen", **further: Any) -> dict[str, Any]:
    """The card of a detector whose screen people copy."""
    return card(name, **further | {"ask": {"by": "people"}, "answer": {}})


def verdicts(**table: str) -> dict[str, Any]:
    """What a card with a table of verdicts in place of a scale has. Underscores in names are spaces."""
    known = {name.replace("_", " "): verdict for name, verdict in table.items()}
    rule = {"kind": "verdict", "source": "help", "date": "2026-09-01"}
    answer = {"displayed": "/label", "label": "/label", "version": "/version"}
    return {"scale": None, "verdicts": known, "boundary": rule, "answer": answer}


def boundary(operator: str, value: str) -> dict[str, str]:
    """The boundary of a card."""
    return {"kind": "boundary", "operator": operator, "value": value, "source": "help", "date": "2026-09-01"}


def arm(name: str, truth: str, documents: int, **further: Any) -> dict[str, Any]:
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


def texts(count: int, said: str = '{"score": 0.1}', prefix: str = "A") -> dict[str, str]:
    """So many different texts, by id, about which the detector says the same."""
    return {f"{prefix}-{n:03d}": f"Text {n} of arm {prefix} has a few words.\n{said}" for n in range(1, count + 1)}


class Trial:
    """A study in the making. ``texts``: of each arm, by id; ``fields``: of documents, by id."""

    def __init__(
        self,
        root: Path,
        arms: Sequence[dict[str, Any]],
        *,
        cards: Sequence[dict[str, Any]] = (),
        detectors: Mapping[str, dict[str, Any]] | None = None,
        name: str = "trial",
        **further: Any,
    ) -> None:
        self.place, self.root = Study(root), root
        self.done("init", "--name", name)
        held = list(cards) or [card()]
        for each in held:
            self.place.cards.mkdir(exist_ok=True)
            (self.place.cards / f"{each['name']}.yaml").write_text(json.dumps(_words(each)))
        self.edition = self.place.edition()
        begun = protocol.load_protocol(self.edition.protocol_yaml)
        shown = {"surface": "web", "tier": "standard", "payer": "us", "relation": "none"}
        self.protocol: dict[str, Any] = {
            "study": name,
            "title": "A trial",
            "edition": self.edition.tag,
            "people": [{"name": "N", "role": "runs it", "interests": "none"}],
            "payer": "N",
            "schedule": "once",
            "window": {"opens": begun.window.opens, "closes": begun.window.closes},
            "seed_sha256": begun.seed_sha256,
            "arms": list(arms),
            "detectors": [
                {"name": each["name"], "card": each["name"], **shown} | (detectors or {}).get(each["name"], {})
                for each in held
            ],
        } | further
        self.promise()

    @classmethod
    def at(cls, root: Path) -> Trial:
        """A study that is there already."""
        trial = cls.__new__(cls)
        trial.place, trial.root = Study(root), root
        trial.edition = trial.place.edition()
        return trial

    def promise(self) -> None:
        """Write the protocol for people."""
        self.edition.protocol_yaml.write_text(json.dumps(_words(self.protocol)))

    def run(self, *argv: str) -> Said:
        """Run a command on the study."""
        return penmark("-C", str(self.root), *argv)

    def done(self, *argv: str) -> Said:
        """Run a command on the study that must do its work."""
        said = self.run(*argv)
        assert said.code == 0, said
        return said

    def collect(
        self, arm: str, texts: Mapping[str, str], fields: Mapping[str, Any] | None = None, **common: str
    ) -> Said:
        """Collect texts from a table. ``common``: provenance of all of them; ``fields``: of some, by id."""
        path = self.root.parent / f"{self.root.name}-{arm}.jsonl"
        rows = [{"id": name, "text": text} | (fields or {}).get(name, {}) for name, text in texts.items()]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        options = [f"--option={name}={value}" for name, value in (common or ARCHIVE).items()]
        return self.run("collect", arm, "--from", "table", "--path", str(path), *options)

    def frozen(self, fields: Mapping[str, Any] | None = None, **texts: Mapping[str, str]) -> None:
        """Promise, collect the texts of each arm, and freeze."""
        self.done("commit")
        for one in self.protocol["arms"]:
            common = GENERATED if one["truth"] == "ai" else ARCHIVE
            said = self.collect(one["name"], texts[one["name"]], fields, **common)
            assert said.code == 0, said
        self.done("freeze")

    def record(self, detector: str, rows: Sequence[Mapping[str, Any]], *options: str, ending: str = "json") -> Said:
        """Record answers: JSON rows as somebody kept them, or (``csv``) typed ones. Whoever records says that they are so."""
        path = self.root.parent / f"answers.{ending}"
        if ending == "csv":
            with path.open("w", newline="") as file:
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                table.writerows(rows)
        else:
            path.write_text(json.dumps(list(rows)))
        said = ["--by", "AB", "--retrospective", "--as-displayed"] + (["--elsewhere"] if ending == "json" else [])
        return self.run("record", str(path), "--detector", detector, *said, *options)

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of one of the tables."""
        return read_csv(self.edition.tables / f"{name}.csv")

    def readings(self) -> dict[str, dict[str, str]]:
        """The rows of readings.csv by document; of one detector and version."""
        rows = {row["document"]: row for row in self.table("readings")}
        assert len(rows) == len(self.table("readings"))
        return rows

    def whole(self, arm: str, table: str = "rates") -> dict[str, str]:
        """The rate of a whole arm, of the only detector."""
        [row] = [row for row in self.table(table) if row["arm"] == arm and row["slice_by"] == ""]
        return row

    def published(self) -> Path:
        """Report, publish, and the folder of the bundle."""
        self.done("report", "--close")
        bundle = self.root.parent / f"{self.root.name}-bundle"
        self.done("publish", "--out", str(bundle), "--no-tar")
        return bundle


def _words(value: Any) -> Any:
    """JSON is YAML; null leaves no key where YAML for people would leave it out."""
    if isinstance(value, dict):
        return {key: _words(each) for key, each in value.items() if each is not None}
    return [_words(each) for each in value] if isinstance(value, list) else value


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a table, as any reader of CSV gets them."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by path; locks are no content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "lock" not in path.name
    }


@contextlib.contextmanager
def installed(folder: Path) -> Iterator[Path]:
    """The detector ``says`` as an installed distribution, while in the block."""
    info = folder / "says_detector-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: says-detector\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[penmark.detectors]\nsays = says_detector:Says\n")
    (folder / "says_detector.py").write_text(SAYS)
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "says_detector", raising=False)
        patch.syspath_prepend(str(folder))
        yield folder
