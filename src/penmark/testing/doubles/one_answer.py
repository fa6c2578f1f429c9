"""Doubles of vendors that take a text and answer at once.

*Reads* and *writes* nothing. *Never* more of a vendor's answer than its shape.
"""

from __future__ import annotations

import hmac
from decimal import Decimal
from typing import Any

from penmark.testing.doubles.fake_vendor import DoubleAnswer, Request, Vendor
from penmark.testing.doubles.misbehaviour import Behaviour
from penmark.testing.doubles.requests_log import Tariff


def is_same_key(one: str, other: str) -> bool:
    """Whether two keys are the same."""
    return hmac.compare_digest(one.encode(), other.encode())


def format_share(number: Decimal, digits: int = 4) -> float:
    """A number as vendors write it in JSON."""
    return round(float(number), digits)


class GPTZero(Vendor):
    """Three classes; texts are cut in silence; a key that is missing is told otherwise than one that is wrong."""

    name = "gptzero"
    routes = (("POST", "/v2/predict/text", "send"),)
    verdict = ("documents", 0, "document_classification")
    echo = ("documents", 0, "inputText")
    versions = ("2026-09-30-base", "2026-11-15-base")
    tariff = Tariff("1", "words", 1, "words")
    cut = 50_000
    refusals = {
        "wrong key": DoubleAnswer(404, {"error": "API key not found"}),
        "no credit": DoubleAnswer(429, {"error": "The limit of 300 thousand words has been reached"}),
        "rate limited": DoubleAnswer(429, {"error": "Too many requests"}),
    }

    def knows(self, asked: Request) -> bool:
        """The key stands in a header of its own."""
        return is_same_key(asked.headers.get("x-api-key", ""), self.keys["key"])

    def answer(self, asked: Request, act: Behaviour | None) -> DoubleAnswer:
        """Without a key one is a free user, and has used up what is free."""
        return super().answer(asked, act) if "x-api-key" in asked.headers else self.refusals["rate limited"]

    def text(self, asked: Request) -> str:
        """Never more than the first 50,000 characters."""
        return str(asked.json().get("document", ""))[: self.cut]

    def result(self, text: str, number: Decimal) -> Any:
        """The class is the likeliest of three."""
        speaks = 2 * number - 1
        classes = {"human": max(Decimal(0), -speaks), "ai": max(Decimal(0), speaks), "mixed": 1 - abs(speaks)}
        likeliest = max(classes, key=lambda name: classes[name])
        version = self.version()
        document = {
            "document_id": "d", "version": version, "neatVersion": "0.0d", "language": "en", "inputText": text, "pageNumber": 1,
            "predicted_class": likeliest, "class_probabilities": {name: format_share(part) for name, part in classes.items()},
            "confidence_category": "high" if classes[likeliest] > Decimal("0.8") else "low",
            "confidence_score": format_share(classes[likeliest]),
            "document_classification": {"human": "HUMAN_ONLY", "ai": "AI_ONLY", "mixed": "MIXED"}[likeliest],
            "result_message": "A double answers; this means nothing.", "result_sub_message": "",
            "completely_generated_prob": 0.0, "average_generated_prob": 0.0, "overall_burstiness": 0,
            "excluded_spans": [], "writing_stats": [], "paragraphs": [], "sentences": [],
        }  # fmt: skip
        return {
            "version": version,
            "neatVersion": "0.0d",
            "scanId": "s",
            "editorDocumentId": None,
            "documents": [document],
        }


class Originality(Vendor):
    """Two confidences and a classification; every check that is asked for costs."""

    name = "originality"
    routes = (("POST", "/api/v3/scan", "send"),)
    verdict = ("results", "ai", "classification", "AI")
    echo = ("results", "properties", "content")
    versions = ("double 1", "double 2")
    tariff = Tariff("1", "credits", 100, "words")
    refusals = {
        "wrong key": DoubleAnswer(401, {"message": "Unauthenticated."}),
        "no credit": DoubleAnswer(402, {"error": "Not enough credits"}),
        "too short": DoubleAnswer(422, {"error": "The content is too short"}),
        "rate limited": DoubleAnswer(429, {"message": "Too Many Attempts."}),
    }

    def knows(self, asked: Request) -> bool:
        """The key stands in a header of its own."""
        return is_same_key(asked.headers.get("x-oai-api-key", ""), self.keys["key"])

    def text(self, asked: Request) -> str:
        """The content."""
        return str(asked.json().get("content", ""))

    def result(self, text: str, number: Decimal) -> Any:
        """AI where its confidence is the larger one."""
        ai = number > Decimal("0.5")
        properties = {
            "privateID": 1,
            "id": "1",
            "title": "",
            "excludedUrls": [],
            "content": text,
            "formattedContent": text,
        }
        return {
            "results": {
                "properties": properties,
                "credits": {"used": int(self.tariff.price(text))},
                "ai": {
                    "aiModel": self.version(),
                    "classification": {"AI": int(ai), "Original": int(not ai)},
                    "confidence": {"AI": format_share(number), "Original": format_share(1 - number)},
                    "blocks": [],
                },
            }
        }


class Winston(Vendor):
    """The number is the human's: 100 is human."""

    name = "winston"
    routes = (("POST", "/v2/ai-content-detection", "send"),)
    verdict = ("score",)
    versions = ("4.0", "4.1")
    tariff = Tariff("1", "credits", 1, "words")
    least, most = 300, 150_000
    refusals = {
        "wrong key": DoubleAnswer(401, {"error": "Unauthorized"}),
        "no credit": DoubleAnswer(402, {"error": "Not enough credits"}),
        "too short": DoubleAnswer(400, {"error": "The text is too short"}),
        "too long": DoubleAnswer(400, {"error": "The text is too long"}),
        "rate limited": DoubleAnswer(429, {"error": "Too many requests"}),
    }

    def knows(self, asked: Request) -> bool:
        """A bearer's key."""
        return is_same_key(asked.headers.get("authorization", ""), f"Bearer {self.keys['key']}")

    def text(self, asked: Request) -> str:
        """The text; an address in its place would come first."""
        return str(asked.json().get("text", ""))

    def result(self, text: str, number: Decimal) -> Any:
        """The human's percentage."""
        used = int(self.tariff.price(text))
        return {
            "status": 200, "score": format_share(100 - 100 * number, 2), "sentences": [], "input": "text",
            "attack_detected": {"zero_width_space": False, "homoglyph_attack": False}, "readability_score": 60,
            "credits_used": used, "credits_remaining": 1000, "version": self.version(), "language": "en",
        }  # fmt: skip


class Sapling(Vendor):
    """The key travels in the body."""

    name = "sapling"
    routes = (("POST", "/api/v1/aidetect", "send"),)
    verdict = ("score",)
    echo = ("text",)
    tariff = Tariff("0.005", "USD", 1000, "characters")
    most = 200_000
    refusals = {
        "wrong key": DoubleAnswer(401, {"msg": "Invalid key"}),
        "no credit": DoubleAnswer(402, {"msg": "Payment required"}),
        "too long": DoubleAnswer(400, {"msg": "Text too long"}),
        "rate limited": DoubleAnswer(429, {"msg": "Rate limit exceeded"}),
    }

    def knows(self, asked: Request) -> bool:
        """The key stands beside the text."""
        return is_same_key(str(asked.json().get("key", "")), self.keys["key"])

    def text(self, asked: Request) -> str:
        """The text."""
        return str(asked.json().get("text", ""))

    def result(self, text: str, number: Decimal) -> Any:
        """The number, and what is said of sentences by another method."""
        return {"score": format_share(number), "sentence_scores": [{"sentence": text[:40], "score": 0.5}], "text": text}


class ZeroGPT(Vendor):
    """Nine steps towards human; what fails comes with status 200."""

    name = "zerogpt"
    routes = (("POST", "/api/detect/detectText", "send"),)
    verdict = ("data", "isHuman")
    echo = ("data", "input_text")
    most = 50_000
    steps = (100, 87, 75, 62, 50, 37, 25, 12, 0)
    refusals = {
        "wrong key": DoubleAnswer(200, {"success": False, "code": 401, "message": "unauthorized", "data": None}),
        "no credit": DoubleAnswer(200, {"success": False, "code": 402, "message": "not enough credit", "data": None}),
        "too long": DoubleAnswer(413, {"success": False, "code": 413, "message": "too large", "data": None}),
        "rate limited": DoubleAnswer(
            429, {"success": False, "code": 429, "message": "too many requests", "data": None}
        ),
    }

    def knows(self, asked: Request) -> bool:
        """The key stands in a header of its own."""
        return is_same_key(asked.headers.get("apikey", ""), self.keys["key"])

    def text(self, asked: Request) -> str:
        """The text."""
        return str(asked.json().get("input_text", ""))

    def result(self, text: str, number: Decimal) -> Any:
        """A text in which it finds no words gets a verdict all the same."""
        words = len(text.split())
        human = self.steps[min(int(number * len(self.steps)), len(self.steps) - 1)] if words >= 2 else 25
        data = {
            "isHuman": human, "fakePercentage": format_share(100 * number, 2), "textWords": words if words >= 2 else
            0, "aiWords": 0,
            "feedback": f"A double says {human}", "additional_feedback": "", "h": [], "hi": [], "sentences": [],
            "specialIndexes": [], "specialSentences": [], "originalParagraph": text, "input_text": text,
            "detected_language": "en", "id": 0,
        }  # fmt: skip
        return {"success": True, "code": 200, "message": "detection result passed to proxy", "data": data}


class Hive(Vendor):
    """One number for the whole, and numbers for segments."""

    name = "hive"
    routes = (("POST", "/api/v2/task/sync", "send"),)
    verdict = ("response", "output", 0, "classes", 0, "score")
    versions = ("2", "3")
    refusals = {
        "wrong key": DoubleAnswer(401, {"message": "unauthorized"}),
        "no credit": DoubleAnswer(402, {"message": "payment required"}),
        "rate limited": DoubleAnswer(429, {"message": "too many requests"}),
    }

    def knows(self, asked: Request) -> bool:
        """The word token, then the key."""
        return is_same_key(asked.headers.get("authorization", ""), f"token {self.keys['key']}")

    def text(self, asked: Request) -> str:
        """The text."""
        return str(asked.json().get("text_data", ""))

    def result(self, text: str, number: Decimal) -> Any:
        """The whole first."""
        classes = [{"class": "ai_generated", "score": format_share(number)}]
        output = [{"start": 0, "end": len(text), "classes": classes}]
        response = {"input": {"charge": 1}, "output": output}
        return {"status": {"code": "0", "message": "SUCCESS"}, "response": response, "_version": int(self.version())}


class HuggingFace(Vendor):
    """A model for classification: the likelier of two labels."""

    name = "huggingface"
    routes = (("POST", "/hf-inference/models/openai-community/roberta-base-openai-detector", "send"),)
    verdict = (0, "label")
    refusals = {
        "wrong key": DoubleAnswer(401, {"error": "Invalid credentials"}),
        "no credit": DoubleAnswer(402, {"error": "You have exceeded your monthly included credits"}),
        "too long": DoubleAnswer(400, {"error": "The input is too long"}),
        "rate limited": DoubleAnswer(429, {"error": "Too many requests"}),
        "busy": DoubleAnswer(503, {"error": "The model is currently loading", "estimated_time": 20}),
    }

    def knows(self, asked: Request) -> bool:
        """A bearer's key."""
        return is_same_key(asked.headers.get("authorization", ""), f"Bearer {self.keys['key']}")

    def text(self, asked: Request) -> str:
        """The input."""
        return str(asked.json().get("inputs", ""))

    def result(self, text: str, number: Decimal) -> Any:
        """As many labels as were asked for, the likelier first; here, one."""
        fake = number >= Decimal("0.5")
        return [{"label": "Fake" if fake else "Real", "score": format_share(number if fake else 1 - number)}]
