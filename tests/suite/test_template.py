"""Placeholders: filled once, from plain names alone, and never read again."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import AuthoringError, Fault
from jurat.evidence import Message, RefusalBlock, Role, TextBlock, ThinkingBlock, ToolResultBlock
from jurat.jsontext import freeze, thaw
from jurat.suite.template import fill_assertion, fill_message, missing_fault, placeholders, render, template_faults


def faults_of(text: str) -> list[Fault]:
    faults: list[Fault] = []
    template_faults(text, "prompt", faults)
    return faults


@pytest.mark.parametrize(
    ("text", "variables", "rendered"),
    [
        ("Hi {{name}}, {{ name }}{{\tname\t}}!", {"name": "Ann"}, "Hi Ann, AnnAnn!"),
        ("{{a}}{{b}}", {"a": "{{b}}", "b": "{{a}}"}, "{{b}}{{a}}"),
        (
            "See: {{page}}",
            {"page": "Hi {{user}} {# x #} {% if %} ^{{Ω}rel}"},
            "See: Hi {{user}} {# x #} {% if %} ^{{Ω}rel}",
        ),
        ("{{x}}", {"x": 'a < b && c > "d"'}, 'a < b && c > "d"'),
        ("About {{name}}", {"name": 'Ann "A" Lee\n'}, 'About Ann "A" Lee\n'),
        ("{{n}} {{t}} {{z}}", {"n": 1.5, "t": True, "z": None}, "1.5 true null"),
        ("{{o}}", {"o": {"b": [1], "a": "é"}}, '{"a":"é","b":[1]}'),
        ("{{user.name}} {{größe}} {{a-b_1}}", {"user.name": "u", "größe": "g", "a-b_1": "x"}, "u g x"),
        (
            '{"a": {"b": 1}} }} { {x} {% y %} {# z #} \\1 \\g<0>',
            {},
            '{"a": {"b": 1}} }} { {x} {% y %} {# z #} \\1 \\g<0>',
        ),
        ("{{open}}x}}", {"open": "{{"}, "{{x}}"),
        ("A {{x}}\n---\nB", {"x": "1\n---\n2"}, "A 1\n---\n2\n---\nB"),
        ("", {}, ""),
    ],
)
def test_a_text_is_filled_in_one_pass(text: str, variables: dict[str, Any], rendered: str) -> None:
    assert render(text, variables) == rendered


@pytest.mark.parametrize(
    "text",
    ["{{ ''.__class__.__mro__ }}", "{{}}", "{{a b}}", "{{a", "{{a}", "{{{a}}}", "{{a|upper}}", "{{a\n}}", "{{a()}}"],
)
def test_nothing_but_a_plain_name_may_stand_between_the_braces(text: str) -> None:
    assert [fault.path for fault in faults_of(text)] == ["prompt"]
    with pytest.raises(AuthoringError):
        render(text, {"a": "x", "b": "y"})


def test_a_bad_placeholder_is_told_with_its_line_and_column() -> None:
    [fault] = faults_of("First {{a}}\nthen {{ ''.__class__ }}")

    assert fault.found == "\"{{ ''.__class__ }}\" at line 2, column 6 of the text"


def test_all_faults_of_a_text_come_together() -> None:
    with pytest.raises(AuthoringError) as caught:
        render("{{a}} {{1+1}} {{b}} {{a}}", {})

    assert [fault.expected for fault in caught.value.faults] == [
        "{{name}} with a plain variable's name",
        "a value for {{a}} of the text",
        "a value for {{b}} of the text",
    ]


def test_a_missing_value_points_to_the_variable_that_is_probably_meant() -> None:
    assert missing_fault("country", {"contry": 1}, "p").hint == "The variable contry is close: did you mean it?"
    assert missing_fault("country", {"x": 1, "y": 2}, "p").hint == "There are x, y"
    assert missing_fault("country", {}, "p").hint == "There are no variables"


def test_names_are_found_once_each_in_their_order() -> None:
    assert placeholders("{{b}} {{a}} {{b}} {{ no way }}") == ("b", "a")


def test_text_blocks_and_tool_results_of_a_message_are_filled_and_nothing_else() -> None:
    said = (
        TextBlock(text="{{x}}"),
        RefusalBlock(text="{{x}}"),
        ThinkingBlock(text="{{x}}"),
        ToolResultBlock(tool_call_id="{{x}}", content=(TextBlock(text="<{{x}}>"),)),
    )
    filled = fill_message(Message(role=Role.TOOL, content=said), {"x": "1"})

    assert filled.content == (
        TextBlock(text="1"),
        *said[1:3],
        ToolResultBlock(tool_call_id="{{x}}", content=(TextBlock(text="<1>"),)),
    )
    asked = Message(role=Role.USER, content="About {{x}}")
    assert fill_message(asked, {"x": 'Ann "A" Lee\n'}).content == 'About Ann "A" Lee\n'


def test_a_message_without_placeholders_is_given_back_itself() -> None:
    message = Message(role=Role.USER, content="hello }}")

    assert fill_message(message, {}) is message


@pytest.mark.parametrize(
    ("assertion", "filled"),
    [
        ({"type": "contains", "value": ["{{n}}", "x"]}, {"type": "contains", "value": ["5", "x"]}),
        ({"type": "regex", "value": "a{{2}}"}, {"type": "regex", "value": "a{{2}}"}),
        (
            {"type": "rubric_judge", "rubric": "Names {{n}}", "expected": "{{n}}", "context": "c {{n}}"},
            {"type": "rubric_judge", "rubric": "Names 5", "expected": "5", "context": "c 5"},
        ),
        (
            {"type": "rubric_judge", "rubric": {"definition": "d {{n}}"}, "name": "{{n}}"},
            {"type": "rubric_judge", "rubric": {"definition": "d 5"}, "name": "{{n}}"},
        ),
        (
            {"type": "json_field", "path": "total", "expected": "{{n}}"},
            {"type": "json_field", "path": "total", "expected": 5},
        ),
        (
            {"type": "json_field", "path": "total", "equals": "is {{n}}"},
            {"type": "json_field", "path": "total", "equals": "is 5"},
        ),
        (
            {"type": "json_deep_compare", "expected": {"a": ["{{n}}"]}},
            {"type": "json_deep_compare", "expected": {"a": [5]}},
        ),
        (
            {"type": "json_schema", "value": {"pattern": "{{n}}"}},
            {"type": "json_schema", "value": {"pattern": "{{n}}"}},
        ),
    ],
)
def test_an_assertion_is_filled_where_it_holds_texts_and_not_in_patterns(
    assertion: dict[str, Any], filled: dict[str, Any]
) -> None:
    assert thaw(fill_assertion(freeze(assertion), {"n": 5})) == filled


def test_an_assertion_without_placeholders_is_given_back_itself_so_that_it_can_be_shared() -> None:
    assertion = MappingProxyType({"type": "contains", "value": "x"})

    assert fill_assertion(assertion, {"x": 1}) is assertion


names = st.text(alphabet="abc_-.é1", min_size=1, max_size=5)


@given(st.lists(st.tuples(st.text(alphabet="ab }\n%#", max_size=6), names), max_size=5), st.text(max_size=20))
def test_what_is_filled_in_stands_in_the_text_as_it_is(parts: list[tuple[str, str]], value: str) -> None:
    template = "".join(f"{text}{{{{{name}}}}}" for text, name in parts)

    assert render(template, {name: value for _, name in parts}) == "".join(text + value for text, _ in parts)


@given(st.text(alphabet="{}ab \n\t.'|", max_size=60))
def test_no_text_crashes_and_a_sound_one_is_rendered(text: str) -> None:
    faults: list[Fault] = []
    wanted = template_faults(text, "", faults)

    if faults:
        with pytest.raises(AuthoringError):
            render(text, dict.fromkeys(wanted, ""))
    else:
        assert "{{" not in render(text, dict.fromkeys(wanted, ""))


def test_a_million_braces_take_one_look_each() -> None:
    assert len(faults_of("{{ " * 3_000)) == 3_000
    assert faults_of("{" * 2 + " " * 1_000_000)[0].path == "prompt"
