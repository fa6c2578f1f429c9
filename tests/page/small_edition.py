"""A small edition, written by hand: three detectors, four arms, everything that a page can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penmark import study
from penmark.format import canonical_json
from penmark.page import render_page
from penmark.protocol import load_template
from penmark.statistics import wilson

NOTHING = ""
LONG = "a-detector-whose-name-is-as-long-as-a-name-may-ever-be-on-a-page"[:63]
RATES = (
    "detector,version,arm,slice_by,slice,documents,n,k,uncertain,no_result,not_scannable,not_run,"
    "rate,low,high,worst_low,worst_high"
)
TABLE1 = (
    "detector,version,version_state,timing,surface,tier,payer,relation,boundary,boundary_source,boundary_date,"
    "first_scanned_at,last_scanned_at,human_documents,human_n,false_positives,fp_rate,fp_low,fp_high,human_mix,"
    "ai_documents,ai_n,detections,detection_rate,detection_low,detection_high,ai_mix,uncertain,declined,failed,in_doubt,"
    "not_scannable,not_run,status"
)
TABLE2 = "detector,version,timing,group,measure,documents,n,k,uncertain,no_result,not_scannable,not_run,rate,low,high"
DOCUMENTS = (
    "id,arm,truth,address,canonical_sha256,words,characters,language,register,subgroup,author,topic,source,exposures,"
    "withheld,kind,grade,evidence_date,provider,model,style,provenance"
)
SCREENING = "severity,rule,arm,document,file,row,message,remedy"
ARMS = {"A": ("human", 30), "B": ("human", 20), "C": ("ai", 30), "C2": ("mixed", 6)}
ANSWERS: dict[str, dict[str, tuple[int, int]]] = {
    "aardvark": {"A": (28, 1), "B": (20, 4), "C": (30, 30), "C2": (6, 3)},
    "muskrat": {"A": (30, 0), "B": (20, 9), "C": (30, 17), "C2": (6, 0)},
    "zebra": {"A": (30, 3), "B": (0, 0), "C": (0, 0), "C2": (0, 0)},
}
"""Detector -> arm -> (answered, called AI)."""


def tables(timing: str = "prospective", names: dict[str, str] | None = None) -> dict[str, bytes]:
    """The tables, by path, in the columns of docs/format.md."""
    called = {name: (names or {}).get(name, name) for name in ANSWERS}
    order = sorted(ANSWERS, key=lambda name: called[name])
    dated = timing == "prospective"
    made = {
        "table1": _csv(TABLE1, [_headline(name, called[name], timing, dated) for name in order]),
        "table2": _csv(TABLE2, [row for name in order for row in _hard(name, called[name], timing)]),
        "rates": _csv(RATES, [row for name in order for row in _rates(name, called[name])]),
        "agreement": _csv(
            "arm,detectors,documents,answered_by_all,flagged_by,count,timing",
            [("A", 3, 30, 28, by, count, timing) for by, count in ((0, 25), (1, 2), (2, 1), (3, 0))]
            + [("C", 2, 30, 30, by, count, timing) for by, count in ((0, 0), (1, 13), (2, 17))],
        ),
        "documents": _csv(DOCUMENTS, _documents()),
        "departures": _csv(
            "number,rule,template,study,explanation",
            [
                (1, "arm A documents", "150", "30", "a scaled-down study"),
                (2, "authorities", "2", "1", "=SUM(A1) is how one authority was chosen, and <b>that</b> is told"),
            ],
        ),
        "units": _csv(
            "detector,version,arm,unit,documents,n,k,units,deff,n_effective,low,high,reason",
            [
                (
                    "aardvark",
                    "2.4",
                    "A",
                    "author",
                    30,
                    28,
                    1,
                    17,
                    "1.234500",
                    "22.681247",
                    "0.004000",
                    "0.204000",
                    NOTHING,
                ),
                ("zebra", NOTHING, "A", "author", 30, 30, 3, 9, NOTHING, NOTHING, NOTHING, NOTHING, "only 9 authors"),
            ],
        ),
        "warnings": _csv(
            "rule,detector,arm,message",
            [
                ("length separates", "", "C", "words alone tell 27 of 30 texts of C from A"),
                ("direction", called["zebra"], "", "a score of 0.01"),
            ],
        ),
    }
    return {f"tables/{name}.csv": data for name, data in made.items()} | {
        "tables/rates_lenient.csv": made["rates"],
        "tables/readings.csv": _csv("detector,version,document,origin", _readings(called)),
    }


def write(root: Path, *, timing: str = "prospective", announced: bool = False, hostile: bool = False) -> study.Edition:
    """Write the edition, its tables and its page below ``root``."""
    edition = study.Edition(root)
    names = {"muskrat": LONG} if hostile else {}
    held = tables(timing, names)
    values: dict[str, Any] = {"protocol.json": protocol(names, hostile)}
    for name in ANSWERS:
        shown = names.get(name, name)
        values[f"detectors/{shown}.json"] = card(shown)
    values["amendments/0001.json"] = {
        "number": 1,
        "binds_from": "BENCH-2026-Q4",
        "announced_at": "2026-08-01T09:00:00Z",
        "what": "Arm B takes 20 writers.",
        "why": "25 could not be found.",
        "before": "25",
        "after": "20",
    }
    for path, value in values.items():
        study.write_bytes(root / path, canonical_json.encode_json(value))
    study.write_records(
        edition.deviations,
        [
            {"at": "2026-11-03T10:00:00Z", "detector": None, "what": "The scan paused for 2 hours: a power cut."},
            {"at": "2026-11-04T11:30:00Z", "detector": "aardvark", "what": "Two texts were refused & told so."},
        ],
    )
    study.write_bytes(
        root / "screening.csv",
        _csv(
            SCREENING,
            [
                (
                    "warning",
                    "words",
                    "A",
                    f"{i:04d}",
                    "corpus/A/documents.jsonl",
                    i,
                    f"has {290 + i} words; the arm takes 300 to 1200",
                    "look",
                )
                for i in range(1, 6)
            ]
            + [
                (
                    "warning",
                    "duplicate",
                    "C",
                    '007"<script>',
                    "corpus/C",
                    3,
                    "@same as <img src=x onerror=alert(1)> 12 \u202eabc",
                    "",
                )
            ],
        ),
    )
    for path, data in held.items():
        study.write_bytes(root / path, data)
    _seals(edition, held, announced)
    study.write_bytes(edition.report / "index.html", render_page(edition, held))
    return edition


def protocol(names: dict[str, str], hostile: bool) -> dict[str, Any]:
    """The promise, with all fields present."""
    title = "Detector benchmark of the Northern Writing Centre"
    if hostile:
        title = '<script>alert("1")</script> & \u202eBenchmark\u202c of ' + "Northernwritingcentre" * 8
    return {
        "format": 2,
        "study": "northern-bench",
        "title": title,
        "edition": "BENCH-2026-Q4",
        "template": {"name": "humanflow", "sha256": load_template("humanflow").sha256},
        "people": [
            {
                "name": "Ada Example",
                "role": "operator",
                "interests": "Works for the vendor of aardvark, and owns 2 % of it.",
            },
            {
                "name": "Bo Sample" + ("\u202e]gnp.live[" if hostile else ""),
                "role": "statistician",
                "interests": "None.",
            },
        ],
        "payer": "Northern Writing Centre",
        "schedule": "Quarterly; the next edition in 2027-Q1.",
        "window": {"opens": "2026-11-01", "closes": "2026-11-30"},
        "seed_sha256": "0123456789abcdef" * 4,
        "beacon": None,
        "interval": "wilson",
        "level": "0.95",
        "scans": 1,
        "attempts": 3,
        "ask_again_in_doubt": False,
        "on_version_change": "stop",
        "winner": "never",
        "raw_scores": "published",
        "arms": [_arm(name, truth, documents) for name, (truth, documents) in ARMS.items()],
        "detectors": [
            {
                "name": names.get(name, name),
                "card": names.get(name, name),
                "version": "2.4" if name == "aardvark" else None,
                "surface": "web",
                "tier": "Standard, 20 USD a month",
                "payer": "Northern Writing Centre",
                "relation": "own" if name == "aardvark" else "none",
                "settings": {"sensitivity": "0.5", "language": "en"} if name == "zebra" else {},
                "rule": None,
            }
            for name in ANSWERS
        ],
        "authorities": [],
        "screening": {},
        "comparisons": [{"first": "aardvark", "second": "zebra"}],
        "nominations": [{"detector": "Quill 3", "by": "a reader", "answer": "Not this time: its terms forbid it."}],
    }


def card(name: str) -> dict[str, Any]:
    """A sealed card."""
    return {
        "card": {
            "name": name,
            "title": name.capitalize() + " Detect 3",
            "vendor": "Example & Daughters",
            "homepage": "https://vendor.example/" + name,
            "ask": {"by": "people", "plugin": None, "options": {}},
            "answer": {"displayed": None, "score": None, "label": None, "version": None, "text": None},
            "scale": {"meaning": "probability", "direction": "ai", "low": "0", "high": "100", "unit": "percent"},
            "verdicts": {},
            "boundary": {
                "kind": "boundary",
                "operator": ">=",
                "value": "50",
                "source": "https://vendor.example/help/what-the-score-means",
                "date": "2026-09-30",
                "confidence": "documented",
            },
            "limits": {
                "minimum_words": 100,
                "maximum_words": None,
                "minimum_characters": None,
                "maximum_characters": 50000,
                "languages": ["en"],
            },
            "display": "document",
            "terms": {"where": "https://vendor.example/terms", "read_on": None, "results_may_be_published": "unclear"},
            "facts_as_of": "2026-09-30",
            "notes": "",
        },
        "plugin": None,
    }


def _arm(name: str, truth: str, documents: int) -> dict[str, Any]:
    title = {
        "A": "Human text kept since before 2022",
        "B": "Fresh text by volunteers",
        "C": "AI text",
        "C2": "AI drafts, lightly edited",
    }
    return {
        "name": name,
        "title": title[name],
        "truth": truth,
        "documents": documents,
        "headline": truth != "mixed",
        "evidence": {"kinds": ["archive"], "grades": ["archived"], "before": None},
        "filled": "From dated captures of 2021 or earlier, 10 from each register."
        if name == "A"
        else "Made for this edition.",
        "persists": truth == "human",
        "unit": "document",
        "words": None,
        "quotas": [],
        "generation": None,
        "budget": None,
        "source": None,
    }


def _seals(edition: study.Edition, held: dict[str, bytes], announced: bool) -> None:
    previous = None
    capture = {
        "url": "https://bench.example/2026-q4",
        "capture": "https://archive.example/1",
        "captured_at": "2026-09-02T00:00:00Z",
    }
    for name, at, digests in (
        (
            "promise",
            "2026-09-01T08:00:00Z",
            {"protocol.json": canonical_json.sha256(edition.protocol_json.read_bytes())},
        ),
        ("corpus", "2026-10-20T08:00:00Z", {"screening.csv": canonical_json.sha256(edition.screening.read_bytes())}),
        ("evidence", "2026-11-30T18:00:00.250000Z", {path: canonical_json.sha256(data) for path, data in held.items()}),
    ):
        seal = {
            "announced": capture if announced and name == "corpus" else None,
            "digests": digests,
            "edition": "BENCH-2026-Q4",
            "format": 2,
            "journals": {},
            "kind": name,
            "previous": previous,
            "rules": 2,
            "sealed_at": at,
            "software": "penmark 0.1.0",
            "study": "northern-bench",
        }
        study.write_bytes(edition.seal(name), canonical_json.encode_json(seal))
        previous = canonical_json.sha256(canonical_json.encode_json(seal))
    study.write_bytes(edition.seals / "promise-local1.tsr", b"not a token; the page only names it")


def _csv(header: str, rows: Any) -> bytes:
    return study.encode_csv(header.split(","), rows)


def _measured(n: int, k: int) -> tuple[str, str, str]:
    span = wilson.compute_wilson(k, n)
    return (
        (NOTHING,) * 3
        if span is None
        else (wilson.format_six(wilson.compute_rate(k, n)), wilson.format_six(span.low), wilson.format_six(span.high))
    )


def _readings(called: dict[str, str]) -> list[tuple[str, Any, str, str]]:
    """Typed by people, but for three of zebra's, which somebody kept."""
    return [
        (
            shown,
            "2.4" if name == "aardvark" else NOTHING,
            f"{arm}-{i:03d}",
            "recorded" if name == "zebra" and i < 3 else "typed",
        )
        for name, shown in sorted(called.items(), key=lambda item: item[1])
        for arm, (n, _) in ANSWERS[name].items()
        for i in range(n)
    ]


def _headline(name: str, shown: str, timing: str, dated: bool) -> tuple[Any, ...]:
    given = ANSWERS[name]
    (an, ak), (bn, bk), (cn, ck) = given["A"], given["B"], given["C"]
    human, fp = an + bn, ak + bk
    not_run = 80 - human - cn - 2 * (name == "aardvark")
    mix = " + ".join(f"{n} {arm}" for n, arm in ((an, "A"), (bn, "B")) if n)
    return (
        shown,
        "2.4" if name == "aardvark" else NOTHING,
        "as_asked" if name == "aardvark" else "not_reported",
        timing,
        "web",
        "Standard, 20 USD a month",
        "Northern Writing Centre",
        "own" if name == "aardvark" else "none",
        ">= 50",
        "https://vendor.example/help/what-the-score-means",
        "2026-09-30",
        "2026-11-02T09:15:00Z" if dated else NOTHING,
        "2026-11-04T17:45:00Z" if dated else NOTHING,
        50,
        human,
        fp,
        *_measured(human, fp),
        mix,
        30,
        cn,
        ck,
        *_measured(cn, ck),
        f"{cn} C" if cn else NOTHING,
        1,
        2 if name == "aardvark" else 0,
        0,
        0,
        0,
        not_run,
        "COMPLETE" if name != "zebra" else "INCOMPLETE 30 of 86",
    )


def _hard(name: str, shown: str, timing: str) -> list[tuple[Any, ...]]:
    version = "2.4" if name == "aardvark" else NOTHING
    (an, ak), (bn, bk), (cn, ck), (mn, mk) = (ANSWERS[name][arm] for arm in ARMS)
    native = (bn // 2, bk // 4)
    listed = [
        ("native volunteers", "false positives", 10, *native),
        ("non-native volunteers", "false positives", 10, bn - native[0], bk - native[1]),
        ("pre-2022 archive", "false positives", 30, an, ak),
        ("unedited AI", "detections", 30, cn, ck),
        ("lightly edited AI", "flagged", 6, mn, mk),
    ]
    rows = []
    for group, measure, documents, n, k in listed:
        lost = 2 if (name, group) == ("aardvark", "pre-2022 archive") else 0
        rows.append(
            (
                shown,
                version,
                timing,
                group,
                measure,
                documents,
                n,
                k,
                0,
                lost,
                0,
                documents - n - lost,
                *_measured(n, k),
            )
        )
    return rows


def _rates(name: str, shown: str) -> list[tuple[Any, ...]]:
    version = "2.4" if name == "aardvark" else NOTHING
    rows = []
    for arm, (_, documents) in ARMS.items():
        n, k = ANSWERS[name][arm]
        parts = [(NOTHING, NOTHING, documents, n, k)]
        if arm == "A":
            parts += [
                ("register", r, documents // 3, n // 3, k if r == "academic" else 0)
                for r in ("academic", "journalism", "web")
            ]
        for by, part, held, answered, called in parts:
            lost = held - answered if n else 0
            worst = wilson.bound_worst_case(called, answered, lost)
            ends = (
                (NOTHING, NOTHING) if worst is None else (wilson.format_six(worst.low), wilson.format_six(worst.high))
            )
            rest = (0, lost, 0, held - answered - lost)
            rows.append(
                (shown, version, arm, by, part, held, answered, called, *rest, *_measured(answered, called), *ends)
            )
    return rows


def _documents() -> list[tuple[Any, ...]]:
    rows = []
    for arm, (truth, documents) in ARMS.items():
        kind, grade = {
            "A": ("archive", "archived"),
            "B": ("attested", "witnessed"),
            "C": ("generated", "recorded"),
            "C2": ("edited", "witnessed"),
        }[arm]
        for i in range(documents):
            words = NOTHING if arm == "B" and i < 3 else 301 + 29 * i
            filled = [f"{arm}{i:03d}", arm, truth, "0" * 64, NOTHING, words] + [NOTHING] * 16
            filled[15:17] = [kind, "released" if arm == "A" and i < 4 else grade]
            rows.append(tuple(filled))
    return rows
