"""The made-up edition is a sound one, and the benchmark on it runs and says what it measured."""

from __future__ import annotations

import gzip
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from penmark.format import canonical_json
from penmark.stages import score
from penmark.stages.score import tables

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("made", FOLDER / "made.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["made"] = module
    spec.loader.exec_module(module)
    return module


def test_it_scores_without_faults_and_has_every_state(made: ModuleType, tmp_path: Path) -> None:
    edition = made.make(tmp_path, detectors=8, documents=1000, texts=True, evidence=True)
    scored = score.score_edition(edition.edition)
    assert (edition.detectors, edition.documents) == (8, 1000)
    assert scored.pairs().height == 8000
    assert set(scored.pairs()["state"].unique()) == {"answered", "declined", "failed", "in_doubt", "not_scannable"}
    assert edition.journal_lines == sum(head.lines for head in scored.heads.values())
    assert scored.timing == "prospective"
    # Sent in the sealed order, by texts that are what their addresses say, with the evidence that the readings name.
    order = sorted(scored.documents["id"], key=lambda name: canonical_json.rank_name(made.SEED, "scan", name))
    assert (
        canonical_json.sha256(made.text(order[0]))
        == scored.documents.filter(scored.documents["id"] == order[0])["address"][0]
    )
    kept = gzip.decompress((edition.edition.evidence / "detector-00-0001.jsonl.gz").read_bytes()).splitlines()
    named = scored.versions[0].pairs["evidence_sha256"].drop_nulls().to_list()
    assert sorted(canonical_json.decode_json(line, place="x")["sha256"] for line in kept) == sorted(named)


def test_the_same_arguments_give_the_same_bytes(made: ModuleType, tmp_path: Path) -> None:
    editions = [made.make(tmp_path / str(n), detectors=2, documents=50).edition for n in range(2)]
    assert tables.make_tables(editions[0]) == tables.make_tables(editions[1])
    assert editions[0].journal_files()[0].read_bytes() == editions[1].journal_files()[0].read_bytes()


def test_the_benchmark_prints_both_sides_and_the_ratio() -> None:
    command = [sys.executable, str(FOLDER / "bench_score.py"), "--documents", "50", "--detectors", "2", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.search(r"^one read by polars +[0-9.]+ s ", done.stdout, re.MULTILINE)
    assert re.search(r"^score and all tables +[0-9.]+ s ", done.stdout, re.MULTILINE)
    assert re.search(r"^the same, told the columns +[0-9.]+ s ", done.stdout, re.MULTILINE)
    ratios = re.findall(r"^against .+: ratio [0-9.]+, limit 3: (within it|BEYOND it)$", done.stdout, re.MULTILINE)
    assert len(ratios) == 2
