"""A study whose human arms are whole, and whose arm C is written by the models of local doubles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.conftest import Corpus, draft

from penmark.testing.doubles.loopback_server import Double

REGISTERS = ("academic", "casual", "professional")
STYLES = [
    {"name": "plain", "prompt": "Write an essay about {topic}, in about {words} words."},
    {"name": "styled", "prompt": "Write about {topic} in a personal, informal voice, in about {words} words."},
]


def model(there: Double, name: str, provider: str = "openai", **further: Any) -> dict[str, Any]:
    """A model that a double plays; its key is in the environment variable ``KEY_OF_<PROVIDER>``."""
    key = {"env": f"KEY_OF_{provider.upper()}"}
    return {"provider": provider, "model": name, "options": {"base_url": there.url}, "key": key} | further


def generation(*models: dict[str, Any], **further: Any) -> dict[str, Any]:
    """How arm C is made."""
    return {"models": list(models), "styles": STYLES, "topics_from": ["A", "B"]} | further


def study(
    root: Path,
    made: dict[str, Any],
    *,
    documents: int = 6,
    human: int = 6,
    more: int = 3,
    arm: dict[str, Any] | None = None,
    **further: Any,
) -> Corpus:
    """Arms A (``human`` archive texts in three registers), B (``more`` attested ones, the last withheld) and C.

    The records of the human texts hold their topics, and their lengths are 20, 21, … words.
    """
    limits = {"words": {"minimum": 10, "maximum": 200}}
    corpus = Corpus(
        root,
        Corpus.arm("A", "human", human),
        *([Corpus.arm("B", "human", more)] if more else []),
        Corpus.arm("C", "ai", documents, persists=False, generation=made, **(limits | (arm or {}))),
        **further,
    )
    corpus.collect("A", *(archived(number) for number in range(human)))
    if more:
        corpus.collect("B", *(attested(number, publish=number < more - 1) for number in range(more)))
    return corpus


def archived(number: int, **further: str) -> Any:
    """An archive text of ``20 + number`` words."""
    given = {"register": REGISTERS[number % 3], "topic": f"archive topic {number}", "language": "en"} | further
    return draft(f"A-{number:03d}", words("archive", number), **given)


def attested(number: int, *, publish: bool) -> Any:
    """A volunteer's text."""
    return draft(
        f"B-{number:03d}",
        words("fresh", number),
        kind="attested",
        grade="stated",
        attestation="I wrote this.",
        attestation_sha256="0" * 64,
        written_on="2026-10-05",
        adult="true",
        publish="true" if publish else "false",
        vendors="*",
        review="accepted",
        topic=f"fresh topic {number}",
    )


def words(kind: str, number: int) -> str:
    """So many words, one text unlike the other."""
    return " ".join([f"{kind}{number}", *(f"word{n}" for n in range(19 + number))]) + "."
