"""The page in a browser: it sorts, filters and opens, by mouse and by key; it asks nobody and runs no other script."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright
from told_runs import HOSTILE_RUN, RULES, mixed, support, told_by

pytestmark = pytest.mark.browser

_QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium as the system has it."""
    program = shutil.which(os.environ.get("JURAT_TEST_CHROMIUM", "chromium"))
    if program is None and os.environ.get("CI") != "true":
        pytest.skip("there is no chromium; JURAT_TEST_CHROMIUM may name one")
    assert program is not None, "expected chromium, found none; install it or name it in JURAT_TEST_CHROMIUM"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=[*_QUIET])
        yield opened
        opened.close()


class Opened:
    """A page that was opened from its file, and all that it said and asked for."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.asked: list[str] = []
        self.said: list[str] = []
        self.refused: list[str] = []
        page.on("requestfailed", lambda request: self.refused.append(f"{request.url}: {request.failure}"))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", self._dialog)
        page.goto(file.as_uri())

    def _dialog(self, dialog: Dialog) -> None:
        self.said.append(dialog.message)
        dialog.dismiss()

    @property
    def names(self) -> list[str]:
        """The cases that are shown, in their order."""
        return self.page.locator(".case:not([hidden]) .name > bdi").all_text_contents()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    file = tmp_path / "report.html"
    file.write_text(told_by("html", support(), rules=RULES, include_output=True), "utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    yield Opened(context.new_page(), file)
    context.close()


ORDER = [one.name for one, _ in support()[1]]


def test_it_opens_offline_and_says_nothing_on_the_console(opened: Opened) -> None:
    assert [address.partition(":")[0] for address in opened.asked] == ["file"]
    assert opened.said == []
    assert opened.page.title() == "support-assistant: failed"


def test_cases_are_sorted_up_down_and_back(opened: Opened) -> None:
    head = opened.page.get_by_role("button", name="Lowest score")
    head.click()
    up = opened.names
    head.click()
    down = opened.names
    head.click()

    assert up[:3] == ["refund-window", "warranty", "tracking"]
    assert down[:2] == ["opening-hours", "日本への配送"]
    assert up[-2:] == down[-2:] == ["loyalty", "delete-account"]
    assert opened.names == ORDER


def test_an_unknown_cost_is_neither_the_lowest_nor_the_highest(opened: Opened) -> None:
    head = opened.page.get_by_role("button", name="Cost")
    for _ in range(2):
        head.click()
        assert opened.names[-1] == "vat-invoice"


def test_cases_are_filtered_by_words_anywhere_in_them(opened: Opened) -> None:
    search = opened.page.get_by_role("searchbox")
    search.fill("Returns LIFE")
    found, told = opened.names, opened.page.get_by_role("status").text_content()
    search.fill("nothing of that kind")

    assert found == ["warranty"]
    assert told == "1 of 10 cases"
    assert opened.names == []
    assert opened.page.get_by_text("No case fits.").is_visible()


def test_cases_are_filtered_by_status(opened: Opened) -> None:
    opened.page.get_by_role("button", name=re.compile("^error")).click()
    errors = opened.names
    opened.page.get_by_role("button", name=re.compile("^fail")).click()

    assert errors == ["loyalty", "delete-account"]
    assert opened.names == ["refund-window", "warranty", "tracking", "loyalty", "delete-account"]


def test_a_case_opens_and_its_quote_leads_to_where_it_stands(opened: Opened) -> None:
    case = opened.page.locator(".case").nth(0)
    assert not case.locator(".inside").is_visible()
    case.locator("summary").click()
    case.get_by_role("link", name="output").click()

    mark = opened.page.locator("mark:target")
    assert mark.text_content() == "60 days, no questions asked"
    assert mark.is_visible()


def test_all_cases_that_are_shown_open_and_close_together(opened: Opened) -> None:
    opened.page.get_by_role("searchbox").fill("orders")
    opened.page.get_by_role("button", name="Expand all").click()
    assert opened.page.locator(".case[open]").count() == len(opened.names) == 6

    opened.page.get_by_role("button", name="Collapse all").click()
    assert opened.page.locator(".case[open]").count() == 0


def test_the_keyboard_is_enough(opened: Opened) -> None:
    keyboard = opened.page.keyboard
    keyboard.press("/")
    keyboard.type("warranty")
    assert opened.names == ["warranty"]

    keyboard.press("Escape")
    assert opened.names == ORDER

    for key in ("j", "j", "k", "Enter"):
        keyboard.press(key)
    assert opened.page.locator(".case[open] .name > bdi").all_text_contents() == ["refund-window"]


def test_a_link_into_a_case_opens_it(opened: Opened) -> None:
    opened.page.goto(f"{opened.page.url}#r0c4")

    assert opened.page.locator(".case[open] .name > bdi").all_text_contents() == ["warranty"]


def test_light_and_dark_follow_the_system_until_somebody_chooses(opened: Opened) -> None:
    def paper() -> str:
        return str(opened.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    opened.page.emulate_media(color_scheme="dark")
    dark = paper()
    opened.page.emulate_media(color_scheme="light")
    light = paper()
    opened.page.get_by_role("button", name="Dark").click()

    assert light != dark
    assert paper() == dark


@pytest.mark.parametrize("width", [320, 390, 768, 1280, 1920])
def test_no_width_makes_the_page_scroll_sideways(opened: Opened, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 800})
    opened.page.get_by_role("button", name="Expand all").click()

    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


SCROLLED = """[...document.querySelectorAll("*")].filter(one => one.scrollWidth > one.clientWidth + 1
  && ["auto", "scroll"].includes(getComputedStyle(one).overflowX)).map(one => one.className)"""


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_no_table_scrolls_and_each_cell_is_told_by_its_head(opened: Opened, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 800})
    cell = opened.page.locator(".sheet td", has_text="at least 90 % are needed")

    assert opened.page.evaluate(SCROLLED) == []
    assert cell.evaluate("one => getComputedStyle(one, '::before').content") == '"Why"'
    assert opened.page.get_by_role("columnheader", name="Mean score").count() == 1


def test_a_script_in_what_others_wrote_does_not_run(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(told_by("html", HOSTILE_RUN, mixed(), include_output=True), "utf-8")
    context = browser.new_context()
    opened = Opened(context.new_page(), file)
    opened.page.get_by_role("button", name="Expand all").first.click()

    assert "owned" not in opened.page.title().replace("document.title='owned'", "")
    assert len(opened.asked) == 1
    assert opened.said == []
    assert opened.page.locator("img").count() == 0
    assert opened.page.locator(".case").count() == 8
    context.close()


def test_what_gets_into_the_page_by_other_means_does_not_run_either(opened: Opened) -> None:
    opened.page.evaluate(
        """() => {
          document.body.insertAdjacentHTML("beforeend", "<img src='http://127.0.0.1:9/x' onerror='document.title=1'>");
          const script = document.createElement("script");
          script.textContent = "document.title = 'owned'";
          document.body.append(script);
        }"""
    )

    assert opened.page.title() == "support-assistant: failed"
    assert opened.refused == ["http://127.0.0.1:9/x: csp"]
    assert any("Content Security Policy" in said for said in opened.said)


def test_without_its_script_the_page_still_opens_cases(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(told_by("html", support()), "utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    page.locator(".case summary").first.click()

    assert page.locator(".case .inside").first.is_visible()
    assert not page.locator(".tools").first.is_visible()
    context.close()
