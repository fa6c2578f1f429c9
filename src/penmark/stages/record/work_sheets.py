"""Work sheets: what people need who give texts to a screen and copy what it shows. They see numbers and texts, no more.

*Reads* the sealed ground, the texts, the detector's journals. *Writes* a new folder, and a line ``skipped`` for each
document that the detector cannot be given. *Never* shows an id, an arm or a truth; never gives out a text whose author
does not allow this vendor to have it.
"""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from penmark import cards, study
from penmark.cards import judge
from penmark.corpus import provenance, sealed_edition
from penmark.corpus.sealed_edition import SealedEdition, Texts
from penmark.errors import UsageError
from penmark.records import Document, Head
from penmark.stages.record import store
from penmark.stages.record.blind_numbers import Numbers
from penmark.stages.record.docx import make_docx
from penmark.study import Edition, Study

COLUMNS = ("number", "displayed", "version", "date", "operator", "note")
SHEET = "sheet.csv"


class Sheets(NamedTuple):
    """The work sheets of one detector. ``texts``: how many there are to read. ``done``: documents that have a reading.

    ``skipped``: how many cannot be given to it, by reason. ``plain``: numbers of texts that no .docx can hold.
    ``heads``: the journal as it stands, by its path in the edition; empty where nothing was written to it.
    """

    detector: str
    folder: Path
    texts: int
    done: int
    skipped: dict[str, int]
    plain: tuple[str, ...]
    heads: dict[str, Head]


def make_work_sheets(place: Study, edition: Edition, detector: str, out: Path) -> Sheets:
    """Write the work sheets of ``detector`` to ``out``, a new folder: all texts that have no reading yet.

    Raises UsageError where a program asks this detector, ``out`` is taken, or it is no place for texts that are withheld.
    """
    ground = sealed_edition.open_sealed_edition(edition, verb="record")
    store.check_promised(ground, detector)
    if ground.cards[detector].card.ask.by != "people":
        raise UsageError(
            f"{detector} is asked by a program, not by people",
            remedy=f"Run `penmark scan --detector {detector}`.",
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("is there already, and not empty", place=str(out), remedy="Name a new folder with --sheets.")
    with study.lock_file(edition.root / "scan.lock", "penmark record"):
        return _make_sheets(place, ground, detector, out)


def _make_sheets(place: Study, ground: SealedEdition, detector: str, out: Path) -> Sheets:
    card = ground.cards[detector].card
    skips: dict[int, str] = {}
    withheld: set[int] = set()
    gone = provenance.read_withdrawn(place)

    def see(position: int, document: Document) -> None:
        reason = provenance.WITHDRAWN if document.id in gone else cards.explain_not_scannable(card, document)
        if reason is not None:
            skips[position] = reason
        if document.withheld is not None:
            withheld.add(position)

    documents = sealed_edition.load_documents(ground, see)
    numbers, taken = Numbers(place, ground, documents), store.list_taken(ground, detector)
    left = [(n, at) for n, at in enumerate(numbers.order, 1) if documents.ids[at] not in taken]
    chosen = [(numbers.shown(n), at) for n, at in left if at not in skips]
    new = [at for _, at in left if at in skips]
    if not left:
        raise UsageError(f"there is no text left for {detector}", remedy="`penmark status` says what is next.")
    closed = any(at in withheld for _, at in chosen)
    if closed:
        _require_private_folder(place, out)
    heads = _write_skipped(ground, detector, [(documents.ids[at], skips[at]) for at in new], len(chosen))
    plain: tuple[str, ...] = ()
    if chosen:
        with closing(Texts(place, documents)) as texts:
            plain = _write_sheets(out, chosen, texts, _render_readme(ground, detector, closed))
    done = sum("final reading" in why for why in taken.values())
    return Sheets(detector, out, len(chosen), done, dict(Counter(skips.values()).most_common()), plain, heads)


def _require_private_folder(place: Study, out: Path) -> None:
    """Texts that are not published stay out of the folders that git sees."""
    here = out.resolve()
    if here.is_relative_to(place.root.resolve()) and not here.is_relative_to(place.private.resolve()):
        raise UsageError(
            "some of the texts are not published, and this folder is not private",
            place=str(out),
            remedy=f"Take a folder in {place.private}, or outside the study.",
        )


def _write_skipped(ground: SealedEdition, detector: str, new: list[tuple[str, str]], texts: int) -> dict[str, Head]:
    if not new:
        return {}
    lines = [{"at": judge.get_time_now(), "document": name, "kind": "skipped", "reason": why} for name, why in new]
    return store.write_readings(
        ground, detector, lines, [], f"work sheets for {texts} texts, {len(new)} more not scannable"
    )


def _write_sheets(out: Path, chosen: list[tuple[str, int]], texts: Texts, words: str) -> tuple[str, ...]:
    """Write everything beside ``out`` and rename it, so that no sheet is half there; the numbers without a .docx."""
    work, plain = out.with_name(f".{out.name}.tmp"), []
    try:
        shutil.rmtree(work, ignore_errors=True)
        (work / "texts").mkdir(parents=True, mode=0o700)
        work.chmod(0o700)
        for number, at in chosen:
            text = texts.text(at)
            study.write_private(work / "texts" / f"{number}.txt", text.encode())
            page = make_docx(text)
            if page is None:
                plain.append(number)
            else:
                study.write_private(work / "texts" / f"{number}.docx", page)
        rows = ((number, *([""] * (len(COLUMNS) - 1))) for number, _ in chosen)
        study.write_private(work / SHEET, study.encode_csv(COLUMNS, rows))
        study.write_private(work / "README.txt", words.encode())
        if out.exists():
            out.rmdir()
        work.rename(out)
        study.sync_folder(out.parent)
    except OSError as error:
        raise study.make_disk_error(error, out) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return tuple(plain)


def _render_readme(ground: SealedEdition, detector: str, closed: bool) -> str:
    """What the reader is told: the same for every text, so that it gives no text away. ``closed``: some are withheld."""
    card, asked = ground.cards[detector].card, ground.protocol.detector(detector)
    window = ground.protocol.window
    settings = "; ".join(f"{name}: {value}" for name, value in sorted(asked.settings.items())) or "those it comes with"
    return _README.format(
        title=card.title,
        vendor=card.vendor,
        opens=window.opens,
        closes=window.closes,
        tier=asked.tier,
        payer=asked.payer,
        settings=settings,
        notes=f"\n{textwrap.fill(f'About this detector: {card.notes}', 118)}\n" if card.notes else "",
        detector=detector,
        closed=_CLOSED.format(vendor=card.vendor) if closed else "",
    )


_CLOSED = """
Some texts are published nowhere: their authors allow that {vendor} is given them for this test. Which ones is not said.
Treat all alike: give them to nobody else, and delete this folder and the copies on your machine afterwards.
"""
_README = """\
Work sheets for {title}

Give each text of the folder `texts` to {vendor}, once, in the order of the numbers, from {opens} to {closes} (UTC).
Account: {tier}, paid for by {payer}. Settings: {settings}.
A text is there twice, as .txt and as .docx: take whichever the page accepts, and the same kind for all.
{closed}{notes}
In sheet.csv write, for each number:
  displayed  what the page shows as its result, word for word, with every sign: 45%, *%, Likely human
  version    the version that the page shows, if it shows one
  date       when you read it, in UTC, with the time: 2026-11-30T14:05Z
  operator   who you are
  note       anything odd. The sheet is published: no account, no name of a third person
Save it as CSV in UTF-8, with commas or semicolons, as your spreadsheet does it. If all columns stand in one when you open
it, import it instead (Data, From text).
Leave `displayed` empty where you did not get to a text. Do not ask again about a text that you have a result for.
A page that shows an error, or no result, has shown something too: type that.

Make a screenshot of each result, and name it by its number: 0012.png (a second one 0012-2.png). Screenshots are kept by
their digest, and not published.

A second person types the results again from the screenshots, into an empty copy of sheet.csv, and gives no text to the
page. Where the two differ, somebody settles it, and says why:

    penmark record sheet.csv --second second.csv --detector {detector} --screenshots screenshots
"""
