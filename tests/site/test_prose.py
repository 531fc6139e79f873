"""The prose pages: every language whole, in step with its English source, and of the same shape."""

from __future__ import annotations

import itertools
import re

import pytest

from harness.checks.base import all_checks
from harness.site import prose, subtitles
from harness.site.pages import _OF_A_BUG, _OF_THE_SITE
from harness.site.text import LANGUAGES

PAGES = prose.names()
TRANSLATIONS = [(name, language) for name in PAGES for language in LANGUAGES[1:]]
FENCE = re.compile(r"^( *)(`{3,})(\w*).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)]+)\)")
CHECK_HEADINGS = 5


def test_there_are_pages_and_languages() -> None:
    assert len(PAGES) > 60
    assert not prose.strays()


@pytest.mark.parametrize(("name", "language"), TRANSLATIONS)
def test_translation_is_there_and_in_step(name: str, language: str) -> None:
    assert prose.states()[name, language] == "current"


@pytest.mark.parametrize(("name", "language"), TRANSLATIONS)
def test_translation_has_the_shape_of_its_source(name: str, language: str) -> None:
    source, page = prose.read(name, "en"), prose.read(name, language)
    assert source
    assert page
    assert [found["name"] for found in prose.MARK.finditer(page.text)] == [found["name"] for found in prose.MARK.finditer(source.text)]
    assert re.findall(r"^#+ ", page.text, re.MULTILINE) == re.findall(r"^#+ ", source.text, re.MULTILINE)
    assert [found[3] for found in FENCE.finditer(page.text)] == [found[3] for found in FENCE.finditer(source.text)]
    assert sorted(LINK.findall(page.text)) == sorted(LINK.findall(source.text))
    assert len(page.hints) == len(source.hints)
    assert page.text != source.text


@pytest.mark.parametrize("name", PAGES)
def test_every_mark_is_known(name: str) -> None:
    page = prose.read(name, "en")
    assert page
    known = {*_OF_THE_SITE, *(_OF_A_BUG if name.startswith("bugs/") else ())}
    assert {found["name"] for found in prose.MARK.finditer(page.text)} <= known


def test_a_page_of_a_specimen_has_every_part() -> None:
    for name in [name for name in PAGES if name.startswith("bugs/")]:
        page = prose.read(name, "en")
        assert page
        assert [found["name"] for found in prose.MARK.finditer(page.text)] == list(_OF_A_BUG)
        assert len(page.hints) == 3


def test_every_check_has_a_page_and_no_page_is_left_over() -> None:
    codes = {check.code for check in all_checks()}
    assert {name.removeprefix("checks/").removesuffix(".md") for name in PAGES if name.startswith("checks/")} == codes | {"index"}
    for code in codes:
        page = prose.read(f"checks/{code}.md", "en")
        assert page
        assert page.title.startswith(f"{code}: ")
        assert len(re.findall(r"^## ", page.text, re.MULTILINE)) == CHECK_HEADINGS


def test_a_changed_source_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(prose, "DOCS", tmp_path)
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    (tmp_path / "a.it.md").write_text("# A\n\nTesto.\n")
    assert prose.states()["a.md", "it"] == "lagging"
    prose.stamp("a.md", "it")
    assert prose.states()["a.md", "it"] == "current"
    assert prose.states()["a.md", "ko"] == "missing"
    (tmp_path / "a.md").write_text("# A\n\nOther text.\n")
    assert prose.states()["a.md", "it"] == "lagging"
    (tmp_path / "b.ru.md").write_text("# B\n")
    assert prose.strays() == ["b.ru.md"]


@pytest.mark.parametrize("source", sorted(subtitles.FOLDER.glob("bug*.toml")), ids=lambda path: path.stem)
def test_subtitles_are_made_of_their_narration(source) -> None:
    lines = subtitles.read(source)
    for language in LANGUAGES[1:]:
        text = (subtitles.FOLDER / f"{source.stem}.en-{language}.srt").read_text(encoding="utf-8")
        assert text == subtitles.srt(lines, language)
        starts = re.findall(r"^(\S+) --> (\S+)$", text, re.MULTILINE)
        assert len(starts) == len(lines)
        assert all(begun < ended for begun, ended in starts)
        assert all(ended <= begun for (_, ended), (begun, _) in itertools.pairwise(starts))
