"""Everything that a vendor can do wrong, by the real command: which state, reason, evidence and exit code follow.

One text, and a vendor that does wrong with it; what it says of the canary before is right. What lasts (a key that is
wrong, a server that is down) lasts to the end, so that all attempts are used up; the rest happens once.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.shipped.detectors.test_vendors import CASES
from tests.stages.scan.test_vendors import EVERY, held, noted
from tests.stages.scan.vendors import Place, text, vendors

from penmark import cards, study
from penmark.cli import invoke
from penmark.format import canonical_json
from penmark.journal import STOPPED, evidence_log
from penmark.stages.scan import open_scan
from penmark.stages.scan.budget import MAYBE
from penmark.testing.doubles import Behaviour

ONE = "00"
LASTING = ("wrong key", "rate limited", "broken", "busy", "drop before", "drop after", "half body", "slow")
EVERY_SECONDS = {"grammarly": "1", "pangram": "0.5", "undetectable": "1"}
"""How often a job is asked for, by its card."""


class Follows(NamedTuple):
    """``state``: of the reading; None where the text stays to be asked about. ``status``: of the last exchange, None
    without an answer. ``reason``: of the reading or, where there is none, of the last retry; of an answer without a call,
    why it has none. ``evidence_log``: whether the answer is kept. ``code``: of the command."""

    state: str | None
    status: int | None
    reason: str
    evidence: bool
    code: int


def stops(status: int, words: str) -> Follows:
    """The account is refused: this detector stops, and the text is asked about another day."""
    return Follows(None, status, f"{STOPPED}HTTP {status}{words}", False, 3)


def fails(status: int | None, words: str) -> Follows:
    """No answer, all attempts made."""
    return Follows("failed", status, words, False, 3)


def declines(status: int, words: str) -> Follows:
    """The vendor does not judge this text, or nobody can say that it did; what it said is kept."""
    return Follows("declined", status, words, True, 0)


def answers(no_call: str = "") -> Follows:
    """An answer, word for word; ``no_call``: why it comes to no call."""
    return Follows("answered", 200, no_call, True, 0)


NOTHING = "nothing in the answer where the card looks for it"
NO_VERDICT, NO_SCORE = answers("no verdict in the answer"), answers("no score in the answer")
COMMON = {
    "broken": fails(500, f"HTTP 500 (internal){MAYBE}"),
    "busy": fails(503, f"HTTP 503 (unavailable){MAYBE}"),
    "rate limited": fails(429, "HTTP 429 (Too many requests)"),
    "drop before": fails(None, "the connection broke: "),
    "drop after": fails(None, "the connection broke: "),
    "half body": fails(None, "the connection broke: peer closed connection without sending complete message body"),
    "slow": fails(None, f"no answer in time: timed out{MAYBE}"),
    "huge": fails(None, f"the answer is larger than 8388608 bytes and was not read to its end{MAYBE}"),
    "endless job": fails(200, f"the vendor did not come to an end within 1 seconds{MAYBE}"),
    "redirect": stops(307, ""),
    "html": declines(200, "the answer is not JSON: "),
    "missing field": declines(200, NOTHING),
    "null score": declines(200, NOTHING),
    "echo changed": declines(200, "other text scanned"),
    "failed job": declines(200, "the vendor's work on it failed"),
    "echo key": answers(),
    "extra field": answers(),
    "expired login": answers(),
}
"""What follows where the vendor has no words of its own for it."""
LACKS = {
    "gptzero": NO_VERDICT,
    "huggingface": NO_VERDICT,
    "originality-lite": NO_VERDICT,
    "originality-turbo": NO_VERDICT,
    "pangram": NO_VERDICT,
    "zerogpt": NO_SCORE,
}
"""Vendors whose answer shows something else than what decides."""
KEY_OR_CREDIT = ": its answer to a bad key and to an empty account"
OWN = {
    # What follows a login that was refused: nothing was sent, so nothing is on record about the text.
    ("copyleaks", "wrong key"): Follows(None, None, "", False, 3),
    ("gptzero", "wrong key"): stops(
        404, ": its answer to a key or a plan that it does not know, or that has ended (API key not found)"
    ),
    ("grammarly", "wrong key"): stops(401, " (unauthorized)"),
    ("hive", "wrong key"): stops(401, " (unauthorized)"),
    ("huggingface", "wrong key"): stops(401, " (Invalid credentials)"),
    ("originality-lite", "wrong key"): stops(401, " (Unauthenticated.)"),
    ("originality-turbo", "wrong key"): stops(401, " (Unauthenticated.)"),
    ("pangram", "wrong key"): stops(401, " (invalid api key)"),
    ("sapling", "wrong key"): stops(401, " (Invalid key)"),
    ("undetectable", "wrong key"): stops(200, f"{KEY_OR_CREDIT} (User verification failed){MAYBE}"),
    ("winston", "wrong key"): stops(401, " (Unauthorized)"),
    ("zerogpt", "wrong key"): stops(200, f": key or credit (unauthorized){MAYBE}"),
    ("copyleaks", "no credit"): stops(400, ": no credits (No credits available)"),
    ("gptzero", "no credit"): stops(
        429, ": the words of the plan are used up (The limit of 300 thousand words has been reached)"
    ),
    ("hive", "no credit"): stops(402, " (payment required)"),
    ("huggingface", "no credit"): stops(402, " (You have exceeded your monthly included credits)"),
    ("originality-lite", "no credit"): stops(402, " (Not enough credits)"),
    ("originality-turbo", "no credit"): stops(402, " (Not enough credits)"),
    ("pangram", "no credit"): stops(402, " (out of credits)"),
    ("sapling", "no credit"): stops(402, " (Payment required)"),
    ("undetectable", "no credit"): stops(200, f"{KEY_OR_CREDIT} (Not enough credits){MAYBE}"),
    ("winston", "no credit"): stops(402, " (Not enough credits)"),
    ("zerogpt", "no credit"): stops(200, f": key or credit (not enough credit){MAYBE}"),
    ("copyleaks", "too short"): declines(400, "HTTP 400: too little text (Not enough text)"),
    ("originality-lite", "too short"): declines(422, "HTTP 422 (The content is too short)"),
    ("originality-turbo", "too short"): declines(422, "HTTP 422 (The content is too short)"),
    ("pangram", "too short"): declines(422, "HTTP 422 (text too short)"),
    ("winston", "too short"): declines(400, "HTTP 400 (The text is too short)"),
    ("copyleaks", "too long"): declines(400, "HTTP 400: too much text (The text is too long)"),
    ("grammarly", "too long"): declines(413, "HTTP 413 (the file is too large)"),
    ("huggingface", "too long"): declines(400, "HTTP 400 (The input is too long)"),
    ("pangram", "too long"): declines(413, "HTTP 413 (text too long)"),
    ("sapling", "too long"): declines(400, "HTTP 400 (Text too long)"),
    ("undetectable", "too long"): declines(400, "HTTP 400 (The text is too long)"),
    ("winston", "too long"): declines(400, "HTTP 400 (The text is too long)"),
    ("zerogpt", "too long"): declines(413, "HTTP 413 (too large)"),
    ("copyleaks", "rate limited"): fails(429, "HTTP 429: not available for the moment (Too many requests)"),
    ("grammarly", "rate limited"): fails(429, "HTTP 429 (too many requests)"),
    ("hive", "rate limited"): fails(429, "HTTP 429 (too many requests)"),
    ("originality-lite", "rate limited"): fails(429, "HTTP 429 (Too Many Attempts.)"),
    ("originality-turbo", "rate limited"): fails(429, "HTTP 429 (Too Many Attempts.)"),
    ("pangram", "rate limited"): fails(429, "HTTP 429 (too many requests)"),
    ("sapling", "rate limited"): fails(429, "HTTP 429 (Rate limit exceeded)"),
    ("zerogpt", "rate limited"): fails(429, "HTTP 429 (too many requests)"),
    ("copyleaks", "busy"): fails(503, f"HTTP 503: not available for the moment (Temporarily unavailable){MAYBE}"),
    ("huggingface", "busy"): fails(503, f"HTTP 503 (The model is currently loading){MAYBE}"),
    ("grammarly", "html"): declines(200, "the answer holds no place where the card looks for it"),
    ("pangram", "html"): declines(200, "the answer holds no task where the card looks for it"),
    ("undetectable", "html"): declines(200, "the answer holds no job where the card looks for it"),
    ("pangram", "failed job"): declines(200, "the vendor's task failed"),
    # It may change the text that it sends back, so that is remarked, and not held against the one that was sent.
    ("pangram", "echo changed"): answers(),
} | {(name, kind): follows for name, follows in LACKS.items() for kind in ("missing field", "null score")}
"""What follows where the vendor has its own words, or its own way."""


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_scan, "begin_scan", functools.partial(open_scan.begin_scan, pause=lambda failures: 0.0))


def scan(place: Place, name: str) -> int:
    """The exit code of the command."""
    options = ["--budget", "99999", "--pace", f"{name}=1000/1", "--at-once", "1"]
    return invoke(["-C", str(place.study.root), "scan", *options])


def change(name: str, kind: str) -> dict[str, tuple[str, str]]:
    """What is other in the card, so that nobody waits for long."""
    if kind == "slow":
        return {name: ("    send:\n", "    timeout: 1\n    send:\n")}
    if name not in EVERY_SECONDS:
        return {}
    every = f'every: "{EVERY_SECONDS[name]}"\n      patience: 300'
    return {name: (every, 'every: "0.02"\n      patience: 1')}


def seen(place: Place, name: str, code: int) -> Follows:
    """What is on record about the text."""
    found, row = place.journal(name), place.readings(name).get(ONE)
    exchanges, kept = noted(place, name), list(evidence_log.read_evidence(place.edition.evidence, name))
    status = exchanges[-1]["status"] if exchanges else None
    if row is None:
        reasons = found.retries["reason"].to_list()
        return Follows(None, status, reasons[-1] if reasons else "", bool(kept), code)
    assert [item.document for item in kept] == ([ONE] if row["evidence_sha256"] is not None else [])
    assert [canonical_json.sha256(item.body) for item in kept] == ([row["evidence_sha256"]] if kept else [])
    reason = row["reason"] or ""
    if row["state"] == "answered":
        sealed = cards.read_sealed_card(place.edition, name)
        reason = cards.call_answer(sealed.card, sealed.card.boundary, row["score"], row["label"]).reason or ""
    return Follows(row["state"], status, reason, bool(kept), code)


@pytest.mark.parametrize(("name", "kind"), CASES, ids=[f"{name}-{kind.replace(' ', '-')}" for name, kind in CASES])
def test_state_status_reason_evidence_and_exit_code(tmp_path: Path, name: str, kind: str) -> None:
    wanted = OWN.get((name, kind)) or COMMON[kind]
    at = "login" if (name, kind) == ("copyleaks", "wrong key") else "send"
    act = Behaviour(kind, at=at, times=None if kind in LASTING else 1)  # type: ignore[arg-type]
    double = {name: {"behaviours": [None, act], "polls": 0}}
    attempts = 1 if kind == "slow" else 2
    with vendors(tmp_path, {ONE: text(0)}, double, change=change(name, kind), attempts=attempts) as place:
        got = seen(place, name, scan(place, name))
        retries, sent = place.journal(name).retries.height, place.journal(name).sent.height
    assert got._replace(reason="") == wanted._replace(reason="")
    assert got.reason == wanted.reason or (kind in UNTOLD and got.reason.startswith(wanted.reason))
    again = wanted.state == "failed" and kind in LASTING and attempts > 1
    assert retries == (1 if again or wanted.reason.startswith(STOPPED) else 0)
    assert sent == (2 if again else 0 if (name, kind) == ("copyleaks", "wrong key") else 1)


UNTOLD = ("drop before", "drop after", "half body", "html")
"""The rest of these reasons is in the words of the system or of a library."""


@pytest.mark.parametrize("name", EVERY)
def test_no_file_and_no_message_holds_a_key_that_the_vendor_repeats_in_whatever_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    kinds = ["html", "rate limited", "missing field", "broken", "half body", "null score", "redirect", "wrong key"]
    acts = [
        Behaviour(kind, tells=True, times=None if kind == "wrong key" else 1)  # type: ignore[arg-type]
        for kind in kinds
    ]
    texts = {f"{number:02d}": text(number) for number in range(len(kinds))}
    double = {name: {"behaviours": [None, *acts], "polls": 0}}
    with vendors(tmp_path, texts, double, change=change(name, ""), attempts=1) as place:
        for _ in range(2):
            assert scan(place, name) == 3
        everything = held(place.study.root) + "".join(capsys.readouterr()).encode()
        log = study.read_bytes(place.study.private / "exchanges" / place.edition.tag / f"{name}.jsonl")
        told = {header.partition(": ")[0] for line in noted(place, name) for header in line["headers"]}
        assert {"x-debug", "location"} <= told
        assert b"[hidden]" in log
        assert place.doubles[name].ledger.requests["send"] > len(kinds)
        for key in place.doubles[name].keys.values():
            assert key.encode() not in everything
