"""From nodes to a strict record, with every fault of the values in one pass.

A scalar becomes a number or a truth value only where the record wants one and only in its exact spelling; else it stays
the string that was written. Unknown keys are faults, and are left out so that everything else is judged as well.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from penmark.errors import Fault, suggest_name
from penmark.records import patterns
from penmark.yaml_records.yaml_nodes import Loc, Node, find_inner_node

M = TypeVar("M", bound=BaseModel)
_CORRECT = "Correct it; docs/schemas says what each field takes."


class Remark(NamedTuple):
    """A fault in a record whose fields are each right: where in it, what, what to do."""

    loc: Loc
    fact: str
    remedy: str | None = None


Further = Mapping[type[BaseModel], Callable[[Any], Iterable[Remark]]]
"""What else to ask of the records of a type, wherever in the file they stand."""


class Sheet:
    """One file as nodes, and the faults found in it so far."""

    def __init__(self, place: str, root: Node, faults: list[Fault], further: Further) -> None:
        self.place, self.root, self.faults, self.further = place, root, faults, further

    def record(self, model: type[M]) -> M | None:
        """The record, or None where it has faults of its own."""
        if not isinstance(self.root.value, dict):
            self.add((), "is not a mapping", "Write lines of the form `key: value`.")
            return None
        values = self._mapping(self.root.value, model, ())
        try:
            return model.model_validate(values)
        except ValidationError as error:
            for each in error.errors(include_url=False):
                # A list whose items are all faulty counts as empty there; the items are told.
                if each["type"] != "too_short" or each["input"] in ((), {}):
                    inside = getattr(each.get("ctx", {}).get("error"), "loc", ())
                    self.add((*each["loc"], *inside), *_describe_error(dict(each)))
        return None

    def add(self, loc: Loc, fact: str, remedy: str | None = None) -> None:
        """Note a fault at the line of ``loc``, or of the nearest thing around it that is written."""
        node, names = self.root, list[str]()
        for part in loc:
            found = find_inner_node(node, part)
            names.append(_name_part(found, part))
            node = found if found is not None else node
        label = ".".join(names)
        told = f"{label}: {fact}" if label else fact
        self.faults.append(Fault(f"{self.place}:{node.line}", told, remedy if remedy is not None else _CORRECT))

    def _parse_value(self, node: Node, kind: Any, loc: Loc) -> Any:
        kind, pattern, optional = _unwrap_annotation(kind)
        match node.value:
            case dict() as held:
                return self._mapping(held, kind, loc)
            case list() as items:
                each = get_args(kind)[0] if get_origin(kind) is tuple else None
                return tuple(self._parse_value(item, each, (*loc, n)) for n, item in enumerate(items))
            case str() as word:
                return self._convert_word(word, kind, pattern, loc)
        # A key with nothing after it: an empty list or mapping, where the record wants one.
        return None if optional or get_origin(kind) not in (tuple, dict) else get_origin(kind)()

    def _convert_word(self, word: str, kind: Any, pattern: str | None, loc: Loc) -> Any:
        if kind is int and re.fullmatch(r"-?(0|[1-9][0-9]{0,15})", word):
            return int(word)
        if kind is bool and word in ("true", "false"):
            return word == "true"
        if get_origin(kind) is Literal and re.search(patterns.DECIMALS, word):
            # 0.9 is the number 0.90; what is written down is the one form.
            return next((each for each in get_args(kind) if _same_number(each, word)), word)
        if pattern == patterns.DATE and re.search(pattern, word) and not _on_calendar(word):
            self.add(loc, f"{word!r} is not on the calendar")
        if any("\ud800" <= c <= "\udfff" for c in word):
            self.add(loc, "holds half of a surrogate pair", "Write the character itself.")
            return ""
        return word

    def _mapping(self, held: dict[str, Node], kind: Any, loc: Loc) -> dict[str, Any]:
        model = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
        fields = (
            {f.alias or n: f.rebuild_annotation() for n, f in model.model_fields.items()} if model is not None else {}
        )
        other = get_args(kind)[1] if get_origin(kind) is dict else None
        out = {}
        for key, node in held.items():
            if not key:
                continue  # a fault already
            if model is not None and key not in fields:
                keys = f"The keys here: {', '.join(fields)}."
                self.add((*loc, key), f"unknown key{suggest_name(key, fields)}", keys)
            else:
                out[key] = self._parse_value(node, fields.get(key, other), (*loc, key))
        if model is not None and model in self.further:
            self._ask(model, out, loc)
        return out

    def _ask(self, model: type[BaseModel], values: dict[str, Any], loc: Loc) -> None:
        """Judge a part by itself, so that a fault elsewhere does not hide what is wrong here."""
        try:
            part = model.model_validate(values)
        except ValidationError:
            return  # told with the whole
        for remark in self.further[model](part):
            self.add((*loc, *remark.loc), remark.fact, remark.remedy)


def _same_number(known: object, word: str) -> bool:
    return isinstance(known, str) and bool(re.search(patterns.DECIMALS, known)) and Decimal(known) == Decimal(word)


def _unwrap_annotation(kind: Any) -> tuple[Any, str | None, bool]:
    """An annotation without None and Annotated, the pattern that it carried, and whether None is allowed."""
    pattern, optional = None, False
    while True:
        origin = get_origin(kind)
        if origin is Annotated:
            kind, *notes = get_args(kind)
            pattern = next((p for note in notes if (p := getattr(note, "pattern", None)) is not None), pattern)
        elif origin in (Union, types.UnionType):
            optional = type(None) in get_args(kind)
            kind = next(each for each in get_args(kind) if each is not type(None))
        else:
            return kind, pattern, optional


def _name_part(node: Node | None, part: str | int) -> str:
    """What a person would call it: an item of a list by its name where it has one, else by its number from 0."""
    if isinstance(part, str):
        return part
    named = find_inner_node(node, "name")
    return named.value if named is not None and isinstance(named.value, str) else str(part)


def _on_calendar(word: str) -> bool:
    try:
        date.fromisoformat(word)
    except ValueError:
        return False
    return True


def _describe_error(error: dict[str, Any]) -> tuple[str, str | None]:
    """A fault of pydantic's in words that one can read aloud: fact and remedy."""
    given, context = error.get("input"), error.get("ctx", {})
    shown = f"{given!r}" if isinstance(given, str | int) else "a list" if isinstance(given, tuple) else "a mapping"
    match error["type"]:
        case "missing":
            return "is missing", "Write it; docs/schemas says what it holds."
        case "value_error":
            return str(context.get("error", error["msg"])), None
        case _ if given is None:
            return "is empty", "Write a value, or remove the key where it has a default."
        case "literal_error":
            allowed = re.findall(r"'([^']*)'", str(context.get("expected", "")))
            near = suggest_name(given, allowed) if isinstance(given, str) and not re.search("[0-9]", given) else ""
            return f"{shown} is not possible here{near}", f"Possible: {', '.join(allowed)}."
        case "string_pattern_mismatch":
            return f"{shown} {patterns.explain_pattern(error)}", None
        case "int_type":
            return f"{shown} is not a whole number", "Write digits alone, like 150."
        case "bool_type":
            return f"{shown} is neither true nor false", "Write true or false."
        case "string_type":
            return f"is {shown} where one text belongs", "Write one value."
        case "tuple_type":
            return f"is {shown} where a list belongs", "Write one item a line, each after a hyphen."
        case "dict_type" | "model_type":
            return f"is {shown} where a mapping belongs", "Write lines of the form `key: value` under it."
        case "too_short":
            return "has no item", "Write at least one."
        case "less_than_equal":
            return f"{shown} is more than {context.get('le')}", None
        case "greater_than_equal":
            return f"{shown} is less than {context.get('ge')}", None
    return f"{shown}: {error['msg'][:1].lower()}{error['msg'][1:]}", None
