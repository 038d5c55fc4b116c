"""Aliases and merge keys of files that are imported: written out, within bounds; in suites they are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jurat.errors import AuthoringError
from jurat.yamltext import parse_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x 1\nb: [*x, *x]\n", {"a": 1, "b": [1, 1]}),
        (
            "a: &x {k: [1, {z: &y no}]}\nb: *x\nc: *y\n",
            {"a": {"k": [1, {"z": "no"}]}, "b": {"k": [1, {"z": "no"}]}, "c": "no"},
        ),
        ("a: &x {k: 1, z: 2}\nb: {<<: *x, k: 3}\n", {"a": {"k": 1, "z": 2}, "b": {"k": 3, "z": 2}}),
        (
            "a: &x {k: 1}\nb: &y {<<: *x, l: 2}\nc: {<<: *y}\n",
            {"a": {"k": 1}, "b": {"l": 2, "k": 1}, "c": {"l": 2, "k": 1}},
        ),
        ("a: &x {k: 1}\nb: {<<: [*x, {k: 9, n: 1}]}\n", {"a": {"k": 1}, "b": {"k": 1, "n": 1}}),
        ("a: &x {k: 1}\nb: {'<<': *x}\n", {"a": {"k": 1}, "b": {"<<": {"k": 1}}}),
        ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
        ("a: 'Q&A * 2'\n", {"a": "Q&A * 2"}),
        ("a: &x 1\n", {"a": 1}),
    ],
)
def test_what_an_anchor_names_stands_wherever_it_is_meant(text: str, value: Any) -> None:
    assert parse_yaml(text, aliases=True).value == value


def test_a_value_that_is_meant_again_stands_where_it_was_written() -> None:
    document = parse_yaml("a: &x\n  - k: 1\nb: *x\n", aliases=True)

    assert [document.line_of(path) for path in ("a[0].k", "b[0].k")] == [2, 2]


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{number + 1}: &a{number + 1} [{', '.join([f'*a{number}'] * 10)}]\n" for number in range(9)
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: &x [*x]\n", "found one inside of its own anchor"),
        ("a: &x {<<: *x}\n", "found one inside of its own anchor"),
        ("b: &z 1\na: *y\n", "found one of an anchor that is not there"),
        ("a: &x 1\nb: {<<: *x}\n", "found a merge key (<<)"),
        ("a: &x !!str 1\nb: *x\n", "found a tag (!)"),
        ("&k a: 1\n*k : 2\n", "expected every key once, found 'a' twice"),
        (LAUGHS, "expected aliases (*) that come to at most 300,000 values, found more"),
        ("- " * 300 + "a # & *", "expected nesting of at most 100 levels"),
    ],
)
def test_what_cannot_be_written_out_is_told(text: str, found: str) -> None:
    with pytest.raises(AuthoringError) as told:
        parse_yaml(text, aliases=True)

    assert found in str(told.value)


def test_in_a_suite_they_are_refused() -> None:
    with pytest.raises(AuthoringError, match="an anchor"):
        parse_yaml("a: &x 1\nb: *x\n")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab&*<: ", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab&*<", max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_without_an_alias_nothing_changes(value: Any) -> None:
    text = json.dumps({"amp": "& *", "value": value})

    assert parse_yaml(text, aliases=True).value == parse_yaml(text).value == {"amp": "& *", "value": value}


@settings(max_examples=300)
@given(st.text("a&*<:[]{},- \n!?|1", max_size=40))
def test_no_text_makes_it_crash(text: str) -> None:
    try:
        parse_yaml(f"& * # both\n{text}", aliases=True)
        parse_yaml(text, aliases=True)
    except AuthoringError:
        pass
