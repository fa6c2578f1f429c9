"""Forgeries of what follows from a bundle's other files: page, README, CHANGES, licence, catalogues, made by hand.

As in ``acts``: somebody changes one thing, all the rest is made to fit, and only that check notices.
"""

from __future__ import annotations

from tests.forgeries.forged_acts import NOTHING, forgery
from tests.forgeries.forger import Forger

RETOLD = "writes page, README, CHANGES, licence or catalogues otherwise than the release makes them of the other files"
PLACES = "puts true figures to a false use: another row's, another table's, in a list, in letters, under a foreign style sheet"
PAGE = "report/index.html"


WORDS = ("page", "readme", "changes")


@forgery(RETOLD, 8, "README.md:1", *WORDS, alone=NOTHING)
def a_comment_that_swallows_table_1(forger: Forger) -> None:
    text = forger.read("README.md").split(b"\n", 1)[1]
    forger.write("README.md", b"# plain is perfect: 0 of 12 false positives. <!--\n" + text)


@forgery(RETOLD, 8, "README.md:", *WORDS, alone=NOTHING)
def a_sentence_in_the_readme(forger: Forger) -> None:
    forger.replace(
        "README.md", "## What was found\n", "## What was found\n\nplain: 0 of 12 false positives (0.00 %).\n"
    )


@forgery(RETOLD, 8, "CHANGES.md:", *WORDS, alone=NOTHING)
def another_day_in_the_changelog(forger: Forger) -> None:
    forger.replace("CHANGES.md", "announced 2024-10-03", "announced 2024-10-01")


@forgery(RETOLD, 8, "CHANGES.md:", *WORDS, alone=NOTHING)
def an_amendment_in_the_changelog_alone(forger: Forger) -> None:
    forger.write(
        "CHANGES.md", forger.read("CHANGES.md") + b"\nAmendment 9\n-----------\n\nAll false positives are void.\n"
    )


@forgery(RETOLD, 8, "CITATION.cff:", *WORDS, alone=NOTHING)
def another_author(forger: Forger) -> None:
    forger.replace("CITATION.cff", "date-released: 2024", "date-released: 2023")


@forgery(RETOLD, 8, "croissant.json:", *WORDS, alone=NOTHING)
def another_digest_in_a_catalogue(forger: Forger) -> None:
    forger.replace("croissant.json", '"sha256": "', '"sha256": "0')


@forgery(RETOLD, 8, f"{PAGE}:", *WORDS, alone=NOTHING)
def a_sentence_on_the_page(forger: Forger) -> None:
    insert(forger, "<p>The words of nobody.</p>")


def elsewhere(forger: Forger) -> None:
    """Let another release have made the bundle: then nothing is made again, and the rules of the page are all there is."""
    forger.edit("seals/evidence.json", lambda seal: seal.update(rules=9))


def insert(forger: Forger, html: str) -> None:
    """Put a part more before the hard cases of the page."""
    forger.replace(PAGE, '<section id="hard-cases"', f'{html}\n<section id="hard-cases"')


@forgery(PLACES, 8, f"{PAGE}:", *WORDS, alone=NOTHING)
def figures_of_others_by_citations_over_rows(forger: Forger) -> None:
    elsewhere(forger)
    rate = '<span data-over="least tables/rates.csv:rate" data-as="percent">0.00\u00a0%</span>'
    table = f'<table><tbody><tr><th scope="row">plain</th><td>{rate}</td></tr></tbody></table>'
    insert(forger, table)


@forgery(PLACES, 8, f"{PAGE}:", *WORDS, alone=NOTHING)
def figures_in_letters(forger: Forger) -> None:
    elsewhere(forger)
    insert(forger, "<p>plain: O of lI</p>")


@forgery(PLACES, 8, f"{PAGE}:", *WORDS, alone=NOTHING)
def a_deviation_that_supplies_a_figure(forger: Forger) -> None:
    elsewhere(forger)
    said = "The office was closed on the first day of the window."
    quote = f'<span data-quote="deviations.jsonl:1#/what" data-as="text">{said}</span>'
    insert(forger, f"<p>plain: {quote}</p>")


@forgery(PLACES, 8, f"{PAGE}:", *WORDS, alone=NOTHING)
def a_foreign_style_sheet_that_hides_a_row(forger: Forger) -> None:
    elsewhere(forger)
    forger.replace(PAGE, "</style>", "tbody tr:nth-child(2) { -webkit-transform: scale(0); }</style>")


@forgery(PLACES, 8, "CHANGES.md", *WORDS, alone=NOTHING)
def a_changelog_that_is_folded_away(forger: Forger) -> None:
    elsewhere(forger)
    forger.write("CHANGES.md", b"# Changes\n\nNothing was changed.\n\n<details hidden>\n\n" + forger.read("CHANGES.md"))
