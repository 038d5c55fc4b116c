"""Checks of the output's text: texts that must or must not occur, exact matches, patterns."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.assertions import Assertion, build_assertion
from jurat.assertions.outcome import is_blank
from jurat.assertions.patterns import MAX_INPUT, MAX_PATTERN
from jurat.errors import AuthoringError, ErrorCategory, RequestError
from jurat.evaluation import Assessment, run_evaluator
from jurat.evidence import Context
from jurat.vocabulary import Status

ASTRAL = "👩‍🚀"


def found(context: Context | str, **assertion: Any) -> Assessment:
    result = build_assertion(assertion).evaluate(context)
    assert isinstance(result, Assessment)
    return result


@pytest.mark.parametrize(
    ("assertion", "output", "passes"),
    [
        ({"type": "contains", "value": "Paris"}, "It is Paris.", True),
        ({"type": "contains", "value": "Paris"}, "It is paris.", False),
        ({"type": "contains", "value": "Paris", "ignore_case": True}, "IT IS PARIS", True),
        ({"type": "contains", "value": "STRASSE", "ignore_case": True}, "die Straße", True),
        ({"type": "contains", "value": ["a", "b"]}, "a", False),
        ({"type": "contains", "value": ["a", "b"]}, "b and a", True),
        ({"type": "contains", "value": ["a", "b"], "match": "any"}, "b", True),
        ({"type": "contains", "value": ["a", "b"], "match": "any"}, "c", False),
        ({"type": "contains", "value": ".*"}, "anything", False),
        ({"type": "contains", "value": "é"}, "e\u0301", False),
        ({"type": "contains", "value": ASTRAL}, f"Hi {ASTRAL}!", True),
        ({"type": "not_contains", "value": "sorry"}, "Gladly.", True),
        ({"type": "not_contains", "value": ["sorry", "cannot"]}, "I cannot.", False),
        ({"type": "not_contains", "value": "\t"}, "no tabs", True),
        ({"type": "required_text", "value": ["a", "b"]}, "ab", True),
        ({"type": "required_text", "value": ["a", "b"]}, "a", False),
        ({"type": "forbidden_text", "value": ["a", "b"]}, "xyz", True),
        ({"type": "forbidden_text", "value": ["a", "b"], "ignore_case": True}, "xBz", False),
        ({"type": "exact_match", "value": "Paris"}, "Paris", True),
        ({"type": "exact_match", "value": "Paris"}, "Paris\n", False),
        ({"type": "exact_match", "value": " Paris", "trim": True}, "Paris\n", True),
        ({"type": "exact_match", "value": "paris", "ignore_case": True}, "PARIS", True),
        ({"type": "exact_match", "value": 42}, "42", True),
        ({"type": "exact_match", "value": 42}, " 42.0 ", True),
        ({"type": "exact_match", "value": 42}, '"42"', False),
        ({"type": "exact_match", "value": "42"}, "42", True),
        ({"type": "exact_match", "value": True}, "true", True),
        ({"type": "exact_match", "value": True}, "1", False),
        ({"type": "exact_match", "value": {"a": [1, None]}}, '{"a": [1, null]}', True),
        ({"type": "exact_match", "value": {"a": 1}}, "a is 1", False),
        ({"type": "exact_match", "expected": "Paris"}, "Paris", True),
        ({"type": "regex", "value": r"\d{4}"}, "in 1789", True),
        ({"type": "regex", "value": r"\d{4}", "full": True}, "in 1789", False),
        ({"type": "regex", "value": r"in \d{4}", "full": True}, "in 1789", True),
        ({"type": "regex", "value": "paris", "ignore_case": True}, "PARIS", True),
        ({"type": "regex", "value": r"^b$"}, "a\nb", False),
        ({"type": "regex", "value": r"(?m)^b$"}, "a\nb", True),
        ({"type": "regex", "value": "a.b"}, "a\nb", False),
        ({"type": "regex", "value": "(?s)a.b"}, "a\nb", True),
        ({"type": "regex", "value": "^.$"}, "é", True),
        ({"type": "regex", "value": "x*"}, "abc", True),
    ],
)
def test_a_text_check_decides(assertion: dict[str, Any], output: str, passes: bool) -> None:
    assessment = found(output, **assertion)
    assert assessment.status is (Status.PASS if passes else Status.FAIL)
    assert assessment.score == (100.0 if passes else 0.0)


CONTENT_CHECKS: list[dict[str, Any]] = [
    {"type": "contains", "value": "a"},
    {"type": "not_contains", "value": "a"},
    {"type": "required_text", "value": "a"},
    {"type": "forbidden_text", "value": "a"},
    {"type": "exact_match", "value": "a"},
    {"type": "regex", "value": "x*"},
    {"type": "json_field", "path": "a"},
    {"type": "json_deep_compare", "expected": {"a": 1}},
    {"type": "json_schema", "schema": True},
    {"type": "structured_output", "schema": True},
]


@pytest.mark.parametrize("output", ["", "   ", "\n\t\r\n", "\u200b\ufeff", "\u00a0\u2028", "\x00"])
@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("assertion", CONTENT_CHECKS, ids=lambda assertion: str(assertion["type"]))
def test_a_blank_output_is_unverified_whatever_is_asked_of_it(
    assertion: dict[str, Any], negate: bool, output: str
) -> None:
    assessment = found(output, negate=negate, **assertion)
    assert (assessment.status, assessment.score) == (Status.UNVERIFIED, None)
    assert [finding.code for finding in assessment.findings] == ["empty_output"]


def test_two_blank_texts_are_no_exact_match() -> None:
    assert found(Context(output="   ", expected="\n\t"), type="exact_match").status is Status.UNVERIFIED
    assessment = found(Context(output="x", expected="\n\t"), type="exact_match")
    assert [finding.code for finding in assessment.findings] == ["empty_expected"]


def test_an_exact_match_without_anything_expected_is_unverified() -> None:
    assessment = found("x", type="exact_match")
    assert assessment.status is Status.UNVERIFIED
    assert [finding.code for finding in assessment.findings] == ["no_expected"]


def test_an_exact_match_takes_the_expected_value_of_the_case() -> None:
    assert found(Context(output="Paris", expected="Paris"), type="exact_match").passed
    assert found(Context(output='{"n": 1.0}', expected={"n": 1}), type="exact_match").passed
    assert found(Context(output="Paris", expected="Rome"), type="exact_match", value="Paris").passed


def test_the_details_tell_which_texts_were_found() -> None:
    assessment = found("only one", type="required_text", value=["one", "two"])
    assert assessment.details == {"found": ["one"], "missing": ["two"]}
    assert assessment.reason == "1 of 2 texts occur; not “two”"


@pytest.mark.parametrize(
    ("assertion", "output", "reason"),
    [
        ({"type": "contains", "value": "Madrid"}, "Lisbon", "“Madrid” does not occur"),
        ({"type": "contains", "value": "Madrid"}, "Madrid", "“Madrid” occurs"),
        ({"type": "contains", "value": "Madrid", "negate": True}, "Madrid", "“Madrid” occurs"),
        ({"type": "required_text", "value": "Madrid"}, "Lisbon", "“Madrid” does not occur"),
        ({"type": "required_text", "value": ["a", "b"]}, "ab", "2 of 2 texts occur"),
        ({"type": "required_text", "value": [*"abcde"]}, "a", "1 of 5 texts occur; not “b”, “c”, “d” and 1 more"),
        ({"type": "contains", "value": ["a", "b"], "match": "any"}, "x", "0 of 2 texts occur; not “a”, “b”"),
        ({"type": "not_contains", "value": "Madrid"}, "Madrid", "“Madrid” occurs"),
        ({"type": "forbidden_text", "value": ["a", "b", "c"]}, "cab", "3 of 3 texts occur: “a”, “b”, “c”"),
        ({"type": "forbidden_text", "value": ["a", "b"]}, "b", "1 of 2 texts occur: “b”"),
        ({"type": "forbidden_text", "value": ["a", "b"]}, "x", "0 of 2 texts occur"),
        ({"type": "exact_match", "value": "Madrid"}, "Lisbon", "the output is not “Madrid”"),
        ({"type": "exact_match", "value": {"b": [1], "a": 2}}, "{}", 'the output is not the value “{"a":2,"b":[1]}”'),
        ({"type": "regex", "value": "^M.*d$"}, "Lisbon", "the pattern “^M.*d$” does not match"),
        ({"type": "regex", "value": "^M.*d$"}, "Madrid", "the pattern “^M.*d$” matches"),
    ],
)
def test_a_reason_names_what_the_author_expects(assertion: dict[str, Any], output: str, reason: str) -> None:
    assert found(output, **assertion).reason == reason


def test_what_is_expected_is_named_on_one_line_and_cut_to_sixty_characters() -> None:
    assert found("x", type="contains", value="a\nb\x1b[31m\u202ec").reason == "“a\\nb\\x1b[31m\\u202ec” does not occur"
    assert found("x", type="contains", value="y" * 60).reason == f"“{'y' * 60}” does not occur"
    assert found("x", type="contains", value="y" * 61).reason == f"“{'y' * 59}…” does not occur"
    expected = Context(output="x", expected="ä" * 1_000)
    assert found(expected, type="exact_match").reason == f"the output is not “{'ä' * 59}…”"


def test_no_reason_and_no_detail_repeats_the_output() -> None:
    for assertion in CONTENT_CHECKS:
        assessment = found("SECRET WORDS", **assertion)
        assert "SECRET" not in f"{assessment.reason} {assessment.details} {assessment.findings}"


def test_a_plain_string_and_a_context_come_to_the_same() -> None:
    for assertion in CONTENT_CHECKS:
        assert found('{"a": 1}', **assertion) == found(Context(output='{"a": 1}'), **assertion)


@pytest.mark.parametrize(
    ("text", "blank"), [("", True), (" \u200b", True), ("\x1b", True), (".", False), ("\u200bé", False), ("⠀", False)]
)
def test_blank_is_what_no_reader_can_see(text: str, blank: bool) -> None:
    assert is_blank(text) is blank


# --- patterns ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(", "missing ): ("),
        ("[z-a]", "invalid character class range: z-a"),
        ("(?=a)", "invalid perl operator: (?="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("a{2000}", "invalid repetition size: {2000}"),
        ("é(", "missing ): é("),
        ("a" * (MAX_PATTERN + 1), "4,097 bytes"),
        ("é" * (MAX_PATTERN // 2 + 1), "4,098 bytes"),
    ],
)
def test_a_bad_pattern_is_an_authors_fault_in_the_engines_words(pattern: str, says: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        build_assertion({"type": "regex", "value": pattern}, path="assertions[0]")
    (fault,) = caught.value.faults
    assert (fault.path, fault.found) == ("assertions[0].value", says)


def test_a_pattern_that_repetition_makes_too_large_is_an_authors_fault() -> None:
    with pytest.raises(AuthoringError, match="at most 25,000 instructions"):
        build_assertion({"type": "regex", "value": r"(\pL{30}\pN{30}x){9}"})


def test_the_longest_pattern_matches_in_the_longest_text() -> None:
    text = "a" * MAX_INPUT
    assertion = build_assertion({"type": "regex", "value": "a" * MAX_PATTERN})
    assert asyncio.run(run_evaluator(assertion, Context(output=text))).passed


def test_a_longer_text_is_not_matched_and_that_is_an_error() -> None:
    assertion = build_assertion({"type": "regex", "value": "a"})
    assessment = asyncio.run(run_evaluator(assertion, Context(output="é" * (MAX_INPUT // 2) + "a")))
    assert assessment.status is Status.ERROR
    assert assessment.error is not None
    assert assessment.error.type is ErrorCategory.REQUEST_INVALID
    assert assessment.error.message == "a pattern is matched against at most 1,048,576 bytes, the text has 1,048,577"


def test_a_search_that_could_take_minutes_is_not_begun() -> None:
    assertion = build_assertion({"type": "regex", "value": "(a|b)*a(a|b){900}c|(a|b)*b(a|b){900}d"})
    assessment = asyncio.run(run_evaluator(assertion, Context(output="ab" * 500_000)))
    assert assessment.error is not None
    assert assessment.error.type is ErrorCategory.REQUEST_INVALID
    assert "counted repetitions" in assessment.error.message


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)+$", "(.*a){20}$", "(x+x+)+y"])
def test_patterns_that_hang_other_engines_are_decided(pattern: str) -> None:
    assert found("a" * 40 + "!", type="regex", value=pattern).status is Status.FAIL


def test_a_long_search_runs_beside_the_event_loop() -> None:
    threads: list[str] = []
    assertion = build_assertion({"type": "regex", "value": "a"})

    def check(context: Context) -> Assessment:
        threads.append(threading.current_thread().name)
        result = assertion.check(context)
        assert isinstance(result, Assessment)
        return result

    watched = Assertion(type="regex", name="regex", revision="1", check=check, heavy=assertion.heavy)
    for output in ("a", "a" * 600_000):
        assert asyncio.run(run_evaluator(watched, Context(output=output))).passed
    assert threads == ["MainThread", "jurat-check"]


@given(pattern=st.text(max_size=30), output=st.text(max_size=50))
def test_any_pattern_is_a_fault_or_decides_any_text(pattern: str, output: str) -> None:
    try:
        assertion = build_assertion({"type": "regex", "value": pattern})
    except AuthoringError:
        return
    result = assertion.evaluate(output)
    assert isinstance(result, Assessment)
    assert result.status in (Status.PASS, Status.FAIL, Status.UNVERIFIED)


@given(value=st.text(min_size=1), output=st.text())
def test_contains_and_its_negation_never_agree_on_a_decided_text(value: str, output: str) -> None:
    plain = found(output, type="not_contains", value=value)
    negated = found(output, type="not_contains", value=value, negate=True)
    assert plain.status.decided == negated.status.decided == (not is_blank(output))
    if plain.status.decided:
        assert plain.status is not negated.status
        assert (plain.score or 0) + (negated.score or 0) == 100.0


def test_a_check_raises_its_error_to_whoever_asks_it_directly() -> None:
    with pytest.raises(RequestError):
        found("[" * 200, type="json_field", path="a")
