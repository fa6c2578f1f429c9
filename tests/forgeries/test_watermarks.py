"""Watermarks: what providers say of them parts Table 2 where both exist, alike in both programs."""

from __future__ import annotations

from typing import Any

import pytest
from tests.forgeries import both_verifiers
from tests.forgeries.forger import Forger

from penmark import cards, study
from penmark.corpus.manifest import read_manifest

WHOLE = ("unedited AI", "5")


def groups(forger: Forger, **marked: str) -> list[tuple[str, str]]:
    """Group and documents of Table 2 for unedited AI, where this is said of C-01, C-02, …; both verifiers hold."""
    for name, said in marked.items():
        forger.row(
            "manifest.jsonl", lambda v, said=said: v["provenance"].update(marked=said), id=name.replace("_", "-")
        )
    forger.finish()
    assert both_verifiers.ours(forger.root).failed == both_verifiers.alone(forger.root).failed == set()
    rows = [line.split(",") for line in forger.read("tables/table2.csv").decode().splitlines()[1:]]
    parts = [line.replace('"', "").split(",detections,") for line in map(",".join, rows) if line.startswith("plain,")]
    return [
        (a.split("prospective,")[1], b.split(",")[0]) for a, b in (p for p in parts if len(p) == 2) if "unedited" in a
    ]


def test_table_2_parts_what_is_marked_where_both_exist(forger: Forger) -> None:
    assert groups(forger, C_01="yes", C_02="no", C_03="no") == [
        WHOLE,
        ("unedited AI, marked", "1"),
        ("unedited AI, not marked", "2"),
        ("unedited AI, marking not known", "2"),
    ]


@pytest.mark.parametrize("said", [{}, {"C_01": "yes"}, {"C_01": "no", "C_02": "no"}, {"C_01": "not known"}], ids=str)
def test_it_does_not_where_one_of_them_is_missing(forger: Forger, said: dict[str, Any]) -> None:
    assert groups(forger, **said) == [WHOLE]


def test_what_else_says_marked_is_not_that(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda v: v["provenance"]["settings"].update(marked="yes"), id="C-01")
    assert groups(forger, C_02="no") == [WHOLE]


def test_a_providers_own_detector_is_not_asked_about_texts_of_others(forger: Forger) -> None:
    edition = study.Edition(forger.root)
    card = cards.read_sealed_card(edition, "plain").card
    documents = {each.id: each for each in read_manifest(edition).records()}
    [own] = {documents[name].facet("provider") for name in ("C-01",)}
    for scope in ((own or "",), ("Another",)):
        scoped = card.model_copy(update={"limits": card.limits.model_copy(update={"scope": scope})})
        asked = {
            name: cards.explain_not_scannable(scoped, documents[name]) for name in ("A-01", "B-01", "C-01", "E-01")
        }
        assert asked["A-01"] is asked["B-01"] is None, "texts of people are in every scope"
        told = None if own in scope else f"a text by {own}, and the scope is Another"
        assert asked["C-01"] == told
