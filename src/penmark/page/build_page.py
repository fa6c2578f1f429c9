"""The page: one static HTML file that says what was found, how, by whom, and what it cannot show.

*Reads* protocol.json, detectors/, seals/, amendments/, deviations.jsonl, screening.csv of an edition, and its tables as
bytes. *Writes* nothing: it returns bytes, the same ones for the same files. *Never*: a figure that is not in a file, a
rank, a winner, a colour that judges, a script, anything loaded from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from penmark import study, timestamps
from penmark.corpus import breaches, known_archives
from penmark.errors import PenmarkError, UsageError, describe_install
from penmark.format import canonical_json, replies, show_figures
from penmark.page import limits_of_evidence, plots
from penmark.protocol import UnknownTemplate, amendments, find_followed_template
from penmark.records import Arm, Protocol, Record, SealedCard

if TYPE_CHECKING:
    from penmark.page.cite import Row

R = TypeVar("R", bound=Record)
TABLES = {
    "T1": "tables/table1.csv",
    "T2": "tables/table2.csv",
    "RATES": "tables/rates.csv",
    "DOCUMENTS": "tables/documents.csv",
    "AGREEMENT": "tables/agreement.csv",
    "DEPARTURES": "tables/departures.csv",
    "UNITS": "tables/units.csv",
    "WARNINGS": "tables/warnings.csv",
}
"""The tables that the page cites. The last two may be absent; ``warnings.csv``: rule, detector, arm, message."""
SLICES = 600
"""Rows of slices that a page shows; all of them are in the table."""
FIRST = 3
"""Findings of screening that are told for each rule."""
MISSED = ("no call", "unknown verdict")
"""Warnings that say why answers are no result, or what in them was not looked at: told beside the states as well."""
DEMONSTRATION = re.compile(r"\b(demo|demonstration|rehearsal)\b", re.IGNORECASE)
"""A title with one of these words is no measurement, and the page says so."""
_CLAIMS = re.compile("pre-?committed", re.IGNORECASE)
_THEIRS = re.compile(r'<span data-quote="replies/[^"]*" data-as="text">[^<]*</span>')
"""What a vendor wrote, on a finished page."""


def render_page(edition: study.Edition, tables: Mapping[str, bytes], *, recomputed: Collection[str] = ()) -> bytes:
    """The page of an edition, as UTF-8.

    ``tables``: bytes by path (``tables/table1.csv`` …), those of docs/format.md, 9, and where there are warnings
    ``tables/warnings.csv``. ``recomputed``: detectors whose boundary is not the promised one; every table then says so.
    Raises PenmarkError for a file that is missing or not as the format has it, UsageError without jinja2.
    """
    template = _load_template()
    # What comes with jinja2 is looked for after it: who lacks both is told which line brings them.
    from markupsafe import Markup

    from penmark.page.cite import Citing

    def read(path: str) -> bytes:
        return tables[path] if path in tables else study.read_bytes(edition.root / path)

    sources = show_figures.Sources(read, timestamps.make_attime_reader(read))
    told = {
        **_collect_results(sources, tables, recomputed),
        **_collect_detectors(edition, sources),
        **_collect_changes(edition, sources),
    }
    text: str = template.render(
        **TABLES,
        **told,
        cite=Citing(sources),
        labels=show_figures.LABELS,
        doubts=limits_of_evidence,
        style=Markup(files("penmark.page").joinpath("style.css").read_text(encoding="utf-8")),
        why=plots.explain_no_rate,
        why1=plots.explain_no_headline,
    )
    if told["retrospective"] and _CLAIMS.search(_THEIRS.sub("", text)) is not None:
        raise PenmarkError(
            "the promise says pre-committed, and the edition is retrospective",
            place=str(edition.protocol_json),
            remedy="The rules were written after the answers existed: promise again, without that word.",
        )
    return text.encode()


def check_current(edition: study.Edition) -> None:
    """Raises PenmarkError where ``report/index.html`` is not what the files of the edition give today."""
    path = edition.report / "index.html"
    held = {f"tables/{p.name}": study.read_bytes(p) for p in sorted(edition.tables.glob("*.csv"))}
    made, there = render_page(edition, held), path.is_file()
    if not there or study.read_bytes(path) != made:
        raise PenmarkError(
            "is not the page that the files of this edition give: something was told after it was made"
            if there
            else "is missing",
            place=str(path),
            remedy="Run `penmark report` again: the evidence stays as it is sealed, and the page is made anew.",
        )


def check_installed() -> None:
    """Raises UsageError where what makes the page is not installed."""
    _load_template()


def _load_template() -> Any:
    try:
        import jinja2
    except ImportError:
        raise UsageError("the page needs jinja2, which is not installed", remedy=describe_install("report")) from None
    loader = jinja2.PackageLoader("penmark.page", "")
    place = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    return place.get_template("page.html.jinja")


_HELD = ("T1", "T2", "RATES", "AGREEMENT", "DEPARTURES")


def _collect_results(
    sources: show_figures.Sources, tables: Mapping[str, bytes], recomputed: Collection[str]
) -> dict[str, Any]:
    protocol = _read_protocol(sources)
    held: dict[str, list[Row]] = {name: list(enumerate(sources.rows(TABLES[name]), 1)) for name in _HELD}
    table1 = held["T1"]
    sorts = ("arm", "kind", "grade")
    kinds = sources.table(TABLES["DOCUMENTS"]).select(sorts).unique().sort(sorts).rows()
    archive = {arm for arm, kind, _ in kinds if kind == "archive"}
    sliced = [(row, t) for row, t in held["RATES"] if t["slice_by"] != ""]
    whole = [(row, t) for row, t in held["RATES"] if t["slice_by"] == ""]
    own = {t["detector"] for _, t in table1 if t["relation"] == "own"}
    agreement: dict[str, list[int]] = {}
    for row, t in held["AGREEMENT"]:
        agreement.setdefault(t["arm"], []).append(row)
    return {
        "protocol": protocol,
        "title": show_figures.make_visible(protocol.title),
        "demonstration": DEMONSTRATION.search(protocol.title) is not None,
        "retrospective": any(t["timing"] == "retrospective" for _, t in table1),
        **_check_announced(sources),
        "recomputed": _list_first_rows(table1, recomputed),
        "table1": table1,
        "gaps": any("fp_unanswered" in t for _, t in table1),
        "dated": any(t["first_scanned_at"] != "" for _, t in table1),
        "days": len({t[at][:10] for _, t in table1 for at in ("first_scanned_at", "last_scanned_at")} - {""}) > 1,
        "ranges": {truth: plots.plot_spread(truth, table1) for truth in ("human", "ai")},
        "archive_arms": archive,
        "archive_humans": any(a.name in archive for a in _list_headline_arms(protocol, "human")),
        "headline": [
            plots.plot_headline(
                truth, table1, whole, [a.name for a in _list_headline_arms(protocol, truth)], archive, own
            )
            for truth in ("human", "ai")
            if _list_headline_arms(protocol, truth)
        ],
        "table2": held["T2"],
        "volunteers": plots.plot_volunteers(held["T2"], sliced, [a.name for a in protocol.arms if a.truth == "human"]),
        "groups": plots.plot_groups(held["T2"], own),
        "archive_groups": any("archive" in t["group"] for _, t in held["T2"]),
        "whole": whole,
        "sliced": sliced[:SLICES],
        "slices_cut": len(sliced) > SLICES,
        "agreement": list(agreement.values()),
        "grades": {a.name: [(kind, grade) for arm, kind, grade in kinds if arm == a.name] for a in protocol.arms},
        **_collect_departures(held["DEPARTURES"]),
        "followed": _is_template_known(protocol),
        "units": list(enumerate(sources.rows(TABLES["UNITS"]), 1)) if TABLES["UNITS"] in tables else [],
        **_collect_warnings(sources, tables),
    }


def _check_announced(sources: show_figures.Sources) -> dict[str, bool]:
    """Whether the promise was public before the corpus seal, by the word of a known archive or of the operator alone."""
    told = sources.value("seals/corpus.json", "/announced")
    return {"announced": told is not None, "archived": told is not None and known_archives.known(str(told["capture"]))}


def _collect_departures(rows: list[Row]) -> dict[str, list[Row]]:
    """Where the protocol departs from its template, and where the corpus breaks the promise."""
    broken = [(row, t) for row, t in rows if t["rule"] in breaches.RULES]
    return {"departures": [each for each in rows if each not in broken], "breaches": broken}


def _list_first_rows(table1: list[Row], names: Collection[str]) -> list[int]:
    """The first row of each of these detectors: one with two versions is named once."""
    first: dict[str, int] = {}
    for row, t in table1:
        if t["detector"] in names:
            first.setdefault(t["detector"], row)
    return list(first.values())


def _collect_warnings(sources: show_figures.Sources, tables: Mapping[str, bytes]) -> dict[str, Any]:
    there = TABLES["WARNINGS"] in tables
    rows = list(enumerate(sources.rows(TABLES["WARNINGS"]), 1)) if there else []
    return {"warnings": rows if there else None, "missed": [(row, t) for row, t in rows if t["rule"] in MISSED]}


def _is_template_known(protocol: Protocol) -> bool:
    """Whether departures are known: the protocol follows no template, or one of this release."""
    try:
        return protocol.template is None or find_followed_template(protocol.template) is not None
    except UnknownTemplate:
        return False


def _read_protocol(sources: show_figures.Sources) -> Protocol:
    return _read_record(Protocol, sources, "protocol.json")


def _read_record(record: type[R], sources: show_figures.Sources, path: str) -> R:
    try:
        return record.model_validate_json(canonical_json.encode_json(sources.value(path)))
    except ValidationError as error:
        raise study.make_validation_faults(path, error.errors()) from None


def _list_headline_arms(protocol: Protocol, truth: str) -> list[Arm]:
    return [arm for arm in protocol.arms if arm.headline and arm.truth == truth]


def _collect_detectors(edition: study.Edition, sources: show_figures.Sources) -> dict[str, Any]:
    """One entry a row of Table 1: a detector, or one version of it."""
    protocol = _read_protocol(sources)
    index = {detector.name: i for i, detector in enumerate(protocol.detectors)}
    replied = _collect_replies(edition, index, sources)
    told: list[dict[str, Any]] = []
    confidences: set[str] = set()
    for row, t in enumerate(sources.rows(TABLES["T1"]), 1):
        name = t["detector"]
        if name not in index:
            raise PenmarkError(f"has the detector {name}, which the promise has not", place=f"{TABLES['T1']}:{row}")
        path = f"detectors/{name}.json"
        sealed = _read_record(SealedCard, sources, path)
        rule = protocol.detectors[index[name]].rule
        ruled = rule is not None
        confidences.add(
            (rule or sealed.card.boundary).confidence
            if not ruled or str(rule) == str(sealed.card.boundary)
            else "tuned"
        )
        scale = sealed.card.scale
        told.append(
            {
                "row": row,
                "name": name,
                "index": index[name],
                "relation": t["relation"],
                "confidence": ("protocol.json", f"/detectors/{index[name]}/rule/confidence")
                if ruled
                else (path, "/card/boundary/confidence"),
                "scale": scale is not None and t["boundary"] != "verdict",
                "ends": [e for e in ("low", "high") if scale is not None and getattr(scale, e) is not None],
                "towards": "AI" if scale is not None and scale.direction == "ai" else "human writing",
                "limits": [key for key, value in sealed.card.limits.model_dump().items() if value is not None],
                "plugin": sealed.plugin is not None,
                "notes": sealed.card.notes != "",
                "people": sealed.card.ask.by == "people",
                "origins": _list_origins(sources, t),
                "reply": replied.get(name),
            }
        )
    own = confidences <= {"documented"}
    return {
        "detectors": told,
        "replied": replied,
        "boundaries": "own" if own else "some" if "documented" in confidences else "others",
        # What a plugin or an account was not asked for here: a table whose rows are all alike would not show it.
        "foreign": {d["row"]: [] if d["people"] else [o for o in d["origins"] if o != "scan"] for d in told},
    }


def _list_origins(sources: show_figures.Sources, t: dict[str, str]) -> list[str]:
    """Of which origins the readings of a row of Table 1 are."""
    row = {"detector": t["detector"], "version": t["version"]}
    counts = {
        o: f"count tables/readings.csv{show_figures.make_filter(**row, origin=o)}"
        for o in ("scan", "typed", "recorded")
    }
    return [origin for origin, count in counts.items() if sources.text("over", count, "text") != "0"]


def _collect_replies(edition: study.Edition, known: Collection[str], sources: show_figures.Sources) -> dict[str, str]:
    """The file of each detector whose vendor replied. Raises PenmarkError for one that is no reply, or of nobody here."""
    folder = edition.root / replies.FOLDER
    found: dict[str, str] = {}
    for path in study.own(folder, "*.md"):
        if path.stem not in known:
            remedy = f"Name it as a detector of the promise is named: {', '.join(sorted(known))}."
            raise PenmarkError("is a reply about no detector of this edition", place=str(path), remedy=remedy)
        found[path.stem] = f"{replies.FOLDER}/{path.name}"
        sources.value(found[path.stem])
    return found


def _collect_changes(edition: study.Edition, sources: show_figures.Sources) -> dict[str, Any]:
    """What is told of screening, deviations, amendments and seals."""
    findings: dict[tuple[str, str], list[int]] = {}
    if not {"severity", "rule", "message"} <= set(sources.table("screening.csv").columns):
        raise PenmarkError(
            "is not a table of findings", place=str(edition.screening), remedy="Run `penmark screen` again."
        )
    for row, t in enumerate(sources.rows("screening.csv"), 1):
        findings.setdefault((t["severity"], t["rule"]), []).append(row)
    deviations = amendments.read_deviations(edition)
    announced = [p.name for p in study.own(edition.amendments, "*.json")]
    stamped = [p.name for p in study.own(edition.seals, "*.tsr")]
    seals = [
        {
            "path": f"seals/{name}.json",
            "tokens": [
                (path, "attime" in sources.value(path))
                for path in (f"seals/{t}" for t in stamped if t.startswith(f"{name}-"))
            ],
        }
        for name in edition.seal_names()
    ]
    return {
        "screening": [
            {"severity": severity, "rule": rule, "rows": rows[:FIRST]}
            for (severity, rule), rows in sorted(findings.items())
        ],
        "deviations": [
            (f"deviations.jsonl:{number}", each.detector is not None) for number, each in enumerate(deviations, 1)
        ],
        "amendments": [f"amendments/{name}" for name in announced],
        "seals": seals,
        "tokens": stamped,
    }
