"""The texts that were taken, as a source that ``collecting`` fills the arm from; and those that were not, as a list.

*Reads* the exchanges. *Writes* ``rejected.jsonl``, as a whole, and a person's decision, through the exchanges. *Never*
changes a text, or gives out one that did not pass.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from penmark import study
from penmark.cards import judge
from penmark.errors import UsageError, suggest_name
from penmark.plugins import Draft
from penmark.stages.generate import exchange_log
from penmark.stages.generate.arm_progress import ArmProgress, Turn
from penmark.stages.generate.exchange_log import Exchanges, Line
from penmark.stages.generate.open_run import STEM, ArmContext
from penmark.study import Study

_SAID = ("answer_id", "fingerprint", "finish_reason", "model_returned", "request_id", "response_sha256")


class AcceptedTexts:
    """A source of the texts that passed every gate. ``decided``: a person has taken texts out since they were made."""

    def __init__(self, base: ArmContext) -> None:
        self._base = base
        self.standing = ArmProgress()
        self.decided = False
        for _, line in self._lines():
            self.standing.take(line)
            self.decided = self.decided or line["kind"] == "decision"

    def __len__(self) -> int:
        return sum(turns[-1].accepted for turns in self.standing.turns.values())

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """The drafts of the arm."""
        for place, line in self._lines():
            turns = self.standing.turns.get(line.get("document", ""), [])
            if line["kind"] == "answer" and len(turns) == line["turn"] and turns[-1].accepted:
                yield self._draft(place, line, turns)

    def alone(self, place: Study) -> None:
        """Raises UsageError where the arm holds texts that were not made here: they would be lost with the arm's filling."""
        path = place.documents(self._base.arm.name)
        there = {str(value.get("id")) for _, value in study.read_json_lines(path)} if path.exists() else set()
        foreign = sorted(there - set(self.standing.turns))
        if foreign:
            raise UsageError(
                f"the arm {self._base.arm.name} holds texts that come from elsewhere: {', '.join(foreign[:5])}",
                remedy="An arm is written by models, or collected: take the others out first.",
            )

    def write_rejected(self) -> int:
        """Write down what was asked for and is not in the arm; how many lines that are."""
        rows = [
            {"document": spot, "turn": number, **describe_rejected(turn)}
            for spot, turns in sorted(self.standing.turns.items())
            for number, turn in enumerate(turns, 1)
            if turn.gates
        ]
        if rows or self._base.files.rejected.exists():
            study.write_records(self._base.files.rejected, rows)
        return len(rows)

    def _lines(self) -> Iterator[tuple[str, Line]]:
        return exchange_log.read_exchanges(self._base.files.root, STEM, self._base.promise_sha256)

    def _draft(self, place: str, line: Line, turns: list[Turn]) -> Draft:
        turn, answer = turns[-1], turns[-1].answer
        assert answer is not None
        sent = turn.sent
        provenance = {
            "kind": "generated",
            "grade": "recorded",
            "provider": sent["provider"],
            "model": sent["model"],
            "generated_on": line["got_at"][:10],
            "prompt": sent["prompt"],
            "style": sent["style"],
            "matched": sent["matched"],
            "request_sha256": sent["request_sha256"],
            "word_target": str(sent["word_target"]),
            "attempt": str(line["attempt"]),
            "not_honoured": ";".join(line["not_honoured"]),
        }
        provenance |= {name: answer[name] or "" for name in _SAID}
        provenance["finish_reason"] = answer["finish_reason"] or "not reported"
        provenance |= {f"settings.{name}": value for name, value in line["settings"].items()}
        for name in ("tokens_read", "tokens_written"):
            provenance[name] = "" if answer[name] is None else str(answer[name])
        before = [_select_brief_fields(describe_rejected(each)) for each in turns[:-1]]
        provenance["rejected_before"] = json.dumps(before) if before else ""
        fields = {"topic": sent["topic"]} | ({"language": sent["language"]} if sent["language"] is not None else {})
        return Draft(line["document"], line["text"].encode(), place, fields, provenance)


def describe_rejected(turn: Turn) -> dict[str, Any]:
    """What is told of a turn whose text is not in the arm. ``because``: one reason for each gate, and a person's own."""
    answer = turn.answer or {}
    sent = turn.sent
    reasons = [because for _, because in answer.get("gates", [])]
    return {
        "because": [*reasons, *([turn.decided] if turn.decided is not None else [])],
        "gates": turn.gates,
        "matched": sent["matched"],
        "model": sent["model"],
        "provider": sent["provider"],
        "response_sha256": answer.get("response_sha256"),
        "style": sent["style"],
        "text_sha256": answer.get("text_sha256"),
        "topic": sent["topic"],
        "words": answer.get("words"),
    }


def _select_brief_fields(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("gates", "matched", "response_sha256", "text_sha256", "topic", "words")}


def record_refusal(base: ArmContext, document: str, by: str) -> None:
    """Write down that the person ``by`` found a text to be a refusal; its spot gets the next topic, by the promised rule.

    Raises UsageError where that text is not in the arm.
    """
    standing = ArmProgress()
    with (
        study.lock_file(base.files.lock, "a decision"),
        Exchanges(base.files.root, STEM, base.promise_sha256, standing.take) as ledger,
    ):
        turns = standing.turns.get(document, [])
        if not turns or not turns[-1].accepted:
            known = [spot for spot, each in standing.turns.items() if each[-1].accepted]
            raise UsageError(
                f"no text of the arm {base.arm.name} is called {document!r}{suggest_name(document, known)}",
                remedy="Name a text that was taken, as `penmark screen` does.",
            )
        if "refused" not in base.rules.gates:
            raise UsageError(
                "the protocol takes refusals too: `refused` is not among its gates",
                remedy="What is promised already binds the next edition.",
            )
        because = judge.clean_reason(f"{by} read it and found it to be a refusal")
        decision = {"at": judge.get_time_now(), "because": because, "by": by, "document": document, "gate": "refused"}
        ledger.append(decision | {"kind": "decision", "turn": len(turns)})
