"""Packages that only some sources need: imported when they are used, with the install line where they are missing.

*Reads* the installed packages. *Writes* nothing.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import Any

from penmark.errors import ServiceError, describe_install


def load_extra(module: str, distribution: str) -> Any:
    """The module. Raises ServiceError naming the distribution, with the line that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise _make_missing_error(distribution) from None


def describe_distribution(distribution: str) -> str:
    """Name and version of a distribution, as provenance keeps them: "trafilatura 2.3.1". Raises as ``load_extra``."""
    try:
        return f"{distribution} {importlib.metadata.version(distribution)}"
    except importlib.metadata.PackageNotFoundError:
        raise _make_missing_error(distribution) from None


def _make_missing_error(distribution: str) -> ServiceError:
    remedy = f"Install it: {describe_install('corpus')}"
    return ServiceError(f"the package {distribution} is not installed", remedy=remedy)
