"""The practice texts that ship with penmark, as a lane is given documents.

*Reads* them. *Writes* nothing. *Never* anything of a study.
"""

from __future__ import annotations

import importlib.resources
from pathlib import Path

from penmark import journal
from penmark.format import canonical_json

FIRST_PREV = "0" * 64
"""What the first line of a journal about practice texts follows: there is no corpus seal that it belongs to."""


class Practice:
    """``run``: the how-manieth time they are read; their names are ``<name>.<run>``. ``only``: just the one of that name."""

    def __init__(self, run: int, only: str | None = None) -> None:
        folder = importlib.resources.files("penmark") / "shipped" / "practice"
        files = sorted((f for f in folder.iterdir() if f.name.endswith(".txt")), key=lambda f: f.name)
        chosen = [file for file in files if only is None or file.name == f"{only}.txt"]
        self._texts = [(f"{file.name.removesuffix('.txt')}.{run}", file.read_bytes()) for file in chosen]

    def __len__(self) -> int:
        return len(self._texts)

    def name(self, position: int) -> str:
        """The name of the text and the number of the run."""
        return self._texts[position][0]

    def address(self, position: int) -> str:
        """SHA-256 of the text."""
        return canonical_json.sha256(self._texts[position][1])

    def text(self, position: int) -> str:
        """The text."""
        return self._texts[position][1].decode()

    def digest(self, position: int, raw: bytes) -> str:
        """SHA-256 of an answer about it."""
        return canonical_json.sha256(raw)


def count_runs(path: Path) -> int:
    """How often the texts were read, by the journal at ``path``."""
    there = path.exists() and path.stat().st_size > 0
    return len(journal.read_journal(path, FIRST_PREV).starts) if there else 0
