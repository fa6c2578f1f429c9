"""is-it-slop: a model over word pieces that comes inside the package. Optional: it does not import everywhere.

*Reads* the package. *Writes* nothing. *Never* asks for several texts in one call: that gives other last digits, and an
answer must not hang on its neighbours.
"""

from __future__ import annotations

import importlib
import platform
from pathlib import Path
from typing import Any

from penmark import plugins
from penmark.errors import ServiceError
from penmark.plugins import Answer, Declined
from penmark.shipped.detectors import package_facts

INSTALL = "Install it with `pip install is-it-slop==0.6.3`."


class IsItSlop:
    """P(AI) in [0, 1], and the package's own verdict at its own threshold."""

    def __init__(self, options: dict[str, str]) -> None:
        plugins.check_options(options)
        module, self.version = _load()
        self._ask = module.is_this_slop
        # The model is inside this binary, so its digest says which model answered.
        binary = Path(str(importlib.import_module("is_it_slop._is_it_slop_rust_bindings").__file__))
        self._facts = {
            "binary_sha256": package_facts.digest_package_file("is_it_slop", binary.name),
            "model": str(module.MODEL_VERSION),
            "platform": platform.machine(),
            "version": self.version,
        }

    def read(self, text: str) -> Answer | Declined:
        """Both probabilities as given (they need not add up to 1), the verdict, and how the chunks agreed."""
        if not text.strip():
            return Declined("is-it-slop takes no empty text")
        said = self._ask(text)
        given = {
            "ai_probability": package_facts.format_float(said.ai_probability),
            "chunk_agreement": package_facts.format_float(float(said.chunk_agreement)),
            "classification": said.classification,
            "human_probability": package_facts.format_float(said.human_probability),
            "num_chunks": said.num_chunks,
        }
        return Answer(package_facts.encode_raw_answer({**given, **self._facts}))


def _load() -> tuple[Any, str]:
    try:
        return package_facts.load_package("is_it_slop", "is-it-slop", INSTALL)
    except ImportError as error:
        # Its wheel asks for less than its binary needs.
        name, number = platform.libc_ver()
        raise ServiceError(
            f"is-it-slop is installed but cannot be loaded: {error}",
            remedy=f"It needs glibc 2.38 or later; this system has {name or 'an unknown C library'} {number}. "
            "Leave it out, or scan on a newer system.",
        ) from None
