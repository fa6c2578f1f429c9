"""Patterns in words: no user meets a regular expression."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from penmark import records, study
from penmark.records import patterns


@pytest.mark.parametrize("pattern", patterns.WORDS)
def test_every_pattern_has_words_without_signs_of_a_regular_expression(pattern: str) -> None:
    assert not set("^$[]{}\\*+") & set(patterns.WORDS[pattern])


@pytest.mark.parametrize(
    ("kind", "given", "fact"),
    [
        (records.Date, "31.12.2021", "is not a date (YYYY-MM-DD)"),
        (records.Time, "yesterday", "is not a time in UTC (2026-11-30T12:00:00Z)"),
        (records.Digest, "AB", "is not a SHA-256 digest (64 lower-case hexadecimal digits)"),
        (records.DocumentId, "a/b", "is not an id of 1 to 128 characters without slash,"),
        (records.DetectorName, "A b", "is not a name of lower-case letters"),
    ],
)
def test_faults_of_records_are_told_in_words(kind: object, given: str, fact: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(given)
    [told] = study.make_validation_faults("t.csv:2", caught.value.errors(), "Correct it.").faults
    assert told.fact.startswith(fact)
    assert told.remedy == "Correct it."
