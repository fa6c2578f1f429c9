"""What the promise says about how an arm is generated, and where its files are.

*Reads* and *writes* nothing. *Never* leaves a rule open: what the protocol does not say has one meaning (docs/corpus.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penmark.corpus.generation_departures import filled, sent_to
from penmark.errors import UsageError, suggest_name
from penmark.records import Arm, Gate, Generation, Model, Protocol
from penmark.study import Study

__all__ = [
    "Files",
    "Rules",
    "filled",
    "find_generated_arm",
    "locate_generation_files",
    "make_generator_options",
    "make_rules",
    "name_generator",
]


@dataclass(frozen=True)
class Rules:
    """``turns``: texts that are asked for at one spot, at most, each about another topic. ``sends``: how often a request
    that failed in transport is sent, at most, in one run. ``ask_again``: whether a request whose answer was lost is."""

    gates: tuple[Gate, ...]
    turns: int
    sends: int
    ask_again: bool


@dataclass(frozen=True)
class Files:
    """The files of an arm's generation for one edition, and its lock."""

    root: Path
    lock: Path

    @property
    def topics(self) -> Path:
        return self.root / "topics.jsonl"

    @property
    def rejected(self) -> Path:
        return self.root / "rejected.jsonl"


def locate_generation_files(place: Study, edition: str, arm: str) -> Files:
    """Where the files of an arm's generation are."""
    return Files(place.arm(arm) / edition, place.private / f"generating-{arm}.lock")


def make_rules(promised: Protocol, generation: Generation, topics: int) -> Rules:
    """The rules in force, where there are so many topics."""
    return Rules(
        gates=generation.gates_in_force,
        turns=min(generation.texts_at_a_spot, topics),
        sends=promised.attempts,
        ask_again=promised.ask_again_in_doubt,
    )


def find_generated_arm(promised: Protocol, name: str) -> tuple[Arm, Generation]:
    """The arm and how it is generated. Raises UsageError where the promise does not say."""
    known = [one.name for one in promised.arms]
    if name not in known:
        fact = f"{promised.edition} has no arm {name}{suggest_name(name, known)}"
        raise UsageError(fact, remedy=f"Its arms: {', '.join(known)}.")
    found = promised.arm(name)
    if found.generation is None or not found.generation.models or not found.generation.styles:
        raise UsageError(
            f"the protocol does not say by which models and prompts the arm {name} is generated",
            remedy=f"Collect it from a source: penmark collect {name} --from SOURCE --path PATH.",
        )
    return found, found.generation


def make_generator_options(model: Model, temperature: str) -> dict[str, str]:
    """The options of the generator plugin for a model. ``temperature``: as the protocol has it; "not sent" sends none."""
    made = {**model.options, "model": model.model}
    if model.key is not None:
        made["key"] = model.key.env
    return made | {f"settings.{name}": value for name, value in sent_to(model, temperature).items()}


def name_generator(model: Model) -> str:
    """The name of the generator that asks for a model."""
    return model.plugin if model.plugin is not None else model.provider.strip().lower().replace(" ", "-")
