"""Doubles of vendors that take a text, and are asked for the result later.

*Reads* and *writes* nothing. *Never* forgets a job.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from penmark.testing.doubles.fake_vendor import DoubleAnswer, Request, Vendor
from penmark.testing.doubles.misbehaviour import Behaviour
from penmark.testing.doubles.one_answer import format_share, is_same_key
from penmark.testing.doubles.requests_log import Tariff


class Job(NamedTuple):
    """A text that was taken, what goes wrong with its result, and how often it was asked for."""

    text: str
    act: Behaviour | None
    polled: int


class Jobs(Vendor):
    """Takes a text and names the job; the result is there after some polls. A job that failed is not charged for."""

    def __init__(self, *, credit: int | None, version_after: int | None, polls: int) -> None:
        super().__init__(credit=credit, version_after=version_after, polls=polls)
        self.work: dict[str, Job] = {}

    def do(self, asked: Request, act: Behaviour | None) -> DoubleAnswer:
        """Take a text on, or tell how far it is."""
        if asked.step == "poll":
            return self.polled(asked)
        text = self.text(asked)
        if (refusal := self.taken(text)) is not None:
            return refusal
        return DoubleAnswer(200, self.accepted(self.named(Job(text, act, 0))))

    def named(self, job: Job) -> str:
        """A name for a new job."""
        with self._lock:
            name = f"job-{len(self.work) + 1:08d}"
            self.work[name] = job
        return name

    def polled(self, asked: Request) -> DoubleAnswer:
        """Not there, at work, failed, or done."""
        with self._lock:
            name = self.job(asked)
            job = self.work.get(name)
            if job is None:
                return DoubleAnswer(404, {"error": "no such job"})
            self.work[name] = job._replace(polled=job.polled + 1)
        kind = job.act.kind if job.act is not None else None
        if job.polled < self.polls or kind == "endless job":
            return DoubleAnswer(200, self.working(name, job))
        if kind == "failed job":
            if job.polled == self.polls:
                self.ledger.charge(job.text, -1)
            return DoubleAnswer(200, self.failed(name, job))
        result = self.result(job.text, self.number(job.text)) | {"id": name}
        return DoubleAnswer(200, self.spoilt(result, job.act))

    # What differs between vendors.

    def job(self, asked: Request) -> str:
        """The job that is asked for."""
        return asked.found["job"]

    def accepted(self, name: str) -> Any:
        """What is said when a text is taken on."""
        raise NotImplementedError

    def working(self, name: str, job: Job) -> Any:
        """What is said of a job at work."""
        raise NotImplementedError

    def failed(self, name: str, job: Job) -> Any:
        """What is said of a job that failed."""
        raise NotImplementedError


class Pangram(Jobs):
    """Shares of the text; a job that failed comes with status 200 and a headline."""

    name = "pangram"
    routes = (("POST", "/task", "send"), ("GET", "/task/(?P<job>[^/]+)", "poll"))
    verdict = ("prediction_short",)
    echo = ("text",)
    versions = ("4.0", "4.1")
    zones = {"human": "0.02", "ai": "0.97", "mixed": "0.3", "uncertain": "0.3"}
    tariff = Tariff("0.05", "USD", 100, "words")
    most = 75_000
    refusals = {
        "wrong key": DoubleAnswer(401, {"error": "invalid api key"}),
        "no credit": DoubleAnswer(402, {"error": "out of credits"}),
        "too short": DoubleAnswer(422, {"error": "text too short"}),
        "too long": DoubleAnswer(413, {"error": "text too long"}),
        "rate limited": DoubleAnswer(429, {"error": "too many requests"}),
    }

    def knows(self, asked: Request) -> bool:
        """The key stands in a header of its own."""
        return is_same_key(asked.headers.get("x-api-key", ""), self.keys["key"])

    def text(self, asked: Request) -> str:
        """The text."""
        return str(asked.json().get("text", ""))

    def accepted(self, name: str) -> Any:
        """The name of the task."""
        return {"task_id": name}

    def working(self, name: str, job: Job) -> Any:
        """A stage."""
        return {"stage": "STAGE_INFERENCE"}

    def failed(self, name: str, job: Job) -> Any:
        """Why, in the place of the headline."""
        return {"stage": "STAGE_FAILED", "headline": "the task failed", "detail": "internal"}

    def result(self, text: str, number: Decimal) -> Any:
        """Human where nine tenths and more of it are, AI from one half on."""
        mixed = "Mixed" if number >= Decimal("0.1") else "Human"
        short = "AI" if number >= Decimal("0.5") else mixed
        headline = {"AI": "AI Generated", "Mixed": "AI Detected", "Human": "Human Written"}[short]
        return {
            "stage": "STAGE_SUCCESS", "text": text, "version": self.version(), "headline": headline,
            "prediction": "A double answers; this means nothing.", "prediction_short": short,
            "fraction_ai": format_share(number), "fraction_ai_assisted": 0.0, "fraction_human": format_share(1 - number),
            "num_ai_segments": 1, "num_ai_assisted_segments": 0, "num_human_segments": 1, "windows": [],
        }  # fmt: skip


class Undetectable(Jobs):
    """The key travels in the body; errors come with status 200; the details are human percentages of other vendors."""

    name = "undetectable"
    routes = (("POST", "/detect", "send"), ("POST", "/query", "poll"))
    verdict = ("result",)
    versions = ("xlm_ud_detector", "xlm_ud_detector_2")
    zones = {"human": "0.02", "ai": "0.97", "mixed": "0.55", "uncertain": "0.55"}
    refusals = {
        "wrong key": DoubleAnswer(200, {"error": "User verification failed"}),
        "no credit": DoubleAnswer(200, {"error": "Not enough credits"}),
        "too long": DoubleAnswer(400, {"error": "The text is too long"}),
        "rate limited": DoubleAnswer(429, {"error": "Too many requests"}),
    }

    def knows(self, asked: Request) -> bool:
        """The key stands beside the text; whoever has the name of a job may ask for it."""
        return asked.step == "poll" or is_same_key(str(asked.json().get("key", "")), self.keys["key"])

    def text(self, asked: Request) -> str:
        """The text."""
        return str(asked.json().get("text", ""))

    def job(self, asked: Request) -> str:
        """The id, in the body."""
        return str(asked.json().get("id", ""))

    def accepted(self, name: str) -> Any:
        """An answer without a result."""
        return {"id": name, "model": self.versions[0], "result": None, "result_details": None, "status": "pending"}

    def working(self, name: str, job: Job) -> Any:
        """The same, a little later."""
        return {**self.accepted(name), "status": "analyzing"}

    def failed(self, name: str, job: Job) -> Any:
        """The same, with another status."""
        return {**self.accepted(name), "status": "failed"}

    def result(self, text: str, number: Decimal) -> Any:
        """The number is AI's; the details are the human's."""
        human = format_share(100 - 100 * number, 2)
        details = {
            f"score{other}": human for other in ("GptZero", "OpenAI", "Writer", "CrossPlag", "CopyLeaks", "Sapling")
        }
        details |= {"scoreContentAtScale": human, "scoreZeroGPT": human, "human": human}
        told = {
            "model": self.version(),
            "result": format_share(100 * number, 2),
            "result_details": details,
            "status": "done",
        }
        return {"input": text, **told}
