"""`penmark scan` with vendors, as a user sees it: plan, check, budget, limits, what is printed and which exit code follows."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_study import detector
from tests.stages.scan.vendors import Place, text, vendors

from penmark.cli import invoke
from penmark.cli.progress import Now, Progress
from penmark.errors import UsageError
from penmark.protocol import amendments
from penmark.stages.scan import open_scan, pilot

TEXTS: dict[str, str | bytes] = {f"{number:02d}": text(number) for number in range(6)}
WORDS = sum(len(str(raw).split()) for raw in TEXTS.values()) + 2 * 357


def scan(place: Place, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = invoke(["-C", str(place.study.root), "scan", *options])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_plan_says_what_it_costs_how_long_it_takes_and_which_keys_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"00": {"words": 30, "characters": 100}}
    names: dict[str, dict[str, Any]] = {"copyleaks": {}, "gptzero": {}, "sapling": {}}
    with vendors(tmp_path, TEXTS, names, others=[detector("coin")], fields=fields) as place:
        monkeypatch.delenv("SAPLING_API_KEY")
        code, out, _ = scan(place, capsys, "--plan")
        assert code == 0
        words = WORDS - len(text(0).split())
        assert (
            f"""\
gptzero: 5 of 6 documents to ask about (about 1 s, by its limit of 30000 requests in 3600 s)
  1 not scannable: 100 characters, fewer than 250
  costs {words} words (each text rounded as the vendor does it, 2 canary texts among them), and what is asked again
  key in GPTZERO_API_KEY: set
"""
            in out
        )
        assert "coin: 6 of 6 documents to ask about\ncopyleaks: 5 of 6" in out
        assert "  key in SAPLING_API_KEY: NOT SET\n" in out
        assert re.search(rf"in all: 0.\d+ USD, \d+ credits of copyleaks, {words} words of gptzero\n", out)
        assert f"--budget gptzero={words}" in out.splitlines()[-1]
        assert not any(there.ledger.requests for there in place.doubles.values())
        code, out, _ = scan(place, capsys, "--plan", "--json", "--detector", "gptzero", "--pace", "gptzero=1/10")
        value = json.loads(out)
        assert (value["price"], value["currency"], value["to_ask"], value["canaries"]) == (f"{words}", "words", 5, 2)
        assert value["expected_seconds"] == 71
        assert value["variables"] == {"GPTZERO_API_KEY": True}


def test_a_price_that_the_card_does_not_tell_is_a_number_of_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The address is one that nobody has, so that it is not taken for a server on this machine; nothing is sent."""
    elsewhere = {"hive": ("http://127.0.0.1", "https://192.0.2.1")}
    with vendors(tmp_path, TEXTS, {"hive": {}}, change=elsewhere) as place:
        code, out, _ = scan(place, capsys, "--plan")
        assert code == 0
        assert "  costs 8 texts (its card tells no price, 2 canary texts among them), and what is asked again\n" in out
        with pytest.raises(UsageError, match=r"this costs money: hive up to 8 texts\n.*--budget hive=8"):
            scan(place, capsys)


def test_the_check_shows_what_would_be_sent_with_secrets_hidden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with vendors(
        tmp_path, TEXTS, {"copyleaks": {}, "sapling": {}}, detectors={"sapling": {"version": "20251027"}}
    ) as place:
        code, out, _ = scan(place, capsys, "--check")
        assert code == 0
        assert not any(key in out for there in place.doubles.values() for key in there.keys.values())
        assert f"login  POST {place.doubles['copyleaks'].url}/v3/account/login/api\n" in out
        assert '{"email":"{env: COPYLEAKS_EMAIL}","key":"{env: COPYLEAKS_API_KEY}"}' in out
        assert "Authorization: Bearer {token}\n" in out
        assert '"key":"{env: SAPLING_API_KEY}","text":"{text}"' in out
        assert '"version":"20251027"' in out
        monkeypatch.delenv("SAPLING_API_KEY")
        code, out, _ = scan(place, capsys, "--check", "--json")
        assert code == 1
        one, other = (json.loads(line) for line in out.splitlines())
        assert (one["trouble"], one["missing"]) == ([], [])
        assert [shown["step"] for shown in one["requests"]] == ["login", "send"]
        assert other["missing"] == ["SAPLING_API_KEY"]
        assert other["requests"][0]["body"].startswith('{"key":"{env: SAPLING_API_KEY}"')
        assert "SAPLING_API_KEY is not set" in other["trouble"][0]["fact"]
        assert not any(there.ledger.requests for there in place.doubles.values())


def test_a_card_with_a_fault_is_told_at_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {}}) as place:
        for path in (*place.edition.seals.glob("*"), place.edition.manifest):
            path.unlink()
        place.edition.protocol_yaml.write_text(place.edition.protocol_json.read_text())
        card = place.study.cards / "gptzero.yaml"
        lines = card.read_text().splitlines()
        wrong = next(number for number, line in enumerate(lines) if "x-api-key" in line)
        lines[wrong] = lines[wrong].replace("{key}", "{secret}")
        card.write_text("\n".join(lines) + "\n")
        code, out, _ = scan(place, capsys, "--check")
        assert code == 1
        assert out.startswith("FAULT gptzero")
        assert re.search(rf"gptzero.yaml:{wrong + 1}: .*\{{secret\}} is not known here", out)


def test_a_budget_on_the_command_line_holds_and_the_rest_is_work_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with vendors(tmp_path, TEXTS, {"winston": {}}) as place:
        with pytest.raises(UsageError, match=r"this costs money: winston up to .* credits\n.*--plan"):
            scan(place, capsys)
        code, out, err = scan(place, capsys, "--budget", "winston=700")
        assert code == 1
        assert re.search(
            r"winston: 6 documents: 2 answered, 4 left\n  ended: the budget does not suffice: up to \d+ credits", out
        )
        assert re.search(r"  cost \d+ credits of 700\n", out)
        assert "Run the same command again to go on." in err
        assert place.doubles["winston"].ledger.charged <= 700
        code, out, _ = scan(place, capsys, "--budget", "9999", "--json")
        assert code == 0
        [ended] = [json.loads(line) for line in out.splitlines() if '"ended"' in line]
        charged = f"{place.doubles['winston'].ledger.charged}"
        assert ended["cost"] == {"sure": charged, "most": charged, "currency": "credits"}


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        (["--budget", "ten"], "'ten' is no budget"),
        (["--budget", "gptzero=-1"], "is no budget"),
        (["--budget", "gptzero=NaN"], "is no budget"),
        (["--budget", "gptzeros=5"], r"a budget for 'gptzeros'.*did you mean gptzero"),
        (["--at-once", "0"], "is no number of requests"),
        (["--at-once", "gptzero=65"], "is no number of requests"),
        (["--at-once", "gtpzero=2"], r"there is no detector 'gtpzero'.*did you mean gptzero"),
        (["--pace", "5/1"], "is no pace"),
        (["--pace", "gptzero=5"], "is no pace"),
        (["--pace", "gptzero=0/1"], "is no pace"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], fact: str
) -> None:
    with vendors(tmp_path, {"00": TEXTS["00"]}, {"gptzero": {}}) as place:
        with pytest.raises(UsageError, match=fact):
            scan(place, capsys, *options)
        assert not place.doubles["gptzero"].ledger.requests


def test_an_account_that_is_refused_is_exit_code_3_with_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {}}, others=[detector("coin")]) as place:
        monkeypatch.setenv("GPTZERO_API_KEY", "not-the-right-one")
        code, out, _ = scan(place, capsys, "--budget", "99999")
        assert code == 3
        assert "coin: 6 documents: 6 answered\n" in out
        assert "gptzero: 6 documents: none answered, 6 left\n" in out
        assert out.count("API key not found") == 2  # why it ended, and the message
        assert "not-the-right-one" not in out


def test_a_canary_that_changes_is_a_deviation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {"gptzero": {"version_after": 7}}
    with vendors(tmp_path, TEXTS, names, on_version_change="split") as place:
        code, _, err = scan(place, capsys, "--budget", "99999")
        assert code == 0
        assert "deviation: gptzero: the canary text was displayed as" in err
        [told] = amendments.read_deviations(place.edition)
        assert "version 2026-11-15-base" in told.what
        assert told.detector == "gptzero"
        assert scan(place, capsys, "--budget", "99999")[0] == 0
        assert len(amendments.read_deviations(place.edition)) == 1, "told once"
        assert pilot.count_practice_readings(place.edition) == {}, "a canary is no pilot"


def test_a_pilot_with_a_vendor_costs_money_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {}, "pangram": {}}) as place:
        with pytest.raises(UsageError, match="this costs money: gptzero up to 723 words, pangram"):
            scan(place, capsys, "--pilot")
        code, out, _ = scan(place, capsys, "--pilot", "--budget", "gptzero=723", "--detector", "gptzero")
        assert code == 0
        assert "4 practice readings" in out
        assert place.doubles["gptzero"].ledger.billed == 4
        code, out, _ = scan(place, capsys, "--pilot", "--budget", "pangram=0.1", "--detector", "pangram")
        assert place.doubles["pangram"].ledger.charged <= 1


# --- progress ------------------------------------------------------------------------------------------------------


def test_a_quick_scan_prints_one_line_a_detector(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {}}, others=[detector("coin"), detector("length")]) as place:
        _, _, err = scan(place, capsys, "--budget", "99999")
        lines = [line for line in err.splitlines() if " of 6" in line]
        assert sorted(lines) == ["coin: 6 of 6", f"gptzero: 6 of 6, {WORDS - 357} words", "length: 6 of 6"]


def test_a_long_scan_prints_a_line_each_tenth_and_no_more_than_one_in_ten_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {}}) as place:
        with open_scan.begin_scan(place.study, place.edition, [], budgets={"gptzero": 10**6}) as scan:  # type: ignore[dict-item]
            shown, now = Progress(scan, as_json=False), [1000.0]
            monkeypatch.setattr("penmark.cli.progress.time.monotonic", lambda: now[0])
            shown._told["gptzero"] = (-1, 1000.0)
            lines = []
            for second in range(3600):
                now[0] = 1000.0 + second
                state = Now(second, 36_000, 0, 0, 1.0, None, "")
                if shown._is_due("gptzero", state, ended=False):
                    lines.append(second)
        assert lines == [11, 612, 1213, 1814, 2415, 3016], "less than a tenth was done: a line every ten minutes"


def test_a_terminal_gets_a_line_that_lives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {}}) as place:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "200")
        code, _, err = scan(place, capsys, "--budget", "99999")
        assert code == 0
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", err)
        assert re.search(r"gptzero\s+\S*\s+6/6\s+0 declined, 0 failed\s+\d+\.\d/(s|min)\s+\d+ words", plain)


def test_events_tell_rate_cost_and_time_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {}}) as place:
        _, out, _ = scan(place, capsys, "--budget", "99999", "--json")
        events = [json.loads(line) for line in out.splitlines()]
        progress = [event for event in events if event["event"] == "progress"]
        assert progress[-1]["done"] == 6
        assert progress[-1]["rate"] > 0
        assert progress[-1]["seconds_left"] == 0
        assert progress[-1]["cost"].endswith(" words")
