"""Doubles of vendors that are asked in a way of their own: Copyleaks with a login, Grammarly with an upload.

*Reads* and *writes* nothing. *Never* gives a result for a token that has ended.
"""

from __future__ import annotations

import secrets
from decimal import Decimal
from typing import Any

from penmark.testing.doubles.fake_vendor import DoubleAnswer, Request, Vendor
from penmark.testing.doubles.misbehaviour import Behaviour
from penmark.testing.doubles.one_answer import format_share, is_same_key
from penmark.testing.doubles.polled_jobs import Job, Jobs
from penmark.testing.doubles.requests_log import Tariff


def _make_error(status: int, kind: str, code: int, message: str) -> DoubleAnswer:
    return DoubleAnswer(status, {"error": {"type": kind, "id": "e", "code": code, "message": message}})


class Copyleaks(Vendor):
    """A login for 48 hours, twelve times in a quarter of an hour; a scan has a name that the caller chooses, once."""

    name = "copyleaks"
    secrets = ("email", "key")
    routes = (
        ("POST", "/v3/account/login/api", "login"),
        ("POST", "/v2/writer-detector/(?P<scan>[^/]+)/check", "send"),
    )
    verdict = ("summary", "ai")
    versions = ("v9.0", "v9.1")
    zones = {"human": "0", "ai": "1", "mixed": "0.3", "uncertain": "0.3"}
    tariff = Tariff("1", "credits", 250, "words")
    least, most = 255, 100_000
    logins = 12
    refusals = {
        "wrong key": _make_error(401, "authentication_error", 2, "Invalid credentials"),
        "no credit": _make_error(400, "payment_error", 13, "No credits available"),
        "too short": _make_error(400, "invalid_request_error", 11, "Not enough text"),
        "too long": _make_error(400, "invalid_request_error", 12, "The text is too long"),
        "rate limited": _make_error(429, "api_error", 9, "Too many requests"),
        "busy": _make_error(503, "api_error", 9, "Temporarily unavailable"),
    }

    def __init__(self, *, credit: int | None, version_after: int | None, polls: int) -> None:
        super().__init__(credit=credit, version_after=version_after, polls=polls)
        self.token = ""
        self.logged_in = 0
        self.scans: set[str] = set()

    def knows(self, asked: Request) -> bool:
        """Mail address and key at the login, then the token."""
        if asked.step == "login":
            given = asked.json()
            return all(is_same_key(str(given.get(name, "")), self.keys[name]) for name in self.secrets)
        return self.token != "" and is_same_key(asked.headers.get("authorization", ""), f"Bearer {self.token}")

    def answer(self, asked: Request, act: Behaviour | None) -> DoubleAnswer:
        """A token may end at any time."""
        if act is not None and act.kind == "expired login":
            self.token = ""
        return super().answer(asked, act)

    def do(self, asked: Request, act: Behaviour | None) -> DoubleAnswer:
        """Log in, or judge a text."""
        if asked.step == "login":
            return self.login()
        scan = asked.found["scan"]
        with self._lock:
            if scan in self.scans:
                return _make_error(409, "invalid_request_error", 1, "The scan id was used before")
        said = super().do(asked, act)
        if said.status == 200:
            with self._lock:
                self.scans.add(scan)
        return said

    def login(self) -> DoubleAnswer:
        """A token, as long as there were not too many."""
        with self._lock:
            self.logged_in += 1
            if self.logged_in > self.logins:
                return self.refusals["rate limited"]
            self.token = secrets.token_hex(24)
        return DoubleAnswer(
            200, {"access_token": self.token, ".issued": "2026-11-30T00:00:00Z", ".expires": "2026-12-02T00:00:00Z"}
        )

    def text(self, asked: Request) -> str:
        """The text."""
        return str(asked.json().get("text", ""))

    def result(self, text: str, number: Decimal) -> Any:
        """Shares of the text."""
        words = len(text.split())
        found: dict[str, Any] = {
            "classification": 2 if number > 0 else 1,
            "probability": format_share(number),
            "matches": [],
        }
        used = int(self.tariff.price(text))
        scanned = {
            "scanId": "s",
            "totalWords": words,
            "totalExcluded": 0,
            "actualCredits": used,
            "expectedCredits": used,
        }
        summary = {"human": format_share(1 - number), "ai": format_share(number)}
        return {"modelVersion": self.version(), "results": [found], "summary": summary, "scannedDocument": scanned}


class Grammarly(Jobs):
    """Three steps: a place to put the text, the text, the result. The key belongs to the first and the last."""

    name = "grammarly"
    secrets = ("token",)
    routes = (
        ("POST", "/ecosystem/api/v1/ai-detection", "send"),
        ("PUT", "/upload/(?P<job>[^/]+)", "upload"),
        ("GET", "/ecosystem/api/v1/ai-detection/(?P<job>[^/]+)", "poll"),
    )
    verdict = ("score", "ai_generated_percentage")
    most = 100_000
    least_words = 30
    refusals = {
        "wrong key": DoubleAnswer(401, {"error": "unauthorized"}),
        "too long": DoubleAnswer(413, {"error": "the file is too large"}),
        "rate limited": DoubleAnswer(429, {"error": "too many requests"}),
    }

    def knows(self, asked: Request) -> bool:
        """A bearer's key, but not where the text is put."""
        if asked.step == "upload":
            if any(self.keys["token"] in value for value in asked.headers.values()):
                self.ledger.leaked()
            return True
        return is_same_key(asked.headers.get("authorization", ""), f"Bearer {self.keys['token']}")

    def do(self, asked: Request, act: Behaviour | None) -> DoubleAnswer:
        """Name a place, take a text, or tell how far it is."""
        if asked.step == "send":
            name = self.named(Job("", act, 0))
            return DoubleAnswer(
                200, {"score_request_id": name, "file_upload_url": f"{self.url}/upload/{name}?signature={name}"}
            )
        if asked.step == "poll":
            return self.polled(asked)
        text = self.text(asked)
        if (refusal := self.taken(text)) is not None:
            return refusal
        with self._lock:
            self.work[asked.found["job"]] = self.work[asked.found["job"]]._replace(text=text)
        return DoubleAnswer(200, {})

    def text(self, asked: Request) -> str:
        """The file."""
        return asked.body.decode("utf-8", errors="replace")

    def working(self, name: str, job: Job) -> Any:
        """A status."""
        return {"status": "PENDING", "updated_at": "2026-11-30T00:00:00Z"}

    def failed(self, name: str, job: Job) -> Any:
        """A status."""
        return {"status": "FAILED", "updated_at": "2026-11-30T00:00:00Z"}

    def result(self, text: str, number: Decimal) -> Any:
        """A share that is called a percentage; nothing for a text that is too short."""
        told: dict[str, Any] = {"status": "COMPLETED", "updated_at": "2026-11-30T00:00:00Z"}
        enough = len(text.split()) >= self.least_words
        score = {"average_confidence": 0.9, "ai_generated_percentage": format_share(number)}
        return told | {"score": score if enough else None}
