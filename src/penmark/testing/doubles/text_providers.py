"""Doubles of servers that write texts: they answer in a provider's shape, and misbehave on command.

    with provider("anthropic", behaviours=["rate limited", None, "drop after"]) as there:
        there.url, there.keys, there.vendor.asked

*Reads* and *writes* nothing but its sockets, on the loopback interface. *Never*: chance in a text (the same prompt is
answered by the same words), a text that somebody could take for a model's.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from penmark.testing.doubles.fake_vendor import DoubleAnswer, Request, Vendor
from penmark.testing.doubles.loopback_server import Double, serve_double
from penmark.testing.doubles.misbehaviour import Behaviour, Script

NOUNS = (
    "river stone lantern harvest window quiet letter garden winter bridge market copper story morning shelter orchard"
    " paper harbour candle meadow journey thread kitchen signal valley"
)
"""What texts are made of: nouns, so that nobody takes them for prose."""
_LENGTH = re.compile(r"(\d+) words")


class ComposedReply(NamedTuple):
    """What a double writes. ``text``: None where it writes none. ``finish``: why it ended, before a provider names it."""

    text: str | None
    finish: Literal["stop", "length", "refused"] = "stop"


Writes = Callable[[str, int], ComposedReply]
"""From a prompt, and the how-manieth request it is (from 1), to what is written."""


def compose_reply(prompt: str, number: int = 1) -> ComposedReply:
    """Sentences of nouns, as many words as the prompt asks for (100, where it does not say): they follow from it alone."""
    nouns, found = NOUNS.split(), _LENGTH.search(prompt)
    wanted, sentences, count = int(found[1]) if found else 100, list[str](), 0
    while count < wanted:
        draw = hashlib.sha256(f"{len(sentences)} {prompt}".encode()).digest()
        size = min(6 + draw[0] % 9, wanted - count)
        words = [nouns[byte % len(nouns)] for byte in draw[1 : size + 1]]
        sentences.append(" ".join(words).capitalize() + ".")
        count += size
    parts = [" ".join(sentences[start : start + 5]) for start in range(0, len(sentences), 5)]
    return ComposedReply("\n\n".join(parts))


class Provider(Vendor):
    """One provider. ``asked``: the bodies of all requests that were read, in their order; ``unwelcome``: settings that its
    models do not take; ``filtered``: words in a prompt that its filter stops."""

    path: ClassVar[str]
    finishes: ClassVar[dict[str, str]]
    tells_model = True

    def __init__(self, writes: Writes, unwelcome: Sequence[str], filtered: str | None) -> None:
        super().__init__(credit=None, version_after=None, polls=0)
        self.asked: list[dict[str, Any]] = []
        self._writes, self._unwelcome, self._filtered = writes, unwelcome, filtered

    def do(self, asked: Request, act: Behaviour | None) -> DoubleAnswer:
        """Write a text."""
        value = asked.json()
        try:
            prompt = self.text(asked)
        except (KeyError, IndexError, TypeError):  # a client that was killed sends half of a request
            return DoubleAnswer(400, self.error("invalid_request_error", "there is no prompt"))
        with self._lock:
            self.asked.append(value)
            number = len(self.asked)
        if any(name in self.settings(value) for name in self._unwelcome):
            return DoubleAnswer(400, self.error("invalid_request_error", "this model takes no such setting"))
        if self._filtered is not None and self._filtered in prompt:
            return DoubleAnswer(400, self.error("content_filter", "the content filter stopped this"))
        self.ledger.charge(prompt)
        reply = self._writes(prompt, number)
        model = asked.found.get("model") or str(value.get("model"))
        return DoubleAnswer(
            200,
            self.spoilt(self.written(reply, f"{model}-2026-11", number, prompt), act),
            {"X-Request-Id": f"r{number}"},
        )

    def settings(self, value: dict[str, Any]) -> dict[str, Any]:
        """Where this provider looks for settings."""
        return value

    def error(self, kind: str, message: str) -> Any:
        """An error in the provider's form."""
        return {"error": {"type": kind, "code": kind, "message": message}}

    def written(self, reply: ComposedReply, model: str, number: int, prompt: str) -> Any:
        """The answer in the provider's form."""
        raise NotImplementedError


def _collect_refusals(wrong_key: int = 401) -> dict[str, DoubleAnswer]:
    def error(kind: str, message: str) -> Any:
        return {"error": {"type": kind, "code": kind, "message": message}}

    return {
        "wrong key": DoubleAnswer(wrong_key, error("authentication_error", "wrong key")),
        "no credit": DoubleAnswer(429, error("insufficient_quota", "You exceeded your current quota")),
        "rate limited": DoubleAnswer(429, error("rate_limit_exceeded", "Slow down")),
    }


class OpenAIShape(Provider):
    """Chat completions."""

    name = "openai"
    routes = (("POST", "/chat/completions", "send"),)
    verdict = ("choices", 0, "message", "content")
    refusals = _collect_refusals()
    finishes = {"stop": "stop", "length": "length", "refused": "content_filter"}

    def knows(self, asked: Request) -> bool:
        """The key stands in the usual header."""
        return _is_same(asked, "authorization", f"Bearer {self.keys['key']}")

    def text(self, asked: Request) -> str:
        """The only message."""
        return str(asked.json()["messages"][0]["content"])

    def written(self, reply: ComposedReply, model: str, number: int, prompt: str) -> Any:
        """One choice."""
        message = {"role": "assistant", "content": reply.text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self.finishes[reply.finish]}
        read, written = _make_tokens(prompt, reply)
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        return {
            "id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": model,
            "choices": [choice], "usage": usage, "system_fingerprint": "fp_double",
        }  # fmt: skip


class MistralShape(OpenAIShape):
    """Chat completions with a word of its own for texts that end for length."""

    name = "mistral"
    finishes = {"stop": "stop", "length": "model_length", "refused": "content_filter"}


class XAIShape(OpenAIShape):
    """Chat completions."""

    name = "xai"


class AnthropicShape(Provider):
    """Messages."""

    name = "anthropic"
    routes = (("POST", "/v1/messages", "send"),)
    verdict = ("content", 0, "text")
    refusals = _collect_refusals()
    finishes = {"stop": "end_turn", "length": "max_tokens", "refused": "refusal"}

    def knows(self, asked: Request) -> bool:
        """The key and the version of the API stand in headers of their own."""
        return _is_same(asked, "x-api-key", self.keys["key"]) and "anthropic-version" in asked.headers

    def do(self, asked: Request, act: Behaviour | None) -> DoubleAnswer:
        """Without an upper limit of tokens nothing is written, and a seed is not known."""
        value = asked.json()
        if "max_tokens" not in value or "seed" in value:
            return DoubleAnswer(
                400, self.error("invalid_request_error", "max_tokens: field required, or seed: not permitted")
            )
        return super().do(asked, act)

    def text(self, asked: Request) -> str:
        """The only message."""
        return str(asked.json()["messages"][0]["content"])

    def written(self, reply: ComposedReply, model: str, number: int, prompt: str) -> Any:
        """A thought that is no text, and the text."""
        content = [] if reply.text is None else [{"type": "text", "text": reply.text}]
        read, written = _make_tokens(prompt, reply)
        return {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": self.finishes[reply.finish], "stop_sequence": None,
            "usage": {"input_tokens": read, "output_tokens": written},
        }  # fmt: skip


class GoogleShape(Provider):
    """generateContent."""

    name = "google"
    routes = (("POST", r"/models/(?P<model>[^/:]+):generateContent", "send"),)
    verdict = ("candidates", 0, "content")
    refusals = _collect_refusals(400)
    finishes = {"stop": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}

    def knows(self, asked: Request) -> bool:
        """The key stands in a header of its own."""
        return _is_same(asked, "x-goog-api-key", self.keys["key"])

    def text(self, asked: Request) -> str:
        """The only part."""
        return str(asked.json()["contents"][0]["parts"][0]["text"])

    def settings(self, value: dict[str, Any]) -> dict[str, Any]:
        """They have a place of their own."""
        found = value.get("generationConfig", {})
        return found if isinstance(found, dict) else {}

    def written(self, reply: ComposedReply, model: str, number: int, prompt: str) -> Any:
        """A thought, and the text in two parts."""
        text = reply.text or ""
        parts = [
            {"text": "a thought", "thought": True},
            {"text": text[: len(text) // 2]},
            {"text": text[len(text) // 2 :]},
        ]
        read, written = _make_tokens(prompt, reply)
        content = {"role": "model"} if reply.text is None else {"role": "model", "parts": parts}
        return {
            "candidates": [{"content": content, "finishReason": self.finishes[reply.finish], "index": 0}],
            "usageMetadata": {"promptTokenCount": read, "candidatesTokenCount": written, "thoughtsTokenCount": 7},
            "modelVersion": model, "responseId": f"g{number}",
        }  # fmt: skip


class CohereShape(Provider):
    """Chat, second version: which model wrote is not said."""

    name = "cohere"
    routes = (("POST", "/v2/chat", "send"),)
    verdict = ("message", "content")
    refusals = _collect_refusals()
    finishes = {"stop": "COMPLETE", "length": "MAX_TOKENS", "refused": "ERROR_TOXIC"}

    def knows(self, asked: Request) -> bool:
        """The key stands in the usual header."""
        return _is_same(asked, "authorization", f"Bearer {self.keys['key']}")

    def text(self, asked: Request) -> str:
        """The only message."""
        return str(asked.json()["messages"][0]["content"])

    def error(self, kind: str, message: str) -> Any:
        """A message alone."""
        return {"message": message}

    def written(self, reply: ComposedReply, model: str, number: int, prompt: str) -> Any:
        """A thought that is no text, and the text; counts are written with a point."""
        thought = {"type": "thinking", "thinking": "a thought"}
        content = [thought] if reply.text is None else [thought, {"type": "text", "text": reply.text}]
        read, written = _make_tokens(prompt, reply)
        tokens = {"input_tokens": float(read), "output_tokens": float(written)}
        return {
            "id": f"c{number}", "finish_reason": self.finishes[reply.finish],
            "message": {"role": "assistant", "content": content}, "usage": {"tokens": tokens},
        }  # fmt: skip


SHAPES: dict[str, type[Provider]] = {
    kind.name: kind for kind in (OpenAIShape, MistralShape, XAIShape, AnthropicShape, GoogleShape, CohereShape)
}
"""The providers that have a double, by the shape of their answers."""


@contextlib.contextmanager
def run_provider(
    shape: str,
    writes: Writes = compose_reply,
    *,
    behaviours: Sequence[str | Behaviour | None] = (),
    unwelcome: Sequence[str] = (),
    filtered: str | None = None,
) -> Iterator[Double]:
    """A server of that shape while in the block. ``behaviours``: as for ``double``; ``unwelcome``: settings that are
    refused; ``filtered``: words that are. Raises KeyError for a shape without a double, ValueError for what it cannot do
    wrong."""
    kind = SHAPES[shape]
    script = Script([Behaviour.of(each) for each in behaviours])
    for behaviour in script.all():
        kind.able(behaviour)
    with serve_double(kind(writes, unwelcome, filtered), script) as there:
        yield there


def _is_same(asked: Request, header: str, expected: str) -> bool:
    return hmac.compare_digest(asked.headers.get(header, "").encode(), expected.encode())


def _make_tokens(prompt: str, reply: ComposedReply) -> tuple[int, int]:
    return len(prompt.split()) * 4 // 3, len((reply.text or "").split()) * 4 // 3
