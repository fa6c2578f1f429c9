"""Cases about what is printed: counts and their denominators, gaps, groups, and pages that say what the data say."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cases.case_study import ATTESTED, Trial, arm, penmark, read_csv, texts

from penmark.format import show_figures
from penmark.statistics import wilson

UNLIKELY, LIKELY = '{"score": 0.1}', '{"score": 0.9}'


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle: 15 human texts with one flag, 10 AI texts with nine."""
    trial = Trial(tmp_path_factory.mktemp("published") / "study", [arm("A", "human", 15), arm("C", "ai", 10)])
    human = texts(14, UNLIKELY) | texts(1, LIKELY, "flagged")
    trial.frozen(A=human, C=texts(9, LIKELY, "C") | texts(1, UNLIKELY, "missed"))
    trial.done("scan")
    return trial.published()


def forged(bundle: Path, folder: Path, change: Callable[[Path], object]) -> tuple[int, str]:
    """What `verify` says of a copy in which somebody changed something, and corrected the sums."""
    copy = folder / bundle.name
    shutil.copytree(bundle, copy)
    change(copy)
    sums = copy / "SHA256SUMS"
    names = [line.split("  ")[1] for line in sums.read_text().splitlines()]
    sums.write_text("".join(f"{hashlib.sha256((copy / name).read_bytes()).hexdigest()}  {name}\n" for name in names))
    said = penmark("verify", str(copy))
    return said.code, said.out


def edit(path: str, old: str, new: str) -> Callable[[Path], object]:
    """Change the first place of a file of the bundle where ``old`` stands."""

    def change(bundle: Path) -> None:
        text = (bundle / path).read_text()
        assert old in text
        (bundle / path).write_text(text.replace(old, new, 1))

    return change


def failures(out: str) -> str:
    """The lines of `verify` about what failed."""
    return "\n".join(line for line in out.splitlines() if " FAILED " in line)


# --- pages and data ------------------------------------------------------------------------------------------------


def test_c36_a_figure_that_was_changed_on_the_page_is_named(published: Path, tmp_path: Path) -> None:
    page = (published / "report" / "index.html").read_text()
    [cell, *_] = re.findall(r'data-cell="tables/table1.csv:1:false_positives"[^>]*>1<', page)
    code, out = forged(published, tmp_path, edit("report/index.html", cell, cell[:-2] + "0<"))
    assert code == 1
    assert re.search(r"^8 pages +FAILED +report/index.html:\d+", failures(out), re.MULTILINE)


def test_c65_a_rate_credited_to_more_texts_than_were_scanned_is_found(published: Path, tmp_path: Path) -> None:
    """Whatever says 150 where there are 15: a table, the page, or the README."""
    table = (published / "tables" / "table1.csv").read_text()
    [header, row] = table.splitlines()
    at = header.split(",").index("human_n")
    cells = row.split(",")
    changed = ",".join([*cells[:at], "150", *cells[at + 1 :]])
    assert cells[at] == "15"
    for number, (file, old, new, check) in enumerate(
        [
            ("tables/table1.csv", row, changed, "7 tables"),
            ("tables/rates.csv", "A,,,15,15,1", "A,,,150,150,1", "7 tables"),
            ("README.md", "1 of 15", "1 of 150", "8 pages"),
            ("manifest.jsonl", '"documents":25', '"documents":250', "4 corpus"),
        ]
    ):
        code, out = forged(published, tmp_path / str(number), edit(file, old, new))
        assert code == 1
        assert file in failures(out)
        assert check in failures(out)


def test_c36_pages_are_made_from_the_tables_and_never_go_stale(published: Path) -> None:
    said = penmark("verify", str(published))
    assert said.code == 0, said.out
    assert "every figure as in the file that it names" in said.out
    page = (published / "report" / "index.html").read_text()
    assert "winner" not in page.lower().replace("there is no winner", "").replace("no winner", "")


# --- denominators and gaps -------------------------------------------------------------------------------------------


def test_c15_a_part_of_the_results_is_shown_and_named_incomplete(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 15), arm("C", "ai", 5)])
    registers = {f"A-{n:03d}": {"register": "letters" if n % 2 else "essays"} for n in range(1, 16)}
    trial.frozen(registers, A=texts(15), C=texts(5, prefix="C"))
    rows = [{"id": f"A-{n:03d}", "score": 0.9 if n == 1 else 0.1} for n in range(1, 15)]
    assert trial.record("says", rows, "--map", "document=id").code == 0
    said = trial.run("report")
    assert said.code == 1
    assert "6 pairs of detector and document were not asked: says 6" in said.err
    assert "penmark report --close" in said.err
    assert not trial.edition.tables.exists()
    trial.done("report", "--close")
    [row] = trial.table("table1")
    assert (row["status"], row["human_documents"], row["human_n"]) == ("INCOMPLETE 14 of 20", "15", "14")
    assert (row["not_run"], row["human_mix"], row["false_positives"]) == ("6", "14 A", "1")
    slices = {row["slice"]: row for row in trial.table("rates") if row["arm"] == "A" and row["slice_by"] == "register"}
    assert [slices["letters"][name] for name in ("documents", "n", "k", "not_run")] == ["8", "7", "1", "1"]
    assert [slices["essays"][name] for name in ("documents", "n", "k", "not_run")] == ["7", "7", "0", "0"]
    whole = trial.whole("C")
    assert [whole[name] for name in ("documents", "n", "not_run", "rate", "low")] == ["5", "0", "5", "", ""]
    page = (trial.edition.report / "index.html").read_text()
    assert "INCOMPLETE 14 of 20" in page


def test_c13_an_arm_that_the_manifest_lists_is_never_empty(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 3), arm("C", "ai", 2)])
    trial.frozen(A=texts(3), C=texts(2, prefix="C"))
    trial.done("scan")
    manifest = trial.edition.manifest
    whole = manifest.read_bytes()
    manifest.write_bytes(b"".join(line for line in whole.splitlines(keepends=True) if b'"arm":"C"' not in line))
    said = trial.run("report")
    assert (said.code, said.out) == (1, "")
    assert "manifest.jsonl" in said.err
    assert not trial.edition.tables.exists()
    manifest.write_bytes(whole)
    trial.done("report")


def test_c18_a_group_without_an_answer_has_blanks_and_the_others_their_rates(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 6)])
    registers = {f"A-{n:03d}": {"register": "essays"} for n in range(1, 5)}
    registers |= {f"letter-{n:03d}": {"register": "letters"} for n in range(1, 3)}
    trial.frozen(registers, A=texts(4) | texts(2, "refuse", "letter"))
    trial.done("scan")
    trial.done("report")
    found = {row["slice"]: row for row in trial.table("rates") if row["slice_by"] == "register"}
    assert set(found) == {"essays", "letters"}
    shown = ("documents", "n", "k", "no_result", "rate", "low", "high")
    assert [found["letters"][name] for name in shown] == ["2", "0", "0", "2", "", "", ""]
    assert [found["essays"][name] for name in shown[:5]] == ["4", "4", "0", "0", "0.000000"]
    assert found["letters"]["worst_low"] == "0.000000"
    assert found["letters"]["worst_high"] == "1.000000"


def test_groups_are_printed_apart_and_the_pool_never_alone(tmp_path: Path) -> None:
    """1 of 40 native and 8 of 35 non-native writers: 2.50 % and 22.86 %; together 9 of 75, which is neither."""
    writers = {f"n{n:02d}": "native" for n in range(40)} | {f"x{n:02d}": "non-native" for n in range(35)}
    trial = Trial(tmp_path / "study", [arm("B", "human", 75)])
    trial.done("commit")
    given = {name: f"The text of the writer {name}.\n{UNLIKELY}" for name in writers}
    fields = {name: {"subgroup": group, "author": name} for name, group in writers.items()}
    assert trial.collect("B", given, fields, **ATTESTED).code == 0
    trial.done("freeze")
    flagged = {"n07", *(f"x{n:02d}" for n in range(8))}
    rows = [{"id": name, "score": 0.9 if name in flagged else 0.1} for name in writers]
    assert trial.record("says", rows, "--map", "document=id").code == 0
    trial.done("report")
    groups = {row["group"]: (row["k"], row["n"], row["rate"]) for row in trial.table("table2")}
    assert groups == {
        "native volunteers": ("1", "40", "0.025000"),
        "non-native volunteers": ("8", "35", "0.228571"),
    }
    whole = trial.whole("B")
    assert (whole["k"], whole["n"], whole["rate"]) == ("9", "75", "0.120000")
    page = (trial.edition.report / "index.html").read_text()
    for shown in ("2.50", "22.86", "12.00"):
        assert shown in page
    assert "12.68" not in page  # the mean of the two rates is nobody's rate


def test_no_figure_depends_on_the_mix_of_human_and_ai_texts(published: Path) -> None:
    """Accuracy and its kin change with how many texts of each kind there are: no table and no page has them."""
    heads = [path.read_text().split("\n", 1)[0] for path in (published / "tables").glob("*.csv")]
    pages = [(published / name).read_text() for name in ("README.md", "report/index.html")]
    for word in ("accuracy", "accurate", "precision", "f1"):
        assert not [text for text in (*heads, *pages) if re.search(rf"\b{word}\b", text, re.IGNORECASE)], word


# --- intervals and rounding ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [(38, 38), (0, 77), (0, 150), (2, 199)])
def test_c34_bounds_lie_inside_and_are_never_of_zero_width(k: int, n: int) -> None:
    found = wilson.compute_wilson(k, n)
    assert found is not None
    low, high = wilson.format_six(found.low), wilson.format_six(found.high)
    assert 0 <= found.low < found.high <= 1
    assert not low.startswith("-")
    assert (low == "0.000000") == (k == 0)
    assert (high == "1.000000") == (k == n)
    assert (k, n) != (2, 199) or (low, high) == ("0.002760", "0.035898")


@pytest.mark.parametrize(
    ("k", "n", "shown"),
    [
        (149, 150, "99.33"),
        (9_999, 10_000, "99.99"),
        (99_999, 100_000, ">99.99"),
        (1, 100_000, "<0.01"),
        (150, 150, "100.00"),
        (0, 150, "0.00"),
    ],
)
def test_c56_nothing_is_made_certain_by_rounding(k: int, n: int, shown: str) -> None:
    assert show_figures.show_value(wilson.format_six(wilson.compute_rate(k, n)), "points") == shown


# --- quarters --------------------------------------------------------------------------------------------------------


def test_c57_an_edition_is_of_its_quarter_in_utc(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)], edition="BENCH-2026-Q9")
    said = trial.run("status")
    assert said.code == 1
    assert "edition" in said.out
    assert "BENCH-2026-Q9" in said.out
    # A window outside of the quarter that the tag names is a departure, told and published.
    assert penmark("init", str(tmp_path / "real"), "--template", "small").code == 0
    [path] = (tmp_path / "real").glob("editions/*/protocol.yaml")
    text = path.read_text()
    path.write_text(
        re.sub(r"window: \{opens: [0-9-]+, closes: [0-9-]+\}", "window: {opens: 2001-12-30, closes: 2002-01-02}", text)
    )
    said = penmark("-C", str(tmp_path / "real"), "status")
    assert "The scan window does not lie in the quarter that the edition's tag names." in said.out


def test_every_reading_of_a_bundle_can_be_recounted(published: Path) -> None:
    """The counts of rates.csv are those of readings.csv, counted by somebody who has only the tables."""
    readings = read_csv(published / "tables" / "readings.csv")
    for row in read_csv(published / "tables" / "rates.csv"):
        if row["slice_by"] == "":
            mine = [each for each in readings if each["arm"] == row["arm"]]
            assert len(mine) == int(row["documents"])
            assert sum(each["call"] != "" for each in mine) == int(row["n"])
            assert sum(each["call"] == "ai" for each in mine) == int(row["k"])
    assert json.loads((published / "manifest.jsonl").read_text().splitlines()[0])["documents"] == 25
