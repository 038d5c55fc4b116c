"""Evidence: how it is numbered, what of it is visible, and what was cut."""

from __future__ import annotations

from typing import Any

import pytest

from jurat.errors import AnswerError, ErrorCategory
from jurat.evidence import (
    MAX_ENTRY,
    Context,
    Document,
    Entry,
    Message,
    RefusalBlock,
    Role,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    estimate_tokens,
    number_evidence,
)
from jurat.judge import check_text
from jurat.testing import check_answer


def message(*blocks: Any, role: Role = Role.ASSISTANT) -> Message:
    return Message(role=role, content=blocks)


def visible(*blocks: Any) -> str:
    return message(*blocks).visible_text


# --- Visible text ----------------------------------------------------------------------------------------------------


def test_the_blocks_of_a_message_join_without_a_separator() -> None:
    assert visible(TextBlock(text="foo"), TextBlock(text="bar")) == "foobar"


def test_refusals_and_the_results_of_tools_are_visible() -> None:
    inner = ToolResultBlock(tool_call_id="t", content=(TextBlock(text="stdout: "), RefusalBlock(text="no")))
    outer = ToolResultBlock(tool_call_id="t", content=(inner, TextBlock(text="!")), failed=True)

    assert visible(RefusalBlock(text="I can't. "), outer) == "I can't. stdout: no!"


def test_thinking_and_the_arguments_of_tool_calls_are_not() -> None:
    hidden = (ThinkingBlock(text="secret"), ToolCallBlock(id="t", name="search", arguments={"q": "needle"}))

    assert visible(TextBlock(text="café"), *hidden, ToolResultBlock(tool_call_id="t", content=hidden)) == "café"
    assert visible() == ""


def test_text_that_looks_like_thinking_is_text() -> None:
    assert visible(TextBlock(text="<think>hm</think>")) == "<think>hm</think>"


# --- Numbers ---------------------------------------------------------------------------------------------------------


def test_the_order_is_conversation_output_expected_context_documents_metadata() -> None:
    context = Context(
        output="out",
        expected="own",
        rendered_input="never shown beside messages",
        messages=(Message(role=Role.SYSTEM, content="s"), Message(role=Role.USER, content="u")),
        documents=(Document(text="d1", name="a.pdf"), Document(text="d2")),
        metadata={"b": 1, "a": "ü"},
    )

    assert number_evidence(context, expected="reference", grounding="ground").entries == (
        Entry(text="s", role=Role.SYSTEM),
        Entry(text="u", role=Role.USER),
        Entry(text="out", role=Role.ASSISTANT),
        Entry(text="reference", label="expected"),
        Entry(text="ground", label="context"),
        Entry(text="d1", label="document a.pdf"),
        Entry(text="d2", label="document 2"),
        Entry(text='{"a":"ü","b":1}', label="metadata"),
    )


def test_without_messages_the_rendered_input_is_the_users() -> None:
    assert number_evidence(Context(output="out", rendered_input="in")).entries == (
        Entry(text="in", role=Role.USER),
        Entry(text="out", role=Role.ASSISTANT),
    )


def test_what_is_absent_takes_no_number() -> None:
    assert number_evidence(Context(output="out")).entries == (Entry(text="out", role=Role.ASSISTANT),)


def test_what_is_empty_is_there_all_the_same() -> None:
    evidence = number_evidence(Context(output="out", rendered_input=""), expected="", grounding="")

    assert evidence.texts == ("", "out", "", "")


@pytest.mark.parametrize(
    ("own", "brought", "shown"),
    [("own", None, "own"), ("own", "brought", "brought"), ({"b": [1], "a": None}, None, '{"a":null,"b":[1]}')],
)
def test_the_expected_text_is_the_assertions_or_else_the_contexts(own: Any, brought: Any, shown: str) -> None:
    assert number_evidence(Context(output="out", expected=own), expected=brought).entries[1].text == shown


@pytest.mark.parametrize("expected", [0, False, "", [], {}])
def test_an_expected_value_that_is_false_is_a_value(expected: Any) -> None:
    assert len(number_evidence(Context(output="out", expected=expected)).entries) == 2


# --- Bounds ----------------------------------------------------------------------------------------------------------


def test_an_entry_of_exactly_the_bound_is_whole() -> None:
    evidence = number_evidence(Context(output="🙂" * MAX_ENTRY))

    assert MAX_ENTRY == 50_000
    assert (len(evidence.texts[0]), evidence.truncated_fields) == (50_000, ())


def test_what_is_longer_is_cut_and_listed() -> None:
    long = "x" * 50_001
    context = Context(
        output=long,
        messages=(Message(role=Role.USER, content="short"), message(TextBlock(text=long))),
        documents=(Document(text="d"), Document(text=long)),
        metadata={"a": long},
    )

    evidence = number_evidence(context, expected=long, grounding=long)

    assert evidence.truncated_fields == (*("messages[1]", "output", "expected", "context", "documents[1]", "metadata"),)
    assert [len(text) for text in evidence.texts] == [5, 50_000, 50_000, 50_000, 50_000, 1, 50_000, 50_000]


def test_a_long_rendered_input_is_listed_by_its_name() -> None:
    assert number_evidence(Context(output="o", rendered_input="x" * 50_001)).truncated_fields == ("rendered_input",)


def test_a_quote_from_the_part_that_was_cut_is_not_found() -> None:
    text = "x" * 49_998 + "kept and cut"
    texts = number_evidence(Context(output=text)).texts

    def quoting(quote: str) -> str:
        return f'{{"evidence": [{{"message_index": 0, "quote": "{quote}"}}], "reason": "x", "score": 1}}'

    assert check_text(quoting("ke"), texts, (0, 1)).score == 1.0
    with pytest.raises(AnswerError) as caught:
        check_text(quoting("kept"), texts, (0, 1))
    with pytest.raises(AnswerError) as again:
        check_answer(quoting("kept"), [text])
    assert caught.value.category is again.value.category is ErrorCategory.QUOTE_NOT_FOUND


# --- The estimate ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "tokens"), [("", 1), ("abcd" * 100, 101), ("中" * 300, 201), ("ab" * 4 + "é" * 3, 5)])
def test_tokens_are_estimated_from_characters(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
