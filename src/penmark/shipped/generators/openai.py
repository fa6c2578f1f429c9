"""The shape of OpenAI's chat completions, which most servers speak: xAI, Mistral, vLLM, Ollama, llama.cpp and others.

*Reads* and *writes* nothing by itself (``provider``).
"""

from __future__ import annotations

from typing import Any, ClassVar

from penmark.shipped.generators.json_values import get_count, get_string, get_value, join_parts
from penmark.shipped.generators.provider import Provider, ProviderAnswer

_WHOLE = ("stop", "eos", "eos_token", "stop_sequence", "end_turn")
"""Reasons that this shape's servers give for a text that its model ended."""


class OpenAICompatible(Provider):
    """Any server of this shape: its address (up to ``/v1``) is the option ``base_url``."""

    base_url = ""
    key: ClassVar[str | None] = None

    def path(self) -> str:
        """Below ``/v1``."""
        return "/chat/completions"

    def body(self, prompt: str, settings: dict[str, Any]) -> dict[str, Any]:
        """One message of a user, and nothing before it."""
        return {"model": self.model, "messages": [{"role": "user", "content": prompt}], **settings}

    def said(self, value: dict[str, Any]) -> ProviderAnswer | None:
        """The first choice. ``refusal`` is the model's own; ``content_filter`` the provider's."""
        message = get_value(value, "choices", 0, "message")
        if not isinstance(message, dict):
            return None
        content = message.get("content")
        finish = get_string(value, "choices", 0, "finish_reason")
        refused = finish == "content_filter" or bool(get_string(message, "refusal"))
        return ProviderAnswer(
            text=content if isinstance(content, str) else join_parts(content),
            finish_reason=finish,
            cut=finish not in _WHOLE and not refused,
            refused=refused,
            model=get_string(value, "model"),
            answer_id=get_string(value, "id"),
            fingerprint=get_string(value, "system_fingerprint"),
            tokens_read=get_count(value, "usage", "prompt_tokens"),
            tokens_written=get_count(value, "usage", "completion_tokens"),
        )


class OpenAI(OpenAICompatible):
    """OpenAI itself."""

    base_url = "https://api.openai.com/v1"
    key = "OPENAI_API_KEY"
    names = {"max_tokens": "max_completion_tokens"}


class XAI(OpenAICompatible):
    """xAI."""

    base_url = "https://api.x.ai/v1"
    key = "XAI_API_KEY"


class Mistral(OpenAICompatible):
    """Mistral calls the seed otherwise."""

    base_url = "https://api.mistral.ai/v1"
    key = "MISTRAL_API_KEY"
    names = {"seed": "random_seed"}
    request_ids = ("x-request-id", "request-id", "mistral-correlation-id")


class Ollama(OpenAICompatible):
    """Ollama on this machine."""

    base_url = "http://127.0.0.1:11434/v1"


class VLLM(OpenAICompatible):
    """vLLM on this machine."""

    base_url = "http://127.0.0.1:8000/v1"


class LlamaCpp(OpenAICompatible):
    """llama.cpp's server on this machine."""

    base_url = "http://127.0.0.1:8080/v1"
