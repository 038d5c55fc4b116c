"""Markdown: what others wrote is shown to the letter, whatever it would mean, and the whole stays within bounds."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

import pytest
from golden_files import golden
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from told_runs import HOSTILE_RUN, RULES, feed, mixed, run_of, support, told_by

from jurat.report.record import RunStatus
from jurat.report.reporters import ReportOptions, make_reporter
from jurat.report.reporters.foreign import markdown, shown
from jurat.report.reporters.markdown import MOST_BYTES
from jurat.vocabulary import Status
from run_records import case, check, run, trial, verdict

RENDER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name != "style"]

    def handle_data(self, data: str) -> None:
        self.text += data


OURS = {
    *("h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "details", "summary", "code", "ul", "li"),
    *("sub", "pre"),
}


def test_the_mixed_run_is_told_as_it_was_judged_good() -> None:
    text = told_by("markdown", mixed(), rules=RULES)

    assert text == golden("mixed.md", text)


def test_a_run_of_a_team_is_told_as_it_was_judged_good() -> None:
    text = told_by("markdown", support(), rules=RULES, include_output=True)

    assert text == golden("support.md", text)


def test_a_run_that_passed_has_no_cases_to_tell() -> None:
    text = told_by("markdown", (run(), [(case(), [trial(check())])]))

    assert text.startswith("## capital-cities: ✅ passed\n\nThe one case passed.\n")
    assert "did not pass" not in text


def test_an_interrupted_run_says_nothing_of_success() -> None:
    record = run(status=RunStatus.INTERRUPTED, finished_at=None)

    assert "passed\n" not in told_by("markdown", (record, [(case(), [])])).splitlines()[0]


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(3))",
        "![x](http://e.example/y.png)",
        "<img src=x onerror=alert(1)>",
        "a | b",
        "`code` **bold** _it_ ~~no~~",
        "@team #12 see https://e.example www.e.example a@b.example",
        "&lt; &amp; &#64;",
        r"\*not\* $x$ :smile: {{ site }}",
        "- item\n1. one\n# title\n> quote\n    code\n---\n***",
        "<!-- hidden -->",
    ],
)
def test_text_is_shown_to_the_letter(text: str) -> None:
    rendered = RENDER.render(f"| a |\n| --- |\n| {markdown(text)} |\n")
    page = Page(rendered)

    assert page.text.split("\n", 5)[5].strip() == " ".join(text.split()), rendered
    assert page.tags <= OURS


@pytest.mark.parametrize("text", ["@team", "#12", "me@team"])
def test_mentions_and_references_are_parted_from_their_names(text: str) -> None:
    assert re.search(r"[@#]\w", markdown(text)) is None


def test_hostile_text_makes_no_tag_and_no_link() -> None:
    page = Page(RENDER.render(told_by("markdown", HOSTILE_RUN, include_output=True)))

    assert page.tags <= OURS
    assert "<img src=x" in page.text


@given(text=st.text(max_size=60))
def test_whatever_stands_in_a_run_there_are_our_tags_alone_and_the_text(text: str) -> None:
    page = Page(RENDER.render(told_by("markdown", run_of(text), include_output=True)))

    assert page.tags <= OURS
    assert " ".join(shown(text).split()) in " ".join(page.text.split())


def test_the_whole_is_within_what_github_shows_and_cases_left_out_are_counted() -> None:
    long = verdict(5, reason="[@" * 2_000, quotes=["<&" * 400] * 8)
    rows = [(case(index), [trial(*[long] * 12, case_index=index)]) for index in range(60)]
    text = told_by("markdown", (run(cases=60), rows))

    assert len(text.encode()) <= MOST_BYTES
    left_out = re.search(r"(\d+) more cases did not pass: `jurat show", text)
    assert left_out is not None
    assert int(left_out[1]) + text.count("<details>") == 60


def test_answers_are_told_only_where_they_were_asked_for() -> None:
    rows = [(case(), [trial(check(status=Status.FAIL), output="SECRET\n\n# title")])]

    assert "SECRET" not in told_by("markdown", (run(), rows))
    assert "<pre>SECRET\n\n# title</pre>" in told_by("markdown", (run(), rows), include_output=True)


@pytest.mark.parametrize("room", [0, 3_000, 7_000, 50_000, 300_000])
def test_several_runs_keep_within_what_the_sink_takes_and_none_goes_unmentioned(room: int) -> None:
    sink = io.BytesIO()
    reporter = make_reporter("markdown", sink, ReportOptions(room=room, runs=60))
    for _ in range(60):
        feed(reporter, *support())
    reporter.close()
    text = sink.getvalue().decode()

    told = text.count("## support-assistant: ")
    untold = re.findall(r"(\d+) more runs?: no room is left here", text)
    assert len(sink.getvalue()) <= max(room, 100)
    assert told + int(untold[0] if untold else 0) == 60
    assert (told > 0) is (room > 6_000)
