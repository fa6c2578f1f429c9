"""Doubles in a process of their own: what is killed here goes on there, and can be asked what it was asked and charged.

``python elsewhere.py VENDOR …`` serves them, and answers each line on its input with what it counted so far.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, Any

from penmark.testing.doubles import run_double


class Elsewhere:
    """The other process. ``urls``, ``keys``: by vendor."""

    def __init__(self, to: IO[str], back: IO[str]) -> None:
        self._to, self._back = to, back
        told = json.loads(back.readline())
        self.urls: dict[str, str] = {name: value["url"] for name, value in told.items()}
        self.keys: dict[str, dict[str, str]] = {name: value["keys"] for name, value in told.items()}

    def counts(self) -> dict[str, Any]:
        """By vendor: ``texts`` charged for, by SHA-256; ``charged``; ``requests`` by step."""
        self._to.write("\n")
        self._to.flush()
        counts: dict[str, Any] = json.loads(self._back.readline())
        return counts


@contextlib.contextmanager
def elsewhere(*vendors: str) -> Iterator[Elsewhere]:
    """Doubles of ``vendors`` in another process, while in the block."""
    with subprocess.Popen(
        [sys.executable, __file__, *vendors], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Elsewhere(process.stdin, process.stdout)
        finally:
            process.stdin.close()
            process.wait(timeout=60)


def _serve(vendors: list[str]) -> None:
    with contextlib.ExitStack() as open_ones:
        there = {name: open_ones.enter_context(run_double(name)) for name in vendors}
        _say({name: {"url": each.url, "keys": each.keys} for name, each in there.items()})
        for _ in sys.stdin:
            counts = {
                name: {
                    "texts": dict(each.ledger.texts),
                    "charged": f"{each.ledger.charged:f}",
                    "requests": dict(each.ledger.requests),
                }
                for name, each in there.items()
            }
            _say(counts)


def _say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve(sys.argv[1:])
