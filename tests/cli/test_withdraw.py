"""`penmark withdraw`, as it is typed."""

import json

import pytest

from penmark import study
from penmark.cli import main

ATTESTED = {
    "kind": "attested",
    "grade": "stated",
    "attestation": "version 1",
    "attestation_sha256": "a" * 64,
    "written_on": "2026-10-10",
    "adult": "true",
    "vendors": "*",
    "review": "accepted",
    "publish": "yes",
}
TEXT = "A text about a lighthouse that its author takes back before the year is over."


def typed(capsys, made, *argv):
    with pytest.raises(SystemExit) as caught:
        main(["-C", str(made.place.root), "withdraw", *argv])
    said = capsys.readouterr()
    return int(caught.value.code or 0), said.out, said.err


def test_what_it_says(corpus, capsys):
    made = corpus(corpus.arm("B", "human", 2))
    made.collect("B", corpus.draft("b1", TEXT, **ATTESTED), corpus.draft("b2", "Another text.", **ATTESTED))
    study.write_bytes(made.place.root / "notes.md", f"# mine\n{TEXT}\n".encode())
    (made.place.root / ".git").mkdir()
    code, out, err = typed(capsys, made, "b1")
    assert (code, err) == (1, "")  # a file of the study still holds it
    assert out.startswith("b1 of the arm B is withdrawn since 20")
    assert "  changed or removed: private/withdrawn.jsonl\n" in out
    assert "  changed or removed: private/salts.jsonl\n" in out
    assert "  still there: notes.md holds the text\n" in out
    assert "  the history of git, if the text was ever committed" in out
    assert out.endswith("Next: penmark collect B, for another text in its place\n")
    assert TEXT[:20] not in out
    (made.place.root / "notes.md").unlink()
    code, out, err = typed(capsys, made, "b2", "--json")
    value = json.loads(out)
    assert (code, value["left"], value["editions"]) == (0, [], [])


def test_what_it_refuses(corpus, capsys):
    made = corpus(corpus.arm("A", "human", 1))
    made.collect("A", corpus.draft("a1", "An archived text."))
    code, out, err = typed(capsys, made, "a1")
    assert (code, out) == (2, "")
    assert "a1 is archive text, which nobody attested" in err
    code, out, err = typed(capsys, made, "zz")
    assert code == 2
    assert "there is no document 'zz' in the study" in err
