"""Check 8 against forged pages: each change is one that a reader would not see, and is told with its line."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from penmark.format import canonical_json, show_figures
from penmark.page import render_page
from penmark.records import Check
from penmark.stages.verify.check8_page import STYLES, changes_and_readme, check_pages
from penmark.stages.verify.check_findings import Findings

REPORT = Path(__file__).parents[2] / "page"


def _small_edition() -> ModuleType:
    spec = importlib.util.spec_from_file_location("small_edition", REPORT / "small_edition.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("small_edition", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("editions")
    small = _small_edition()
    small.write(root / "plain")
    small.write(root / "retrospective", timing="retrospective")
    small.write(root / "announced", announced=True)
    small.write(root / "hostile", hostile=True)
    return root


@pytest.fixture
def bundle(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made / "plain", tmp_path / "bundle")
    return tmp_path / "bundle"


def _check(root: Path) -> list[Check]:
    found = Findings(8, "pages")
    check_pages(root, found)
    return found.checks()


def _failed(root: Path) -> list[Check]:
    return [check for check in _check(root) if check.state == "failed"]


def _forge(root: Path, old: str, new: str, count: int = 1) -> int:
    """Replace ``old`` by ``new`` in the page; the line of the change."""
    path = root / "report" / "index.html"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def _caught(root: Path, line: int) -> Check:
    failed = _failed(root)
    at = [check for check in failed if check.subject == f"report/index.html:{line}"]
    assert at, [f"{c.subject}: {c.got}" for c in failed]
    return at[0]


@pytest.mark.parametrize("name", ["plain", "retrospective", "announced", "hostile"])
def test_a_generated_page_holds(made: Path, name: str) -> None:
    checks = _check(made / name)
    assert [check.state for check in checks] == ["ok"], [f"{c.subject}: {c.got} / {c.expected}" for c in checks]


def test_a_bundle_without_a_page_has_nothing_to_check(tmp_path: Path) -> None:
    assert [check.state for check in _check(tmp_path)] == ["not applicable"]


def test_every_digit_of_the_page_is_held_to_its_place(bundle: Path) -> None:
    """Any one digit of any text between tags (in every element of every kind), changed, is a failure at its line."""
    path = bundle / "report" / "index.html"
    text = path.read_text(encoding="utf-8")
    body = text.index("</style>")
    places = [
        m.start() + m[0].index(d)
        for m in re.finditer(r">[^<>]*[0-9][^<>]*<", text[body:])
        for d in re.findall("[0-9]", m[0])[:1]
    ]
    assert len(places) > 700
    for place in places[:: len(places) // 60]:
        at = body + place
        path.write_text(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :], encoding="utf-8")
        _caught(bundle, text[:at].count("\n") + 1)


def test_a_changed_digit_names_line_got_and_expected(bundle: Path) -> None:
    line = _forge(bundle, ">10.42\u00a0%<", ">10.24\u00a0%<")
    check = _caught(bundle, line)
    assert check.got == "10.24\u00a0%"
    assert check.expected is not None
    assert check.expected.startswith("10.42\u00a0% (")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('data-cell="tables/table1.csv:1:fp_rate" data-as', 'data-cell="tables/table1.csv:2:fp_rate" data-as'),
        ('data-cell="tables/table1.csv:1:fp_rate" data-as', 'data-cell="tables/table1.csv:9:fp_rate" data-as'),
        ('data-cell="tables/table1.csv:1:fp_rate" data-as', 'data-cell="tables/../protocol.json:1:fp_rate" data-as'),
        ('data-cell="tables/table1.csv:1:fp_rate" data-as', 'data-cell="/etc/passwd:1:fp_rate" data-as'),
        (
            'data-cell="tables/table1.csv:1:fp_rate" data-as="percent"',
            'data-cell="tables/table1.csv:1:fp_rate" data-as="text"',
        ),
        (
            'data-cell="tables/table1.csv:1:fp_rate" data-as="percent"',
            'data-cell="tables/table1.csv:1:fp_rate" data-as="tuned"',
        ),
        ('data-quote="protocol.json#/payer"', 'data-quote="protocol.json#/nobody"'),
        ('data-quote="protocol.json#/payer"', 'data-quote="datapackage.json#/payer"'),
        ('data-over="count tables/documents.csv?arm=A"', 'data-over="count tables/documents.csv?arm=B"'),
        ('data-over="count tables/documents.csv?arm=A"', 'data-over="count tables/documents.csv?nothing=B"'),
        (
            '<circle data-cell="tables/table1.csv:1:fp_rate" cx="10.4167%"',
            '<circle data-cell="tables/table1.csv:1:fp_rate" cx="1.4167%"',
        ),
        ('cy="50%" r="4"', 'cy="50%" r="40"'),
        (
            '<circle data-cell="tables/table1.csv:1:fp_rate" cx="10.4167%"',
            '<circle data-cell="tables/table1.csv:1:fp_low" cx="4.5267%"',
        ),
        ('data-from="tables/table1.csv:1:fp_low"', 'data-from="tables/table1.csv:2:fp_low"'),
        (' x2="22.1', ' x2="12.1'),
        ('<line class="grid" x1="25%" x2="25%"', '<line class="grid" x1="25%" x2="90%"'),
        ('href="../tables/rates.csv"', 'href="https://example.org/rates.csv"'),
        ('href="../tables/rates.csv"', 'href="javascript:alert(1)"'),
        ('href="../tables/rates.csv"', 'href="../../elsewhere.csv"'),
        ('aria-label="Contents"', 'aria-label="Zebra is wrong in 9 of 10"'),
        ('<caption id="one-caption">', '<caption id="one-caption" title="5 %">'),
        ('<caption id="one-caption">', '<caption id="one-caption" style="color: red">'),
        ('<caption id="one-caption">', '<caption id="one-caption" onclick="alert()">'),
        ('<caption id="one-caption">', '<caption id="one-caption" hidden="">'),
        ('content="light dark"', 'content="0; url=https://example.org"'),
    ],
)
def test_an_attribute_that_lies(bundle: Path, old: str, new: str) -> None:
    _caught(bundle, _forge(bundle, old, new))


@pytest.mark.parametrize(
    "added",
    [
        "<p>It is right in 99 of 100 cases.</p>",
        "<p>It is right in ９９ of １００ cases, or ½, or Ⅻ.</p>",
        "<p>It is right in 九十九 cases.</p>",
        "<p>Muskrat is the most accurate of all.</p>",
        "<p>And the winner is muskrat.</p>",
        "<p>A text with a hidden\u200bmark.</p>",
        '<p><span data-fixed="">50</span> of the texts.</p>',
        '<p><span data-fixed="">99 %</span> of the texts.</p>',
        '<p><span data-cell="tables/table1.csv:1:fp_rate" data-as="percent"><small>10.42\u00a0%</small></span></p>',
        '<p><span data-cell="tables/table1.csv:1:human_n" data-over="count screening.csv" data-as="text">48</span></p>',
        "<script>alert(1)</script>",
        '<iframe src="page.html"></iframe>',
        '<img src="https://example.org/pixel.png">',
        '<object data="x"></object>',
        '<link rel="stylesheet" href="https://example.org/x.css">',
        "<style>td { color: red }</style>",
        "<!-- 5 % -->",
        "<p>A tag that is not closed",
        "<p>&nbsp;</p>",
        "<p><div>In a paragraph.</div></p>",
        "<p>A stray < sign.</p>",
        "</section></main></body></html><p>after the end</p>",
        '<a href="#check"><span><a href="#seals">a link in a link</a></span></a>',
        "<ol><li>A list that counts.</li></ol>",
        "<div>" * 60 + "</div>" * 60,
    ],
)
def test_something_added(bundle: Path, added: str) -> None:
    line = _forge(bundle, '<section id="hard-cases"', f'{added}<section id="hard-cases"')
    assert _failed(bundle)
    assert any(check.subject == f"report/index.html:{line}" for check in _failed(bundle)), [
        c.subject for c in _failed(bundle)
    ]


def test_a_row_left_out(bundle: Path) -> None:
    path = bundle / "report" / "index.html"
    text = path.read_text(encoding="utf-8")
    start = text.index('<tr><th scope="row"><span data-cell="tables/table2.csv:4:detector"')
    path.write_text(text[:start] + text[text.index("</tr>", start) + 5 :].lstrip("\n"), encoding="utf-8")
    assert any(check.got == "leaves out tables/table2.csv:5 documents" for check in _failed(bundle))


def test_readings_from_elsewhere_left_out(bundle: Path) -> None:
    """Who typed or kept the answers of a row cannot be dropped from the page."""
    path = bundle / "report" / "index.html"
    text = re.sub("recorded elsewhere: <span[^>]*>3</span>", "", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    assert [check.got for check in _failed(bundle)] == [
        "leaves out count tables/readings.csv?detector=zebra&version=&origin=recorded"
    ]


def test_a_row_folded_away(bundle: Path) -> None:
    """A row that only an unfolded reader sees is left out."""
    _forge(bundle, "<h3>Where the protocol departs", "<details><summary>More</summary><h3>Where the protocol departs")
    _forge(bundle, "<h3>What went otherwise", "</details><h3>What went otherwise")
    assert any(check.got == "leaves out tables/departures.csv:2 rule" for check in _failed(bundle))


@pytest.mark.parametrize(
    ("old", "new", "got"),
    [
        (
            '<span data-quote="protocol.json#/people/0/interests" data-as="text">'
            "Works for the vendor of aardvark, and owns 2 % of it.</span>",
            "none",
            "leaves out protocol.json#/people/0/interests",
        ),
        (
            '<span data-quote="amendments/0001.json#/what" data-as="text">Arm B takes 20 writers.</span>',
            "",
            "leaves out amendments/0001.json#/what",
        ),
        ("not publicly pre-registered", "publicly announced", "does not say: not publicly pre-registered"),
    ],
)
def test_words_left_out(bundle: Path, old: str, new: str, got: str) -> None:
    _forge(bundle, old, new)
    assert got in [check.got for check in _failed(bundle)]


def test_two_rows_that_change_places(bundle: Path) -> None:
    path = bundle / "report" / "index.html"
    text = path.read_text(encoding="utf-8")
    rows = re.findall(
        r'<tr><th scope="row"><span data-cell="tables/table1\.csv:[0-9]:detector".*?</tr>', text, re.DOTALL
    )[:2]
    path.write_text(text.replace(rows[0] + "\n" + rows[1], rows[1] + "\n" + rows[0], 1), encoding="utf-8")
    assert any("stands after" in (check.got or "") for check in _failed(bundle))


def test_a_true_figure_in_a_false_row(bundle: Path) -> None:
    """The false positives of one detector, told with their own citation, in the row of another."""
    line = _forge(
        bundle,
        '<span data-cell="tables/table1.csv:1:false_positives" data-as="count">5</span>',
        '<span data-cell="tables/table1.csv:3:false_positives" data-as="count">3</span>',
    )
    failed = _failed(bundle)
    assert any("mixes the lines 2, 4" in (check.got or "") for check in failed)
    assert abs(int(failed[0].subject.rpartition(":")[2]) - line) <= 1


_RATE_HEAD = 'data-columns="fp_rate fp_low fp_high">False-positive rate and interval'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">False positives</th>", ">Detections</th>"),
        (_RATE_HEAD, 'data-columns="detection_rate detection_low detection_high">Detection rate and interval'),
        (_RATE_HEAD, 'data-columns="fp_rate fp_low fp_high" class="axis">Never mind'),
    ],
)
def test_a_head_that_lies(bundle: Path, old: str, new: str) -> None:
    _forge(bundle, old, new)
    assert _failed(bundle)


def test_a_row_that_does_not_say_what_it_is_about(bundle: Path) -> None:
    _forge(bundle, '<span data-cell="tables/rates.csv:1:arm" data-as="text">A</span>', "human texts", count=2)
    assert any(check.got == "cites tables/rates.csv:2 and not its arm" for check in _failed(bundle))


def test_a_retrospective_edition_says_so_and_claims_nothing(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "retrospective", tmp_path / "a")
    _forge(tmp_path / "a", "the rules were written after", "the rules were written before", count=-1)
    assert any((check.got or "").startswith("does not say: retrospective") for check in _failed(tmp_path / "a"))
    shutil.copytree(made / "retrospective", tmp_path / "b")
    line = _forge(tmp_path / "b", "Whoever wrote them", "They are pre-committed rules. Whoever wrote them")
    _caught(tmp_path / "b", line)


def test_the_style_sheet_is_one_that_is_known(bundle: Path) -> None:
    sheet = Path(__file__).parents[3] / "src" / "penmark" / "page" / "style.css"
    assert canonical_json.sha256(sheet.read_bytes()) in STYLES, (
        "a new style sheet: add its digest to STYLES, and look at the page"
    )
    _forge(bundle, "--paper: #fffefb", "--paper: #fffff0")
    assert any("in a style sheet of no release" in (check.got or "") for check in _failed(bundle))


@pytest.mark.parametrize(
    ("css", "states"),
    [
        ("td { font-weight: 600 }\n  th{color:CanvasText;padding:0 .5rem}", ["not checked"]),
        ("td { color: #333 }", ["failed"]),
        ("td::after { content: '99 %' }", ["failed"]),
        ("td { display:none }", ["failed"]),
        ("td { DISPLAY : None }", ["failed"]),
        ("td { margin-left: -99px }", ["failed"]),
        ("@import 'x.css';", ["failed"]),
        ("td { background: url(x.png) }", ["failed"]),
        ("td { cont\\65nt: '9' }", ["failed"]),
    ],
)
def test_an_unknown_style_sheet_is_not_vouched_for(bundle: Path, css: str, states: list[str]) -> None:
    path = bundle / "report" / "index.html"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        re.sub(r"<style>.*</style>", lambda _: f"<style>{css}</style>", text, flags=re.DOTALL), encoding="utf-8"
    )
    assert sorted({check.state for check in _check(bundle) if check.state != "ok"}) == states


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe<",
        b"<!doctype html>\n",
        b"<!doctype html>\n<html>",
        b"<!DOCTYPE html>\n<html></html>",
        b"<!doctype html>\n\x00",
        b"<!doctype html>\n</p>",
    ],
)
def test_a_broken_page_is_a_failure_and_no_crash(bundle: Path, data: bytes) -> None:
    (bundle / "report" / "index.html").write_bytes(data)
    assert _failed(bundle)


@pytest.mark.parametrize(
    "path", ["tables/table1.csv", "tables/rates.csv", "protocol.json", "seals/corpus.json", "screening.csv"]
)
@pytest.mark.parametrize("data", [None, b"", b"{}", b"a,b\n1\n", b"\xff\xff\n"])
def test_a_broken_file_that_the_page_cites(bundle: Path, path: str, data: bytes | None) -> None:
    if data is None:
        (bundle / path).unlink()
    else:
        (bundle / path).write_bytes(data)
    assert _failed(bundle)


def test_other_files_beside_the_page(bundle: Path) -> None:
    (bundle / "report" / "more.js").write_text("alert(1)")
    assert [check.subject for check in _failed(bundle)] == ["report/more.js"]


def test_a_second_page_is_checked_too(bundle: Path) -> None:
    (bundle / "report" / "other.html").write_text("<!doctype html>\n<html></html>")
    assert any(check.subject.startswith("report/other.html") for check in _failed(bundle))


def _readme(root: Path) -> list[Check]:
    found = Findings(8, "pages")
    changes_and_readme.check_readme(root, found)
    return [check for check in found.checks() if check.state == "failed"]


def test_the_table_in_the_readme(bundle: Path) -> None:
    table = show_figures.render_markdown_table1((bundle / "tables" / "table1.csv").read_bytes())
    readme = bundle / "README.md"
    readme.write_text(f"# Title\n\n{table}\n\nMore.\n", encoding="utf-8")
    assert not _readme(bundle)
    readme.write_text(f"# Title\n\n{table.replace('5 of 48', '3 of 48')}\n\nMore.\n", encoding="utf-8")
    assert [check.subject for check in _readme(bundle)] == ["README.md:5"]
    readme.write_text("# Title\n\n" + "\n".join(table.split("\n")[:-1]) + "\n", encoding="utf-8")
    assert [check.subject for check in _readme(bundle)] == ["README.md"]
    readme.write_text(f"# A \\<title>\n\n```\n{table}\n```\n\n`a | b <c>`\n", encoding="utf-8")
    assert [check.subject for check in _readme(bundle)] == ["README.md:3", f"README.md:{table.count(chr(10)) + 5}"]


# --- what vendors replied ------------------------------------------------------------------------------------------


@pytest.fixture
def replied(tmp_path: Path) -> Path:
    small = _small_edition()
    edition = small.write(tmp_path / "bundle", timing="retrospective")
    text = "date: 2026-12-01\nfrom: A. N.\n\nWe are the most accurate, and\npre-committed to it.\n"
    (edition.root / "replies").mkdir()
    (edition.root / "replies" / "zebra.md").write_text(text)
    (edition.report / "index.html").write_bytes(render_page(edition, small.tables("retrospective")))
    return Path(edition.root)


def test_a_page_with_a_reply_holds(replied: Path) -> None:
    checks = _check(replied)
    assert [check.state for check in checks] == ["ok"], [f"{c.subject}: {c.got} / {c.expected}" for c in checks]


@pytest.mark.parametrize(
    ("old", "new", "got"),
    [
        ("We are the most", "We are not the most", "We are not the most accurate"),
        ("<h4>What the vendor replied</h4>", "<h4>What the most accurate vendor replied</h4>", "says most accurate"),
    ],
)
def test_a_reply_that_was_edited_on_the_page(replied: Path, old: str, new: str, got: str) -> None:
    _forge(replied, old, new)
    assert any(got in str(check.got) for check in _failed(replied))


def test_a_reply_that_the_page_leaves_out(replied: Path) -> None:
    path = replied / "report" / "index.html"
    text = re.sub(r'\n<p class="reply">.*?</p>', "", path.read_text(), flags=re.DOTALL)
    path.write_text(text)
    [check] = _failed(replied)
    assert check.got == "leaves out replies/zebra.md#/reply"


@pytest.mark.parametrize("text", ["We disagree.\n", "date: 2026-12-02\nfrom: A. N.\n\nOther words.\n"])
def test_a_reply_that_is_another_than_the_page_has(replied: Path, text: str) -> None:
    (replied / "replies" / "zebra.md").write_text(text)
    assert _failed(replied)


def test_a_reply_about_nobody_is_on_no_page(replied: Path) -> None:
    (replied / "replies" / "yak.md").write_text("date: 2026-12-02\nfrom: A. N.\n\nWords.\n")
    assert {check.got for check in _failed(replied)} == {
        f"leaves out replies/yak.md#/{p}" for p in ("date", "from", "reply")
    }


def test_settings_that_a_page_leaves_out(bundle: Path) -> None:
    path = bundle / "report" / "index.html"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"<dt>Settings sent</dt><dd>.*?</dd>", "", text), encoding="utf-8")
    got = {check.got for check in _failed(bundle)}
    assert got == {f"leaves out protocol.json#/detectors/{n}/settings" for n in range(3)}
