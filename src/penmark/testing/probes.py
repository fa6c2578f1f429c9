"""What runs in the fresh interpreter: the plugin is loaded, made, and asked, and everything that it does is written down.

*Reads* a specification (JSON) and the plugin. *Writes* what it saw (JSON). *Never* judges: whoever started it does.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from penmark import plugins
from penmark.errors import FaultsError, PenmarkError, ServiceError, UsageError
from penmark.records import Card

UNKNOWN = "no-such-option"
_EVENTS = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.sendmsg",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
)


def main() -> None:
    """Run the probe that the file named first on the command line asks for; write to the file named second."""
    asked, answer = Path(sys.argv[1]), Path(sys.argv[2])
    spec = json.loads(asked.read_text(encoding="utf-8"))
    reached: list[str] = []
    sys.addaudithook(lambda event, given: _watch_event(event, given, reached) if event in _EVENTS else None)
    told = {"detector": detector, "source": source, "generator": generator}[spec["probe"]](spec)
    told["reached"] = sorted(set(reached))
    part = answer.with_suffix(".part")
    part.write_text(json.dumps(told), encoding="utf-8")
    part.rename(answer)


def _watch_event(event: str, given: tuple[Any, ...], reached: list[str]) -> None:
    """Note whom a socket is about to reach; those of the file system are between processes of this machine."""
    whom = [each for each in given if not hasattr(each, "fileno") and each is not None]
    if event.startswith("socket.get") or not (whom and isinstance(whom[0], str | bytes)):
        reached.append(f"{event.removeprefix('socket.')} {whom[0] if whom else ''}".strip())


def _load_timed(load: Callable[[str], Any], name: str, told: dict[str, Any]) -> Any:
    """The factory of a plugin; how long its import took stands in ``told``."""
    began = time.process_time()
    try:
        return load(name)
    except PenmarkError as error:
        told["not_loaded"] = str(error)
        return None
    finally:
        told["import_seconds"] = time.process_time() - began


def _make_outcome(make: Callable[[], Any]) -> tuple[Any, str]:
    """What ``make`` gives, and in words what it did: made, refused, or how it broke."""
    try:
        return make(), "made"
    except (UsageError, FaultsError) as error:
        return None, f"refused: {error}"
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def _make_result(factory: Any, options: dict[str, str], told: dict[str, Any]) -> Any:
    """The plugin made with its options; ``told`` says what it does with an option that nobody knows."""
    plugin, told["made"] = _make_outcome(lambda: factory(dict(options)))
    if plugin is not None:
        told["unknown"] = _make_outcome(lambda: factory({**options, UNKNOWN: "1"}))[1]
    return plugin


# --- detectors -----------------------------------------------------------------------------------------------------


def detector(spec: dict[str, Any]) -> dict[str, Any]:
    """Everything that a detector says about the texts: in order, again, backwards, made anew, by two threads at once."""
    told: dict[str, Any] = {}
    factory = _load_timed(
        plugins.load_detector if spec["card"] is None else partial(_list_asked, spec["card"]), spec["name"], told
    )
    plugin = None if factory is None else _make_result(factory, spec["options"], told)
    if plugin is None:
        return told
    texts: list[str] = spec["texts"]
    told["version"] = getattr(plugin, "version", None)
    if not isinstance(told["version"], str):
        told["version"] = None
    told["first"] = [_describe_answer(plugin, text) for text in texts]
    told["again"] = [_describe_answer(plugin, text) for text in texts]
    told["backwards"] = [_describe_answer(plugin, text) for text in reversed(texts)][::-1]
    told["anew"] = [_describe_answer(factory(dict(spec["options"])), text) for text in texts]
    told["together"] = _ask_together(plugin, texts)
    told["variants"] = {
        name: [
            [_describe_answer(factory({**spec["options"], name: value}), text) for text in texts] for value in values
        ]
        for name, values in spec["variants"].items()
    }
    return told


def _list_asked(card: str, name: str) -> Callable[[dict[str, str]], Any]:
    """What makes the detector that a card asks over HTTP; its options are the settings of the card."""
    return partial(plugins.load_engine("http"), Card.model_validate_json(card))


def _describe_answer(plugin: Any, text: str) -> dict[str, Any]:
    try:
        said = plugin.read(text)
    except ServiceError as error:
        return {"kind": "service", "words": str(error)}
    except BaseException as error:  # SystemExit too: a plugin ends no process
        return {"kind": "raised", "words": f"{type(error).__name__}: {error}"}
    if not isinstance(said, plugins.Answer | plugins.Declined):
        return {"kind": "wrong", "words": f"returns {type(said).__name__}"}
    if not isinstance(said.body, bytes) and not (said.body is None and isinstance(said, plugins.Declined)):
        return {"kind": "wrong", "words": f"returns a body of {type(said.body).__name__}"}
    body = None if said.body is None else base64.b64encode(said.body).decode()
    if isinstance(said, plugins.Declined):
        return {"kind": "declined", "body": body, "words": said.reason if isinstance(said.reason, str) else ""}
    return {"kind": "answer", "body": body}


def _ask_together(plugin: Any, texts: list[str]) -> list[list[dict[str, Any]]]:
    """What two threads hear who ask at once, one forwards and one backwards; both in the order of the texts."""
    heard: list[list[dict[str, Any]]] = [[], []]
    at_once = threading.Barrier(2)
    before = sys.getswitchinterval()

    def ask(number: int, mine: list[str]) -> None:
        for text in mine:
            at_once.wait()
            heard[number].append(_describe_answer(plugin, text))

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask, args=each) for each in ((0, texts), (1, texts[::-1]))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    return [heard[0], heard[1][::-1]]


# --- sources -------------------------------------------------------------------------------------------------------


def source(spec: dict[str, Any]) -> dict[str, Any]:
    """What a source yields for an arm, twice, and the faults that it raises at the end."""
    told: dict[str, Any] = {}
    factory = _load_timed(plugins.load_source, spec["name"], told)
    plugin = None if factory is None else _make_result(factory, spec["options"], told)
    if plugin is None:
        return told
    told["first"] = _check_gathered(plugin, spec["arm"])
    told["again"] = _check_gathered(factory(dict(spec["options"])), spec["arm"])
    if told["unknown"] == "made":  # an option may be a column or a constant: then the drafts, or a fault, tell of it
        with_it = _check_gathered(factory({**spec["options"], UNKNOWN: "1"}), spec["arm"])
        told["unknown"] = "made" if with_it == told["again"] else "refused: what it yields tells"
    return told


def _check_gathered(plugin: Any, arm: str) -> dict[str, Any]:
    drafts: list[dict[str, Any]] = []
    try:
        for draft in plugin.gather(arm):
            drafts.append(_collect_draft(draft))
    except PenmarkError as error:
        return {"drafts": drafts, "raised": "PenmarkError", "words": str(error)}
    except Exception as error:
        return {"drafts": drafts, "raised": type(error).__name__, "words": str(error)}
    return {"drafts": drafts, "raised": None, "words": ""}


def _collect_draft(draft: Any) -> dict[str, Any]:
    """A draft as JSON; ``odd``: what of it has another type than it should."""
    if not isinstance(draft, plugins.Draft):
        return {"odd": [f"is a {type(draft).__name__}, not a Draft"]}
    odd = [
        f"its {n} is a {type(v).__name__}"
        for n, v in (("id", draft.id), ("place", draft.place))
        if not isinstance(v, str)
    ]
    odd += [
        f"its {name} is a {type(value).__name__}, not bytes"
        for name, value in (("text", draft.text), ("draft", draft.draft))
        if not isinstance(value, bytes) and not (name == "draft" and value is None)
    ]
    for name, pairs in (("fields", draft.fields), ("provenance", draft.provenance), ("claims", draft.claims)):
        if not isinstance(pairs, dict) or not all(isinstance(k, str) and isinstance(v, str) for k, v in pairs.items()):
            odd.append(f"its {name} are not names and texts")
    if odd:
        return {"odd": odd}
    kept = {"odd": [], "id": draft.id, "place": draft.place, "fields": draft.fields, "provenance": draft.provenance}
    kept |= {"claims": draft.claims, "text": base64.b64encode(draft.text).decode()}
    return kept | {"draft": None if draft.draft is None else base64.b64encode(draft.draft).decode()}


# --- generators ----------------------------------------------------------------------------------------------------


def generator(spec: dict[str, Any]) -> dict[str, Any]:
    """The requests that a generator prepares. None is sent."""
    told: dict[str, Any] = {}
    factory = _load_timed(plugins.load_generator, spec["name"], told)
    plugin = None if factory is None else _make_result(factory, spec["options"], told)
    if plugin is None:
        return told
    told["local"] = getattr(plugin, "local", None)
    told["first"] = [_check_prepared(plugin, prompt) for prompt in spec["prompts"]]
    told["again"] = [_check_prepared(factory(dict(spec["options"])), prompt) for prompt in spec["prompts"]]
    return told


def _check_prepared(plugin: Any, prompt: str) -> dict[str, Any]:
    try:
        made = plugin.prepare(prompt)
    except Exception as error:
        return {"wrong": f"raises {type(error).__name__}: {error}"}
    if not isinstance(made, plugins.Prepared):
        return {"wrong": f"returns {type(made).__name__}, not Prepared"}
    if not isinstance(made.body, bytes):
        return {"wrong": f"has a body of {type(made.body).__name__}, not bytes"}
    body = base64.b64encode(made.body).decode()
    kept = {"wrong": None, "method": made.method, "url": made.url, "body": body, "settings": dict(made.settings)}
    return kept | {"headers": [list(each) for each in made.headers], "not_honoured": list(made.not_honoured)}
