"""Check 8 against true figures in false places, words in pieces, and markup around them: what holds for every release."""

# ruff: noqa: F401, F811 (fixtures of another file)

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.stages.verify.test_check8_page import _check, _failed, _forge, _readme, bundle, made

from penmark import study
from penmark.format import canonical_json, show_figures
from penmark.records import Check
from penmark.stages.verify.check8_page import changes_and_readme
from penmark.stages.verify.check_findings import Findings

NBSP = "\u00a0"
RATE = f'<span data-over="most tables/rates.csv:rate" data-as="percent">100.00{NBSP}%</span>'
DEEP = "<small>" * 3, "</small>" * 3


def forged(bundle: Path, added: str, before: str = '<section id="hard-cases"') -> str:
    """What check 8 says of a page with something more."""
    _forge(bundle, before, f"{added}\n{before}")
    return "\n".join(f"{c.got}; {c.expected}" for c in _failed(bundle))


def cell(path: str, row: int, column: str, how: str, text: str) -> str:
    return f'<span data-cell="tables/{path}.csv:{row}:{column}" data-as="{how}">{text}</span>'


def table(head: str, *rows: str) -> str:
    return f'<section id="more"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></section>'


def head(text: str) -> str:
    return f'<th scope="col">{text}</th>'


@pytest.mark.parametrize(
    ("added", "told"),
    [
        (table(head("Tool"), f"<tr><td>zebra</td><td>{RATE}</td></tr>"), "no figure over several rows"),
        (f"<ul><li>zebra: {RATE}</li></ul>", "in a paragraph of a section"),
        (table(head("Tool") + head("False positives"), "<tr><td>zebra</td><td>none</td></tr>"), "heads of rates"),
        (
            '<table><caption><span data-fixed="">Table 1</span></caption><tbody><tr><td>zebra</td></tr></tbody></table>',
            "above the cells of tables/table1.csv",
        ),
        (
            '<p>zebra: <span data-over="count tables/readings.csv?state=nothing" data-as="count">0</span></p>',
            "a count beside its own row",
        ),
        (f"<dl><dt>zebra</dt><dd>{cell('table1', 1, 'false_positives', 'count', '5')}</dd></dl>", "rows, captions"),
        (f"<p>zebra: {cell('table1', 1, 'false_positives', 'count', '5')}</p>", "rows, captions and articles"),
        (table(head("Tool"), f"<tr><td>{cell('documents', 1, 'words', 'text', '100')}</td></tr>"), "that pages show"),
        (
            '<p>zebra: <span data-quote="deviations.jsonl:1#/what" data-as="text">x</span></p>',
            "quotes of it in <li> only",
        ),
        (
            table(head("Tool"), '<tr><td><span data-quote="protocol.json#/payer" data-as="text">x</span></td></tr>'),
            "quotes of arms, level and seals only",
        ),
        ("<p>zebra: O of lI</p>", "figures in citations, and letters of English"),
        ("<p>zebra: none %</p>", "figures in citations"),
        ("<p>\u041enly zebra</p>", "letters of English"),
        ("<p><small>small <em><small>smaller</small></em></small></p>", "no phrase in another of its name"),
        ("<p><strong><strong>light</strong></strong></p>", "no phrase in another of its name"),
        ('<div class="strip"><p>Covered.</p></div>', "this class on svg"),
        ('<p class="reply">Words.</p><p class="unknown">Words.</p>', "this class on no element"),
        ("<p>far<br><br>down</p>", "one line end at a time"),
        ("<p>far<br>\n<br>down</p>", "one line end at a time"),
        ("<p></p>", "no empty element"),
        ("<p>The win<span>ner</span> is zebra.</p>", "says winner"),
        ("<p>The most<br>accu<em>rate</em> one.</p>", "says most accurate"),
        ("<p>best detec<span>t</span><strong>ors</strong></p>", "says best detectors"),
    ],
)
def test_a_true_figure_in_a_false_place(bundle: Path, added: str, told: str) -> None:
    assert told in forged(bundle, added)


def test_lenient_cells_are_in_no_row(bundle: Path) -> None:
    shutil.copyfile(bundle / "tables" / "rates.csv", bundle / "tables" / "rates_lenient.csv")
    rate = show_figures.Sources(lambda path: study.read_bytes(bundle / path)).cell("tables/rates_lenient.csv:1:k")
    row = f"<tr><td>zebra</td><td>{cell('rates_lenient', 1, 'k', 'count', rate)}</td></tr>"
    assert "a cell of a file that pages show" in forged(bundle, table(head("Tool"), row))


def test_a_deviation_is_told_with_its_time_and_nothing_else(bundle: Path) -> None:
    path = bundle / "report" / "index.html"
    text = path.read_text(encoding="utf-8")
    [line] = [m for m in re.findall(r"<li>.*?</li>", text) if 'data-quote="deviations.jsonl:1#/what"' in m]
    for new in (line.replace("<li>", "<li>zebra " + RATE), re.sub(r"<li><span[^>]*>[^<]*</span>", "<li>", line)):
        path.write_text(text.replace(line, new), encoding="utf-8")
        assert _failed(bundle)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Retrospective edition: the rules", "Prospective edition. <small>Retrospective edition: the rules"),
        ("<strong>Retrospective edition:", "<strong>Prospective edition.</strong> <strong>Retrospective edition:"),
        (' class="banner"><strong>Retrospective', "><strong>Retrospective"),
    ],
)
def test_a_retrospective_edition_says_so_where_it_is_read_first(made: Path, tmp_path: Path, old: str, new: str) -> None:
    root = tmp_path / "a"
    shutil.copytree(made / "retrospective", root)
    small = "</small>" if "<small>" in new else ""
    _forge(root, f"{old}", new)
    if small:
        _forge(root, "after the answers existed.</strong>", f"after the answers existed.{small}</strong>")
    got = [str(check.got) for check in _failed(root)]
    assert any(word in each for each in got for word in ("does not say: retrospective", "Prospective edition"))


SHEETS = (
    ".scroll tbody tr:nth-child(4) td{color:#fff;background:#fff}", "tbody tr:nth-child(4){display/**/:/**/none}",
    "tbody tr:nth-child(4){-webkit-transform:scale(0)}", "td{font-size:.01px}", "td{font:0/0 a}",
    "main{display:flex;flex-direction:column-reverse}", 'li{list-style-type:"plain wins: 0 of 12 "}',
    '@counter-style x{system:cyclic;symbols:"plain wins 0 of 12"}', "tbody{display:grid}", "div{height:1px;contain:paint}",
    "tr{content-visibility:hidden}", "td{-webkit-text-security:disc}", "td{-webkit-text-fill-color:#0000}", "td{color:#0000}",
    "td{rotate:90deg}", "td{line-height:0}", "tr{width:0;max-height:0}", "h2{box-shadow:0 0 0 999px #fff}", "td{color:white}",
    "p{margin:9999px}", "p{margin:0 -9rem}", "p{padding:99em}", "td{font-family:Wingdings}", "p{max-width:0rem}", "p{",
    "p{color:inherit}}", "p{color:inherit}x", "{color:inherit}", "p{a{color:inherit}}", "/* x */p{color:inherit}",
)  # fmt: skip


@pytest.mark.parametrize("css", SHEETS)
def test_a_foreign_sheet_that_could_hide_move_or_add(bundle: Path, css: str) -> None:
    path = bundle / "report" / "index.html"
    text = path.read_text(encoding="utf-8")
    plain = "body{font-family:serif}\ntable td{padding:1px 0.5em}\n"
    path.write_text(re.sub(r"<style>.*</style>", lambda _: f"<style>{plain}</style>", text, flags=re.DOTALL))
    assert {check.state for check in _check(bundle)} == {"not checked", "ok"}
    path.write_text(re.sub(r"<style>.*</style>", lambda _: f"<style>{plain}{css}</style>", text, flags=re.DOTALL))
    [failed] = _failed(bundle)
    assert "in a style sheet of no release" in str(failed.got)


# --- README and CHANGES --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", ["# A title <!--", "<!--", "```", "<div hidden>", "# a `b <!--", "~~~", "[x]: y"])
def test_the_first_line_of_a_readme_opens_nothing(bundle: Path, title: str) -> None:
    lines = show_figures.render_markdown_table1((bundle / "tables" / "table1.csv").read_bytes())
    (bundle / "README.md").write_text(f"{title}\n\n{lines}\n", encoding="utf-8")
    assert [check.subject for check in _readme(bundle)] == ["README.md:1"]


@pytest.mark.parametrize("before", ["- x\n\n  y\n", "zebra: none of these\n:-:\n\n"])
def test_the_table_of_a_readme_is_in_nothing_and_alone(bundle: Path, before: str) -> None:
    lines = show_figures.render_markdown_table1((bundle / "tables" / "table1.csv").read_bytes())
    (bundle / "README.md").write_text(f"# Title\n\n{before}{lines}\n", encoding="utf-8")
    assert len(_readme(bundle)) == 1


def _changes(root: Path) -> list[Check]:
    found = Findings(8, "pages")
    changes_and_readme.check_changes(study.Edition(root), found)
    return [check for check in found.checks() if check.state == "failed"]


def test_what_deviations_say_is_told_as_words(tmp_path: Path) -> None:
    """A form of words that Markdown reads as something else is no fault, and is none in the file."""
    from penmark.protocol import amendments

    said = ("## Amendment 9", "score <b>0.1</b>", "[a]: /b", "```", "- x", "a `<i>` b", "a\\<i>", "=====", "<!-- x")
    what = [{"at": "2026-11-30T10:00:00Z", "detector": None, "what": each} for each in said]
    (tmp_path / "deviations.jsonl").write_bytes(b"".join(canonical_json.encode_json(each) + b"\n" for each in what))
    told = amendments.render_changes([study.Edition(tmp_path)], tag="X-2026-Q4")
    (tmp_path / "CHANGES.md").write_text(told, encoding="utf-8")
    assert _changes(tmp_path) == []
    for more in ("\n## Amendment 9\n", "\n ## x\n", "\nx\n---\n", "\nx\n  ===\n", "\n### x\n", "\n#\n"):
        (tmp_path / "CHANGES.md").write_text(told + more, encoding="utf-8")
        assert [check.got for check in _changes(tmp_path)] == ["tells 10 changes"]
    for more in ("\n<h2>x</h2>\n", "\n```\n", "\n[a]: /b (x)\n"):
        (tmp_path / "CHANGES.md").write_text(told + more, encoding="utf-8")
        assert ["no HTML" in str(check.expected) for check in _changes(tmp_path)] == [True]
    (tmp_path / "CHANGES.md").write_text(told.replace("\n\\- x\n", '\n[a](b "- x")\n'), encoding="utf-8")
    assert [check.got for check in _changes(tmp_path)] == ["leaves out deviations.jsonl:5"]
