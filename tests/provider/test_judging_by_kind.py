"""A judge behind each kind: whatever the vendor's words, the same reply is the same verdict or the same error."""

from __future__ import annotations

import json

import pytest
from loopback import Answer
from test_contract import WIRES
from wired import behind
from wires import Wire

from jurat.judge import Judge
from jurat.judge.verdict import Verdict
from jurat.provider import FinishReason, Usage
from jurat.provider.script import ScriptedReply

ANSWER = json.dumps({"evidence": [{"message_index": 0, "quote": "Paris"}], "reason": "It says so.", "score": 0.75})
CUT_OFF = {FinishReason.LENGTH: "truncated", FinishReason.CONTENT_FILTER: "refusal", FinishReason.REFUSAL: "refusal"}


async def verdict(wire: Wire, reply: ScriptedReply) -> Verdict:
    async with behind(wire, Answer(body=wire.body(reply, "m"))) as (provider, server, _):
        found = await Judge("answer_relevance", provider).judge("Paris is the capital of France.")
        assert len(server.requests) == 1
        return found


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Wire:
    monkeypatch.setenv("JUDGE_KEY", "k-1")
    wire: Wire = request.param
    return wire


async def test_a_valid_answer_is_the_same_verdict(wire: Wire) -> None:
    said = ScriptedReply(text=ANSWER, usage=Usage(input_tokens=90, output_tokens=30), model="m-2026")
    found = await verdict(wire, said)
    assert (found.opinion.status, found.opinion.error) == ("pass", None)
    assert (found.opinion.score, found.opinion.reason) == (0.75, "It says so.")
    spent = found.opinion.spending
    assert (spent.usage.input_tokens, spent.usage.output_tokens, spent.models) == (90, 30, ("m-2026",))


@pytest.mark.parametrize("reason", CUT_OFF)
async def test_an_answer_that_was_cut_off_is_the_same_error(wire: Wire, reason: FinishReason) -> None:
    said = ScriptedReply(text=ANSWER, finish_reason=reason if reason in wire.reasons else FinishReason.LENGTH)
    error = (await verdict(wire, said)).opinion.error
    assert error is not None
    assert error.type == CUT_OFF[said.finish_reason]


async def test_a_word_that_nobody_knows_is_no_fault_where_the_object_is_whole(wire: Wire) -> None:
    found = await verdict(wire, ScriptedReply(text=ANSWER, finish_reason=FinishReason.OTHER))
    assert found.opinion.status == "pass"


async def test_a_call_of_a_tool_is_no_answer_whatever_stands_beside_it(wire: Wire) -> None:
    found = await verdict(wire, ScriptedReply(text=ANSWER, finish_reason=FinishReason.TOOL_CALL))
    assert found.opinion.status == "error"


async def test_an_answer_in_the_reasoning_alone_is_none(wire: Wire) -> None:
    error = (await verdict(wire, ScriptedReply(text=None, reasoning=ANSWER))).opinion.error
    assert error is not None
    assert error.type == "empty_response"
