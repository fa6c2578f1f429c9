"""A generator plugin: does it prepare the same request for the same prompt, send nothing by doing so, and tell all?

*Reads* the requests that it prepares. *Writes* nothing. *Never* asks a model: ``write`` costs money, and is not called.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from penmark.errors import Fault
from penmark.testing import fresh_interpreter
from penmark.testing.detector_checks import check_made_well
from penmark.testing.fresh_interpreter import IMPORT, PATIENCE, Nonconforming

PROMPTS = (
    "Write about the ferry, in about 300 words.",
    'Schreib "frei" — \u201cwie du willst\u201d,\n\tüber <b>{topic}</b>.',
)
_SETTING = "settings."


def check_generator(
    name: str,
    *,
    options: Mapping[str, str],
    prompts: Iterable[str] = PROMPTS,
    import_seconds: float = IMPORT,
    patience: float = PATIENCE,
) -> None:
    """Check the installed generator plugin ``name``, made with ``options`` (``model``, ``key``, ``settings.NAME``, …).

    The variable that ``key`` names must be set, to anything. Raises Nonconforming with everything that is wrong.
    """
    place = f"generator {name}"
    asked = list(prompts)
    spec = {"name": name, "options": dict(options), "prompts": asked}
    ran = fresh_interpreter.run_probe("generator", spec, place=place, local=True, patience=patience, seed=1)
    other = fresh_interpreter.run_probe("generator", spec, place=place, local=True, patience=patience, seed=2)
    faults = [*dict.fromkeys([*ran.faults, *other.faults]), *check_made_well(place, ran.told, import_seconds)]
    if "first" in ran.told:
        if not isinstance(ran.told["local"], bool):
            faults.append(Fault(place, "does not say whether it is local", "Set `local` to True or False."))
        if ran.told["first"] != ran.told["again"] or ran.told["first"] != other.told.get("first"):
            remedy = "Nothing may hang on chance, the clock or a call before: the request is hashed and kept."
            faults.append(Fault(place, "prepares another request for the same prompt", remedy))
        for prompt, made in zip(asked, ran.told["first"], strict=True):
            faults += _check_prepared(f"{place}, prompt {prompt[:30]!r}", prompt, made, options)
    if faults:
        raise Nonconforming(faults)


def _check_prepared(where: str, prompt: str, made: Mapping[str, Any], options: Mapping[str, str]) -> Iterator[Fault]:
    if made["wrong"] is not None:
        yield Fault(where, made["wrong"], "See penmark.plugins.Generator.")
        return
    body = base64.b64decode(made["body"])
    if not any(prompt in words for words in _list_strings(body)):
        yield Fault(where, "the prompt does not stand in the body, whole", "Send it as it was promised.")
    promised = {key.removeprefix(_SETTING) for key in options if key.startswith(_SETTING)}
    if len(promised) > len(made["settings"]) + len(made["not_honoured"]):
        remedy = "A setting is sent, and stands in `settings`; or it is not, and stands in `not_honoured`."
        yield Fault(where, f"says nothing of some of the settings: {', '.join(sorted(promised))}", remedy)
    secret = os.environ.get(options.get("key", ""), "")
    sent = f"{made['url']} {made['headers']} {body.decode('utf-8', 'replace')} {made['settings']}"
    if secret != "" and secret in sent:
        yield Fault(
            where, "the key stands in the prepared request", "Keys are added when it leaves: this is kept and shown."
        )


def _list_strings(body: bytes) -> Iterator[str]:
    """Every text in a body of JSON; the body itself where it is none."""
    try:
        level = [json.loads(body)]
    except ValueError:
        yield body.decode("utf-8", "replace")
        return
    while level:
        part = level.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict | list):
            level += part.values() if isinstance(part, dict) else part
