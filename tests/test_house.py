"""The size watch and the other habits of the house that a linter does not know."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "src" / "penmark").rglob("*.py"))
LONGEST_MODULE = 400
"""Lines; the plan says about 300. ``standalone/verify.py`` is one file on purpose, ``records.py`` is data."""
LONGEST_FUNCTION = 50
"""Lines; the plan says about 40."""
ONE_FILE = {"standalone/verify.py", "records/__init__.py"}


def _name(path: Path) -> str:
    return path.relative_to(ROOT / "src" / "penmark").as_posix()


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_opens_with_what_it_is_and_stays_readable(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    if source.strip():
        assert ast.get_docstring(tree), f"{_name(path)} does not say what it is"
    if _name(path) not in ONE_FILE:
        assert source.count("\n") <= LONGEST_MODULE, f"{_name(path)} is too long: split it"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{_name(path)}:{node.lineno}: {node.name} has {length} lines"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_public_functions_have_docstrings(path: Path) -> None:
    if _name(path).startswith("cli/"):
        return  # the module's docstring is the help text
    bare = [
        f"{_name(path)}:{node.lineno} {node.name}"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert not bare


def test_no_module_has_a_name_that_says_nothing() -> None:
    nothing = {"utils", "util", "helpers", "helper", "common", "base", "manager", "core", "misc"}
    assert not [_name(p) for p in MODULES if p.stem in nothing or nothing & set(p.parts)]


def test_the_repository_speaks_of_penmark_alone() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    if not any(tracked):
        pytest.skip("not a git checkout")
    hosts = "|".join(["py" + r"pi\.org", "python" + r"hosted", r"registry\.np" + "mjs", r"deb\.deb" + "ian"])
    words = re.compile("/" + "work/|/" + "farm/|" + r"\.lib" + "rary/|sub" + f"agent|{hosts}")
    found = []
    for name in filter(None, tracked):
        path = ROOT / name
        if path.suffix in (".svg", ".png") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{name}: {match[0]}" for match in words.finditer(text)]
    assert not found


def test_lock_files_hold_digests_and_no_addresses() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert "://" not in text
        pinned = re.findall(r"^([a-z0-9._-]+)==\S+ \\\n    --hash=sha256:", text, re.MULTILINE)
        assert len(pinned) == len(re.findall(r"^[a-z0-9]", text, re.MULTILINE)) > 0


def _functions() -> list[str]:
    """Names of all functions and methods, private and nested ones too, but for those with two underscores on each side."""
    return [
        node.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__")
    ]


PROTOCOL_METHODS = {"read", "gather", "write", "run", "close"}
DEFINED_TWICE, ONE_WORD, VERB_FIRST, FILE_NAMES_TWICE = 0.04, 0.40, 0.60, 6
"""Ratchets: the first two and the last may only fall, the third only rise."""
_VERBS = """accept add admit align announce answer append apply ask assemble average aim await begin bind bound bring build bury
    call capture carry change check choose claim clean clear close collect come compare complete complain compose
    compress compute conduct contrast copy correlate count cover cut damage date decide decode define delete demonstrate
    derive describe destroy detect deviate differ digest discard divide do download draw drop echo edit emit encode end
    enter escape estimate exclude exchange execute expand expect explain export extract fail fetch fill filter find
    fingerprint finish fit flush fold follow forbid forecast format found free freeze gather generate get give go guard
    guess handle hang has have hide hold holds identify ignore import include inflate inspect install invoke is issue
    join judge keep key label lay lead leave let list load locate lock log look make map mark match measure mend merge
    move name need normalize note nudge number open order pack pad parse pause permit pick place plan plot poll post
    predict prepare price print probe profile prove publish put quantify quote raise rank rate reach read rebuild
    recompute reconstruct record recover redact reduce refuse register rehearse reject release remake remark remove
    rename render repeat replace replay replicate report reproduce require reserve resolve resume retry return rewrite
    round run sample save say scan score screen seal search see seek select send separate serve set settle setup show
    shuffle sift sign skip sleep sort spell split spoil stamp start stir stop store stream strip submit suggest sum
    summarise switch sync take tally tell test tidy tie tokenize trace trim try turn undo unescape unpack untear update
    use validate verify wait wake walk warn watch withdraw wrap write yield"""
VERBS = set(_VERBS.split())


_NOUNS_TOO = (
    "claim copy count cover cut damage download draw drop estimate export filter format found guess guard import issue key label"
    " lead look map mark match measure name note number order pack pause permit place plan plot post price print probe profile"
    " rank rate read record report request result retry return round run sample scan score screen search seal set sign sort stamp"
    " start step stop store stream sum switch test trace turn update use wait wake walk watch yield"
)
NOUNS_TOO = set(_NOUNS_TOO.split())
"""Verbs that are nouns as well: alone they say neither what is done nor of what, so that they count where an object follows."""


def _begins_with_a_verb(words: list[str]) -> bool:
    return words[0] in VERBS and (len(words) > 1 or words[0] not in NOUNS_TOO)


def test_functions_begin_with_a_verb_and_say_of_what() -> None:
    names = [name.strip("_").split("_") for name in _functions()]
    assert sum(len(words) == 1 for words in names) / len(names) <= ONE_WORD
    assert sum(map(_begins_with_a_verb, names)) / len(names) >= VERB_FIRST


def test_a_public_name_means_one_thing() -> None:
    where: dict[str, int] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                where[node.name] = where.get(node.name, 0) + 1
    twice = sorted(name for name, count in where.items() if count > 1 and name not in PROTOCOL_METHODS)
    assert len(twice) / len(where) <= DEFINED_TWICE, twice


def test_a_file_is_found_by_its_name() -> None:
    names = [path.name for path in MODULES if path.name != "__init__.py"]
    assert len({name for name in names if names.count(name) > 1}) <= FILE_NAMES_TWICE
    rooms = [path for path in (ROOT / "src" / "penmark").iterdir() if path.name != "__pycache__"]
    assert len(rooms) <= 26


BEHAVIOURS = {
    "retry and backoff": "stages/scan/circuit_breaker.py",
    "rate limit": "stages/scan/rate_limit.py",
    "budget": "stages/scan/budget.py",
    "near-duplicates": "stages/screen/near_duplicates.py",
    "redaction of secrets": "http/redact.py",
    "CSV escaping": "study/csv_files.py",
    "status": "stages/status/__init__.py",
    "warnings of a table": "stages/score/tables/warnings.py",
    "departures": "protocol/departures.py",
    "double entry": "stages/record/double_entry.py",
    "Wilson interval": "statistics/wilson.py",
    "crash recovery": "stages/scan/crash_recovery.py",
    "confounds": "stages/screen/confounds.py",
    "timestamp tokens": "timestamps/token_parts.py",
    "HTTP client": "http/client.py",
    "fake vendors": "testing/doubles/fake_vendor.py",
    "screenshots": "stages/record/screenshots.py",
    "withdrawal": "stages/withdraw/__init__.py",
    "canonical JSON": "format/canonical_json.py",
    "scan order": "stages/scan/plan.py",
}
"""Behaviour, and the file where a newcomer looks first: by a word of the field in the file's name, or in its folder's."""
FOUND_AT_FIRST = 17


def test_behaviours_are_where_their_words_say() -> None:
    found = []
    for behaviour, name in BEHAVIOURS.items():
        assert (ROOT / "src" / "penmark" / name).is_file(), f"{behaviour}: {name} is gone"
        file = name.replace("/__init__.py", "").rpartition("/")[2].lower()
        stems = [word[:5].lower() for word in re.split(r"[ -]", behaviour) if len(word) > 2]
        found += [behaviour] if any(stem in file for stem in stems) else []
    assert len(found) >= FOUND_AT_FIRST, sorted(set(BEHAVIOURS) - set(found))
