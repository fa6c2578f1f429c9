"""The source ``sessions``: a signature of the promised key, lines that say everything, refusals counted by rule."""

import pytest
from tests.volunteer_sessions import ATTESTATIONS, export, refused, session, withheld

from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.shipped.sources.sessions import Sessions
from penmark.timestamps import ed25519

KEY = ed25519.make_private_key()
PUBLIC = ed25519.derive_public_key(KEY)


def gathered(path, key=PUBLIC):
    source = Sessions({"path": str(path), "signing_key": key})
    return list(source.gather("B")), source


def test_accepted_sessions_are_drafts_and_refused_ones_are_counted(tmp_path):
    lines = [
        session("B-1", "A text.", topic="The harbour"),
        withheld("B-2", "Another."),
        refused("B-3", "Pasted.", "pastes"),
        refused("B-4", "Pasted.", "pastes", "largest_insert_percent"),
        refused("B-5", "Odd.", "reviewer"),
        refused("B-6", "Pasted.", "pastes"),
    ]
    path = export(tmp_path / "e.jsonl", KEY, lines)
    (one, two), source = gathered(path)
    assert (one.id, one.text, one.place) == ("B-1", b"A text.", f"{path}:2")
    assert one.fields == {
        "language": "en",
        "register": "casual",
        "subgroup": "native",
        "author": "writer of B-1",
        "topic": "The harbour",
    }
    assert one.provenance["review"] == "accepted by A. Reviewer on 2026-10-06T09:00:00Z"
    assert one.provenance["attestation_sha256"] == canonical_json.sha256(ATTESTATIONS["2026-1"].encode())
    assert (one.provenance["publish"], two.provenance["publish"]) == ("true", "false")
    assert (one.provenance["pauses"], one.provenance["pastes"]) == ("4", "0")
    assert source.left_out == {
        canonical_json.sha256(path.read_bytes()): {
            "refused: pastes": 2,
            "refused: pastes and largest_insert_percent": 1,
            "refused: reviewer": 1,
        }
    }
    assert source.notes == ["4 sessions were refused before; they are counted, not kept"]


def test_only_the_promised_key_signs(tmp_path):
    path = export(tmp_path / "e.jsonl", KEY, [session("B-1", "A text.")])
    for key in (ed25519.derive_public_key(ed25519.make_private_key()), "0" * 64):
        with pytest.raises(PenmarkError, match="is not signed with the key that the promise names"):
            gathered(path, key)
    path.write_bytes(path.read_bytes().replace(b"A text.", b"A test."))
    with pytest.raises(PenmarkError, match="is not signed"):
        gathered(path)
    signature = path.with_name("e.jsonl.sig")
    for broken in (b"", b"zz", b"00" * 64, b"\xff"):
        signature.write_bytes(broken)
        with pytest.raises(PenmarkError, match="is not signed"):
            gathered(path)
    signature.unlink()
    with pytest.raises(UsageError, match="no such file"):
        gathered(path)
    with pytest.raises(UsageError, match=r"names no `signing_key`"):
        Sessions({"path": str(path)})
    with pytest.raises(UsageError, match="no option grade"):
        Sessions({"path": str(path), "signing_key": PUBLIC, "grade": "stated"})


def test_every_faulty_line_is_told_and_nothing_that_somebody_wrote(tmp_path):
    lines = [
        session("B-1", "A text."),
        session("B-2", "A secret text.", attestation="2025-9"),
        session("B-3", "A secret text.", adult=False),
        session("B-4", "A secret text.") | {"mood": "good"},
        refused("B-5", "A secret text."),
        session("B-6", "A secret text.", subgroup="unknown"),
        {"kind": "session", "id": "B-7"},
    ]
    path = export(tmp_path / "e.jsonl", KEY, lines)
    with pytest.raises(FaultsError) as caught:
        gathered(path)
    told = str(caught.value)
    for expected in (
        f"{path}:3: attests version 2025-9, whose text the export does not hold",
        f"{path}:4: the line: Value error, an accepted session is an adult's (session B-3)",
        f"{path}:5: mood: Extra inputs are not permitted (session B-4)",
        f"{path}:6: the line: Value error, a refused session says by which rule",
        f"{path}:7: subgroup:",
        f"{path}:8: text: Field required (session B-7)",
    ):
        assert expected in told
    assert "secret" not in told


def test_an_export_that_is_none(tmp_path):
    for data in (b"", b"{}\n", b'{"kind":"export"}\n', b'{"kind": "export"}\n', b"x"):
        path = tmp_path / "e.jsonl"
        path.write_bytes(data)
        path.with_name("e.jsonl.sig").write_bytes(ed25519.sign_data(KEY, data))
        if data:
            with pytest.raises(FaultsError):
                gathered(path)
        else:
            assert gathered(path)[0] == []
