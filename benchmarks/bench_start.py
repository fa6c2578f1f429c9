"""How long penmark takes to start, against `python -c pass` in the same run.

Prints medians of so many interleaved runs, their difference in seconds, and the limit. Not a timed test.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15
LIMITS = {"--version": 0.25, "status": 0.60}
"""Seconds beyond `python -c pass`."""


def main() -> None:
    """Measure both commands and say whether they keep their limits."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "study"
        penmark = [sys.executable, "-m", "penmark"]
        subprocess.run([*penmark, "init", str(place)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        commands = {
            "pass": [sys.executable, "-c", "pass"],
            "--version": [*penmark, "--version"],
            "status": [*penmark, "-C", str(place), "status"],
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                taken[name].append(_seconds(command))
    floor = statistics.median(taken["pass"])
    print(f"python -c pass        {floor:.3f} s (median of {ROUNDS})")
    for name, limit in LIMITS.items():
        median = statistics.median(taken[name])
        verdict = "within it" if median - floor <= limit else "BEYOND it"
        print(f"penmark {name:<13} {median:.3f} s = {median - floor:.3f} s beyond it; limit {limit:.2f} s: {verdict}")


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
