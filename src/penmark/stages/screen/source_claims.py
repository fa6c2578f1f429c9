"""What a source itself says of a text, held against truth and provenance.

*Reads* and *writes* nothing. *Never* decides who is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from penmark.records import Arm, Document


def list_contradictions(claims: dict[str, str], document: Document, arm: Arm) -> Iterator[str]:
    """What a source says of a text that truth or provenance contradict."""
    made = document.facet("model")
    for name, value in sorted(claims.items()):
        if name == "claimed_kind":
            truth = _parse_truth(value)
            if truth is not None and truth != arm.truth:
                yield f"the source calls the text {value!r}; the arm's truth is {arm.truth}"
        elif name == "claimed_model":
            if made is not None and _normalize_name(made) != _normalize_name(value):
                yield f"the source names the model {value!r}; the provenance says {made!r}"
            elif made is None and arm.truth == "human" and _parse_truth(value) != "human":
                yield f"the source names a model, {value!r}; the arm's truth is human"
        else:
            shown = value if len(value) <= 60 else value[:60] + "…"
            told = f"the source says {name.removeprefix('claimed_')} {shown!r}"
            yield f"{told}, which {document.provenance.kind} text does not have"


def _parse_truth(value: str) -> str | None:
    """The truth that a source's own word for a text means, where it is plain."""
    words = set(re.findall(r"[a-z]+", value.lower()))
    if words & {"mixed", "edited", "polished", "assisted"}:
        return "mixed"
    human = bool(words & {"human", "written", "people", "real"})
    machine = bool(words & {"ai", "machine", "generated", "model", "llm", "gpt", "chatgpt", "fake"})
    return None if human == machine else "human" if human else "ai"


def _normalize_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
