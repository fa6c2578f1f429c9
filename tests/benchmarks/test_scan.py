"""The benchmark of the scan runs, and says what it measured; how fast a machine is that runs the tests is no matter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "bench_scan.py"


def test_it_tells_both_sides() -> None:
    small = {"PENMARK_BENCH_DOCUMENTS": "60", "PENMARK_BENCH_READINGS": "200"}
    done = subprocess.run(
        [sys.executable, str(BENCHMARK)],
        env=os.environ | small,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("60 documents, a vendor that permits 500 requests a second, 8 connections\n")
    for line in (
        r"  bare client +\d+\.\d/s +\d+\.\d{3} ms CPU an answer  \d+ times too fast",
        r"  scan +\d+\.\d/s +\d+\.\d{3} ms CPU an answer  \d+ times too fast",
        r"  rate / what can be reached: \d\.\d{3}; at least 0.95: (kept|MISSED)",
        r"  CPU an answer / the bare client's: \d+\.\d{3}; at most 2.0: (kept|MISSED)",
        r"  memory \d+ MiB after a fifth, \d+ MiB near the end",
        r"200 readings on disk, 1000 documents left",
        r"  seconds until the scan is open: \d\.\d{3}; at most 2.0: (kept|MISSED)",
    ):
        assert re.search(f"^{line}$", done.stdout, re.MULTILINE), line
