"""What `penmark collect` does for an arm that models write. Not a verb: `collect` composes it.

*Reads* and *writes* through ``generating`` and ``collecting``. *Never* asks for a text that costs without a budget.
"""

from __future__ import annotations

import json
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from pydantic import ValidationError

from penmark.corpus import grades
from penmark.errors import ServiceError, UsageError, count_noun
from penmark.plugins import Source
from penmark.records import Protocol, TokenPrice
from penmark.stages.collect import Collected, collect_arm
from penmark.stages.generate import cost_plan, draft_topics, generated_drafts, open_run
from penmark.stages.generate.accepted_texts import AcceptedTexts, record_refusal
from penmark.stages.generate.model_worker import ModelWorker
from penmark.stages.generate.open_run import ArmContext
from penmark.stages.generate.run import Run
from penmark.study import Study

Topics = Annotated[bool, typer.Option("--topics", help="Give each human document its topic line (--path: a CSV file).")]
Planned = Annotated[bool, typer.Option("--plan", help="Say what there is to ask models for, and ask for nothing.")]
Models = Annotated[list[str] | None, typer.Option("--model", metavar="MODEL", help="Ask only this model.")]
Prices = Annotated[
    list[str] | None,
    typer.Option("--price", metavar="MODEL=READ/WRITTEN", help="What a million tokens cost (USD, or end in :EUR)."),
]
Budget = Annotated[str | None, typer.Option(metavar="AMOUNT", help="What the arm may cost, all runs together.")]
Refused = Annotated[
    list[str] | None, typer.Option("--refused", metavar="ID", help="A person found this text to be a refusal.")
]


By = Annotated[str | None, typer.Option(metavar="NAME", help="Who read the text.")]


class Options(NamedTuple):
    """What is said about generation."""

    topics: bool
    plan: bool
    models: list[str]
    prices: dict[str, TokenPrice]
    budget: Decimal | None
    refused: list[str]
    by: str

    @property
    def any(self) -> bool:
        """Whether anything is said."""
        return self != _NOTHING


_NOTHING = Options(False, False, [], {}, None, [], "")


def parse_generation_options(
    topics: bool,
    plan: bool,
    models: list[str] | None,
    prices: list[str] | None,
    budget: str | None,
    refused: list[str] | None,
    by: str | None,
) -> Options:
    """The options as they were typed. Raises UsageError for an amount or a price that is none."""
    try:
        amount = None if budget is None else Decimal(budget)
    except InvalidOperation:
        amount = Decimal(-1)
    if amount is not None and not (amount.is_finite() and amount >= 0):
        raise UsageError(f"{budget!r} is no amount of money", remedy="Write --budget 20.")
    given = dict(_parse_price(text) for text in prices or [])
    if refused and not (by or "").strip():
        raise UsageError("a decision needs the name of whoever made it", remedy="Add --by NAME.")
    return Options(topics, plan, models or [], given, amount, refused or [], (by or "").strip())


def _parse_price(text: str) -> tuple[str, TokenPrice]:
    model, _, amounts = text.rpartition("=")
    plain, _, currency = amounts.partition(":")
    read, _, written = plain.partition("/")
    try:
        return model, TokenPrice(read=read, written=written, currency=currency or "USD")
    except ValidationError:
        raise UsageError(f"{text!r} is no price", remedy="Write --price MODEL=2.50/10: of a million tokens.") from None


def is_generated_arm(promised: Protocol, name: str) -> bool:
    """Whether models write the arm, by the protocol, and no source is promised for it."""
    return any(one.name == name and one.generation is not None and one.source is None for one in promised.arms)


def join_drafts(place: Study, promised: Protocol, name: str, source: Source) -> Source:
    """The source as it is; where models wrote the drafts of an arm of edits, with these drafts."""
    arm = next((one for one in promised.arms if one.name == name), None)
    if arm is None or not generated_drafts.holds_edits(arm):
        return source
    return generated_drafts.Edits(source, open_run.open_arm_context(place, promised, name))


def fill_generated_arm(
    place: Study, promised: Protocol, name: str, given: Options, path: Path | None, *, as_json: bool
) -> tuple[Collected | None, int]:
    """Do what is asked for an arm that models write: what was collected, and the exit code."""
    if given.topics:
        return None, _settle_topics(place, promised, name, given, path, as_json)
    base = open_run.open_arm_context(place, promised, name)
    if given.plan:
        return None, _print_plan(base, given, as_json)
    for document in given.refused:
        record_refusal(base, document, given.by)
    if given.refused:
        _collect_made_texts(place, promised, name, base)
    opened = open_run.begin_generation(
        place, promised, name, models=given.models, prices=given.prices, budget=given.budget
    )
    with opened as run:
        run.run(_Progress(run, as_json))
        code = _print_generated(run, name, as_json)
    return _collect_made_texts(place, promised, name, base), code


def _collect_made_texts(place: Study, promised: Protocol, name: str, base: ArmContext) -> Collected | None:
    """Take what was made into the arm. After a person's decision a text may be gone: then the arm is filled anew."""
    made = AcceptedTexts(base)
    made.write_rejected()
    if generated_drafts.holds_edits(base.arm):
        count = generated_drafts.write_drafts(base, made)
        folder = (base.files.root / "drafts").relative_to(place.root).as_posix()
        print(f"{name}: {count_noun(count, 'draft')} to edit in {folder}", file=sys.stderr)
        return None
    if len(made) == 0:
        return None
    if made.decided:
        made.alone(place)
    return collect_arm(place, promised, name, made, lambda number: None, anew=made.decided, by=grades.GENERATION)


def _settle_topics(
    place: Study, promised: Protocol, name: str, given: Options, path: Path | None, as_json: bool
) -> int:
    def tell(done: int) -> None:
        print(f"{name}: {done} topic lines drafted", file=sys.stderr, flush=True)

    settled = draft_topics.settle_topics(
        place, promised, name, path, prices=given.prices, budget=given.budget, tell=tell
    )
    if as_json:
        print(json.dumps({"event": "topics", "arm": name, **settled._asdict()}, ensure_ascii=False), flush=True)
    else:
        whose = {"person": "written by people", "record": "from the records", "model": "drafted by the promised model"}
        told = ", ".join(f"{count} {whose[by]}" for by, count in settled.by.items())
        print(f"{name}: {settled.documents} human documents; topic lines: {told or 'none'}")
        for document in settled.missing:
            print(
                f"  no topic line: {document}"
                + (f" ({settled.trouble[document]})" if document in settled.trouble else "")
            )
        if settled.ended is not None:
            print(f"  ended: {settled.ended}")
    if settled.missing and not as_json:
        print(f"Write them into a CSV file (id, topic): penmark collect {name} --topics --path FILE", file=sys.stderr)
    return 1 if settled.missing else 0


def _print_plan(base: ArmContext, given: Options, as_json: bool) -> int:
    rows = cost_plan.plan_costs(base, given.prices)
    for row in rows:
        if as_json:
            cost = None if row.cost is None else f"{row.cost:f}"
            print(json.dumps({"event": "planned", **row._asdict(), "cost": cost}, ensure_ascii=False))
            continue
        cost = "price not known" if row.cost is None else f"about {row.cost:.2f} {row.currency}"
        cost = "costs nothing: it runs on this machine" if row.local else cost
        tokens = f"about {row.tokens_read:,} tokens to read and {row.tokens_written:,} to write"
        print(f"{row.provider} {row.model}: {row.texts} texts of {row.words:,} words in all ({tokens}; {cost})")
    if not as_json:
        print("Texts in place of rejected ones, and what a model thinks before it writes, come on top of that.")
    return 0


class _Progress:
    """Tells on stderr how far each model is: at each tenth, and at its end."""

    def __init__(self, run: Run, as_json: bool) -> None:
        self._run, self._as_json = run, as_json
        self._told: dict[int, int] = {}

    def __call__(self, lane: ModelWorker) -> None:
        counts = self._run.counts(lane)
        done, whole = counts["texts"] - counts["to ask"], max(1, counts["texts"])
        step = done * 10 // whole
        if step <= self._told.get(id(lane), -1) and (lane.ended is None or done == whole):
            return
        self._told[id(lane)] = step
        name = f"{lane.model.provider} {lane.model.model}"
        if self._as_json:
            print(json.dumps({"event": "progress", "model": name, "done": done, "texts": counts["texts"]}), flush=True)
        else:
            print(f"{name}: {done} of {counts['texts']}", file=sys.stderr, flush=True)


def _print_generated(run: Run, name: str, as_json: bool) -> int:
    """Say how it ended; the exit code."""
    counts, rejected = run.counts(), run.rejected()
    spent, currency = run.spent
    if as_json:
        value: dict[str, Any] = {"event": "generated", "arm": name, **counts, "rejected": rejected}
        value |= {"spent": f"{spent:f}", "currency": currency}
        value["ended"] = {f"{lane.model.provider} {lane.model.model}": lane.ended for lane in run.lanes}
        print(json.dumps(value, ensure_ascii=False), flush=True)
    else:
        print(f"{name}: {counts['accepted']} of {counts['texts']} texts")
        for lane in run.lanes:
            if lane.ended != "done":
                print(
                    f"  {lane.model.provider} {lane.model.model} ended: {lane.error or lane.ended or 'left in doubt'}"
                )
        if rejected:
            told = ", ".join(f"{count} {gate}" for gate, count in rejected.items())
            print(f"  not taken, kept in rejected.jsonl: {told}")
        if counts["given up"]:
            print(
                f"  {counts['given up']} spots stay empty by the protocol's rule of replacement; the arm is not whole"
            )
        if currency is not None:
            print(f"  cost so far: about {spent:.4f} {currency}")
    if counts["to ask"]:
        print("Run the same command again to go on.", file=sys.stderr)
    if any(isinstance(lane.error, ServiceError) for lane in run.lanes):
        return 3
    return 1 if counts["to ask"] or counts["given up"] else 0
