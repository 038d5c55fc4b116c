"""The page: one file that asks nobody for anything, with our elements alone, whatever stands in the run."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest
from golden_files import golden
from hypothesis import given
from hypothesis import strategies as st
from told_runs import HOSTILE, HOSTILE_RUN, RULES, mixed, run_of, support, told_by

from jurat.report.record import RunStatus
from jurat.report.reporters.foreign import shown
from jurat.report.reporters.html_talk import marked_html
from jurat.vocabulary import Status
from run_records import case, check, run, skipped, spent, trial, verdict

_ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "div", "header", "main", "section", "footer", "script", "svg"),
    *("rect", "circle", "h1", "h2", "h3", "h4", "p", "span", "bdi", "b", "a", "button", "input", "table", "thead"),
    *("tbody", "tr", "th", "td", "details", "summary", "blockquote", "cite", "pre", "mark", "ul", "li", "dl", "dt"),
    *("dd", "kbd"),
}
_VOID = {"meta", "input", "rect", "circle"}


class Page(HTMLParser):
    """A page as a browser would read it: what it consists of, and what it would do."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.held: dict[str, list[str]] = {}
        self.comments: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)
            self.held.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.held[tag][-1] += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def sound(html: str) -> Page:
    """The page, after it was found to be of our making through and through."""
    page = Page(html)
    assert page.open == []
    assert page.comments == []
    assert {tag for tag, _ in page.elements} <= _ELEMENTS
    assert len(page.of("script")) == len(page.of("style")) == 1
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "src", "srcdoc")]
        assert (attributes.get("href") or "#").startswith("#")
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(names) == len(set(names))
    return page


def bare(html: str) -> str:
    """The page without its style, its script and the hashes of the two."""
    text = re.sub(r"(?s)(?<=<style>).*(?=</style>)|(?<=<script>).*(?=</script>)", "…", html)
    return re.sub(r"sha256-[A-Za-z0-9+/=]+", "sha256-…", text)


def test_the_mixed_run_is_told_as_it_was_judged_good() -> None:
    text = bare(told_by("html", mixed(), rules=RULES))

    assert text == golden("mixed.html", text)


def test_a_run_with_its_answers_is_told_as_it_was_judged_good() -> None:
    text = bare(told_by("html", support(), rules=RULES, include_output=True))

    assert text == golden("support.html", text)


def test_the_policy_admits_the_pages_own_style_and_script_and_nothing_else() -> None:
    page = sound(told_by("html", support()))
    (policy,) = [
        meta["content"] or "" for meta in page.of("meta") if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    hashes = [
        f"'sha256-{b64encode(sha256(page.held[tag][0].encode()).digest()).decode()}'" for tag in ("style", "script")
    ]

    assert policy == (
        f"default-src 'none'; style-src {hashes[0]}; script-src {hashes[1]}; base-uri 'none'; form-action 'none'"
    )


def test_the_page_names_no_address() -> None:
    assert re.findall(r"(?:https?:)?//[a-z]", re.sub(r"https://api\.example", "", told_by("html", mixed()))) == []


def test_the_script_holds_no_data() -> None:
    scripts = {Page(told_by("html", one)).held["script"][0] for one in (mixed(), support(), HOSTILE_RUN)}

    assert len(scripts) == 1


def test_several_runs_are_several_sections() -> None:
    page = sound(told_by("html", mixed(), support()))

    assert [section["class"] for section in page.of("section")] == ["run", "run"]


def test_hostile_text_is_text_in_every_place() -> None:
    page = sound(told_by("html", HOSTILE_RUN, include_output=True))
    text = page.held["main"][0]

    assert shown(HOSTILE) in text
    assert text.count("<img src=x") >= 12
    assert "\u202e" not in text


def test_the_name_of_a_rule_is_text_too() -> None:
    rules = [{"type": "total_cost_usd", "maximum": 0, "name": "<img src=x onerror=alert(1)>"}]

    page = sound(told_by("html", (run(), [(case(), [trial(check())])]), rules=rules))

    assert "<img src=x onerror=alert(1)>" in page.held["main"][0]


def test_a_conversation_that_no_judge_saw_is_text_too() -> None:
    said = HOSTILE.replace("\ud800", "")
    asked: dict[str, Any] = {"output": said, "messages": ({"role": "user", "content": said},)}

    page = sound(told_by("html", (run(), [(case(), [trial(**asked)])]), include_output=True))

    assert page.held["main"][0].count(shown(said)) == 2


@given(text=st.text(max_size=60))
def test_whatever_stands_in_a_run_the_page_is_of_our_making(text: str) -> None:
    page = sound(told_by("html", run_of(text), include_output=True))

    assert shown(text) in page.held["main"][0]


def test_every_text_of_others_is_isolated_in_its_direction() -> None:
    page = told_by("html", (run(), [(case(name="שלום"), [trial(verdict(5, reason="مرحبا", quotes=["مرحبا"]))])]))

    assert "<bdi>שלום</bdi>" in page
    assert "<bdi>مرحبا</bdi>" in page
    assert "<bdi>“مرحبا”</bdi>" in page


# --- quotes --------------------------------------------------------------------------------------------------------


def test_a_quote_is_marked_where_it_stands_and_led_to() -> None:
    one = trial(verdict(5, quotes=["is Lis"]), output="It is Lisbon.", rendered_input="Where?")
    page = told_by("html", (run(), [(case(), [one])]), include_output=True)

    assert '<bdi>It <mark id="r0c0t0e1q3">is Lis</mark>bon.</bdi>' in page
    assert '<a href="#r0c0t0e1q3"><bdi>output</bdi></a>' in page


def test_a_quote_of_a_document_is_shown_with_what_stands_around_it() -> None:
    document = "a" * 5_000 + "Returns within 30 days." + "b" * 5_000
    judged = verdict(5)
    judged.result["evidence"].append({"message_index": 2, "quote": "within 30 days"})
    one = trial(judged, output="Sixty days.", rendered_input="How long?")
    page = told_by("html", (run(), [(case(), [one])]), include_output=True, document=document)

    assert '<mark id="r0c0t0e2q5008">within 30 days</mark>' in page
    assert "a" * 200 in page
    assert "a" * 300 not in page


@pytest.mark.parametrize(
    ("text", "quotes", "marked"),
    [
        ("one two three", ["two"], "one <mark>two</mark> three"),
        ("one two three", ["one two", "two three"], "<mark>one two</mark><mark> three</mark>"),
        ("a<b", ["<"], "a<mark>&lt;</mark>b"),
        ("abc", ["x"], "abc"),
        ("abc", ["abc", "b"], "<mark>abc</mark>"),
    ],
)
def test_marks(text: str, quotes: list[str], marked: str) -> None:
    names = {quote: f"q{number}" for number, quote in enumerate(quotes)}

    assert re.sub(r' id="q\d"', "", marked_html(text, names)) == marked


def test_answers_are_told_only_where_they_were_asked_for() -> None:
    rows = [(case(), [trial(check(), output="SECRET-OUTPUT", rendered_input="SECRET-INPUT")])]

    assert "SECRET" not in told_by("html", (run(), rows))
    assert told_by("html", (run(), rows), include_output=True).count("SECRET") == 2


# --- what is told --------------------------------------------------------------------------------------------------


def test_an_unknown_cost_is_unknown_and_never_zero() -> None:
    page = told_by("html", (run(), [(case(), [trial(verdict(90, spending=spent(None)), spending=spent(None))])]))

    assert '<div class="big">unknown</div>' in page
    assert 'data-cost=""' in page
    assert "$0" not in page


@pytest.mark.parametrize(
    "assessments", [[], [check(status=Status.UNVERIFIED)], [verdict(error="timeout")], [skipped()]]
)
def test_no_word_of_success_where_nothing_was_decided(assessments: list[object]) -> None:
    text = sound(told_by("html", (run(), [(case(), [trial(*assessments)])]))).held["main"][0]  # type: ignore[arg-type]

    assert "undecided" in text
    assert not re.search(
        r"\bpass(ed)?\b(?! rate)", text.replace("Cases that passed", "").replace("had they passed", "")
    )


def test_an_interrupted_run_says_so() -> None:
    record = run(status=RunStatus.INTERRUPTED, finished_at=None)
    text = sound(told_by("html", (record, [(case(), [])]))).held["main"][0]

    assert "interrupted" in text
    assert "The gate is decided when the run is complete." in text


def test_a_run_without_cases_has_a_page_too() -> None:
    assert "There are no cases." in sound(told_by("html", (run(cases=0), []))).held["main"][0]
