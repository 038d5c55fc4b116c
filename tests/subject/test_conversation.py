"""A conversation for a model: pictures, attached documents and tools where they stand, and what no vendor takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import AuthoringError, RequestError
from jurat.evaluation.subject import Task
from jurat.evidence import (
    Block,
    ImageBlock,
    Message,
    RefusalBlock,
    Role,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from jurat.provider import ChatMessage, File, Image, ToolCall, ToolResult, make_provider
from jurat.subject import ProviderSubject
from jurat.subject.conversation import spoken

PNG = b"\x89PNG"
PICTURE = ImageBlock(media_type="image/png", data=PNG)
IMAGE = Image(media_type="image/png", data=PNG)
REPORT = File(name="a.pdf", media_type="application/pdf", data=b"%PDF")
HM = Message(role=Role.USER, content="Hm?")


def said(role: Role, *blocks: Block) -> Message:
    return Message(role=role, content=blocks)


def calls(*ids: str, name: str = "find") -> Message:
    return said(Role.ASSISTANT, *(ToolCallBlock(id=one, name=name, arguments={"n": 1}) for one in ids))


def result(call: str = "", text: str = "3 hits", role: Role = Role.TOOL) -> Message:
    return said(role, ToolResultBlock(tool_call_id=call, content=(TextBlock(text=text),)))


def of(*messages: Message, **more: Any) -> list[ChatMessage]:
    return list(spoken(Task(messages=messages, **more)))


def faults_of(*messages: Message, **more: Any) -> list[str]:
    with pytest.raises(AuthoringError) as caught:
        spoken(Task(messages=messages, **more))
    return [str(fault) for fault in caught.value.faults]


# --- Texts and pictures ----------------------------------------------------------------------------------------------


def test_texts_that_stand_together_are_one_and_pictures_keep_their_places() -> None:
    blocks = (TextBlock(text="a"), RefusalBlock(text="b"), PICTURE, TextBlock(text=""), TextBlock(text="c"))
    assert of(said(Role.USER, *blocks)) == [ChatMessage(role="user", parts=("ab", IMAGE, "c"))]


def test_a_message_of_texts_is_a_text_and_thoughts_are_not_said_again() -> None:
    thought = said(Role.ASSISTANT, ThinkingBlock(text="hm"), TextBlock(text="I must "), RefusalBlock(text="not."))
    assert of(thought, HM, system="S") == [
        ChatMessage(role="system", content="S"),
        ChatMessage(role="assistant", content="I must not."),
        ChatMessage(role="user", content="Hm?"),
    ]


def test_system_messages_stay_where_they_were_said() -> None:
    made = of(HM, Message(role=Role.SYSTEM, content="Now in French."), HM)
    assert [message.role for message in made] == ["user", "system", "user"]


def test_attached_documents_come_before_the_text_of_the_last_user_message() -> None:
    made = of(HM, Message(role=Role.ASSISTANT, content="Yes?"), HM, attached=(REPORT, IMAGE))
    assert made[-1] == ChatMessage(role="user", parts=(REPORT, IMAGE, "Hm?"))
    assert of(HM, calls("c"), result("c"), attached=(REPORT,))[0].parts == (REPORT, "Hm?")


# --- Tools -----------------------------------------------------------------------------------------------------------


def test_calls_and_results_go_together_and_a_result_may_be_the_last_word() -> None:
    asks = said(Role.ASSISTANT, TextBlock(text="Let me see."), ToolCallBlock(id="c1", name="find"))
    failed = said(Role.TOOL, ToolResultBlock(tool_call_id="c1", content=(TextBlock(text="none"),), failed=True))
    assert of(HM, asks, failed)[1:] == [
        ChatMessage(role="assistant", parts=("Let me see.", ToolCall(id="c1", name="find"))),
        ChatMessage(role="tool", parts=(ToolResult(id="c1", name="find", parts=("none",), failed=True),)),
    ]


def test_results_find_their_calls_in_any_order() -> None:
    both = said(Role.ASSISTANT, ToolCallBlock(id="a", name="one"), ToolCallBlock(id="b", name="two"))
    made = of(HM, both, result("b", "2"), result("a", "1"))
    assert [part for message in made[2:] for part in message.parts] == [
        ToolResult(id="b", name="two", parts=("2",)),
        ToolResult(id="a", name="one", parts=("1",)),
    ]


def test_without_identifiers_results_answer_the_calls_in_their_order() -> None:
    both = said(Role.ASSISTANT, ToolCallBlock(id="", name="one"), ToolCallBlock(id="", name="two"))
    made = of(HM, both, Message(role=Role.TOOL, content="1"), result("", "2"))
    assert made[1].parts == (ToolCall(id="call_1", name="one"), ToolCall(id="call_2", name="two"))
    assert [message.parts for message in made[2:]] == [
        (ToolResult(id="call_1", name="one", parts=("1",)),),
        (ToolResult(id="call_2", name="two", parts=("2",)),),
    ]


@pytest.mark.parametrize("written", ["functions.find:0", "c" * 41, "é"])
def test_identifiers_that_some_vendor_refuses_are_replaced_on_both_sides(written: str) -> None:
    made = of(HM, calls(written), result(written))
    assert (made[1].parts[0], made[2].parts[0]) == (
        ToolCall(id="call_1", name="find", arguments={"n": 1}),
        ToolResult(id="call_1", name="find", parts=("3 hits",)),
    )


def test_an_identifier_that_is_used_again_later_is_replaced() -> None:
    made = of(HM, calls("call_2"), result("call_2"), HM, calls("call_2"), result("call_2"))
    ids = [part.id for message in made for part in message.parts if isinstance(part, ToolCall | ToolResult)]
    assert ids == ["call_2", "call_2", "call_3", "call_3"]


def test_calls_side_by_side_in_messages_of_their_own_are_one_step() -> None:
    made = of(HM, calls("a"), calls("b"), result("a"), result("b"))
    assert [part.id for part in made[1].parts if isinstance(part, ToolCall)] == ["a", "b"]
    assert [message.role for message in made] == ["user", "assistant", "tool", "tool"]


def test_results_in_a_users_message_come_before_what_else_it_says() -> None:
    both = said(Role.USER, ToolResultBlock(tool_call_id="a", content=(TextBlock(text="3"),)), TextBlock(text="So?"))
    assert of(HM, calls("a"), both)[2:] == [
        ChatMessage(role="tool", parts=(ToolResult(id="a", name="find", parts=("3",)),)),
        ChatMessage(role="user", content="So?"),
    ]


def test_the_picture_of_a_result_is_in_it() -> None:
    inner = ToolResultBlock(tool_call_id="", content=(TextBlock(text="See: "), PICTURE))
    told = said(Role.TOOL, ToolResultBlock(tool_call_id="a", content=(inner, ThinkingBlock(text="hm"))))
    assert of(HM, calls("a"), told)[2].parts == (ToolResult(id="a", name="find", parts=("See: ", IMAGE)),)


# --- What no vendor takes --------------------------------------------------------------------------------------------

BARE = ImageBlock(media_type="image/png", sha256="0" * 64, size_bytes=7)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), "messages: expected a user's message or a tool's result as the last, found no message at all. Give the"),
        ((HM, Message(role=Role.ASSISTANT, content="Yes")), "messages: expected a user's message or a tool's result"),
        ((HM, Message(role=Role.SYSTEM, content="S")), "messages: expected a user's message or a tool's result"),
        ((HM, calls("a")), "messages: expected the results of the tools that were called (find), found the end"),
        ((HM, calls("a"), HM), "messages[2]: expected the results of the tools that were called (find), found more"),
        ((HM, calls("a", "b"), result("a"), HM), "messages[3]: expected the results of the tools that were called"),
        (
            (HM, calls("a"), Message(role=Role.ASSISTANT, content="Hm."), result("a")),
            "messages[2]: expected the results of the tools that were called (find)",
        ),
        (
            (HM, calls("a", "b"), result("a"), calls("c"), result("b")),
            "messages[3]: expected the results of the tools that were called (find)",
        ),
        ((HM, result("a")), "messages[1].content[0]: expected the result of a call right before it that has no other"),
        ((HM, Message(role=Role.TOOL, content="3")), "messages[1]: expected the result of a call right before it"),
        ((HM, calls("a"), result("b")), "messages[2].content[0]: expected the result of a call right before it"),
        ((HM, calls("a"), result("a"), result("a")), "messages[3].content[0]: expected the result of a call right"),
        (
            (said(Role.USER, TextBlock(text="x"), ToolResultBlock(tool_call_id="a")),),
            "messages[0].content[1]: expected the results of tools before everything else in a message",
        ),
        (
            (HM, said(Role.ASSISTANT, ToolResultBlock(tool_call_id="a")), HM),
            "messages[1].content[0]: expected a tool's result in a message of the role tool, found one of the role",
        ),
        (
            (said(Role.USER, ToolCallBlock(id="a", name="n")),),
            "messages[0].content[0]: expected a tool call in a message of the role assistant, found a tool call in",
        ),
        (
            (said(Role.ASSISTANT, PICTURE), HM),
            "messages[0].content[0]: expected a picture in a message of the role user, or in a tool's result, found",
        ),
        ((said(Role.SYSTEM, PICTURE), HM), "messages[0].content[0]: expected a picture in a message of the role user"),
        (
            (HM, calls("a"), said(Role.TOOL, TextBlock(text="3"))),
            "messages[2].content[0]: expected results of tools alone, found other content in one of the role tool",
        ),
        (
            (said(Role.USER, BARE),),
            "messages[0].content[0]: expected a picture to show, found only what was recorded of it. Name its file",
        ),
    ],
)
def test_what_no_vendor_takes_is_the_authors_fault_at_its_place(messages: tuple[Message, ...], expected: str) -> None:
    told = faults_of(*messages)
    assert len(told) == 1
    assert told[0].startswith(expected)


def test_all_faults_come_together() -> None:
    told = faults_of(said(Role.ASSISTANT, PICTURE), said(Role.USER, BARE), Message(role=Role.ASSISTANT, content="x"))
    assert [fault.partition(":")[0] for fault in told] == [
        "messages[0].content[0]",
        "messages[1].content[0]",
        "messages",
    ]


def test_attached_documents_need_a_users_message() -> None:
    assert faults_of(calls("a"), result("a"), attached=(REPORT,)) == [
        "documents: expected a user's message, which shows the attached documents, found none"
    ]


# --- Through a provider ----------------------------------------------------------------------------------------------


def test_the_request_of_a_conversation_with_tools_is_the_vendors() -> None:
    subject = ProviderSubject(make_provider("anthropic:claude-haiku-4-5"))
    body = json.loads(subject.prepare(Task(messages=(HM, calls("toolu_1"), result("toolu_1")))).body)
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][2]["content"] == [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3 hits"}]


def test_each_repeat_has_a_key_of_its_own_with_pictures_too() -> None:
    subject = ProviderSubject(make_provider("openai:gpt-4o"))
    task = [Task(messages=(said(Role.USER, PICTURE),), repeat=repeat) for repeat in (0, 0, 1)]
    first, again, second = (subject.prepare(one) for one in task)
    assert (first == again, first.key == second.key, first.body == second.body) == (True, False, True)


def test_a_model_that_takes_no_pictures_is_refused_with_a_category() -> None:
    subject = ProviderSubject(make_provider("openai:gpt-3.5-turbo"))
    with pytest.raises(RequestError, match=r"model gpt-3\.5-turbo takes no images") as caught:
        subject.prepare(Task(messages=(said(Role.USER, PICTURE, TextBlock(text="?")),)))
    assert caught.value.category.value == "request_invalid"


BLOCKS = st.recursive(
    st.one_of(
        st.builds(TextBlock, text=st.text(max_size=3)),
        st.builds(ThinkingBlock, text=st.just("t")),
        st.builds(ToolCallBlock, id=st.sampled_from(["", "a", "b"]), name=st.just("n")),
        st.sampled_from([PICTURE, BARE]),
    ),
    lambda inner: st.builds(
        ToolResultBlock, tool_call_id=st.sampled_from(["", "a", "b"]), content=st.lists(inner, max_size=2).map(tuple)
    ),
    max_leaves=4,
)
MESSAGES = st.builds(
    Message, role=st.sampled_from(Role), content=st.one_of(st.text(max_size=3), st.lists(BLOCKS, max_size=3).map(tuple))
)


@given(st.lists(MESSAGES, max_size=6))
def test_any_conversation_is_either_sound_or_the_authors_fault(messages: list[Message]) -> None:
    try:
        made = spoken(Task(messages=tuple(messages)))
    except AuthoringError:
        return
    waiting: set[str] = set()
    for message in made:
        calls_here = [part.id for part in message.parts if isinstance(part, ToolCall)]
        results = [part.id for part in message.parts if isinstance(part, ToolResult)]
        assert not waiting or results
        waiting |= set(calls_here)
        assert waiting.issuperset(results)
        waiting -= set(results)
    assert not waiting
    assert made[-1].role in ("user", "tool")
