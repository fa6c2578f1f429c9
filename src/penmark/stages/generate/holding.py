"""The texts of an arm that models wrote, held against the kept exchanges before they are frozen.

*Reads* ``corpus/<arm>/documents.jsonl`` and the exchanges of the edition. *Writes* nothing. *Never* asks for anything; says
nothing of an arm that was collected from elsewhere and has no exchanges.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penmark import study
from penmark.errors import Fault
from penmark.format import canonical_json
from penmark.records import Protocol
from penmark.stages.generate import exchange_log, generation_rules
from penmark.stages.generate.arm_progress import ArmProgress
from penmark.stages.generate.open_run import STEM
from penmark.study import Study

_SAME = ("provider", "model", "prompt", "style", "matched", "word_target", "request_sha256")
_ANSWERED = ("response_sha256", "finish_reason", "model_returned")
_REMEDY = "Texts are not edited after they were written: `penmark collect {} --anew` fills the arm from its exchanges."


def differing(place: Study, promised: Protocol) -> list[Fault]:
    """Documents whose text or record is not that of their exchange. Raises PenmarkError where the exchanges are broken."""
    promise = canonical_json.sha256(study.read_bytes(place.edition(promised.edition).seal("promise")))
    return [
        fault
        for arm in promised.arms
        if arm.generation is not None
        for fault in _check_arm_exchanges(place, promised, arm.name, promise)
    ]


def _check_arm_exchanges(place: Study, promised: Protocol, name: str, promise: str) -> Iterator[Fault]:
    root = generation_rules.locate_generation_files(place, promised.edition, name).root
    if not exchange_log.list_exchange_files(root, STEM):
        return
    standing, texts = ArmProgress(), dict[tuple[str, int], str]()
    for where, line in exchange_log.read_exchanges(root, STEM, promise):
        standing.take(line)
        if line["kind"] == "answer":
            texts[line["document"], line["turn"]] = canonical_json.sha256((line["text"] or "").encode())
            kept = line["response"]
            if kept["encoding"] == "utf-8" and canonical_json.sha256(kept["body"].encode()) != kept["sha256"]:
                yield Fault(where, "the answer that is kept is not the one whose digest is", "Restore the exchanges.")
    path = place.documents(name)
    for number, value in study.read_json_lines(path) if path.exists() else ():
        turns = standing.turns.get(value["id"], [])
        at, remedy = f"{path}:{number}", _REMEDY.format(name)
        if not turns or not turns[-1].accepted:
            yield Fault(at, f"no exchange that was taken holds {value['id']}", remedy)
            continue
        if texts[value["id"], len(turns)] != value["address"]:
            yield Fault(at, f"the text of {value['id']} is not the one that its model wrote", remedy)
        turn = turns[-1]
        odd = [
            *_find_odd_fields(
                value, {**turn.sent, **(turn.answer or {}), "request_sha256": turn.sent["request_sha256"]}
            )
        ]
        if odd:
            yield Fault(at, f"the record of {value['id']} is not its exchange's: {', '.join(odd)}", remedy)


def _find_odd_fields(value: dict[str, Any], line: dict[str, Any]) -> Iterator[str]:
    """The fields of a record that its exchange says otherwise."""
    own = value["provenance"]
    expected = {name: line[name] for name in (*_SAME, *_ANSWERED)} | {"settings": line["settings"]}
    expected["finish_reason"] = line["finish_reason"] or "not reported"
    yield from (name for name, said in expected.items() if own.get(name) != said)
    if value["topic"] != line["topic"]:
        yield "topic"
