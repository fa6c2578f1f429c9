"""Nothing is sealed that can never be published: what `verify` would refuse is refused before the seal that makes it final."""

from __future__ import annotations

import ast
import gzip
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.local_authority import study_of

from penmark import study, timestamps
from penmark.cli import invoke
from penmark.demo.authority import LocalAuthority, run_local_authority
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.stages import verify
from penmark.stages.verify import gzip_files

LOOKS: dict[str, str] = {
    "check3_promise": "commit: check 3 is run on the edition as it would be",
    "check2_seals/__init__": "commit and freeze: check 2 is run likewise; every seal: order, chain, files and clock (sealing)",
    "check2_seals/seal_tokens": "commit, freeze, report: a token that says another time is not kept, and nothing is sealed by it",
    "check4_corpus/__init__": "freeze: check 4 is run on the edition as it would be",
    "check4_corpus/document_claims": "freeze: check 4",
    "check4_corpus/published_texts": "freeze: check 4",
    "check4_corpus/parents": "freeze: check 4",
    "check4_corpus/pools": "freeze: check 4",
    "check4_corpus/screening_table": "freeze: check 4",
    "check5_journals/__init__": "scan and record write these lines, under the sealed promise; report holds them unchanged",
    "check5_journals/evidence": "scan and record: as journals",
    "check5_journals/times": "scan and record: as journals",
    "check5_journals/question_order": "scan: as journals",
    "check5_journals/typed": "record: as journals",
    "check6_7_tables": "no seal: tables are computed by the program that seals them, and made again until then",
    "check1_sums": "no seal: publish writes the list last, and makes it again",
    "check8_page/changes_and_readme": "no seal: made by publish, and made again",
    "check8_page/__init__": "no seal: made by report, and made again",
    "check4_corpus/withdrawals": "no seal holds replies and withdrawals",
    "check8_page/remake": "no seal: made by report and publish, and made again",
    "__init__": "what cannot be read is the failure of the check that reads it",
    "check_findings": "the list of findings itself",
}
"""Of each module of `verify` that can fail: which verb looks before it is final, or why it cannot be final."""


def test_every_rule_of_verify_is_looked_at_before_the_seal_that_makes_it_final() -> None:
    failing = set()
    room = Path(verify.__file__).parent
    for path in room.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "failed":
                failing.add(path.relative_to(room).with_suffix("").as_posix())
    assert failing - LOOKS.keys() == set(), "say which verb looks at these before a seal makes them final"
    assert LOOKS.keys() - failing <= {"__init__", "check_findings"}


# --- the corpus ------------------------------------------------------------------------------------------------------


def test_a_corpus_that_could_not_be_published_is_not_frozen(corpus: Callable[..., Any]) -> None:
    made = corpus()
    draft: Callable[..., Any] = corpus.draft  # type: ignore[attr-defined]
    made.collect("A", draft("A0", "Text 0.", evidence_date="2031-01-01"), draft("A1", "Text 1."))
    made.collect("C", *(draft(f"C{i}", f"Text C{i}.", kind="generated") for i in range(2)))
    command = ["-C", str(made.place.root), "freeze"]
    with pytest.raises(PenmarkError) as caught:
        invoke(command)
    assert "2031-01-01; expected a date before the corpus was sealed" in str(caught.value)
    assert not made.edition.seal("corpus").exists()
    assert not made.edition.manifest.exists()
    assert [path.name for path in made.place.private.iterdir() if path.name.startswith("foreseen")] == []
    made.collect("A", draft("A0", "Text 0."), draft("A1", "Text 1."), anew=True)
    assert invoke(command) == 0


# --- the promise -----------------------------------------------------------------------------------------------------


def test_a_window_that_is_over_is_not_promised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = study_of(tmp_path, {})
    path = place.edition().protocol_yaml
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("opens: 2026-12-01, closes: 2099-12-31", "opens: 2026-01-01, closes: 2026-01-31"))
    told = "the scan window closed on 2026-01-31, so that length can be asked nothing"
    assert invoke(["-C", str(place.root), "status"]) == 1
    assert told in capsys.readouterr().out
    with pytest.raises(PenmarkError, match=told):
        invoke(["-C", str(place.root), "commit"])
    assert not place.edition().seals.exists()


def test_a_generator_that_nobody_has_is_not_promised(tmp_path: Path) -> None:
    place = study_of(tmp_path, {})
    path = place.edition().protocol_yaml
    arm = (
        "  - {name: C, title: Models, truth: ai, documents: 1, headline: true, filled: by models, persists: false,\n"
        "     evidence: {kinds: [generated], grades: [stated]}, generation: {models: [{provider: X, model: x, plugin: opnai}],\n"
        "     styles: [{name: plain, prompt: 'Write.'}]}}\ndetectors:"
    )
    path.write_text(path.read_text(encoding="utf-8").replace("detectors:", arm, 1), encoding="utf-8")
    with pytest.raises(PenmarkError, match="there is no generator 'opnai'"):
        invoke(["-C", str(place.root), "commit"])
    assert not place.edition().seals.exists()


# --- clocks ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAuthority]:
    with run_local_authority(tmp_path_factory.mktemp("clock"), "one authority") as running:
        yield running


def shift(patch: pytest.MonkeyPatch, by: timedelta) -> None:
    """Set this machine's clock by so much."""
    real = timestamps.format_time_now

    def now() -> str:
        return (datetime.fromisoformat(real()) + by).isoformat().replace("+00:00", "Z")

    patch.setattr(timestamps, "format_time_now", now)


@pytest.mark.parametrize("hours", [-3, 3, 24 * 365 * 4])
def test_a_clock_that_is_wrong_seals_nothing(
    tmp_path: Path, authority: LocalAuthority, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    place = study_of(tmp_path, {"one": authority.url})
    command = ["-C", str(place.root), "commit"]
    with monkeypatch.context() as patch:
        shift(patch, timedelta(hours=hours))
        with pytest.raises(PenmarkError, match=r"nothing is sealed: promise-one\.tsr says ") as caught:
            invoke(command)
    assert "Set this machine's clock right" in str(caught.value)
    assert list(place.edition().seals.iterdir()) == []
    assert invoke(command) in (0, None)
    assert study.read_json(place.edition().seal("promise"))["kind"] == "promise"


# --- packing ---------------------------------------------------------------------------------------------------------


def test_what_would_pack_too_well_is_kept_as_it_is(tmp_path: Path) -> None:
    line = canonical_json.encode_json({"text": " " * 2**23}) + b"\n"
    data = 3 * line
    assert len(data) > gzip_files.FREE
    for each in (data, b"", b"Words.", bytes(range(256)) * 400):
        made = study.compress_gzip(each)
        assert len(each) <= gzip_files.RATIO * len(made)
        assert gzip.decompress(made) == each
        assert made[:8] == b"\x1f\x8b\x08\0\0\0\0\0"
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(study.compress_gzip(data))
    assert [number for number, _ in gzip_files.read_gzip_records(path, 3)] == [1, 2, 3]
