"""Foreign text on a terminal is always visible and never obeyed."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jurat.report.plaintext import clipped, columns, harmless, padded, visible, wrapped


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢 😀\ttab\nline", "plain é 漢 😀\ttab\nline"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b31m", r"\x9b31m"),
        ("a\rb\x07\x08\x7f\0", r"a\x0db\x07\x08\x7f\x00"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
        ("\u200b\ufeff\u2028\u061c", r"\u200b\ufeff\u2028\u061c"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        ("  ::error file=a::b\n::stop-commands::x", "  \\x3a:error file=a::b\n\\x3a:stop-commands::x"),
        ("see ##[error]x", r"see ##\x5berror]x"),
        ("std::vector ::1 ## [a] :: x", "std::vector ::1 ## [a] :: x"),
    ],
)
def test_what_could_act_or_hide_is_written_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_no_control_or_unencodable_character_is_left(text: str) -> None:
    left = {unicodedata.category(char) for char in visible(text) if char not in "\t\n"}

    assert not left & {"Cc", "Cs", "Zl", "Zp"}
    visible(text).encode("utf-8")


def test_wrapping_keeps_line_breaks_and_indents_every_line() -> None:
    assert wrapped("one two three four five\nsix", 24, "  ") == "  one two three four\n  five\n  six"


def test_east_asian_characters_take_two_columns_and_combining_ones_none() -> None:
    assert [columns(text) for text in ("abc", "日本", "e\u0301", "", "é")] == [3, 4, 1, 0, 1]
    assert padded("日本", 6) == "日本  "


def test_lines_are_broken_by_the_columns_that_they_take() -> None:
    assert wrapped("日本語のとても長い文章です " * 2, 30, "  ") == "\n".join(
        ["  日本語のとても長い文章です", "  日本語のとても長い文章です"]
    )


def test_a_word_longer_than_a_line_is_broken_where_the_line_ends() -> None:
    assert wrapped("x" * 45, 20) == "\n".join(["x" * 20, "x" * 20, "x" * 5])


def test_lines_that_fit_keep_their_spaces() -> None:
    assert wrapped("a:\n    b   c", 40, "> ") == "> a:\n>     b   c"


@given(text=st.text(max_size=300), width=st.integers(20, 60))
@example(text="\t0\x1f\x1f\x1f\x1f", width=20)
def test_no_line_is_longer_than_the_width_and_nothing_but_spaces_is_lost(text: str, width: int) -> None:
    made = wrapped(text, width, "  ")

    assert all(columns(line) <= max(width, 22) for line in made.split("\n"))
    assert "".join(made.split()) == "".join(visible(text).split())


def test_a_clipped_text_is_one_line_and_says_that_it_was_cut() -> None:
    assert clipped("a\n\n  b\x1b[31m", 100) == r"a b\x1b[31m"
    assert clipped("abcdef", 3) == "abc…"


@pytest.mark.parametrize("piece", ["\x1b]", "\x1b[", "a ", "\u202e", "x"])
def test_long_hostile_text_is_looked_at_once(piece: str) -> None:
    text = piece * 100_000  # with anything but linear time, this test would not end
    made = wrapped(text, 80)

    assert "\x1b" not in made
    assert "\u202e" not in made
    assert clipped(text, 200).count("\\x1b") <= 200


@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\u202e\x85\r\n\x7f\U000e0041")))
def test_what_programs_read_is_harmless_on_a_terminal_and_stays_the_same_json(text: str) -> None:
    told = json.dumps(text, ensure_ascii=False)

    shown = harmless(told)

    assert json.loads(shown) == text
    left = {unicodedata.category(char) for char in harmless(text) if char not in "\t\r\n"}
    assert not left & {"Cc", "Cs", "Zl", "Zp"}
    assert re.search("\r(?!\n)|[\u202a-\u202e]", harmless(text)) is None


def test_the_ends_of_lines_of_a_table_stay_on_a_terminal() -> None:
    assert harmless("a,\x1b[31mb\r\nc\rd\r\n") == "a,\\u001b[31mb\r\nc\\u000dd\r\n"
