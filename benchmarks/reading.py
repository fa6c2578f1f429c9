"""The limit of both large benchmarks: one read of the same journals by polars, which checks nothing.

There are two such reads. As a stranger reads JSON lines, polars looks through each file for its columns first (its first
hundred lines do not show them: with the defaults it gives up). Told what the columns are, it parses once.
*Reads* journals. *Writes* nothing. *Never* holds a line against its chain or its canonical form.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

READS = {"found": "one read by polars", "told": "the same, told the columns"}


def read(paths: Sequence[Path], kind: str) -> dict[str, float]:
    """Seconds, CPU seconds, MiB at most, and lines of one read: "found", where polars finds the columns, or "told"."""
    import polars as pl

    from penmark.journal.journal_lines import TYPES

    start, cpu = time.perf_counter(), time.process_time()
    if kind == "told":
        lines = pl.read_ndjson(list(paths), schema=TYPES).height
    else:
        lines = sum(frame.height for frame in [pl.read_ndjson(path, infer_schema_length=None) for path in paths])
    return taken(start, cpu) | {"lines": lines}


def taken(start: float, cpu: float) -> dict[str, float]:
    """Seconds since, of the clock and of the CPU, and the peak of memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
    return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "mib": peak}


def told(what: str, ratio: float, limit: float) -> None:
    """A ratio beside its limit."""
    print(f"{what}: ratio {ratio:.2f}, limit {limit:g}: {'within it' if ratio <= limit else 'BEYOND it'}")
