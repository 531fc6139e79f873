"""Every page of the built site in a real browser."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from typing import Any

import pytest

from harness.paths import ROOT
from harness.site import prose
from harness.site.text import LANGUAGES

pytestmark = pytest.mark.site
SITE = ROOT / "site"
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
FIRST_PAGE_BYTES = 300_000
AXE_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
# One of each kind: a page of every template and every generated part.
KINDS = ("", "start/", "method/", "lookup/", "bugs/bug02/", "bugs/bug03/", "bugs/bug06/", "checks/", "checks/S401/", "then-and-now/",
         "figures/")


def address(name: str, language: str) -> str:
    """A page's address below the site's root.

    >>> address("bugs/bug03.md", "ko"), address("index.md", "en")
    ('ko/bugs/bug03/', '')
    """
    below = re.sub(r"(^|/)index\.md$", r"\1", name).removesuffix(".md")
    return ("" if language == "en" else f"{language}/") + (below if not below or below.endswith("/") else below + "/")


class Tab:
    """A browser tab that remembers what went wrong in it."""

    def __init__(self, browser: Any, base: str, viewport: dict[str, int], **options: Any) -> None:
        self.base, self.errors, self.foreign = base, [], []
        self.context = browser.new_context(viewport=viewport, **options)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._requested)

    def _requested(self, request: Any) -> None:
        if not request.url.startswith((self.base, "data:", "blob:")):
            self.foreign.append(request.url)

    def open(self, path: str) -> Any:
        self.page.goto(self.base + path)
        return self.page


@pytest.fixture
def tab(chromium: Any, base: str) -> Iterator[Tab]:
    found = Tab(chromium, base, DESK)
    yield found
    found.context.close()
    assert not found.errors
    assert not found.foreign


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_loads_and_fits_a_phone(chromium: Any, base: str, language: str) -> None:
    phone = Tab(chromium, base, PHONE)
    wide, wrong_language = [], []
    for name in prose.names():
        page = phone.open(address(name, language))
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            wide.append(name)
        if page.evaluate("document.documentElement.lang.split('-')[0]") != language:
            wrong_language.append(name)
        assert page.locator("h1").count() == 1, name
    phone.context.close()
    assert not wide
    assert not wrong_language
    assert not phone.errors
    assert not phone.foreign


# Colours are the same in every language.
@pytest.mark.parametrize(("language", "scheme"), [*((language, "light") for language in LANGUAGES), ("en", "dark")])
def test_accessible(chromium: Any, base: str, language: str, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = Tab(chromium, base, DESK, color_scheme=scheme)
    serious = []
    for kind in KINDS:
        page = found.open(("" if language == "en" else f"{language}/") + kind)
        result = Axe().run(page, options={"runOnly": AXE_RULES["runOnly"]})
        serious += [f"{kind}: {one['id']} {one['nodes'][0]['html'][:120]}" for one in result.response["violations"]
                    if one["impact"] in ("serious", "critical")]
    found.context.close()
    assert not serious, "\n".join(serious)


def test_switching_the_language_keeps_the_page(tab: Tab) -> None:
    page = tab.open("bugs/bug03/")
    for language in ("ko", "zh", "ru", "it", "en"):
        page.locator(".md-header .md-select button, .md-header__option .md-select button").first.hover()
        page.locator(f".md-select__link[hreflang='{language}']").first.click()
        page.wait_for_url(f"**{address('bugs/bug03.md', language)}")
        assert page.evaluate("document.documentElement.lang").startswith(language)


def test_tabs_show_one_framework_and_are_linked(tab: Tab) -> None:
    page = tab.open("bugs/bug03/")
    page.locator(".tabbed-labels label", has_text="PyTorch").first.click()
    chosen = page.eval_on_selector_all(".tabbed-set > input:checked",
                                       "nodes => nodes.map(n => document.querySelector(`label[for='${n.id}']`).textContent.trim())")
    assert chosen
    assert set(chosen) == {"PyTorch"}


def test_dark_mode_stays(tab: Tab) -> None:
    page = tab.open("bugs/bug03/")
    before = page.evaluate("document.body.getAttribute('data-md-color-scheme')")
    page.locator("label[for^='__palette'], .md-header__option label").locator("visible=true").first.click()
    after = page.evaluate("document.body.getAttribute('data-md-color-scheme')")
    assert {before, after} == {"default", "slate"}
    page = tab.open("method/")
    assert page.evaluate("document.body.getAttribute('data-md-color-scheme')") == after


def test_hints_are_folded_until_opened(tab: Tab) -> None:
    page = tab.open("it/bugs/bug04/")
    hint = page.locator("details.question").first
    assert hint.get_attribute("open") is None
    hint.locator("summary").click()
    assert hint.locator("p").first.is_visible()


@pytest.mark.parametrize(("language", "term", "target"), [
    ("zh", "学习率", "zh/bugs/bug03/"), ("ko", "학습률", "ko/bugs/bug03/"), ("ru", "градиент", "ru/bugs/bug01/"),
    ("it", "gradienti", "it/"), ("en", "learning rate", "bugs/bug03/")])
def test_search_finds_the_languages_own_terms(tab: Tab, language: str, term: str, target: str) -> None:
    page = tab.open("" if language == "en" else f"{language}/")
    page.locator("input.md-search__input").click()
    page.keyboard.insert_text(term)
    page.keyboard.press("End")  # the theme listens to keys
    page.wait_for_selector(".md-search-result__item")
    found = page.eval_on_selector_all(".md-search-result__link", "links => links.map(link => link.href)")
    own = [link for link in found if link.startswith(tab.base + target)]
    assert own, found[:10]


@pytest.mark.parametrize(("language", "message", "bug"), [
    ("en", "ValueError: expected sequence of length 31 at dim 1 (got 40)", "bug04"),
    ("zh", "TypeError: only size-1 arrays can be converted to Python scalars", "bug07"),
    ("ko", "ValueError: No gradients provided for any variable: ['embeddings/weight:0'].", "bug01"),
    ("ru", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "bug06"),
    ("it", "ValueError: You must specify exactly one of input_ids or inputs_embeds", "bug05")])
def test_error_lookup(tab: Tab, language: str, message: str, bug: str) -> None:
    page = tab.open(("" if language == "en" else f"{language}/") + "lookup/")
    page.locator(".zoo-lookup textarea").fill("Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n" + message)
    link = page.locator(f".zoo-lookup a[href*='{bug}']").first
    link.wait_for()
    link.click()
    page.wait_for_url(f"**/{bug}/")
    assert page.evaluate("document.documentElement.lang").startswith(language)


def test_error_lookup_says_when_nothing_matches(tab: Tab) -> None:
    page = tab.open("lookup/")
    page.locator(".zoo-lookup textarea").fill("the weather is nice today")
    page.wait_for_timeout(500)
    assert page.locator(".zoo-lookup [aria-live] a[href*='bug0']").count() == 0


def test_first_page_is_light(chromium: Any, base: str) -> None:
    found = Tab(chromium, base, DESK)
    sizes: dict[str, int] = {}
    found.page.on("response", lambda response: sizes.update({response.url: len(gzip.compress(response.body()))}))
    found.open("").wait_for_load_state("networkidle")
    found.context.close()
    assert any(url.endswith("search_index.json") for url in sizes)
    assert sum(sizes.values()) < FIRST_PAGE_BYTES, sizes


def test_nothing_there(chromium: Any, base: str) -> None:
    found = Tab(chromium, base, DESK)
    page = found.open("no/such/page/")
    assert page.locator("h1").inner_text() == "404"
    assert page.locator("a[href$='/ko/']").count() >= 1
    found.context.close()


def test_downloads_arrive(tab: Tab) -> None:
    page = tab.open("ko/bugs/bug03/")
    with page.expect_download() as waiting:
        page.locator("a[download]").first.click()
    assert waiting.value.suggested_filename.endswith(".ipynb")
