"""docs/scanning.md says what the code does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from penmark.cli import VERBS, app
from penmark.stages.scan import canary, circuit_breaker, outcome, rate_limit, scan_queue, scan_readiness, worker

PAGE = (Path(__file__).parents[3] / "docs" / "scanning.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "so"),
    [
        ("The canary** is one practice text (`ferry`)", canary.TEXT == "ferry"),
        ("about it first and last", canary.TIMES == 2),
        ("five texts in a row come to nothing alike", circuit_breaker.ALIKE == 5),
        ("or the last three of a scan", circuit_breaker.GIVE_UP == 3),
        ("three texts in a row get no answer", circuit_breaker.GIVE_UP == 3),
        ("for more than a quarter of an hour", outcome.LONGEST == 15 * 60),
        ("(less than 32 MiB)", scan_queue.ROOM == 32 * 2**20),
        ("faster than fifty a second", worker.QUICK == 1 / 50),
        ("up to sixteen texts", worker.AHEAD == 16),
        ("with two percent left unused", rate_limit.UNUSED == 0.02),
        ("on their way at once (8)", scan_readiness.CONNECTIONS == 8),
    ],
)
def test_a_number_of_the_page_is_that_of_the_code(words: str, so: bool) -> None:
    assert words in PAGE
    assert so


@pytest.mark.parametrize("command", re.findall(r"^    (penmark .+?)(?:  +#.*)?$", PAGE, re.MULTILINE))
def test_every_command_of_the_page_exists_with_its_options(command: str) -> None:
    _, verb, *rest = shlex.split(command.replace("penmark -C BUNDLE ", "penmark "))
    assert verb in VERBS
    group = typer.main.get_command(app)
    found = group.get_command(None, verb)  # type: ignore[attr-defined]
    options = {name for parameter in found.params for name in parameter.opts}
    assert {word for word in rest if word.startswith("--")} <= options
