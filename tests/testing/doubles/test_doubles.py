"""The doubles themselves: deterministic, countable, on this machine only."""

from __future__ import annotations

import hashlib
import json
import threading
from decimal import Decimal
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark.testing.doubles import VENDORS, Behaviour, invented_scores, run_double
from penmark.testing.doubles.misbehaviour import Script
from penmark.testing.doubles.requests_log import Ledger, Tariff

TEXT = "a text that is long enough for everybody " * 20


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_number_follows_from_the_text_alone(text: str) -> None:
    number = invented_scores.score_text(text, {})
    assert number == invented_scores.score_text(text, {})
    assert 0 <= number <= 1
    assert number == number.quantize(Decimal("0.0001"))


def test_numbers_of_digests_are_spread() -> None:
    numbers = [invented_scores.score_text(str(n), {}) for n in range(2000)]
    assert 400 < sum(number < Decimal("0.25") for number in numbers) < 600
    assert (
        invented_scores.score_text("penmark", {})
        == Decimal(int(hashlib.sha256(b"penmark").hexdigest()[:16], 16) * 10_001 >> 64) / 10_000
    )


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("so double:ai it is", "0.9"),
        ("double:human.", "0.1"),
        ("double:mixed", "0.5"),
        ("double:0.73", "0.73"),
        ("x double:0.7312, y", "0.7312"),
        ("double:1", "1"),
        ("double:0", "0"),
        ("double:ai double:human", "0.9"),
    ],
)
def test_a_text_can_ask_for_its_verdict(words: str, number: str) -> None:
    assert invented_scores.score_text(words, {"ai": "0.9", "human": "0.1"}) == Decimal(number)


@pytest.mark.parametrize("words", ["redouble:ai", "double: ai", "double:1.5", "double:2"])
def test_what_only_looks_like_asking(words: str) -> None:
    digest = hashlib.sha256(words.encode()).digest()[:8]
    assert (
        invented_scores.score_text(words, {"ai": "0.9"})
        == Decimal(int.from_bytes(digest, "big") * 10_001 >> 64) / 10_000
    )


@pytest.mark.parametrize(
    ("tariff", "text", "price"),
    [
        (Tariff("1", "credits", 100, "words"), "w " * 90, "1"),
        (Tariff("1", "credits", 100, "words"), "w " * 135, "2"),
        (Tariff("1", "credits", 100, "words"), "w " * 200, "2"),
        (Tariff("0.005", "USD", 1000, "characters"), "c" * 1001, "0.010"),
        (Tariff("1", "texts", 1, "texts"), "w " * 500, "1"),
    ],
)
def test_a_begun_unit_counts_whole(tariff: Tariff, text: str, price: str) -> None:
    ledger = Ledger(tariff)
    ledger.charge(text)
    ledger.charge(text)
    assert (ledger.charged, ledger.billed) == (2 * Decimal(price), 2)
    assert ledger.texts == {hashlib.sha256(text.encode()).hexdigest(): 2}
    ledger.charge(text, -1)
    assert (ledger.charged, ledger.billed) == (Decimal(price), 1)


def test_a_script_is_taken_step_by_step() -> None:
    script = Script([Behaviour("broken", times=2), None, Behaviour("busy", at="poll"), Behaviour("html", times=None)])
    assert [act and act.kind for act in (script.next("send") for _ in range(5))] == [
        "broken",
        "broken",
        None,
        "html",
        "html",
    ]
    assert [act and act.kind for act in (script.next("poll") for _ in range(2))] == ["busy", None]
    assert script.next("login") is None


@pytest.mark.parametrize(
    ("vendor", "behaviour"),
    [
        ("gptzero", "too short"),
        ("winston", "failed job"),
        ("winston", "expired login"),
        ("copyleaks", "echo changed"),
        ("gptzero", "rude"),
        ("gptzero", Behaviour("broken", at="poll")),
        ("grammarly", "no credit"),
    ],
)
def test_what_a_vendor_cannot_do_wrong_is_refused(vendor: str, behaviour: Any) -> None:
    with pytest.raises(ValueError, match=r"cannot do this|no behaviour"), run_double(vendor, behaviours=[behaviour]):
        pass


def test_there_is_no_double_of_a_vendor_that_is_not_known() -> None:
    with pytest.raises(KeyError), run_double("nobody"):
        pass


@pytest.mark.parametrize("vendor", sorted(VENDORS))
def test_it_listens_on_this_machine_and_is_gone_afterwards(vendor: str) -> None:
    before = threading.active_count()
    with run_double(vendor) as there, httpx2.Client(trust_env=False) as client:
        assert there.url.startswith("http://127.0.0.1:")
        assert client.get(f"{there.url}/elsewhere").status_code == 404
        assert client.get(f"{there.url}/elsewhere").status_code == 404  # over the same connection
        assert there.ledger.requests == {"": 2}
    assert threading.active_count() == before
    with httpx2.Client(trust_env=False) as client, pytest.raises(httpx2.ConnectError):
        client.get(there.url)


def test_keys_are_made_anew_and_told_apart() -> None:
    with run_double("sapling") as one, run_double("sapling") as other:
        assert one.keys != other.keys
        assert one.url != other.url
        said = httpx2.post(f"{one.url}/api/v1/aidetect", json={"key": other.keys["key"], "text": TEXT}, trust_env=False)
        assert (said.status_code, said.json()) == (401, {"msg": "Invalid key"})
        assert one.ledger.billed == 0


def test_gptzero_has_two_answers_to_people_it_does_not_know() -> None:
    with run_double("gptzero") as there:
        for headers, status in (({}, 429), ({"x-api-key": "wrong"}, 404), ({"x-api-key": there.keys["key"]}, 200)):
            said = httpx2.post(
                f"{there.url}/v2/predict/text", json={"document": TEXT}, headers=headers, trust_env=False
            )
            assert said.status_code == status


@pytest.mark.parametrize(
    ("length", "status", "code"), [(254, 400, 11), (255, 200, None), (100_000, 200, None), (100_001, 400, 12)]
)
def test_copyleaks_has_limits_and_numbers_its_refusals(length: int, status: int, code: int | None) -> None:
    with run_double("copyleaks") as there, httpx2.Client(base_url=there.url, trust_env=False) as client:
        login = client.post("/v3/account/login/api", json={"email": there.keys["email"], "key": there.keys["key"]})
        head = {"Authorization": f"Bearer {login.json()['access_token']}"}
        said = client.post("/v2/writer-detector/abc/check", json={"text": "x" * length}, headers=head)
        assert said.status_code == status
        assert said.json().get("error", {}).get("code") == code
        again = client.post("/v2/writer-detector/abc/check", json={"text": "x" * 300}, headers=head)
        assert again.status_code == (409 if status == 200 else 200)


def test_many_at_once_are_counted_right() -> None:
    with run_double("winston") as there:
        head = {"Authorization": f"Bearer {there.keys['key']}"}
        with httpx2.Client(base_url=there.url, headers=head, trust_env=False) as client:

            def ask(n: int) -> None:
                for each in range(25):
                    client.post("/v2/ai-content-detection", json={"text": f"{TEXT}{n}-{each}"}).raise_for_status()

            threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert there.ledger.requests == {"send": 200}
        assert (there.ledger.billed, len(there.ledger.texts)) == (200, 200)
        assert there.ledger.charged == sum(len(f"{TEXT}x".split()) for _ in range(200))


def test_a_slow_answer_does_not_hold_up_the_end() -> None:
    with (
        run_double("sapling", behaviours=[Behaviour("slow", seconds=600.0)]) as there,
        pytest.raises(httpx2.ReadTimeout),
    ):
        httpx2.post(
            f"{there.url}/api/v1/aidetect", json={"key": there.keys["key"], "text": TEXT}, timeout=0.2, trust_env=False
        )
    assert there.ledger.billed == 1


def test_a_fault_of_a_double_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any, asked: Any, act: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(VENDORS["hive"], "answer", broken)
    with pytest.raises(ZeroDivisionError), run_double("hive") as there, pytest.raises(httpx2.HTTPError):
        httpx2.post(f"{there.url}/api/v2/task/sync", json={"text_data": TEXT}, trust_env=False)


def test_winston_counts_for_the_human_and_zerogpt_in_nine_steps() -> None:
    winston = VENDORS["winston"](credit=None, version_after=None, polls=0)
    assert [winston.result(TEXT, Decimal(n))["score"] for n in ("0", "0.02", "1")] == [100.0, 98.0, 0.0]
    zerogpt = VENDORS["zerogpt"](credit=None, version_after=None, polls=0)
    seen = [zerogpt.result(TEXT, Decimal(n) / 100)["data"]["isHuman"] for n in range(101)]
    assert list(dict.fromkeys(seen)) == [100, 87, 75, 62, 50, 37, 25, 12, 0]
    assert json.dumps(zerogpt.result("N/A", Decimal(0)))
