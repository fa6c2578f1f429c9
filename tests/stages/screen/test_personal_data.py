"""Contact details by their form, names by a guess, and never what was found itself."""

import pytest

from penmark.stages.screen.personal_data import find_contacts, find_name_positions, find_names


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Write to jo.doe+x@mail.example.org today.", "an e-mail address (at 9)"),
        ("See https://example.org/a?b=1 or www.example.com.", "a web address (at 4, 33)"),
        ("Call +49 30 1234567 89 or (020) 7946 0958.", "a telephone number (at 5, 26)"),
        ("Call 555-123-4567.", "a telephone number (at 5)"),
        ("She is @jo_doe there.", "an account (at 7)"),
        ("jo@example.org and @jo_doe", "an e-mail address (at 0) and an account (at 19)"),
    ],
)
def test_contact_details(text, told):
    [remark] = find_contacts(text)
    assert remark.rule == "contact-details"
    assert remark.message == f"holds what looks like {told}"


@pytest.mark.parametrize(
    "text",
    [
        "On 2019-05-01 at 12:30 it cost 1,250.00 dollars, or 3.50.",
        "The ISBN is 978-3-16-148410-0.",
        "Dear @CAPS1, @NUM2 of us met @LOCATION1.",
        "It rose from 1914-1918 by 12 000.",
        "at@ home, a@b",
    ],
)
def test_what_is_no_contact(text):
    assert list(find_contacts(text)) == []


def test_names_are_guessed_and_never_repeated():
    text = "Then Mr. Tobin came. I met Jane Doelittle in New York on a Monday, and a boy named Kofi. He knew Supreme Court."
    assert [text[at:].split(" ")[0] for at in find_name_positions(text)] == ["Mr.", "Jane", "named"]
    [remark] = find_names(text)
    assert remark == ("personal-name", "seems to name persons (at 5, 27, 77)", remark.remedy)
    assert list(find_names("Nobody is named here. The United States is no person.")) == []


def test_many_are_counted():
    [remark] = find_contacts(" ".join(f"a{n}@example.org" for n in range(9)))
    assert remark.message.endswith("at 0, 15, 30, 45, 60 and 4 more)")


def test_long_runs_take_no_square_time():
    for text in ("a" * 200_000 + "@", "1 " * 100_000, "@" * 200_000, "www." * 50_000, "A. " * 60_000):
        list(find_contacts(text))
        find_name_positions(text)
