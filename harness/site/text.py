"""Words of the generated parts in each language, from gettext catalogues (`locale/<language>.po`)."""

from __future__ import annotations

import functools
from pathlib import Path

LANGUAGES = ("en", "zh", "it", "ru", "ko")
_LOCALE = Path(__file__).resolve().parent / "locale"


class Words:
    """Translates English text into one language; what a catalogue lacks stays English, and `missing` holds it."""

    def __init__(self, language: str, catalogue: dict[str, str]) -> None:
        self.language = language
        self._catalogue = catalogue
        self.missing: set[str] = set()

    def __call__(self, text: str, **values: object) -> str:
        """The text in this language, with `{name}` replaced by `values`."""
        found = text if self.language == "en" else self._catalogue.get(text, "")
        if not found:
            self.missing.add(text)
            found = text
        return found.format(**values) if values else found


@functools.cache
def words(language: str) -> Words:
    """The words of a language. Raises `KeyError` for one the site does not have."""
    if language not in LANGUAGES:
        raise KeyError(language)
    path = _LOCALE / f"{language}.po"
    return Words(language, _read(path) if path.exists() else {})


def _read(path: Path) -> dict[str, str]:
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        catalogue = read_po(file)
    return {str(message.id): str(message.string) for message in catalogue if message.id and message.string and not message.fuzzy}
