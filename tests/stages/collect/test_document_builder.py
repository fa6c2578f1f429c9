"""Documents are true: what README and the docs say is run and compared."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from penmark import plugins, yaml_records
from penmark.cli import VERBS
from penmark.records import Card

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHARED = Path(os.environ.get("PENMARK_SHARED", ROOT.parent / "shared"))


def _commands() -> list[str]:
    lines = re.findall(r"^    (penmark .+)$", README, re.MULTILINE)
    return [line.split("  #")[0].strip() for line in lines]


def _help(verb: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "penmark", verb, "--help"],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200", "TERM": "dumb"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("command", _commands())
def test_every_command_of_the_readme_exists_with_its_options(command: str) -> None:
    _, verb, *rest = shlex.split(command)
    assert verb in VERBS
    told = _help(verb)
    for option in (word for word in rest if word.startswith("--")):
        assert re.search(rf"(^|[\s,]){re.escape(option)}\b", told), f"penmark {verb} has no {option}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_what_it_does_and_can_speak_json(verb: str) -> None:
    told = _help(verb)
    assert len(told.splitlines()) > 5
    assert "--json" in told


def test_the_readme_opens_with_the_two_commands() -> None:
    first_screen = "\n".join(README.splitlines()[:24])
    assert "make demo" in first_screen
    assert "make test" in first_screen


CARD = (re.search(r"```yaml\n# cards/wordy.yaml\n(.*?)```", README, re.DOTALL) or [""])[1]
"""The whole card of the README."""


def test_the_detector_in_ten_lines_is_a_detector(tmp_path: Path) -> None:
    code = re.search(r"```python\n# wordy.py\n(.*?)```", README, re.DOTALL)
    entry = re.search(r"```toml\n# pyproject.toml[^\n]*\n(.*?)```", README, re.DOTALL)
    check = re.search(r"`(from penmark.testing import check_detector; .*)`", README)
    assert code is not None
    assert entry is not None
    assert check is not None
    assert sum(line.strip() != "" for line in code[1].splitlines()) <= 10
    (tmp_path / "wordy.py").write_text(code[1], encoding="utf-8")
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "wordy.yaml").write_text(CARD)
    info = tmp_path / "wordy-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wordy\nVersion: 1\n", encoding="utf-8")
    project = tomllib.loads(entry[1])
    [(name, target)] = project["project"]["entry-points"]["penmark.detectors"].items()
    assert (project["project"]["name"], project["project"]["version"]) == ("wordy", "1")
    assert project["tool"]["setuptools"]["py-modules"] == ["wordy"]
    assert project["build-system"]["build-backend"] == "setuptools.build_meta"
    (info / "entry_points.txt").write_text(f"[penmark.detectors]\n{name} = {target}\n", encoding="utf-8")
    script = (
        "import sys; from penmark import plugins;"
        "print(plugins.load_detector('wordy')({}).read('three short words').body.decode());"
        f"print(plugins.describe_plugin(plugins.DETECTORS, 'wordy').distribution); {check[1]}; print('conforms')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    body, distribution, conforms = done.stdout.splitlines()
    assert json.loads(body) == {"score": 0.003, "version": "1"}
    assert (distribution, conforms) == ("wordy", "conforms")


def test_the_command_line_of_the_readme_is_a_detector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = re.search(r"```yaml\n# cards/counter.yaml\nask: (.*?)\n```", README, re.DOTALL)
    assert found is not None
    (tmp_path / "card.yaml").write_text(CARD.replace("ask: {by: plugin, plugin: wordy}", f"ask: {found[1]}"))
    card = yaml_records.read_record(tmp_path / "card.yaml", Card)
    program = "import json, sys; print(json.dumps({'score': len(sys.stdin.read()), 'asked': sys.argv[1:]}))"
    (tmp_path / "counter.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    assert card.ask.plugin is not None
    said = plugins.load_detector(card.ask.plugin)(card.ask.options).read("four")
    assert json.loads(said.body or b"") == {"score": 4, "asked": ["--json"]}


def test_the_tests_that_need_real_data_say_where_it_is() -> None:
    if not SHARED.is_dir():
        pytest.skip(f"no real data at {SHARED}")
    assert (SHARED / "data" / "liang2023").is_dir()


# --- help texts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_a_help_text_reads_well_in_a_narrow_terminal(verb: str) -> None:
    """No type stands beside a flag, a paragraph fills its lines, and an example is not broken."""
    shown = {}
    for flag in ("-h", "--help"):
        done = subprocess.run(
            [sys.executable, "-m", "penmark", verb, flag],
            capture_output=True,
            text=True,
            env=os.environ | {"COLUMNS": "80", "TERM": "dumb"},
            check=True,
        )
        shown[flag] = done.stdout
    assert shown["-h"] == shown["--help"]
    told = shown["-h"]
    assert "<bool>" not in told
    module = importlib.import_module(f"penmark.cli.{verb}").__doc__ or ""
    for example in re.findall(r"^  (\S.*)$", module, re.MULTILINE):
        assert re.search(rf"^ +{re.escape(example)}$", told, re.MULTILINE), example
    body = told.split("\n\n", 1)[1].partition("\nOptions:")[0].partition("\nArguments:")[0]
    for paragraph in (each.splitlines() for each in body.split("\n\n")):
        if not paragraph[0].startswith("    "):
            assert all(len(line) > 55 for line in paragraph[:-1]), paragraph


def test_a_study_is_found_from_below_and_named_before_or_after_the_verb(tmp_path: Path) -> None:
    def run(*argv: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "penmark", *argv]
        return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)

    assert run("init", "mine", "--template", "small").returncode == 0
    below = tmp_path / "mine" / "editions"
    first = run("-C", "mine", "status").stdout
    assert first.startswith("mine, edition ")
    assert run("status", "-C", "mine").stdout == first
    assert run("status", "-C", "mine", "--json").stdout.startswith("{")
    assert run("status", cwd=below).stdout.splitlines()[:-1] == first.splitlines()[:-1]
    gone = run("status", "-C", "none", cwd=below)
    assert (gone.returncode, gone.stderr.splitlines()[0]) == (2, "penmark: none: there is no such folder")
    assert "there is no study here, nor above" in run("status").stderr
    assert "there is no command 'stat' (did you mean status?)" in run("stat").stderr
