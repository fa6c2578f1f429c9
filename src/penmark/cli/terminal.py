"""What reaches a terminal: nothing that steers it, and nothing that it cannot show stops a command. Not a verb.

*Reads* and *writes* what is printed. *Never* lets a control or format character through to stdout, whatever file of a
bundle it came from: it is shown by its number, in the form of JSON, so that what is printed as JSON stays the same value.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from typing import Any

from penmark.errors import make_legible, number_characters

OUTPUT = "standard output"
_ERRORS = "penmark-numbers"


class _Closed:
    """In place of a stream that was closed before the program began (``>&-``): who prints there is told."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def flush(self) -> None:
        """Nothing waits."""


class _Legible:
    """A text stream that shows control and format characters by number."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return int(self._stream.write(make_legible(text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def make_stdout_legible() -> Iterator[None]:
    """As long as it lasts, stdout is legible, and what neither it nor stderr can encode is shown by number."""
    codecs.register_error(_ERRORS, _by_number)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_ERRORS)
    with contextlib.redirect_stdout(_Legible(_Closed() if sys.stdout is None else sys.stdout)):
        try:
            yield
        finally:
            _let_go(sys.__stdout__)


def _let_go(stream: Any) -> None:
    """Whatever could not be written was told: the interpreter does not try again at its end, and fail aloud."""
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except ValueError:  # closed meanwhile
        pass


def _by_number(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return number_characters(error.object[error.start : error.end]), error.end
