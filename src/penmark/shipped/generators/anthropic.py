"""Anthropic's messages.

*Reads* and *writes* nothing by itself (``provider``).
"""

from __future__ import annotations

from typing import Any

from penmark.shipped.generators.json_values import get_count, get_string, join_parts
from penmark.shipped.generators.provider import Provider, ProviderAnswer


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

    def said(self, value: dict[str, Any]) -> ProviderAnswer | None:
        """The text parts of the content; thoughts are no text."""
        if not isinstance(value.get("content"), list):
            return None
        finish = get_string(value, "stop_reason")
        return ProviderAnswer(
            text=join_parts(value["content"]),
            finish_reason=finish,
            cut=finish not in ("end_turn", "stop_sequence", "refusal"),
            refused=finish == "refusal",
            model=get_string(value, "model"),
            answer_id=get_string(value, "id"),
            tokens_read=get_count(value, "usage", "input_tokens"),
            tokens_written=get_count(value, "usage", "output_tokens"),
        )
