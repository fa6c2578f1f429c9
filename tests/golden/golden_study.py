"""Makes the golden study: the real commands, a fixed clock, a fixed seed, fixed salts, and answers from a list.

*Reads* ``golden_inputs``. *Writes* a study and its bundle into an empty folder. *Never*: the clock, chance, the network. The
same bytes come out on any machine, but for what zlib makes of the ``.gz`` files.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.golden import golden_inputs

from penmark import cli, protocol, study, timestamps, yaml_records
from penmark.cards import judge
from penmark.format import canonical_json
from penmark.protocol import amendments
from penmark.stages.scan import open_scan, worker
from penmark.study import Edition, Study

EARLIER, EDITION = "GOLDEN-2024-Q3", "GOLDEN-2024-Q4"


class Clock:
    """Says a time, a quarter of a second later each time it is asked."""

    def __init__(self) -> None:
        self.at = datetime(2024, 1, 1, tzinfo=UTC)

    def set(self, at: str) -> None:
        """From here on it is ``at``."""
        self.at = datetime.fromisoformat(at)

    def __call__(self) -> str:
        self.at += timedelta(milliseconds=250)
        return self.at.isoformat().replace("+00:00", "Z")


def made(root: Path) -> Path:
    """The golden bundle, in a folder below ``root`` that is called as the edition; the study lies beside it."""
    place, bundle = Study(root / "study"), root / EDITION
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        clock = _still(patch)
        plugin = _plugin(root / "plugin", patch)
        _promise(place, clock)
        _corpus(place, root, clock)
        _scan(place, clock, plugin, patch)
        _record(place, root, clock)
        clock.set("2024-12-02T08:00:00+00:00")
        _run(place, "report", "--close")
        _run(place, "publish", "--out", str(bundle), "--no-tar")
    return bundle


def _run(place: Study, *argv: str) -> None:
    code = cli.invoke(["-C", str(place.root), *argv])
    assert code in (0, None), (argv, code)


def _still(patch: pytest.MonkeyPatch) -> Clock:
    """Nothing of this machine or of today is left in what is written. (The release is: tables/warnings.csv is by its rules.)"""
    clock = Clock()
    patch.setattr(judge, "get_time_now", clock)
    patch.setattr(timestamps, "format_time_now", clock)
    patch.setattr(worker, "QUICK", 0.0)  # groups of one, however quick this machine is
    return clock


def _plugin(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    """The module of the acting detector, which answers by text."""
    info = folder / "golden_detector-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: golden-detector\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[penmark.detectors]\ngolden = golden_detector:Golden\n")
    (folder / "golden_detector.py").write_text(golden_inputs.PLUGIN)
    patch.syspath_prepend(folder)
    patch.delitem(sys.modules, "golden_detector", raising=False)
    module = importlib.import_module("golden_detector")
    module.ANSWERS = {
        detector: {golden_inputs.TEXTS[name]: list(answers) for name, answers in by_id.items()}
        for detector, by_id in golden_inputs.ANSWERS.items()
    }
    module.DOWN, module.LEFT = golden_inputs.DOWN, golden_inputs.LEFT
    return module


# --- prepare ---------------------------------------------------------------------------------------------------------


def _promise(place: Study, clock: Clock) -> None:
    """Two promises: the earlier edition's, with an amendment after it that binds ours; and ours."""
    study.write_bytes(place.marker, b"study: golden\n")
    study.write_private(place.seed, golden_inputs.SEED)
    for name, card in golden_inputs.CARDS.items():
        study.write_bytes(place.cards / f"{name}.yaml", card.encode())
    for tag, opens, closes, at in (
        (EARLIER, "2024-07-01", "2024-09-30", "2024-07-02T08:00:00+00:00"),
        (EDITION, "2024-11-01", "2024-11-30", "2024-10-02T08:00:00+00:00"),
    ):
        value = golden_inputs.protocol(tag, protocol.load_template("humanflow").sha256, opens, closes)
        study.write_bytes(
            Edition(place.root / "editions" / tag).protocol_yaml, yaml_records.format_yaml(value).encode()
        )
        clock.set(at)
        _run(place, "commit")
        if tag == EARLIER:
            clock.set("2024-09-20T08:00:00+00:00")
            _run(place, "amend", "--what", "Two arms of AI text.", "--why", "Edited text is of interest.",
                 "--before", "arm C", "--after", "arms C and C2")  # fmt: skip
    clock.set("2024-10-03T08:00:00+00:00")
    _run(place, "amend", "--what", "Arm B takes 8.", "--why", "6 are few.", "--before", "6", "--after", "8")


def _corpus(place: Study, root: Path, clock: Clock) -> None:
    salts = {row["id"]: golden_inputs.salt(n) for n, row in enumerate(golden_inputs.ROWS["B"], 1)}
    lines = [canonical_json.encode_json({"document": name, "salt": salt.hex()}) + b"\n" for name, salt in salts.items()]
    study.write_private(place.salts, b"".join(lines))
    for arm, rows in golden_inputs.ROWS.items():
        table = root / "tables" / f"{arm}.jsonl"
        study.write_bytes(table, "".join(json.dumps(row) + "\n" for row in rows).encode())
        _run(place, "collect", arm, "--path", str(table))
    clock.set("2024-10-20T08:00:00+00:00")
    _run(place, "freeze", "--announced", "https://example.org/golden", "--capture", "https://archive.example.org/golden",
         "--captured-at", "2024-10-04T08:00:00Z")  # fmt: skip


# --- run -------------------------------------------------------------------------------------------------------------


def _scan(place: Study, clock: Clock, plugin: Any, patch: pytest.MonkeyPatch) -> None:
    """edge.2 in two shards; plain twice, since the machine went down in the first run."""
    real = open_scan.begin_scan

    @contextlib.contextmanager
    def opened(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with real(*args, pause=lambda attempt: 0.0, **kwargs) as scan:
            plugin.leave = lambda: scan._lanes["plain"].close("the machine went down")
            yield scan

    patch.setattr(open_scan, "begin_scan", opened)
    for number, argv in enumerate(
        (["edge.2", "--shard", "1/2"], ["edge.2", "--shard", "2/2"], ["plain"], ["plain"]), start=2
    ):
        clock.set(f"2024-11-{number:02d}T08:00:00+00:00")
        code = cli.invoke(["-C", str(place.root), "scan", "--detector", *argv])
        assert code in (0, 1, 3), (argv, code)


def _record(place: Study, root: Path, clock: Clock) -> None:
    humane, typed = root / "tables" / "humane.jsonl", root / "tables" / "typed.csv"
    study.write_bytes(humane, "".join(f"{line}\n" for line in golden_inputs.humane()).encode())
    rows = ((*row, "operator 7") for row in golden_inputs.TYPED)
    study.write_bytes(typed, study.encode_csv(("document", "displayed", "version", "date", "operator"), rows))
    clock.set("2024-11-07T08:00:00+00:00")
    _run(place, "record", str(humane), "--detector", "humane", "--map", "document=id", "--map", "date=at",
         "--map", "text=input")  # fmt: skip
    clock.set("2024-11-08T08:00:00+00:00")
    _run(place, "record", str(typed), "--detector", "typed")
    what = "The office was closed on the first day of the window."
    amendments.add_deviation(place.edition(), what, None, now=clock())
