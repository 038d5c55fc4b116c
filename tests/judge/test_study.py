"""Looking the answer up first: what is asked, what the question is then shown, and what it costs."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from judging import PRICED, provider_with
from jurat.errors import ErrorCategory
from jurat.evidence import Context, Document, Evidence, number_evidence
from jurat.judge import Judge, JudgeSettings
from jurat.judge.probability import mean_share
from jurat.judge.prompt import render_evidence
from jurat.judge.study import StudyKind, nearest_sentences, views_of, without_work
from jurat.judge.tuning import tuning_for
from jurat.provider import FinishReason, ScriptedProvider, ScriptedReply, TokenLogprobs, Usage
from jurat.rubric import find
from jurat.vocabulary import Status, Strategy

USAGE = Usage(input_tokens=100, output_tokens=1)
LOOKED_UP = Usage(input_tokens=50, output_tokens=9)
HOUSE = "The house has nine rooms. The garden is open until dusk. Dogs stay outside."
GARDEN = Context(output="Until dusk.", rendered_input="When does the garden close?")
CAPITAL = Context(output="Oslo.", rendered_input="What is the capital of Norway?")
EXPLAINED = json.dumps({"evidence": [{"message_index": 1, "quote": "Until dusk."}], "reason": "Both say so."})


def word(first: str, second: str, share: float) -> ScriptedReply:
    top = {first: math.log(share), second: math.log(1 - share)}
    logprobs = (TokenLogprobs(token=first, top=top),)
    return ScriptedReply(text=first, finish_reason=FinishReason.LENGTH, logprobs=logprobs, usage=USAGE)


def small_model(*replies: Any) -> ScriptedProvider:
    provider = provider_with(*replies, prices=PRICED)
    return ScriptedProvider(list(replies), settings=replace(provider.settings, wants_examples=True))


def judge(template: str, provider: ScriptedProvider, strategy: str = "logprob", **settings: Any) -> Judge:
    return Judge(template, provider, JudgeSettings(strategy=Strategy(strategy), **settings))


def shown(call_body: bytes) -> str:
    """The user's last message."""
    body = json.loads(call_body)
    return str(body["user"] if "user" in body else body["messages"][-1]["content"])


# --- What is nearest -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "nearest"),
    [
        (("Open until dusk.",), "The garden is open until dusk."),
        (("Nine rooms. No dogs.",), "The house has nine rooms. Dogs stay outside."),
        (("Dogs!", "rooms?"), "The house has nine rooms. Dogs stay outside."),
        (("Parking is free.",), "The garden is open until dusk."),
        (("Quite.",), HOUSE),
        (("",), HOUSE),
        ((), HOUSE),
    ],
)
def test_the_nearest_sentences_share_the_rarest_words(texts: tuple[str, ...], nearest: str) -> None:
    assert nearest_sentences(HOUSE, texts) == nearest


def test_of_equally_near_sentences_the_first_is_taken() -> None:
    assert nearest_sentences("A cat sleeps. A cat wakes.", ("cat",)) == "A cat sleeps."


def test_a_source_without_any_word_stays_whole() -> None:
    assert nearest_sentences("…", ("dusk",)) == "…"


# --- What the question is shown --------------------------------------------------------------------------------------


def labels(evidence: Evidence) -> list[str]:
    return [str(entry.label or entry.role) for entry in evidence.entries]


def test_a_study_never_sees_the_work_but_sees_all_else() -> None:
    evidence = number_evidence(replace(GARDEN, expected="dusk"), grounding=HOUSE)

    assert labels(without_work(evidence)) == ["user", "expected", "context"]


def test_sources_are_shown_as_repeated_and_as_their_nearest_sentences_and_the_work_never_cut() -> None:
    evidence = number_evidence(replace(GARDEN, output="Until dusk. No dogs."), grounding=HOUSE)

    nearest, repeated = views_of(evidence, StudyKind.EXTRACT, "The garden closes at dusk.")

    assert nearest.texts[:2] == repeated.texts[:2] == ("When does the garden close?", "Until dusk. No dogs.")
    assert nearest.texts[2:] == ("The garden is open until dusk. Dogs stay outside.",)
    assert repeated.texts[2:] == ("The garden closes at dusk.",)


def test_two_views_that_are_the_same_are_one() -> None:
    evidence = number_evidence(GARDEN, grounding=HOUSE)

    (only,) = views_of(evidence, StudyKind.EXTRACT, "The garden is open until dusk.")

    assert only.texts[2] == "The garden is open until dusk."


def test_every_source_keeps_its_name_in_one_view_and_what_is_repeated_stands_for_all_in_the_other() -> None:
    manual = Document(name="manual", text="Tap water is safe. The garden has a fountain.")
    evidence = number_evidence(replace(GARDEN, documents=(manual,), metadata={"a": 1}), grounding=HOUSE)

    nearest, repeated = views_of(evidence, StudyKind.EXTRACT, "The garden closes at dusk.")

    assert labels(nearest) == ["user", "assistant", "context", "document manual", "metadata"]
    assert nearest.texts[2:4] == ("The garden is open until dusk.", "The garden has a fountain.")
    assert labels(repeated) == ["user", "assistant", "metadata", "context"]


def test_an_answer_of_its_own_is_shown_as_what_is_expected() -> None:
    (seen,) = views_of(number_evidence(CAPITAL), StudyKind.OWN_ANSWER, "It is Oslo.")

    assert labels(seen) == ["user", "assistant", "expected"]
    assert seen.texts[2] == "It is Oslo."


# --- The calls -------------------------------------------------------------------------------------------------------


async def test_groundedness_looks_up_then_asks_with_the_nearest_sentences_then_has_it_explained() -> None:
    found = ScriptedReply(text="The garden is open until dusk.", usage=LOOKED_UP)
    provider = small_model(found, word("yes", "no", 0.9), ScriptedReply(text=EXPLAINED, usage=USAGE))
    steps = judge("groundedness", provider, "both").steps(GARDEN, HOUSE)
    (study,) = next(steps)
    (question,) = steps.send([await provider.send(study)])
    (explanation,) = steps.send([await provider.send(question)])

    whole = number_evidence(GARDEN, grounding=HOUSE)
    assert shown(study.body) == render_evidence(without_work(whole), sources_first=True)
    assert "nine rooms" in shown(study.body)
    assert "nine rooms" not in shown(question.body)
    assert "The garden is open until dusk." in shown(question.body)
    assert shown(explanation.body).startswith(render_evidence(whole))


async def test_every_call_counts_and_none_overlaps() -> None:
    replies = (
        ScriptedReply(text="The garden is open until dusk.", usage=LOOKED_UP, latency_ms=30.0),
        replace(word("yes", "no", 0.9), latency_ms=4.0),
        ScriptedReply(text=EXPLAINED, usage=USAGE, latency_ms=60.0),
    )

    verdict = await judge("groundedness", small_model(*replies), "both").judge(GARDEN, HOUSE)

    spending = verdict.opinion.spending
    assert spending.usage == Usage(input_tokens=250, output_tokens=11)
    assert spending.attempts == 3
    assert spending.duration_ms == pytest.approx(94.0)
    assert spending.cost_usd == pytest.approx((250 * 1.0 + 11 * 10.0) / 1_000_000)


async def test_the_score_is_the_mean_log_odds_of_both_views() -> None:
    tuning = tuning_for(find("groundedness"))
    assert tuning is not None
    threshold = find("groundedness").pass_threshold  # of a range from 0 to 1
    found = ScriptedReply(text="The garden closes at dusk.", usage=LOOKED_UP)
    provider = small_model(found, word("yes", "no", 0.9), word("yes", "no", 0.8))

    verdict = await judge("groundedness", provider).judge(GARDEN, HOUSE)

    assert verdict.score is not None
    odds = verdict.score / (1 - verdict.score)  # of 0.9 and 0.8: 9 and 4, so 6 is their geometric mean
    assert odds == pytest.approx(6 * (1 - tuning.cut) / tuning.cut * threshold / (1 - threshold))
    assert verdict.opinion.spending.usage == Usage(input_tokens=250, output_tokens=11)
    assert verdict.opinion.spending.attempts == 3


async def test_one_view_that_fails_makes_the_whole_an_error_and_every_call_counts() -> None:
    found = ScriptedReply(text="The garden closes at dusk.", usage=LOOKED_UP)
    provider = small_model(found, word("yes", "no", 0.9), ScriptedReply(text="yes", usage=USAGE))

    verdict = await judge("groundedness", provider).judge(GARDEN, HOUSE)

    assert (verdict.status, verdict.score) == (Status.ERROR, None)
    assert verdict.opinion.spending.usage == Usage(input_tokens=250, output_tokens=11)
    assert len(verdict.rejected) == 1


@pytest.mark.parametrize(
    ("shares", "mean"),
    [([0.9], 0.9), ([1.0], 1.0), ([0.9, 0.1], 0.5), ([0.9, 0.8], 6 / 7), ([1.0, 0.5], 1000 / 1001), ([0.0, 1.0], 0.5)],
)
def test_a_mean_of_probabilities_is_one_of_their_log_odds(shares: list[float], mean: float) -> None:
    assert mean_share(shares) == pytest.approx(mean, abs=1e-6)


async def test_the_score_falls_on_the_threshold_where_the_models_yes_turns() -> None:
    tuning = tuning_for(find("groundedness"))
    assert tuning is not None
    found = ScriptedReply(text="The garden is open until dusk.", usage=LOOKED_UP)

    verdict = await judge("groundedness", small_model(found, word("yes", "no", tuning.cut))).judge(GARDEN, HOUSE)

    rubric = find("groundedness")
    low, high = rubric.score_range
    assert verdict.score == pytest.approx(rubric.pass_threshold)
    assert low < rubric.pass_threshold < high


async def test_correctness_answers_for_itself_where_nobody_gave_a_reference() -> None:
    provider = small_model(ScriptedReply(text=" It is Oslo. ", usage=LOOKED_UP), word("right", "wrong", 0.9))
    steps = judge("correctness", provider).steps(CAPITAL)
    (study,) = next(steps)
    (question,) = steps.send([await provider.send(study)])

    assert "Oslo" not in shown(study.body)
    assert '"label":"expected","text":"It is Oslo."' in shown(question.body)
    assert shown(question.body).endswith("Is the assistant's answer right or wrong?")


async def test_correctness_is_counted_in_its_own_two_words() -> None:
    found = ScriptedReply(text="It is Oslo.", usage=LOOKED_UP)

    passed = await judge("correctness", small_model(found, word("right", "wrong", 0.9))).judge(CAPITAL)
    failed = await judge("correctness", small_model(found, word("right", "wrong", 0.1))).judge(CAPITAL)
    other = await judge("correctness", small_model(found, word("yes", "no", 0.9))).judge(CAPITAL)

    assert (passed.status, failed.status) == (Status.PASS, Status.FAIL)
    assert passed.opinion.reason == "right with probability 0.90"
    assert other.opinion.error is not None
    assert other.opinion.error.type is ErrorCategory.SCHEMA_VIOLATION


async def test_a_reference_that_was_given_is_not_looked_up() -> None:
    provider = small_model(word("right", "wrong", 0.9))

    verdict = await judge("correctness", provider).judge(replace(CAPITAL, expected="Oslo"))

    assert (verdict.status, provider.calls) == (Status.PASS, 1)


async def test_without_a_source_or_a_question_nothing_is_looked_up() -> None:
    provider = small_model(word("yes", "no", 0.9), word("yes", "no", 0.9))

    await judge("groundedness", provider).judge(GARDEN)
    await judge("groundedness", provider).judge(Context(output="Until dusk."), HOUSE)

    assert provider.calls == 2


async def test_a_finding_that_was_cut_off_is_not_used() -> None:
    cut = ScriptedReply(text="It is", finish_reason=FinishReason.LENGTH, usage=LOOKED_UP)
    provider = small_model(cut, word("right", "wrong", 0.9))
    steps = judge("correctness", provider).steps(CAPITAL)
    (study,) = next(steps)
    (question,) = steps.send([await provider.send(study)])

    assert '"expected"' not in shown(question.body)


@pytest.mark.parametrize(
    ("bad", "category"),
    [
        (ScriptedReply(text=" ", usage=LOOKED_UP), ErrorCategory.EMPTY_RESPONSE),
        (ScriptedReply(error=ErrorCategory.TIMEOUT), ErrorCategory.TIMEOUT),
    ],
)
async def test_a_study_that_fails_is_an_error_and_no_question_is_asked(
    bad: ScriptedReply, category: ErrorCategory
) -> None:
    provider = small_model(bad, word("right", "wrong", 0.9))

    verdict = await judge("correctness", provider, "both").judge(CAPITAL)

    assert verdict.opinion.error is not None
    assert (verdict.status, verdict.opinion.error.type) == (Status.ERROR, category)
    assert (provider.calls, verdict.opinion.spending.attempts) == (1, 1)


async def test_each_sample_looks_up_for_itself() -> None:
    found = ScriptedReply(text="It is Oslo.", usage=LOOKED_UP)
    provider = small_model(found, found, word("right", "wrong", 0.9), word("right", "wrong", 0.8))
    steps = judge("correctness", provider, samples=2).steps(CAPITAL)

    studies = next(steps)
    questions = steps.send([await provider.send(call) for call in studies])

    assert len({call.key for call in studies}) == len({call.key for call in questions}) == 2


# --- Who looks up ----------------------------------------------------------------------------------------------------


async def test_a_model_that_needs_no_examples_looks_nothing_up() -> None:
    criteria = len(find("correctness").criteria)
    provider = provider_with(*[word("yes", "no", 0.9)] * criteria)

    verdict = await judge("correctness", provider).judge(CAPITAL)

    assert (verdict.status, provider.calls) == (Status.PASS, criteria)


@pytest.mark.parametrize("template", ["groundedness", "faithfulness", "hallucination", "correctness"])
def test_the_worked_examples_show_what_the_real_question_shows(template: str) -> None:
    tuning = tuning_for(find(template))

    assert tuning is not None
    assert len(tuning.seen) == len(tuning.examples)
    assert all({"context", "expected"} & set(labels(evidence)) for evidence in tuning.seen)


def test_the_study_belongs_to_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    from jurat.judge import frames

    before = judge("correctness", small_model("")).revision
    monkeypatch.setattr(frames, "STUDY_TOKENS", 7)

    assert judge("correctness", small_model("")).revision != before
