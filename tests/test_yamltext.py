"""YAML and JSON as text: what is read, where it was written, and that nothing makes the reader fall over."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import AuthoringError
from jurat.yamltext import Document, parse_document, parse_yaml, to_yaml
from yamlfaults import only_fault

# --- What YAML means here --------------------------------------------------------------------------------------------


def test_only_true_and_false_are_booleans() -> None:
    text = "- no\n- on\n- Y\n- yes\n- off\n- tRUE\n- true\n- False\n- TRUE\n"

    assert parse_yaml(text).value == ["no", "on", "Y", "yes", "off", "tRUE", True, False, True]


def test_dates_stay_the_text_they_are() -> None:
    assert parse_yaml("- 2026-01-16\n- 2026-01-16T10:00:00Z\n").value == ["2026-01-16", "2026-01-16T10:00:00Z"]


@pytest.mark.parametrize(
    "spelling", ["1:30", "1_000", "0b1", "0o8", "0x", "1e", "+", ".", "1.2.3", "nUll", "12a", "=", "-"]
)
def test_what_only_resembles_a_number_or_a_word_is_text(spelling: str) -> None:
    value = parse_yaml(f"a: {spelling}\n").value if spelling != "-" else parse_yaml('a: "-"\n').value

    assert value == {"a": spelling}


def test_numbers_follow_the_core_schema() -> None:
    text = "[0, -1, +2, 012, 0o17, 0x1F, 1.10, .5, 1., 1e3, -2.5E-1]"

    value = parse_yaml(text).value

    assert value == [0, -1, 2, 12, 15, 31, 1.1, 0.5, 1.0, 1000.0, -0.25]
    assert [type(one) for one in value] == [int] * 6 + [float] * 5


def test_null_is_spelled_in_five_ways() -> None:
    assert parse_yaml("- null\n- Null\n- NULL\n- ~\n-\n").value == [None] * 5


def test_what_stands_in_quotes_or_blocks_is_text() -> None:
    text = "a: '1.10'\nb: \"true\"\nc: |\n  012\nd: >-\n  null\n"

    assert parse_yaml(text).value == {"a": "1.10", "b": "true", "c": "012\n", "d": "null"}


def test_a_key_is_the_text_it_is_written_as() -> None:
    assert parse_yaml("1.10: a\ntrue: b\n012: c\n~: d\n").value == {"1.10": "a", "true": "b", "012": "c", "~": "d"}


def test_crlf_and_cr_count_as_lf() -> None:
    unix = "judge:\n  prompt: |\n    Line 1\n    Line 2\n"

    assert parse_yaml(unix).value == {"judge": {"prompt": "Line 1\nLine 2\n"}}
    assert parse_yaml(unix.replace("\n", "\r\n")).value == parse_yaml(unix).value
    assert parse_yaml(unix.replace("\n", "\r")).value == parse_yaml(unix).value


def test_one_byte_order_mark_is_dropped_and_a_second_refused() -> None:
    assert parse_yaml("\ufeffname: a\n").value == {"name": "a"}
    assert parse_yaml(b"\xef\xbb\xbfname: a\n").value == {"name": "a"}
    assert parse_document('\ufeff{"name": "a"}', "a.json").value == {"name": "a"}
    assert only_fault("\ufeff\ufeffname: a\n").found == "a second one"


def test_a_mark_inside_the_text_is_kept() -> None:
    assert parse_yaml('a: "x\ufeffy"\n').value == {"a": "x\ufeffy"}


def test_an_escaped_pair_is_one_character_as_in_json() -> None:
    assert parse_yaml('a: "\\ud83d\\ude00"\n').value == {"a": "\U0001f600"}


def test_explicit_ends_and_a_directive_for_yaml_1_2_are_fine() -> None:
    assert parse_yaml("%YAML 1.2\n---\na: 1\n...\n").value == {"a": 1}


def test_three_dashes_inside_text_do_not_split_it() -> None:
    assert parse_yaml("a: |\n  Part A\n  ---\n  Part B\n").value == {"a": "Part A\n---\nPart B\n"}


# --- Where it was written --------------------------------------------------------------------------------------------

SUITE = "name: x\ncases:\n  - name: a\n    variables: {zip: 012, price: 1.10, n: 5}\n  - name: b\n    on: True\n"


def test_every_value_knows_its_line() -> None:
    document = parse_yaml(SUITE)

    paths = ["", "name", "cases", "cases[0]", "cases[0].variables.zip", "cases[1].name", "cases[1].on"]
    assert [document.line_of(path) for path in paths] == [1, 1, 2, 3, 4, 5, 6]


def test_a_path_that_is_not_there_has_the_line_around_it() -> None:
    document = parse_yaml(SUITE)

    assert document.line_of("cases[1].variables.zip") == 5
    assert document.line_of("cases[7].name") == 2
    assert document.line_of("nothing[0].of.that") == 1


def test_the_spelling_of_numbers_and_words_is_kept() -> None:
    document = parse_yaml(SUITE)

    assert document.spelling_of("cases[0].variables.zip") == "012"
    assert document.spelling_of("cases[0].variables.price") == "1.10"
    assert document.spelling_of("cases[1].on") == "True"
    assert document.spelling_of("name") is None
    assert document.spelling_of("cases") is None
    assert document.spelling_of("cases[0].variables.weight") is None


def test_numbers_that_would_print_otherwise_are_listed() -> None:
    document = parse_yaml(SUITE)

    assert document.respelled() == (("cases[0].variables.zip", "012"), ("cases[0].variables.price", "1.10"))
    assert document.respelled("cases[0].variables.zip") == (("cases[0].variables.zip", "012"),)
    assert document.respelled("cases[1]") == ()
    assert document.respelled("nowhere") == ()


@pytest.mark.parametrize("spelling", ["1.10", "012", "1e3", "0o7", "+1", "1.", ".5", "-0", "0x1F"])
def test_a_spelling_that_would_change_is_marked(spelling: str) -> None:
    assert parse_yaml(f"a: {spelling}\n").respelled() == (("a", spelling),)


@pytest.mark.parametrize("spelling", ["1.1", "12", "-3", "0", "0.5", "true", "null", "'1.10'", "2026-01-16", "1:30"])
def test_a_spelling_that_stays_is_not_marked(spelling: str) -> None:
    assert parse_yaml(f"a: {spelling}\n").respelled() == ()


def test_a_key_with_dots_and_brackets_is_found() -> None:
    document = parse_yaml('x:\n  "a.b[0]":\n    c: 1\n')

    assert document.line_of("x.a.b[0].c") == 3


def test_json_has_lines_and_spellings_too() -> None:
    document = parse_document('{"a":\n [1.10, 2,\n  {"b": "}"}]}', "Data.JSON")

    assert document.value == {"a": [1.1, 2, {"b": "}"}]}
    assert document.line_of("a[2].b") == 3
    assert document.respelled() == (("a[0]", "1.10"),)


# --- Properties ------------------------------------------------------------------------------------------------------

AWKWARD = st.text(alphabet="ab \n\t:#-'\"{}[]|>&*!%@`,?.0123eE+~<\r\x85\u2028\ufeff\\", max_size=20)
TEXTS = (
    st.text(max_size=12) | AWKWARD | st.sampled_from(["no", "1.10", "~", "<<", "---", "a\n b\n", "word " * 40 + "end"])
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(TEXTS, parts, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_written_reads_back_as_the_same_value(value: object) -> None:
    assert parse_yaml(to_yaml(value)).value == value


def test_a_key_too_long_for_the_short_form_reads_back() -> None:
    value = {"k" * 2000: {"a": [1, [2, {"b": "x"}]]}, "j" * 2000: "x"}

    assert parse_yaml(to_yaml(value)).value == value


@given(VALUES)
def test_json_read_as_yaml_means_the_same(value: object) -> None:
    text = json.dumps(value)

    assert parse_document(text, "x.yaml").value == parse_document(text, "x.json").value == value


PIECES = ["a", "b: ", "- ", "[", "]", "{", "}", ",", ":", "? ", "*x", "&x ", "!t ", "'", '"', "|", ">-\n", "\n", "\n  "]
PIECES += [
    "\t",
    " ",
    "#c",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "1.10",
    "~",
    "<<: ",
    "\\U0011",
    "\\ud83d",
    "é",
    "@",
    ".nan",
]


def outcome(text: str | bytes, file: str) -> Document | AuthoringError:
    try:
        return parse_document(text, file)
    except AuthoringError as error:
        return error


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.sampled_from(["x.yaml", "x.json"]))
def test_any_text_is_a_document_or_an_authoring_error(text: str, file: str) -> None:
    read = outcome(text, file)

    if isinstance(read, Document):
        assert read.line_of("") is not None
        assert isinstance(read.respelled(), tuple)
    else:
        assert read.faults


@given(st.binary())
def test_any_bytes_are_a_document_or_an_authoring_error(data: bytes) -> None:
    read = outcome(data, "x.yaml")

    assert isinstance(read, Document) or read.faults
