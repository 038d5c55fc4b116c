"""The validator under arbitrary text: it never falls over, and never accepts more than the contract."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judging import rubric
from jurat.errors import AnswerError
from jurat.judge import Answer, answer_schema, check_reply, check_text
from jurat.provider import FinishReason, Reply
from jurat.rubric import Criterion
from jurat.vocabulary import Contract

RUBRIC = rubric(
    Criterion(id="facts", description="True.", min=0, max=10, weight=3, required=True),
    Criterion(id="tone", description="Kind.", min=-1, max=5),
)
CONTRACTS = (Contract.SCORE_V1, Contract.CRITERIA_V1, Contract.REASONED_V1)
SCHEMAS = {
    contract: jsonschema_rs.validator_for(dict(answer_schema(contract, RUBRIC)))
    for contract in (Contract.SCORE_V1, Contract.CRITERIA_V1)
}

any_text = st.text(alphabet=st.characters(), max_size=60)  # surrogates and NUL included
sound_text = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60)
entries = st.lists(sound_text, min_size=1, max_size=4)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["score", "reason", "x"]), inner),
    max_leaves=10,
)


@st.composite
def quotes(draw: st.DrawFn, texts: list[str]) -> list[dict[str, Any]]:
    found = []
    for index, text in enumerate(texts):
        if text.strip() and draw(st.booleans()):
            start = draw(st.integers(0, len(text) - 1))
            quote = text[start : draw(st.integers(start + 1, len(text)))]
            found += [{"message_index": index, "quote": quote}] if quote.strip() else []
    return found


@st.composite
def valid_parts(draw: st.DrawFn, texts: list[str], low: float, high: float) -> dict[str, Any]:
    reason = draw(sound_text.filter(str.strip))
    return {"evidence": draw(quotes(texts)), "reason": reason, "score": draw(st.floats(low, high))}


@st.composite
def mutated(draw: st.DrawFn) -> tuple[list[str], Any]:
    """A valid answer of which one place was replaced by something else, or one key renamed, added or dropped."""
    texts = draw(entries)
    value = draw(valid_parts(texts, -1, 10))
    key = draw(st.sampled_from(["evidence", "reason", "score"]))
    match draw(st.sampled_from(["replace", "drop", "add", "entry"])):
        case "replace":
            value[key] = draw(any_json)
        case "drop":
            del value[key]
        case "add":
            value[draw(any_text)] = draw(any_json)
        case _:
            value["evidence"] = [draw(any_json), *value["evidence"]]
    return texts, value


def accepted(text: str, texts: list[str], contract: Contract) -> Answer | None:
    reply = Reply(text=text, finish_reason=FinishReason.STOP)
    try:
        return check_reply(reply, texts, RUBRIC, contract)
    except AnswerError:
        return None


def assert_sound(answer: Answer, text: str, texts: list[str], contract: Contract) -> None:
    assert -1 <= answer.score <= 10
    assert answer.reason.strip()
    assert all(quote.quote.strip() and quote.quote in texts[quote.message_index] for quote in answer.evidence)
    if contract in SCHEMAS:
        assert SCHEMAS[contract].is_valid(json.loads(text))


@given(text=any_text, texts=entries, contract=st.sampled_from(CONTRACTS))
@example(text="[" * 100_000, texts=["a"], contract=Contract.SCORE_V1)
@example(text="\x00", texts=["a"], contract=Contract.SCORE_V1)
@example(text="\ud800", texts=["a"], contract=Contract.SCORE_V1)
@example(text='{"score": 1e400, "reason": "x", "evidence": []}', texts=["a"], contract=Contract.SCORE_V1)
def test_arbitrary_text_is_checked_or_refused_and_nothing_else(text: str, texts: list[str], contract: Contract) -> None:
    if answer := accepted(text, texts, contract):
        assert_sound(answer, text, texts, contract)


@given(value=any_json, texts=entries, contract=st.sampled_from(CONTRACTS))
def test_arbitrary_json_is_accepted_only_when_it_follows_the_contract(
    value: Any, texts: list[str], contract: Contract
) -> None:
    text = json.dumps(value)

    if answer := accepted(text, texts, contract):
        assert_sound(answer, text, texts, contract)


@given(given_case=mutated())
def test_a_mutated_answer_is_accepted_only_when_it_still_follows_the_contract(
    given_case: tuple[list[str], Any],
) -> None:
    texts, value = given_case
    text = json.dumps(value)

    if answer := accepted(text, texts, Contract.SCORE_V1):
        assert_sound(answer, text, texts, Contract.SCORE_V1)


@given(data=st.data(), place=st.integers(0, 400), junk=any_text)
def test_a_valid_answer_with_junk_put_into_its_text_never_crashes_the_check(
    data: st.DataObject, place: int, junk: str
) -> None:
    texts = data.draw(entries)
    text = json.dumps(data.draw(valid_parts(texts, -1, 10)), ensure_ascii=False)
    text = text[:place] + junk + text[place:]

    if answer := accepted(text, texts, Contract.SCORE_V1):
        assert_sound(answer, text, texts, Contract.SCORE_V1)


@given(data=st.data())
def test_every_prefix_of_an_answer_is_refused(data: st.DataObject) -> None:
    text = json.dumps(data.draw(valid_parts(["a"], -1, 10)))
    cut = data.draw(st.integers(0, len(text) - 1))

    assert accepted(text[:cut], ["a"], Contract.SCORE_V1) is None


@given(data=st.data())
def test_every_valid_answer_is_accepted_unchanged(data: st.DataObject) -> None:
    texts = data.draw(entries)
    value = data.draw(valid_parts(texts, -1, 10))

    found = check_text(json.dumps(value), texts, (-1, 10))

    given_quotes = [(one["message_index"], one["quote"]) for one in value["evidence"]]
    assert (found.score, found.reason) == (value["score"], value["reason"])
    assert [(quote.message_index, quote.quote) for quote in found.evidence] == given_quotes
    assert SCHEMAS[Contract.SCORE_V1].is_valid(value)


@given(data=st.data())
def test_every_valid_answer_by_criteria_is_accepted_and_its_score_lies_in_the_range(data: st.DataObject) -> None:
    texts = data.draw(entries)
    parts = {item.id: data.draw(valid_parts(texts, item.min, item.max)) for item in RUBRIC.criteria}

    found = check_reply(
        Reply(text=json.dumps({"criteria": parts}), finish_reason=FinishReason.STOP),
        texts,
        RUBRIC,
        Contract.CRITERIA_V1,
    )

    facts, tone = parts["facts"]["score"], parts["tone"]["score"]
    assert found.score == pytest.approx(-1 + 11 * (3 * facts / 10 + (tone + 1) / 6) / 4, abs=1e-9)
    assert found.blocked_by == (("facts",) if facts < 5 else ())
    assert SCHEMAS[Contract.CRITERIA_V1].is_valid({"criteria": parts})


@given(extra=st.dictionaries(sound_text, st.integers() | sound_text, max_size=3), score=st.floats(-1, 10))
def test_a_reasoned_answer_is_the_same_whatever_else_stands_in_it(extra: dict[str, Any], score: float) -> None:
    text = json.dumps({**extra, "reasoning": "because", "score": score})

    assert accepted(text, ["a"], Contract.REASONED_V1) == Answer(score=score, reason="because")


@given(pairs=st.lists(st.tuples(st.sampled_from(["a", "b", "score"]), st.integers()), min_size=1, max_size=4))
def test_a_key_written_twice_anywhere_is_never_accepted(pairs: list[tuple[str, int]]) -> None:
    twice = [*pairs, pairs[0]]
    inner = "{" + ", ".join(f'"{key}": {value}' for key, value in twice) + "}"

    for contract in CONTRACTS:
        assert accepted(f'{{"other": {inner}, "reasoning": "x", "score": 1}}', ["a"], contract) is None
