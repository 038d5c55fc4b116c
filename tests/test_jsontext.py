"""Strict JSON: what is read, what is refused, and one canonical way to write."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jurat.jsontext import (
    MAX_DEPTH,
    JsonSyntaxError,
    NonFinite,
    NotJson,
    Repeated,
    canonical,
    found_word,
    freeze,
    parse,
    parse_strict,
    thaw,
    type_name,
)
from jurat.vocabulary import Status

sound = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | sound,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(sound, inner, max_size=4),
    max_leaves=12,
)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
    | st.complex_numbers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.sets(st.integers(), max_size=2)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)
layout = st.sampled_from([None, 0, 1, "\t"])


def refused(text: str) -> JsonSyntaxError:
    with pytest.raises(JsonSyntaxError) as caught:
        parse_strict(text)
    return caught.value


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives, or the one kind of error that it may raise."""
    try:
        return function(*arguments)
    except (JsonSyntaxError, NotJson) as error:
        return error


# --- Reading ---------------------------------------------------------------------------------------------------------


@given(value=values, indent=layout, ascii_only=st.booleans(), around=st.text(alphabet=" \t\r\n", max_size=4))
def test_valid_text_is_read_as_the_standard_library_reads_it(
    value: Any, indent: Any, ascii_only: bool, around: str
) -> None:
    text = around + json.dumps(value, indent=indent, ensure_ascii=ascii_only) + around

    assert parse(text) == parse_strict(text) == json.loads(text) == value


@given(text=st.text(alphabet=st.characters()))
@example(text="\ufeff{}")
@example(text="\ud800")
@example(text='"\\ud800"')
@example(text="9" * 10_000)
@example(text="[" * 100_000)
@example(text='{"a":' * 100_000)
@example(text='"' + '\\"' * 100_000)
def test_arbitrary_text_is_read_or_a_syntax_error_and_nothing_else(text: str) -> None:
    loose, strict = outcome(parse, text), outcome(parse_strict, text)

    assert isinstance(strict, JsonSyntaxError) or strict == loose
    assert not isinstance(strict, JsonSyntaxError) or min(strict.line, strict.column) >= 1


@given(text=st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \\u/\n', max_size=30))
def test_text_that_resembles_json_is_accepted_exactly_when_the_standard_library_accepts_it(text: str) -> None:
    try:
        wanted = json.loads(text)
    except ValueError:
        with pytest.raises(JsonSyntaxError):
            parse(text)
        return
    found = outcome(parse, text)
    if isinstance(found, JsonSyntaxError):
        assert "surrogate" in str(found)  # the one thing in which this reader is stricter
    else:
        assert found == wanted


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "a value was expected"),
        ("{a: 1}", "a key in double quotes was expected"),
        ("{'a': 1}", "a key in double quotes was expected"),
        ('{"a": 1 "b": 2}', "a comma was expected"),
        ('{"a" 1}', "a colon was expected"),
        ('{"a"', "a colon was expected"),
        ('{"a": "b', "a string that does not end"),
        ('{"a": "b\nc"}', "control character in string"),
        ('{"a": "\x00"}', "control character in string"),
        ('{"a": "\\q"}', "an illegal escape in a string"),
        ('{"a": "\\u12g4"}', "an illegal \\u escape in a string"),
        ("{} {}", "text after the end of the value"),
        ("{}\u00a0", "text after the end of the value"),
        ("\ufeff{}", "a value was expected"),
        ("// c\n{}", "a value was expected"),
        ('"\ud800"', "a lone surrogate, which is no Unicode character"),
        ('["\\udc00"]', "a lone surrogate, which is no Unicode character"),
        ('{"\\ud83d": 1}', "a lone surrogate, which is no Unicode character"),
        ("[" * 101, "nesting deeper than 100"),
        ("[NaN]", "a number that is not finite"),
        ("-Infinity", "a number that is not finite"),
        ("[1e999]", "a number that is not finite"),
        ('{"a": {"b": 1, "b": 1}}', "the key 'b' stands twice in one object"),
        ('{"a": 1, "\\u0061": 1}', "the key 'a' stands twice in one object"),
    ],
)
def test_a_fault_is_told_in_words_of_ours(text: str, what: str) -> None:
    assert refused(text).what == what


def test_trailing_commas_are_refused_on_every_version() -> None:
    assert refused('{"a": 1,}').what in ("a trailing comma", "a key in double quotes was expected")
    assert refused("[1,]").what in ("a trailing comma", "a value was expected")


def test_the_place_counts_lines_and_columns_from_one() -> None:
    error = refused('{\n  "a": 1,\n  "b" 2\n}')

    assert (error.line, error.column) == (3, 7)
    assert str(error) == "a colon was expected (line 3, column 7)"


def test_a_pair_of_surrogate_escapes_is_one_character() -> None:
    assert parse_strict('"\\ud83d\\ude42"') == "🙂"


def test_nesting_up_to_the_bound_is_read() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH

    assert parse(text) == parse_strict(text) == json.loads(text)
    assert refused("[" + text + "]").what == "nesting deeper than 100"


def test_brackets_inside_strings_do_not_nest() -> None:
    text = json.dumps(["[{" * 5_000, '\\"[' * 5_000])

    assert parse_strict(text) == json.loads(text)


def test_what_only_the_caller_can_judge_is_marked() -> None:
    repeated = parse('{"a": 1, "b": 2, "a": 3}')
    word = parse("NaN")

    assert isinstance(repeated, Repeated)
    assert (repeated.key, dict(repeated)) == ("a", {"a": 3, "b": 2})
    assert isinstance(word, NonFinite)
    assert (word.word, parse("[-Infinity]")[0].word, parse("1e999")) == ("NaN", "-Infinity", math.inf)


def test_an_integer_of_thousands_of_digits_still_compares() -> None:
    assert parse("9" * 5_000) > 10**3_999
    assert parse("-" + "9" * 100_000) < -(10**3_997)


def test_an_interpreter_that_converts_fewer_digits_gives_a_syntax_error_too() -> None:
    program = "from jurat.jsontext import *\ntry: parse('9' * 5000)\nexcept JsonSyntaxError as error: print(error.what)"
    environment = {**os.environ, "PYTHONINTMAXSTRDIGITS": "640"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)

    assert done.stdout.decode().strip() == "a number of too many digits"


# --- Writing ---------------------------------------------------------------------------------------------------------


@given(value=values)
def test_a_value_written_canonically_reads_back_as_itself(value: Any) -> None:
    text = canonical(value)

    assert parse_strict(text) == value
    assert canonical(parse_strict(text)) == text
    assert canonical(freeze(value)) == text


@given(value=st.dictionaries(sound, values, max_size=5))
def test_the_order_in_which_keys_were_put_in_makes_no_difference(value: dict[str, Any]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


def test_the_canonical_form_is_short_and_sorted_and_keeps_its_characters() -> None:
    assert canonical({"b": [1, 1.5, None, True], "a": "ü🙂\n"}) == '{"a":"ü🙂\\n","b":[1,1.5,null,true]}'


# --- Freezing --------------------------------------------------------------------------------------------------------


@given(value=values)
def test_freezing_and_thawing_gives_the_value_back(value: Any) -> None:
    assert thaw(freeze(value)) == value
    assert thaw(value) == value
    assert freeze(freeze(value)) == freeze(value)


@given(value=anything)
def test_whatever_is_frozen_it_has_a_json_form_or_says_where_it_has_none(value: Any) -> None:
    frozen = outcome(freeze, value, "top")

    if isinstance(frozen, NotJson):
        assert frozen.path.startswith("top")
        assert frozen.found
    else:
        assert parse_strict(canonical(frozen)) == thaw(frozen)


def test_a_frozen_value_shares_nothing_with_its_source() -> None:
    source = {"a": [{"b": [1]}]}
    frozen = freeze(source)
    source["a"][0]["b"].append(2)

    assert isinstance(frozen, MappingProxyType)
    assert thaw(frozen) == {"a": [{"b": [1]}]}
    assert isinstance(frozen["a"], tuple)


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        (b"x", "", "bytes"),
        ({"a": [1, float("inf")]}, "a[1]", "a number that is not finite"),
        ({"a": {2: 1}}, "a", "a key that is no string but a number"),
        ({"a": "\ud800"}, "a", "text with a lone surrogate, which is no Unicode character"),
        ({"a": {1}}, "a", "a Python set"),
        ([object], "[0]", "a Python type"),
        pytest.param({"n": 10**4_300}, "n", "a number of more than 4,000 digits", id="a huge integer"),
    ],
)
def test_what_has_no_json_form_is_named_by_its_path(value: Any, path: str, found: str) -> None:
    for function in (freeze, thaw, canonical):
        with pytest.raises(NotJson) as caught:
            function(value)
        assert (caught.value.path, caught.value.found) == (path, found)


def test_what_nests_too_deep_or_in_itself_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)

    with pytest.raises(NotJson, match="nesting deeper than 100"):
        freeze(circle)


def test_an_integer_of_four_thousand_digits_can_be_written() -> None:
    assert canonical(10**3_999) == "1" + "0" * 3_999


# --- Words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ("x", "text"),
        (Status.PASS, "text"),
        (b"x", "bytes"),
        ({}, "an object"),
        ([], "an array"),
        ((), "an array"),
        (NonFinite("NaN"), "a number that is not finite"),
        ({1}, "a Python set"),
    ],
)
def test_types_have_words_that_a_sentence_wants(value: Any, word: str) -> None:
    assert type_name(value) == word


@pytest.mark.parametrize(
    ("value", "word"),
    [("abc", "'abc'"), ("x" * 41, "text"), (5, "5"), (1.5, "1.5"), (True, "true"), (None, "null"), ([1], "an array")],
)
def test_what_was_found_is_told_as_it_is_when_it_is_short(value: Any, word: str) -> None:
    assert found_word(value) == word
