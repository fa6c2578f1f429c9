"""A scan of vendors that are asked over HTTP, against their doubles: what is sent, kept, charged, tried again, stopped."""

from __future__ import annotations

import itertools
import json
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_study import attested, detector
from tests.stages.scan.vendors import Place, text, vendors

from penmark.errors import FaultsError, ServiceError, UsageError
from penmark.format import canonical_json
from penmark.journal import STOPPED, evidence_log
from penmark.records import Pace
from penmark.stages.scan import budget, canary, open_scan, private_log, scan_readiness
from penmark.stages.scan.budget import ALL, MAYBE
from penmark.stages.scan.outcome import NOT_SENT
from penmark.testing.doubles import VENDORS, Behaviour

EVERY = [name for name in sorted(VENDORS) if name != "originality-turbo"]
"""The two of Originality.ai have one key."""
TEXTS = {f"{number:02d}": text(number) for number in range(12)}


def noted(place: Place, name: str) -> list[dict[str, Any]]:
    """The exchanges of a detector."""
    return list(private_log.read_notes(private_log.locate_exchanges(place.study, place.edition.tag, name)))


def held(root: Path) -> bytes:
    """Every byte of every file of a study."""
    return b"\n".join(path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file())


# --- the plain case ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Every vendor asked about twelve texts; each answer, to whichever request, repeats the key in header, address and body."""
    steps = {name: dict.fromkeys(step for *_, step in VENDORS[name].routes) for name in EVERY}
    echo = {
        name: {"behaviours": [Behaviour("echo key", at=step, times=None) for step in every]}  # type: ignore[arg-type]
        for name, every in steps.items()
    }
    with vendors(tmp_path_factory.mktemp("every"), TEXTS, echo) as place:
        yield place, {each.detector: each for each in place.scan()}


@pytest.mark.parametrize("name", EVERY)
def test_each_text_is_asked_about_once_and_the_canary_first_and_last(scanned: Any, name: str) -> None:
    place, ended = scanned
    each, ledger = ended[name], place.doubles[name].ledger
    assert (each.counts["answered"], each.tally.ended, each.tally.error) == (12, "done", None)
    assert place.journal(name).first_sent().to_list() == place.order(list(TEXTS))
    assert ledger.billed == 12 + canary.TIMES
    assert sorted(ledger.texts.values()) == [1] * 12 + [2]
    assert ledger.leaks == 0
    if each.account is not None:
        assert (each.account.due, each.account.currency) == (ledger.charged, ledger.currency)
    assert [item.document for item in evidence_log.read_evidence(place.edition.evidence, name)] == place.journal(
        name
    ).readings["document"].to_list()


@pytest.mark.parametrize("name", EVERY)
def test_a_key_is_in_no_file_of_the_study(scanned: Any, name: str) -> None:
    place, _ = scanned
    everything = held(place.study.root)
    assert b"[hidden]" in everything
    for key in place.doubles[name].keys.values():
        assert key.encode() not in everything
        assert json.dumps(key)[1:-1].encode() not in everything
    bodies = [item.body for item in evidence_log.read_evidence(place.edition.evidence, name)]
    assert all(b"[hidden]" in body for body in bodies), "the double has repeated its key"
    assert all(
        any(header.startswith("x-debug: ") for header in line["headers"])
        for line in noted(place, name)
        if line["headers"]
    )


@pytest.mark.parametrize("name", EVERY)
def test_each_exchange_is_noted_without_the_text(scanned: Any, name: str) -> None:
    place, _ = scanned
    lines = noted(place, name)
    assert {line["document"] for line in lines} == set(TEXTS)
    assert {line["status"] for line in lines} == {200}
    digests = {row["evidence_sha256"] for row in place.readings(name).values()}
    assert digests <= {line["body_sha256"] for line in lines}
    assert "nothing in particular" not in json.dumps(lines)


def test_a_second_scan_asks_nobody_and_needs_no_key(scanned: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place, _ = scanned
    before = {name: there.ledger.requests.total() for name, there in place.doubles.items()}
    for variable in ("GPTZERO_API_KEY", "PANGRAM_API_KEY"):
        monkeypatch.delenv(variable)
    assert {each.tally.ended for each in place.scan(budgets={})} == {"nothing was left to ask"}
    assert before == {name: there.ledger.requests.total() for name, there in place.doubles.items()}


def test_the_callers_own_id_says_nothing_and_stays_the_same(tmp_path: Path) -> None:
    with vendors(tmp_path, TEXTS, {"copyleaks": {}}) as place:
        place.scan()
        ids = {
            line["document"]: line["url"].split("/")[-2] for line in noted(place, "copyleaks") if line["step"] == "send"
        }
    seed = bytes(range(32))
    assert ids == {
        name: canonical_json.rank_name(seed, "call", f"BENCH-2026-Q4/copyleaks/{name}")[:16].hex() for name in TEXTS
    }


# --- keys and accounts ---------------------------------------------------------------------------------------------


def test_a_key_that_is_missing_is_told_before_anything_is_sent_and_only_where_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {}, "sapling": {}}) as place:
        monkeypatch.delenv("SAPLING_API_KEY")
        with pytest.raises(UsageError, match="detector sapling: the environment variable SAPLING_API_KEY is not set"):
            place.scan()
        monkeypatch.delenv("GPTZERO_API_KEY")
        with pytest.raises(FaultsError, match=r"GPTZERO_API_KEY[\s\S]*SAPLING_API_KEY") as caught:
            place.scan()
        assert caught.value.exit_code == 2
        assert not list(place.edition.journals.glob("*"))
        monkeypatch.setenv("GPTZERO_API_KEY", place.doubles["gptzero"].keys["key"])
        assert [each.counts["answered"] for each in place.scan("gptzero")] == [12]
        assert place.doubles["sapling"].ledger.requests.total() == 0


def test_a_bad_key_costs_one_call_stops_that_vendor_and_uses_up_no_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {}, "sapling": {}}, others=[detector("coin")]) as place:
        monkeypatch.setenv("GPTZERO_API_KEY", "not-the-key")
        ended = {each.detector: each for each in place.scan()}
        assert {name: each.counts["answered"] for name, each in ended.items()} == {
            "coin": 12,
            "gptzero": 0,
            "sapling": 12,
        }
        assert isinstance(ended["gptzero"].tally.error, ServiceError)
        assert "HTTP 404" in str(ended["gptzero"].tally.error)
        assert "API key not found" in str(ended["gptzero"].tally.error)
        assert place.doubles["gptzero"].ledger.requests["send"] == 1
        assert place.journal("gptzero").sent.height == 0, "the canary went first"
        monkeypatch.setenv("GPTZERO_API_KEY", place.doubles["gptzero"].keys["key"])
        [again] = place.scan("gptzero")
        assert again.counts["answered"] == 12
        assert {row["attempt"] for row in place.readings("gptzero").values()} == {1}


def test_money_that_runs_out_at_the_vendor_stops_it_and_the_refused_text_is_asked_about_later(tmp_path: Path) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {"credit": 6}}) as place:
        [ended] = place.scan(limits=scan_readiness.ScanLimits(connections={"gptzero": 1}))
        assert (ended.counts["answered"], ended.counts["to_ask"], ended.in_doubt) == (5, 7, [])
        assert "the words of the plan are used up" in str(ended.tally.error)
        first, *others = place.journal("gptzero").retries.select("document", "attempt", "reason").iter_rows()
        document, attempt, why = first
        assert why.startswith(f"{STOPPED}HTTP 429")
        assert attempt == 1
        assert {why for _, _, why in others} <= {NOT_SENT}
        place.doubles["gptzero"].vendor.credit = None
        [again] = place.scan()
        assert again.counts["answered"] == 12
        sent = place.journal("gptzero").sent
        assert sent.filter(sent["document"] == document)["attempt"].to_list() == [1, 1]
        assert place.doubles["gptzero"].ledger.billed == 12 + 3


def test_texts_that_are_all_refused_alike_stop_the_vendor_before_the_corpus_is_gone(tmp_path: Path) -> None:
    always = {"behaviours": [Behaviour("too short", times=None)]}
    with vendors(tmp_path, TEXTS, {"pangram": always}) as place:
        [ended] = place.scan()
        assert (ended.counts["declined"], ended.counts["to_ask"]) == (0, 12)
        assert "texts in a row came to nothing alike" in str(ended.tally.error)
        assert "HTTP 422 (text too short)" in str(ended.tally.error)
        accepted = place.scan(accepted=["pangram"])[0]
        assert (accepted.counts["declined"], accepted.counts["to_ask"]) == (12, 0)
        assert {row["reason"] for row in place.readings("pangram").values()} == {"HTTP 422 (text too short)"}


# --- what goes wrong on the way ------------------------------------------------------------------------------------


def test_only_failures_in_transport_are_tried_again_and_what_they_may_have_cost_is_told(tmp_path: Path) -> None:
    acts = [None, "busy", "drop after", None, "rate limited", "half body"]
    with vendors(tmp_path, TEXTS, {"gptzero": {"behaviours": acts}}) as place:
        [ended] = place.scan()
        found, ledger = place.journal("gptzero"), place.doubles["gptzero"].ledger
        assert ended.counts["answered"] == 12
        assert found.retries.height == 4
        assert sorted(why.endswith(MAYBE) for why in found.retries["reason"]) == [False, True, True, True]
        assert found.sent.height == 16
        assert ended.account is not None
        assert ended.account.sure <= ledger.charged <= ended.account.due


def test_a_text_that_gets_no_answer_has_failed_and_the_others_go_on(tmp_path: Path) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {"behaviours": [None, *["broken"] * 3]}}) as place:
        [ended] = place.scan(limits=scan_readiness.ScanLimits(connections={"gptzero": 1}))
        assert (ended.counts["failed"], ended.counts["answered"], ended.counts["to_ask"]) == (1, 11, 0)
        [failed] = [row for row in place.readings("gptzero").values() if row["state"] == "failed"]
        assert (failed["attempt"], failed["reason"]) == (3, f"HTTP 500 (internal){MAYBE}")
        assert ended.tally.error is None


def test_an_outage_does_not_eat_the_corpus(tmp_path: Path) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {"behaviours": [None, Behaviour("drop before", times=None)]}}) as place:
        [ended] = place.scan()
        assert (ended.counts["answered"], ended.counts["failed"], ended.counts["to_ask"]) == (0, 3, 9)
        assert "3 texts in a row got no answer" in str(ended.tally.error)


def test_retry_after_holds_back_every_request(tmp_path: Path) -> None:
    acts = [None, None, None, Behaviour("rate limited", retry_after="0.4")]
    times: list[tuple[float, int]] = []
    with vendors(tmp_path, TEXTS, {"gptzero": {"behaviours": acts}}) as place:
        came = place.doubles["gptzero"].ledger.came
        place.doubles["gptzero"].ledger.came = lambda step: (times.append((time.monotonic(), len(times))), came(step))[
            1
        ]  # type: ignore[method-assign]
        [ended] = place.scan(limits=scan_readiness.ScanLimits(connections={"gptzero": 1}))
    assert ended.counts["answered"] == 12
    gaps = [after - before for (before, _), (after, _) in itertools.pairwise(times)]
    assert gaps[3] >= 0.38


@pytest.mark.parametrize("header", ["86400", "Wed, 01 Jan 2098 00:00:00 GMT"])
def test_a_vendor_that_wants_a_day_of_rest_is_left_to_the_next_scan(tmp_path: Path, header: str) -> None:
    acts = [None, None, Behaviour("rate limited", retry_after=header)]
    with vendors(tmp_path, TEXTS, {"sapling": {"behaviours": acts}}) as place:
        [ended] = place.scan(limits=scan_readiness.ScanLimits(connections={"sapling": 1}))
        assert (ended.counts["answered"], ended.counts["to_ask"], ended.in_doubt) == (1, 11, [])
        assert "asks to be left alone for" in str(ended.tally.error)
        [again] = place.scan()
        assert again.counts["answered"] == 12
        assert {row["attempt"] for row in place.readings("sapling").values()} == {1}


@pytest.mark.parametrize("dead", [False, True], ids=["slow", "dead"])
def test_a_slow_or_dead_vendor_holds_up_nobody(tmp_path: Path, dead: bool) -> None:
    slow = {"behaviours": [Behaviour("slow", times=None, seconds=60)]}
    hasty = ("    price:", "    timeout: 1\n    price:")
    nowhere = ("http://127.0.0.1:", "http://127.0.0.1:1/at/")  # nobody listens there
    change = {"gptzero": nowhere if dead else hasty}
    names: dict[str, dict[str, Any]] = {"gptzero": slow, "sapling": {}}
    with vendors(tmp_path, TEXTS, names, others=[detector("coin")], change=change, attempts=1) as place:
        ended: list[str] = []

        def tell(lane: Any, part: Any) -> None:
            if lane.tally.ended is not None:
                ended.append(part.detector.name)

        budgets = {"gptzero": Decimal(10**6), "sapling": Decimal(10**6)}
        with open_scan.begin_scan(place.study, place.edition, [], budgets=budgets, pause=lambda failures: 0.0) as scan:
            told = {each.detector: each for each in scan.run(tell)}
        assert {name: each.counts["answered"] for name, each in told.items()} == {
            "coin": 12,
            "gptzero": 0,
            "sapling": 12,
        }
        assert dead or ended[-1] == "gptzero", "the others did not wait for it"
        assert (told["gptzero"].counts["failed"], told["gptzero"].counts["to_ask"]) == (3, 9)
        assert ("no connection" if dead else "no answer in time") in str(told["gptzero"].tally.error)


@pytest.mark.parametrize("policy", ["stop", "split"])
def test_a_version_that_changes_in_mid_scan_is_dealt_with_as_promised(tmp_path: Path, policy: str) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {"version_after": 5}}, on_version_change=policy) as place:
        [ended] = place.scan(limits=scan_readiness.ScanLimits(connections={"gptzero": 1}))
        rows = place.readings("gptzero")
    before, after = "2026-09-30-base", "2026-11-15-base"
    versions = [row["version"] for row in rows.values()]
    changed = [what for what in ended.changes if what.startswith("the version changed")]
    assert len(changed) == 1
    assert f"from {before} to {after}" in changed[0]
    assert f"the promise says: {policy}" in changed[0]
    if policy == "stop":
        assert (versions.count(before), versions.count(after), ended.counts["to_ask"]) == (
            4,
            12 - 4 - ended.counts["to_ask"],
            ended.counts["to_ask"],
        )
        assert ended.counts["to_ask"] > 0, "what was in flight has ended, and no more was sent"
        assert ended.tally.ended is not None
        assert ended.tally.ended.startswith("the version changed")
    else:
        assert (versions.count(before), versions.count(after), ended.counts["to_ask"]) == (4, 8, 0)
        [drift] = [what for what in ended.changes if what.startswith("the canary")]
        assert f"version {before}" in drift
        assert f"version {after}" in drift


def test_an_answer_about_another_text_is_no_result(tmp_path: Path) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {"behaviours": [None, "echo changed"]}}) as place:
        [ended] = place.scan()
        assert (ended.counts["declined"], ended.counts["answered"]) == (1, 11)
        assert "other text scanned" in {row["reason"] for row in place.readings("gptzero").values()}


# --- consent -------------------------------------------------------------------------------------------------------


def test_a_text_goes_only_to_the_vendors_that_its_author_named(tmp_path: Path) -> None:
    fields = {
        "00": {"provenance": attested("GPTZero")},
        "01": {"provenance": attested("Sapling")},
        "02": {"provenance": attested()},
        "03": {"provenance": attested("*"), "withheld": "the author said so", "words": None, "characters": None,
               "canonical_sha256": None},
    }  # fmt: skip
    with vendors(tmp_path, TEXTS, {"gptzero": {}, "sapling": {}}, fields=fields) as place:
        place.scan()
        for name, vendor, kept in (("gptzero", "GPTZero", {"01", "02"}), ("sapling", "Sapling", {"00", "02"})):
            skipped = dict(place.journal(name).skipped.select("document", "reason").iter_rows())
            assert skipped == dict.fromkeys(kept, f"no consent for {vendor}")
            assert set(place.readings(name)) == set(TEXTS) - kept
            sent = {canonical_json.sha256(raw.encode()) for raw in (TEXTS[each] for each in kept)}
            assert not sent & set(place.doubles[name].ledger.texts)


# --- money ---------------------------------------------------------------------------------------------------------


def test_nothing_is_sent_to_a_vendor_that_costs_without_a_budget(tmp_path: Path) -> None:
    with vendors(tmp_path, TEXTS, {"gptzero": {}, "pangram": {}}, others=[detector("coin")]) as place:
        with pytest.raises(
            UsageError, match=r"this costs money: gptzero up to .* words, pangram up to 1.6 USD"
        ) as caught:
            place.scan(budgets={})
        assert "--budget gptzero=" in str(caught.value)
        with pytest.raises(UsageError, match="this costs money: pangram"):
            place.scan(budgets={"gptzero": Decimal(9999)})
        with pytest.raises(UsageError, match="prices are in USD and words of gptzero, so one budget cannot hold them"):
            place.scan(budgets={ALL: Decimal(9999)})
        with pytest.raises(UsageError, match=r"budget for 'gptzeros'.*did you mean gptzero"):
            place.scan(budgets={"gptzeros": Decimal(9999)})
        assert all(there.ledger.requests.total() == 0 for there in place.doubles.values())
        assert [each.counts["answered"] for each in place.scan("coin", budgets={})] == [12]


@pytest.mark.parametrize("texts", [0, 1, 5])
def test_a_budget_is_a_hard_stop_before_the_call_that_would_exceed_it(tmp_path: Path, texts: int) -> None:
    with vendors(tmp_path, TEXTS, {"winston": {}}) as place:
        each, bird = len(text(1).split()), 357
        budget = Decimal(bird + texts * each + each - 1)
        [ended] = place.scan(budgets={"winston": budget})
        assert place.doubles["winston"].ledger.charged == bird + texts * each <= budget
        assert (ended.counts["answered"], ended.counts["to_ask"], ended.in_doubt) == (texts, 12 - texts, [])
        assert ended.tally.ended is not None
        assert ended.tally.ended.startswith("the budget does not suffice: up to")
        [ended] = place.scan(budgets={"winston": budget})
        assert place.doubles["winston"].ledger.charged <= budget, "it holds over all scans together"
        [ended] = place.scan()
        assert ended.counts["answered"] == 12


def test_one_budget_for_all_holds_for_all_together(tmp_path: Path) -> None:
    with vendors(tmp_path, TEXTS, {"pangram": {}, "sapling": {}}) as place:
        ended = place.scan(budgets={ALL: Decimal("0.5")})
        charged = sum(there.ledger.charged for there in place.doubles.values())
        assert Decimal("0.3") < charged <= Decimal("0.5")
        assert any(each.counts["to_ask"] for each in ended)
        with pytest.raises(UsageError, match="in USD and credits of winston, so one budget"):
            budget.make_budget({"pangram": "USD", "winston": "credits"}, {ALL: Decimal(1)}, ["pangram", "winston"])
        with pytest.raises(UsageError, match="credits of copyleaks and credits of winston, so one budget"):
            budget.make_budget(
                {"copyleaks": "credits", "winston": "credits"}, {ALL: Decimal(1)}, ["copyleaks", "winston"]
            )


def test_a_budget_holds_however_the_vendor_counts_words(tmp_path: Path) -> None:
    texts = {f"{number}": text(number).replace(" of ", " — & - ") for number in range(8)}
    with vendors(tmp_path, texts, {"winston": {}}) as place:
        [ended] = place.scan(budgets={"winston": Decimal(900)})
        assert 0 < ended.counts["answered"] < 8
        assert 700 < place.doubles["winston"].ledger.charged <= 900
        assert ended.account is not None
        assert ended.account.due == place.doubles["winston"].ledger.charged


def test_what_was_paid_is_known_to_the_next_scan(tmp_path: Path) -> None:
    with vendors(tmp_path, TEXTS, {"winston": {}}) as place:
        place.scan()
        [again] = place.scan()
        assert again.account is not None
        assert again.account.sure == again.account.due == place.doubles["winston"].ledger.charged


def test_prices_are_rounded_per_text_as_the_vendor_does_it(tmp_path: Path) -> None:
    short = {"a": "word " * 90, "b": "word " * 135}
    with vendors(tmp_path, short, {"originality-lite": {}}) as place:
        with pytest.raises(
            UsageError, match="originality-lite up to 11 credits"
        ):  # 1 + 2, and the canary twice: 4 each
            place.scan(budgets={})
        [ended] = place.scan(budgets={"originality-lite": Decimal(11)})
        assert ended.counts["answered"] == 2
        assert place.doubles["originality-lite"].ledger.charged == 11


# --- jobs ----------------------------------------------------------------------------------------------------------


def test_a_job_that_the_vendor_took_on_is_asked_for_and_not_sent_again(tmp_path: Path) -> None:
    with vendors(tmp_path, TEXTS, {"pangram": {}}) as place:
        real = canary.Canary.ask
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(canary.Canary, "ask", lambda self, stop: _then(real(self, stop), place, 10**9))
            with open_scan.begin_scan(place.study, place.edition, [], budgets={"pangram": Decimal(9)}) as scan:
                threading.Thread(target=lambda: _stop_after(scan, place, 3)).start()
                [ended] = scan.run()
        stuck = place.journal("pangram").sent["document"].to_list()
        assert len(stuck) >= 1
        assert (ended.counts["answered"], ended.in_doubt, ended.counts["to_ask"]) == (0, [], 12)
        known = private_log.read_jobs(private_log.locate_jobs(place.study, place.edition.tag, "pangram"))
        assert {document for document, _ in known} == set(stuck)
        billed = place.doubles["pangram"].ledger.billed
        place.doubles["pangram"].vendor.polls = 0
        [again] = place.scan()
        assert again.counts["answered"] == 12
        assert place.doubles["pangram"].ledger.billed == billed + 12 - len(stuck) + canary.TIMES
        assert set(place.doubles["pangram"].ledger.texts.values()) == {1, 3}
        assert place.journal("pangram").sent.height == 12
        assert again.account is not None
        assert again.account.due == place.doubles["pangram"].ledger.charged


def _then(said: Any, place: Place, polls: int) -> Any:
    place.doubles["pangram"].vendor.polls = polls
    return said


def _stop_after(scan: Any, place: Place, polls: int) -> None:
    asked = place.doubles["pangram"].ledger.requests
    deadline = time.monotonic() + 30
    before = asked["poll"]
    while asked["poll"] < before + polls and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)
    scan.stop()


def test_a_job_that_does_not_end_has_failed_after_all_attempts_and_may_have_cost(tmp_path: Path) -> None:
    one = {"00": TEXTS["00"]}
    endless = {"behaviours": [None, "endless job"]}
    quick = {"pangram": ("patience: 300", "patience: 1")}
    with vendors(tmp_path, one, {"pangram": endless}, change=quick) as place:
        place.scan()
        row = place.readings("pangram")["00"]
        assert (row["state"], row["attempt"]) == ("failed", 1)
        assert row["reason"] == f"the vendor did not come to an end within 1 seconds{MAYBE}"
        assert place.journal("pangram").sent.height == 1
        assert place.doubles["pangram"].ledger.billed == 3


# --- pace ----------------------------------------------------------------------------------------------------------


def test_a_vendors_limit_is_kept(tmp_path: Path) -> None:
    texts = {f"{number:03d}": text(number) for number in range(120)}
    with vendors(tmp_path, texts, {"gptzero": {"permits": 100}}) as place:
        limits = scan_readiness.ScanLimits(paces={"gptzero": Pace(requests=100, seconds=1)})
        [ended] = place.scan(limits=limits)
        assert ended.counts["answered"] == 120
        assert place.journal("gptzero").retries.height < 12, "a few requests may be held up on their way"
