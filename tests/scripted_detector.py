"""A detector that does what the first word of a text tells it to, in a distribution that is made where a test wants it.

Its answers are JSON: ``{"score", "version", "text"}``. Each call is noted in the file of the option ``log`` before it
answers, so that a test can count the questions even of a process that was killed.
"""

from __future__ import annotations

from pathlib import Path

MODULE = """
import json, os, sys, time
from penmark.errors import ServiceError
from penmark.plugins import Answer, Declined

class Acting:
    version = "2.0"
    def __init__(self, options):
        self.seconds = float(options.get("seconds", "0"))
        self.log = options.get("log")
        self.version = options.get("version", "2.0")
        self.seen = {}
    def read(self, text):
        if self.log:
            handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(handle, (json.dumps(text) + "\\n").encode())
            os.close(handle)
        time.sleep(self.seconds)
        word = text.split()[0]
        self.seen[text] = self.seen.get(text, 0) + 1
        answer = {"score": format(len(text) % 100 / 100, ".2f"), "version": self.version, "text": text}
        if word == "decline": return Declined("would not say")
        if word == "decline-with-body": return Declined("too short for us", b'{"error":"too short","version":"2.0"}')
        if word == "decline-but-show": return Declined("never mind", json.dumps(answer).encode())
        if word == "once" and self.seen[text] == 1: raise ServiceError("connection reset")
        if word == "down": raise ServiceError("no route to host")
        if word == "raise": raise ValueError("cannot read\\nthis")
        if word == "exit": sys.exit("leaving")
        if word == "nothing": return None
        if word == "words": return Answer("not bytes")
        if word == "huge": return Answer(b'"' + b"x" * (9 * 2**20) + b'"')
        if word == "garbage": return Answer(b"<html>\\xff")
        if word == "other": answer["text"] = "another text"
        if word == "half": answer["scanned"] = text[:len(text) // 2]
        if word == "empty": answer["score"] = None
        if word == "new-version": answer["version"] = "3.0"
        if word == "hang": time.sleep(float(text.split()[1]))
        return Answer(json.dumps(answer).encode())
"""

CARD = """\
name: acting
title: A detector for tests
vendor: the tests
homepage: none
ask: {by: plugin, plugin: acting}
answer: {displayed: /score, score: /score, version: /version, text: /text}
scale: {meaning: probability, direction: ai, low: "0", high: "1"}
boundary: {kind: boundary, operator: ">=", value: "0.5", source: the tests, date: "2026-11-30"}
limits: {maximum_words: 1000, languages: [en]}
display: document
terms: {where: none, results_may_be_published: "yes"}
facts_as_of: "2026-11-30"
"""


def install(folder: Path) -> Path:
    """A folder for sys.path or PYTHONPATH, in which the detector ``acting`` is an installed distribution."""
    info = folder / "acting_detector-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acting-detector\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[penmark.detectors]\nacting = acting_detector:Acting\n")
    (folder / "acting_detector.py").write_text(MODULE)
    return folder
