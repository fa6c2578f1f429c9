"""The authority on this machine: a real one, by openssl, that nobody trusts."""

from __future__ import annotations

import stat
from pathlib import Path

import httpx2
import pytest
from tests.local_authority import query

from penmark import timestamps
from penmark.demo.authority import MAX_QUERY, run_local_authority
from penmark.errors import ServiceError
from penmark.stages.commit import make_seals

DATA = b"some bytes"


def test_it_answers_over_http_what_openssl_says(tmp_path: Path) -> None:
    with run_local_authority(tmp_path / "a", "an authority") as running:
        assert running.root == tmp_path / "a" / "root.pem"
        answers = [make_seals.post_query(running.url, query(DATA)) for _ in range(2)]
        refused = make_seals.post_query(running.url, b"no query")
    trust = timestamps.Trust.load([running.root])
    results = [timestamps.check_token(answer, DATA, trust) for answer in answers]
    assert [(r.state, r.authority, r.serial) for r in results] == [
        ("ok", "an authority", "0x02"),
        ("ok", "an authority", "0x03"),
    ]
    assert "rejection" in timestamps.check_token(refused, DATA, trust).detail


def test_it_is_no_authority_that_penmark_knows(tmp_path: Path) -> None:
    with run_local_authority(tmp_path, "one") as running:
        answer = make_seals.post_query(running.url, query(DATA))
    assert timestamps.check_token(answer, DATA, timestamps.Trust.load()).state == "unknown authority"


def test_its_keys_are_new_each_time_and_its_own(tmp_path: Path) -> None:
    roots = []
    for _ in range(2):
        with run_local_authority(tmp_path, "one") as running:
            roots.append(running.root.read_bytes())
    assert roots[0] != roots[1]
    assert stat.S_IMODE((tmp_path / "tsa.key").stat().st_mode) == 0o600


def test_it_ends_with_its_block(tmp_path: Path) -> None:
    with run_local_authority(tmp_path, "one") as running:
        pass
    with pytest.raises(ServiceError, match="cannot be reached"):
        make_seals.post_query(running.url, query(DATA))


def test_what_is_no_query_by_size_is_refused(tmp_path: Path) -> None:
    with run_local_authority(tmp_path, "one") as running:
        assert httpx2.post(running.url, content=b"0" * (MAX_QUERY + 1), trust_env=False).status_code == 400
        assert httpx2.get(running.url, trust_env=False).status_code == 501


def test_trouble_with_openssl_is_an_answer_too(tmp_path: Path) -> None:
    with run_local_authority(tmp_path, "one") as running:
        (tmp_path / "tsa.key").unlink()
        with pytest.raises(ServiceError, match="it answered HTTP 500 openssl gave no answer"):
            make_seals.post_query(running.url, query(DATA))


def test_without_openssl_the_exact_line_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServiceError) as caught, run_local_authority(tmp_path / "a", "one"):
        pass
    assert "the program openssl is not installed" in str(caught.value)
    assert "sudo apt-get install openssl" in str(caught.value)
    assert not (tmp_path / "a").exists()
