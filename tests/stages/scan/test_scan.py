"""A scan in this process: order, states, evidence, resume. Every call is a real call of a plugin."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_study import SALT, SEED, attested, detector, frozen
from tests.scripted_detector import CARD, install

from penmark import journal, study
from penmark.cards import judge
from penmark.corpus import sealed_edition as ground_room
from penmark.errors import FaultsError, PenmarkError, ServiceError, UsageError
from penmark.format import canonical_json
from penmark.journal import Journal, evidence_log
from penmark.stages.scan import open_scan, plan
from penmark.stages.scan.run import Ended
from penmark.study import Edition, Study


@pytest.fixture(autouse=True)
def _acting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "acting_detector", raising=False)
    monkeypatch.syspath_prepend(str(install(tmp_path / "installed")))


def scanned(place: Study, edition: Edition, *wanted: str, **options: Any) -> list[Ended]:
    with open_scan.begin_scan(place, edition, list(wanted), pause=lambda attempt: 0.0, **options) as scan:
        return scan.run()


def journal_of(edition: Edition, name: str = "acting", shard: str = "1/1") -> Journal:
    return journal.read_journal(
        edition.journals / journal.name_journal(name, shard),
        canonical_json.sha256(study.read_bytes(edition.seal("corpus"))),
    )


def readings(edition: Edition, name: str = "acting") -> dict[str, dict[str, Any]]:
    return {row["document"]: row for row in journal_of(edition, name).readings.iter_rows(named=True)}


def kinds(edition: Edition, name: str = "acting") -> list[str]:
    return [value["kind"] for _, value in study.read_json_lines(edition.journals / f"{name}.jsonl")]


def made(
    tmp_path: Path, texts: Mapping[str, str | bytes], *detectors: dict[str, Any], **further: Any
) -> tuple[Study, Edition]:
    return frozen(tmp_path / "study", texts, *detectors, **further)


def test_each_document_is_asked_about_once_in_the_sealed_order(tmp_path: Path) -> None:
    texts = {f"{n:03d}": f"text number {n}" for n in range(40)}
    place, edition = made(tmp_path, texts)
    [ended] = scanned(place, edition)
    found = journal_of(edition)
    sealed = sorted(texts, key=lambda name: canonical_json.rank_name(SEED, "scan", name))
    assert found.first_sent().to_list() == sealed
    assert found.sent["document"].to_list() == sealed
    assert found.readings["document"].to_list() == sealed
    assert ended.counts == {
        "documents": 40,
        "answered": 40,
        "declined": 0,
        "failed": 0,
        "in_doubt": 0,
        "not_scannable": 0,
        "to_ask": 0,
    }
    assert [s["reason"] for s in found.stops] == ["done"]
    start = found.starts[0]
    assert start["card_sha256"] == canonical_json.sha256(study.read_bytes(edition.sealed_card("acting")))
    assert start["plugin"]["distribution"] == "acting-detector"
    for name, row in readings(edition).items():
        assert row["state"] == "answered"
        assert row["address"] == canonical_json.sha256(texts[name].encode())
        assert row["sent_at"] <= row["got_at"]
        assert (row["version"], row["version_asked"]) == ("2.0", "2.0")


def test_the_evidence_holds_each_answer_word_for_word_in_the_order_of_the_readings(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {f"{n}": f"text {n} “quoted” 💡" for n in range(20)})
    scanned(place, edition)
    kept = list(evidence_log.read_evidence(edition.evidence, "acting"))
    assert [item.document for item in kept] == journal_of(edition).readings["document"].to_list()
    for item in kept:
        assert json.loads(item.body)["text"].startswith("text ")
        assert item.sha256 == canonical_json.sha256(item.body) == readings(edition)[item.document]["evidence_sha256"]


def test_sent_is_on_the_disk_before_the_detector_sees_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, edition = made(tmp_path, {f"{n}": f"text {n}" for n in range(30)})
    seen: list[bool] = []
    with open_scan.begin_scan(place, edition, []) as scan:
        asker = scan._lanes["acting"]._asking.plugin
        real = asker.read

        def read(text: str) -> Any:
            sent = [
                v["document"]
                for _, v in study.read_json_lines(edition.journals / "acting.jsonl")
                if v["kind"] == "sent"
            ]
            seen.append(text.split()[1] in sent)
            return real(text)

        monkeypatch.setattr(asker, "read", read)
        scan.run()
    assert seen == [True] * 30


@pytest.mark.parametrize(
    ("text", "state", "reason", "kept"),
    [
        ("decline it", "declined", "would not say", False),
        ("decline-with-body it", "declined", "too short for us", True),
        ("decline-but-show it", "answered", None, True),
        ("raise it", "failed", "ValueError: cannot read this", False),
        ("exit it", "failed", "SystemExit: leaving", False),
        ("nothing it", "failed", "TypeError: the plugin returned NoneType, not Answer or Declined with bytes", False),
        ("words it", "failed", "TypeError: the plugin returned Answer, not Answer or Declined with bytes", False),
        ("huge it", "failed", f"ValueError: an answer of {9 * 2**20 + 2} bytes; at most {8 * 2**20} are kept", False),
        ("garbage it", "declined", "the answer is not UTF-8 (byte 6)", True),
        ("other it", "declined", "other text scanned", True),
        ("empty it", "declined", "nothing in the answer where the card looks for it", True),
    ],
)
def test_what_a_plugin_does_has_one_state_and_a_reason(
    tmp_path: Path, text: str, state: str, reason: str | None, kept: bool
) -> None:
    place, edition = made(tmp_path, {"x": text, "y": "a plain text"})
    [ended] = scanned(place, edition)
    row = readings(edition)["x"]
    assert (row["state"], row["reason"]) == (state, reason)
    assert (row["evidence_sha256"] is not None) is kept
    assert {item.document for item in evidence_log.read_evidence(edition.evidence, "acting")} == (
        {"x", "y"} if kept else {"y"}
    )
    assert readings(edition)["y"]["state"] == "answered"
    assert ended.tally.failed == (state == "failed")


def test_only_failures_in_transport_are_tried_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    place, edition = made(
        tmp_path, {"a": "once more", "b": "down for good", "c": "plain"}, detector("acting", settings={"log": str(log)})
    )
    scanned(place, edition)
    found = journal_of(edition)
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert sorted(asked) == ["down for good"] * 3 + ["once more"] * 2 + ["plain"]
    assert {(row["document"], row["attempt"]) for row in found.retries.iter_rows(named=True)} == {
        ("a", 1),
        ("b", 1),
        ("b", 2),
    }
    assert (readings(edition)["a"]["state"], readings(edition)["a"]["attempt"]) == ("answered", 2)
    assert (readings(edition)["b"]["state"], readings(edition)["b"]["reason"]) == ("failed", "no route to host")
    order = sorted("abc", key=lambda name: canonical_json.rank_name(SEED, "scan", name))
    assert found.first_sent().to_list() == order


def test_a_second_scan_asks_nothing_and_writes_nothing(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {f"{n}": f"text {n}" for n in range(5)})
    scanned(place, edition)
    before = study.read_bytes(edition.journals / "acting.jsonl")
    with open_scan.begin_scan(place, edition, []) as scan:
        assert not scan.begun
        [ended] = scan.run()
    assert ended.tally.ended == "nothing was left to ask"
    assert study.read_bytes(edition.journals / "acting.jsonl") == before


def test_what_is_not_scannable_is_skipped_with_its_reason_and_never_sent(tmp_path: Path) -> None:
    log = tmp_path / "log"
    fields = {
        "fr": {"language": "fr"},
        "long": {},
        "mine": {"provenance": attested("*")},
        "shy": {"provenance": attested("somebody else")},
        "unsaid": {"language": None},
    }
    texts = {"fr": "texte", "long": "word " * 1001, "mine": "my own words", "shy": "my secret words", "unsaid": "plain"}
    place, edition = made(tmp_path, texts, detector("acting", settings={"log": str(log)}), fields=fields)
    [ended] = scanned(place, edition)
    assert dict(journal_of(edition).skipped.select("document", "reason").iter_rows()) == {
        "fr": "language fr, not en",
        "long": "1001 words, more than 1000",
        "shy": "no consent for the tests",
    }
    assert sorted(json.loads(line) for line in log.read_text().splitlines()) == ["my own words", "plain"]
    assert (ended.counts["not_scannable"], ended.counts["to_ask"]) == (3, 0)
    mine = readings(edition)["mine"]
    [kept] = [item for item in evidence_log.read_evidence(edition.evidence, "acting") if item.document == "mine"]
    assert mine["address"] == canonical_json.fingerprint_text(SALT, b"my own words")
    assert mine["evidence_sha256"] == kept.sha256 == canonical_json.fingerprint_text(SALT, kept.body)


def test_an_answer_about_half_of_the_text_is_remarked_but_not_of_an_attested_one(tmp_path: Path) -> None:
    text = "half " + "of a text that is long enough to be cut " * 20
    texts = {"plain": text, "mine": text + "."}
    place, edition = made(tmp_path, texts, fields={"mine": {"provenance": attested("*")}})
    scanned(place, edition)
    rows = readings(edition)
    assert {row["state"] for row in rows.values()} == {"answered"}
    first = f"the answer quotes only the first {len(text) // 2} of {len(text)} characters"
    assert {name: row["reason"] for name, row in rows.items()} == {"plain": first, "mine": None}


def test_several_detectors_scan_side_by_side_and_only_the_named_ones(tmp_path: Path) -> None:
    names = ("acting", "always-ai", "always-human", "coin", "length")
    place, edition = made(tmp_path, {f"{n}": f"text {n}" for n in range(9)}, *map(detector, names))
    scanned(place, edition, "coin")
    assert [p.name for p in edition.journal_files()] == ["coin.jsonl"]
    ended = scanned(place, edition)
    assert [each.detector for each in ended] == sorted(names)
    assert {each.counts["answered"] for each in ended} == {9}
    assert {reading["label"] for reading in readings(edition, "always-ai").values()} == {"ai"}
    assert {reading["score"] for reading in readings(edition, "length").values()} == {"2"}


def test_a_hung_detector_holds_up_nobody_and_its_pair_is_in_doubt(tmp_path: Path) -> None:
    texts = {f"{n}": f"text {n}" for n in range(6)} | {"h": "hang 30"}
    place, edition = made(tmp_path, texts, detector("acting"), detector("coin"))
    acting, coin = scanned(place, edition, patience=0.3)
    assert coin.counts["answered"] == 7
    assert acting.in_doubt == ["h"]
    assert isinstance(acting.tally.error, ServiceError)
    after = sorted(texts, key=lambda name: canonical_json.rank_name(SEED, "scan", name))
    before_h = after.index("h")
    assert acting.counts["answered"] == before_h
    assert journal_of(edition).stops[-1]["reason"] == "no answer for 0.3 seconds"
    [again] = [each for each in scanned(place, edition) if each.detector == "acting"]
    assert (again.in_doubt, again.counts["answered"]) == (["h"], 6)


def test_a_pair_in_doubt_is_asked_again_only_where_the_promise_allows_it(tmp_path: Path) -> None:
    texts = {"h": "hang 1.5", "x": "plain"}
    place, edition = made(tmp_path, texts, detector("acting"), ask_again_in_doubt=True)
    [first] = scanned(place, edition, patience=0.3)
    assert (first.in_doubt, first.counts["to_ask"] > 0) == ([], True)
    [second] = scanned(place, edition)
    assert second.counts["answered"] == 2
    assert readings(edition)["h"]["attempt"] == 2


@pytest.mark.parametrize("policy", ["stop", "split"])
def test_a_changed_version_stops_the_lane_or_becomes_a_second_one(tmp_path: Path, policy: str) -> None:
    names = sorted((f"{n:02d}" for n in range(12)), key=lambda name: canonical_json.rank_name(SEED, "scan", name))
    texts = {name: f"text {name}" for name in names} | {names[4]: "new-version it"}
    place, edition = made(tmp_path, texts, detector("acting", settings={"seconds": "0.03"}), on_version_change=policy)
    [ended] = scanned(place, edition)
    assert readings(edition)[names[4]]["version"] == "3.0"
    what = f"the version changed from 2.0 to 3.0 (document {names[4]}); the promise says: {policy}"
    assert ended.changes[0] == what
    if policy == "split":
        assert ended.counts["answered"] == 12
        return
    assert (ended.counts["answered"], ended.counts["to_ask"]) == (5, 7)
    assert journal_of(edition).stops[-1]["reason"] == f"the version changed from 2.0 to 3.0 (document {names[4]})"
    [again] = scanned(place, edition)
    assert again.counts["answered"] == 5
    assert again.tally.ended == "its version changed from 2.0 to 3.0, and the promise says: stop"


def test_a_version_other_than_the_promised_one_is_a_change(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {f"{n}": f"text {n}" for n in range(3)}, detector("acting", version="1.9"))
    [ended] = scanned(place, edition)
    assert ended.counts["answered"] == 1
    assert ended.changes[0].startswith("the version changed from 1.9 to 2.0")


def test_shards_share_the_work_and_ask_each_document_once(tmp_path: Path) -> None:
    texts = {f"{n:03d}": f"text {n}" for n in range(25)}
    place, edition = made(tmp_path, texts)
    order = sorted(texts, key=lambda name: canonical_json.rank_name(SEED, "scan", name))
    for part in (2, 1, 3):
        [ended] = scanned(place, edition, shard=f"{part}/3")
        assert ended.counts["to_ask"] == 0
        assert journal_of(edition, shard=f"{part}/3").first_sent().to_list() == order[part - 1 :: 3]
    assert sorted(item.document for item in evidence_log.read_evidence(edition.evidence, "acting")) == sorted(texts)
    with pytest.raises(UsageError, match="another division"):
        scanned(place, edition)
    with pytest.raises(UsageError, match="another division"):
        scanned(place, edition, shard="1/2")


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "01/2", "²/3", " 1/2", "1/10000"])
def test_what_is_no_shard_is_refused(tmp_path: Path, shard: str) -> None:
    place, edition = made(tmp_path, {"a": "text"})
    with pytest.raises(UsageError, match="is not a shard"):
        scanned(place, edition, shard=shard)


# --- refusals ------------------------------------------------------------------------------------------------------


def test_nothing_is_asked_without_promise_or_corpus_or_after_the_evidence_seal(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {"a": "text"})
    edition.seal("evidence").write_bytes(b"{}")
    with pytest.raises(UsageError, match="no answer can be added"):
        scanned(place, edition)
    edition.seal("evidence").unlink()
    edition.seal("corpus").unlink()
    with pytest.raises(UsageError, match=r"the corpus is not frozen.*\n.*penmark freeze.*scan --pilot"):
        scanned(place, edition)
    edition.seal("promise").unlink()
    with pytest.raises(UsageError, match=r"nothing is promised.*\n.*penmark commit.*scan --pilot"):
        scanned(place, edition)
    assert not edition.journals.exists()


@pytest.mark.parametrize("file", ["protocol.json", "manifest.jsonl", "detectors/acting.json"])
def test_a_sealed_file_that_was_changed_is_refused(tmp_path: Path, file: str) -> None:
    place, edition = made(tmp_path, {"a": "text"})
    path = edition.root / file
    path.write_bytes(path.read_bytes().replace(b"small", b"tiny!", 1).replace(b'"tests"', b'"vests"') + b" ")
    with pytest.raises(PenmarkError, match="is not the file that the"):
        scanned(place, edition)


def test_code_other_than_the_promised_one_is_refused(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {"a": "text"}, detector("acting"), detector("coin"))
    module = tmp_path / "installed" / "acting_detector.py"
    module.write_text(module.read_text() + "# changed\n")
    with pytest.raises(UsageError, match=r"not the promised one.*\n.*--detector NAME") as caught:
        scanned(place, edition)
    assert caught.value.exit_code == 2
    assert not edition.journals.exists()
    assert [each.detector for each in scanned(place, edition, "coin")] == ["coin"]


def test_options_that_no_plugin_knows_are_refused_for_all_in_one_pass(tmp_path: Path) -> None:
    wrong = {"settings": {"speed": "9"}}
    place, edition = made(tmp_path, {"a": "text"}, detector("coin", **wrong), detector("length", **wrong))
    with pytest.raises(FaultsError) as caught:
        scanned(place, edition)
    assert [fault.place for fault in caught.value.faults] == ["detector coin", "detector length"]
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("opens", "closes"), [("2020-01-01", "2020-02-01"), ("2999-01-01", "2999-02-01")])
def test_outside_the_promised_window_nothing_is_asked(
    tmp_path: Path, opens: str, closes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(judge, "get_time_now", lambda: f"{opens}T00:00:00Z")  # promised while it was to come
        place, edition = made(tmp_path, {"a": "text"}, window={"opens": opens, "closes": closes})
    with pytest.raises(UsageError, match=rf"outside the promised scan window, {opens} to {closes}"):
        scanned(place, edition)
    assert not list(edition.root.glob("journal/*"))


def test_a_scan_that_runs_past_the_end_of_its_window_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, edition = made(
        tmp_path, {f"{n}": f"text {n}" for n in range(9)}, detector("acting", settings={"seconds": "0.03"})
    )
    closes = ground_room.open_sealed_edition(edition, verb="scan").protocol.window.closes
    real = judge.get_time_now
    with open_scan.begin_scan(place, edition, []) as scan:
        scan.run(lambda lane, part: monkeypatch.setattr(judge, "get_time_now", lambda: "2999-01-01T00:00:00.000000Z"))
    monkeypatch.setattr(judge, "get_time_now", real)
    found = journal_of(edition)
    assert found.stops[-1]["reason"] == f"the scan window closed on {closes}"
    assert found.readings.height == 1


def test_an_answer_on_disk_is_kept_even_after_the_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    place, edition = made(
        tmp_path, {f"{n}": f"text {n}" for n in range(3)}, detector("acting", settings={"log": str(log)})
    )
    scanned(place, edition)
    cut(edition, lambda lines: lines[:2])
    path = edition.evidence / "acting-0001.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    monkeypatch.setattr(judge, "get_time_now", lambda: "2999-01-01T00:00:00.000000Z")
    [ended] = scanned(place, edition)
    assert (ended.counts["answered"], ended.counts["to_ask"], ended.tally.recovered) == (1, 2, 1)
    assert len(log.read_text().splitlines()) == 3
    with pytest.raises(UsageError, match="outside the promised scan window"):
        scanned(place, edition)


def test_two_scans_at_once_are_refused_and_the_first_is_named(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {"a": "text"})
    with (
        open_scan.begin_scan(place, edition, []),
        pytest.raises(UsageError, match=r"in use by penmark scan \(process \d+\)"),
    ):
        scanned(place, edition)


def test_another_seed_is_refused(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {"a": "text"})
    study.write_private(place.seed, bytes(32))
    with pytest.raises(PenmarkError, match="is not the seed"):
        scanned(place, edition)


def test_names_that_are_not_promised_are_refused_with_the_nearest(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {"a": "text"})
    with pytest.raises(UsageError, match="did you mean acting"):
        scanned(place, edition, "actin")


def test_a_detector_that_people_ask_is_not_scanned(tmp_path: Path) -> None:
    card = CARD.replace("name: acting", "name: seen").replace("{by: plugin, plugin: acting}", "{by: people}")
    place, edition = made(tmp_path, {"a": "text"}, detector("acting"), detector("seen"), cards={"seen": card})
    assert [each.detector for each in scanned(place, edition)] == ["acting"]
    with pytest.raises(UsageError, match=r"asked by people.*\n.*penmark record FILE --detector seen"):
        scanned(place, edition, "seen")


# --- texts ---------------------------------------------------------------------------------------------------------


def test_a_text_that_is_not_the_frozen_one_is_never_sent(tmp_path: Path) -> None:
    log = tmp_path / "log"
    place, edition = made(tmp_path, {"a": "text"}, detector("acting", settings={"log": str(log)}))
    path = place.arm("A") / f"{canonical_json.sha256(b'text')}.txt"
    path.write_bytes(b"text!")
    [ended] = scanned(place, edition)
    assert isinstance(ended.tally.error, PenmarkError)
    assert "not the frozen one" in str(ended.tally.error)
    path.unlink()
    [ended] = scanned(place, edition)
    assert "is missing" in str(ended.tally.error)
    assert not log.exists()
    assert "sent" not in kinds(edition)


def test_bytes_are_sent_as_they_are_stored(tmp_path: Path) -> None:
    log = tmp_path / "log"
    raw = "\ufeffline\r\nline\rline\u2028e\u0301 \x85 end\n\n".encode()
    place, edition = made(tmp_path, {"a": raw}, detector("acting", settings={"log": str(log)}))
    scanned(place, edition)
    assert json.loads(log.read_text()).encode() == raw
    assert readings(edition)["a"]["state"] == "answered"


def test_sharded_texts_are_found_by_address_whatever_their_order(tmp_path: Path) -> None:
    texts = {f"{n}": f"text {n}" for n in range(12)}
    place, edition = made(tmp_path, texts)
    by_address = sorted((canonical_json.sha256(raw.encode()), raw) for raw in texts.values())
    for loose in place.arm("A").glob("*.txt"):
        loose.unlink()
    for number, part in enumerate((by_address[7:], by_address[:7]), 1):
        lines = b"".join(canonical_json.encode_json({"address": a, "text": t}) + b"\n" for a, t in part)
        study.write_bytes(place.arm("A") / f"{number:04d}.jsonl.gz", study.compress_gzip(lines))
    [ended] = scanned(place, edition)
    assert (ended.counts["answered"], ended.tally.error) == (12, None)
    documents = ground_room.load_documents(ground_room.open_sealed_edition(edition, verb="scan"))
    documents._addresses[:32] = bytes(32)
    with closing(ground_room.Texts(place, documents)) as lost, pytest.raises(PenmarkError, match="is missing"):
        lost.text(0)


# --- going on ------------------------------------------------------------------------------------------------------


def cut(edition: Edition, keep: Callable[[list[bytes]], list[bytes]]) -> None:
    """Change the journal's lines, the chain being whole again."""
    path, head, out = (
        edition.journals / "acting.jsonl",
        canonical_json.sha256(study.read_bytes(edition.seal("corpus"))),
        b"",
    )
    for line in keep(path.read_bytes().splitlines()):
        line = canonical_json.encode_json({**json.loads(line), "prev": head})
        out, head = out + line + b"\n", canonical_json.sha256(line)
    path.write_bytes(out)


def test_an_answer_on_disk_without_its_reading_becomes_one(tmp_path: Path) -> None:
    log = tmp_path / "log"
    texts = {f"{n}": f"text {n}" for n in range(5)} | {"5": "other it"}
    place, edition = made(tmp_path, texts, detector("acting", settings={"log": str(log)}))
    scanned(place, edition)
    whole = readings(edition)
    lost = journal_of(edition).readings["document"].to_list()[-2:]
    cut(
        edition,
        lambda lines: [
            x
            for x in lines[:-1]
            if b'"reading"' not in x or not any(b'"document":"%s"' % n.encode() in x for n in lost)
        ],
    )
    [ended] = scanned(place, edition)
    assert ended.tally.recovered == 2
    again = readings(edition)
    for name in texts:
        for field in ("state", "reason", "displayed", "score", "version", "evidence_sha256", "sent_at"):
            assert again[name][field] == whole[name][field], (name, field)
        assert again[name]["sent_at"] <= again[name]["got_at"] <= again[name]["at"]
    assert len(log.read_text().splitlines()) == 6
    assert [item.document for item in evidence_log.read_evidence(edition.evidence, "acting")] == journal_of(
        edition
    ).readings["document"].to_list()


def test_sent_without_an_answer_on_disk_is_in_doubt_and_not_asked_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    texts = {f"{n}": f"text {n}" for n in range(5)}
    place, edition = made(tmp_path, texts, detector("acting", settings={"log": str(log)}))
    scanned(place, edition)
    last = journal_of(edition).readings["document"].to_list()[-1]
    cut(edition, lambda lines: lines[:-2])
    path = edition.evidence / "acting-0001.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    [ended] = scanned(place, edition)
    assert (ended.in_doubt, ended.counts["in_doubt"], ended.counts["to_ask"]) == ([last], 1, 0)
    assert len(log.read_text().splitlines()) == 5


def test_unfinished_lines_are_moved_aside(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {f"{n}": f"text {n}" for n in range(5)})
    scanned(place, edition)
    for path in (edition.journals / "acting.jsonl", edition.evidence / "acting-0001.jsonl"):
        path.write_bytes(path.read_bytes()[:-20])
    last = journal_last(edition)
    [ended] = scanned(place, edition)
    assert (edition.journals / "acting.jsonl.torn").exists()
    assert (edition.evidence / "acting-0001.jsonl.torn").exists()
    assert ended.counts["answered"] == 5
    assert last == "reading"


def journal_last(edition: Edition) -> str:
    lines = (edition.journals / "acting.jsonl").read_bytes().split(b"\n")
    return str(json.loads(lines[-2])["kind"])


def test_evidence_that_nobody_asked_for_is_moved_aside(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {"a": "text"})
    body = b'{"score":"0.9"}'
    evidence_log.EvidenceWriter(edition.evidence, "acting").append(
        [evidence_log.Kept("acting", "a", 1, body, canonical_json.sha256(body))]
    )
    scanned(place, edition)
    assert readings(edition)["a"]["score"] != "0.9"
    assert (edition.evidence / "acting-0001.jsonl.torn").exists()
    assert len(list(evidence_log.read_evidence(edition.evidence, "acting"))) == 1


def test_evidence_that_was_changed_does_not_become_a_reading(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {f"{n}": f"text {n}" for n in range(3)})
    scanned(place, edition)
    cut(edition, lambda lines: lines[:-2])
    path = edition.evidence / "acting-0001.jsonl"
    *rest, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(rest) + last.replace(b"0.0", b"0.9"))
    with pytest.raises(PenmarkError, match="not what was written"):
        scanned(place, edition)


def test_a_stopped_scan_finishes_what_is_in_flight_and_goes_on_later(tmp_path: Path) -> None:
    texts = {f"{n:02d}": f"text {n}" for n in range(30)}
    place, edition = made(tmp_path, texts, detector("acting", settings={"seconds": "0.03"}))
    with open_scan.begin_scan(place, edition, []) as scan:
        count = iter(range(100))
        [ended] = scan.run(lambda lane, part: scan.stop() if next(count) == 5 else None)
    assert 0 < ended.counts["answered"] < 30
    assert ended.counts["to_ask"] == 30 - ended.counts["answered"]
    assert (ended.in_doubt, journal_of(edition).stops[-1]["reason"]) == ([], "interrupted")
    [again] = scanned(place, edition)
    assert again.counts["answered"] == 30
    found = journal_of(edition)
    assert found.first_sent().to_list() == sorted(texts, key=lambda name: canonical_json.rank_name(SEED, "scan", name))


def test_a_full_disk_ends_the_lane_with_an_intact_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {f"{n:02d}": f"text {n}" for n in range(30)}
    place, edition = made(tmp_path, texts)
    real, calls = evidence_log.EvidenceWriter.append, iter(range(100))

    def full(self: evidence_log.EvidenceWriter, kept: Any) -> None:
        if next(calls) == 3:
            raise study.make_disk_error(OSError(28, "No space left on device"), self._path)
        real(self, kept)

    monkeypatch.setattr(evidence_log.EvidenceWriter, "append", full)
    [ended] = scanned(place, edition)
    assert isinstance(ended.tally.error, ServiceError)
    assert "Free some space" in str(ended.tally.error)
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))
    doubt = ended.counts["in_doubt"]
    [again] = scanned(place, edition)
    assert again.counts["answered"] + doubt == 30
    assert again.counts["to_ask"] == 0


def test_a_group_grows_only_while_calls_are_quick(tmp_path: Path) -> None:
    texts = {f"{n:02d}": f"text {n}" for n in range(8)}
    place, edition = made(tmp_path, texts, detector("acting", settings={"seconds": "0.03"}))
    scanned(place, edition)
    told = [kind for kind in kinds(edition) if kind in ("sent", "reading")]
    assert told == ["sent", "reading"] * 8


def test_the_plan_counts_every_document_once(tmp_path: Path) -> None:
    fields = {"fr": {"language": "fr"}}
    place, edition = made(tmp_path, {"a": "text", "b": "raise", "fr": "texte"}, fields=fields)
    ground = ground_room.open_sealed_edition(edition, verb="scan")
    found = plan.make_plan(place, ground, ["acting"])
    part = found.parts["acting"]
    assert found.counts(part) == {
        "documents": 3,
        "answered": 0,
        "declined": 0,
        "failed": 0,
        "in_doubt": 0,
        "not_scannable": 1,
        "to_ask": 2,
    }
    assert found.reasons(part) == {"language fr, not en": 1}
    scanned(place, edition)
    found = plan.make_plan(place, ground, ["acting"])
    counts = found.counts(found.parts["acting"])
    assert (counts["answered"], counts["failed"], counts["not_scannable"], counts["to_ask"]) == (1, 1, 1, 0)


def test_a_scan_that_is_run_outside_the_main_thread_leaves_signals_alone(tmp_path: Path) -> None:
    place, edition = made(tmp_path, {"a": "text"})
    ended: list[Ended] = []
    thread = threading.Thread(target=lambda: ended.extend(scanned(place, edition)))
    thread.start()
    thread.join()
    assert ended[0].counts["answered"] == 1
