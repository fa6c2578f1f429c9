"""What the offline detectors have in common: how a package is loaded, which versions change its numbers, how a number is written.

*Reads* the installed packages' own files. *Writes* nothing. *Never* sees more than a text.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import importlib.metadata
import importlib.resources
import json
import platform
import zlib
from decimal import Decimal
from typing import Any

from penmark.errors import ServiceError


def load_package(module: str, distribution: str, remedy: str) -> tuple[Any, str]:
    """The module, and the version of the distribution that it must come from.

    Raises ServiceError naming what is missing, with ``remedy``.
    """
    try:
        version = importlib.metadata.version(distribution)
        return importlib.import_module(module), version
    except (importlib.metadata.PackageNotFoundError, ModuleNotFoundError):
        raise ServiceError(f"the package {distribution} is not installed", remedy=remedy) from None


def encode_raw_answer(answer: dict[str, Any]) -> bytes:
    """A raw answer as JSON bytes with sorted keys; numbers that are not integers come as strings (``format_float``)."""
    return json.dumps(answer, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def format_float(number: float) -> str:
    """The shortest digits that give this float again, without an exponent: 5.5e-05 is "0.000055"."""
    return format(Decimal(repr(number)), "f")


def digest_package_file(package: str, *parts: str) -> str:
    """SHA-256 of a file inside an installed package."""
    return hashlib.sha256(importlib.resources.files(package).joinpath(*parts).read_bytes()).hexdigest()


def list_build_versions() -> dict[str, str | None]:
    """The builds that change what compressors and sums of floats give: Python, liblzma, zlib."""
    return {"liblzma": find_liblzma_version(), "python": platform.python_version(), "zlib": zlib.ZLIB_RUNTIME_VERSION}


def find_liblzma_version() -> str | None:
    """The version of liblzma in use, which the standard library does not tell; None where it is linked in without a name."""
    try:
        module = importlib.import_module("_lzma")
        call = ctypes.CDLL(module.__file__).lzma_version_string
    except (ImportError, AttributeError, OSError):
        return None
    call.restype = ctypes.c_char_p
    return str(call().decode("ascii"))
