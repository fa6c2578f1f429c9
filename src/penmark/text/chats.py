"""What a chat leaves in a text that a model wrote: special tokens, thoughts, turns, words about the text around it.

Models and the servers before them mark these in many ways, and every new family in its own: forms are named here, not
models. *Reads* and *writes* nothing. *Never* takes anything out; never says this of a person's text but for ``tokens``,
which nobody types. Everything takes time linear in the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"<[|｜][^<>\n]{0,60}[|｜]>|<[|｜][A-Za-z_▁]{2,30}>|<[A-Za-z_▁]{2,30}[|｜]>|[◁⟨]/?[a-z_]{2,20}[▷⟩]"
    r"|\[/?(?:INST|THINK|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK|sMASK|BOS|EOS|PAD|UNK|MASK|CLS|SEP)\]"
    r"|<</?SYS>>|</?s>|<(?:unused|reserved_|extra_id_|ctrl)\d{1,5}>|<0x[0-9A-Fa-f]{2}>"
    r"|</?(?:start_of_turn|end_of_turn|bos|eos|pad|unk|sep|eot|eod|eom|end_of_text|start_of_image|begin_of_box|end_of_box)>"
)
_NAMES = (
    "think(?:ing)?|thoughts?|(?:inner|internal)_?monologue|reason(?:ing)?|reflect(?:ion)?|analysis|commentary|scratch_?pad"
    "|plan(?:ning)?|steps?|(?:final_?)?(?:answer|response|output|essay|text|draft|article|story|version)|final|result"
    "|tool_?calls?|tool_?response|function_?calls?|invoke|user|human|assistant|system|model|bot|instructions?|prompt|message"
    "|conversation|turn|query|question|context|artifact|document"
)
_TAG = re.compile(rf"</?(?:[a-z]+[:_])?(?:{_NAMES})(?:\s[^<>\n]{{0,200}})?/?>", re.IGNORECASE)
_CHANNEL = re.compile(
    r"\bassistant(?:final|analysis|commentary)|(?<!\w)(?:analysis|commentary|final|assistant)(?=[A-Z][a-z]+ )"
    r"|\A\s*(?:analysis|commentary|final|thought|assistant)[ \t]*\n"
)
_ROLE = (
    "user|human|assistant|ai(?: assistant| model)?|system|chat ?bot|bot|chatgpt|gpt(?:-?\\d\\S{0,8})?|claude"
    "|gemini|llama|mistral|grok|qwen|deepseek|copilot|instructions?|response|prompt|final answer|answer|thoughts?"
    "|thinking|reasoning|用户|助手|思考|回答"
)
_TURN = re.compile(
    rf"^[ \t>]*(?:#{{1,6}}[ \t]*)?[*_\[(]{{0,3}}(?:{_ROLE})[*_\])]{{0,3}}[ \t]*[:：]", re.IGNORECASE | re.MULTILINE
)
_ASKED, _ANSWERED = (
    re.compile(r"\b(?:user|human):", re.IGNORECASE),
    re.compile(r"\b(?:assistant|ai|bot):", re.IGNORECASE),
)
_KINDS = (
    "essays?|articles?|texts?|pieces?|stor(?:y|ies)|drafts?|versions?|responses?|answers?|posts?|letters?|reviews?"
    "|paragraphs?|rewrites?"
)
_PREAMBLE = re.compile(
    r"\A\s*(?:(?:sure|certainly|of course|absolutely|okay|ok|great|got it|understood|happy to help)\b[^.!:\n]{0,60}[,.!:—-]+\s*)?"
    rf"(?:here(?:'s|’s| is| are)|below is|i(?:'ve|’ve| have) written)\b[^\n]{{0,160}}\b(?:{_KINDS})\b"
    r"[^\n]{0,160}:\**[ \t]*\n",
    re.IGNORECASE,
)
_THOUGHT = re.compile(
    r"\A\W*(?:(?:okay|ok|alright|all right|hmm+|well|right|so|first|let's see|let me see)\b[,.!… ]*)*"
    r"(?:the (?:user|prompt|instructions?) (?:wants?|is asking|asks?|asked|has asked|would like|requests?|needs?|requires?)\b"
    r"|(?:(?:we|i) (?:need to|have to|should|must|will|want to)|i'll|i’ll|i'm going to|let me|let's|let’s)"
    r" (?:now )?(?:write|produce|craft|compose|generate|create|draft|outline|plan)\b[^.\n]{0,80}"
    rf"\b(?:{_KINDS}|\d+[ -]words?)\b)"
    r"|^[ \t]*(?:thinking\.{3}|thinking…|\.{0,3}done thinking\.?|thought (?:for|about) [^.\n]{1,40} seconds?)[ \t.]*$",
    re.IGNORECASE | re.MULTILINE,
)
_OFFER = re.compile(
    r"^\W*(?:(?:please )?let me know if (?:you|this|there)|would you like me to|feel free to (?:ask|adjust|modify|edit|let)"
    r"|i hope this (?:helps|essay|meets|works)|if you(?:'d| would)? (?:like|need|want)\b[^.\n]{0,80}\b(?:i can|let me know)"
    r"|(?:approximate |total )?word count\b|\(?(?:approximately |about |approx\.? )?\d[\d,]* words\)?\W*$)",
    re.IGNORECASE,
)
_TAIL = 400
"""Characters at the end, at most, in which the last lines are looked at."""


def residues(text: str) -> Iterator[str]:
    """What of a chat stands in a text that a model wrote, one remark of each kind."""
    plain = html.unescape(text) if "&" in text else text
    for told, pattern in (
        ("a special token", _TOKEN),
        ("a tag of thoughts or turns", _TAG),
        ("a channel's name", _CHANNEL),
        ("a turn of a chat", _TURN),
        ("a thought about the task", _THOUGHT),
        ("words before the text", _PREAMBLE),
    ):
        found = pattern.search(plain)
        if found is not None:
            yield f"{told}: {_shorten_text(found[0])}"
    asked = _ASKED.search(plain)
    if asked is not None and _ANSWERED.search(plain, asked.end()) is not None:
        yield f"turns of a chat: {asked[0]}"
    last = [line for line in plain[-_TAIL:].splitlines() if line.strip()][-1:]
    if last and (found := _OFFER.match(last[0])) is not None:
        yield f"words after the text: {_shorten_text(found[0])}"


def tokens(text: str) -> int:
    """How many special tokens of models stand in a text."""
    return len(_TOKEN.findall(text)) if any(mark in text for mark in "<[◁⟨") else 0


def _shorten_text(found: str) -> str:
    folded = " ".join(found.split())
    return folded if len(folded) <= 60 else f"{folded[:59]}…"
