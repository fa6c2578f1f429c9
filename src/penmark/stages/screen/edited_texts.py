"""An edited text and its draft: whether the record says what the two texts give.

*Reads* and *writes* nothing. Sentences are held against the record by the splitters that made it; where these are not
installed, or in another version, that is told.
"""

from __future__ import annotations

from collections.abc import Iterator

from penmark.errors import ServiceError
from penmark.stages.screen.record_pass import Edit
from penmark.text import MOST_EDITED, count_changed_words, list_words, sentences


def compare_edit(edit: Edit, draft: str, text: str) -> Iterator[tuple[str, str]]:
    """Rule and fact of each thing that the record of an edit says otherwise, or that was not looked at."""
    before, after = list_words(draft), list_words(text)
    if max(len(before), len(after)) > MOST_EDITED:
        yield "wrong-record", f"draft or text has more than {MOST_EDITED} words"
        return
    measured = count_changed_words(before, after), len(before)
    if measured != (edit.words_changed, edit.draft_words):
        message = "{} of {} words changed is recorded; the texts give {} of {}"
        yield "wrong-record", message.format(edit.words_changed, edit.draft_words, *measured)
    if edit.sentences is None:
        return
    try:
        here = sentences.list_splitter_versions()
    except ServiceError as error:
        yield "not-screened", f"its sentences: {error.faults[0].fact}"
        return
    if here != edit.sentences.splitters:
        told = " and ".join(edit.sentences.splitters)
        yield "not-screened", f"its sentences were found by {told}; installed are {' and '.join(here)}"
        return
    found = sentences.align_edit(draft, text, edit.language)
    links = [(link.kind, link.draft, link.text) for link in edit.sentences.links]
    if (found.verdict, found.because, found.links) != (edit.sentences.verdict, edit.sentences.because, links):
        other = found.verdict if found.verdict != edit.sentences.verdict else f"{found.verdict} by other links"
        yield "wrong-record", f"the record says that its sentences are {edit.sentences.verdict}; the texts give {other}"
