"""What a double says about a text: a number that follows from the text, and nothing else.

*Reads* the text. *Writes* nothing. *Never* looks for signs of AI: a digest knows none.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from decimal import Decimal

_SAID = re.compile(r"\bdouble:(human|ai|mixed|uncertain|(?:0\.\d{1,4}|[01])(?![\d.]))")
STEPS = 10_000


def score_text(text: str, zones: Mapping[str, str]) -> Decimal:
    """How much a double says that ``text`` is AI, 0 to 1, four decimals at most.

    ``double:ai``, ``double:human``, ``double:mixed`` or ``double:uncertain`` in the text asks for a verdict, which
    ``zones`` maps to a number; ``double:0.73`` for a number. Other texts get one from their SHA-256.
    """
    found = _SAID.search(text)
    if found is not None:
        return Decimal(zones.get(found[1], "0.5") if found[1].isalpha() else found[1])
    step = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") * (STEPS + 1) >> 64
    return Decimal(step) / STEPS
