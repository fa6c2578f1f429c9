"""Opening a run: what must stand before the first request, the grid, the exchanges so far, and a lane for each model.

*Reads* the sealed protocol, the seed, the human arms, topics and exchanges. *Writes* the start line. *Never* opens a run
before the promise, after the freeze, or on another grid than the one that was begun.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from penmark import SOFTWARE, plugins, study
from penmark.cards import judge
from penmark.corpus import sealed_edition
from penmark.errors import PenmarkError, UsageError, suggest_name
from penmark.format import canonical_json
from penmark.plugins import Generator
from penmark.records import Arm, Generation, Model, Protocol, TokenPrice
from penmark.stages.generate import design, exchange_log, generation_rules, topic_lenders, topic_lines
from penmark.stages.generate.arm_progress import ArmProgress
from penmark.stages.generate.budget import Key, TokenBudget, key_model
from penmark.stages.generate.design import Grid
from penmark.stages.generate.exchange_log import Exchanges
from penmark.stages.generate.generation_rules import Files, Rules
from penmark.stages.generate.model_worker import Desk, ModelWorker
from penmark.stages.generate.run import Run
from penmark.study import Study

STEM = "exchanges"


class ArmContext(NamedTuple):
    """What a run stands on. ``topics_sha256``: of the topic lines."""

    arm: Arm
    generation: Generation
    rules: Rules
    files: Files
    grid: Grid
    topics_sha256: str
    promise_sha256: str


def open_arm_context(place: Study, promised: Protocol, name: str) -> ArmContext:
    """The ground of an arm: its grid, drawn. Writes the topic lines where all documents' own records give them.

    Raises UsageError before the promise, and where the human arms or the topic lines are not whole.
    """
    arm, generation = generation_rules.find_generated_arm(promised, name)
    promise = digest_promise_seal(place, promised)
    seed = sealed_edition.read_seed(place, promised)
    lenders = topic_lenders.list_lenders(place, promised, arm, generation)
    files = generation_rules.locate_generation_files(place, promised.edition, name)
    known = topic_lines.read_topics(files) if files.topics.exists() else topic_lines.list_recorded_topics(lenders)
    if not files.topics.exists() and not topic_lines.list_missing_topics(known, lenders):
        topic_lines.write_topics(files, known)
    lines = topic_lines.list_topic_lines(known, lenders, name)
    drawn = design.draw_design(seed, arm, generation, lenders, lines)
    taken = {spot.id for spot in drawn.spots} & topic_lenders.list_other_ids(place, promised, name)
    if taken:
        raise UsageError(
            f"documents of another arm are called as those of {name} will be: {', '.join(sorted(taken)[:5])}",
            remedy="Ids are unique over all arms: collect those under other ids.",
        )
    digest = canonical_json.sha256(canonical_json.encode_json([[each, line] for each, line in sorted(lines.items())]))
    return ArmContext(
        arm, generation, generation_rules.make_rules(promised, generation, len(lenders)), files, drawn, digest, promise
    )


def digest_promise_seal(place: Study, promised: Protocol) -> str:
    """SHA-256 of the promise's seal. Raises UsageError where there is none, or the corpus is frozen."""
    edition = place.edition(promised.edition)
    if not edition.seal("promise").exists() or edition.seal("corpus").exists():
        fact = "is frozen" if edition.seal("corpus").exists() else "is not promised yet"
        raise UsageError(f"{edition.tag} {fact}: texts are made between promise and freeze", place=str(edition.seals))
    return canonical_json.sha256(study.read_bytes(edition.seal("promise")))


@contextlib.contextmanager
def begin_generation(
    place: Study,
    promised: Protocol,
    name: str,
    *,
    models: Iterable[str] = (),
    prices: Mapping[str, TokenPrice] | None = None,
    budget: Decimal | None = None,
    pause: Callable[[int], float] = lambda failures: float(2**failures),
) -> Iterator[Run]:
    """A run of the arm ``name``, holding its lock. ``models``: only these. ``prices``: by model, before the protocol's.
    ``budget``: what the arm may cost, all runs together.

    Raises UsageError for keys, prices and a budget that are missing, before anything is asked for.
    """
    base = open_arm_context(place, promised, name)
    chosen = _choose_models(base.generation, models)
    with study.lock_file(base.files.lock, f"`penmark collect {name}`"), contextlib.ExitStack() as held:
        generators = {key_model(model): make_generator(model, base.generation.temperature) for model in chosen}
        for each in generators.values():
            held.callback(getattr(each, "close", lambda: None))
        known = price_models(base.generation.models, prices or {})
        paid = [model for model in chosen if not generators[key_model(model)].local]
        check_affordable(name, paid, known, budget)
        purse = TokenBudget({model: known[model] for model in map(key_model, paid)}, budget)
        standing = ArmProgress()
        ledger = held.enter_context(_open_ledger(base, standing, purse))
        desk = Desk(base.grid, base.rules, base.arm.words, standing, ledger, purse, pause)
        lanes = [
            ModelWorker(
                model,
                generators[key_model(model)],
                [s for s in base.grid.spots if key_model(s.model) == key_model(model)],
                desk,
            )
            for model in chosen
        ]
        for lane in lanes:
            lane.spots.sort(key=lambda spot: base.grid.order(spot.id))
        left = any(standing.state(spot.id, base.rules) == "to ask" for lane in lanes for spot in lane.spots)
        if left:
            ledger.append(_make_start_line(base, chosen))
        yield Run(base.grid, base.rules, lanes if left else [], desk)


def _open_ledger(base: ArmContext, standing: ArmProgress, purse: TokenBudget) -> Exchanges:
    """The exchanges so far, shown to the standing and the purse. Raises UsageError where they are of another grid."""

    def see(line: exchange_log.Line) -> None:
        standing.take(line)
        purse.take(line)

    ledger = Exchanges(base.files.root, STEM, base.promise_sha256, see)
    begun = standing.start
    if begun is not None and (begun["grid_sha256"], begun["topics_sha256"]) != (base.grid.digest(), base.topics_sha256):
        ledger.close()
        raise UsageError(
            "the human arms or the topic lines are not those with which the texts were begun",
            place=str(base.files.root),
            remedy="Restore them as they were: what is written about was drawn from them.",
        )
    return ledger


def _make_start_line(base: ArmContext, chosen: list[Model]) -> exchange_log.Line:
    facts = [
        {
            "model": model.model,
            "plugin": plugins.describe_plugin(plugins.GENERATORS, generation_rules.name_generator(model)).model_dump(),
            "provider": model.provider,
        }
        for model in chosen
    ]
    return {
        "arm": base.arm.name,
        "at": judge.get_time_now(),
        "generators": facts,
        "grid_sha256": base.grid.digest(),
        "kind": "start",
        "software": SOFTWARE,
        "topics_sha256": base.topics_sha256,
    }


def _choose_models(generation: Generation, wanted: Iterable[str]) -> list[Model]:
    names = list(wanted)
    known = [model.model for model in generation.models]
    for name in names:
        if name not in known:
            fact = f"the arm is not generated by {name!r}{suggest_name(name, known)}"
            raise UsageError(fact, remedy=f"Its models: {', '.join(known)}.")
    return [model for model in generation.models if not names or model.model in names]


def make_generator(model: Model, temperature: str) -> Generator:
    """The generator of a model, made. Raises UsageError for a missing key, ServiceError where it cannot be made."""
    name = generation_rules.name_generator(model)
    if model.plugin is None and name not in plugins.list_plugins(plugins.GENERATORS):
        known = ", ".join(plugins.list_plugins(plugins.GENERATORS))
        raise UsageError(
            f"no generator is called like the provider {model.provider!r} of {model.model}",
            remedy=f"Name one under `plugin` of the model: {known}.",
        )
    try:
        return plugins.load_generator(name)(generation_rules.make_generator_options(model, temperature))
    except PenmarkError:
        raise
    except Exception as error:  # a plugin's own mistake
        fact = f"the generator {name} cannot be made: {type(error).__name__}: {error}"
        raise PenmarkError(fact, place=model.model, remedy="Tell whoever wrote it.") from None


def is_local_model(model: Model) -> bool:
    """Whether a model's generator says, before it is made and without a key, that it runs on this machine."""
    name = generation_rules.name_generator(model)
    if name not in plugins.list_plugins(plugins.GENERATORS):
        return False
    says = getattr(plugins.load_generator(name), "here", None)
    return says is not None and bool(says(generation_rules.make_generator_options(model, "not sent")))


def price_models(models: Iterable[Model], given: Mapping[str, TokenPrice]) -> dict[Key, TokenPrice]:
    """The price of each model that has one. Raises UsageError for a price of a model that there is not."""
    every = list(models)
    for name in given:
        if name not in (names := [model.model for model in every]):
            fact = f"there is no model {name!r}{suggest_name(name, names)}"
            raise UsageError(fact, remedy=f"The arm's models: {', '.join(names)}.")
    found = {key_model(model): given.get(model.model, model.price) for model in every}
    return {model: price for model, price in found.items() if price is not None}


def check_affordable(name: str, paid: list[Model], known: Mapping[Key, TokenPrice], budget: Decimal | None) -> None:
    """Raises UsageError where something costs, and nobody said how much, or how much it may be."""
    unknown = [model.model for model in paid if key_model(model) not in known]
    if unknown:
        raise UsageError(
            f"nobody said what tokens of {', '.join(unknown)} cost, so no budget can hold them",
            remedy=f"Give the price of a million read and written: --price {unknown[0]}=2.50/10.",
        )
    if paid and budget is None:
        raise UsageError(
            f"texts by {', '.join(model.model for model in paid)} cost money",
            remedy=f"See what: penmark collect {name} --plan. Then say how much it may be: --budget AMOUNT.",
        )
