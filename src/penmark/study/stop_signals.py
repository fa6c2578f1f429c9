"""What asks a long run to end: Ctrl-C, `kill`, a terminal that is closed.

*Reads* and *writes* nothing. *Never* ends the process: what is in flight comes to its end first.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

STOPPING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP

_CLOSED = getattr(signal, "SIGHUP", None)


@contextlib.contextmanager
def catch_stop_signals(heard: Callable[[], None]) -> Iterator[None]:
    """Call ``heard`` at each signal that asks to stop while in the block, where this is the main thread.

    A SIGHUP that is ignored already (``nohup``) stays ignored. A terminal that is closed sends it twice, to the leader of the
    session and to whoever is in front: that is one wish, and no second one that leaves what is in flight.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    closed = False

    def hear(number: int, frame: Any) -> None:
        nonlocal closed
        again, closed = closed, closed or number == _CLOSED
        if not (again and number == _CLOSED):
            heard()

    wanted = [each for each in STOPPING if signal.getsignal(each) is not signal.SIG_IGN or each == signal.SIGINT]
    before = {number: signal.signal(number, hear) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
