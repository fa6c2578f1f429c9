"""`penmark screen`, as it is typed."""

import csv
import io
import json

import pytest
from tests.cases.case_study import ARCHIVE, Trial, arm, seen, texts, verdicts

from penmark import study
from penmark.cli import invoke
from penmark.errors import UsageError
from penmark.stages import screen


def test_findings_are_kept_and_told_in_short(corpus, capsys):
    made = corpus(corpus.arm("A", "human", 9))
    made.collect("A", *(corpus.draft(f"{i}", f"Text {i} without an end") for i in range(5)))
    place = ["-C", str(made.place.root), "screen"]
    assert invoke(place) == 1
    out = capsys.readouterr().out
    assert "error unmet-quota in A: 1\n    corpus/A/documents.jsonl: 5 documents; the promise is 9\n" in out
    assert "    corpus/A/documents.jsonl:1: 0: ends without a final mark\n" in out
    assert "    and 2 more (screening.csv, or --all)\n" in out
    assert out.endswith("1 error, 6 warnings\n")
    rows = list(csv.DictReader(io.StringIO(made.edition.screening.read_text(), newline="")))
    assert [(r["severity"], r["rule"], r["document"], r["row"]) for r in rows] == [
        ("error", "unmet-quota", "", ""),
        *(("warning", "cut-off", f"{i}", f"{i + 1}") for i in range(5)),
        ("warning", "short-texts", "", ""),
    ]
    assert invoke([*place, "--all"]) == 1
    assert "more" not in capsys.readouterr().out
    assert invoke([*place, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["errors"] == 1


def test_what_is_too_much_is_collected_anew_and_status_leads_there(tmp_path):
    quota = [{"where": {"register": each}, "documents": 1} for each in ("casual", "academic")]
    shown = seen(**verdicts(Human="human", AI="ai"))
    trial = Trial(tmp_path / "study", [arm("A", "human", 2, quotas=quota)], cards=[shown])
    trial.done("commit")
    casual = {name: {"register": "casual"} for name in texts(4)}
    assert trial.collect("A", texts(4), casual).code == 0
    said = trial.run("screen")
    assert said.code == 1
    assert "4 documents; the promise is 2\n" in said.out
    assert "or take out what is too much (`penmark collect A --anew` empties the arm first)" in said.out
    told = trial.edition.screening.read_text()
    assert "Take 2 out of its source, then `penmark collect A --anew`; another size is another promise" in told
    last = trial.run("status").out.splitlines()[-1]
    assert last == f"next: mend the 3 errors in {trial.edition.screening}, then penmark screen"
    path = trial.root.parent / "study-A.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]).replace("casual", "academic", 1))
    options = [f"--option={name}={value}" for name, value in ARCHIVE.items()]
    trial.done("collect", "A", "--anew", "--path", str(path), *options)
    trial.done("screen")
    assert trial.run("status").out.splitlines()[-1] == "next: penmark freeze"


def test_warnings_alone_do_not_fail(corpus, capsys):
    made = corpus(corpus.arm("A", "human", 1))
    made.collect("A", corpus.draft("1", "Without an end"))
    assert invoke(["-C", str(made.place.root), "screen"]) == 0
    assert capsys.readouterr().out.endswith("0 errors, 1 warning\n")
    study.write_bytes(made.edition.seal("corpus"), b"{}")
    kept = made.edition.screening.read_bytes()
    made.place.documents("A").unlink()
    assert invoke(["-C", str(made.place.root), "screen"]) == 1
    assert "screening.csv DIFFERS from what was sealed" in capsys.readouterr().err
    assert made.edition.screening.read_bytes() == kept


def test_the_page_lies_beside_and_notes_are_counted(corpus, capsys):
    made = corpus(corpus.arm("A", "human", 10))
    made.collect("A", *(corpus.draft(f"{i}", f"Text {i} of some length. " * 60) for i in range(10)))
    assert invoke(["-C", str(made.place.root), "screen"]) == 0
    out = capsys.readouterr().out
    assert out.endswith(" warnings, 1 note\n")
    assert "note profile in A: 1\n    of 10 public texts: words from 300 to 300" in out
    page = made.edition.screening.with_suffix(".html").read_text()
    assert "Screening of BENCH-2026-Q4" in page
    assert "of 10 public texts: words from 300 to 300" in page


def test_the_rules_are_told(corpus, capsys):
    assert invoke(["screen", "--rules"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == len(screen.RULES)
    assert "error    empty                     a text without a word\n" in out
    assert invoke(["screen", "--rules", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bom"]["severity"] == "warning"


def test_nothing_to_screen_before_the_promise(corpus):
    made = corpus()
    made.edition.seal("promise").unlink()
    with pytest.raises(UsageError, match="penmark commit"):
        invoke(["-C", str(made.place.root), "screen"])
