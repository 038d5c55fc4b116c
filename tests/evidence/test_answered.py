"""A context gets its answer: what it holds is shared, what is new is checked."""

from __future__ import annotations

from dataclasses import fields

import pytest

from jurat.errors import AuthoringError
from jurat.evidence import Context, Document, Message, Role

FULL = Context(
    output="",
    expected={"a": 1},
    rendered_input="Where?",
    prompt_template="{{q}}",
    variables={"q": "Where?"},
    messages=(Message(role=Role.USER, content="Where?"),),
    documents=(Document(text="Here.", name="page"),),
    metadata={"tier": 1},
    provider="answerer",
    prompt_version="ask@1",
)


def test_everything_but_the_answer_stays() -> None:
    found = FULL.answered("Here.", {"latency_ms": 3, "tool_calls": []})

    assert (found.output, found.execution) == ("Here.", {"latency_ms": 3, "tool_calls": ()})
    for field in fields(Context):
        if field.name not in ("output", "execution"):
            assert getattr(found, field.name) is getattr(FULL, field.name)
    assert (FULL.output, FULL.execution) == ("", {})


def test_it_equals_the_context_that_is_made_at_once() -> None:
    made = Context(
        **{field.name: getattr(FULL, field.name) for field in fields(Context)} | {"output": "x", "execution": {"n": 1}}
    )

    assert FULL.answered("x", {"n": 1}) == made


def test_other_messages_may_come_before_it_as_messages_or_as_json() -> None:
    said = Message(role=Role.ASSISTANT, content="Let me see.")

    assert FULL.answered("x", {}, [said]).messages == (said,)
    assert FULL.answered("x", {}, [{"role": "assistant", "content": "Let me see."}]).messages == (said,)
    assert FULL.answered("x", {}, []).messages == ()


def test_every_fault_of_what_is_new_is_told() -> None:
    with pytest.raises(AuthoringError) as caught:
        FULL.answered("lone \ud800", {"a": object()}, [{"role": "nobody", "content": "x"}])

    assert [fault.path for fault in caught.value.faults] == ["output", "execution.a", "messages[0].role"]


def test_messages_of_plain_text_are_kept_as_they_are_and_checked_all_the_same() -> None:
    plain = Message(role=Role.USER, content="Where?")

    assert Context(output="x", messages=(plain,)).messages[0] is plain
    with pytest.raises(AuthoringError, match=r"messages\[0\].content"):
        Context(output="x", messages=(Message(role=Role.USER, content="\ud800"),))
    with pytest.raises(AuthoringError, match=r"messages\[0\].role"):
        Context(output="x", messages=(Message(role="nobody", content="x"),))  # type: ignore[arg-type]
