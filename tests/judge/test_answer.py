"""The validator: every check by an example, the order of the checks, and messages that repeat nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judging import TEXTS, VALID, answer, rubric, without
from jurat.errors import AnswerError, ErrorCategory
from jurat.evaluation import Quote
from jurat.judge import Answer, check_reply, check_text
from jurat.provider import FinishReason, Reply
from jurat.rubric import Criterion, Rubric
from jurat.vocabulary import Contract


def reply(text: str | None, **fields: Any) -> Reply:
    return Reply(**{"text": text, "finish_reason": FinishReason.STOP, **fields})


def refused(
    text: str | None,
    contract: Contract = Contract.SCORE_V1,
    against: Rubric | None = None,
    *,
    token_limit: int | None = None,
    **fields: Any,
) -> AnswerError:
    with pytest.raises(AnswerError) as caught:
        check_reply(reply(text, **fields), TEXTS, against or rubric(), contract, token_limit=token_limit)
    return caught.value


def category(text: str | None, contract: Contract = Contract.SCORE_V1, against: Rubric | None = None) -> str:
    return refused(text, contract, against).category.value


def checked(text: str, contract: Contract = Contract.SCORE_V1, against: Rubric | None = None) -> Answer:
    return check_reply(reply(text), TEXTS, against or rubric(), contract)


# --- What is valid ---------------------------------------------------------------------------------------------------


def test_a_valid_answer_comes_out_as_it_was_written() -> None:
    assert checked(answer()) == Answer(
        score=0.75, reason="It gives the hour.", evidence=(Quote(message_index=1, quote="at 9"),)
    )


@pytest.mark.parametrize("order", [("score", "reason", "evidence"), ("reason", "evidence", "score")])
def test_the_order_of_the_keys_makes_no_difference(order: tuple[str, ...]) -> None:
    assert checked(json.dumps({key: VALID[key] for key in order})) == checked(answer())


def test_an_answer_without_quotes_is_valid() -> None:
    assert checked(answer(evidence=[])).evidence == ()


def test_white_space_around_the_object_is_fine() -> None:
    assert checked(f" \r\n\t{answer()}\n\n").score == 0.75


@pytest.mark.parametrize(("low", "high", "score"), [(0, 1, 0), (0, 1, 1), (-5, -1, -5), (1, 5, 5.0), (0, 100, 1e2)])
def test_the_ends_of_the_range_belong_to_it(low: float, high: float, score: float) -> None:
    assert check_text(answer(score=score), TEXTS, (low, high)).score == score


def test_the_longest_reason_and_the_longest_quote_are_valid_in_code_points() -> None:
    text = "🙂" * 512
    whole = answer(reason="ü" * 4000, evidence=[{"message_index": 0, "quote": text}] * 8)

    found = check_text(whole, (text,), (0, 1))

    assert (len(found.reason), len(found.evidence), len(found.evidence[7].quote)) == (4000, 8, 512)


def test_back_ticks_and_line_breaks_in_a_reason_are_kept() -> None:
    reason = "Shows ```a``` and\n```b``` only."

    assert checked(answer(reason=reason)).reason == reason


def test_a_quote_may_cite_the_typographic_characters_of_its_entry() -> None:
    assert checked(answer(evidence=[{"message_index": 1, "quote": "– “sharp”."}])).evidence[0].quote == "– “sharp”."


# --- 1 to 3: signals, and no text ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"refusal": "I cannot."},
        {"refusal": " "},
        {"finish_reason": FinishReason.REFUSAL},
        {"finish_reason": FinishReason.CONTENT_FILTER},
    ],
)
def test_a_signalled_refusal_wins_over_a_valid_answer(fields: dict[str, Any]) -> None:
    assert refused(answer(), **fields).category is ErrorCategory.REFUSAL


def test_a_signalled_limit_wins_over_a_closed_object_and_names_the_setting() -> None:
    error = refused(answer(), finish_reason=FinishReason.LENGTH, token_limit=500)

    assert error.category is ErrorCategory.TRUNCATED
    assert "500 tokens" in str(error)
    assert "max_output_tokens" in str(error)


@pytest.mark.parametrize("reason", [FinishReason.OTHER, FinishReason.UNREPORTED])
def test_other_reasons_to_stop_leave_the_text_to_decide(reason: FinishReason) -> None:
    assert check_reply(reply(answer(), finish_reason=reason), TEXTS, rubric(), Contract.SCORE_V1).score == 0.75


def test_text_beside_a_call_for_a_tool_is_no_answer() -> None:
    error = refused(answer(), finish_reason=FinishReason.TOOL_CALL)

    assert error.category is ErrorCategory.EMPTY_RESPONSE


@pytest.mark.parametrize("text", [None, "", " \n\t", "\u00a0\u2003\u3000"])
def test_no_text_or_only_white_space_is_an_empty_response(text: str | None) -> None:
    assert category(text) == "empty_response"


def test_reasoning_beside_an_empty_text_is_mentioned_and_never_read() -> None:
    error = refused("", reasoning_characters=1234)

    assert error.category is ErrorCategory.EMPTY_RESPONSE
    assert "1234 characters" in str(error)
    assert "reasoning" in str(error)


# --- 4: one JSON object ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"```json\n{answer()}\n```", id="fence"),
        pytest.param(f"```\n{answer()}\n```", id="plain fence"),
        pytest.param(f"Here you are: {answer()}", id="prose before"),
        pytest.param(f"{answer()} Hope it helps.", id="prose after"),
        pytest.param(f"<think>hm</think>{answer()}", id="think block"),
        pytest.param(f"{answer()}{answer()}", id="two objects"),
        pytest.param(f"{answer()}\n{answer()}", id="two lines"),
        pytest.param(f"\ufeff{answer()}", id="BOM"),
        pytest.param(f"\u00a0{answer()}", id="no-break space around"),
        pytest.param(f"\u2028{answer()}", id="line separator around"),
        pytest.param("/* c */" + answer(), id="comment"),
        pytest.param(answer()[:-1] + "/* c */}", id="comment inside"),
        pytest.param(answer()[:-1] + ",}", id="trailing comma"),
        pytest.param(answer()[:-1], id="unclosed"),
        pytest.param(answer().replace('"', "'"), id="single quotation marks"),
        pytest.param(answer(reason="a").replace('"a"', '"a\nb"'), id="line break in a string"),
        pytest.param(answer(reason="a").replace('"a"', '"a\x00b"'), id="NUL in a string"),
        pytest.param(answer(reason="a").replace('"a"', '"\\ud800"'), id="escaped lone surrogate"),
        pytest.param(answer(reason="a").replace('"a"', '"\ud800"'), id="lone surrogate"),
        pytest.param(answer(reason="a").replace("reason", "reas\\udc00on"), id="lone surrogate in a key"),
        pytest.param(answer(reason="a").replace('"a"', "NaN"), id="NaN as reason"),
        pytest.param(answer(extra=float("nan")), id="NaN in an extra key"),
        pytest.param(answer(evidence=[{"message_index": float("inf"), "quote": "x"}]), id="Infinity as index"),
        pytest.param(answer(score=[float("nan")]), id="NaN inside a score"),
        pytest.param(answer(evidence=[{"score": float("nan")}]), id="NaN as a nested score"),
        pytest.param("I would give it a 0.8.", id="prose alone"),
        pytest.param("score: 0.8", id="YAML"),
        pytest.param(answer(score=0.5).replace("0.5", "+0.5"), id="plus sign"),
        pytest.param(answer(score=0.5).replace("0.5", ".5"), id="no leading zero"),
        pytest.param(answer(score=0.5).replace("0.5", "0x1"), id="hexadecimal"),
        pytest.param(answer(score=0.5).replace("0.5", "01"), id="leading zero"),
        pytest.param("[" * 200_000, id="200,000 brackets"),
        pytest.param('{"score":' * 200_000, id="200,000 objects"),
        pytest.param("[" * 200_000 + "]" * 200_000, id="200,000 closed brackets"),
        pytest.param('"' + "\\" * 200_001, id="a string of backslashes"),
    ],
)
def test_what_is_not_exactly_one_json_object_is_malformed(text: str) -> None:
    assert category(text) == "malformed_json"


def test_fifty_megabytes_of_reason_are_refused_without_being_read() -> None:
    error = refused(answer(reason="x" * 50_000_000))

    assert error.category is ErrorCategory.MALFORMED_JSON
    assert "1,048,576 characters" in str(error)


def test_the_place_of_a_syntax_error_is_named() -> None:
    error = refused('{"score": 1,\n "reason": "first\nsecond"}')

    assert "line 2, column 18" in str(error)
    assert "control character in string" in str(error)


NO_NUMBERS: tuple[Any, ...] = ("0.5", True, False, None, [], {}, [0.5])
NO_EVIDENCE: tuple[Any, ...] = (None, "", {}, 0, True, "[]", [[]], ["at 9"], [None], [{}])

# --- 5: keys and types -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *(pytest.param(text, id=f"not an object: {text}") for text in ("[]", "null", "true", "5", '"score"', "[{}]")),
        pytest.param(f"[{answer()}]", id="wrapped in an array"),
        pytest.param(f'{{"response": {answer()}}}', id="wrapped in an object"),
        *(pytest.param(without(key), id=f"no {key}") for key in VALID),
        pytest.param(answer(passed=True), id="a volunteered verdict"),
        pytest.param(answer(confidence=1), id="an extra key"),
        pytest.param(answer().replace("score", "Score"), id="another case of a key"),
        *(pytest.param(answer(score=value), id=f"score {value!r}") for value in NO_NUMBERS),
        *(pytest.param(answer(reason=value), id=f"reason {value!r}") for value in (None, 5, True, [], ["why"])),
        *(pytest.param(answer(evidence=value), id=f"evidence {value!r}") for value in NO_EVIDENCE),
        *(
            pytest.param(answer(evidence=[{"message_index": value, "quote": "at 9"}]), id=f"index {value!r}")
            for value in (1.0, 1.5, "1", True, None, [1])
        ),
        *(
            pytest.param(answer(evidence=[{"message_index": 1, "quote": value}]), id=f"quote {value!r}")
            for value in (None, 9, True, ["at 9"])
        ),
        pytest.param(answer(evidence=[{"message_index": 1}]), id="an entry without a quote"),
        pytest.param(answer(evidence=[{"quote": "at 9"}]), id="an entry without an index"),
        pytest.param(answer(evidence=[{"message_index": 1, "quote": "at 9", "why": "x"}]), id="an entry with more"),
        pytest.param(answer(evidence=[{"message_index": 1, "quote": "at 9"}] * 9), id="nine quotes"),
        pytest.param(answer(evidence=[{"message_index": 1, "quote": "x" * 513}]), id="a quote of 513 characters"),
        pytest.param('{"score": 1, ' + answer()[1:], id="a repeated key"),
        pytest.param('{"sc\\u006fre": 0.75, ' + answer()[1:], id="a key repeated in escapes"),
        pytest.param(
            answer(evidence=[]).replace("[]", '[{"message_index": 1, "message_index": 1, "quote": "at 9"}]'),
            id="a repeated key in an entry",
        ),
        pytest.param(answer(extra={}).replace("{}", '{"a": 1, "a": 1}'), id="a repeated key in an extra member"),
    ],
)
def test_other_keys_or_types_are_a_schema_violation(text: str) -> None:
    assert category(text) == "schema_violation"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (answer(score="10"), "score: expected a number, found text"),
        (answer(score=True), "score: expected a number, found a boolean"),
        (answer(evidence="[]"), "evidence: expected an array, found text"),
        (answer(evidence=[{"message_index": 1.0, "quote": "x"}]), "evidence[0].message_index: expected an integer"),
        (answer(evidence=[{"message_index": 1, "quote": "x" * 513}]), "at most 512 characters, found 513"),
        ('{"type": "object", "properties": {}, "reason": "x"}', "missing evidence, score; unexpected properties, type"),
        (answer(passed=True), "unexpected passed"),
        (answer(blargh=1, pass_=2), "unexpected 2 keys"),
        ('{"score": 1, ' + answer()[1:], "the key score stands more than once"),
    ],
)
def test_a_violation_says_where_what_was_expected_and_what_was_found(text: str, said: str) -> None:
    assert said in str(refused(text))


# --- 6: the score ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_score_that_is_not_finite_has_its_own_category(word: str) -> None:
    assert category(answer(score=0.5).replace("0.5", word)) == "non_finite_score"


@pytest.mark.parametrize("score", ["1.0000000000000002", "-5e-324", "9.2e124", "1" * 400, "-" + "9" * 5000, "2", "-1"])
def test_a_score_outside_the_range_is_refused_and_never_clamped(score: str) -> None:
    assert category(answer(score=0.5).replace("0.5", score)) == "score_out_of_range"


def test_the_range_that_counts_is_the_rubrics() -> None:
    to_two = rubric(Criterion(id="a", description="b", min=0, max=2))

    assert checked(answer(score=2), against=to_two).score == 2.0
    assert category(answer(score=4), against=to_two) == "score_out_of_range"
    assert "from 0 to 2" in str(refused(answer(score=4), against=to_two))


# --- 7: the reason ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["", " ", "\n\t ", "\u3000", "\u00a0"])
def test_a_blank_reason_is_refused(reason: str) -> None:
    assert category(answer(reason=reason)) == "empty_reason"


def test_a_reason_of_4001_characters_is_too_long() -> None:
    assert category(answer(reason="x" * 4001)) == "reason_too_long"


# --- 8: the quotes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [-1, 2, 10**30])
def test_an_index_outside_the_entries_is_refused(index: int) -> None:
    assert category(answer(evidence=[{"message_index": index, "quote": "at 9"}])) == "message_index_out_of_range"


@pytest.mark.parametrize("quote", ["", " ", "\n", "\u2003"])
def test_a_blank_quote_is_refused(quote: str) -> None:
    assert category(answer(evidence=[{"message_index": 1, "quote": quote}])) == "quote_empty"


@pytest.mark.parametrize(
    ("quote", "hint"),
    [
        ("at ten", ""),
        ("When do you open?", "though it stands in entry 0"),
        ("WE OPEN", "it differs in upper and lower case"),
        ("We  open", "it differs in white space"),
        ('at 9 - "sharp"', "it differs in typographic quotation marks, dashes or spaces"),
        ("we OPEN at 9 - “sharp”", "it differs in case, spacing or typography"),
        ("We open at 9 – “sharp”. ", "it differs in white space"),
        ("We ... “sharp”.", ""),
        ("at \u200b9", ""),
    ],
)
def test_a_quote_is_found_to_the_letter_or_not_at_all(quote: str, hint: str) -> None:
    error = refused(answer(evidence=[{"message_index": 1, "quote": quote}]))

    assert error.category is ErrorCategory.QUOTE_NOT_FOUND
    assert str(error).endswith(hint or "to the letter")


def test_a_composed_and_a_decomposed_letter_are_two_different_texts() -> None:
    with pytest.raises(AnswerError) as caught:
        check_text(answer(evidence=[{"message_index": 0, "quote": "cafe\u0301"}]), ("caf\u00e9",), (0, 1))

    assert caught.value.category is ErrorCategory.QUOTE_NOT_FOUND
    assert "the Unicode form" in str(caught.value)


def test_an_empty_entry_supports_no_quote() -> None:
    with pytest.raises(AnswerError) as caught:
        check_text(answer(evidence=[{"message_index": 0, "quote": "invented"}]), ("",), (0, 1))

    assert caught.value.category is ErrorCategory.QUOTE_NOT_FOUND


def test_where_nothing_was_shown_every_index_is_outside() -> None:
    with pytest.raises(AnswerError) as caught:
        check_text(answer(evidence=[{"message_index": 0, "quote": "x"}]), (), (0, 1))

    assert caught.value.category is ErrorCategory.MESSAGE_INDEX_OUT_OF_RANGE


def test_no_hint_is_looked_for_in_very_long_evidence() -> None:
    with pytest.raises(AnswerError) as caught:
        check_text(answer(evidence=[{"message_index": 0, "quote": "OPEN"}]), ("open" * 100_000,), (0, 1))

    assert str(caught.value).endswith("to the letter")


# --- The order -------------------------------------------------------------------------------------------------------

_BAD_QUOTE = [{"message_index": 9, "quote": "x"}]


@pytest.mark.parametrize(
    ("first", "text", "fields"),
    [
        ("refusal", "{", {"finish_reason": FinishReason.LENGTH, "refusal": "no"}),
        ("truncated", "", {"finish_reason": FinishReason.LENGTH}),
        ("malformed_json", '{"score": 1, "score": 2', {}),
        ("malformed_json", '{"score": 9, "extra": NaN}', {}),
        ("schema_violation", answer(score=float("nan"), extra=1), {}),
        ("schema_violation", answer(score=9, reason=None), {}),
        ("schema_violation", answer(score=9, evidence=[{"message_index": 1, "quote": "x" * 513}]), {}),
        ("non_finite_score", answer(score=float("nan"), reason="", evidence=_BAD_QUOTE), {}),
        ("score_out_of_range", answer(score=9, reason="", evidence=_BAD_QUOTE), {}),
        ("empty_reason", answer(reason=" " * 4001, evidence=_BAD_QUOTE), {}),
        ("reason_too_long", answer(reason="x" * 4001, evidence=_BAD_QUOTE), {}),
        ("message_index_out_of_range", answer(evidence=[{"message_index": 9, "quote": ""}]), {}),
        ("quote_empty", answer(evidence=[{"message_index": 1, "quote": " "}, *_BAD_QUOTE]), {}),
        ("quote_not_found", answer(evidence=[{"message_index": 1, "quote": "no"}, *_BAD_QUOTE]), {}),
        ("message_index_out_of_range", answer(evidence=[*_BAD_QUOTE, {"message_index": 1, "quote": "no"}]), {}),
    ],
)
def test_the_first_check_that_fails_names_the_category(first: str, text: str, fields: dict[str, Any]) -> None:
    assert refused(text, **fields).category == first
