"""What reaches a terminal: nothing that steers it, and nothing that it cannot show stops a command. Not a verb.

*Reads* and *writes* what is printed. *Never* lets a control or format character through to stdout, whatever file of a
bundle it came from: it is shown by its number, in the form of JSON, so that what is printed as JSON stays the same value.
"""

from __future__ import annotations

import codecs
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from penmark.errors import legible, numbered

_ERRORS = "penmark-numbers"


class _Legible:
    """A text stream that shows control and format characters by number."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return int(self._stream.write(legible(text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def legibly() -> Iterator[None]:
    """As long as it lasts, stdout is legible, and what neither it nor stderr can encode is shown by number."""
    codecs.register_error(_ERRORS, _by_number)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_ERRORS)
    with contextlib.redirect_stdout(_Legible(sys.stdout)):
        yield


def _by_number(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return numbered(error.object[error.start : error.end]), error.end
