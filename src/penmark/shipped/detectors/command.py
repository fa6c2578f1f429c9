"""A detector that is a command line: it reads one text on standard input (UTF-8) and prints one JSON value.

Options: ``argv``, the command as words (quoted as in a shell, which is not used); ``timeout`` in seconds (60); ``limit``,
the most bytes that it may print (1,048,576); ``environment``, names of variables that it may see, besides the few that
a program needs to start; ``sha256``, the digest that the program must have (``version`` shows its first part).
``{"declined": "why"}`` says that it does not judge this text. A program that ends with an error has not answered.

*Reads* what the program prints. *Writes* nothing: each call gets an empty folder, which goes with it. *Never* uses a
shell, waits longer or keeps more than it was told, or leaves a process behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from penmark import cards, plugins
from penmark.errors import PenmarkError, UsageError
from penmark.http.redact import Redaction
from penmark.plugins import Answer, Declined, UnansweredError

TIMEOUT, LIMIT = 60.0, 2**20
LARGEST = 2**23
"""No answer is larger (bytes), whatever the options say: larger ones are not kept."""
SEEN = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "VIRTUAL_ENV")
"""The variables that every command sees."""
_WORDS, _QUOTE, _SECRET = 200, 24, 8


class Command:
    """May be used by several threads. Raises UsageError for options that do not fit, and for another program than promised."""

    def __init__(self, options: dict[str, str]) -> None:
        given = plugins.check_options(options, "argv", "timeout", "limit", "environment", "sha256")
        self._argv, digest = _make_program(given.get("argv", ""))
        wanted = given.get("sha256", digest)
        if wanted != digest:
            raise UsageError(
                f"the program has the SHA-256 {digest}, not the promised {wanted}",
                remedy="Restore the promised program.",
            )
        self.version = digest[:16]
        self._timeout = _number_given(given, "timeout", TIMEOUT, lambda value: 0 < value <= 3600)
        self._limit = int(
            _number_given(given, "limit", LIMIT, lambda value: 0 < value <= LARGEST and value == int(value))
        )
        self._hiding = Redaction()
        self._environment = {name: os.environ[name] for name in SEEN if name in os.environ}
        for name in given.get("environment", "").split():
            if name not in os.environ:
                raise UsageError(f"the environment variable {name} is not set", remedy=f"export {name}=…")
            self._environment[name] = os.environ[name]
            if len(os.environ[name]) >= _SECRET:
                self._hiding.add(os.environ[name])

    def read(self, text: str) -> Answer | Declined:
        """What the program prints about ``text``. Raises UnansweredError where it does not come to a good end."""
        code, printed, told = self._run(text)
        if code != 0:
            ended = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
            raise UnansweredError(f"the command {ended}{self._words(told, text)}")
        if not printed.strip():
            raise UnansweredError(f"the command printed nothing{self._words(told, text)}")
        body = self._hiding.body(printed)
        if body is None:
            raise UnansweredError("the command printed a secret in a way that cannot be taken out; it was not kept")
        try:
            [declined] = cards.look_up_pointers(body, "/declined")
        except PenmarkError:
            declined = None  # whoever reads the answer says what is wrong with it
        return Answer(body) if declined is None else Declined(declined, body)

    def _run(self, text: str) -> tuple[int, bytes, bytes]:
        """How the program ended, what it printed, and the end of what it said on standard error."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as given:
            given.write(text.encode())
            given.seek(0)
            try:
                process = subprocess.Popen(
                    self._argv,
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                    env=self._environment,
                    start_new_session=True,
                )
            except OSError as error:
                raise UnansweredError(f"the command cannot be started: {error.strerror}", stop=True) from None
            with process:
                try:
                    printed, told = self._make_drained(process.stdout, process.stderr)
                    return process.wait(), printed, told
                finally:
                    # Its own children too: they share the session that it leads.
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.killpg(process.pid, signal.SIGKILL)

    def _make_drained(self, out: IO[bytes] | None, err: IO[bytes] | None) -> tuple[bytes, bytes]:
        until = time.monotonic() + self._timeout
        held = {"out": b"", "err": b""}
        with selectors.DefaultSelector() as waiting:
            for name, pipe in (("out", out), ("err", err)):
                assert pipe is not None
                waiting.register(pipe, selectors.EVENT_READ, name)
            while waiting.get_map():
                ready = waiting.select(max(0.0, until - time.monotonic()))
                if not ready and time.monotonic() >= until:
                    raise UnansweredError(f"the command did not come to its end within {self._timeout:g} seconds")
                for key, _ in ready:
                    piece = os.read(key.fd, 2**16)
                    if piece == b"":
                        waiting.unregister(key.fileobj)
                    held[key.data] += piece
                held["err"] = held["err"][-4 * _WORDS :]
                if len(held["out"]) > self._limit:
                    raise UnansweredError(f"the command printed more than {self._limit} bytes")
        return held["out"], held["err"]

    def _words(self, told: bytes, text: str) -> str:
        """The end of what it said, on one line; nothing where that quotes the text: a reason is public, the text may not be."""
        words = self._hiding.text(" ".join(told.decode("utf-8", "replace").split()))[-_WORDS:]
        quoted = any(words[n : n + _QUOTE] in text for n in range(max(1, len(words) - _QUOTE + 1)))
        return "" if words == "" or quoted else f" ({words})"


def _make_program(argv: str) -> tuple[list[str], str]:
    """The words of the command, files by their whole paths, and the digest over those files."""
    try:
        words = shlex.split(argv)
    except ValueError as error:
        raise UsageError(f"argv is no command line: {error}", remedy="Quote it as in a shell.") from None
    found = shutil.which(words[0]) if words else None
    if found is None:
        fact = f"there is no program {words[0]!r}" if words else "no command is named"
        raise UsageError(fact, remedy="Give argv: the program, and what it is given, as one text.")
    words = [str(Path(found).absolute()), *(str(Path(w).absolute()) if Path(w).is_file() else w for w in words[1:])]
    digests = [hashlib.sha256(Path(word).read_bytes()).hexdigest() for word in words if Path(word).is_file()]
    return words, hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _number_given(given: dict[str, str], name: str, default: float, fits: Callable[[float], bool]) -> float:
    try:
        value = float(given.get(name, default))
    except ValueError:
        value = float("nan")
    if not fits(value):
        raise UsageError(
            f"{name} is {given.get(name)!r}", remedy="Write a number that is not 0, and not beyond all measure."
        )
    return value
