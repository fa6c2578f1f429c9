"""Pages that are no texts, in the words of the real ones; and texts that only speak of such pages."""

import pytest
from tests.shipped.sources.web_archive_server import ENGLISH, FRENCH, Entry, drained, page, warc

from penmark.plugins import load_source
from penmark.shipped.sources import walls

NOT_FOUND = "a page that was not found"
SCRIPT = "a page that asks for JavaScript"
FILLER = [
    f"Our newsroom has covered the county for {n} years, and readers write to us every week about it."
    for n in range(40)
]
WALLS = [
    (NOT_FOUND, "Page not found", FILLER),  # 480 words change nothing
    (NOT_FOUND, "404 Not Found", ["The requested URL was not found on this server."]),
    (NOT_FOUND, "News | Page not found", ["Browse our sections, or read what is new today."]),
    (
        NOT_FOUND,
        "News",
        ["Oops! We can't find the page you are looking for.", "Return to the home page or use our search."],
    ),
    (NOT_FOUND, "Seite nicht gefunden", ["Die Seite wurde nicht gefunden. Zurück zur Startseite."]),
    (NOT_FOUND, "Page introuvable", ["Cette page n'existe plus. Retour à l'accueil."]),
    (SCRIPT, "App", ["You need to enable JavaScript to run this app."]),
    (SCRIPT, "Shop", ["Bitte aktivieren Sie JavaScript in Ihrem Browser, um fortzufahren."]),
    ("a paywall", "The bridge", [*ENGLISH * 3, "Subscribe to continue reading.", "Already a subscriber? Log in."]),
    ("a paywall", "Le pont", ["Cet article est réservé aux abonnés.", "Déjà abonné ? Connectez-vous."]),
    (
        "a wall against robots",
        "Just a moment...",
        ["Checking your browser before accessing example.org.", "Ray ID: 5f1c"],
    ),
    (
        "a wall against robots",
        "Access Denied",
        ["You don't have permission to access /news on this server.", "Reference #18.2f"],
    ),
    ("a wall against robots", "Example", ["Please verify you are a human.", "Complete the captcha below to go on."]),
    ("a parked domain", "example.org", ["This domain is for sale.", "Related searches: loans, travel."]),
    ("a wall of consent", "News", ["Wir verwenden Cookies.", "Sie können alle akzeptieren oder ablehnen."]),
    ("a wall of consent", "Infos", ["Nous et nos partenaires utilisons des cookies.", "Continuer sans accepter."]),
    (
        "a wall of consent",
        "Noticias",
        ["Utilizamos cookies propias.", "Puede aceptar todas o configurarlas con nuestros socios."],
    ),
    ("a wall of consent", "Notizie", ["Utilizziamo i cookie.", "Accetta tutti, o gestisci il tuo consenso."]),
    ("a wall of consent", "Nieuws", ["Wij gebruiken cookies.", "Cookies accepteren of weigeren: uw toestemming."]),
    (
        "an account that was closed",
        "Account Suspended",
        ["This account has been suspended.", "Contact your hosting provider."],
    ),
    ("a page to log in", "Log in", ["Forgot your password?", "Don't have an account? Sign up.", "Remember me"]),
    ("a page of search results", "Search results for bridge", ["Showing 1-10 of 345 results.", "Sort by relevance."]),
    ("a notice of a server", "Under construction", ["Our website is under construction.", "Please check back soon."]),
]
TEXTS = [
    ("The bridge", ENGLISH),
    ("Le pont", FRENCH),
    # Stories that only speak of such pages, quote them, or bear their names.
    ("Access denied", [*ENGLISH, "The clerk had denied them access to the building for a year."]),
    ("Just a moment", ENGLISH),
    ("Under construction", ENGLISH),
    (
        "The lost page",
        [*ENGLISH * 2, "All that was left of it was a notice: “Page not found. It may have been moved.”"],
    ),
    ("Cookies", [*ENGLISH * 3, "We use cookies in this recipe, broken into pieces, and accept all of the crumbs."]),
    ("Scripts", [*ENGLISH * 3, "To run the program, the author explains, you must enable JavaScript in your browser."]),
    ("The paper", [*ENGLISH, "He was already a subscriber when the paper was sold.", *ENGLISH * 2]),
    ("A domain", [*ENGLISH * 2, "The domain is for sale since March, says the lawyer.", *ENGLISH]),
    ("A short one", ["It rained.", "Nobody came."]),
]


@pytest.mark.parametrize(("kind", "title", "sentences"), WALLS)
def test_a_page_that_is_no_text_is_left_out_and_named(tmp_path, kind, title, sentences):
    entry = Entry("https://news.example.org/wall", page(sentences, title))
    (tmp_path / "a.warc").write_bytes(warc(entry, packed=False))
    plugin = load_source("warc")({"path": str(tmp_path / "a.warc"), "archive": "a crawl"})
    assert drained(plugin.gather("A")) == ([], [])
    count, named = plugin.notes
    assert count == "1 records left out: a page that stands where a text should"
    assert named == f"left out: {entry.name} ({entry.url}): the capture of 2020-05-01 is {kind}, and no text"


@pytest.mark.parametrize(("title", "sentences"), TEXTS)
def test_a_text_is_a_text(tmp_path, title, sentences):
    (tmp_path / "a.warc").write_bytes(warc(Entry("https://example.org/a", page(sentences, title)), packed=False))
    drafts, faults = drained(load_source("warc")({"path": str(tmp_path / "a.warc"), "archive": "a crawl"}).gather("A"))
    assert (len(drafts), faults) == (1, [])


def test_every_kind_is_tried():
    assert {kind for kind, _, _ in WALLS} == walls.KINDS.keys()
