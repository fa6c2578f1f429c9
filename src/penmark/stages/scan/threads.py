"""How one detector is asked: a plugin with ``read``, or a vendor through the engine, by several threads at once.

*Reads* and *writes* nothing. *Never* gives a detector anything but a text
(and, where the vendor lets its caller name the work, a digest as its name).
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from penmark.cards import judge
from penmark.cards.judge import AskedQuestion
from penmark.errors import ServiceError
from penmark.journal import evidence_log
from penmark.plugins import Answer, Declined, Detector, Engine, Exchange, Heard, UnansweredError
from penmark.stages.scan.clock import Clock
from penmark.stages.scan.rate_limit import RateLimit

Job = dict[str, str]
"""What a vendor calls the work that it took on: names and values for a later request."""
Noted = Callable[[Job], None]
Said = Answer | Declined | UnansweredError | str


class Item(NamedTuple):
    """One thing to do: ask about a document for the ``attempt``-th time, or write down why it is not asked about.

    ``job``: what the vendor called the work that it took on (``sent_at``: when); asked for ``rounds`` times already.
    """

    position: int
    attempt: int = 1
    skip: str | None = None
    job: Job | None = None
    sent_at: str | None = None
    rounds: int = 0


class Question(NamedTuple):
    """A text whose ``sent`` line is on the disk. ``price``: what is set aside for it."""

    item: Item
    pair: AskedQuestion
    text: str
    price: Decimal = Decimal(0)


class Outcome(NamedTuple):
    """What came of it: an answer, a refusal, an error in transport, or the reason why the pair has failed.

    ``began``: when the call began, by the clock that only goes forward; ``seconds``: how long its last request took.
    """

    question: Question
    said: Said
    exchanges: tuple[Exchange, ...]
    got_at: str
    began: float
    seconds: float


class UnsentError(UnansweredError):
    """The scan was stopped before the request left."""


class Asking(Protocol):
    """A detector that can be asked by ``connections`` threads at once. ``version``: what a plugin calls itself."""

    version: str | None
    connections: int
    pace: RateLimit

    def ask(self, question: Question, noted: Noted) -> Heard: ...

    def close(self) -> None: ...


class Nobody:
    """Is not asked: there are only answers of an earlier scan to be written down."""

    version: str | None = None
    connections = 1

    def __init__(self) -> None:
        self.pace = RateLimit(None)

    def ask(self, question: Question, noted: Noted) -> Heard:
        """Never called by a lane that has nothing to ask."""
        raise UnansweredError("there is nobody to be asked")

    def close(self) -> None:
        """Nothing is open."""


class PluginAsking:
    """Asks a plugin, one text at a time."""

    connections = 1

    def __init__(self, plugin: Detector) -> None:
        self.plugin, self.pace = plugin, RateLimit(None)
        self.version: str | None = plugin.version

    def ask(self, question: Question, noted: Noted) -> Heard:
        """What it says. Raises UnansweredError where the transport failed."""
        try:
            return Heard(self.plugin.read(question.text), ())
        except UnansweredError:
            raise
        except ServiceError as error:
            raise UnansweredError(error.faults[0].fact, remedy=error.faults[0].remedy, again=True) from None

    def close(self) -> None:
        """Nothing is open."""


class VendorAsking:
    """Asks a vendor through the engine. ``called``: gives the caller's own id of a document."""

    version: str | None = None

    def __init__(
        self,
        make: Callable[..., Engine],
        *,
        pace: RateLimit,
        connections: int,
        stop: threading.Event,
        called: Callable[[str], str],
    ) -> None:
        self.pace, self.connections = pace, connections
        self._stop, self._called = stop, called
        self._thread = threading.local()
        self.stirred: Callable[[], None] = lambda: None
        self.engine = make(connections=connections, wait=self._wait, turn=self._take_turn)

    def ask(self, question: Question, noted: Noted) -> Heard:
        """Send the text, or ask for the job. Raises UnansweredError."""
        if question.item.job is not None:
            return self.engine.resume(question.item.job)
        self._thread.paid = True  # its `sent` line was written when its turn had come
        try:
            return self.engine.ask(question.text, self._called(question.pair.document), noted)
        finally:
            if self._thread.paid:
                self.pace.give_back()
                self._thread.paid = False

    def close(self) -> None:
        """Close the connections."""
        self.engine.close()

    def _wait(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.stirred()
            if self._stop.wait(min(left, 1.0)):
                return True
        return self._stop.is_set()

    def _take_turn(self, step: str) -> None:
        self.stirred()
        taken = step == "send" and getattr(self._thread, "paid", False)
        if not self.pace.turn(self._wait, taken=taken):
            raise UnsentError("the scan was stopped", again=True)
        if taken:
            self._thread.paid = False
        self.stirred()


class Threads:
    """Threads that ask, so many at once at most. ``wake`` is set when they have run out of questions, or one got no answer: then
    none of them begins with another before ``go_on``. ``noted`` is told of the jobs that a vendor took on."""

    def __init__(
        self, asking: Asking, clock: Clock, wake: threading.Event, noted: Callable[[Question, Job], None]
    ) -> None:
        self._asking, self._clock, self._wake, self._noted = asking, clock, wake, noted
        self._waiting: deque[Question] = deque()
        self._calls: queue.SimpleQueue[bool] = queue.SimpleQueue()  # for a thread each: there is work; False: no more
        self._parked: list[Question] = []  # nobody is to begin with them now
        self._busy: dict[int, float] = {}  # by thread: when it last gave a sign of life
        self._outcomes: list[Outcome] = []
        self._threads, self._load = 0, 0
        self._held = self._left = False
        self._lock = threading.Lock()
        if isinstance(asking, VendorAsking):
            asking.stirred = self._stir

    @property
    def load(self) -> int:
        """Questions that were given and have no outcome yet."""
        return self._load

    @property
    def busy(self) -> int:
        """Threads that are asking."""
        return len(self._busy)

    def give(self, questions: Sequence[Question], *, wake: int) -> None:
        """Let the threads ask. Of those that rest, so many are woken as ``wake`` says, where anything waits: few do quick
        calls one after the other for less than many that wait for each other."""
        with self._lock:
            self._load += len(questions)
            new = max(0, min(self._load, self._asking.connections) - self._threads)
            self._threads += new
        self._waiting.extend(questions)
        for _ in range(new):
            threading.Thread(target=self._work, daemon=True, name="asks").start()
        self._call(wake)

    def _call(self, most: int) -> None:
        for _ in range(min(most, len(self._waiting))):
            self._calls.put(True)

    def take_back(self) -> list[Question]:
        """The questions that no thread has begun with."""
        back = list[Question]()
        while (question := self._next()) is not None:
            back.append(question)
        with self._lock:
            back, self._parked = [*self._parked, *back], []
            self._load -= len(back)
        return back

    def outcomes(self) -> list[Outcome]:
        """What came since the last time."""
        with self._lock:
            came, self._outcomes = self._outcomes, []
            self._load -= len(came)
        return came

    def go_on(self) -> None:
        """What came was dealt with; the next questions may be asked."""
        if self._held:
            with self._lock:
                self._held, parked, self._parked = False, self._parked, []
            self._waiting.extend(parked)
            self._call(len(parked))

    def hung(self, patience: float) -> int:
        """How many of them have given no sign of life for so many seconds."""
        now = time.monotonic()
        with self._lock:
            return sum(now - since > patience for since in self._busy.values())

    def leave(self) -> None:
        """Drop whatever comes from now on, and let the threads go."""
        with self._lock:
            self._left, threads = True, self._threads
        for _ in range(threads):
            self._calls.put(False)

    def _stir(self) -> None:
        me = threading.get_ident()
        with self._lock:
            if me in self._busy:
                self._busy[me] = time.monotonic()

    def _next(self) -> Question | None:
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def _work(self) -> None:
        while self._calls.get():
            while (question := self._next()) is not None:
                self._ask_question(question)

    def _ask_question(self, question: Question) -> None:
        me, began = threading.get_ident(), time.monotonic()
        with self._lock:
            if self._held:
                self._parked.append(question)
                return
            self._busy[me] = began
        said, exchanges = self._call_detector(question)
        got_at, ended = self._clock.now(), time.monotonic()
        with self._lock:
            outcome = Outcome(question, said, exchanges, got_at, began, ended - self._busy.pop(me))
            if not self._left:
                self._outcomes.append(outcome)
            self._held = self._held or isinstance(said, UnansweredError)
        if self._held or not self._waiting:  # else there is no hurry: the lane looks at its next beat
            self._wake.set()

    def _call_detector(self, question: Question) -> tuple[Said, tuple[Exchange, ...]]:
        """Whatever a detector does wrong costs its own reading, and nothing else."""

        def noted(job: Job) -> None:
            self._noted(question, job)

        try:
            heard = self._asking.ask(question, noted)
        except UnansweredError as error:
            return error, error.exchanges
        except (Exception, SystemExit) as error:
            return judge.clean_reason(f"{type(error).__name__}: {error}"), ()
        return _check_returned(heard.said), heard.exchanges


def _check_returned(said: Any) -> Answer | Declined | str:
    body = getattr(said, "body", None)
    if not isinstance(said, Answer | Declined) or not isinstance(body, bytes | None):
        return judge.clean_reason(
            f"TypeError: the plugin returned {type(said).__name__}, not Answer or Declined with bytes"
        )
    if body is not None and len(body) > evidence_log.MAX_BODY:
        return f"ValueError: an answer of {len(body)} bytes; at most {evidence_log.MAX_BODY} are kept"
    return said
