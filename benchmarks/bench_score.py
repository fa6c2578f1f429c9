"""How long it takes to score an edition and make all its tables, against one read of the same journals by polars.

    python benchmarks/bench_score.py [--documents 100000] [--detectors 10] [--rounds 3] [--at FOLDER]

Prints seconds and peak memory of both sides (the best of the rounds, each in a process of its own), and the ratio beside
its limit. The read is `polars.read_ndjson` with the schema given: it checks nothing. Scoring reads the manifest too, holds
every line of the journals against its canonical form and its chain, calls every answer, and makes every table.
*Reads* and *writes* a made-up edition (see made.py) in a temporary folder, or in FOLDER, where it is kept.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 3.0
"""Scoring and tables take at most so many times as long as the read."""


def main() -> None:
    """Make the edition, measure both sides, print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, default=100_000)
    options.add_argument("--detectors", type=int, default=10)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--at", type=Path, default=None)
    options.add_argument("--side", choices=["read", "score"], default=None, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.side is not None:
        print(json.dumps(read(given.at) if given.side == "read" else score(given.at)))
        return
    with tempfile.TemporaryDirectory(prefix="penmark-benchmark-") as folder:
        root = (given.at or Path(folder)) / f"{given.detectors}x{given.documents}"
        if not root.exists():
            from made import make

            make(root, detectors=given.detectors, documents=given.documents)
        size = sum(path.stat().st_size for path in root.glob("*/journal/*.jsonl"))
        print(f"{given.detectors} detectors x {given.documents:,} documents, {size / 2**20:,.0f} MiB of journals")
        best = {side: run(side, root, given.rounds) for side in ("read", "score")}
    told(best)


def run(side: str, root: Path, rounds: int) -> dict[str, float]:
    """The best of so many rounds."""
    command = [sys.executable, __file__, "--side", side, "--at", str(root)]
    found = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(rounds)]
    return min(found, key=lambda each: each["seconds"])


def told(best: dict[str, dict[str, float]]) -> None:
    """Both sides, the ratio, the limit."""
    for side, name in (("read", "one read by polars"), ("score", "score and all tables")):
        measured = best[side]
        parts = "".join(f", {part} {measured[part]:.2f}" for part in ("scored", "tables") if part in measured)
        print(
            f"{name:22} {measured['seconds']:6.2f} s  {measured['cpu']:6.2f} s of CPU  {measured['mib']:6.0f} MiB{parts}"
        )
    ratio = best["score"]["seconds"] / best["read"]["seconds"]
    print(f"ratio {ratio:.2f}, limit {LIMIT:g}: {'within it' if ratio <= LIMIT else 'BEYOND it'}")


def read(root: Path) -> dict[str, float]:
    """One read of the journals, nothing else."""
    import polars as pl

    from penmark.journal.lines import TYPES

    paths = sorted(root.glob("*/journal/*.jsonl"))
    start, cpu = time.perf_counter(), time.process_time()
    frame = pl.read_ndjson(paths, schema=TYPES)
    return taken(start, cpu) | {"lines": frame.height}


def score(root: Path) -> dict[str, float]:
    """Everything between the files of an edition and the bytes of its tables."""
    from penmark import scoring, study, tables

    (edition,) = (study.Edition(path.parent) for path in root.glob("*/protocol.json"))
    start, cpu = time.perf_counter(), time.process_time()
    scored = scoring.score(edition)
    middle = time.perf_counter()
    made = tables.of(scored)
    parts = {"scored": middle - start, "tables": time.perf_counter() - middle}
    return taken(start, cpu) | parts | {"bytes": sum(map(len, made.values()))}


def taken(start: float, cpu: float) -> dict[str, float]:
    """Seconds since, of the clock and of the CPU, and the peak of memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
    return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "mib": peak}


if __name__ == "__main__":
    main()
