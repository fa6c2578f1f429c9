"""The frozen ground: documents as columns, and texts that are the frozen ones."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tests.frozen_study import SALT, attested, detector, frozen

from penmark import study
from penmark.corpus import sealed_edition as room
from penmark.corpus.sealed_edition import Documents
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.records import Document


def document(name: str, arm: str, address: str = "0" * 64) -> Document:
    value = {
        "id": name,
        "arm": arm,
        "address": address,
        "canonical_sha256": None,
        "words": None,
        "characters": None,
        "provenance": {
            "kind": "archive",
            "grade": "stated",
            "source": "s",
            "archive": "a",
            "evidence_date": "2020-01-01",
            "licence": "l",
        },
    }
    return Document.model_validate_json(canonical_json.encode_json(value))


def test_documents_are_found_by_id_in_every_arm() -> None:
    found = Documents(["B", "A", "empty", "C"])
    names = {"B": ["10", "9", "a"], "A": ["007", "NA", "é"], "C": ["00", "zz"]}
    for arm, ids in names.items():
        for name in ids:
            found.add(document(name, arm))
    assert len(found) == 8
    for arm, ids in names.items():
        assert [found.ids[position] for position in found.positions(arm)] == ids
        for name in ids:
            position = found.position(name)
            assert position is not None
            assert (found.ids[position], found.arm(position)) == (name, arm)
    assert found.positions("empty") == []
    for name in ("", "1", "b", "zzz", "A", "08"):
        assert found.position(name) is None


def test_texts_are_held_against_their_addresses(tmp_path: Path) -> None:
    fields = {"mine": {"provenance": attested("*")}}
    texts: dict[str, str | bytes] = {"mine": "my words", "open": "open words", "bad": b"\xff\xfe"}
    place, edition = frozen(tmp_path / "study", texts, detector("coin"), fields=fields)
    documents = room.load_documents(room.open_sealed_edition(edition, verb="scan"))
    at = {name: documents.position(name) for name in texts}
    assert None not in at.values()
    with closing(room.Texts(place, documents)) as found:
        mine, plain = at["mine"] or 0, at["open"] or 0
        assert (found.text(mine), found.text(plain)) == ("my words", "open words")
        assert found.address(mine) == canonical_json.fingerprint_text(SALT, b"my words")
        assert found.digest(mine, b"answer") == canonical_json.fingerprint_text(SALT, b"answer")
        assert found.digest(plain, b"answer") == canonical_json.sha256(b"answer")
        with pytest.raises(PenmarkError, match=r"not UTF-8 \(invalid start byte at byte 0\)"):
            found.text(at["bad"] or 0)
        (place.private_texts / f"{found.address(mine)}.txt").write_bytes(b"other words")
        with pytest.raises(PenmarkError, match="not the frozen one"):
            found.text(mine)
    study.write_private(place.salts, b"")
    with (
        closing(room.Texts(place, documents)) as found,
        pytest.raises(PenmarkError, match="no salt for the attested document mine"),
    ):
        found.text(at["mine"] or 0)


@pytest.mark.parametrize("line", [b'{"document":"a","salt":"00"}\n', b'{"document":"a"}\n', b"[]\n"])
def test_broken_salts_are_refused(tmp_path: Path, line: bytes) -> None:
    place, edition = frozen(tmp_path / "study", {"a": "text"}, detector("coin"))
    study.write_private(place.salts, line)
    with pytest.raises(PenmarkError, match=r"salts\.jsonl:1"):
        room.Texts(place, room.load_documents(room.open_sealed_edition(edition, verb="scan")))


def test_a_salt_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    place, edition = frozen(tmp_path / "study", {"a": "text"}, detector("coin"))
    line = canonical_json.encode_json({"document": "a", "salt": SALT.hex()}) + b"\n"
    study.write_private(place.salts, line + line)
    with pytest.raises(PenmarkError, match="a second salt for a"):
        room.Texts(place, room.load_documents(room.open_sealed_edition(edition, verb="scan")))
