"""The catalogues of `harness/site/locale`: everything that is said is in each of them, with the same placeholders, and nothing else is."""

from __future__ import annotations

import string
from collections import Counter
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from harness.site import text
from tests.site.strings import everything_said

LOCALE = Path(text.__file__).resolve().parent / "locale"
TRANSLATED = [language for language in text.LANGUAGES if language != "en"]
SAID = everything_said()

pytestmark = pytest.mark.parametrize("language", TRANSLATED)


def catalogue(language: str) -> Catalog:
    with (LOCALE / f"{language}.po").open("rb") as file:
        return read_po(file, abort_invalid=True)


def placeholders(said: str) -> Counter[str]:
    return Counter(name for _, name, _, _ in string.Formatter().parse(said) if name is not None)


def test_everything_that_is_said_is_translated(language: str) -> None:
    words = text.words(language)
    for said in SAID:
        words(said)
    assert sorted(words.missing & set(SAID)) == []


def test_a_translation_has_the_placeholders_of_its_source(language: str) -> None:
    pairs = {str(message.id): str(message.string) for message in catalogue(language) if message.id}
    assert {said: found for said, found in pairs.items() if placeholders(found) != placeholders(said)} == {}


def test_a_catalogue_holds_nothing_that_is_no_longer_said(language: str) -> None:
    found = catalogue(language)
    assert sorted({str(message.id) for message in found if message.id} - set(SAID)) == []
    assert not found.obsolete


def test_a_catalogue_says_what_it_is(language: str) -> None:
    found = catalogue(language)
    assert (found.locale_identifier, found.charset.lower()) == (language, "utf-8")
    assert [str(message.id) for message in found if message.id and message.fuzzy] == []
