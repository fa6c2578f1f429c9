"""`penmark init` and `penmark status`, as a user runs them."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from penmark import cards, protocol, study
from penmark.cli import main
from penmark.errors import UsageError
from penmark.format import canonical_json
from penmark.records import Document, SealedCard
from penmark.stages import init
from penmark.stages.init import replicate
from penmark.timestamps import ed25519

TODAY = date(2026, 11, 30)
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the program in this process: exit code, stdout, stderr."""

    def go(*argv: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main([str(word) for word in argv])
        out, err = capsys.readouterr()
        return int(caught.value.code or 0), out, err

    return go


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


# --- a new study ---------------------------------------------------------------------------------------------------


def test_init_writes_a_study_that_status_reads(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "my-bench"
    code, out, err = run("init", root)
    assert (code, err) == (0, "")
    now = datetime.now(UTC)
    tag = f"BENCH-{now.year}-Q{(now.month + 2) // 3}"
    assert f"Edition {tag}." in out
    assert out.endswith(f"Next: cd {root}, and penmark status\n")
    assert sorted(files(root)) == [
        ".gitattributes", ".gitignore", f"editions/{tag}/protocol.yaml", "private/seed", "private/signing.pem", "study.yaml",
    ]  # fmt: skip
    assert files(root)[".gitignore"] == b"private/\n"
    assert files(root)[".gitattributes"] == b"* -text\n"
    seed = root / "private" / "seed"
    assert (len(seed.read_bytes()), stat.S_IMODE(seed.stat().st_mode)) == (32, 0o600)
    assert stat.S_IMODE(seed.parent.stat().st_mode) == 0o700
    promised = protocol.load_protocol(root / "editions" / tag / "protocol.yaml")
    assert (promised.study, promised.edition) == ("my-bench", tag)
    assert promised.seed_sha256 == canonical_json.sha256(seed.read_bytes())
    key = root / "private" / "signing.pem"
    assert promised.signing_key == ed25519.derive_public_key(key.read_bytes())
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    code, out, err = run("-C", root, "status")
    assert (code, err) == (0, "")
    assert out.startswith(f"my-bench, edition {tag} (follows humanflow)\n")
    assert "  A    0 of 150 documents, human\n" in out
    assert "\n  line 12: people.0.name still says <your name>\n" in out
    assert "\n  line 81: still says <model 1> (also lines 82, 83, 98)\n" in out
    path = root / "editions" / tag / "protocol.yaml"
    assert out.endswith(f"\nnext: decide the 29 places that are left in {path}, then penmark commit\n")


def test_two_studies_have_two_seeds(tmp_path: Path) -> None:
    seeds = {
        init.start_study(tmp_path / n, template="small", name=None, edition=None, today=TODAY).study.seed.read_bytes()
        for n in "abc"
    }
    assert len(seeds) == 3


def test_small_is_scaled_down_and_says_so(run: Run, tmp_path: Path) -> None:
    assert (
        run("init", tmp_path / "s", "--template", "small", "--name", "ours: all", "--edition", "OURS-2027-Q2")[0] == 0
    )
    code, out, _ = run("-C", tmp_path / "s", "status", "--json")
    value = json.loads(out)
    assert code == 0
    assert (value["study"], value["edition"]) == ("ours: all", "OURS-2027-Q2")
    assert value["next"].startswith("decide the 29 places that are left in ")
    assert [(d["template"], d["study"]) for d in value["departures"] if d["rule"] == "arm-size"] == [
        ("arm A: 150 documents", "15 documents"), ("arm B: 75 documents", "8 documents"),
        ("arm C: 150 documents", "15 documents"), ("arm C2: 45 documents", "4 documents"),
    ]  # fmt: skip
    assert {"path": "people.0.name", "text": "<your name>"} in value["placeholders"]
    promised = protocol.load_protocol(tmp_path / "s" / "editions" / "OURS-2027-Q2" / "protocol.yaml")
    assert (promised.window.opens, promised.window.closes) == ("2027-04-01", "2027-06-30")


def test_the_window_is_the_rest_of_the_present_quarter(tmp_path: Path) -> None:
    made = init.start_study(tmp_path, template="humanflow", name="n", edition=None, today=TODAY)
    promised = protocol.load_protocol(made.edition.protocol_yaml)
    assert (promised.edition, promised.window.opens, promised.window.closes) == (
        "BENCH-2026-Q4", "2026-11-30", "2026-12-31",
    )  # fmt: skip


@pytest.mark.parametrize("day", [date(2026, 1, 1), date(2026, 3, 31), date(2026, 4, 1), date(2026, 12, 31)])
def test_the_quarter_of_a_day(day: date) -> None:
    first, last = protocol.date_quarter(init.choose_edition_tag(None, day))
    assert first <= day.isoformat() <= last


def test_nothing_is_overwritten(run: Run, tmp_path: Path) -> None:
    assert run("init", tmp_path)[0] == 0
    before = files(tmp_path)
    code, out, err = run("init", tmp_path)
    assert (code, out) == (2, "")
    assert "there is a study here already" in err
    assert "penmark init --edition BENCH-" in err
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        (".gitignore", "*.pyc\n", "lacks the line `private/`: secrets would get into git"),
        (".gitattributes", "", "lacks the line `* -text`"),
        ("private/seed", "x", "is there already"),
        ("editions/BENCH-2026-Q4/protocol.yaml", "x", "is there already"),
    ],
)
def test_a_folder_that_holds_something_else_is_refused_and_left_as_it_was(
    run: Run, tmp_path: Path, path: str, content: str, said: str
) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(content)
    before = files(tmp_path)
    code, out, err = run("init", tmp_path, "--edition", "BENCH-2026-Q4")
    assert (code, out) == (2, "")
    assert said in err
    assert str(tmp_path / path) in err
    assert files(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.split("/")[0]]


def test_a_folder_with_other_things_is_nobodys_study_unless_it_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bundle: Path
) -> None:
    here = tmp_path / "here"
    (here / ".git").mkdir(parents=True)
    (here / "thesis.tex").write_text("mine")
    monkeypatch.chdir(here)
    for argv in ((), ("--template", "small"), ("--from", bundle)):
        code, out, err = run("init", *argv)
        assert (code, out) == (2, "")
        assert f"{here}: is not empty (thesis.tex), and nobody named it as the study's folder" in err
        assert "penmark init my-bench" in err
        assert files(here) == {"thesis.tex": b"mine"}
    assert run("init", ".")[0] == 0
    code, _, err = run("init")
    assert code == 2
    assert "there is a study here already" in err
    (tmp_path / "git" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "git")
    assert run("init")[0] == 0


def test_files_that_say_the_same_are_kept(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.pyc\nprivate/\n")
    (tmp_path / "README.md").write_text("mine")
    assert run("init", tmp_path)[0] == 0
    assert (tmp_path / ".gitignore").read_text() == "*.pyc\nprivate/\n"
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--template", "humanflo"], "did you mean humanflow"),
        (["--edition", "2026-Q4"], "is not an edition's tag"),
        (["--edition", "BENCH-2026-Q5"], "is not an edition's tag"),
        (["--name", "a\nb"], "cannot name a study"),
        (["--name", "<mine>"], "cannot name a study"),
        (["--name", ""], "cannot name a study"),
        (["--arms", "A"], "--arms chooses from a bundle"),
        (["--template", "small", "--from", "x"], "two ways to start"),
        (["--from", "nowhere"], "there is no such folder"),
    ],
)
def test_usage(run: Run, tmp_path: Path, argv: list[str], said: str) -> None:
    code, out, err = run("init", tmp_path / "s", *argv)
    assert (code, out) == (2, "")
    assert said in err
    assert "\n    " in err  # a remedy
    assert not (tmp_path / "s").exists()


def test_a_disk_that_refuses_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.replace

    def full(source: Any, target: Any) -> None:
        if str(target).endswith("protocol.yaml"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(Exception, match="no space left on device"):
        init.start_study(tmp_path / "s", template="small", name=None, edition=None, today=TODAY)
    assert not (tmp_path / "s").exists()


# --- a card --------------------------------------------------------------------------------------------------------


def test_an_example_card_is_written_to_be_filled_in(run: Run, tmp_path: Path) -> None:
    place, edition = _started(tmp_path)
    _decide(edition)
    code, out, _ = run("-C", tmp_path, "init", "--card", "mine")
    path = place.cards / "mine.yaml"
    assert code == 0
    assert out.startswith(f"wrote {path}\n")
    assert cards.load_card(path).name == "mine"
    text = edition.protocol_yaml.read_text()
    line = "  - {name: mine, card: mine, surface: web, tier: standard, payer: us, relation: none}\n"
    edition.protocol_yaml.write_text(text.replace("nominations:", f"{line}nominations:"))
    code, out, _ = run("-C", tmp_path, "status")
    assert code == 1
    open_ones = [n for n, written in enumerate(path.read_text().splitlines(), 1) if re.match("[^#]*<[^>]+>", written)]
    assert [int(n) for n in re.findall(r"cards/mine.yaml:(\d+): still says <", out)] == open_ones
    assert len(open_ones) == 5
    path.write_text(re.sub("<([^<>]+)>", r"\1", path.read_text()))
    assert run("-C", tmp_path, "status")[0] == 0
    code, _, err = run("-C", tmp_path, "init", "--card", "mine")
    assert code == 2
    assert f"{path}: is there already" in err
    code, _, err = run("-C", tmp_path, "init", "--card", "Mine!")
    assert code == 2
    assert "is not a detector's name" in err
    assert json.loads(run("-C", tmp_path, "init", "--card", "other", "--json")[1]) == {
        "wrote": [str(place.cards / "other.yaml")]
    }


# --- the next edition ----------------------------------------------------------------------------------------------


def test_the_next_edition_keeps_the_protocol_and_its_comments(run: Run, tmp_path: Path) -> None:
    made = init.start_study(tmp_path, template="small", name="n", edition="BENCH-2026-Q4", today=TODAY)
    before, seed = made.edition.protocol_yaml.read_text(), made.study.seed.read_bytes()
    code, _, err = run("init", tmp_path, "--edition", "BENCH-2027-Q1")
    assert code == 2
    assert "is not closed" in err
    study.write_bytes(made.edition.seal("evidence"), b"{}")
    code, _, err = run("init", tmp_path, "--edition", "BENCH-2026-Q4")
    assert code == 2
    assert "is not later than BENCH-2026-Q4" in err
    assert "The next one is BENCH-2027-Q1" in err
    arms = [(arm, f"{arm}-1") for arm in ("A", "C")]
    study.write_records(made.edition.manifest, [{"arms": {}}, *({"arm": arm, "id": name} for arm, name in arms)])
    for arm, name in arms:
        study.write_records(made.study.documents(arm), [_row(name, arm), _row(f"{name}-new", arm)])
    code, out, _ = run("init", tmp_path, "--edition", "BENCH-2027-Q1")
    assert code == 0
    assert "Made anew for this edition: arms C, C2. The others stay as they are.\n" in out
    after = (tmp_path / "editions" / "BENCH-2027-Q1" / "protocol.yaml").read_text()
    new = made.study.seed.read_bytes()
    assert new != seed
    assert made.study.seed_of("BENCH-2026-Q4").read_bytes() == seed
    assert made.study.seed_of("BENCH-2027-Q1") == made.study.seed
    assert stat.S_IMODE(made.study.seed_of("BENCH-2026-Q4").stat().st_mode) == 0o600
    expected = before.replace("edition: BENCH-2026-Q4", "edition: BENCH-2027-Q1")
    expected = expected.replace(canonical_json.sha256(seed), canonical_json.sha256(new))
    assert after == expected.replace("opens: 2026-11-30, closes: 2026-12-31", "opens: 2027-01-01, closes: 2027-03-31")
    assert made.edition.protocol_yaml.read_text() == before
    out = run("-C", tmp_path, "status")[1]
    assert out.startswith("n, edition BENCH-2027-Q1")
    assert "  A    2 of 15 documents, human\n" in out
    assert "  C    1 of 15 documents, ai\n" in out


def test_a_study_of_before_gets_a_key_with_its_next_edition(tmp_path: Path) -> None:
    made = init.start_study(tmp_path, template="small", name="s", edition="BENCH-2026-Q4", today=TODAY)
    first = made.edition.protocol_yaml
    assert first.read_text().count("signing_key: ") == 1
    lines = [line for line in first.read_text().splitlines(keepends=True) if not line.startswith("signing_key")]
    first.write_text("".join(lines))
    made.study.signing.unlink()
    study.write_bytes(made.edition.seal("evidence"), b"{}")
    again = init.start_next_edition(made.study, "BENCH-2027-Q1", TODAY)
    key = ed25519.derive_public_key(made.study.signing.read_bytes())
    assert protocol.load_protocol(again.edition.protocol_yaml).signing_key == key
    assert made.study.signing in again.wrote
    study.write_bytes(again.edition.seal("evidence"), b"{}")
    third = init.start_next_edition(made.study, "BENCH-2027-Q2", TODAY)
    assert protocol.load_protocol(third.edition.protocol_yaml).signing_key == key


def test_the_next_edition_can_be_begun_again_after_a_crash(tmp_path: Path) -> None:
    made = init.start_study(tmp_path, template="small", name="n", edition="BENCH-2026-Q4", today=TODAY)
    seed = made.study.seed.read_bytes()
    study.write_bytes(made.edition.seal("evidence"), b"{}")
    study.write_private(made.study.private / "seed-BENCH-2026-Q4", seed)
    study.write_private(made.study.seed, b"n" * 32)  # it was killed before the protocol was written
    again = init.start_next_edition(made.study, "BENCH-2027-Q1", TODAY)
    assert made.study.seed_of("BENCH-2026-Q4").read_bytes() == seed
    assert protocol.load_protocol(again.edition.protocol_yaml).seed_sha256 == canonical_json.sha256(
        made.study.seed.read_bytes()
    )


def test_the_quarter_after() -> None:
    assert [init.compute_next_tag(tag) for tag in ("BENCH-2026-Q3", "X-2026-Q4")] == ["BENCH-2026-Q4", "X-2027-Q1"]


# --- a replication -------------------------------------------------------------------------------------------------

TEXTS = {"a1": b"One human text.\r\n", "a2": "Ein zweiter, ä.".encode(), "c1": b"A text of a machine."}
ARCHIVE = {
    "kind": "archive",
    "grade": "archived",
    "source": "s",
    "archive": "w",
    "evidence_date": "2020-01-01",
    "licence": "CC0",
}
GENERATED = {"kind": "generated", "grade": "stated", "provider": "P", "model": "M"}
SALT = "5a" * 32


def _document(
    name: str, arm: str, address: str, provenance: dict[str, Any], withheld: str | None = None
) -> dict[str, Any]:
    value = {
        "id": name, "arm": arm, "address": address, "canonical_sha256": None, "words": None, "characters": None,
        "exposures": ["before"], "withheld": withheld, "provenance": provenance,
        "register": "academic" if name != "A-2" else "casual",
    }  # fmt: skip
    return Document.model_validate_json(json.dumps(value)).model_dump(mode="json", by_alias=True)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle as a stranger would get it, as far as a replication reads it."""
    root = tmp_path / "bundle"
    promised = init.start_study(
        tmp_path / "theirs", template="small", name="theirs", edition="BENCH-2026-Q4", today=TODAY
    )
    text = promised.edition.protocol_yaml.read_text()
    text = text.replace("<your name>", "N. N.").replace(
        "filled: New prose", "source: {plugin: folder, options: {path: /etc}}\n    filled: New prose"
    )
    edition = study.Edition(root)
    study.write_bytes(edition.protocol_yaml, text.encode())
    value = protocol.load_protocol(edition.protocol_yaml)
    study.write_bytes(edition.protocol_json, protocol.encode_protocol(value))
    study.write_bytes(root / "format", b"1\n")
    for detector in value.detectors:
        card = cards.load_card(cards.find_card(detector.card, None))
        study.write_bytes(edition.sealed_card(detector.name), cards.encode_card(SealedCard(card=card, plugin=None)))
    attested = {
        "kind": "attested", "grade": "stated", "attestation": "v1", "attestation_sha256": "0" * 64, "written_on": "2026-10-01",
        "adult": True, "consent": {"publish": True, "vendors": ["*"]}, "review": "r",
    }  # fmt: skip
    keyed = canonical_json.fingerprint_text(bytes.fromhex(SALT), b"Fresh.")
    draft = b"A draft by a machine."
    edited = {
        "kind": "edited",
        "grade": "stated",
        "draft_sha256": canonical_json.sha256(draft),
        "draft": GENERATED,
        "editor": "e",
        "words_changed": 1,
        "draft_words": 5,
    }
    rows = [
        _document("A-1", "A", canonical_json.sha256(TEXTS["a1"]), ARCHIVE),
        _document("A-2", "A", canonical_json.sha256(TEXTS["a2"]), ARCHIVE),
        _document("A-3", "A", "ab" * 32, ARCHIVE, withheld="the licence does not allow it"),
        _document("B-1", "B", keyed, attested),
        _document("C-1", "C", canonical_json.sha256(TEXTS["c1"]), GENERATED),
        _document("C2-1", "C2", canonical_json.sha256(b"Edited."), edited),
    ]
    study.write_records(edition.manifest, [{"kind": "manifest", "arms": {}}, *rows])
    study.write_records(root / "salts.jsonl", [{"document": "B-1", "salt": SALT}])
    raw = [*TEXTS.values(), draft, b"Edited."]
    study.write_texts(root / "texts", {**{canonical_json.sha256(each): each for each in raw}, keyed: b"Fresh."})
    return root


def test_a_replication_takes_over_rules_cards_and_published_texts(run: Run, tmp_path: Path, bundle: Path) -> None:
    root = tmp_path / "ours"
    code, out, err = run("init", root, "--from", bundle, "--edition", "BENCH-2027-Q1")
    assert (code, err) == (0, "")
    assert "missing in arm A: 1 withheld texts (A-3)" in out
    place = study.Study(root)
    assert (root / "corpus/A/missing.csv").read_bytes() == b"id,reason\nA-3,the licence does not allow it\n"
    documents = [value for _, value in study.read_json_lines(place.documents("A"))]
    assert [d["id"] for d in documents] == ["A-1", "A-2"]
    assert documents[0]["exposures"] == ["before", "theirs BENCH-2026-Q4"]
    assert {address: raw for address, raw, _ in study.read_texts(place.arm("A"))} == {
        canonical_json.sha256(TEXTS[name]): TEXTS[name] for name in ("a1", "a2")
    }
    assert sorted(raw for _, raw, _ in study.read_texts(place.arm("C2"))) == [b"A draft by a machine.", b"Edited."]
    assert list(study.read_texts(place.arm("B"))) == []
    assert [raw for _, raw, _ in study.read_texts(place.private_texts)] == [b"Fresh."]
    assert place.salts.read_bytes() == canonical_json.encode_json({"document": "B-1", "salt": SALT}) + b"\n"
    theirs, ours = protocol.read_sealed(study.Edition(bundle)), protocol.load_protocol(place.edition().protocol_yaml)
    assert (ours.study, ours.edition, ours.title) == ("ours", "BENCH-2027-Q1", f"Replication of: {theirs.title}")
    assert ours.seed_sha256 == canonical_json.sha256(place.seed.read_bytes()) != theirs.seed_sha256
    assert ours.people[0].name == "<your name>"
    assert all(arm.source is None for arm in ours.arms)
    assert ours.signing_key == ed25519.derive_public_key(place.signing.read_bytes()) != theirs.signing_key
    kept = {"study", "edition", "title", "people", "payer", "window", "seed_sha256", "signing_key", "arms", "detectors"}
    assert ours.model_dump(exclude=kept) == theirs.model_dump(exclude=kept)
    # Nobody but the new operator can say what relation they have; and the arm is as large as what of it is published.
    assert {d.relation for d in ours.detectors} == {"<own, affiliate, free credits or none: yours to this vendor>"}
    assert [d.model_dump(exclude={"relation"}) for d in ours.detectors] == [
        d.model_dump(exclude={"relation"}) for d in theirs.detectors
    ]
    assert (ours.arm("A").documents, [q.documents for q in ours.arm("A").quotas]) == (2, [1, 0, 1])
    assert [a.model_dump(exclude={"source"}) for a in ours.arms if a.name != "A"] == [
        a.model_dump(exclude={"source"}) for a in theirs.arms if a.name != "A"
    ]
    for detector in ours.detectors:
        path = cards.find_card(detector.card, place.cards)
        assert path.parent == place.cards
        assert cards.load_card(path) == cards.read_sealed_card(study.Edition(bundle), detector.name).card
    code, out, _ = run("-C", root, "status")
    assert code == 0
    assert "  A    2 of 2 documents, human\n" in out
    assert "detectors.length.relation" in out or "<own, affiliate, free credits or none" in out


def test_a_replication_of_some_arms(run: Run, tmp_path: Path, bundle: Path) -> None:
    code, out, _ = run("init", tmp_path / "ours", "--from", bundle, "--arms", "C,A", "--json")
    assert code == 0
    value = json.loads(out)
    assert value["missing"] == {"A": [{"id": "A-3", "reason": "the licence does not allow it"}]}
    ours = study.Study(tmp_path / "ours")
    assert [arm.name for arm in protocol.load_protocol(ours.edition().protocol_yaml).arms] == ["A", "C"]
    assert sorted(path.name for path in ours.corpus.iterdir()) == ["A", "C"]
    assert not ours.salts.exists()
    code, _, err = run("init", tmp_path / "other", "--from", bundle, "--arms", "A,D")
    assert code == 2
    assert "the bundle has no arm 'D'" in err


def _manifest(bundle: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    path = study.Edition(bundle).manifest
    rows = [value for _, value in study.read_json_lines(path)]
    change(rows)
    study.write_records(path, rows)


def _rewrite(bundle: Path, path: str, change: Callable[[dict[str, Any]], None]) -> None:
    value = study.read_json(bundle / path)
    change(value)
    study.write_bytes(bundle / path, canonical_json.encode_json(value))


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "another text": (
        lambda b: (b / "texts" / f"{canonical_json.sha256(TEXTS['a1'])}.txt").write_bytes(b"other"),
        "its address differs",
    ),
    "a text gone": (
        lambda b: (b / "texts" / f"{canonical_json.sha256(TEXTS['a1'])}.txt").unlink(),
        "is missing, and not said to be withheld",
    ),
    "a link for a text": (
        lambda b: (b / "texts" / "x.txt").symlink_to("/etc/passwd"),
        "neither a plain file nor a folder",
    ),
    "a link for a folder": (lambda b: (b / "more").symlink_to("/etc"), "neither a plain file nor a folder"),
    "a pipe": (lambda b: os.mkfifo(b / "texts" / "x.txt"), "neither a plain file nor a folder"),
    "an odd name": (lambda b: (b / "texts" / "a\nb").write_bytes(b""), "has an odd name"),
    "no bundle": (lambda b: (b / "format").unlink(), "is not a bundle of format 1"),
    "another format": (lambda b: (b / "format").write_bytes(b"2\n"), "is not a bundle of format 1"),
    "yaml is not json": (
        lambda b: (b / "protocol.yaml").write_bytes(
            (b / "protocol.yaml").read_bytes().replace(b"attempts: 3", b"attempts: 9")
        ),
        "says something else than protocol.json",
    ),
    "an arm with a path": (
        lambda b: _manifest(b, lambda rows: rows[1].update(arm="../../x")),
        "manifest.jsonl:2: arm: ",
    ),
    "an unknown arm": (lambda b: _manifest(b, lambda rows: rows[1].update(arm="Z")), "there is no arm 'Z'"),
    "an id twice": (lambda b: _manifest(b, lambda rows: rows[2].update(id="A-1")), "document 'A-1' stands twice"),
    "an address with a path": (
        lambda b: _manifest(b, lambda rows: rows[1].update(address="../seed")),
        "manifest.jsonl:2: address: ",
    ),
    "a card of another name": (
        lambda b: _rewrite(b, "detectors/zippy.json", lambda v: v["card"].update(name="uncanny")),
        "not 'zippy'",
    ),
    "a card with a path": (
        lambda b: _rewrite(b, "detectors/zippy.json", lambda v: v["card"].update(name="../x")),
        "card.name",
    ),
    "no card": (lambda b: (b / "detectors" / "zippy.json").unlink(), "there is no such file"),
    "another salt": (
        lambda b: study.write_records(b / "salts.jsonl", [{"document": "B-1", "salt": "00" * 32}]),
        "its address differs",
    ),
    "no salt": (lambda b: (b / "salts.jsonl").unlink(), "its address differs"),
    "a salt that is none": (
        lambda b: study.write_records(b / "salts.jsonl", [{"document": "B-1", "salt": "zz"}]),
        "its address differs",
    ),
    "a manifest cut": (
        lambda b: (b / "manifest.jsonl").write_bytes((b / "manifest.jsonl").read_bytes()[:-5]),
        "not finished",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_bundle_is_refused_and_nothing_is_written(run: Run, tmp_path: Path, bundle: Path, name: str) -> None:
    spoil, said = HOSTILE[name]
    spoil(bundle)
    code, out, err = run("init", tmp_path / "ours", "--from", bundle)
    assert code in (1, 2)
    assert out == ""
    assert said in err
    assert str(bundle) in err
    assert "Traceback" not in err
    assert not (tmp_path / "ours").exists()


def test_words_of_a_bundle_cannot_leave_their_place(tmp_path: Path, bundle: Path) -> None:
    title = 'x"\n---\n&a !!python/object <your name> # '
    _rewrite(bundle, "protocol.json", lambda v: v.update(title=title, study="y\n# z: 1\nw"))
    text = (bundle / "protocol.yaml").read_text()
    text = text.replace("title: HumanFlow detector benchmark, scaled down", f"title: {json.dumps(title)}")
    (bundle / "protocol.yaml").write_text(text.replace("study: theirs", 'study: "y\\n# z: 1\\nw"'))
    made = replicate.start_replication(
        tmp_path / "ours", bundle=bundle, chosen=None, name=None, edition=None, today=TODAY
    )
    assert protocol.load_protocol(made.edition.protocol_yaml).title == f"Replication of: {title}"


def test_a_replication_does_not_touch_a_corpus_that_is_there(tmp_path: Path, bundle: Path) -> None:
    mine = tmp_path / "ours" / "corpus" / "A" / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        replicate.start_replication(tmp_path / "ours", bundle=bundle, chosen=None, name=None, edition=None, today=TODAY)
    assert files(tmp_path / "ours") == {"corpus/A/mine.txt": b"mine"}


def test_an_authority_of_their_own_machine_is_not_taken_over(run: Run, tmp_path: Path, bundle: Path) -> None:
    text = (bundle / "protocol.yaml").read_text()
    near = ("http://127.0.0.1:8081/", "http://localhost:1/", "https://[::1]/tsr", "http://127.9.9.9/")
    listed = "".join(f'  - {{name: near{n}, url: "{url}"}}\n' for n, url in enumerate(near))
    (bundle / "protocol.yaml").write_text(text.replace("  - {name: freetsa,", f"{listed}  - {{name: freetsa,"))
    value = protocol.load_protocol(bundle / "protocol.yaml")
    study.write_bytes(bundle / "protocol.json", protocol.encode_protocol(value))
    assert len(value.authorities) == 6
    code, out, _ = run("init", tmp_path / "ours", "--from", bundle)
    assert code == 0
    for number, url in enumerate(near):
        assert f"Left out: the authority near{number} ({url}) ran on the machine of the bundle." in out
    ours = protocol.load_protocol(study.Study(tmp_path / "ours").edition().protocol_yaml)
    assert [each.name for each in ours.authorities] == ["digicert", "freetsa"]


# --- status --------------------------------------------------------------------------------------------------------


def _started(root: Path) -> tuple[study.Study, study.Edition]:
    made = init.start_study(root, template="small", name="n", edition="BENCH-2026-Q4", today=TODAY)
    return made.study, made.edition


def _seal(edition: study.Edition, name: str, **values: Any) -> None:
    seal = {
        "format": 2, "kind": name.split("-")[0], "study": "n", "edition": edition.tag, "sealed_at": "2026-11-30T10:00:00Z",
        "rules": 2, "software": "s", "previous": None, "digests": {}, "journals": {}, "announced": None,
    } | values  # fmt: skip
    study.write_bytes(edition.seal(name), canonical_json.encode_json(seal))


def _decide(edition: study.Edition) -> None:
    text = edition.protocol_yaml.read_text()
    edition.protocol_yaml.write_text(re.sub("<(your|who|model|provider) ?([^<>]*)>", r"\1 \2", text))


def _promise(edition: study.Edition) -> None:
    promised = protocol.load_protocol(edition.protocol_yaml)
    study.write_bytes(edition.protocol_json, protocol.encode_protocol(promised))
    for detector in promised.detectors:
        card = cards.load_card(cards.find_card(detector.card, None))
        study.write_bytes(edition.sealed_card(detector.name), cards.encode_card(SealedCard(card=card, plugin=None)))
    _seal(edition, "promise", digests={"protocol.yaml": canonical_json.sha256(edition.protocol_yaml.read_bytes())})


def _next(run: Run, place: study.Study) -> str:
    return run("-C", place.root, "status")[1].splitlines()[-1]


def _row(name: str, arm: str, **values: Any) -> dict[str, Any]:
    return _document(name, arm, "0" * 64, ARCHIVE) | values


def test_status_leads_from_step_to_step(run: Run, tmp_path: Path) -> None:
    place, edition = _started(tmp_path)
    assert _next(run, place).endswith(", then penmark commit")
    _decide(edition)
    assert _next(run, place) == "next: penmark commit"
    _promise(edition)
    study.write_bytes(edition.seals / "promise-local.tsr", b"token")
    assert _next(run, place) == "next: penmark collect A"
    out = run("-C", tmp_path, "status")[1]
    assert "  promise    2026-11-30T10:00:00Z, timestamps from outside: 1\n  corpus     not yet\n" in out
    sizes = {"A": 15, "B": 8, "C": 15, "C2": 4}
    registers = ["academic"] * 7 + ["professional"] * 5 + ["casual"] * 3
    for arm, size in sizes.items():
        rows = [_row(f"{arm}-{n}", arm, register=registers[n] if arm == "A" else None) for n in range(size)]
        study.write_records(place.documents(arm), rows)
    out = run("-C", tmp_path, "status")[1]
    assert "  A    15 of 15 documents, human\n       short: 3 of 5 casual\n" in out
    assert _next(run, place) == "next: penmark screen"
    study.write_bytes(edition.screening, b"severity,rule\nerror,quota\n")
    assert _next(run, place) == f"next: mend the error in {edition.screening}, then penmark screen"
    study.write_bytes(edition.screening, b'severity,rule\nerror,quota\nwarning,"\nerror,"\nerror,"bytes"\n')
    assert _next(run, place) == f"next: mend the 2 errors in {edition.screening}, then penmark screen"
    study.write_bytes(edition.screening, b"severity,rule\nwarning,words\n")
    assert _next(run, place) == "next: penmark freeze"
    study.write_records(edition.manifest, [{"arms": sizes, "documents": 42, "kind": "manifest"}])
    _seal(edition, "corpus")
    assert _next(run, place) == "next: penmark scan"
    _journals(edition)
    out = run("-C", tmp_path, "status")[1]
    assert "  aifingerprint    42 answered, 0 left\n" in out
    assert "  uncanny          0 answered, 42 left\n" in out
    assert "  zippy            2 answered, 1 declined, 1 failed, 1 not scannable, 1 in doubt, 36 left\n" in out
    assert out.endswith("next: penmark scan\n")
    for name in ("uncanny", "zippy"):
        study.write_records(
            edition.journals / f"{name}.jsonl", [_reading(f"d{n}", "answered", "recorded") for n in range(42)]
        )
        (edition.journals / f"{name}.2of2.jsonl").unlink(missing_ok=True)
    assert _next(run, place) == "next: penmark report"
    _seal(edition, "evidence")
    assert _next(run, place) == "next: penmark publish"
    (place.bundles / edition.tag).mkdir(parents=True)
    assert _next(run, place) == f"next: penmark verify {place.bundles / edition.tag}"


def _reading(document: str, state: str, origin: str) -> dict[str, Any]:
    return {
        "kind": "reading",
        "document": document,
        "state": state,
        "origin": origin,
        "displayed": '"kind":"sent"',
        "reason": 'x"state":"failed"',
    }


def _journals(edition: study.Edition) -> None:
    one = [
        {"kind": "start"}, {"kind": "sent", "document": "a"}, _reading("a", "answered", "scan"),
        {"kind": "sent", "document": "b"}, {"kind": "retry", "document": "b"}, {"kind": "sent", "document": "b"},
        _reading("b", "failed", "scan"),
        {"kind": "skipped", "document": "c"}, {"kind": "sent", "document": "d"}, {"kind": "stop"},
    ]  # fmt: skip
    two = [
        {"kind": "start"},
        _reading("e", "answered", "typed"),
        {"kind": "sent", "document": "f"},
        _reading("f", "declined", "scan"),
    ]
    study.write_records(edition.journals / "zippy.jsonl", one)
    study.write_records(edition.journals / "zippy.2of2.jsonl", two)
    with (edition.journals / "zippy.2of2.jsonl").open("ab") as file:
        file.write(
            canonical_json.encode_json(_reading("g", "answered", "scan"))[:-3]
        )  # cut in the middle of its last line
    study.write_records(
        edition.journals / "aifingerprint.jsonl", [_reading(f"d{n}", "answered", "typed") for n in range(42)]
    )


def test_status_of_people_who_copy_screens(run: Run, tmp_path: Path) -> None:
    place, edition = _started(tmp_path)
    card = cards.load_card(Path(__file__).parents[1] / "cards" / "percenter.yaml")
    study.write_bytes(
        place.cards / "percenter.yaml", (Path(__file__).parents[1] / "cards" / "percenter.yaml").read_bytes()
    )
    text = edition.protocol_yaml.read_text()
    start, end = text.index("  - {name: aifingerprint"), text.index("nominations: []")
    line = "  - {name: percenter, card: percenter, surface: web, tier: standard, payer: us, relation: none}\n"
    edition.protocol_yaml.write_text(text[:start] + line + text[end:])
    assert run("-C", tmp_path, "status")[0] == 0
    study.write_bytes(edition.sealed_card("percenter"), cards.encode_card(SealedCard(card=card, plugin=None)))
    study.write_bytes(edition.protocol_json, protocol.encode_protocol(protocol.load_protocol(edition.protocol_yaml)))
    _seal(edition, "promise", digests={"protocol.yaml": canonical_json.sha256(edition.protocol_yaml.read_bytes())})
    _seal(edition, "corpus")
    study.write_records(edition.manifest, [{"arms": {"A": 3}, "documents": 3, "kind": "manifest"}])
    assert (
        _next(run, place)
        == "next: penmark record FILE --detector percenter (work sheets for people: --sheets private/percenter)"
    )


def test_status_shows_what_is_guessed_and_a_guessed_boundary_is_a_departure(run: Run, tmp_path: Path) -> None:
    _, edition = _started(tmp_path)
    text = edition.protocol_yaml.read_text()
    start, end = text.index("  - {name: aifingerprint"), text.index("nominations: []")
    facts = "surface: web, tier: free, payer: us, relation: none"
    lines = [f"  - {{name: {name}, card: {name}, {facts}}}\n" for name in ("quillbot", "undetectable")]
    edition.protocol_yaml.write_text(text[:start] + "".join(lines) + text[end:])
    code, out, _ = run("-C", tmp_path, "status")
    assert code == 0
    [told] = [line for line in out.splitlines() if "boundary-evidence: quillbot: a documented boundary; here " in line]
    assert "(guess). The vendor does not document this boundary as its default" in told
    assert "boundary-evidence: undetectable" not in out
    assert "guessed in the card of quillbot: /boundary, /limits, /verdicts\n" in out
    value = json.loads(run("-C", tmp_path, "status", "--json")[1])
    assert {"detector": "quillbot", "facts": ["/boundary", "/limits", "/verdicts"]} in value["guessed"]
    assert [each["detector"] for each in value["guessed"]] == ["quillbot", "undetectable"]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda s, e: e.protocol_yaml.write_text("study: [\n"), "is not YAML"),
        (lambda s, e: e.protocol_yaml.unlink(), "there is no such file"),
        (
            lambda s, e: e.protocol_yaml.write_text(e.protocol_yaml.read_text().replace("level: 0.95", "level: 95")),
            "'95' is not possible here",
        ),
        (
            lambda s, e: e.protocol_yaml.write_text(e.protocol_yaml.read_text().replace("card: zippy", "card: zipy")),
            "did you mean zippy",
        ),
        (
            lambda s, e: e.protocol_yaml.write_text(
                e.protocol_yaml.read_text().replace("{name: humanflow", "{name: x")
            ),
            "ships no template x",
        ),
        (lambda s, e: study.write_bytes(s.documents("A"), b'{"id": 1}\n[]\n'), "is not a document"),
        (lambda s, e: study.write_bytes(s.documents("A"), b"{\n"), "is not valid JSON"),
        (lambda s, e: study.write_bytes(s.documents("A"), b"{}"), "is not finished"),
        (lambda s, e: study.write_bytes(e.seal("promise"), b"{}"), "is not a seal"),
        (lambda s, e: study.write_bytes(e.seal("promise"), b"\xff"), "not valid JSON"),
    ],
)
def test_status_tells_what_it_cannot_read(
    run: Run, tmp_path: Path, spoil: Callable[[study.Study, study.Edition], object], said: str
) -> None:
    place, edition = _started(tmp_path)
    spoil(place, edition)
    code, out, err = run("-C", tmp_path, "status")
    assert (code, err) == (1, "")
    assert "fault: " in out
    assert said in out
    assert re.fullmatch("next: mend the (fault|[0-9]+ faults) above, then penmark status", out.splitlines()[-1])
    if "template x" in said or "YAML" in said:
        assert "departures from the template: not known\n" in out
    assert run("-C", tmp_path, "status", "--json")[0] == 1


def test_status_notices_a_protocol_that_was_changed_after_the_promise(run: Run, tmp_path: Path) -> None:
    _, edition = _started(tmp_path)
    _promise(edition)
    edition.protocol_yaml.write_text(edition.protocol_yaml.read_text() + "# a change\n")
    code, out, _ = run("-C", tmp_path, "status")
    assert code == 1
    assert "was changed after the promise was sealed; the promise counts" in out


def test_status_where_there_is_no_study(run: Run, tmp_path: Path) -> None:
    code, out, err = run("-C", tmp_path, "status")
    assert (code, out) == (2, "")
    assert "there is no study here" in err


def test_status_loads_nothing_heavy(tmp_path: Path) -> None:
    _started(tmp_path)
    heavy = ["polars", "cryptography", "httpx2", "rfc3161_client", "jinja2", "numpy"]
    script = (
        "import sys\nfrom penmark.cli import main\n"
        f"try:\n    main(['-C', {str(tmp_path)!r}, 'status'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("argv", [(), ("--template", "small")])
def test_a_bundle_is_no_place_for_a_study(run: Run, tmp_path: Path, argv: tuple[str, ...]) -> None:
    (tmp_path / "format").write_bytes(b"1\n")
    (tmp_path / "SHA256SUMS").write_bytes(b"")
    code, _, err = run("init", tmp_path, *argv)
    assert code == 2
    assert f"{tmp_path}: is a bundle: a study in it would damage it" in err
    assert set(files(tmp_path)) == {"format", "SHA256SUMS"}
    code, _, err = run("-C", tmp_path, "status")
    assert code == 2
    assert f"{tmp_path}: is a bundle, not a study" in err
