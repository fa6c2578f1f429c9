"""One request for a text: written down before it leaves, and its answer as soon as it is there.

*Reads* what the generator gives. *Writes* a ``sent`` line, then a ``retry`` or an ``answer``, through the exchanges.
*Never* asks without a line on the disk; never judges by anything but the promised gates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penmark.cards import judge
from penmark.errors import ServiceError
from penmark.format import canonical_json
from penmark.plugins import Generator, Prepared, UnansweredError, Written
from penmark.records import Model
from penmark.stages.generate.acceptance_rules import RejectionReason
from penmark.stages.generate.arm_progress import Next
from penmark.stages.generate.budget import TokenBudget, key_model
from penmark.stages.generate.exchange_log import Exchanges, Line, encode_kept_body
from penmark.text import count_words


@dataclass(frozen=True)
class WantedText:
    """A text to be asked for. ``about``: what else its lines hold (topic, style, …)."""

    document: str
    step: Next
    model: Model
    prompt: str
    words: int
    about: dict[str, Any]
    judge: Callable[[Written], list[RejectionReason]]


class Short(Exception):  # noqa: N818 - not an error of anything: the budget is at its end
    """The budget does not suffice for the next text."""


def ask_for_text(wanted: WantedText, generator: Generator, exchanges: Exchanges, purse: TokenBudget) -> None:
    """Ask once. Raises UnansweredError where nothing came (written down as such), Short where the budget ends.

    Where the generator itself breaks, the request stays in doubt: ServiceError.
    """
    prepared = generator.prepare(wanted.prompt)
    estimate = purse.estimate(key_model(wanted.model), len(prepared.body), wanted.words)
    if not purse.reserve(estimate):
        raise Short
    try:
        exchanges.append(_make_sent_line(wanted, prepared))
    finally:
        purse.free(estimate)
    try:
        written = generator.write(prepared)
    except UnansweredError as error:
        line = _make_line("retry", wanted) | {
            "charged": error.charged,
            "reason": judge.clean_reason(error.faults[0].fact),
        }
        exchanges.append(line)
        raise
    except Exception as error:  # a plugin's own mistake; whether the request left is not known
        raise ServiceError(
            f"the generator of {wanted.model.model} broke: {judge.clean_reason(f'{type(error).__name__}: {error}')}",
            remedy=f"Tell whoever wrote it. What was asked for {wanted.document} is in doubt.",
        ) from None
    exchanges.append(_make_answer_line(wanted, prepared, written))


def _make_line(kind: str, wanted: WantedText) -> Line:
    step = wanted.step
    return {
        "at": judge.get_time_now(),
        "attempt": step.attempt,
        "document": wanted.document,
        "kind": kind,
        "model": wanted.model.model,
        "provider": wanted.model.provider,
        "turn": step.turn,
    }


def _make_sent_line(wanted: WantedText, prepared: Prepared) -> Line:
    request = {"headers": [list(pair) for pair in prepared.headers], "method": prepared.method, "url": prepared.url}
    return (
        _make_line("sent", wanted)
        | wanted.about
        | {"request": request | encode_kept_body(prepared.body), "word_target": wanted.words}
    )


def _make_answer_line(wanted: WantedText, prepared: Prepared, written: Written) -> Line:
    response = {"headers": [list(pair) for pair in written.headers], "status": written.status} | encode_kept_body(
        written.body
    )
    text = written.text
    return _make_line("answer", wanted) | {
        "answer_id": written.answer_id,
        "fingerprint": written.fingerprint,
        "finish_reason": written.finish_reason,
        "gates": [list(remark) for remark in wanted.judge(written)],
        "got_at": judge.format_timestamp(written.got_at),
        "model_returned": written.model,
        "not_honoured": list(prepared.not_honoured),
        "request_id": written.request_id,
        "response": response,
        "sent_at": judge.format_timestamp(written.sent_at),
        "settings": prepared.settings,
        "text": text,
        "text_sha256": None if text is None else canonical_json.sha256(text.encode()),
        "tokens_read": written.tokens_read,
        "tokens_written": written.tokens_written,
        "words": None if text is None else count_words(text),
    }
