"""SHA-256 of files, however large, read in pieces."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from penmark.errors import PenmarkError

_AGAIN = "Get the bundle again from where it was published; if it is the same there, the publisher changed it."

LARGEST = 2**36
"""No file of a bundle is larger (bytes)."""


def digest_file(path: Path) -> str:
    """SHA-256 of a file, read in pieces. Raises PenmarkError where it cannot be read, or is absurdly large."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGEST:
                raise PenmarkError(f"is {size} bytes; the limit is {LARGEST}", place=str(path), remedy=_AGAIN)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise PenmarkError(f"cannot be read ({error.strerror})", place=str(path), remedy=_AGAIN) from None
