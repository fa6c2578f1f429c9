"""Packages that only some sources need: imported when they are used, with the install line where they are missing.

*Reads* the installed packages. *Writes* nothing.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import Any

from penmark.errors import ServiceError, installing


def load(module: str, distribution: str) -> Any:
    """The module. Raises ServiceError naming the distribution, with the line that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise _missing(distribution) from None


def version(distribution: str) -> str:
    """Name and version of a distribution, as provenance keeps them: "trafilatura 2.3.1". Raises as ``load``."""
    try:
        return f"{distribution} {importlib.metadata.version(distribution)}"
    except importlib.metadata.PackageNotFoundError:
        raise _missing(distribution) from None


def _missing(distribution: str) -> ServiceError:
    remedy = f"Install it: {installing('corpus')}"
    return ServiceError(f"the package {distribution} is not installed", remedy=remedy)
