"""The demonstration's own bundle: change one digit anywhere, and be told where."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forgeries import both_verifiers

CHANGED = {
    "LICENSE": set(),
    "README.md": {8},
    "report/index.html": {8},
    "tables/rates.csv": {2, 7},
    "tables/readings.csv": {2, 7},
    "tables/table1.csv": {2, 7},
    "manifest.jsonl": {2},
    "protocol.json": {2},
    "protocol.yaml": {2},
    "detectors/zippy.json": {2},
    "seals/corpus.json": {2},
    "journal/coin.jsonl": {5},
    "seed.json": {4},
    "screening.csv": {2},
    "verify.py": set(),
}
"""What else than the sum notices a changed digit, at least."""


def changed(path: Path) -> tuple[bytes, bytes]:
    """A file as it is, and with one digit changed: in text that a reader sees, where it is a page."""
    data = path.read_bytes()
    pattern = (
        rb">[^<>]*?([0-9])[^<>]*<"
        if path.suffix == ".html"
        else rb"^\|.*?([0-9])"
        if path.name == "README.md"
        else rb"([0-9])"
    )
    found = list(re.finditer(pattern, data, re.M))
    at = found[len(found) // 2].start(1)
    return data, data[:at] + bytes([48 + (data[at] - 47) % 10]) + data[at + 1 :]


def test_change_one_digit_anywhere_and_be_told_where(tmp_path: Path) -> None:
    """Runs `penmark demo`, and verifies with both."""
    out = tmp_path / "demo"
    command = [sys.executable, "-m", "penmark", "demo", "--out", str(out), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip(f"the demonstration's packages cannot be had here: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    assert "This demonstrates the machinery and measures nothing." in done.stderr
    bundle = out / "bundle"
    assert both_verifiers.ours(bundle).failed == both_verifiers.alone(bundle).failed == set()
    for name, others in CHANGED.items():
        before, after = changed(bundle / name)
        assert before != after
        (bundle / name).write_bytes(after)
        ours, alone = both_verifiers.ours(bundle), both_verifiers.alone(bundle)
        for told in (ours, alone):
            assert name in told.faults(1), name
        assert others <= ours.failed, (name, ours.failed)
        (bundle / name).write_bytes(before)
    assert both_verifiers.ours(bundle).failed == both_verifiers.alone(bundle).failed == set()
