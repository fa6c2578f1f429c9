"""kill -9 in the middle of a real `penmark collect C`, again and again: no text is lost, no request is sent twice.

The moments are drawn from a seed. ``PENMARK_SOAK`` draws many more. The provider is a double in this process, so that it
can count what it was asked even by a process that was killed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.stages.generate.written_study import generation, model, study

from penmark import study as files
from penmark.format import canonical_json
from penmark.stages.generate import exchange_log
from penmark.testing.doubles.loopback_server import Double
from penmark.testing.doubles.misbehaviour import Behaviour
from penmark.testing.doubles.text_providers import run_provider

SOAK = bool(os.environ.get("PENMARK_SOAK"))
KILLS = 100 if SOAK else 6
DOCUMENTS = 600 if SOAK else 60
DEADLINE = 60.0
EDITION = "BENCH-2026-Q4"


def collecting(place: Path, *servers: Double) -> subprocess.Popen[str]:
    keys = {f"KEY_OF_{there.vendor.name.upper()}": there.keys["key"] for there in servers}
    return subprocess.Popen(
        [sys.executable, "-m", "penmark", "-C", str(place), "collect", "C"],
        env=os.environ | keys,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines(folder: Path) -> list[dict[str, object]]:
    """The finished lines of a file that a kill may have cut."""
    path = folder / "exchanges-0001.jsonl"
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [json.loads(line) for line in whole.split(b"\n") if line]


def prompts(*servers: Double) -> list[str]:
    return [body["messages"][0]["content"] for there in servers for body in list(there.vendor.asked)]  # type: ignore[attr-defined]


def test_kill_9_at_any_moment(tmp_path: Path) -> None:
    moments = random.Random("kill -9 while generating")
    slow = [Behaviour("slow", seconds=0.003, times=None)]
    with run_provider("openai", behaviours=slow) as one, run_provider("anthropic") as other:
        how = generation(model(one, "m-1"), model(other, "c-1", "anthropic"), attempts=20, topics_from=["A"])
        corpus = study(tmp_path / "study", how, documents=DOCUMENTS, human=DOCUMENTS, more=0, arm={"words": None})
        folder = corpus.place.arm("C") / EDITION
        kept: set[tuple[object, object]] = set()
        killed = 0
        for _ in range(KILLS):
            until = len(prompts(one, other)) + moments.randint(1, max(1, DOCUMENTS // KILLS - 2))
            with collecting(corpus.place.root, one, other) as process:
                deadline = time.monotonic() + DEADLINE
                while process.poll() is None and len(prompts(one, other)) < until and time.monotonic() < deadline:
                    time.sleep(0.001)
                time.sleep(moments.random() * 0.01)
                process.send_signal(signal.SIGKILL)
            assert process.returncode in (-signal.SIGKILL, 0)
            killed += process.returncode == -signal.SIGKILL
            held = lines(folder)
            now = {(line["document"], line["turn"]) for line in held if line["kind"] == "answer"}
            assert kept <= now, "an answer that was on disk is gone"
            kept = now
            sent = {line["prompt"] for line in held if line["kind"] == "sent"}
            assert set(prompts(one, other)) <= sent, "a request left before its line was on disk"
        with collecting(corpus.place.root, one, other) as process:
            out, err = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, out + err
        asked = Counter(prompts(one, other))
        first = canonical_json.sha256(files.read_bytes(corpus.edition.seal("promise")))
        whole = [line for _, line in exchange_log.read_exchanges(folder, "exchanges", first)]  # canonical, chained
        requests = Counter((line["document"], line["turn"]) for line in whole if line["kind"] == "sent")
        answers = {(line["document"], line["turn"]) for line in whole if line["kind"] == "answer"}
        assert set(requests.values()) == {1}, "a request was sent twice"
        assert asked.total() <= len(requests)
        assert kept <= answers
        documents = {row["id"]: row["provenance"] for row in corpus.documents("C")}
        assert len(documents) == DOCUMENTS
        lost = set(requests) - answers
        told = {
            (name, number)
            for name, own in documents.items()
            for number, before in enumerate(own.get("rejected_before", []), 1)
        }
        assert told == lost, "what is in doubt is told, and nothing else"
        key = one.keys["key"].encode()
        for path in corpus.place.root.rglob("*"):
            assert not path.is_file() or key not in path.read_bytes(), path

        assert killed >= KILLS // 2, f"killed: {killed}; in doubt: {len(lost)}; answered: {len(answers)}"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_what_is_in_flight_end(tmp_path: Path, number: signal.Signals) -> None:
    with run_provider("openai", behaviours=[Behaviour("slow", seconds=0.05, times=None)]) as there:
        how = generation(model(there, "m-1"), topics_from=["A"])
        corpus = study(tmp_path, how, documents=60, human=20, more=0)
        folder = corpus.place.arm("C") / EDITION
        with collecting(corpus.place.root, there) as process:
            deadline = time.monotonic() + DEADLINE
            while len(prompts(there)) < 3 and time.monotonic() < deadline:
                time.sleep(0.005)
            process.send_signal(number)
            out, err = process.communicate(timeout=DEADLINE)
        assert process.returncode == 1, err
        assert "Run the same command again to go on." in err
        held = lines(folder)
        count = Counter(line["kind"] for line in held)
        assert 3 <= count["sent"] == count["answer"] == len(corpus.documents("C")) < 60
        assert held[-1]["reason"] == "interrupted"
        assert f"C: {count['answer']} of 60 texts" in out


def test_a_second_signal_leaves_the_request_in_flight_in_doubt(tmp_path: Path) -> None:
    with run_provider("openai", behaviours=[Behaviour("slow", seconds=600)]) as there:
        how = generation(model(there, "m-1"), topics_from=["A"])
        corpus = study(tmp_path, how, documents=3, human=3, more=0)
        folder = corpus.place.arm("C") / EDITION
        with collecting(corpus.place.root, there) as process:
            deadline = time.monotonic() + DEADLINE
            while not prompts(there) and time.monotonic() < deadline:
                time.sleep(0.005)
            for _ in range(2):
                process.send_signal(signal.SIGTERM)
                time.sleep(0.3)
            _, err = process.communicate(timeout=DEADLINE)
        assert process.returncode == 1, err
        assert [line["kind"] for line in lines(folder)] == ["start", "sent"]
