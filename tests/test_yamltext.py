"""YAML and JSON as text: what is read, what is refused, and that nothing makes the reader fall over."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import AuthoringError, Fault
from jurat.yamltext import MAX_BYTES, Document, parse_document, parse_yaml, to_yaml


def faults(text: str | bytes, file: str | None = "suite.yaml") -> tuple[Fault, ...]:
    with pytest.raises(AuthoringError) as caught:
        parse_document(text, file)
    assert all(fault.file == file for fault in caught.value.faults)
    return caught.value.faults


def only_fault(text: str | bytes, file: str | None = "suite.yaml") -> Fault:
    (fault,) = faults(text, file)
    return fault


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


# --- What is refused -------------------------------------------------------------------------------------------------


def test_a_repeated_key_is_refused_with_both_lines() -> None:
    fault = only_fault("threshold: 0.9\nname: a\nthreshold: 0.1\n")

    assert (fault.path, fault.line) == ("threshold", 3)
    assert fault.found == "'threshold' twice (first on line 1, again on line 3)"


def test_repeated_keys_are_found_at_every_depth_and_after_escapes() -> None:
    found = faults('a:\n  b: 1\n  b: 2\nc: [{d: 1,\n  "\\x64": 2}]\n1: x\n"1": y\n')

    assert [(fault.path, fault.line) for fault in found] == [("a.b", 3), ("c[0].d", 5), ("1", 7)]


def test_the_same_holds_for_json() -> None:
    found = faults('{\n"a": [1,\n NaN, 1e999],\n"b": {"\\u0061": 1,\n"a": 2}}', "x.json")

    assert [(fault.path, fault.line) for fault in found] == [("a[1]", 3), ("a[2]", 3), ("b.a", 5)]


def test_aliases_anchors_tags_and_merge_keys_are_refused_together() -> None:
    found = faults("a: &x 1\nb: *x\nc: !!str 1\nd:\n  <<: {e: 1}\nf: ! 2\n")

    assert [(fault.line, fault.found) for fault in found] == [
        (1, "an anchor (&)"),
        (2, "an alias (*)"),
        (3, "a tag (!)"),
        (5, "a merge key (<<)"),
        (6, "a tag (!)"),
    ]


def test_a_merge_key_in_quotes_is_a_key_like_others() -> None:
    assert parse_yaml("'<<': {a: 1}\n").value == {"<<": {"a": 1}}


def test_an_alias_bomb_is_refused_and_not_expanded() -> None:
    rows = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    rows += [f"{now}: &{now} [{','.join(['*' + before] * 9)}]" for before, now in zip("abcdef", "bcdefg", strict=True)]

    found = faults("\n".join(rows))

    assert {fault.found for fault in found} == {"an anchor (&)", "an alias (*)"}
    assert len(found) == 50


@pytest.mark.parametrize("spelling", [".nan", ".NaN", ".inf", "-.INF", "+.Inf", "1e999", "-1e999"])
def test_numbers_that_are_not_finite_are_refused(spelling: str) -> None:
    fault = only_fault(f"weight: {spelling}\n")

    assert (fault.path, fault.line) == ("weight", 1)
    assert fault.found == f"the number {spelling}"
    assert fault.hint == "If text is meant, put it in quotes."


def test_a_number_too_long_to_print_is_refused_in_yaml_and_json() -> None:
    assert only_fault("a: " + "9" * 1001).expected == "a number of at most 1,000 characters"
    assert only_fault('{"a": ' + "9" * 1001 + "}", "x.json").expected == "a number of at most 1,000 characters"
    assert parse_yaml("a: " + "9" * 1000).value == {"a": 10**1000 - 1}


def test_a_tab_as_indentation_is_named_with_its_line() -> None:
    fault = only_fault("name:\n\tx: 1\n")

    assert fault.line == 2
    assert fault.found == "a tab where none may stand"
    assert fault.hint is not None
    assert fault.hint.startswith("Indent with spaces")


def test_a_second_document_is_refused() -> None:
    fault = only_fault("---\na: 1\n---\nb: 2\n")

    assert (fault.line, fault.expected) == (3, "one document")


def test_other_directives_are_refused() -> None:
    assert only_fault("%YAML 1.1\n---\na: 1\n").expected == "YAML 1.2 without directives"
    assert only_fault("%TAG !e! tag:example,2000:\n---\na: 1\n").expected == "YAML 1.2 without directives"


def test_no_document_at_all_is_refused() -> None:
    assert only_fault("").found == "no text"
    assert only_fault("# only a comment\n").found == "nothing but blanks and comments"
    assert only_fault("", "x.json").line == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: x: y", "a colon where no key can stand"),
        ("a: @b", "a character that cannot begin a value"),
        ("a: `b`", "a character that cannot begin a value"),
        ("a: 'x", "quotes that are not closed"),
        ("a: [1, 2", "a bracket that is not closed, or a comma that is missing"),
        ("- a\nb: c", "a line that fits nowhere"),
        ("a: - b", "a list entry where none may stand"),
        ('a: "\\q"', "an unknown escape in double quotes"),
        ('a: "\\x4"', "an unfinished escape in double quotes"),
        ('a: "\\U00110000"', "an escape or a construct that cannot be read"),
        (": x", "nothing before the colon"),
        ("? [a]\n: b", "a collection as a key"),
    ],
)
def test_syntax_errors_are_told_in_our_words(text: str, found: str) -> None:
    fault = faults(text)[0]

    assert fault.found == found
    assert fault.line is not None


def test_a_placeholder_without_quotes_is_told_to_take_quotes() -> None:
    fault = only_fault("prompt: {{country}} is where?\n")

    assert fault.path == "prompt"
    assert fault.hint is not None
    assert "{{placeholder}}" in fault.hint


@pytest.mark.parametrize("char", ["\0", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\ud800", "\ufffe"])
def test_characters_that_readers_disagree_on_are_refused_with_their_line(char: str) -> None:
    fault = only_fault(f"a: 1\nb: x{char}y\n")

    assert (fault.line, fault.found) == (2, f"the character U+{ord(char):04X}")


def test_those_characters_may_be_written_as_escapes() -> None:
    assert parse_yaml('a: "\\0\\e\\N\\L"\n').value == {"a": "\0\x1b\x85\u2028"}


@pytest.mark.parametrize("file", ["x.yaml", "x.json"])
def test_a_lone_surrogate_in_an_escape_is_refused(file: str) -> None:
    assert "lone surrogate" in only_fault('{"a": "\\ud800"}', file).found


def test_bytes_that_are_no_utf8_are_refused_with_their_line() -> None:
    assert only_fault(b"a: 1\nb: \xe9\n").line == 2
    assert only_fault("a: 1".encode("utf-16")).found == "UTF-16"


def test_a_file_over_the_limit_is_refused_whether_text_or_bytes() -> None:
    assert only_fault("x" * (MAX_BYTES + 1)).found == "a larger one"
    assert only_fault(b"x" * (MAX_BYTES + 1)).found == "a larger one"
    assert only_fault("é" * (MAX_BYTES // 2 + 1)).found == "a larger one"


@pytest.mark.parametrize("file", ["x.yaml", "x.json"])
@pytest.mark.parametrize("opening", ["[", '{"a":', "[[{"])
def test_hostile_nesting_is_a_fault_and_no_crash(file: str, opening: str) -> None:
    (fault,) = faults(opening * 200_000, file)

    assert "nesting" in fault.expected + fault.found


@pytest.mark.parametrize("opening", ["- ", "{a: ", "[a, ", "- - "])
def test_hostile_nesting_in_block_style_is_a_fault_too(opening: str) -> None:
    assert faults(opening * 100_000)[0].expected == "nesting of at most 100 levels"


@pytest.mark.parametrize("opening", ["? ", "- ? "])
def test_hostile_nesting_of_keys_ends_at_the_first_key_that_is_no_text(opening: str) -> None:
    assert only_fault(opening * 100_000).found == "a collection as a key"


def test_a_hundred_levels_are_fine_in_both_languages() -> None:
    text = "[" * 100 + "]" * 100

    assert parse_document(text, "x.yaml").value == parse_document(text, "x.json").value
    assert only_fault(f"[{text}]").expected == "nesting of at most 100 levels"


def test_messages_stay_short_whatever_the_keys() -> None:
    key = "k" * 900
    text = "".join(f"{'  ' * depth}{key}:\n" for depth in range(90)) + "  " * 90 + "a: 1\n" + "  " * 90 + "a: 2\n"

    assert len(str(only_fault(text))) < 1_000


def test_json_faults_name_line_and_column_in_our_words() -> None:
    fault = only_fault('{"a": 1,\n "b" 2}', "x.json")

    assert (fault.line, fault.found) == (2, "a fault at column 6: a colon was expected")


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
