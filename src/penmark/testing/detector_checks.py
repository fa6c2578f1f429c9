"""A detector plugin: does it say the same about the same text, whoever asks and whenever, and can its card read that?

*Reads* the plugin's answers about practice texts, and its card. *Writes* nothing. *Never* asks whether a verdict is right.
"""

from __future__ import annotations

import base64
import importlib.resources
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from penmark import cards
from penmark.cards import judge, requests
from penmark.errors import Fault, PenmarkError
from penmark.journal import evidence_log
from penmark.records import Card
from penmark.testing import fresh_interpreter
from penmark.testing.fresh_interpreter import IMPORT, PATIENCE, Nonconforming, Ran

UNUSUAL = (
    "\ufeffOne caf\u00e9, one cafe\u0301.\r\n\r\n\u201cNo\u201d \u2014 she wrote: \u05d0\u05d1 \U0001f58b\ufe0f\u200d\t"
    "<b>&amp;</b> {text} %s \\n"
)
_ELSEWHERE = (
    "Serve it on this machine for this test (http://127.0.0.1:PORT/…), or ask it about the practice texts: "
    "`penmark scan --pilot --budget NAME=AMOUNT`."
)
Texts = list[tuple[str, str]]


def check_detector(
    name: str,
    *,
    card: Card | Path | str | None = None,
    options: Mapping[str, str] | None = None,
    texts: Iterable[str] = (),
    variants: Mapping[str, tuple[str, str]] | None = None,
    local: bool = True,
    import_seconds: float = IMPORT,
    patience: float = PATIENCE,
) -> None:
    """Check the installed detector plugin ``name``, or the server on this machine that the card ``name`` asks over HTTP.

    ``card``: the card that reads its answers, or its file; else ``cards/<name>.yaml`` here, or the one that ships.
    ``options``: added to those of the card. ``texts``: further texts to ask about. ``variants``: for an option two values
    that must not give the same answers. ``local``: it runs on this machine and asks nobody.
    Raises Nonconforming with everything that is wrong.
    """
    place = f"detector {name}"
    faults: list[Fault] = []
    found = _find_card(name, card, place, faults)
    request = found.ask.request if found is not None else None
    if found is not None and request is not None:
        if requests.find_local_address(request) is None:
            raise Nonconforming([*faults, Fault(place, f"asks {request.send.url}, which may cost money", _ELSEWHERE)])
        local = False
    named = _make_texts(texts)
    spec = {
        "name": name,
        "card": found.model_dump_json(by_alias=True) if found is not None and request is not None else None,
        "options": {**(found.ask.options if found is not None else {}), **(options or {})},
        "texts": [text for _, text in named],
        "variants": {key: list(values) for key, values in (variants or {}).items()},
    }
    runs = [
        fresh_interpreter.run_probe("detector", spec, place=place, local=local, patience=patience, seed=seed)
        for seed in (1, 2)
    ]
    faults += dict.fromkeys(fault for ran in runs for fault in ran.faults)
    told = runs[0].told
    faults += check_made_well(place, told, import_seconds)
    if "first" in told:
        faults += _check_constant(place, named, runs)
        faults += _check_answers(place, named, told, found)
        faults += _check_options(place, told)
    if faults:
        raise Nonconforming(faults)


def check_made_well(place: str, told: Mapping[str, Any], import_seconds: float) -> list[Fault]:
    """What is wrong with how a plugin is loaded and made, whatever its kind."""
    if "not_loaded" in told:
        return [Fault(place, str(told["not_loaded"]))]
    found = []
    if told.get("import_seconds", 0.0) > import_seconds:
        fact = f"its import takes {told['import_seconds']:.1f} seconds of processor time, more than {import_seconds:g}"
        found.append(Fault(place, fact, "Import what is heavy in __init__, or where it is first needed."))
    if (made := told.get("made", "made")) != "made":
        found.append(Fault(place, f"cannot be made with these options: {made}", "Give the options that it needs."))
    unknown = told.get("unknown", "refused")
    if unknown == "made":
        remedy = (
            "penmark.plugins.check_options(options, …) refuses it: it would be promised, sealed, and have no effect."
        )
        found.append(Fault(place, "accepts an option that it does not know", remedy))
    elif not unknown.startswith("refused"):
        remedy = "penmark.plugins.check_options(options, …) raises the UsageError that says what it takes."
        found.append(Fault(place, f"breaks on an option that it does not know: {unknown}", remedy))
    return found


def _find_card(name: str, given: Card | Path | str | None, place: str, faults: list[Fault]) -> Card | None:
    if isinstance(given, Card):
        return given
    try:
        path = cards.find_card(name, Path("cards")) if given is None else Path(given)
        found = cards.load_card(path)
    except PenmarkError as error:
        faults += [fault._replace(place=fault.place or place) for fault in error.faults]
        return None
    if found.ask.plugin != name and not (found.ask.by == "http" and found.name == name):
        asks = f"plugin {found.ask.plugin}" if found.ask.plugin is not None else found.ask.by
        faults.append(
            Fault(
                str(path),
                f"is asked by {asks}, not by the plugin {name}",
                f"Write ask: {{by: plugin, plugin: {name}}}.",
            )
        )
    return found


def _make_texts(further: Iterable[str]) -> Texts:
    """The practice texts, three odd ones, and those of the caller, each with a name."""
    folder = importlib.resources.files("penmark") / "shipped" / "practice"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".txt")), key=lambda f: f.name)
    practice = [(f.name.removesuffix(".txt"), f.read_text(encoding="utf-8")) for f in files]
    whole = "\n\n".join(text for _, text in practice)
    odd = [("one word", "Yes"), ("unusual characters", UNUSUAL), ("long", "\n\n".join([whole] * 3))]
    return [*practice, *odd, *((f"your text {n}", text) for n, text in enumerate(further, 1))]


# --- the same every time -------------------------------------------------------------------------------------------

_REPEATS = (
    ("again", "says something else when it is asked again", "Nothing may hang on chance, the clock, or a call before."),
    ("backwards", "says something else when other texts come before", "Keep nothing of one text for the next."),
    (
        "anew",
        "says something else when it is made anew",
        "Nothing may hang on chance or the clock; a seed is an option.",
    ),
)


def _check_constant(place: str, named: Texts, runs: list[Ran]) -> list[Fault]:
    told = runs[0].told
    found = []
    for key, fact, remedy in _REPEATS:
        if (names := _describe_difference(named, told["first"], told[key])) != "":
            found.append(Fault(place, f"{fact}: about {names}", remedy))
            break  # what differs each time differs in every order
    other = runs[1].told.get("first", [])
    if not found and (names := _describe_difference(named, told["first"], other)) != "":
        remedy = "Sort what comes out of sets and dicts; hash() of a string differs in each process."
        found.append(Fault(place, f"says something else in another process: about {names}", remedy))
    for heard in told["together"] if not found else ():
        if (names := _describe_difference(named, told["first"], heard)) != "":
            remedy = "Keep what belongs to one call in local variables, or guard it with a lock."
            return [Fault(place, f"says something else when two threads ask at once: about {names}", remedy)]
    return found


def _describe_difference(named: Texts, one: list[Any], other: list[Any]) -> str:
    names = [name for (name, _), a, b in zip_longest(named, one, other, fillvalue=("", "")) if a != b]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


# --- one answer ----------------------------------------------------------------------------------------------------


def _check_answers(place: str, named: Texts, told: Mapping[str, Any], card: Card | None) -> list[Fault]:
    found: list[Fault] = []
    if not told["version"] and (card is None or card.ask.by != "http"):  # over HTTP the answers tell it, or nobody
        remedy = "Set `version` to a text that changes with everything that changes an answer."
        found.append(Fault(place, "has no version", remedy))
    shown: set[str] = set()
    answered = 0
    for (name, text), said in zip(named, told["first"], strict=True):
        where = f"{place}, text {name!r}"
        if said["kind"] == "answer":
            answered += 1
            found += _check_one(where, text, base64.b64decode(said["body"]), card, shown)
        else:
            found += _no_answer(where, said)
    if answered == 0:
        remedy = "Look at the reasons above; a text of a hundred words should get an answer. Give texts=[…] that do."
        found.append(Fault(place, "answers about none of the texts", remedy))
    elif card is not None:
        for field, pointer in (("displayed", card.answer.displayed), ("score", card.answer.score), ("label", card.answer.label),
                               ("version", card.answer.version), ("text", card.answer.text)):  # fmt: skip
            if pointer is not None and field not in shown:
                remedy = f"Write into the card where the {field} stands in the answer, or leave the pointer out."
                found.append(
                    Fault(place, f"the card's pointer to the {field}, {pointer}, finds nothing in any answer", remedy)
                )
    return found


def _no_answer(where: str, said: Mapping[str, Any]) -> list[Fault]:
    if said["kind"] == "declined":
        if said["words"].strip() == "":
            return [
                Fault(where, "declines without a reason", 'Declined("fewer than 50 words"): the reason is printed.')
            ]
        return []
    if said["kind"] == "service":
        remedy = "A ServiceError is for what may work next time; Declined(reason) is for a text that it does not judge."
        return [Fault(where, f"raises a ServiceError: {said['words']}", remedy)]
    if said["kind"] == "wrong":
        return [Fault(where, str(said["words"]), "Return penmark.plugins.Answer(bytes) or Declined(reason).")]
    return [Fault(where, f"raises {said['words']}", "Return Declined(reason) for a text that it does not judge.")]


def _check_one(where: str, text: str, body: bytes, card: Card | None, shown: set[str]) -> list[Fault]:
    """What is wrong with one answer, as whoever checks a bundle reads it; what the card found in it goes to ``shown``."""
    if len(body) > evidence_log.MAX_BODY:
        return [Fault(where, f"answers with {len(body)} bytes; at most {evidence_log.MAX_BODY} are kept")]
    if card is None:
        try:
            cards.look_up_pointers(body, "")
        except PenmarkError as error:
            return [
                fault._replace(place=where, remedy="Answer with one JSON value in UTF-8.") for fault in error.faults
            ]
        return []
    judged = judge.judge_answer(card, body, text)
    shown |= {field for field, value in judged.found._asdict().items() if value is not None}
    if judged.state != "answered":
        remedy = (
            "Answer with one JSON value in UTF-8, in which the card's pointers find something. "
            if judged.found == judge.NOTHING
            else ""
        )
        return [Fault(where, str(judged.reason), f"{remedy}Return Declined(reason) where there is no result.")]
    called = cards.call_answer(card, card.boundary, judged.found.score, judged.found.label)
    if called.reason is None:
        return []
    remedy = "Correct scale, verdicts or pointers of the card, or what the plugin answers: such an answer has no call."
    return [Fault(where, called.reason, remedy)]


def _check_options(place: str, told: Mapping[str, Any]) -> list[Fault]:
    return [
        Fault(place, f"ignores the option {name}: two values give the same answers", "Use it, or refuse it.")
        for name, (one, other) in told["variants"].items()
        if one == other
    ]
