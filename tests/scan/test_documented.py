"""docs/scanning.md says what the code does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from penmark.cli import VERBS, app
from penmark.scan import canary, lane, pace, ready, settling, troubles, work

PAGE = (Path(__file__).parents[2] / "docs" / "scanning.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "so"),
    [
        ("The canary** is one practice text (`ferry`)", canary.TEXT == "ferry"),
        ("about it first and last", canary.TIMES == 2),
        ("five texts in a row come to nothing alike", troubles.ALIKE == 5),
        ("or the last three of a scan", troubles.GIVE_UP == 3),
        ("three texts in a row get no answer", troubles.GIVE_UP == 3),
        ("for more than a quarter of an hour", settling.LONGEST == 15 * 60),
        ("(less than 32 MiB)", work.ROOM == 32 * 2**20),
        ("faster than fifty a second", lane.QUICK == 1 / 50),
        ("up to sixteen texts", lane.AHEAD == 16),
        ("with two percent left unused", pace.UNUSED == 0.02),
        ("on their way at once (8)", ready.CONNECTIONS == 8),
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
