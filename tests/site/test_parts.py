"""The generated parts, without a browser and without an execution."""

from __future__ import annotations

import doctest
import json
import math
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_output

from harness.catalog.load import everything, find
from harness.site import curve, generate, pages, prose, render, search, subtitles
from harness.site.text import LANGUAGES, words

NAN = float("nan")


@pytest.mark.parametrize("module", [curve, search, subtitles])
def test_examples_in_docstrings(module) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("broken", "fixed"), [
    ([1.1, 1.2, 1.0], [1.1, 0.5, 0.2]), ([NAN] * 3, [1.1, 0.5]), ([], [1.0, 0.9]), ([2.0, None], [])])
def test_a_curve_is_a_whole_figure_with_words(broken, fixed, language: str) -> None:
    made = curve.svg(broken, fixed, math.log(3), 3, words(language))
    picture = ET.fromstring(made)[0]
    assert picture.attrib["role"] == "img"
    assert picture.attrib["aria-label"] == curve.describe(broken, fixed, math.log(3), 3, words(language))
    assert len(picture.findall("polyline")) == sum(bool(curve.smoothed(line)) for line in (broken, fixed))
    assert picture.findall("line[@class='chance']")
    assert bool(picture.findall("path[@class='broken']")) == any(loss is not None and math.isnan(loss) for loss in broken)


def test_no_losses_no_curve() -> None:
    assert curve.svg([], [NAN], math.log(3), 3, words("en")) == ""


def test_cells_after_an_error_are_said_to_be_not_reached() -> None:
    error = new_output("error", ename="ValueError", evalue="no", traceback=["\x1b[31mValueError\x1b[0m: no"])
    log = new_output("stream", name="stderr", text="a library's log")
    cells = [new_code_cell("1", outputs=[new_output("stream", name="stdout", text="one\n"), log]), new_code_cell("2", outputs=[error]),
             new_code_cell("3")]
    made = render.notebook(cells, words("en"))
    assert "ValueError: no" in made
    assert "\x1b" not in made
    assert "a library's log" not in made
    assert made.count("not reached") == 1
    assert made.index("not reached") > made.index("ValueError")


def test_no_text_can_close_its_own_fence() -> None:
    assert render.fenced("```\nx\n```", "text").startswith("````text\n```\nx\n```\n````")


def test_tables_survive_bars() -> None:
    assert "a \\| b" in render.table(["x"], [["a | b"]])


@pytest.mark.parametrize("language", LANGUAGES)
def test_parameters_are_all_there(language: str) -> None:
    for bug in everything():
        made = render.parameters(bug, words(language))
        assert all(f"`{name}`" in made for name in bug.defaults(bug.frameworks[0], "broken"))


def test_a_lagging_page_says_so_beneath_its_heading() -> None:
    page = prose.Page("bugs/bug03.md", "it", "# Titolo\n\nTesto.\n", "of another day")
    made = generate._with_banner(page, page.text)
    assert made.startswith("# Titolo\n\n!!! warning")
    assert made.endswith("Testo.\n")
    current = prose.Page("bugs/bug03.md", "it", page.text, prose.source_hash("bugs/bug03.md"))
    assert generate._with_banner(current, page.text) == page.text


def test_an_unknown_mark_is_an_error() -> None:
    page = prose.Page("start.md", "en", "# T\n\n<!-- zoo:nonsense -->\n", "")
    with pytest.raises(pages.SiteError, match="zoo:nonsense"):
        pages.assemble(page, pages.Site((), {}), words("en"))


@pytest.mark.parametrize(("language", "end"), [("en", "."), ("zh", "。")])
def test_checks_of_a_stage(language: str, end: str) -> None:
    page = prose.Page("method.md", language, "Checks:\n<!-- zoo:checks-of-step -->\n", "")
    made = pages.assemble(page, pages.Site((), {}), words(language))
    codes = sorted(code for code, stage in pages.check_stages().items() if stage == "step")
    assert [part.partition("]")[0] for part in made.split("[")[1:]] == codes
    assert made.rstrip().endswith(f"[{codes[-1]}](checks/{codes[-1]}.md){end}")


def test_figures_hold_every_script() -> None:
    found = json.loads(pages.FIGURES.read_text(encoding="utf-8"))["reproduction"]
    wanted = {f"{bug.id} {framework} {variant}" for bug in everything() for framework in bug.frameworks for variant in ("broken", "fixed")}
    assert set(found) == wanted


def test_a_search_index_is_divided_by_language(tmp_path) -> None:
    docs = [{"location": "", "title": "a", "text": "t"}, {"location": "ko/bugs/x/", "title": "b", "text": "t"},
            {"location": "kolibri/", "title": "c", "text": "t"}]
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search_index.json").write_text(json.dumps({"config": {"lang": ["en", "ko"]}, "docs": docs}))
    search.divide(tmp_path)
    english = json.loads((tmp_path / "search" / "search_index.json").read_text())
    korean = json.loads((tmp_path / "ko" / "search" / "search_index.json").read_text())
    assert [entry["location"] for entry in english["docs"]] == ["", "kolibri/"]
    assert [entry["location"] for entry in korean["docs"]] == ["bugs/x/"]
    assert korean["config"]["lang"] == ["en", "ko"]


def test_the_command_line_of_a_page_is_the_harness() -> None:
    assert "python -m harness run bug04 --framework tensorflow" in render.command(find("bug04"), words("en"))

def test_a_site_that_cannot_be_built_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    exceptions = pytest.importorskip("mkdocs.exceptions")
    from harness.errors import ChildDied
    from harness.site import hook

    def died(_say: object) -> None:
        raise ChildDied("bug08 broken (torch) was ended by SIGABRT at step 0")

    monkeypatch.setattr(hook, "generate", died)
    with pytest.raises(exceptions.PluginError, match="was ended by SIGABRT"):
        hook.on_config(SimpleNamespace(plugins={}, docs_dir=""))
