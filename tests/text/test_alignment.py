"""Sentences aligned: the longest common subsequence against its table, and what each kind of edit is called."""

from hypothesis import given, settings
from hypothesis import strategies as st

from penmark.text.alignment import Link, align_sentences, count_kept_words, list_plain_words

lists = st.lists(st.sampled_from("abcd"), max_size=9)
texts = st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5), max_size=7)


def table(before, after):
    row = [0] * (len(after) + 1)
    for a in before:
        new = [0]
        for j, b in enumerate(after):
            new.append(row[j] + 1 if a == b else max(row[j + 1], new[-1]))
        row = new
    return row[-1]


def kinds(draft, text):
    return [link.kind for link in align_sentences([s.split() for s in draft], [s.split() for s in text])]


@settings(max_examples=100)
@given(lists, lists)
def test_the_words_kept_are_the_longest_common_subsequence(before, after):
    assert count_kept_words(before, after) == table(before, after)


@settings(max_examples=100)
@given(texts, texts)
def test_every_sentence_is_in_one_link_and_in_order(draft, text):
    links = align_sentences(draft, text)
    for side, whole in (("draft", draft), ("text", text)):
        covered = [i for link in links for i in range(*getattr(link, side))]
        assert covered == list(range(len(whole)))
    for link in links:
        sizes = (link.draft[1] - link.draft[0], link.text[1] - link.text[0])
        one = {
            "kept": (1, 1),
            "replaced": (1, 1),
            "joined": (2, 1),
            "split": (1, 2),
            "deleted": (1, 0),
            "added": (0, 1),
        }
        assert sizes == one[link.kind] if link.kind in one else sizes in ((1, 0), (0, 1))


@settings(max_examples=60)
@given(texts)
def test_a_text_is_aligned_with_itself(draft):
    assert align_sentences(draft, draft) == [Link("kept", (i, i + 1), (i, i + 1)) for i in range(len(draft))]


def test_what_became_of_a_sentence():
    draft = ["the ferry leaves at ten", "it waits for the nurse who runs", "nobody knows why it is late", "we go home"]
    assert kinds(draft, draft) == ["kept"] * 4
    assert kinds(draft, [draft[0], "it never waits for a nurse who runs", *draft[2:]]) == ["kept"] * 4
    assert kinds(draft, [draft[0], *draft[2:]]) == ["kept", "deleted", "kept", "kept"]
    assert kinds(draft, [*draft[:3], "but not yet", draft[3]]) == ["kept", "kept", "kept", "added", "kept"]
    assert kinds(draft, [draft[0], "gulls scream all day long", *draft[2:]]) == ["kept", "replaced", "kept", "kept"]
    joined = "the ferry leaves at ten and waits for the nurse who runs"
    assert kinds(draft, [joined, *draft[2:]]) == ["joined", "kept", "kept"]
    assert kinds([joined, *draft[2:]], draft) == ["split", "kept", "kept"]
    assert kinds(draft, [*draft[1:3], draft[0], draft[3]]) == ["moved", "kept", "kept", "moved", "kept"]


def test_a_sentence_that_is_cut_is_not_said_to_be_joined():
    draft = ["the ferry leaves at ten past seven", "the town looks like something forgotten for a moment"]
    assert kinds(draft, ["the old white ferry leaves at ten past seven"]) == ["kept", "deleted"]


def test_words_are_compared_without_case_and_punctuation():
    assert list_plain_words("“Well,” HE said – at 3.50!") == ["well", "he", "said", "at", "3.50"]
