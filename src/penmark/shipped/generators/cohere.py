"""Cohere's chat, second version.

*Reads* and *writes* nothing by itself (``provider``).
"""

from __future__ import annotations

from typing import Any

from penmark.shipped.generators.json_values import get_count, get_string, get_value, join_parts
from penmark.shipped.generators.provider import Provider, ProviderAnswer

_REFUSED = ("ERROR_TOXIC", "CONTENT_FILTER")


class Cohere(Provider):
    """The answer does not say which model wrote it."""

    base_url = "https://api.cohere.com"
    key = "COHERE_API_KEY"
    names = {"top_p": "p", "top_k": "k"}
    request_ids = ("x-debug-trace-id", "x-request-id")

    def path(self) -> str:
        """Below the host."""
        return "/v2/chat"

    def body(self, prompt: str, settings: dict[str, Any]) -> dict[str, Any]:
        """One message of a user, and nothing before it."""
        return {"model": self.model, "messages": [{"role": "user", "content": prompt}], "stream": False, **settings}

    def said(self, value: dict[str, Any]) -> ProviderAnswer | None:
        """The text parts of the message."""
        if not isinstance(get_value(value, "message"), dict):
            return None
        finish = get_string(value, "finish_reason")
        units = next(
            (n for n in ("tokens", "billed_units") if isinstance(get_value(value, "usage", n), dict)), "tokens"
        )
        return ProviderAnswer(
            text=join_parts(get_value(value, "message", "content")),
            finish_reason=finish,
            cut=finish not in ("COMPLETE", "STOP_SEQUENCE", *_REFUSED),
            refused=finish in _REFUSED,
            answer_id=get_string(value, "id"),
            tokens_read=get_count(value, "usage", units, "input_tokens"),
            tokens_written=get_count(value, "usage", units, "output_tokens"),
        )
