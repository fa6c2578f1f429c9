"""What a text by itself shows."""

import pytest

from penmark.stages.screen.text_marks import find_odd_characters, find_prompt_echo, find_text_marks


def rules(text: str, truth: str = "human") -> set[str]:
    return {remark.rule for remark in find_text_marks(text, truth)}


PLAIN = "This is a plain text, with an end."


def test_a_plain_text_shows_nothing():
    for text in (
        PLAIN,
        PLAIN + "\n",
        "„So“, sagte er.",
        'He said: "No."',
        "Tabs\tand\nlines.",
        "",
        "他说。",
        "(It ends here!)",
    ):
        assert rules(text) == set(), text


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        ("\ufeffBegins here.", "bom", "begins with a byte order mark"),
        ("One\r\ntwo\rthree.", "carriage-return", "carriage returns 2 times, 1 of them without a line feed"),
        ("o\0er.", "nul", "holds U+0000 once"),
        ("Private \ue000\ue000 use.", "private-use", "holds U+E000 2 times"),
        ("Lost \ufffd.", "replacement-character", "holds U+FFFD once"),
        ("e\ufb03cient.", "ligature", "holds U+FB03 once"),
        ("zero\u200bwidth\ufeff and soft\u00adhyphen.", "zero-width", "holds U+00AD once, U+200B once, U+FEFF once"),
        ("turn \u202eback.", "bidi-control", "holds U+202E once"),
        ("no\u00a0break\u202fspace.", "no-break-space", "holds U+00A0 once, U+202F once"),
        ("don\u0092t.", "control-character", "holds U+0092 once"),
        ("un\u0378assigned.", "unassigned", "holds U+0378 once"),
        ("cafe\u0301.", "not-nfc", "is not in Unicode's form NFC; its canonical digest is of another form"),
        ("p\u0430ypal.", "mixed-scripts", "Latin and Cyrillic letters stand in one word"),
        ("costs Â£3.", "mojibake", "looks once like UTF-8 that was read in another encoding"),
    ],
)
def test_characters(text, rule, message):
    assert [r.message for r in find_text_marks(text, "human") if r.rule == rule] == [message]
    assert {r.rule for r in find_odd_characters(text)} - {"mojibake", "hidden-marks"} == {rule} - {"mojibake"}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("As an AI language model, I have no view.", "chat-residue"),
        ("It ends.<|im_end|>", "chat-residue"),
        ("<p>Marked up.</p>", "markup"),
        ("## Heading\n\nA text.", "markup"),
        ("It is **bold**.", "markup"),
        ("This website uses cookies. A text.", "boilerplate"),
        ("Sincerely, [Your Name].", "placeholder"),
        ("Then @CAPS1 left.", "placeholder"),
        ("A word and then it st", "cut-off"),
    ],
)
def test_debris_in_any_arm(text, rule):
    assert rule in rules(text, "human")
    assert rule in rules(text, "ai")


def test_a_twitter_name_or_a_footnote_is_no_placeholder():
    assert rules("Ask @user123 about [1] and [sic].") == set()


def test_what_only_a_machine_writes_is_looked_for_in_machine_text():
    letter = "I'm sorry to hear about your loss. We all miss him."
    refusal = "I'm sorry, but I can't help with that."
    assert rules(letter) == rules(refusal) == set()
    for text in (letter, refusal):
        (one,) = (r for r in find_text_marks(text, "ai") if r.rule == "refusal")
        assert "it may be a letter" in one.message
        assert one.remedy.startswith("A person reads it")
    assert rules("network error", "ai") == {"error-text", "cut-off"}
    assert rules("Network errors are a nuisance that this text is about. " * 5, "ai") == set()
    assert "chat-residue" in rules("Sure, here is an essay:\n\nAn essay.", "ai")
    assert "chat-residue" in rules("Plan it.\n</think>\n\nAn essay.", "ai")
    assert "chat-residue" not in rules("User: a person. Assistant: another.", "human")
    assert "chat-residue" in rules("An essay.<｜end▁of▁sentence｜>", "human")
    assert "chat-residue" in rules("Topic: Bees\n\nAn essay.", "mixed")
    assert rules("Sure, here we are.", "human") == set()


def test_repetition():
    one, two = (
        "The first paragraph is longer than forty characters.",
        "The second paragraph is as long as the first one.",
    )
    assert rules(f"{one}\n\n{two}\n\n{one}\n\n{two}.") >= {"repeated-paragraph"}
    assert rules(f"{one}\n\n{two}") == set()
    assert rules(f"{one} {two} {one} {two}") == {"repeated-paragraph"}
    assert rules(f"Yes.\n\nYes.\n\n{one}") == set()


def test_long_odd_texts_take_no_square_time():
    """Each of these once took minutes in a rule that looked back."""
    for unit in ("<a", "[", "**", "# ", "@CAPS", "I am ", "\u200b", "as an ai ", "&lt;", "Â£"):
        rules(unit * 200_000, "ai")


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ("gr\u03bfund", "Greek"),
        ("the\u03bf", "Greek"),
        ("p\u0430yp\u03bfl", "Cyrillic and Greek"),
        ("h\u0578use", "Armenian"),
    ],
)
def test_letters_that_look_alike_in_one_word(text, scripts):
    [remark] = [r for r in find_odd_characters(f"A {text}.") if r.rule == "mixed-scripts"]
    assert remark.message == f"Latin and {scripts} letters stand in one word"


@pytest.mark.parametrize(
    "text", ["5 \u03bcm and \u0394E, NF-\u03baB, \u03b2-blocker", "Привет, world", "\u03b1\u03b2\u03b3 abc"]
)
def test_letters_that_belong_there(text):
    assert not [r for r in find_odd_characters(text) if r.rule == "mixed-scripts"]


@pytest.mark.parametrize(
    "text",
    [
        "A <b>bold</b> word.",
        "One\n\n---\n\nTwo.",
        "| a | b |\n|---|---|",
        "See [[Main page]] there.",
        "== Heading ==\nText.",
        "{{stub}} text.",
        "A <!-- hidden --> word.",
        "Caf&#233; time.",
        "The \\cite{x} says.",
        "![a](https://example.org/a.png)",
    ],
)
def test_marks_of_markup(text):
    assert [r.rule for r in find_text_marks(text, "human") if r.rule == "markup"] == ["markup"]


@pytest.mark.parametrize(
    "text", ["A < b and c > d.", "x = y == z.", "1 - 2 - 3 - 4.", "He said: a|b.", "A [note] (here)."]
)
def test_what_is_no_markup(text):
    assert not [r for r in find_text_marks(text, "human") if r.rule == "markup"]


def test_an_echo_of_the_prompt():
    prompt = "Write an essay about the old harbour of our town, in about 400 words."
    told = list(find_prompt_echo("Write an essay about the old harbour of our town: here it is.", prompt))
    assert [(r.rule, r.message) for r in told] == [("prompt-echo", "begins with 8 words in a row of its prompt")]
    assert list(find_prompt_echo("The old harbour of our town has seen better days.", prompt)) == []
    assert list(find_prompt_echo("Tell me more, he said.", "Tell me more")) != []
    assert list(find_prompt_echo("Hi there, friend of mine.", "Hi")) == []
    # A text that was asked to be rewritten stands in the prompt, and may stand in the answer.
    long = (
        "Polish this text for me, please, and keep what it says. "
        + "word " * 90
        + "the sea was calm and grey that day, all said"
    )
    assert list(find_prompt_echo("The sea was calm and grey that day, all said so.", long)) == []
