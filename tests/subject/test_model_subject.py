"""A model as the subject: what it is asked, and what its reply says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jurat.errors import AuthoringError, ErrorCategory, ProviderError, RequestError
from jurat.evaluation.subject import SubjectReply, Task
from jurat.evidence import Message, RefusalBlock, Role, TextBlock, ThinkingBlock
from jurat.provider import (
    Call,
    Capabilities,
    FinishReason,
    Frame,
    ModelRequest,
    ProviderSettings,
    Raw,
    ScriptedProvider,
    ScriptedReply,
    Usage,
)
from jurat.subject import ProviderSubject, make_subject
from jurat.suite.suite import SubjectKind, SubjectSpec

USAGE = Usage(input_tokens=1_000_000, output_tokens=500_000)


def user(text: str) -> Message:
    return Message(role=Role.USER, content=text)


def assistant(text: str) -> Message:
    return Message(role=Role.ASSISTANT, content=text)


def model(reply: Any = "Paris", prices: dict[str, float] | None = None, **able: Any) -> ScriptedProvider:
    settings = ProviderSettings(
        name="answerer",
        kind="openai_compatible",
        model="m-1",
        capabilities=Capabilities(**able),
        prices={"input": 2.0, "output": 4.0} if prices is None else prices,
    )
    return ScriptedProvider(reply, settings=settings)


def sent(call: Call) -> Any:
    return json.loads(call.body)


async def reply_of(reply: Any, **options: Any) -> SubjectReply:
    subject = ProviderSubject(model(reply, **options))
    return subject.read(await subject.send(subject.prepare(Task(messages=(user("Hm?"),)))))


# --- What it is asked ------------------------------------------------------------------------------------------------


def test_system_earlier_turns_and_the_question_become_the_request_and_nothing_is_added() -> None:
    task = Task(system="Be brief.", messages=(user("Hello"), assistant("Hi"), user("Where?")))

    assert sent(ProviderSubject(model()).prepare(task)) == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi"},
            {"role": "user", "content": "Where?"},
        ],
    }


def test_what_the_author_set_is_sent() -> None:
    subject = ProviderSubject(model(), temperature=0.5, max_output_tokens=64, extra={"seed": 7})

    body = sent(subject.prepare(Task(messages=(user("Where?"),))))

    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.5, 64, 7)


def test_blocks_of_text_are_joined_and_what_the_model_thought_is_not_said_again() -> None:
    blocks = (ThinkingBlock(text="zq7canary"), TextBlock(text="I must "), RefusalBlock(text="not."))
    task = Task(messages=(user("Tell me"), Message(role=Role.ASSISTANT, content=blocks), user("Why?")))

    assert sent(ProviderSubject(model()).prepare(task))["messages"][1] == {
        "role": "assistant",
        "content": "I must not.",
    }


class Framed(ScriptedProvider):
    """Remembers the frames of its requests."""

    def __init__(self) -> None:
        super().__init__("Paris")
        self.frames: list[Frame] = []

    def prepare(self, request: ModelRequest) -> Call:
        self.frames.append(request.frame)
        return super().prepare(request)


def test_trials_with_the_same_system_and_earlier_turns_share_a_frame() -> None:
    provider = Framed()
    subject = ProviderSubject(provider)
    for question in ("a", "b"):
        subject.prepare(Task(system="S", messages=(user("Hello"), user(question))))
    subject.prepare(Task(system="S", messages=(user("Hi"), user("a"))))
    subject.prepare(Task(system="T", messages=(user("Hello"), user("a"))))

    first, second, third, fourth = provider.frames
    assert first is second
    assert len({id(frame) for frame in (first, third, fourth)}) == 3


def test_frames_do_not_pile_up() -> None:
    provider = Framed()
    subject = ProviderSubject(provider)
    for number in range(200):
        subject.prepare(Task(messages=(user(str(number)), user("Well?"))))
    again = subject.prepare(Task(messages=(user("0"), user("Well?"))))

    assert sent(again)["messages"][0]["content"] == "0"
    assert provider.frames[-1] is not provider.frames[0]


def test_each_repeat_has_a_key_of_its_own_and_the_same_bytes() -> None:
    subject = ProviderSubject(model())
    first, again, second = (subject.prepare(Task(messages=(user("Hm?"),), repeat=repeat)) for repeat in (0, 0, 1))

    assert first == again
    assert first.key != second.key
    assert first.body == second.body


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), "found no message at all"),
        ((user("Hello"), assistant("Hi")), "found one of the role assistant"),
    ],
)
def test_what_a_request_cannot_say_is_the_authors_fault(messages: tuple[Message, ...], expected: str) -> None:
    with pytest.raises(AuthoringError, match=expected):
        ProviderSubject(model()).prepare(Task(messages=messages))


def test_what_is_no_unicode_cannot_be_sent() -> None:
    with pytest.raises(RequestError, match="lone surrogate"):
        ProviderSubject(model()).prepare(Task(messages=(user("\ud800"),)))


# --- What it answers -------------------------------------------------------------------------------------------------


async def test_an_answer_comes_with_its_tokens_its_cost_and_its_model() -> None:
    reply = await reply_of(ScriptedReply(text="Paris", usage=USAGE, model="m-1-2026"))

    assert (reply.output, reply.usage, reply.cost_usd, reply.model) == ("Paris", USAGE, 4.0, "m-1-2026")
    assert dict(reply.execution) == {"tool_calls": [], "finish_reason": "stop"}


async def test_what_cannot_be_priced_is_unknown_and_not_nothing() -> None:
    assert (await reply_of(ScriptedReply(text="Paris"))).cost_usd is None
    assert (await reply_of(ScriptedReply(text="Paris", usage=USAGE), prices={})).cost_usd is None


async def test_a_refusal_is_an_answer_in_the_models_own_words() -> None:
    told = await reply_of(ScriptedReply(text=None, refusal="I must not."))
    with_text = await reply_of(ScriptedReply(text="No.", finish_reason=FinishReason.REFUSAL))

    assert (told.output, told.execution["refused"], told.error) == ("I must not.", True, None)
    assert (with_text.output, with_text.execution["refused"]) == ("No.", True)


async def test_a_model_that_asked_for_a_tool_has_not_said_that_it_called_none() -> None:
    reply = await reply_of(ScriptedReply(text=None, finish_reason=FinishReason.TOOL_CALL))

    assert reply.output == ""
    assert dict(reply.execution) == {"finish_reason": "tool_call"}


async def test_an_answer_that_a_filter_took_away_is_an_error_and_was_paid_for() -> None:
    reply = await reply_of(ScriptedReply(text=None, finish_reason=FinishReason.CONTENT_FILTER, usage=USAGE))

    assert reply.error is not None
    assert reply.error.type is ErrorCategory.REFUSAL
    assert reply.cost_usd == 4.0


async def test_bytes_that_are_no_reply_are_an_error() -> None:
    with pytest.raises(ProviderError, match="expected a list of choices"):
        ProviderSubject(model()).read(Raw(body=b"{}", latency_ms=1.0))


# --- What it is ------------------------------------------------------------------------------------------------------


def test_its_identity_names_the_model_and_what_is_sent_to_it() -> None:
    spec = SubjectSpec(kind=SubjectKind.PROVIDER, provider="answerer", settings={"temperature": 0.2})
    subject = make_subject(spec, provider=model())

    assert subject is not None
    assert subject.name == "answerer"
    assert subject.identity == {
        "kind": "provider",
        "provider": {"kind": "openai_compatible", "endpoint": "", "model": "m-1"},
        "temperature": 0.2,
        "max_output_tokens": None,
        "extra": {},
    }


def test_a_temperature_that_a_model_does_not_take_is_neither_sent_nor_said_to_have_been() -> None:
    subject = ProviderSubject(model(temperature=False), temperature=0.7, max_output_tokens=100)

    assert sorted(sent(subject.prepare(Task(messages=(user("Hm?"),))))) == ["max_tokens", "messages", "model"]
    assert subject.identity["temperature"] is None


def test_where_every_answer_is_recorded_there_is_no_subject() -> None:
    assert make_subject(SubjectSpec(kind=SubjectKind.RECORDED)) is None


async def test_checking_it_checks_its_provider() -> None:
    class Keyless(ScriptedProvider):
        def check(self) -> None:
            raise ProviderError(ErrorCategory.MISSING_API_KEY, "no API key")

    with pytest.raises(ProviderError, match="no API key"):
        ProviderSubject(Keyless("Paris")).check()
    await ProviderSubject(model()).aclose()
