"""YAML that people write: every fault at its line, every scalar as it stands, and back again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from penmark import yaml_records
from penmark.errors import FaultsError, PenmarkError
from penmark.records import Date, Decimals, Record
from penmark.yaml_records.yaml_nodes import MAX_DEPTH


class Leaf(Record):
    name: str
    day: Date | None = None


class Tree(Record):
    word: str
    count: int = Field(default=7, ge=1, le=900)
    yes: bool = False
    number: Decimals = "0"
    maybe: str | None = "given"
    leaves: tuple[Leaf, ...] = ()
    pairs: dict[str, str] = {}
    few: dict[str, int] = Field(default={"a": 1}, min_length=1)


def parse(text: str | bytes) -> Tree:
    return yaml_records.parse_record(text if isinstance(text, bytes) else text.encode(), "f.yaml", Tree)


def faults(text: str | bytes) -> list[tuple[str | None, str]]:
    with pytest.raises(PenmarkError) as caught:
        parse(text)
    return [(fault.place, fault.fact) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("no", "no"),
        ("0.399", "0.399"),
        ("1_000", "1_000"),
        ("2026-11-30", "2026-11-30"),
        ("'~'", "~"),
        ('"null"', "null"),
        ("0x10", "0x10"),
        ("|\n  two\n  lines", "two\nlines\n"),
        (">-\n  two\n  lines", "two lines"),
        ('"\\U0001f600\\t"', "😀\t"),
        ("true", "true"),
        ('""', ""),
    ],
)
def test_a_scalar_is_the_string_that_was_written(written: str, read: str) -> None:
    assert parse(f"word: {written}\n").word == read


def test_values_are_typed_by_the_record() -> None:
    tree = parse("\ufeffword: w\r\ncount: 150\r\nyes: true\r\nnumber: 0.50\r\nmaybe:\r\npairs: {a: 1}\r\nleaves:\r\n")
    assert tree == Tree(word="w", count=150, yes=True, number="0.50", maybe=None, pairs={"a": "1"})
    for nothing in ("", "~", "null", "Null", "NULL"):
        assert parse(f"word: w\nmaybe: {nothing}\n").maybe is None


@pytest.mark.parametrize(
    ("text", "line", "fact"),
    [
        ("count: 1", 1, "word: is missing"),
        ("word: w\nword: v", 2, "the key `word` stands twice (first in line 1)"),
        ("word: w\nwrod: v", 2, "wrod: unknown key (did you mean word?)"),
        ("word: &a w", 1, "has an anchor or alias (a)"),
        ("word: !!str w", 1, "has a tag (tag:yaml.org,2002:str)"),
        ("%YAML 1.2\n---\nword: w", 2, "has a YAML directive"),
        ("word: w\n? [a, b]\n: c", 2, "has a key that is not a word in ASCII"),
        ("word: w\npairs: {ä: b}", 2, "has a key that is not a word in ASCII"),
        ("word:", 1, "word: is empty"),
        ("word: w\ncount: 0", 2, "count: 0 is less than 1"),
        ("word: w\ncount: 1000", 2, "count: 1000 is more than 900"),
        ("word: w\nfew: {}", 2, "few: has no item"),
        ("word: [a]", 1, "word: is a list where one text belongs"),
        ("word: w\ncount: 1_0", 2, "count: '1_0' is not a whole number"),
        ("word: w\ncount: 1.0", 2, "count: '1.0' is not a whole number"),
        ("word: w\nyes: on", 2, "yes: 'on' is neither true nor false"),
        ("word: w\nnumber: .5", 2, "number: '.5' is not a decimal number (0.5, 65, 1e-3)"),
        ("word: w\npairs: [a]", 2, "pairs: is a list where a mapping belongs"),
        ("word: w\nleaves: {name: a}", 2, "leaves: is a mapping where a list belongs"),
        ("word: w\nleaves:\n - name: a\n - nme: b", 4, "leaves.1: name: is missing"),
        ("word: w\nleaves:\n - name: a\n   day: 2026-02-30", 4, "leaves.a.day: '2026-02-30' is not on the calendar"),
        ("word: w\nleaves:\n - name: a\n   day: soon", 4, "leaves.a.day: 'soon' is not a date (YYYY-MM-DD)"),
        ('word: "\\ud800"', 1, "word: holds half of a surrogate pair"),
        ("- a", 1, "is not a mapping"),
        ("word: w\n---\nword: v", 1, "is not one YAML document"),
        ("word: 'w\n", 2, "is not YAML: found unexpected end of stream"),
        ("word: w\n\tcount: 1", 2, "is not YAML: found character '\\t' that cannot start any token"),
        ("", 1, "is empty"),
        (" \n", 1, "is empty"),
        (b"word: w\ncount: \xff", 2, "is not UTF-8"),
        (b"word: \x00w", 1, "is not YAML: special characters are not allowed"),
    ],
)
def test_a_fault_has_its_line(text: str | bytes, line: int, fact: str) -> None:
    found = faults(text)
    assert any(place == f"f.yaml:{line}" and fact.removeprefix("leaves.1: ") in got for place, got in found), found


def test_all_faults_come_in_one_pass_in_the_order_of_lines() -> None:
    text = "wrod: w\ncount: many\nyes: no\npairs: {a: &x 1, a: *x}\nleaves:\n  - name: a\n    day: 2026-13-01\n"
    assert [place for place, _ in faults(text)] == [
        "f.yaml:1",
        "f.yaml:1",
        *[f"f.yaml:{n}" for n in (2, 3, 4, 4, 4, 7)],
    ]


def test_what_is_aliased_is_never_expanded() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join(f'*a{n - 1}' for _ in range(9))}]\n" for n in range(1, 30)
    )
    assert any("anchor or alias" in fact for _, fact in faults(bomb))


def test_deep_nesting_is_refused_and_exhausts_nothing() -> None:
    assert faults("word: " + "[" * 100_000) == [("f.yaml:1", f"is nested deeper than {MAX_DEPTH} levels")]
    assert faults("word: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH) == [
        ("f.yaml:1", f"is nested deeper than {MAX_DEPTH} levels")
    ]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for make in (
        lambda p: None,
        lambda p: p.mkdir(),
        lambda p: p.symlink_to("/etc/hostname"),
        lambda p: p.write_bytes(b"x" * 2**21),
    ):
        path = tmp_path / "f.yaml"
        make(path)
        with pytest.raises(PenmarkError) as caught:
            yaml_records.read_record(path, Tree)
        assert caught.value.faults[0].place == str(path)
        assert caught.value.faults[0].remedy is not None
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)


def test_replaced_changes_scalars_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(
        b"# a comment\r\nword: 'w'   # why\nmaybe: >-\n  folded\n  text\n"
        b"# end\npairs: {a: b, c: d}\nleaves: [{name: x}]"
    )
    made = yaml_records.replace_scalars(
        path, {("word",): "v: 1", ("maybe",): "m", ("pairs", "c"): "", ("leaves", 0, "name"): "y"}
    )
    assert made == '# a comment\r\nword: "v: 1"   # why\nmaybe: m\n# end\npairs: {a: b, c: ""}\nleaves: [{name: y}]'
    with pytest.raises(PenmarkError, match=r"leaves\.3 is missing"):
        yaml_records.replace_scalars(path, {("leaves", 3): "z"})
    path.write_text("a: 1\na: 2\n")
    with pytest.raises(FaultsError, match="stands twice"):
        yaml_records.replace_scalars(path, {("a",): "z"})


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
KEYS = st.text("abcXYZ09 :#-'\"{}[]&*!|>%@`,?~\n", min_size=1, max_size=6)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(KEYS, WORDS, min_size=1, max_size=4))
def test_what_is_emitted_reads_back(pairs: dict[str, str]) -> None:
    tree = Tree(
        word=next(iter(pairs.values())),
        pairs=pairs,
        maybe=None,
        yes=True,
        leaves=(Leaf(name="n"), Leaf(name="", day="2026-01-01")),
    )
    text = yaml_records.format_yaml(tree.model_dump(mode="json"))
    assert parse(text) == tree
