"""How one arm of a study departs from the template's arm of the same name.

*Reads* and *writes* nothing. Each row is (rule, template, study, explanation).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from penmark.records import Arm, Generation, Quota, Words

Row = tuple[str, str, str, str]

MISSING = {
    "human": "False positives among such texts are not measured.",
    "ai": "Detection of such texts is not measured.",
    "mixed": "How such mixed texts are treated is not measured.",
}
CLOSED = ("register", "subgroup", "style")
"""Quotas whose values the template names; models and providers are the study's to choose."""


def compare_arms(base: Arm, given: Arm, number: int) -> Iterator[Row]:
    """Every departure of ``given`` from ``base``, in an edition of the format ``number``."""
    yield from _compare_fields(base, given)
    yield from _compare_quotas(base, given)
    yield from _compare_evidence(base, given)
    yield from _compare_sessions(base, given)
    if base.generation is not None:
        yield from _compare_generation(base.name, base.generation, given.generation, number)
    if base.budget is not None:
        yield from _compare_budget(base, given)


def _compare_fields(base: Arm, given: Arm) -> Iterator[Row]:
    if given.documents != base.documents:
        meaning = (
            "Fewer documents: intervals are wider."
            if given.documents < base.documents
            else "More documents than the template asks for: intervals are narrower."
        )
        yield "arm-size", f"arm {base.name}: {base.documents} documents", f"{given.documents} documents", meaning
    differing = (
        ("arm-truth", base.truth, given.truth, "The arm stands for another truth than in the template."),
        (
            "arm-headline",
            _format_yes_no(base.headline),
            _format_yes_no(given.headline),
            "The arm enters the headline rates, or stays out of them, otherwise.",
        ),
        (
            "arm-persists",
            _format_yes_no(base.persists),
            _format_yes_no(given.persists),
            "Whether the arm stays or is made anew differs, so trends differ.",
        ),
        ("arm-unit", base.unit, given.unit, "Another unit counts as one independent case."),
        (
            "word-limits",
            _describe_word_limits(base.words),
            _describe_word_limits(given.words),
            "Texts of other lengths are measured; detectors do worse on short ones.",
        ),
    )
    for rule, before, after, meaning in differing:
        if before != after:
            yield rule, f"arm {base.name}: {before}", after, meaning


def _compare_evidence(base: Arm, given: Arm) -> Iterator[Row]:
    kinds = [kind for kind in given.evidence.kinds if kind not in base.evidence.kinds]
    if kinds:
        yield (
            "evidence-kinds",
            f"arm {base.name}: {', '.join(base.evidence.kinds)}",
            ", ".join(given.evidence.kinds),
            f"The arm also takes texts of another kind: {', '.join(kinds)}.",
        )
    grades = [grade for grade in given.evidence.grades if grade not in base.evidence.grades]
    if grades:
        yield (
            "evidence-grades",
            f"arm {base.name}: {', '.join(base.evidence.grades)}",
            ", ".join(given.evidence.grades),
            f"Weaker evidence suffices for where a text comes from: {', '.join(grades)}.",
        )
    if base.evidence.since is not None and (given.evidence.since or "") < base.evidence.since:
        yield (
            "fresh-date",
            f"arm {base.name}: written on {base.evidence.since} or later",
            f"on {given.evidence.since} or later" if given.evidence.since is not None else "on any day",
            "Texts that are older may have been used to train detectors.",
        )
    listed = [digest for digest in given.evidence.stated if digest not in base.evidence.stated]
    if listed:
        yield (
            "evidence-stated",
            f"arm {base.name}: {', '.join(base.evidence.stated) or 'no data set by its word alone'}",
            ", ".join(listed),
            "What these data sets say of the dates of their texts suffices, without anyone else who kept the texts.",
        )
    if given.evidence.before != base.evidence.before:
        yield (
            "cutoff-date",
            f"arm {base.name}: before {base.evidence.before or 'any date'}",
            f"before {given.evidence.before}" if given.evidence.before is not None else "no cutoff date",
            "Another date separates text that is taken for human from text that is not.",
        )


def _compare_sessions(base: Arm, given: Arm) -> Iterator[Row]:
    """What sessions must show: weaker than the template asks for."""
    before = {} if base.sessions is None else base.sessions.model_dump()
    after = {} if given.sessions is None else given.sessions.model_dump()
    least = ("operations", "active_minutes")
    weaker = [
        name
        for name, value in before.items()
        if value is not None
        and (after.get(name) is None or (after[name] < value if name in least else after[name] > value))
    ]
    if weaker:
        yield (
            "sessions",
            f"arm {base.name}: {', '.join(f'{name} {before[name]}' for name in weaker)}",
            ", ".join(f"{name} {after.get(name, 'not asked for')}" for name in weaker),
            "Texts are taken whose writing shows less than the template asks for.",
        )


def _compare_generation(arm: str, base: Generation, given: Generation | None, number: int) -> Iterator[Row]:
    if given is None:
        yield (
            "generation",
            f"arm {arm}: models and prompts named",
            "not named",
            "Nobody can make the AI texts again from the protocol.",
        )
        return
    counts = (
        ("models", {(m.provider, m.model) for m in base.models}, {(m.provider, m.model) for m in given.models}),
        ("providers", {m.provider for m in base.models}, {m.provider for m in given.models}),
    )
    for rule, before, after in counts:
        if len(after) < len(before):
            yield (
                rule,
                f"arm {arm}: at least {len(before)} {rule}",
                f"{len(after)}",
                f"The rates speak for fewer {rule}.",
            )
    yield from _compare_styles(arm, base, given)
    if given.temperature.strip() != base.temperature:
        yield (
            "temperature",
            f"arm {arm}: {base.temperature}",
            given.temperature,
            "The models do not write at their default settings.",
        )
    if number > 1:
        yield from _compare_settings(arm, base, given)
    yield from _compare_rejection(arm, base, given, number)
    topics = [name for name in base.topics_from if name not in given.topics_from]
    if topics:
        yield (
            "topics",
            f"arm {arm}: matched to arms {', '.join(base.topics_from)}",
            f"matched to arms {', '.join(given.topics_from)}" if given.topics_from else "not matched",
            "Topics may tell the arms apart, so a detector may succeed without knowing anything of authorship.",
        )


def _compare_styles(arm: str, base: Generation, given: Generation) -> Iterator[Row]:
    """In which words models are asked."""
    missing = [style.name for style in base.styles if style.name not in {each.name for each in given.styles}]
    if missing:
        yield (
            "styles",
            f"arm {arm}: {_join_names(base.styles)}",
            _join_names(given.styles),
            f"No text is asked for in the style {', '.join(missing)}.",
        )
    wordings = {style.name: style.prompt.strip() for style in given.styles}
    for style in base.styles:
        if wordings.get(style.name, style.prompt) != style.prompt:
            yield (
                "prompt",
                f"arm {arm}: {style.name}: {style.prompt}",
                wordings[style.name],
                "The models are asked in other words than the template's.",
            )


def _compare_settings(arm: str, base: Generation, given: Generation) -> Iterator[Row]:
    """What is sent to single models beyond the template's: a default is a setting that is not sent."""
    for model in given.models:
        options = {
            name.removeprefix("settings."): v for name, v in model.options.items() if name.startswith("settings.")
        }
        sent = dict(sorted({**options, **model.settings}.items()))
        if sent.get("temperature", base.temperature).strip() == base.temperature:
            sent.pop("temperature", None)
        if sent:
            yield (
                "settings",
                f"arm {arm}: no settings, temperature {base.temperature}",
                f"{model.provider} {model.model}: {', '.join(f'{name} {value}' for name, value in sent.items())}",
                "This model does not write at its default settings.",
            )


def _compare_rejection(arm: str, base: Generation, given: Generation, number: int) -> Iterator[Row]:
    """Which texts are not taken, and what takes their place."""
    before, after = base.gates_in_force, given.gates_in_force
    if number == 1:  # there was one gate less
        before = tuple(gate for gate in before if gate != "chat residue" or gate in after)
    if before != after:
        off = [gate for gate in before if gate not in after]
        yield (
            "gates",
            f"arm {arm}: {', '.join(before) or 'no gates'}",
            ", ".join(after) or "no gates",
            f"Texts are taken that the template leaves out: {', '.join(off)}." if off else "Fewer texts are taken.",
        )
    if base.texts_at_a_spot != given.texts_at_a_spot:
        yield (
            "replacement",
            f"arm {arm}: up to {base.texts_at_a_spot} topics at a spot",
            f"up to {given.texts_at_a_spot}" if given.texts_at_a_spot > 1 else "none in place of a rejected text",
            "A rejected text is replaced more or less often, so other texts are in the arm.",
        )


def _compare_budget(base: Arm, given: Arm) -> Iterator[Row]:
    if base.budget is None:
        return
    before = f"arm {base.name}: {base.budget.words_percent} % of words, sentences {base.budget.sentences}"
    meaning = "The texts are edited to another extent than the template's lightly edited ones."
    if given.budget is None:
        yield "edit-budget", before, "no budget", meaning
    elif (
        Decimal(given.budget.words_percent) != Decimal(base.budget.words_percent)
        or given.budget.sentences != base.budget.sentences
    ):
        yield (
            "edit-budget",
            before,
            f"{given.budget.words_percent} % of words, sentences {given.budget.sentences}",
            meaning,
        )


# --- quotas --------------------------------------------------------------------------------------------------------


def _compare_quotas(base: Arm, given: Arm) -> Iterator[Row]:
    """By each group of keys: the template's closed values in its proportions, the open ones (models) evenly."""
    for keys in dict.fromkeys(tuple(quota.where) for quota in base.quotas):
        before = [quota for quota in base.quotas if set(quota.where) == set(keys)]
        after = [quota for quota in given.quotas if set(quota.where) == set(keys)]
        if not after:
            yield (
                "quota",
                f"arm {base.name}: quotas by {' x '.join(keys)}",
                "none",
                "The mix within the arm is left to chance.",
            )
            continue
        yield from _compare_shares(base, given, _sum_quotas(before), _sum_quotas(after))
        sizes = [quota.documents for quota in after]
        if any(key not in CLOSED for key in keys) and max(sizes) - min(sizes) > 1:
            yield (
                "quota",
                f"arm {base.name}: every {' x '.join(keys)} alike",
                f"{min(sizes)} to {max(sizes)} documents",
                "Some of them weigh more than others in the arm's rate.",
            )


def _compare_shares(base: Arm, given: Arm, before: Counter[str], after: Counter[str]) -> Iterator[Row]:
    for cell, wanted in before.items():
        share = Decimal(wanted) * given.documents / base.documents
        if abs(after[cell] - share) >= 1:
            fact = f"{after[cell]} of {given.documents}" if cell in after else f"none of {given.documents}"
            yield (
                "quota",
                f"arm {base.name}: {wanted} of {base.documents} {cell}",
                fact,
                "Such texts are missing from the arm."
                if after[cell] == 0
                else "Such texts have another weight in the arm's rate.",
            )
    for cell, held in after.items():
        if cell not in before:
            yield (
                "quota",
                f"arm {base.name}: none {cell}",
                f"{held} of {given.documents}",
                "The template's mix has no such texts.",
            )


def _sum_quotas(quotas: list[Quota]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for quota in quotas:
        cell = ", ".join(f"{key} {value}" for key, value in sorted(quota.where.items()) if key in CLOSED)
        if cell:
            sums[cell] += quota.documents
    return sums


def _describe_word_limits(words: Words | None) -> str:
    return "any number of words" if words is None else f"{words.minimum} to {words.maximum} words"


def _join_names(items: tuple[Any, ...]) -> str:
    return ", ".join(item.name for item in items) or "none"


def _format_yes_no(value: bool) -> str:
    return "yes" if value else "no"
