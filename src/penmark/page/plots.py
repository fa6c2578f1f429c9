"""Which plots the page shows, and in which order: false positives before detections, parts beside the whole.

*Reads* rows of tables. *Writes* nothing. *Never* orders detectors by a rate: rows stand as the tables have them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from penmark.format import show_figures

if TYPE_CHECKING:
    from penmark.page.cite import Row

POOLED = {"human": ("fp_rate", "fp_low", "fp_high"), "ai": ("detection_rate", "detection_low", "detection_high")}
"""The columns of Table 1 that a headline plot shows."""
VOLUNTEERS = ("native volunteers", "non-native volunteers")
"""The groups of Table 2 that readers ask about first: where one is not there, the page says so."""
ONE_ARM = ("rate", "low", "high")
_TITLES = {
    "human": ("Human texts called AI: false positives.", "All human texts of the headline arms"),
    "ai": ("AI texts called AI: detections.", "All AI texts of the headline arms"),
}


def plot_headline(
    truth: str, table1: list[Row], whole: list[Row], arms: list[str], archive: Collection[str], own: Collection[str]
) -> dict[str, Any]:
    """The figure of one truth: all texts pooled, then each headline arm alone where there is more than one.

    ``whole``: rows of rates.csv for whole arms. ``archive``: arms that hold archive text.
    ``own``: the operator's detectors.
    """
    title, pooled = _TITLES[truth]
    mixes = {t[f"{truth}_mix"] for _, t in table1}
    public = truth == "human" and any(arm in archive for arm in arms)
    parts = [
        {
            "path": "tables/table1.csv",
            "names": POOLED[truth],
            "arm": None,
            "count": f"{truth}_n",
            "mix": (table1[0][0], f"{truth}_mix") if len(mixes) == 1 else None,
            "lines": [_make_line(row, t, explain_no_headline(t, truth), public, own) for row, t in table1],
        }
    ]
    for arm in arms if len(arms) > 1 else []:
        lines = [_make_line(row, t, explain_no_rate(t), arm in archive, own) for row, t in whole if t["arm"] == arm]
        if lines:
            parts.append(
                {"path": "tables/rates.csv", "names": ONE_ARM, "arm": lines[0]["row"], "count": None, "lines": lines}
            )
    return {"title": title, "pooled": pooled, "parts": parts, "archive": public}


def plot_spread(truth: str, table1: list[Row]) -> dict[str, Any] | None:
    """Between which rates the rows of Table 1 lie that are about one set of texts; None where no row has a rate.

    ``column``: the rate; ``rows``: the filter that leaves these rows (none where there are none, or where all compare);
    ``compares``: no row is about other texts; ``one``: one rate says it all.
    """
    column, n, documents = (f"{'fp' if truth == 'human' else 'detection'}_rate", f"{truth}_n", f"{truth}_documents")
    rated = [t for _, t in table1 if t[column] != ""]
    if not rated:
        return None
    whole = [t for t in rated if t[n] == t[documents]]
    compares = len(rated) == 1 or len(whole) == len(rated)
    told = {show_figures.show_value(t[column], "percent") for t in (rated if compares else whole)}
    rows = {n: whole[0][n]} if whole and not compares else {}
    return {"column": column, "rows": rows, "compares": compares, "one": len(told) == 1}


def plot_groups(table2: list[Row], own: Collection[str]) -> list[dict[str, Any]]:
    """One plot for each kind of text in Table 2, in its order; in each, the detectors as they stand there."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row, t in table2:
        line = _make_line(row, t, explain_no_rate(t), "archive" in t["group"], own)
        found.setdefault((t["group"], t["measure"]), []).append(line)
    return [{"first": lines[0]["row"], "lines": lines} for lines in found.values()]


def plot_volunteers(table2: list[Row], sliced: list[Row], human: Collection[str]) -> dict[str, Any]:
    """Which of them Table 2 has rates of (``told``), and which it has not (``untold``).

    ``sliced``: rows of rates.csv for slices; ``human``: arms of human text. ``sources``: the slices of such an arm tell
    writers apart whom nobody but the source of a text calls native or non-native.
    """
    there = {t["group"] for _, t in table2}
    kinds = {t["slice"] for _, t in sliced if t["slice_by"] == "subgroup" and t["arm"] in human}
    return {
        "told": [group for group in VOLUNTEERS if group in there],
        "untold": [group for group in VOLUNTEERS if group not in there],
        "sources": not kinds.isdisjoint(group.removesuffix(" volunteers") for group in VOLUNTEERS),
    }


def explain_no_rate(t: dict[str, str]) -> str | None:
    """Why a row of rates has no rate; None where it has one."""
    if t["rate"] != "":
        return None
    if t["documents"] == "0":
        return "no such texts"
    for column, reason in (("not_run", "not run"), ("not_scannable", "not scannable"), ("no_result", "no result")):
        if t[column] == t["documents"]:
            return reason
    return "no answer"


def explain_no_headline(t: dict[str, str], truth: str) -> str | None:
    """Why a row of Table 1 has no rate on texts of that truth; None where it has one."""
    rate, documents = ("fp_rate", "human_documents") if truth == "human" else ("detection_rate", "ai_documents")
    if t[rate] != "":
        return None
    return "no such texts" if t[documents] in ("", "0") else "no answer"


def _make_line(row: int, t: dict[str, str], reason: str | None, archive: bool, own: Collection[str]) -> dict[str, Any]:
    return {"row": row, "why": reason, "archive": archive, "own": t["detector"] in own}
