"""Seals: their order, their chain, and authorities at their worst."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.local_authority import SEED, answering, holder, stamper, study_of, token

from penmark import __version__, cards, protocol, study, timestamps
from penmark.demo.authority import LocalAuthority, run_local_authority
from penmark.errors import FaultsError, PenmarkError, ServiceError, UsageError
from penmark.format import canonical_json, versions
from penmark.records import Announcement, Authority, Head
from penmark.stages.commit import make_seals
from penmark.stages.commit.make_seals import Kind, SealResult
from penmark.study import Edition, seal_files

NOW = "2026-11-30T12:00:00Z"
LATER = "2026-11-30T13:00:00Z"
FILES: dict[Kind, str] = {"promise": "protocol.json", "corpus": "manifest.jsonl", "evidence": "tables/t.csv"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAuthority]:
    with run_local_authority(tmp_path_factory.mktemp("one"), "one") as running:
        yield running


@pytest.fixture
def edition(tmp_path: Path) -> Edition:
    return edition_in(tmp_path)


def edition_in(folder: Path) -> Edition:
    """An edition with one file for each kind of seal."""
    made = Edition(folder / "TEST-2026-Q4")
    for path in FILES.values():
        study.write_bytes(made.root / path, path.encode())
    return made


def seal(
    edition: Edition, kind: Kind, *authorities: Authority, now: str = NOW, ask: make_seals.Ask | None = None
) -> SealResult:
    files = [FILES[kind]] if kind in FILES else []
    return make_seals.make_seal(edition, kind, "tiny", files, authorities=authorities, now=now, ask=ask)


def refused(edition: Edition, kind: Kind) -> str:
    before = {p: p.read_bytes() for p in edition.root.rglob("*") if p.is_file()}
    with pytest.raises(UsageError) as caught:
        seal(edition, kind)
    assert {p: p.read_bytes() for p in edition.root.rglob("*") if p.is_file()} == before
    return str(caught.value)


# --- order and chain -----------------------------------------------------------------------------------------------


def test_a_seal_is_what_the_format_says(edition: Edition) -> None:
    sealed = seal(edition, "promise")
    assert sealed == (edition.seals / "promise.json", ())
    assert json.loads(sealed.path.read_bytes()) == {
        "announced": None,
        "digests": {"protocol.json": hashlib.sha256(b"protocol.json").hexdigest()},
        "edition": "TEST-2026-Q4",
        "format": 2,
        "journals": {},
        "kind": "promise",
        "previous": None,
        "rules": versions.RULES,
        "sealed_at": NOW,
        "software": f"penmark {__version__}",
        "study": "tiny",
    }
    assert canonical_json.encode_json(json.loads(sealed.path.read_bytes())) == sealed.path.read_bytes()


def test_what_comes_later_holds_what_came_before(edition: Edition) -> None:
    seal(edition, "promise")
    announced = Announcement(url="https://example.org/p", capture="https://archive.example/p", captured_at=NOW)
    make_seals.make_seal(edition, "corpus", "tiny", [FILES["corpus"]], announced=announced, authorities=(), now=NOW)
    (edition.root / "length.jsonl").write_bytes(b"one\ntwo\nthree\n")
    heads = {"length.jsonl": Head(lines=3, head=canonical_json.sha256(b"three"))}
    make_seals.make_seal(edition, "heads", "tiny", [], journals=heads, authorities=(), now=LATER)
    seal(edition, "heads", now=LATER)
    seal(edition, "evidence", now=LATER)
    names = make_seals.list_seal_order(edition)
    assert names == ["promise", "corpus", "heads-0001", "heads-0002", "evidence"]
    assert seal_files.read_seal(edition, "corpus").announced == announced
    assert seal_files.read_seal(edition, "heads-0001").journals == heads
    for before, name in itertools.pairwise(names):
        assert seal_files.read_seal(edition, name).previous == canonical_json.sha256(edition.seal(before).read_bytes())


@pytest.mark.parametrize("data", [b"one\ntwo\n", b"one\ntwo\nthre", b"one\ntwo\nTHREE\n", None])
def test_a_journal_that_lost_sealed_lines_stops_the_next_seal(edition: Edition, data: bytes | None) -> None:
    seal(edition, "promise")
    seal(edition, "corpus")
    journal = edition.root / "length.jsonl"
    journal.write_bytes(b"one\ntwo\nthree\n")
    heads = {"length.jsonl": Head(lines=3, head=canonical_json.sha256(b"three"))}
    make_seals.make_seal(edition, "heads", "tiny", [], journals=heads, authorities=(), now=NOW)
    journal.write_bytes(b"one\ntwo\nthree\nfour\nfi")  # a journal grows, and may be torn at its end
    seal(edition, "heads", now=LATER)
    if data is None:
        journal.unlink()
    else:
        journal.write_bytes(data)
    with pytest.raises(PenmarkError, match=r"length\.jsonl: does not hold the 3 lines that heads-0001 was sealed over"):
        seal(edition, "evidence", now=LATER)


@settings(max_examples=40, deadline=None)
@given(wanted=st.lists(st.sampled_from(["promise", "corpus", "heads", "evidence"]), max_size=9))
def test_seals_chain_whatever_is_tried(wanted: list[Kind], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Any order of attempts leaves a chain that only ever grew, in the one order."""
    edition = edition_in(tmp_path_factory.mktemp("any"))
    for kind in wanted:
        before = make_seals.list_seal_order(edition)
        with contextlib.suppress(UsageError):
            seal(edition, kind)
        after = make_seals.list_seal_order(edition)
        assert after[: len(before)] == before
        assert len(after) - len(before) in (0, 1)
    names = make_seals.list_seal_order(edition)
    kinds = [seal_files.read_seal(edition, name).kind for name in names]
    assert kinds == sorted(kinds, key=["promise", "corpus", "heads", "evidence"].index)
    assert all(kinds.count(kind) <= 1 for kind in ("promise", "corpus", "evidence"))
    digests = [None, *(canonical_json.sha256(edition.seal(name).read_bytes()) for name in names)]
    assert [seal_files.read_seal(edition, name).previous for name in names] == digests[:-1]


def test_out_of_order_and_twice_are_refused_with_the_way_forward(edition: Edition) -> None:
    for kind in ("corpus", "heads", "evidence"):
        assert "penmark commit" in refused(edition, kind)
    seal(edition, "promise")
    assert "penmark amend" in refused(edition, "promise")
    for kind in ("heads", "evidence"):
        assert "penmark freeze" in refused(edition, kind)
    seal(edition, "corpus")
    assert "penmark amend" in refused(edition, "promise")
    assert "penmark amend" in refused(edition, "corpus")
    seal(edition, "evidence")
    for kind in ("promise", "corpus", "heads", "evidence"):
        assert "penmark publish" in refused(edition, kind)


def test_a_sealed_file_that_was_changed_stops_the_next_seal(edition: Edition) -> None:
    seal(edition, "promise")
    (edition.root / "protocol.json").write_bytes(b"another")
    with pytest.raises(FaultsError) as caught:
        seal(edition, "corpus")
    assert str(caught.value).startswith(
        f"{edition.root / 'protocol.json'}: is not the file that the promise seal holds"
    )
    assert make_seals.list_seal_order(edition) == ["promise"]


def test_a_clock_that_runs_backwards_stops_the_next_seal(edition: Edition) -> None:
    seal(edition, "promise", now="2026-11-30T12:00:00.500000Z")
    with pytest.raises(PenmarkError, match="the clock says 2026-11-30T12:00:00Z"):
        seal(edition, "corpus")
    seal(edition, "corpus", now="2026-11-30T12:00:01Z")


@pytest.mark.parametrize("path", ["missing", "../outside", "/etc/hostname", "a\\b", "tables", "link"])
def test_what_cannot_be_sealed(edition: Edition, path: str) -> None:
    (edition.root / "link").symlink_to(edition.root / "protocol.json")
    with pytest.raises(PenmarkError):
        make_seals.make_seal(edition, "promise", "tiny", [path], authorities=(), now=NOW)
    assert make_seals.list_seal_order(edition) == []


def test_a_file_that_is_absurdly_large_cannot_be_sealed(edition: Edition) -> None:
    large = edition.root / "protocol.json"
    with large.open("r+b") as file:
        file.truncate(make_seals.MAX_SEALED + 1)  # a hole: it takes no room on the disk
    with pytest.raises(PenmarkError, match=rf"protocol\.json: is {make_seals.MAX_SEALED + 1} bytes; the limit is"):
        make_seals.make_seal(edition, "promise", "tiny", ["protocol.json"], authorities=(), now=NOW)
    assert make_seals.list_seal_order(edition) == []


@pytest.mark.parametrize(
    ("damage", "fact"),
    [(b"", "not valid JSON"), (b"{}", "Field required"), (b'{"kind": "promise"}', "not in canonical form")],
)
def test_a_seal_that_is_none(edition: Edition, damage: bytes, fact: str) -> None:
    study.write_bytes(edition.seal("promise"), damage)
    with pytest.raises(PenmarkError, match=fact) as caught:
        seal_files.read_seal(edition, "promise")
    assert str(edition.seal("promise")) in str(caught.value)


def test_a_seal_under_another_name(edition: Edition) -> None:
    study.write_bytes(edition.seal("corpus"), seal(edition, "promise").path.read_bytes())
    with pytest.raises(PenmarkError, match="is a seal of the promise"):
        seal_files.read_seal(edition, "corpus")


# --- authorities ---------------------------------------------------------------------------------------------------


def test_two_authorities_give_two_tokens(edition: Edition, authority: LocalAuthority, tmp_path: Path) -> None:
    with run_local_authority(tmp_path / "two", "two") as second:
        one, two = Authority(name="one", url=authority.url), Authority(name="t-2", url=second.url)
        sealed = seal(edition, "promise", one, two)
        trust = timestamps.Trust.load([authority.root])
    assert sealed.warnings == ()
    files = make_seals.list_token_files(sealed.path)
    assert [p.name for p in files] == ["promise-one.tsr", "promise-t-2.tsr"]
    data = sealed.path.read_bytes()
    assert [timestamps.check_token(p.read_bytes(), data, trust).state for p in files] == ["ok", "unknown authority"]


def _hang(query: bytes) -> bytes:
    time.sleep(0.5)
    return b""


TROUBLES = {
    "garbage": (lambda q: b"<html>no</html>", 200, "not a timestamp token"),
    "rejection": (lambda q: bytes.fromhex("30053003020102"), 200, "the authority gave no token: rejection"),
    "nothing": (lambda q: b"", 200, "not a timestamp token"),
    "an error": (lambda q: b"busy", 503, "it answered HTTP 503"),
    "far too much": (lambda q: b"0" * 2**19, 200, "its answer is longer than 262144 bytes"),
    "too slow": (_hang, 200, "no answer within 0.1 seconds"),
    "another text's token": (lambda q: token(b"another", stamper(holder("r"))), 200, "over other data"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_seal_stands_whatever_an_authority_does(edition: Edition, authority: LocalAuthority, trouble: str) -> None:
    answer, status, reason = TROUBLES[trouble]
    good = Authority(name="good", url=authority.url)
    with answering(answer, status) as url:
        patience = 0.1 if trouble == "too slow" else 20.0
        ask = functools.partial(make_seals.post_query, seconds=patience)
        bad = Authority(name="bad", url=url)
        sealed = seal(edition, "promise", bad, ask=ask)
        again = make_seals.retry_tokens(edition, [bad], ask=ask)
    assert seal_files.read_seal(edition, "promise").sealed_at == NOW
    assert len(sealed.warnings) == 1
    assert sealed.warnings[0].startswith(f"promise.json has no timestamp of bad ({url}): ")
    assert reason in sealed.warnings[0]
    assert "`penmark commit` asks again" in sealed.warnings[0]
    assert again == ((), sealed.warnings)
    assert make_seals.list_token_files(sealed.path) == []
    assert make_seals.retry_tokens(edition, [good]) == ((edition.seals / "promise-good.tsr",), ())
    assert list(edition.seals.glob(".*")) == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "not a url", "ftp://127.0.0.1/", "http://[", ""])
def test_an_authority_that_is_not_there(edition: Edition, url: str) -> None:
    sealed = seal(edition, "promise", Authority(name="none", url=url))
    assert len(sealed.warnings) == 1
    assert "it cannot be reached" in sealed.warnings[0]


def test_an_answer_to_another_query_is_refused(edition: Edition, authority: LocalAuthority) -> None:
    """A token over the same bytes that was made before says nothing about now."""
    kept: list[bytes] = []

    def first_then_replay(url: str, query: bytes) -> bytes:
        kept.append(make_seals.post_query(url, query))
        return kept[0]

    one, two = (Authority(name=name, url=authority.url) for name in ("one", "two"))
    sealed = seal(edition, "promise", one, two, ask=first_then_replay)
    assert [p.name for p in make_seals.list_token_files(sealed.path)] == ["promise-one.tsr"]
    assert ["another query" in warning for warning in sealed.warnings] == [True]


def test_a_proxy_of_the_environment_is_not_asked_about_this_machine(
    edition: Edition, authority: LocalAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    assert seal(edition, "promise", Authority(name="one", url=authority.url)).warnings == ()


def test_asking_again_asks_only_for_what_is_missing_of_the_newest_seal(
    edition: Edition, authority: LocalAuthority
) -> None:
    one, two = (Authority(name=name, url=authority.url) for name in ("one", "two"))
    seal(edition, "promise", one)
    kept = (edition.seals / "promise-one.tsr").read_bytes()
    assert make_seals.retry_tokens(edition, [one, two]) == ((edition.seals / "promise-two.tsr",), ())
    assert (edition.seals / "promise-one.tsr").read_bytes() == kept
    (edition.seals / "promise-two.tsr").unlink()
    seal(edition, "corpus", two)
    assert make_seals.retry_tokens(edition, [one, two]) == ((edition.seals / "corpus-one.tsr",), ())
    assert not (edition.seals / "promise-two.tsr").exists()


def test_nobody_is_asked_for_a_corpus_that_was_asked_about(edition: Edition, authority: LocalAuthority) -> None:
    """The token would say that the corpus is younger than the questions."""
    one, two = (Authority(name=name, url=authority.url) for name in ("one", "two"))
    seal(edition, "promise", one)
    seal(edition, "corpus", one)
    edition.journals.mkdir()
    (edition.journals / "plain.jsonl").write_bytes(b"{}\n")
    written, [warning] = make_seals.retry_tokens(edition, [one, two])
    assert written == ()
    assert warning.startswith("corpus.json has no timestamp of two, which is not asked again: journals are begun")
    assert [path.name for path in make_seals.list_token_files(edition.seal("corpus"))] == ["corpus-one.tsr"]


def test_asking_again_where_nothing_is_sealed(edition: Edition, authority: LocalAuthority) -> None:
    assert make_seals.retry_tokens(edition, [Authority(name="one", url=authority.url)]) == ((), ())


def test_a_slow_drip_does_not_hold_the_seal(edition: Edition) -> None:
    """Each byte comes in time, the whole never does."""
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while not done.wait(0.02):
                try:
                    connection.sendall(b"0")
                except OSError:
                    return

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    try:
        with pytest.raises(ServiceError, match=r"took longer than 0\.2 seconds"):
            make_seals.post_query(f"http://127.0.0.1:{listener.getsockname()[1]}/", b"query", seconds=0.2)
    finally:
        done.set()
        thread.join()
        listener.close()


# --- the promise ---------------------------------------------------------------------------------------------------


def prepared(place: study.Study) -> list[str]:
    edition = place.edition()
    return make_seals.prepare_promise(place, edition, protocol.load_protocol(edition.protocol_yaml))


def test_what_is_promised_is_written_with_its_cards_and_code(tmp_path: Path) -> None:
    place = study_of(tmp_path, {})
    edition = place.edition()
    stale = edition.detectors / "dropped.json"
    study.write_bytes(stale, b"{}")
    assert prepared(place) == ["protocol.json", "protocol.yaml", "detectors/length.json"]
    assert not stale.exists()
    assert protocol.read_sealed(edition) == protocol.load_protocol(edition.protocol_yaml)
    sealed = cards.read_sealed_card(edition, "length")
    assert sealed.card == cards.load_card(cards.find_card("length", None))
    assert sealed.plugin is not None
    assert (sealed.plugin.name, sealed.plugin.distribution) == ("length", "penmark")
    source = Path(make_seals.__file__).parents[2] / "shipped" / "detectors" / "controls.py"
    assert sealed.plugin.sha256 == hashlib.sha256(source.read_bytes()).hexdigest()


def test_a_card_of_the_users_own_comes_first(tmp_path: Path) -> None:
    place = study_of(tmp_path, {})
    own = cards.find_card("length", None).read_text(encoding="utf-8").replace("vendor: penmark", "vendor: mine")
    study.write_bytes(place.cards / "length.yaml", own.encode())
    prepared(place)
    assert cards.read_sealed_card(place.edition(), "length").card.vendor == "mine"


def nothing_written(place: study.Study) -> None:
    edition = place.edition()
    assert sorted(p.name for p in edition.root.iterdir()) == ["protocol.yaml"]


def test_decisions_that_are_still_open_cannot_be_promised(tmp_path: Path) -> None:
    place = study_of(tmp_path, {}, who='"<your name>"')
    with pytest.raises(FaultsError) as caught:
        prepared(place)
    assert [(f.place, f.fact) for f in caught.value.faults] == [
        (f"{place.edition().protocol_yaml}:5", "people.0.name still says <your name>")
    ]
    nothing_written(place)


def test_a_card_that_is_not_there(tmp_path: Path) -> None:
    place = study_of(tmp_path, {}, card="lenght")
    with pytest.raises(FaultsError, match="there is no card 'lenght'"):
        prepared(place)
    nothing_written(place)


def test_a_plugin_that_is_not_there(tmp_path: Path) -> None:
    place = study_of(tmp_path, {})
    own = cards.find_card("length", None).read_text(encoding="utf-8").replace("plugin: length", "plugin: lenght")
    study.write_bytes(place.cards / "length.yaml", own.encode())
    with pytest.raises(FaultsError, match="detector length: there is no detector plugin 'lenght'") as caught:
        prepared(place)
    assert "did you mean length?" in str(caught.value)
    nothing_written(place)


@pytest.mark.parametrize("seed", [b"", SEED[::-1], SEED + b"\n"])
def test_another_seed_than_the_promised_one(tmp_path: Path, seed: bytes) -> None:
    place = study_of(tmp_path, {})
    place.seed.write_bytes(seed)
    with pytest.raises(PenmarkError, match="is not the secret seed"):
        prepared(place)
    nothing_written(place)


def test_a_protocol_of_another_edition(tmp_path: Path) -> None:
    place = study_of(tmp_path, {})
    (tmp_path / "editions" / "TEST-2026-Q4").rename(tmp_path / "editions" / "TEST-2027-Q1")
    with pytest.raises(PenmarkError, match="is the protocol of TEST-2026-Q4, in the folder of TEST-2027-Q1"):
        prepared(place)
    nothing_written(place)


@pytest.mark.parametrize("path", ["seals/promise.json", "manifest.jsonl", "journal/length.jsonl"])
def test_too_late_for_a_promise(tmp_path: Path, path: str) -> None:
    place = study_of(tmp_path, {})
    study.write_bytes(place.edition().root / path, b"{}")
    with pytest.raises(UsageError, match="cannot be promised any more") as caught:
        prepared(place)
    assert "penmark amend" in str(caught.value)
    assert not place.edition().protocol_json.exists()
