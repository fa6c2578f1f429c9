"""What a reader sees of a figure."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark.errors import PenmarkError
from penmark.format import canonical_json, show_figures
from penmark.format.show_figures import Sources, show_value
from penmark.statistics import wilson

COLUMNS = (
    "detector,version,relation,boundary,status,human_n,false_positives,fp_rate,fp_low,fp_high,"
    "ai_n,detections,detection_rate,detection_low,detection_high"
)
SIX = st.integers(0, 10**6).map(lambda n: f"{n // 10**6}.{n % 10**6:06d}")


@pytest.mark.parametrize(
    ("value", "how", "text"),
    [
        ("0.051900", "percent", "5.19\u00a0%"),
        ("0.612250", "percent", "61.22\u00a0%"),
        ("0.612350", "percent", "61.24\u00a0%"),
        ("0.000000", "percent", "0.00\u00a0%"),
        ("0.000001", "percent", "<0.01\u00a0%"),
        ("0.000050", "percent", "<0.01\u00a0%"),
        ("0.999999", "points", ">99.99"),
        ("0.999950", "points", ">99.99"),
        ("1.000000", "points", "100.00"),
        ("1.234500", "rounded", "1.23"),
        ("0.95", "level", "95\u00a0%"),
        ("0.90", "level", "90\u00a0%"),
        ("1015", "count", "1,015"),
        ("as_asked", "words", "as asked"),
        ("2026-11-30T18:00:00.250000Z", "time", "2026-11-30 18:00:00 UTC"),
        ("2026-11-30T18:00:00Z", "day", "2026-11-30"),
        ("'=SUM(A1)", "text", "=SUM(A1)"),
        ("'quoted'", "text", "'quoted'"),
        ("a\u202eb\u200bc\u200dd\x07", "text", "a⟨U+202E⟩b⟨U+200B⟩c\u200dd⟨U+0007⟩"),
        ("", "percent", "—"),
        ("", "text", "—"),
    ],
)
def test_show(value: str, how: str, text: str) -> None:
    assert show_value(value, how) == text


@pytest.mark.parametrize(
    ("value", "how"),
    [
        ("61.22", "percent"),
        ("1.000001", "percent"),
        ("-0.100000", "points"),
        ("0.5", "percent"),
        ("NaN", "percent"),
        ("many", "count"),
        ("1", "tuned"),
    ],
)
def test_what_cannot_be_shown_so(value: str, how: str) -> None:
    with pytest.raises((ValueError, ArithmeticError)):
        show_value(value, how)


@settings(max_examples=100)
@given(SIX)
def test_a_percentage_is_never_made_certain_by_rounding(rate: str) -> None:
    shown = show_value(rate, "points")
    assert (shown == "100.00") == (Decimal(rate) == 1)
    assert (shown == "0.00") == (Decimal(rate) == 0)
    if shown[0] not in "<>":
        assert abs(Decimal(shown) - Decimal(rate) * 100) <= Decimal("0.005")


@settings(max_examples=100)
@given(SIX)
def test_a_position_is_exact(rate: str) -> None:
    assert Decimal(show_figures.place_on_scale(rate).removesuffix("%")) == Decimal(rate) * 100


@pytest.mark.parametrize(
    ("value", "how", "text"),
    [
        (None, "text", "none"),
        (True, "text", "yes"),
        (False, "text", "no"),
        (50000, "text", "50000"),
        (50000, "count", "50,000"),
        (["en", "de"], "text", "en, de"),
        ([], "text", "none"),
        ([1, 2, 3], "length", "3"),
        ({"b": "2", "a": ["x"]}, "text", "a: x; b: 2"),
        ({}, "text", "none"),
    ],
)
def test_values_of_json(value: object, how: str, text: str) -> None:
    assert show_figures.render_json_value(value, how) == text


def _sources() -> Sources:
    held = {
        "tables/t.csv": b'arm,words,at,text\nA,10,2026-01-02,"a, ""b"""\nA,2,,x\nB,,2026-01-01,\n',
        "p.json": canonical_json.encode_json({"a": [{"b/c": "x"}], "n": 7}),
        "d.jsonl": canonical_json.encode_json({"what": "one"})
        + b"\n"
        + canonical_json.encode_json({"what": "two"})
        + b"\n",
        "pretty.json": b'{ "a": 1 }',
    }

    def read(path: str) -> bytes:
        if path not in held:
            raise PenmarkError("there is no such file", place=path)
        return held[path]

    return Sources(read)


@pytest.mark.parametrize(
    ("kind", "reference", "how", "text"),
    [
        ("cell", "tables/t.csv:1:text", "text", 'a, "b"'),
        ("cell", "tables/t.csv:3:text", "text", "—"),
        ("quote", "p.json#/a/0/b~1c", "text", "x"),
        ("quote", "p.json#/a", "length", "1"),
        ("quote", "d.jsonl:2#/what", "text", "two"),
        ("over", "count tables/t.csv", "count", "3"),
        ("over", "count tables/t.csv?arm=A", "count", "2"),
        ("over", "count tables/t.csv?arm=A&words=2", "count", "1"),
        ("over", "least tables/t.csv:words?arm=A", "count", "2"),
        ("over", "most tables/t.csv:words?arm=A", "count", "10"),
        ("over", "sum tables/t.csv:words", "count", "12"),
        ("over", "least tables/t.csv:words?arm=B", "count", "—"),
        ("over", "earliest tables/t.csv:at", "day", "2026-01-01"),
        ("over", "latest tables/t.csv:at", "day", "2026-01-02"),
        ("over", "sha256 pretty.json", "text", canonical_json.sha256(b'{ "a": 1 }')),
    ],
)
def test_citations(kind: str, reference: str, how: str, text: str) -> None:
    assert _sources().text(kind, reference, how) == text


@pytest.mark.parametrize(
    ("kind", "reference"),
    [
        ("cell", "tables/t.csv:0:text"),
        ("cell", "tables/t.csv:4:text"),
        ("cell", "tables/t.csv:1:nothing"),
        ("cell", "tables/t.csv"),
        ("cell", "nothing.csv:1:text"),
        ("quote", "p.json#/a/1"),
        ("quote", "p.json#/a/-1"),
        ("quote", "p.json#/n/0"),
        ("quote", "pretty.json#/a"),
        ("quote", "d.jsonl:3#/what"),
        ("quote", "d.jsonl:0#/what"),
        ("over", "count tables/t.csv?nothing=A"),
        ("over", "count tables/t.csv?arm"),
        ("over", "middle tables/t.csv:words"),
        ("over", "sum tables/t.csv:text"),
        ("over", "sum tables/t.csv"),
        ("over", ""),
    ],
)
def test_places_that_are_not_there(kind: str, reference: str) -> None:
    with pytest.raises(PenmarkError):
        _sources().text(kind, reference, "text")


def test_filters_hold_any_value() -> None:
    table = "arm,n\n" + '"a&b=c ?#%",1\n'
    assert (
        Sources(lambda path: table.encode()).text(
            "over", "count tables/t.csv" + show_figures.make_filter(arm="a&b=c ?#%"), "count"
        )
        == "1"
    )


def test_markdown_table_1() -> None:
    span = wilson.compute_wilson(47, 91)
    assert span is not None
    human = ",".join(wilson.format_six(value) for value in (wilson.compute_rate(47, 91), *span))
    row = f"a,,own,> 0.5,COMPLETE,91,47,{human},0,0,,,"
    lines = show_figures.render_markdown_table1(f"{COLUMNS}\n{row}\n".encode()).split("\n")
    assert len(lines) == 3
    assert (
        lines[2]
        == "| a (the operator's own) | 47 of 91 | 51.65\u00a0% (41.52–61.64) | — of 0 | — | \\> 0.5 | COMPLETE |"
    )


def test_markdown_table_1_escapes_what_would_be_markup() -> None:
    row = 'a,"1|2\n<b>[x](y)",none,verdict,COMPLETE,0,0,,,,0,0,,,'
    assert "| a 1\\|2 \\<b\\>\\[x\\](y) |" in show_figures.render_markdown_table1(f"{COLUMNS}\n{row}\n".encode())
