"""Google's generateContent.

*Reads* and *writes* nothing by itself (``provider``).
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from penmark.shipped.generators.json_values import get_count, get_string, get_value
from penmark.shipped.generators.provider import Provider, ProviderAnswer

_CUT = ("MAX_TOKENS", "CONTINUATION", "MALFORMED_RESPONSE", "OTHER", "FINISH_REASON_UNSPECIFIED", None)
_WHOLE = "STOP"


class Google(Provider):
    """The model stands in the address; settings have a place of their own, and other names."""

    base_url = "https://generativelanguage.googleapis.com/v1beta"
    key = "GEMINI_API_KEY"
    names = {"top_p": "topP", "top_k": "topK", "max_tokens": "maxOutputTokens"}

    def path(self) -> str:
        """Below the version."""
        return f"/models/{quote(self.model.removeprefix('models/'), safe='')}:generateContent"

    def credentials(self, secret: str) -> dict[str, str]:
        """The key has a header of its own; in the address it could stand in a log."""
        return {"x-goog-api-key": secret}

    def body(self, prompt: str, settings: dict[str, Any]) -> dict[str, Any]:
        """One part of one turn."""
        asked = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
        return {**asked, "generationConfig": settings} if settings else asked

    def said(self, value: dict[str, Any]) -> ProviderAnswer | None:
        """The first candidate without its thoughts; none, where the prompt was blocked."""
        blocked = get_string(value, "promptFeedback", "blockReason")
        if not isinstance(get_value(value, "candidates", 0), dict) and blocked is None:
            return None
        finish = blocked or get_string(value, "candidates", 0, "finishReason")
        parts = get_value(value, "candidates", 0, "content", "parts")
        texts = [
            part["text"]
            for part in (parts if isinstance(parts, list) else ())
            if isinstance(part, dict) and isinstance(part.get("text"), str) and part.get("thought") is not True
        ]
        written = [get_count(value, "usageMetadata", name) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
        return ProviderAnswer(
            text="".join(texts) if texts else None,
            finish_reason=finish,
            cut=finish in _CUT,
            refused=blocked is not None or finish not in (*_CUT, _WHOLE),
            model=get_string(value, "modelVersion"),
            answer_id=get_string(value, "responseId"),
            tokens_read=get_count(value, "usageMetadata", "promptTokenCount"),
            tokens_written=sum(n for n in written if n is not None) if written[0] is not None else None,
        )
