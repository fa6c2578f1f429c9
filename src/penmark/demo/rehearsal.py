"""The rehearsal: a whole paid run against the doubles of providers and vendors, without an account and without a cent.

*Reads* the vendors' cards. *Writes* copies of them beside the protocol, in which a server on this machine stands for the
vendor. *Never* sends anything to a provider or a vendor, or uses a real key: as long as it runs, the environment holds
the doubles'.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal

from penmark import cards, study
from penmark.corpus import sealed_edition
from penmark.stages.scan import forecast, plan
from penmark.stages.scan.scan_readiness import ScanLimits
from penmark.testing.doubles import Behaviour, Double, place_card, run_double
from penmark.testing.doubles.text_providers import run_provider

TITLE = "Rehearsal of a paid run: doubles answered in the vendors' place, and it measures nothing"
ACTS: dict[str, tuple[str | Behaviour | None, ...]] = {
    "copyleaks": (None, None, Behaviour("expired login")),
    "gptzero": (None, None, None, Behaviour("rate limited", retry_after="1")),
    "originality-lite": (None, None, "busy"),
    "sapling": (None, None, "drop before"),
    "undetectable": (),
    "winston": (),
    "zerogpt": (None, None, "null score"),
}
"""The vendors that are rehearsed, and what goes wrong with them, as it does in life."""
PROVIDERS = ("anthropic", "cohere", "google", "mistral", "openai", "xai")
"""Who writes the AI texts: the double of each provider."""
_KEY = "PENMARK_REHEARSAL_{}"
SPARE = Decimal("1.05")
"""A budget that leaves room for what is asked again."""


@contextlib.contextmanager
def run_vendor_doubles() -> Iterator[dict[str, Double]]:
    """The doubles by vendor, and their keys in the environment, while in the block."""
    with contextlib.ExitStack() as open_ones:
        there = {name: open_ones.enter_context(run_double(name, behaviours=acts)) for name, acts in ACTS.items()}
        keys: dict[str, str] = {}
        for name, each in there.items():
            request = cards.load_card(cards.find_card(name, None)).ask.request
            assert request is not None
            keys |= {key.env: each.keys[which] for which, key in request.keys.items()}
        open_ones.enter_context(_list_environment(keys))
        yield there


@contextlib.contextmanager
def run_provider_doubles() -> Iterator[dict[str, Double]]:
    """The doubles by provider, and their keys in the environment, while in the block."""
    with contextlib.ExitStack() as open_ones:
        there = {name: open_ones.enter_context(run_provider(name)) for name in PROVIDERS}
        keys = {_KEY.format(name.upper()): each.keys["key"] for name, each in there.items()}
        open_ones.enter_context(_list_environment(keys))
        yield there


@contextlib.contextmanager
def _list_environment(given: dict[str, str]) -> Iterator[None]:
    before = {variable: os.environ.get(variable) for variable in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for variable, value in before.items():
            if value is None:
                del os.environ[variable]
            else:
                os.environ[variable] = value


def write_cards(place: study.Study, there: dict[str, Double]) -> None:
    """Put the cards beside the protocol, each with its double's address."""
    for name, each in there.items():
        written = cards.find_card(name, None).read_text(encoding="utf-8")
        study.write_bytes(place.cards / f"{name}.yaml", place_card(written, each.url).encode())


def list_detector_lines() -> list[str]:
    """The lines of the protocol."""
    facts = "surface: api, tier: a double, payer: nobody, relation: none"
    return [f"  - {{name: {name}, card: {name}, {facts}}}" for name in ACTS]


def write_models(edition: study.Edition, there: dict[str, Double]) -> None:
    """Let the doubles of providers write the arm C of the demonstration's protocol, in its styles, about its topics."""
    models = [
        f'        - {{provider: {name}, model: a-double, options: {{base_url: "{each.url}"}}, '
        f"key: {{env: {_KEY.format(name.upper())}}}}}\n"
        for name, each in there.items()
    ]
    before, mark, text = study.read_bytes(edition.protocol_yaml).decode().partition("  - name: C\n")
    for register in ("news", "speech", "synopsis"):  # a model is not asked for a register
        text = text.replace(f"      - {{where: {{register: {register}}}, documents: 12}}\n", "")
    stored = "      models: [{provider: Anthropic, model: Claude}]\n"
    filled = "Stored in the project with their prompts; the exchange was not recorded."
    text = text.replace(stored, f"      models:\n{''.join(models)}")
    text = text.replace(filled, "Written by the doubles of providers.")
    study.write_bytes(edition.protocol_yaml, (before + mark + text).encode())


def list_budget_options(place: study.Study, edition: study.Edition) -> list[str]:
    """The options that allow what the plan says, and a little more."""
    ground = sealed_edition.open_sealed_edition(edition, verb="scan")
    made = plan.make_plan(place, ground, plan.choose_detectors(ground.protocol, ground.cards, []))
    options: list[str] = []
    for name, part in made.parts.items():
        price = forecast.forecast_detector(made, part, ScanLimits(), None).price
        if price is not None:
            amount = (price * SPARE).quantize(Decimal("0.01"), ROUND_CEILING)
            options += ["--budget", f"{name}={amount.normalize():f}"]
    return options
