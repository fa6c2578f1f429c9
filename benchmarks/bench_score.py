"""How long it takes to score an edition and make all its tables, against one read of the same journals by polars.

    python benchmarks/bench_score.py [--documents 100000] [--detectors 10] [--rounds 3] [--at FOLDER]

Prints seconds and peak memory of all sides (the best of the rounds, each in a process of its own), and the ratio to each
of the two reads (see reading.py) beside the limit. Scoring reads the manifest too, holds every line of the journals
against its canonical form and its chain, calls every answer, and makes every table.
*Reads* and *writes* a made-up edition (see made.py) in a temporary folder, or in FOLDER, where it is kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reading import READS, read, taken, told

LIMIT = 3.0
"""Scoring and tables take at most so many times as long as the read."""


def main() -> None:
    """Make the edition, measure all sides, print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, default=100_000)
    options.add_argument("--detectors", type=int, default=10)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--at", type=Path, default=None)
    options.add_argument("--side", choices=[*READS, "score"], default=None, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.side is not None:
        print(json.dumps(score(given.at) if given.side == "score" else read(_journals(given.at), given.side)))
        return
    with tempfile.TemporaryDirectory(prefix="penmark-benchmark-") as folder:
        root = (given.at or Path(folder)) / f"{given.detectors}x{given.documents}"
        if not root.exists():
            from made import make

            make(root, detectors=given.detectors, documents=given.documents)
        size = sum(path.stat().st_size for path in _journals(root))
        print(f"{given.detectors} detectors x {given.documents:,} documents, {size / 2**20:,.0f} MiB of journals")
        best = {side: run(side, root, given.rounds) for side in (*READS, "score")}
    for side, name in {**READS, "score": "score and all tables"}.items():
        each = best[side]
        parts = "".join(f", {part} {each[part]:.2f}" for part in ("scored", "tables") if part in each)
        print(f"{name:26} {each['seconds']:6.2f} s  {each['cpu']:6.2f} s of CPU  {each['mib']:6.0f} MiB{parts}")
    for side, name in READS.items():
        told(f"against {name}", best["score"]["seconds"] / best[side]["seconds"], LIMIT)


def run(side: str, root: Path, rounds: int) -> dict[str, float]:
    """The best of so many rounds."""
    command = [sys.executable, __file__, "--side", side, "--at", str(root)]
    found = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(rounds)]
    return min(found, key=lambda each: each["seconds"])


def score(root: Path) -> dict[str, float]:
    """Everything between the files of an edition and the bytes of its tables."""
    from penmark import study
    from penmark.stages import score as score_stage
    from penmark.stages.score import tables

    (edition,) = (study.Edition(path.parent) for path in root.glob("*/protocol.json"))
    start, cpu = time.perf_counter(), time.process_time()
    scored = score_stage.score_edition(edition)
    middle = time.perf_counter()
    made = tables.compute_tables(scored)
    parts = {"scored": middle - start, "tables": time.perf_counter() - middle}
    return taken(start, cpu) | parts | {"bytes": sum(map(len, made.values()))}


def _journals(root: Path) -> list[Path]:
    return sorted(root.glob("*/journal/*.jsonl"))


if __name__ == "__main__":
    main()
