"""Fill arms with texts and their provenance, from a folder, a table, or a named data set.

Without ARM, every arm is filled whose source the protocol names. A source says for each text: an id, the text (its
bytes are kept as they are), and where it is from (kind, grade, evidence_date, …: the fields of the records). A folder
has a metadata.csv beside its .txt files; a table (CSV, TSV, JSON, JSONL, parquet) holds the texts or names their files.

  penmark collect A --from folder --path texts --option kind=archive --option grade=archived
  penmark collect C --path answers.jsonl --column id=ID --column text=answer --option kind=generated

An arm whose models, styles and prompts the protocol names, and that has no source, is written by these models: first
`--topics` gives each human document a topic line, `--plan` says what it may cost, then the texts are asked for. What was
stopped goes on with the same command. `--refused ID --by NAME` is for a person who read a text that is a refusal.

  penmark collect C --topics --path topics.csv
  penmark collect C --budget 20

An arm of edited texts (C2) gets its drafts in the same way, and then their edits, by id: `collect C2 --path edits.csv`.

Where anything is wrong, everything that is wrong is told and nothing is written. The same texts again change nothing;
another text under an id that is there is refused. Attested texts go to private/ and never into corpus/.

--draw takes what the source has for a pool: the sealed seed and the quotas decide who is in the arm. Who was a candidate,
who was eligible, who was drawn and why not stands in corpus/ARM/pool-EDITION.jsonl, is sealed, and can be replayed.

  penmark collect A --draw --from folder --path pool

--recheck writes nothing: it fetches each archived text of ARM again from where its record says that it is kept, and
compares. It works in a published bundle as well (-C BUNDLE), for anyone. --from takes the texts of one source, and an
option SOURCE.NAME goes to that source alone. Exit code 3 where nothing could be compared.

  penmark -C BUNDLE collect A --recheck --option contact=me@example.org
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from penmark import plugins, protocol, study
from penmark.cli import collect_generated
from penmark.corpus import grades, provenance
from penmark.errors import Fault, FaultsError, UsageError, count_noun, suggest_name
from penmark.plugins import Source
from penmark.records import Arm, Document, Protocol
from penmark.stages.collect import Collected, check_corpus_open, collect_arm
from penmark.stages.collect.recheck import OUTCOMES, Rechecked, list_archived, make_refinders
from penmark.stages.collect.recheck import recheck_documents as rechecked
from penmark.study import Study


def run(
    ctx: typer.Context,
    arm: Annotated[list[str] | None, typer.Argument(help="The arms to fill.", show_default=False)] = None,
    source: Annotated[str | None, typer.Option("--from", metavar="SOURCE", help="The source plugin.")] = None,
    path: Annotated[Path | None, typer.Option(help="The file or folder that the source reads.")] = None,
    option: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the source.")] = None,
    column: Annotated[
        list[str] | None, typer.Option(metavar="NAME=COLUMN", help="Which column of a table holds NAME.")
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Empty the arm first (before the freeze only).")] = False,
    draw: Annotated[bool, typer.Option("--draw", help="Draw the arm from what the source has, by the seed.")] = False,
    recheck: Annotated[bool, typer.Option("--recheck", help="Fetch archived texts again, and compare.")] = False,
    topics: collect_generated.Topics = False,
    plan: collect_generated.Planned = False,
    model: collect_generated.Models = None,
    price: collect_generated.Prices = None,
    budget: collect_generated.Budget = None,
    refused: collect_generated.Refused = None,
    by: collect_generated.By = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int | None:
    given = _parse_options(option or []) | {
        f"column.{name}": value for name, value in _parse_options(column or []).items()
    }
    if path is not None:
        given["path"] = str(path)
    if "path" in given:
        given["path"] = str(Path(given["path"]).absolute())
    if recheck:
        return _compare_copies(Path(ctx.obj), arm or [], source, given, as_json)
    place = study.find_study(Path(ctx.obj))
    check_corpus_open(place.edition())
    promised = protocol.read_sealed(place.edition())
    asked = collect_generated.parse_generation_options(topics, plan, model, price, budget, refused, by)
    names = arm or [one.name for one in promised.arms if one.source is not None]
    if asked.any or (
        source is None and not given and any(collect_generated.is_generated_arm(promised, name) for name in names)
    ):
        if anew:
            raise UsageError("texts that models wrote are not made anew", remedy="Run the command without --anew.")
        return _generate_arms(place, promised, names, asked, path, as_json)
    _collect_arms(place, promised, names, source, given, as_json, anew=anew, draw=draw)
    return 0


def _generate_arms(
    place: Study,
    promised: Protocol,
    names: list[str],
    asked: collect_generated.Options,
    path: Path | None,
    as_json: bool,
) -> int:
    """Arms that models write; another arm among them is refused."""
    codes = [0]
    results: list[Collected] = []
    try:
        for name in names:
            result, code = collect_generated.fill_generated_arm(place, promised, name, asked, path, as_json=as_json)
            results += [result] if result is not None else []
            codes.append(code)
    finally:
        _print_collected(results, as_json)
    return max(codes)


def _collect_arms(
    place: Study,
    promised: Protocol,
    names: list[str],
    source: str | None,
    given: dict[str, str],
    as_json: bool,
    *,
    anew: bool,
    draw: bool,
) -> None:
    """Arms that sources fill."""
    results: list[Collected] = []
    faults: list[Fault] = []
    try:
        for name in names:
            by = _choose_source(promised, name, source, given)
            plugin = plugins.load_source(by)
            made: Source | None = None
            try:
                made = plugin(
                    _merge_options(place, promised, name, source, given) | _take_promised_options(plugin, promised)
                )
                source_of_it = collect_generated.join_drafts(place, promised, name, made)
                by = grades.GENERATION if source_of_it is not made else by
                tell = _Progress(name)
                results.append(collect_arm(place, promised, name, source_of_it, tell, anew=anew, draw=draw, by=by))
            except FaultsError as error:
                faults.extend(error.faults)
                columns = ", ".join(getattr(made, "columns", ()))
                if columns and not any(columns in f"{fault.fact} {fault.remedy}" for fault in error.faults):
                    print(f"note: {name}: the columns that are there: {columns}", file=sys.stderr)
            finally:
                for note in getattr(made, "notes", ()):
                    print(f"note: {name}: {note}", file=sys.stderr)
    finally:
        _print_collected(results, as_json)  # what was written before something went wrong
    if faults:
        raise FaultsError(faults)
    if not results:
        raise UsageError(
            "no arm of the protocol names a source", remedy="penmark collect ARM --from SOURCE --path PATH"
        )


def _compare_copies(folder: Path, arms: list[str], source: str | None, given: dict[str, str], as_json: bool) -> int:
    """Exit code 1 where a copy is gone or another one, 3 where somebody did not answer, or nothing could be compared."""
    if not arms:
        raise UsageError("which arm is to be rechecked?", remedy="penmark collect ARM --recheck")
    place = Study(folder)
    outcomes: list[Rechecked] = []
    for name in arms:
        options = given
        if place.marker.is_file():
            options = _merge_options(place, protocol.read_sealed(place.edition()), name, source, given)
        counts: dict[str, int] = {}
        alike: dict[tuple[str, str], int] = {}
        chosen = [one for one in list_archived(folder, name) if source is None or _find_refinding_source(one) == source]
        for one in rechecked(chosen, make_refinders(options)):
            outcomes.append(one)
            counts[one.outcome] = counts.get(one.outcome, 0) + 1
            said = (one.outcome, one.fact)
            alike[said] = alike.get(said, 0) + 1
            if one.outcome != "same" and alike[said] == 1 and not as_json:
                print(f"{one.document}: {one.outcome}: {one.fact}", flush=True)
        if not as_json:
            for (outcome, fact), number in alike.items():
                if outcome != "same" and number > 1:
                    print(f"… and {number - 1} more: {outcome}: {fact}")
            told = ", ".join(f"{counts[kind]} {kind}" for kind in OUTCOMES if kind in counts) or "none is archived"
            print(f"{name}: {sum(counts.values())} documents rechecked: {told}")
    if as_json:
        print(json.dumps([one._asdict() for one in outcomes], ensure_ascii=False))
    found = {one.outcome for one in outcomes}
    return 1 if found & {"differs", "not found"} else 3 if "no answer" in found or found == {"not compared"} else 0


def _find_refinding_source(document: Document) -> str | None:
    """The source that finds an archived text again."""
    return document.provenance.locator.get("by") if document.provenance.kind == "archive" else None


def _parse_options(pairs: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if sign == "" or name == "":
            raise UsageError(f"{pair!r} is not NAME=VALUE", remedy="Write --option kind=archive, --column id=ID.")
        if found.get(name, value) != value:
            raise UsageError(f"{name} is given twice", remedy="Give it once.")
        found[name] = value
    return found


def _find_arm(promised: Protocol, name: str) -> Arm:
    known = {one.name: one for one in promised.arms}
    if name not in known:
        fact = f"{promised.edition} has no arm {name}{suggest_name(name, known)}"
        raise UsageError(fact, remedy=f"Its arms: {', '.join(known)}.")
    return known[name]


def _choose_source(promised: Protocol, name: str, source: str | None, given: dict[str, str]) -> str:
    """The source that is asked for, else the promised one, else the one that the path speaks for."""
    own = _find_arm(promised, name).source
    if source is not None:
        if own is not None and own.plugin != source:
            print(f"note: the protocol promises the source {own.plugin} for the arm {name}", file=sys.stderr)
        return source
    if own is not None:
        return own.plugin
    if "path" in given:
        return "folder" if Path(given["path"]).is_dir() else "table"
    known = ", ".join(plugins.list_plugins(plugins.SOURCES))
    raise UsageError(
        f"the protocol names no source for the arm {name}",
        remedy=f"penmark collect {name} --from SOURCE --path PATH, where SOURCE is one of {known}.",
    )


def _merge_options(
    place: Study, promised: Protocol, name: str, source: str | None, given: dict[str, str]
) -> dict[str, str]:
    """The promised options, their paths below the study, and over them what is given here."""
    own = _find_arm(promised, name).source
    if own is None or (source is not None and source != own.plugin):
        return given
    options = dict(own.options)
    if "path" in options:
        options["path"] = str((place.root / options["path"]).absolute())
    return options | given


def _take_promised_options(plugin: Callable[[dict[str, str]], Source], promised: Protocol) -> dict[str, str]:
    """What a source takes from the promise alone."""
    fields = {name: getattr(promised, name) for name in getattr(plugin, "promised", ())}
    return {name: value for name, value in fields.items() if value is not None}


class _Progress:
    """Tells on stderr how far a long collection is."""

    def __init__(self, arm: str) -> None:
        self._arm = arm

    def __call__(self, number: int) -> None:
        if number % 5000 == 0:
            print(f"{self._arm}: {number} texts read", file=sys.stderr, flush=True)


def _print_collected(results: list[Collected], as_json: bool) -> None:
    known = provenance.NAMES | {field.alias or name for name, field in Document.model_fields.items()}
    for one in results:
        if one.unused:
            hints = (f"{name}{suggest_name(name, known)}" for name in one.unused)
            print(f"note: {one.arm}: columns that no record has were left out: {', '.join(hints)}", file=sys.stderr)
        for why, number in one.demoted.items():
            texts = f"{count_noun(number, 'text')} say{'s' if number == 1 else ''} {why}"
            print(f"warning: {one.arm}: {texts}: the grade is `stated` (docs/corpus.md)", file=sys.stderr)
        if one.lacking:
            texts = count_noun(len({fault.place for fault in one.lacking}), "text")
            says = "not what the arm asks for; collected all the same, and `penmark screen` names each"
            print(f"warning: {one.arm}: {texts} of this source: {says}\n{FaultsError(one.lacking)}", file=sys.stderr)
    if as_json:
        print(json.dumps([_make_collected_value(one) for one in results], ensure_ascii=False))
        return
    for one in results:
        what = f"{one.added} added, {one.updated} updated, {one.unchanged} unchanged"
        gone = f"; left out since they were withdrawn: {', '.join(one.withdrawn)}" if one.withdrawn else ""
        if one.pool is not None:
            what += f"; of {one.pool.candidates} candidates {one.pool.eligible} were eligible"
        print(f"{one.arm}: {count_noun(one.documents, 'document')} ({what}){gone}")


def _make_collected_value(one: Collected) -> dict[str, Any]:
    pool, lacking = one.pool, [fault._asdict() for fault in one.lacking]
    return one._asdict() | {
        "demoted": dict(one.demoted),
        "pool": None if pool is None else pool._asdict(),
        "lacking": lacking,
    }
