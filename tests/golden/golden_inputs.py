"""What the golden study is made of: texts, where they are from, cards, and what each detector answered about each text.

Small, and odd on purpose: every kind of provenance, every state of a pair, every form of answer stands here once.
*Reads* and *writes* nothing.
"""

from __future__ import annotations

import json
from typing import Any

from penmark.format import canonical_json

Row = dict[str, str]
Json = dict[str, Any]

SEED = bytes(range(100, 132))
WITHHELD = "B-04"
"""The volunteer who lets nobody read the text."""
SHY = "B-05"
"""The volunteer who lets one vendor read it."""


def salt(number: int) -> bytes:
    """The salt of the ``number``-th attested text."""
    return bytes([number]) * 32


# --- texts -----------------------------------------------------------------------------------------------------------

TEXTS: dict[str, str] = {
    "A-01": "The tide tables were printed by hand until the spring of that year. Nobody in the harbour office missed the "
    "press, and the apprentice kept the last plate above the door.",
    "A-02": "The cafe\u0301 on the corner \u2014 the one with the green door \u2014 closed early. We walked along the "
    "canal instead, counting barges, and argued about whose turn it was to cook.",
    "A-03": "\ufeffOur sample holds forty letters.\r\nEach was read twice, by two people, and the readings were compared "
    "line by line before anything was counted.\r\n",
    "A-04": "Soil from the upper terrace held more iron than soil from the valley. The difference is small, it is the "
    "same in each of three seasons, and we cannot explain it.",
    "A-05": "My brother fixed the kettle with a fork and some tape. It works, mostly, and it hums in a key that the dog "
    "dislikes, so we boil the water when she is out.\n",
    "A-06": "My brother fixed the kettle with a fork and some tape. It works, mostly, and it hums in a key that the dog "
    "dislikes, so we boil the water when she is out.\r\n",
    "A-07": "Rain again. No boats today.",
    "A-08": "Le jardin est petit, mais il donne des tomates jusqu\u2019en octobre. Ma voisine en prend la moiti\u00e9, "
    "et me rend des bocaux, des nouvelles du quartier et ses meilleurs conseils.",
    "B-01": "I learned to ride a bicycle at thirty. My daughter held the saddle and shouted the things that I had "
    "planned to shout at her, and the neighbours came out to watch.",
    "B-02": "The library of my town has two cats and one good chair. Whoever comes first in the morning gets the chair, "
    "and after ten minutes at the latest a cat.",
    "B-03": "When the power went out we told the stories that we do not tell in the light. Mine was about the ferry, and "
    "it was the first time that I told the end of it.",
    "B-04": "This text is nobody\u2019s business but mine. It says what I think of my manager, of her plants, and of the "
    "meeting in which both of them were discussed for an hour.",
    "B-05": "In my language there is one word for the smell of a cellar and for the feeling of being late. I am looking "
    "for it here since three years and I did not find it.",
    "B-06": "My first winter here I believed that the lake was a field. I walked to the middle of it for the view, and a "
    "man on the shore waved at me, so I waved back.",
    "C-01": "Sourdough baking is a rewarding journey that blends patience with precision. By nurturing a starter, bakers "
    "unlock complex flavours and deepen their connection to tradition.",
    "C-02": "Urban gardens transform overlooked corners into vibrant community spaces. They foster collaboration, improve "
    "air quality, and remind us that nature thrives wherever it is welcomed.",
    "C-03": "Public libraries remain essential pillars of modern society. They bridge digital divides, nurture lifelong "
    "learning, and provide inclusive environments for people of all ages.",
    "C-04": "Okay, so hear me out: night trains are kind of magical. You drift off in one city, wake up in another, and "
    "somehow the coffee always tastes like an adventure.",
    "C-05": "Honestly, moving abroad taught me more about patience than any book could. Every small errand became a tiny "
    "victory, and every victory became a story worth sharing.",
    "E-01": "Bicycles offer a sustainable way to explore a city. They reduce congestion, improve our health, and invite "
    "us to notice details that drivers miss every single day.",
    "E-02": "Letters written by hand carry a warmth that messages lack. The paper, the pauses and even the crossings-out "
    "tell the reader that somebody spent an evening on them.",
    "E-03": "Markets at dawn reveal the true rhythm of a town. My uncle sells eels there, swears at the gulls, and knows "
    "which of the cooks will pay at the end of the month.",
}
"""By id; E-01 to E-03 are drafts that people edited."""
DRAFTS: dict[str, str] = {
    "E-01": "Bicycles offer a sustainable way to explore a city. They reduce congestion, promote health, and invite us to "
    "notice details that drivers miss every single day.",
    "E-02": "Letters written by hand carry a warmth that messages lack. The paper, the pauses and even the crossings-out "
    "tell the reader that someone spent an evening on them.",
    "E-03": "Markets at dawn reveal the true rhythm of a town. Vendors arrange their produce, greet familiar faces, and "
    "set the stage for another day of lively exchange and shared tradition.",
}

ARCHIVE: Row = {"kind": "archive", "grade": "archived", "archive": "a web archive", "licence": "CC0-1.0"}
ATTESTED: Row = {
    "kind": "attested",
    "grade": "stated",
    "attestation": "version 2",
    "attestation_sha256": canonical_json.sha256(b"attestation, version 2"),
    "written_on": "2024-10-08",
    "adult": "true",
    "publish": "true",
    "vendors": "*",
    "operations": "412",
    "active_minutes": "26",
    "pastes": "0",
    "largest_insert_percent": "3",
    "review": "accepted: the history shows a text being written",
    "language": "en",
}
GENERATED: Row = {
    "kind": "generated",
    "grade": "stated",
    "generated_on": "2024-10-09",
    "finish_reason": "stop",
    "language": "en",
}


def _archive(name: str, register: str, date: str, **further: str) -> Row:
    source = f"https://example.org/{name.lower()}"
    row = ARCHIVE | {"id": name, "text": TEXTS[name], "register": register, "evidence_date": date, "source": source}
    row |= {"locator.by": "web-archive", "locator.url": source, "locator.replay": "https://archive.example.org/web"}
    return row | {"language": "en", "evidence_sha256": canonical_json.sha256(source.encode())} | further


def _attested(name: str, subgroup: str, author: str, **further: str) -> Row:
    row = ATTESTED | {"id": name, "text": TEXTS[name], "subgroup": subgroup, "author": author}
    return row | {"history_sha256": canonical_json.sha256(f"history of {name}".encode())} | further


def _generated(name: str, model: str, style: str, topic: str) -> Row:
    prompt = {"plain": f"Write about {topic}, in about 30 words.", "styled": f"Informal, please: {topic}, 30 words."}
    row = GENERATED | {"id": name, "text": TEXTS[name], "provider": f"Maker of {model}", "model": model, "style": style}
    row |= {"topic": topic, "prompt": prompt[style], "model_returned": f"{model}-2024-08", "word_target": "30"}
    kept = {"request_sha256": f"request {name}", "response_sha256": f"response {name}", "request_id": f"id {name}"}
    return row | {key: canonical_json.sha256(value.encode()) for key, value in kept.items()}


def _edited(name: str, topic: str) -> Row:
    row = {"id": name, "text": TEXTS[name], "draft": DRAFTS[name], "topic": topic, "language": "en"}
    row |= {"kind": "edited", "grade": "witnessed", "editor": "editor 1", "draft_grade": "stated"}
    row |= {"provider": "Maker of m-1", "model": "m-1", "style": "plain"}
    return row | {"history_sha256": canonical_json.sha256(f"history of {name}".encode())}


ROWS: dict[str, list[Row]] = {
    "A": [
        _archive("A-01", "academic", "2019-05-01"),
        _archive("A-02", "academic", "2021-12-31", grade="released"),
        _archive("A-03", "academic", "2020-02-29", exposures="BENCH-2024-Q2; vendor: humane"),
        _archive("A-04", "academic", "2022-05-01"),  # too late, and said so
        _archive("A-05", "casual", "2016-07-12", author="=HYPERLINK(A1)", topic="-1"),
        _archive("A-06", "casual", "2016-07-12", author='Ann "the tape" Lee, Jr.', topic="kettles\nand forks"),
        _archive("A-07", "casual", "2018-01-20"),  # too short, and said so
        _archive("A-08", "casual", "2015-09-03", language="fr"),
    ],
    "B": [
        _attested("B-01", "native", "writer 1"),
        _attested("B-02", "native", "writer 1"),
        _attested("B-03", "native", "writer 2"),
        _attested("B-04", "non-native", "writer 3", publish="false"),
        _attested("B-05", "non-native", "writer 4", vendors="humane"),
        _attested("B-06", "non-native", "writer 3"),
    ],
    "C": [
        _generated("C-01", "m-1", "plain", "sourdough"),
        _generated("C-02", "m-1", "plain", "gardens in cities"),
        _generated("C-03", "m-2", "plain", "libraries"),
        _generated("C-04", "m-1", "styled", "night trains"),
        _generated("C-05", "m-2", "styled", "moving abroad"),
    ],
    "C2": [_edited("E-01", "bicycles"), _edited("E-02", "letters"), _edited("E-03", "markets")],  # E-03 over budget
}
"""The rows of each arm's table, as ``penmark collect`` reads them."""

# --- the promise -----------------------------------------------------------------------------------------------------


def _arm(name: str, truth: str, documents: int, kind: str, grades: list[str], **further: Any) -> Json:
    value = {"name": name, "title": f"Arm {name}", "truth": truth, "documents": documents, "headline": truth != "mixed"}
    evidence = {"kinds": [kind], "grades": grades} | further.pop("evidence", {})
    return value | {"persists": name in "AB", "filled": "for the golden study", "evidence": evidence} | further


def _quotas(key: str, **documents: int) -> list[Json]:
    return [{"where": {key: value.replace("_", "-")}, "documents": n} for value, n in documents.items()]


def _detector(name: str, **further: Any) -> Json:
    value = {"name": name, "card": name, "surface": "local", "tier": "none", "payer": "nobody", "relation": "none"}
    return value | further


def protocol(edition: str, template: str, opens: str, closes: str) -> Json:
    """The protocol of an edition, as JSON values."""
    models = [{"provider": f"Maker of {m}", "model": m} for m in ("m-1", "m-2")]
    styles = [
        {"name": "plain", "prompt": "Write about {topic}, in about {words} words."},
        {"name": "styled", "prompt": "Informal, please: {topic}, {words} words."},
    ]
    made = [("m-1", "plain", 2), ("m-1", "styled", 1), ("m-2", "plain", 1), ("m-2", "styled", 1)]
    return {
        "study": "golden",
        "title": "The golden study: it measures nothing",
        "edition": edition,
        "template": {"name": "humanflow", "sha256": template},
        "people": [{"name": "N. N.", "role": "runs it", "interests": "owns 2 % of the maker of humane"}],
        "payer": "nobody",
        "schedule": "quarterly",
        "window": {"opens": opens, "closes": closes},
        "seed_sha256": canonical_json.sha256(SEED),
        "on_version_change": "split",
        "attempts": 2,
        "arms": [
            _arm("A", "human", 8, "archive", ["archived", "released"], evidence={"before": "2022-01-01"},
                 words={"minimum": 10, "maximum": 60}, quotas=_quotas("register", academic=4, casual=4)),
            _arm("B", "human", 6, "attested", ["witnessed", "stated"], unit="author",
                 quotas=_quotas("subgroup", native=3, non_native=3)),
            _arm("C", "ai", 5, "generated", ["recorded", "stated"],
                 quotas=[{"where": {"model": m, "style": s}, "documents": n} for m, s, n in made],
                 generation={"models": models, "styles": styles, "topics_from": ["A"]}),
            _arm("C2", "mixed", 3, "edited", ["witnessed"],
                 budget={"words_percent": "10", "sentences": "none added or deleted"}),
        ],
        "detectors": [
            _detector("edge.2", version="2.0", settings={"mode": "fast"}),
            _detector("humane", surface="api", relation="affiliate", tier="standard", payer="N. N.", rule={
                "kind": "boundary", "operator": "<=", "value": "20", "source": "chosen for the golden study",
                "date": "2024-09-30", "confidence": "convention"}),
            _detector("plain", relation="own"),
            _detector("typed", surface="web", version="spring"),
        ],
        "nominations": [{"detector": "Quill", "by": "a reader", "answer": "no: its terms forbid publication"}],
        "comparisons": [{"first": "edge.2", "second": "plain"}],
    }  # fmt: skip


CARDS: dict[str, str] = {
    "edge.2": """\
name: edge.2
title: Edge, the second
vendor: golden
homepage: none
ask: {by: plugin, plugin: golden, options: {of: edge.2}}
answer: {displayed: /score, score: /score, label: /class, version: /model, text: /text}
scale: {meaning: probability, direction: ai, low: "0", high: "1"}
verdicts: {AI: ai, Human: human, Mixed: mixed, Unsure: uncertain}
boundary: {kind: boundary, operator: ">=", value: "0.5", source: "its help, page 2", date: "2024-09-01"}
limits: {maximum_words: 1000}
display: document
terms: {where: none, results_may_be_published: "yes"}
facts_as_of: "2024-09-01"
""",
    "humane": """\
name: humane
title: Humane, which says how human a text is
vendor: humane
homepage: none
ask: {by: people}
answer: {displayed: /shown, score: /result/0/human~1share, text: /input}
scale: {meaning: share of text, direction: human, low: "0", high: "100", unit: percent}
boundary: {kind: boundary, operator: "<=", value: "50", source: its page of prices, date: "2024-09-02"}
display: both
terms: {where: its site, read_on: "2024-09-02", results_may_be_published: unclear}
facts_as_of: "2024-09-02"
""",
    "plain": """\
name: plain
title: Plain verdicts
vendor: golden
homepage: none
ask: {by: plugin, plugin: golden, options: {of: plain}}
answer: {displayed: /verdict, label: /verdict}
verdicts: {AI: ai, Human: human, Mixed: mixed, Unsure: uncertain}
boundary: {kind: verdict, source: its own words, date: "2024-09-03"}
limits: {languages: [en]}
display: document
terms: {where: none, results_may_be_published: "yes"}
facts_as_of: "2024-09-03"
""",
    "typed": """\
name: typed
title: Typed from a screen
vendor: the typed company
homepage: none
ask: {by: people}
answer: {displayed: /displayed, label: /displayed, version: /version}
verdicts: {Likely AI: ai, Likely human: human, Assisted: assisted, Cannot tell: uncertain}
boundary: {kind: verdict, source: its own words, date: "2024-09-04", confidence: inferred}
display: sentence
terms: {where: its site, results_may_be_published: "no"}
facts_as_of: "2024-09-04"
""",
}

# --- what was answered -----------------------------------------------------------------------------------------------

DOWN, LEFT = "no route to the vendor", "left alone"
"""What the acting detector does instead of an answer: fails in transport, is cut off in mid-call."""


def _edge(
    name: str, score: str, shown: str | None = None, model: str = "2.0", text: str | None = None, read: int = 0
) -> str:
    """An answer of edge.2, the score as the exact characters given. ``read``: so often it says that it read the text."""
    echo = json.dumps(TEXTS[name] if text is None else text)
    verdict = "null" if shown is None else json.dumps(shown)
    more = f',"was_read":{json.dumps(" ".join([TEXTS[name]] * read))}' if read else ""
    return f'{{"class":{verdict},"model":"{model}","score":{score},"text":{echo}{more}}}'


EDGE: dict[str, list[str | bytes | None]] = {
    "A-01": [_edge("A-01", "0.03", "Human", read=2)],
    "A-02": [DOWN, _edge("A-02", "0.50", "Unsure")],
    "A-03": [_edge("A-03", "1.7", "AI")],  # outside its own scale
    "A-04": [_edge("A-04", "5e-1")],
    "A-05": [_edge("A-05", "0.499999999999999999999999", "Mixed")],
    "A-06": [_edge("A-06", "NaN")],
    "A-07": [None],  # declined, and nothing came
    "A-08": [_edge("A-08", "0.12", "Unsure", model="3.0")],
    "B-01": [_edge("B-01", "0.2", "Human")],
    "B-02": [_edge("B-02", "0.71", "AI")],
    "B-03": [_edge("B-03", "0.0", "Human", model="3.0")],
    "B-04": [_edge("B-04", "0.33", "Mixed")],
    "B-06": [_edge("B-06", "0.8", "AI")],
    "C-01": [_edge("C-01", "0.99", "AI")],
    "C-02": [DOWN, DOWN],
    "C-03": [_edge("C-03", "1", "AI")],
    "C-04": [_edge("C-04", "0.97", "AI", text=TEXTS["C-01"])],  # another text was scanned
    "C-05": [b'{"error":"quota \xc3\xa9puis\xc3\xa9"}'],
    "E-01": [_edge("E-01", "0.62", "Mixed")],
    "E-02": [_edge("E-02", "0.41", "Mixed")],
    "E-03": [_edge("E-03", "0.05", "Human", model="3.0")],
}
PLAIN: dict[str, list[str | bytes | None]] = {
    "A-01": ['{"verdict":"Human"}'],
    "A-02": ['{"verdict":" human "}'],
    "A-03": ['{"verdict":"Unsure"}'],
    "A-04": ['{"verdict":"AI"}'],
    "A-05": ['{"verdict":"=AI()"}'],  # not in the card, and a spreadsheet would run it
    "A-06": [b"\xff\xfe not text"],
    "A-07": ['{"verdict":"Human","verdict":"AI"}'],  # two readers would read two things
    "B-01": ['{"verdict":"Human"}'],
    "B-02": [LEFT],
    "B-03": ['{"verdict":"Mixed"}'],
    "B-04": ['{"verdict":"AI"}'],
    "B-06": ['{"verdict":"\\u0041I"}'],
    "C-01": ['{"verdict":"AI"}'],
    "C-02": ['{"verdict":"AI"}'],
    "C-03": ['{"verdict":"Perhaps"}'],
    "C-04": ['{"verdict":"Human"}'],
    "C-05": ['{"verdict":"AI"}'],
    "E-01": ['{"verdict":"Mixed"}'],
    "E-02": ['{"verdict":"AI"}'],
    "E-03": ['{"verdict":"Human"}'],
}
ANSWERS = {"edge.2": EDGE, "plain": PLAIN}
"""What the acting detectors say about each text, attempt by attempt; None: declined, without an answer."""


def humane() -> list[str]:
    """The file of answers that a program kept: JSON Lines; every text of the study but two."""
    share = {
        "A-01": "88.0",
        "A-02": "19.99",
        "A-03": "20",
        "A-04": "20.0001",
        "A-05": "100",
        "A-06": "55",
        "A-08": "71",
    }
    share |= {"B-01": "64", "B-02": "12.5", "B-03": "90", "B-04": "99", "B-05": "47", "B-06": "20.00"}
    share |= {"C-01": "0", "C-02": "3.5", "C-03": "49", "C-04": "2e1", "C-05": "11", "E-01": "33", "E-02": "8"}
    lines = []
    for number, (name, number_shown) in enumerate(share.items()):
        text = TEXTS["B-01"] if name == "B-03" else TEXTS[name]
        result = f'[{{"human/share":{number_shown},"sentences":[]}}]'
        row = f'"at":"2024-11-06T10:{number:02d}:00.25Z","id":"{name}","input":{json.dumps(text)},"result":{result}'
        lines.append(f'{{{row},"shown":"{number_shown} % human"}}')
    return lines


TYPED: list[tuple[str, str, str, str]] = [
    ("A-01", "Likely human", "spring", "2024-11-05T09:00:00Z"),
    ("A-02", "Cannot tell", "spring", "2024-11-05T09:03:00Z"),
    ("A-05", "likely   HUMAN", "spring", "2024-11-05T09:05:00Z"),
    ("B-01", "Likely human", "spring", "2024-11-05T09:09:00Z"),
    ("B-02", "Likely AI", "spring", "2024-11-05T09:12:00Z"),
    ("B-06", "Assisted", "spring", "2024-11-05T09:15:00Z"),
    ("C-01", "Likely AI", "spring", "2024-11-05T09:18:00Z"),
    ("C-03", "Assisted", "spring", "2024-11-05T09:21:00Z"),
    ("C-04", "Likely AI", "summer", "2024-11-05T09:24:00Z"),
    ("E-01", "Assisted", "summer", "2024-11-05T09:27:00Z"),
]
"""Document, display, version, date: what somebody typed."""

PLUGIN = '''\
"""A detector that answers from a list: what was recorded about each text, attempt by attempt."""

from penmark.errors import ServiceError
from penmark.plugins import Answer, Declined

ANSWERS = {}
DOWN = LEFT = leave = None


class Golden:
    version = "2.0"

    def __init__(self, options):
        self.of = options["of"]
        self.asked = {}

    def read(self, text):
        number = self.asked[text] = self.asked.get(text, -1) + 1
        said = ANSWERS[self.of][text][number]
        if said is None:
            return Declined("would not say")
        if said == DOWN:
            raise ServiceError(DOWN)
        if said == LEFT:
            leave()
            return Answer(b"{}")
        return Answer(said.encode() if isinstance(said, str) else said)
'''
"""The plugin, as a module of a distribution of its own, so that its digest depends on nothing else."""
