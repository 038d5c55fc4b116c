"""What the reader of YAML and JSON refuses, and that it says the line, what was found, and what is meant."""

from __future__ import annotations

import pytest

from jurat.yamltext import MAX_BYTES, parse_document, parse_yaml
from yamlfaults import faults, only_fault


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
