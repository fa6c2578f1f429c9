"""Anthropic's messages.

*Reads* and *writes* nothing by itself (``provider``).
"""

from __future__ import annotations

from typing import Any

from penmark.generators.provider import Provider, Said
from penmark.generators.values import count, joined, string


class Anthropic(Provider):
    """There is no seed, and an upper limit of tokens must be sent."""

    base_url = "https://api.anthropic.com"
    key = "ANTHROPIC_API_KEY"
    names = {"seed": None}
    required = {"max_tokens": "4096"}
    version = "2023-06-01"

    def path(self) -> str:
        """Below the host."""
        return "/v1/messages"

    def headers(self) -> dict[str, str]:
        """The version of the API, which fixes the form of its answers."""
        return {"anthropic-version": self.version}

    def credentials(self, secret: str) -> dict[str, str]:
        """The key has a header of its own."""
        return {"x-api-key": secret}

    def body(self, prompt: str, settings: dict[str, Any]) -> dict[str, Any]:
        """One message of a user, and nothing before it."""
        return {"model": self.model, "messages": [{"role": "user", "content": prompt}], **settings}

    def said(self, value: dict[str, Any]) -> Said | None:
        """The text parts of the content; thoughts are no text."""
        if not isinstance(value.get("content"), list):
            return None
        finish = string(value, "stop_reason")
        return Said(
            text=joined(value["content"]),
            finish_reason=finish,
            cut=finish not in ("end_turn", "stop_sequence", "refusal"),
            refused=finish == "refusal",
            model=string(value, "model"),
            answer_id=string(value, "id"),
            tokens_read=count(value, "usage", "input_tokens"),
            tokens_written=count(value, "usage", "output_tokens"),
        )
