"""Foreign text on a terminal is always visible and never obeyed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.report.plaintext import visible, wrapped


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
