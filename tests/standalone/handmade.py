"""A study made by hand: twelve documents, four arms, three detectors, every state, as the bytes of a bundle.

An independent reference for the format: no line of penmark and no line of the stand-alone verifier is used. What each
detector answered is written down below, answer by answer; everything that follows from it is computed here in the
plainest way there is: whole lists, filters, fractions.

Reads: nothing. Writes: a bundle into an empty folder (`write`). Never: the clock, chance, the network.

`build(forge={stage: function})` hands the half-built study to a function after a stage, so that a forger changes one
thing and everything that is made later is made from the change: `protocol`, `corpus`, `journals`, `tables` (before
anything is written), `promise`, `corpus_seal`, `heads`, `seals` (before that seal is written), `files` (before the sums).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import hmac
import json
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

Json = dict[str, Any]
SEED = bytes(range(1, 33))  # gamma's first answer under this order comes from g1
Z = Fraction("1.959963984540054")


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def copied(value: Any) -> Any:
    """A forger may bend it without bending the study itself."""
    return json.loads(json.dumps(value))


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def at(day: int, second: int = 0, fraction: str = "") -> str:
    return f"2026-10-{day:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}{fraction}Z"


# ---- what was promised -----------------------------------------------------------------------------------------------

KINDS = {"archive", "attested", "generated", "edited", "transformed"}
ARMS: list[tuple[str, str, bool, int, list[tuple[Json, int]], str]] = [  # the last: kinds and grades of provenance
    ("A", "human", True, 4, [({"register": "academic"}, 2), ({"register": "journalistic"}, 1)],
     "archive archived released stated"),
    ("B", "human", True, 3, [({"subgroup": "native"}, 2)], "attested witnessed stated"),
    ("C", "ai", True, 3, [({"model": "m-2", "style": "plain"}, 1)], "generated stated"),
    ("D", "mixed", False, 2, [], "edited transformed witnessed recorded"),
]  # fmt: skip


def boundary(operator: str | None, value: str | None, source: str, date: str) -> Json:
    kind = "verdict" if operator is None else "boundary"
    made = {"kind": kind, "operator": operator, "value": value, "source": source, "date": date}
    return made | {"confidence": "documented"}


def card(name: str, by: str, default: Json, scale: Json | None, verdicts: Json, **pointers: str) -> Json:
    limits = ("languages", "maximum_characters", "maximum_words", "minimum_characters", "minimum_words")
    return {
        "name": name,
        "title": name,
        "vendor": "nobody",
        "homepage": "https://example.org/",
        "display": "document",
        "facts_as_of": "2026-09-01",
        "notes": "",
        "limits": dict.fromkeys(limits),
        "boundary": default,
        "terms": {"read_on": None, "results_may_be_published": "yes", "where": "by hand"},
        "scale": scale,
        "ask": {"by": by, "options": {}, "plugin": name if by == "plugin" else None},
        "verdicts": verdicts,
        "answer": dict.fromkeys(("displayed", "score", "label", "version", "text")) | pointers,
    }


UNITS = {"A": "author", "B": "topic", "C": "document", "D": "parent"}
VERDICTS = {"AI": "ai", "Human": "human", "Mixed": "mixed", "Unsure": "uncertain"}
SHARE = {"meaning": "share of text", "direction": "ai", "low": "0", "high": "1", "unit": ""}
CHANCE = {"meaning": "probability", "direction": "human", "low": "0", "high": "100", "unit": "percent"}
BAND = {"low": "0.3", "high": "0.45", "verdict": "uncertain", "shown": "Unsure"}
CARDS: dict[str, Json] = {
    "alpha": {
        "card": card("alpha", "plugin", boundary(">=", "0.5", "help page, 2", "2026-08-01"), SHARE, VERDICTS,
                     score="/out/score", label="/class", version="/model", text="/text"),
        "plugin": {"name": "alpha", "distribution": "alpha-detector", "version": "1.2", "sha256": sha256(b"alpha")},
    },
    "beta": {
        "card": card("beta", "people", boundary(None, None, "its own words", "2026-08-02"), None,
                     {"Likely AI": "ai", "Likely human": "human", "Mixed": "mixed", "Unclear": "uncertain"}),
        "plugin": None,
    },
    "gamma": {
        "card": card("gamma", "plugin", boundary("<=", "50", "vendor", "2026-07-01"), CHANCE, {},
                     displayed="/0/shown", score="/0/a~1b", version="/1"),
        "plugin": {"name": "gamma", "distribution": "gamma-detector", "version": "3.0", "sha256": sha256(b"gamma")},
    },
}  # fmt: skip
CARDS["alpha"]["card"]["bands"] = [BAND]
CARDS["alpha"]["card"]["answer"]["unmeasured"] = [{"at": "/error", "among": ["too short"], "because": "no result"}]
RULES: dict[str, Json | None] = {
    "alpha": None,
    "beta": None,
    "gamma": boundary("<=", "20", "chosen, with a reason", "2026-09-01"),
}

# ---- the corpus: id, text, words counted by hand, and what differs between documents -----------------------------------


def archive(date: str, grade: str) -> Json:
    made = {"archive": "the capture", "evidence_date": date, "evidence_sha256": sha256(date.encode()), "grade": grade}
    return made | {"kind": "archive", "licence": "CC0-1.0", "source": "https://example.org/" + date}


def attested(grade: str) -> Json:
    made: Json = {"kind": "attested", "grade": grade, "adult": True, "attestation": "version 1", "session": None}
    made |= {"attestation_sha256": sha256(b"version 1"), "consent": {"publish": True, "vendors": ["*"]}}
    return made | {"review": "accepted", "written_on": "2026-10-01"}


def generated(model: str, provider: str, style: str) -> Json:
    unknown = ("finish_reason", "generated_on", "matched", "model_returned", "prompt", "request_id", "request_sha256")
    made: Json = dict.fromkeys((*unknown, "response_sha256", "word_target")) | {"note": "", "settings": {}}
    return made | {"grade": "stated", "kind": "generated", "model": model, "provider": provider, "style": style}


def edited(words_changed: int) -> Json:
    made = {"kind": "edited", "grade": "witnessed", "editor": "e1", "history_sha256": None, "draft_words": 14}
    draft = {"draft": generated("m-1", "P", "plain"), "draft_sha256": sha256(DRAFT.encode())}
    return made | draft | {"words_changed": words_changed}


def transformed(parent: str) -> Json:
    made: Json = {"kind": "transformed", "grade": "recorded", "attack": "synonyms", "parent": parent, "settings": {}}
    return made | dict.fromkeys(("attack_version", "parent_sha256", "prompt", "seed"))


DRAFT = "A plain machine draft about boats, and about the people who sail them, ten."  # 14 words
TEXTS: list[tuple[str, str, str, int, Json, Json]] = [
    ("A", "A-01", "The harbour was quiet. Gulls — three of them — slept.", 9, archive("2019-05-01", "archived"),
     {"register": "academic", "author": "Ada, L.", "source": "s1"}),
    ("A", "A-02", "Rain fell on the old town—softly, then hard.\r\nNobody minded.", 11, archive("2021-12-31", "released"),
     {"register": "academic", "topic": "rain"}),
    ("A", "A-03", "Cafe\u0301 prices rose 1914–1918 by 3.5 %.", 6, archive("2020-02-29", "stated"),
     {"register": "journalistic"}),
    ("A", "A-04", "\ufeffIt is — I think —fine.\n", 5, archive("2022-01-01", "archived"),
     {"exposures": ["BENCH-2026-Q3", "vendor:alpha"]}),
    ("B", "B-01", "I wrote this today\x1f, by hand.", 6, attested("witnessed"),
     {"subgroup": "native", "topic": "t1"}),
    ("B", "B-02", "My English learn I since\u00a0two years.", 7, attested("witnessed"),
     {"subgroup": "non-native", "topic": "t2"}),
    ("B", "B-03", "Nobody may read this.", 4, attested("stated"),
     {"subgroup": "native", "topic": "t1", "withheld": "the author asked for it"}),
    ("C", "007", "Moreover, it is important to note that boats float.", 9, generated("m-1", "P", "plain"), {}),
    ("C", "=C2", "In today’s world, boats are a tapestry—of wood\u2014and wind.", 11, generated("m-2", "Q", "plain"), {}),
    ("C", "C-3", "hey so boats, right? they’re kinda the best", 8, generated("m-2", "Q", "styled"), {"language": "en"}),
    ("D", "D-1", "A plain machine draft about ships, and about the people who sail them, ten.", 14,
     edited(words_changed=1), {}),
    ("D", "D-2", "Furthermore, vessels do remain aloft on water.", 7, transformed("007"), {}),
]  # fmt: skip

# ---- what the detectors answered -------------------------------------------------------------------------------------

SENT = "the text that was sent"  # stands for the document's own text in an echo
ALPHA: dict[str, Any] = {  # id: raw answer, or what happened instead
    "A-01": '{"class": "Human", "model": "a-1", "out": {"score": 0.10}, "text": SENT}',
    "A-02": '{"class": "AI", "model": "a-1", "out": {"score": 0.50}, "text": SENT}',
    "A-03": '{"class": " unsure\\t", "model": "a-1"}',
    "A-04": ("declined", '{"class": "AI", "out": {"score": 0.99}, "error": "too short"}', "the vendor wants more words"),
    "B-01": '{"class": "MIXED", "model": "a-1", "out": {"score": 2E-1}, "text": SENT}',
    "B-02": '{"model": "a-1", "out": {"score": 9e-1}, "text": SENT}',
    "B-03": '{"class": "AI", "model": "a-1", "out": {"score": 0.7}, "text": SENT}',
    "007": '{"class": "no such class", "model": "a-1", "out": {"score": 1}}',
    "=C2": ("failed", None, "HTTP 500 three times"),
    "C-3": '{"class": "AI", "model": "a-1", "out": {"score": 1.5}}',
    "D-1": ("declined", '{"class": "AI", "model": "a-1", "out": {"score": 0.9}, "text": "Something else."}',
            "other text scanned"),
    "D-2": "in doubt",
}  # fmt: skip
BETA = {  # what stood on the screen
    "A-01": " likely  HUMAN\n", "A-02": "Unclear", "A-03": "Likely AI", "A-04": "=maybe, \"perhaps\"\nor not",
    "B-01": "Likely human", "B-02": "Mixed", "B-03": "Likely human",
    "007": "Likely AI", "=C2": "Likely AI", "C-3": "Likely human", "D-1": "Mixed",
}  # fmt: skip
GAMMA = {  # chance of human, version; or why it was not scannable
    "A-01": ("99.0", "g1"), "A-02": ("20", "g1"), "A-03": "not a language of this detector", "A-04": ("55", "g1"),
    "B-01": ("80", "g1"), "B-02": ("15.5", "g1"), "B-03": ("60", "g1"),
    "007": ("3", "g1"), "=C2": ("0", "g1"), "C-3": ("45", "g2"), "D-1": ("19.99", "g2"),
}  # fmt: skip


class Study:
    """The half-built bundle; see `build`."""

    def __init__(self, retrospective: bool) -> None:
        self.retrospective = retrospective
        self.protocol: Json = {}
        self.cards: dict[str, Json] = copied(CARDS)
        self.documents: list[Json] = []
        self.header: Json = {}
        self.texts: dict[str, bytes] = {}  # by id
        self.published: dict[str, bytes] = {}  # by address
        self.salts: dict[str, bytes] = {}
        self.journals: dict[str, list[Json]] = {}  # lines without prev
        self.evidence: dict[str, list[Json]] = {}  # by detector
        self.tables: dict[str, list[list[Any]]] = {}
        self.seals: dict[str, Json] = {}
        self.files: dict[str, bytes] = {}
        self.sealed_at = {"promise": at(1), "corpus": at(1, 60, ".5"), "heads-0001": at(3, 60), "evidence": at(20)}
        self.heads_lines = 7

    def document(self, name: str) -> Json:
        return next(document for document in self.documents if document["id"] == name)

    def order(self) -> list[str]:
        return sorted(self.texts, key=lambda name: hmac.new(SEED, b"scan\0" + name.encode(), hashlib.sha256).digest())

    def address(self, name: str, data: bytes) -> str:
        salt = self.salts.get(name)
        return sha256(data) if salt is None else hmac.new(salt, data, hashlib.sha256).hexdigest()


def make_protocol(study: Study) -> None:
    arms = []
    for name, truth, headline, size, quotas, suffices in copied(ARMS):
        words, before = suffices.split(), "2023-01-01" if name == "A" else None
        grades = [word for word in words if word not in KINDS]
        arms.append({
            "name": name, "title": f"Arm {name}", "truth": truth, "headline": headline, "documents": size,
            "quotas": [{"where": where, "documents": number} for where, number in quotas], "filled": "by hand",
            "evidence": {"kinds": [word for word in words if word in KINDS], "grades": grades, "before": before},
            "persists": True, "unit": UNITS[name], "words": None, "budget": None, "generation": None, "source": None,
        })  # fmt: skip
    arms[3]["budget"] = {"words_percent": "10", "sentences": "none added or deleted"}
    shown = {"surface": "web", "tier": "standard", "payer": "us", "relation": "none", "settings": {}}
    study.protocol = {
        "study": "handmade",
        "title": "A study made by hand",
        "edition": "BENCH-2026-Q4",
        "template": None,
        "people": [{"name": "Nobody", "role": "maker", "interests": "none"}],
        "payer": "nobody",
        "schedule": "once",
        "authorities": [{"name": "example", "url": "https://example.org/tsa"}],
        "beacon": None,
        "comparisons": [],
        "format": 1,
        "interval": "wilson",
        "nominations": [],
        "raw_scores": "published",
        "scans": 1,
        "screening": {},
        "winner": "never",
        "seed_sha256": sha256(SEED),
        "level": "0.95",
        "attempts": 3,
        "ask_again_in_doubt": False,
        "on_version_change": "split",
        "window": {"opens": "2026-10-02", "closes": "2026-10-10"},
        "arms": arms,
        "detectors": [
            {
                "name": name,
                "card": f"{name}.yaml",
                "version": "a-1" if name == "alpha" else None,
                "rule": copied(RULES[name]),
            }
            | shown
            for name in ("gamma", "alpha", "beta")
        ],
    }


def make_corpus(study: Study) -> None:
    blank = dict.fromkeys(("author", "language", "register", "source", "subgroup", "topic", "withheld"))
    for arm, name, text, words, provenance, rest in TEXTS:
        raw = study.texts[name] = text.encode()
        if provenance["kind"] == "attested":
            study.salts[name] = hashlib.sha256(b"salt of " + name.encode()).digest()
        clean = unicodedata.normalize("NFC", text.lstrip("\ufeff").replace("\r\n", "\n"))
        document = blank | {"exposures": []} | rest | {"id": name, "arm": arm, "provenance": copied(provenance)}
        withheld = document["withheld"] is not None
        document |= {
            "address": study.address(name, raw),
            "canonical_sha256": None if withheld else sha256(clean.encode()),
            "words": None if withheld else words,
            "characters": None if withheld else len(text),
        }
        study.documents.append(document)
        if not withheld:
            study.published[document["address"]] = raw
    study.published[sha256(DRAFT.encode())] = DRAFT.encode()
    study.header = {
        "arms": {"A": 4, "B": 3, "C": 3, "D": 2},
        "documents": 12,
        "edition": "BENCH-2026-Q4",
        "kind": "manifest",
        "study": "handmade",
        "word_rule": "penmark-1",
    }


# ---- the journals ----------------------------------------------------------------------------------------------------


def start(study: Study, name: str, shard: str = "1/1") -> Json:
    card = study.cards[name]
    return {
        "kind": "start",
        "at": at(2),
        "detector": name,
        "card_sha256": sha256(canonical(card)),
        "shard": shard,
        "plugin": card["plugin"],
        "software": "handmade 1",
    }


def reading(study: Study, name: str, **facts: Any) -> Json:
    blank = dict.fromkeys(("displayed", "evidence_sha256", "got_at", "label", "read_by", "reason", "score", "sent_at"))
    blank |= {"kind": "reading", "attempt": 1, "origin": "scan", "state": "answered", "vendor_at": None}
    blank |= {"version": None, "version_asked": None, "address": study.document(name)["address"], "document": name}
    return blank | facts


def keep_evidence(study: Study, detector: str, line: Json, body: str, binary: bool = False) -> None:
    name = line["document"]
    line["evidence_sha256"] = study.address(name, body.encode())
    if study.document(name)["withheld"] is None:
        stored = base64.b64encode(body.encode()).decode() if binary else body
        study.evidence.setdefault(detector, []).append(
            {"attempt": line["attempt"], "body": stored, "detector": detector, "document": name}
            | {"encoding": "base64" if binary else "utf-8", "sha256": line["evidence_sha256"]}
        )


def alpha_lines(study: Study) -> list[Json]:
    lines = [start(study, "alpha")]
    for second, name in enumerate(name for name in study.order() if name in ALPHA):
        lines.append({"kind": "sent", "document": name, "attempt": 1, "at": at(2, second)})
        happened = ALPHA[name]
        if happened == "in doubt":
            continue
        state, body, reason = happened if isinstance(happened, tuple) else ("answered", happened, None)
        facts: Json = {"version": "a-1", "version_asked": "a-1", "state": state, "reason": reason}
        if body is None:
            for attempt in (1, 2):
                lines.append({"kind": "retry", "document": name, "attempt": attempt, "at": at(3), "reason": "HTTP 500"})
                lines.append({"kind": "sent", "document": name, "attempt": attempt + 1, "at": at(3, 1)})
            last = {"attempt": 3, "version": None, "at": at(3, 2), "sent_at": at(3, 1)}
            lines.append(reading(study, name, **facts | last))
            continue
        body = body.replace("SENT", json.dumps(study.texts[name].decode()))
        shown = json.loads(body, parse_float=str, parse_int=str)
        if "error" in shown:
            shown = {"model": None}  # the card says that such an answer measured nothing
        facts |= {"score": shown.get("out", {}).get("score"), "label": shown.get("class"), "version": shown["model"]}
        facts["displayed"] = facts["score"] if facts["score"] is not None else facts["label"]
        times = {"at": at(2, second + 1), "sent_at": at(2, second), "got_at": at(2, second, f".{second}")}
        line = reading(study, name, **facts, **times)
        keep_evidence(study, "alpha", line, body, binary=name == "A-02")
        if name == "A-02":
            line["reason"] = "the answer quotes the text 2 times"
        lines.append(line)
    return [*lines, {"kind": "stop", "at": at(4), "reason": "done"}]


def beta_lines(study: Study) -> list[Json]:
    lines = [start(study, "beta")]
    for second, (name, shown) in enumerate(BETA.items()):
        facts: Json = {"displayed": shown, "label": shown.strip(), "origin": "typed", "got_at": at(5, second)}
        if study.retrospective:
            facts |= {"got_at": None if name == "A-01" else "2024-01-01T00:00:00Z"}
        lines.append(reading(study, name, **facts, at=at(5, second + 1), read_by="operator 1"))
    return lines


def gamma_lines(study: Study, shard: int) -> list[Json]:
    lines = [start(study, "gamma", f"{shard}/2")]
    for second, name in list(enumerate(study.order()))[shard - 1 :: 2]:
        happened = GAMMA.get(name)
        if isinstance(happened, str):
            lines.append({"kind": "skipped", "document": name, "at": at(6, second), "reason": happened})
        if not isinstance(happened, tuple):
            continue
        lines.append({"kind": "sent", "document": name, "attempt": 1, "at": at(6, second)})
        body = f'[{{"a/b": {happened[0]}, "shown": "{happened[0]} %"}}, "{happened[1]}"]'
        facts: Json = {"displayed": happened[0] + " %", "score": happened[0], "version": happened[1]}
        line = reading(study, name, **facts, at=at(6, second + 1), sent_at=at(6, second), got_at=at(6, second))
        keep_evidence(study, "gamma", line, body)
        lines.append(line)
    return lines


def make_journals(study: Study) -> None:
    study.journals = {
        "journal/alpha.jsonl": alpha_lines(study),
        "journal/beta.jsonl": beta_lines(study),
        "journal/gamma.1of2.jsonl": gamma_lines(study, 1),
        "journal/gamma.2of2.jsonl": gamma_lines(study, 2),
    }


# ---- what follows: pairs and tables ----------------------------------------------------------------------------------


def rule_of(study: Study, detector: str) -> Json:
    promised = next(one for one in study.protocol["detectors"] if one["name"] == detector)
    return promised["rule"] or study.cards[detector]["card"]["boundary"]


def call(study: Study, detector: str, line: Json) -> tuple[str, str, str, bool]:
    """(reason why not, call, lenient call, uncertain) of an answered reading."""
    card, rule = study.cards[detector]["card"], rule_of(study, detector)
    fold = {" ".join(key.split()).casefold(): value for key, value in card["verdicts"].items()}
    label, score = line["label"], line["score"]
    kind = fold.get(" ".join((label or "").split()).casefold())
    bounded = rule["kind"] == "boundary"
    if label is not None and kind is None and fold and not (bounded and score is not None):
        return f"verdict not in the card: {label}", "", "", False
    if bounded and score is None and kind == "uncertain":
        return "", "not-ai", "not-ai", True  # the one band of this study lies below its boundary
    if bounded:
        if score is None:
            return "no score in the answer", "", "", False
        if not Decimal(card["scale"]["low"]) <= Decimal(score) <= Decimal(card["scale"]["high"]):
            return f"score outside the declared scale: {score}", "", "", False
        below = Decimal(score) <= Decimal(rule["value"])
        ai = below if rule["operator"] == "<=" else Decimal(score) >= Decimal(rule["value"])
    else:
        ai = kind == "ai"
    lenient = ai or kind in ("mixed", "assisted")
    return "", "ai" if ai else "not-ai", "ai" if lenient else "not-ai", not ai and kind == "uncertain"


def versions_of(readings: list[Json]) -> list[str | None]:
    shown = [line["version"] for line in readings if line["state"] == "answered"]
    return list(dict.fromkeys(shown)) or [None]


def pairs_of(study: Study) -> list[Json]:
    """Every pair of a detector's version and a document, in the order of readings.csv."""
    pairs = []
    for detector in sorted(study.cards):
        lines = [line for path in sorted(study.journals) if detector in path for line in study.journals[path]]
        readings = [line for line in lines if line["kind"] == "reading"]
        versions = versions_of(readings)
        for version in versions:
            asked = next((line["version_asked"] for line in readings if line["version"] == version), None)
            later = "changed" if version != versions[0] else "as_asked" if asked == version else "floating"
            for document in study.documents:
                about = [line for line in lines if line.get("document") == document["id"]]
                pair = pair_of(study, detector, version, versions, about)
                state = "not_reported" if version is None else later
                pairs.append(
                    {"detector": detector, "version": version, "version_state": state} | pair | {"of": document}
                )
    return pairs


def pair_of(study: Study, detector: str, version: str | None, versions: list[str | None], about: list[Json]) -> Json:
    first = version == versions[0]
    own = [
        line
        for line in about
        if line["kind"] == "reading"
        and (line["version"] == version or (first and (line["state"] == "failed" or line["version"] not in versions)))
    ]
    pair = {"reading": own[0] if own else {}, "call": "", "lenient": "", "uncertain": False, "attempts": 0}
    sents = [line for line in about if line["kind"] == "sent"]
    others = [line for line in about if line["kind"] == "reading" and line not in own and line["state"] != "failed"]
    if (own and own[0]["origin"] == "scan") or (first and not own and not others):
        pair["attempts"] = len(sents)
    if own and own[0]["state"] == "answered":
        reason, pair["call"], pair["lenient"], pair["uncertain"] = call(study, detector, own[0])
        return pair | {"state": "declined" if reason else "answered", "reason": reason or own[0]["reason"]}
    if own:
        return pair | {"state": own[0]["state"], "reason": own[0]["reason"]}
    skips = [line for line in about if line["kind"] == "skipped"]
    if first and skips:
        return pair | {"state": "not_scannable", "reason": skips[0]["reason"]}
    if first and sents and about[-1]["kind"] == "sent":
        return pair | {"state": "in_doubt", "reason": f"sent at {sents[-1]['at']}, no answer on record"}
    reason = f"answered under version {others[0]['version'] or ''}" if others else "not asked"
    return pair | {"state": "not_run", "reason": reason}


def decimal6(value: Fraction) -> str:
    scaled = value * 10**6
    whole = round(scaled)  # half to even
    if whole == 0 and value != 0:
        whole = 1
    if whole == 10**6 and value != 1:
        whole = 10**6 - 1
    return f"{whole // 10**6}.{whole % 10**6:06}"


def root(value: Fraction) -> Fraction:
    scale = 10**60
    return Fraction(isqrt(value.numerator * scale * scale // value.denominator), scale)


def wilson(k: int, size: int, deff: Fraction = Fraction(1)) -> list[str]:
    """rate, low, high"""
    if size == 0:
        return ["", "", ""]
    share, square, n = Fraction(k, size), Z * Z, size / deff
    centre = (share * n + square / 2) / (n + square)
    half = Z * root(share * (1 - share) * n + square / 4) / (n + square)
    return [decimal6(share), "0.000000" if k == 0 else decimal6(centre - half),
            "1.000000" if k == size else decimal6(centre + half)]  # fmt: skip


def count(pairs: list[Json], kind: str = "call") -> list[Any]:
    """documents, n, k, uncertain, no_result, not_scannable, not_run, rate, low, high, worst_low, worst_high"""
    states = [pair["state"] for pair in pairs]
    n, k = states.count("answered"), sum(pair[kind] == "ai" for pair in pairs)
    lost = sum(state in ("declined", "failed", "in_doubt") for state in states)
    head = [len(pairs), n, k, sum(pair["uncertain"] for pair in pairs), lost]
    head += [states.count("not_scannable"), states.count("not_run")]
    return [*head, *wilson(k, n), wilson(k, n + lost)[1], wilson(k + lost, n + lost)[2]]


def sliced(document: Json, by: str) -> str | None:
    if by in document:
        return document[by]
    provenance = document["provenance"]
    made = {"generated": provenance, "edited": provenance.get("draft")}.get(provenance["kind"]) or {}
    return made.get(by)


def table2_group(study: Study, document: Json) -> tuple[int, str, str] | None:
    truth = {arm["name"]: arm["truth"] for arm in study.protocol["arms"]}[document["arm"]]
    provenance = document["provenance"]
    if truth == "mixed":
        edited = provenance["kind"] == "edited"
        return (8, "lightly edited AI", "flagged") if edited else (9, "other mixed text", "flagged")
    if truth == "ai":
        rewritten = provenance["kind"] == "transformed"
        return (7, "rewritten AI", "detections") if rewritten else (6, "unedited AI", "detections")
    if provenance["kind"] == "attested":
        number, name = {"native": (0, "native volunteers"), "non-native": (1, "non-native volunteers")}.get(
            document["subgroup"], (2, "volunteers, group not stated")
        )
        return number, name, "false positives"
    if provenance["evidence_date"][:4] >= "2022":
        return 5, "archive, not shown to predate 2022", "false positives"
    if provenance["grade"] == "stated":
        return 4, "archive, date stated only", "false positives"
    return 3, "pre-2022 archive", "false positives"


RATES = ["detector", "version", "arm", "slice_by", "slice", "documents", "n", "k", "uncertain", "no_result",
         "not_scannable", "not_run", "rate", "low", "high", "worst_low", "worst_high"]  # fmt: skip
BY = ["register", "subgroup", "model", "style", "provider"]


def make_tables(study: Study) -> None:
    pairs = pairs_of(study)
    answers = [pair["reading"] for pair in pairs if pair["reading"].get("state") == "answered"]
    late = all(line["got_at"] is not None and line["got_at"] >= study.sealed_at["promise"] for line in answers)
    timing = "prospective" if late else "retrospective"
    arms = [arm["name"] for arm in study.protocol["arms"]]
    blocks = list(dict.fromkeys((pair["detector"], pair["version"]) for pair in pairs))
    within = {key: [pair for pair in pairs if (pair["detector"], pair["version"]) == key] for key in blocks}
    tables = study.tables = {name: [RATES] for name in ("rates", "rates_lenient")}
    for key, inside in within.items():
        for arm in arms:
            of_arm = [pair for pair in inside if pair["of"]["arm"] == arm]
            parts = [("", "", of_arm)]
            for by in BY:
                values = {sliced(pair["of"], by) for pair in of_arm} - {None}
                parts += [(by, at, [p for p in of_arm if sliced(p["of"], by) == at]) for at in sorted(values, key=str)]
            for by, value, some in parts:
                tables["rates"].append([*key, arm, by, value, *count(some)])
                tables["rates_lenient"].append([*key, arm, by, value, *count(some, "lenient")])
    tables["readings"] = readings_table(study, pairs, timing)
    tables["documents"] = documents_table(study)
    tables["table1"] = table1(study, within, timing)
    tables["table2"] = table2(study, within, timing)
    tables["units"] = units(study, within)
    tables["agreement"] = agreement(within, arms, timing)
    tables["departures"] = [
        ["number", "rule", "template", "study", "explanation"],
        ["1", "A", "150", "4", "made by hand"],
    ]


def readings_table(study: Study, pairs: list[Json], timing: str) -> list[list[Any]]:
    header = (
        "detector,version,version_state,document,arm,state,displayed,score,label,call,call_lenient,reason,boundary,"
    )
    header += "operator,scanned_at,sent_at,origin,attempts,read_by,evidence_sha256,timing"
    rows: list[list[Any]] = [header.split(",")]
    for pair in pairs:
        line, rule = pair["reading"], rule_of(study, pair["detector"])
        rows.append([
            pair["detector"], pair["version"], pair["version_state"], pair["of"]["id"], pair["of"]["arm"], pair["state"],
            line.get("displayed"), line.get("score"), line.get("label"), pair["call"], pair["lenient"], pair["reason"],
            rule["value"] or "verdict", rule["operator"], line.get("got_at"), line.get("sent_at"),
            line.get("origin"), pair["attempts"], line.get("read_by"), line.get("evidence_sha256"), timing,
        ])  # fmt: skip
    return rows


def documents_table(study: Study) -> list[list[Any]]:
    header = "id,arm,truth,address,canonical_sha256,words,characters,language,register,subgroup,author,topic,source,"
    header += "exposures,withheld,kind,grade,evidence_date,provider,model,style,provenance"
    truths = {arm["name"]: arm["truth"] for arm in study.protocol["arms"]}
    rows: list[list[Any]] = [header.split(",")]
    for document in study.documents:
        provenance = document["provenance"]
        known = document | {"truth": truths[document["arm"]], "exposures": "; ".join(document["exposures"])}
        known |= {name: provenance.get(name) for name in ("kind", "grade", "evidence_date")}
        known |= {by: sliced(document, by) for by in BY} | {"provenance": canonical(provenance).decode()}
        rows.append([known[name] for name in rows[0]])
    return rows


def table1(study: Study, within: Mapping[Any, list[Json]], timing: str) -> list[list[Any]]:
    header = "detector,version,version_state,timing,surface,tier,payer,relation,boundary,boundary_source,boundary_date,"
    header += (
        "first_scanned_at,last_scanned_at,human_documents,human_n,false_positives,fp_rate,fp_low,fp_high,human_mix,"
    )
    header += (
        "ai_documents,ai_n,detections,detection_rate,detection_low,detection_high,ai_mix,uncertain,declined,failed,"
    )
    header += "in_doubt,not_scannable,not_run,status"
    rows: list[list[Any]] = [header.split(",")]
    for (detector, version), pairs in within.items():
        rule = rule_of(study, detector)
        promised = next(one for one in study.protocol["detectors"] if one["name"] == detector)
        boundary = f"{rule['operator']} {rule['value']}" if rule["kind"] == "boundary" else "verdict"
        times = [pair["reading"]["got_at"] for pair in pairs if pair["reading"].get("state") == "answered"]
        times = sorted((time for time in times if time is not None), key=lambda time: time.rstrip("Z") + "0")
        row = [detector, version, pairs[0]["version_state"], timing, promised["surface"], promised["tier"]]
        row += [promised["payer"], promised["relation"], boundary, rule["source"], rule["date"]]
        row += [times[0], times[-1]] if times else ["", ""]
        for arms in (("A", "B"), ("C",)):
            some = [pair for pair in pairs if pair["of"]["arm"] in arms]
            mix = [f"{count([pair for pair in some if pair['of']['arm'] == arm])[1]} {arm}" for arm in arms]
            made = count(some)
            row += [made[0], made[1], made[2], *made[7:10], " + ".join(mix)]
        states = [pair["state"] for pair in pairs if pair["of"]["arm"] != "D"]
        row.append(sum(pair["uncertain"] for pair in pairs if pair["of"]["arm"] != "D"))
        row += [states.count(state) for state in ("declined", "failed", "in_doubt", "not_scannable", "not_run")]
        run = sum(pair["state"] != "not_run" for pair in pairs)
        rows.append([*row, "COMPLETE" if run == len(pairs) else f"INCOMPLETE {run} of {len(pairs)}"])
    return rows


def table2(study: Study, within: Mapping[Any, list[Json]], timing: str) -> list[list[Any]]:
    header = (
        "detector,version,timing,group,measure,documents,n,k,uncertain,no_result,not_scannable,not_run,rate,low,high"
    )
    rows: list[list[Any]] = [header.split(",")]
    groups = sorted({table2_group(study, document) for document in study.documents} - {None})
    for key, pairs in within.items():
        for group in groups:
            some = [pair for pair in pairs if table2_group(study, pair["of"]) == group]
            rows.append([*key, timing, *group[1:], *count(some)[:10]])
    return rows


def units(study: Study, within: Mapping[Any, list[Json]]) -> list[list[Any]]:
    header = "detector,version,arm,unit,documents,n,k,units,deff,n_effective,low,high,reason"
    rows: list[list[Any]] = [header.split(",")]
    for key, pairs in within.items():
        for arm in study.protocol["arms"]:
            if arm["unit"] == "document":
                continue
            some = [pair for pair in pairs if pair["of"]["arm"] == arm["name"]]
            answered = [pair for pair in some if pair["state"] == "answered"]
            made = (pair["of"] | {"parent": pair["of"]["provenance"].get("parent")} for pair in answered)
            calls = [(of[arm["unit"]], pair["call"] == "ai") for of, pair in zip(made, answered, strict=True)]
            n, k = len(calls), sum(flag for _, flag in calls)
            names = {unit for unit, _ in calls} - {None}
            row = [*key, arm["name"], arm["unit"], len(some), n, k, len(names)]
            lacking = sum(unit is None for unit, _ in calls)
            if n == 0 or lacking:
                rows.append([*row, "", "", "", "", f"{lacking} without {arm['unit']}" if lacking else "no answers"])
                continue
            rate, variance = Fraction(k, n), Fraction(0)
            for name in names:
                inside = [flag for unit, flag in calls if unit == name]
                variance += (sum(inside) - len(inside) * rate) ** 2 / n**2
            deff = max(Fraction(1), variance / (rate * (1 - rate) / n)) if 0 < k < n else Fraction(n, len(names))
            row += [plain6(deff), plain6(n / deff)]
            few = len(names) < 15
            rows.append([*row, *(["", "", "fewer than 15 units"] if few else [*wilson(k, n, deff)[1:], ""])])
    return rows


def plain6(value: Fraction) -> str:
    whole = round(value * 10**6)
    return f"{whole // 10**6}.{whole % 10**6:06}"


def agreement(within: Mapping[Any, list[Json]], arms: list[str], timing: str) -> list[list[Any]]:
    rows: list[list[Any]] = [["arm", "detectors", "documents", "answered_by_all", "flagged_by", "count", "timing"]]
    firsts = list({detector: pairs for (detector, _), pairs in reversed(within.items())}.values())
    for arm in arms:
        columns = [[pair for pair in pairs if pair["of"]["arm"] == arm] for pairs in firsts]
        columns = [column for column in columns if any(pair["state"] == "answered" for pair in column)]
        if not columns:
            continue
        by_all = [row for row in zip(*columns, strict=True) if all(pair["state"] == "answered" for pair in row)]
        flags = [sum(pair["call"] == "ai" for pair in row) for row in by_all]
        for flagged in range(len(columns) + 1):
            rows.append([arm, len(columns), len(columns[0]), len(by_all), flagged, flags.count(flagged), timing])
    return rows


# ---- bytes -----------------------------------------------------------------------------------------------------------


def csv_bytes(rows: list[list[Any]]) -> bytes:
    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        try:
            number = "_" not in text and text.strip() == text and text[:1] != "+" and Decimal(text).is_finite()
        except ArithmeticError:
            number = False
        if text.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) and not number:
            text = "'" + text
        return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text

    return "".join(",".join(map(cell, row)) + "\n" for row in rows).encode()


def jsonl(values: list[Any]) -> bytes:
    return b"".join(canonical(value) + b"\n" for value in values)


def chained(lines: list[Json], anchor: str) -> bytes:
    out, previous = b"", anchor
    for line in lines:
        made = canonical(line | {"prev": previous})
        out, previous = out + made + b"\n", sha256(made)
    return out


def head(journal: bytes) -> Json:
    lines = journal.split(b"\n")[:-1]
    return {"head": sha256(lines[-1]), "lines": len(lines)}


def der(tag: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    size = bytes([len(body)]) if len(body) < 128 else bytes([0x81, len(body)])
    assert len(body) < 256
    return bytes([tag]) + size + body


def token(data: bytes, time: str) -> bytes:
    """A time-stamp response (RFC 3161) that nobody signed."""
    algorithm = der(0x30, der(0x06, bytes.fromhex("608648016503040201")), der(0x05))
    imprint = der(0x30, algorithm, der(0x04, hashlib.sha256(data).digest()))
    stamp = time[:19].replace("-", "").replace("T", "").replace(":", "") + "Z"
    policy = der(0x06, b"\x2a\x03\x04")
    info = der(0x30, der(0x02, b"\x01"), policy, imprint, der(0x02, b"\x07"), der(0x18, stamp.encode()))
    inner = der(0x30, der(0x06, bytes.fromhex("2a864886f70d0109100104")), der(0xA0, der(0x04, info)))
    signed = der(0x30, der(0x02, b"\x03"), der(0x31, algorithm), inner, der(0x31))
    content = der(0x30, der(0x06, bytes.fromhex("2a864886f70d010702")), der(0xA0, signed))
    return der(0x30, der(0x30, der(0x02, b"\x00")), content)


def seal(study: Study, name: str, paths: list[str], previous: str | None, journals: Json) -> None:
    """Puts a seal and its token among the files."""
    study.seals[name] = {
        "announced": None,
        "digests": {path: sha256(study.files[path]) for path in paths},
        "edition": "BENCH-2026-Q4",
        "format": 1,
        "journals": journals,
        "kind": name.split("-")[0],
        "previous": previous,
        "study": "handmade",
        "sealed_at": study.sealed_at[name],
        "software": "handmade 1",
    }


def put_seal(study: Study, name: str) -> str:
    data = study.files[f"seals/{name}.json"] = canonical(study.seals[name])
    study.files[f"seals/{name}-example.tsr"] = token(data, study.sealed_at[name])
    return sha256(data)


def make_files(study: Study, forge: Callable[[str], None]) -> None:
    files = study.files
    files["format"] = b"1\n"
    files["protocol.json"] = canonical(study.protocol)
    files["protocol.yaml"] = json.dumps(study.protocol, indent=1, ensure_ascii=False).encode() + b"\n"
    for name, card in study.cards.items():
        files[f"detectors/{name}.json"] = canonical(card)
    cards = sorted(path for path in files if path.startswith("detectors/"))
    seal(study, "promise", ["protocol.json", "protocol.yaml", *cards], None, {})
    forge("promise")
    promise = put_seal(study, "promise")

    files["manifest.jsonl"] = jsonl([study.header, *study.documents])
    files["screening.csv"] = b"severity,rule,arm,document,file,row,message,remedy\n"
    seal(study, "corpus", ["manifest.jsonl", "screening.csv"], promise, {})
    forge("corpus_seal")
    corpus = put_seal(study, "corpus")

    for path, lines in study.journals.items():
        files[path] = chained(lines, corpus)
    early = b"".join(line + b"\n" for line in files["journal/alpha.jsonl"].split(b"\n")[: study.heads_lines])
    seal(study, "heads-0001", [], corpus, {"journal/alpha.jsonl": head(early)})
    forge("heads")
    heads = put_seal(study, "heads-0001")

    for name, rows in study.tables.items():
        files[f"tables/{name}.csv"] = csv_bytes(rows)
    tables = sorted(path for path in files if path.startswith("tables/"))
    seal(study, "evidence", tables, heads, {path: head(files[path]) for path in study.journals})
    forge("seals")
    put_seal(study, "evidence")
    for name, lines in study.evidence.items():
        files[f"evidence/{name}-0001.jsonl.gz"] = packed(jsonl(lines))
    files["seed.json"] = canonical({"beacon": None, "seed": SEED.hex()})
    published = [one["id"] for one in study.documents if one["id"] in study.salts and one["withheld"] is None]
    files["salts.jsonl"] = jsonl([{"document": name, "salt": study.salts[name].hex()} for name in published])
    if len(study.published) < 1000:
        files |= {f"texts/{address}.txt": text for address, text in study.published.items()}
    else:
        lines = [{"address": address, "text": text.decode()} for address, text in sorted(study.published.items())]
        files["texts/0001.jsonl.gz"] = packed(jsonl(lines))
    amendment = {"number": 1, "binds_from": "BENCH-2027-Q1", "announced_at": at(21), "before": "x", "after": "y"}
    files["amendments/0001.json"] = canonical(amendment | {"what": "x becomes y", "why": "an example"})
    files["amendments/0001-example.tsr"] = token(files["amendments/0001.json"], at(21))
    files["deviations.jsonl"] = jsonl([{"at": at(9), "detector": None, "what": "the vendor was away for an hour"}])
    files["report/index.html"] = b"<!doctype html>\n<title>handmade</title>\n"
    for name in (
        "README.md",
        "CHANGES.md",
        "LICENSE",
        "CITATION.cff",
        "datapackage.json",
        "croissant.json",
        "verify.py",
    ):
        files[name] = f"{name} of the handmade study\n".encode()


def packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def build(
    forge: Mapping[str, Callable[[Study], object]] | None = None, retrospective: bool = False
) -> dict[str, bytes]:
    """The files of the bundle by path, with SHA256SUMS."""
    study, forges = Study(retrospective), dict(forge or {})

    def forged(stage: str) -> None:
        if stage in forges:
            forges.pop(stage)(study)

    steps = {"protocol": make_protocol, "corpus": make_corpus, "journals": make_journals, "tables": make_tables}
    for stage, step in steps.items():
        step(study)
        forged(stage)
    make_files(study, forged)
    forged("files")
    assert not forges, f"no such stage: {', '.join(forges)}"
    study.files["SHA256SUMS"] = sums(study.files)
    return study.files


def sums(files: Mapping[str, bytes]) -> bytes:
    paths = sorted((path for path in files if path != "SHA256SUMS"), key=str.encode)
    return "".join(f"{sha256(files[path])}  {path}\n" for path in paths).encode()


def write(files: Mapping[str, bytes], root: Path) -> Path:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root
