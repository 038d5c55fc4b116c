"""The ways in which a judge asks: by a structured answer, by one token's probability, or by both.

Each is a generator that never waits: it yields calls, is sent their outcomes, and returns an `Opinion`. Whoever drives
it (`jurat.judge.judge.Judge.evaluate`, the engine) does the waiting, the storing and the bounding.

`answer`  one call; score, reason and quotes come from the model's structured answer.
`logprob` one call and one token a criterion; score = P(yes) / (P(yes) + P(no)), mapped to the criterion's range.
          After G-Eval's and Kadavath et al.'s (2022, "Language Models (Mostly) Know What They Know") use of
          token probabilities; normalised over the two words, so that mass on other tokens does not count.
`both`    the score as in `logprob`; then, knowing how it came out, one structured answer for the reason and quotes.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from jurat.errors import AnswerError
from jurat.evaluation import Finding, Severity
from jurat.evidence import Evidence
from jurat.jsontext import Json
from jurat.judge.answer import (
    Answer,
    CriterionAnswer,
    check_explanation,
    check_reply,
    combine_criteria,
)
from jurat.judge.opinions import (
    Outcome,
    Terms,
    decide,
    read_outcome,
    rejected,
    require_logprobs,
    require_structured_output,
    unexplained,
)
from jurat.judge.probability import YES_NO, mean_share, probability_of_yes, shifted
from jurat.judge.prompt import decided_text, render_evidence
from jurat.judge.spans import choice_schema
from jurat.judge.study import Study
from jurat.judge.verdict import Opinion, Spending, sum_spending
from jurat.provider.protocol import (
    Call,
    Frame,
    ModelRequest,
    ResponseSchema,
)
from jurat.rubric import Criterion, Rubric
from jurat.vocabulary import Contract

__all__ = ["AnswerStrategy", "Asked", "BothStrategy", "LogprobStrategy", "Steps", "Strategist"]


Steps = Generator[Sequence[Call], Sequence[Outcome], Opinion]


class Strategist(Protocol):
    """One way of asking. `frames` are its trusted parts; with `settings` they belong to the judge identity."""

    @property
    def frames(self) -> tuple[Frame, ...]: ...

    @property
    def settings(self) -> Json: ...

    def check(self) -> None: ...

    def steps(self, evidence: Evidence, repeat: int) -> Steps: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStrategy:
    """Ask for a structured answer and take score, reason and quotes from it."""

    terms: Terms
    frame: Frame
    contract: Contract

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    @property
    def settings(self) -> Json:
        return None

    def check(self) -> None:
        if self.frame.schema is not None:
            require_structured_output(self.terms.provider.settings)

    def steps(self, evidence: Evidence, repeat: int) -> Steps:
        user = render_evidence(evidence)
        call = self.terms.provider.prepare(ModelRequest(frame=self.frame, user=user, repeat=repeat))
        (outcome,) = yield (call,)
        read = read_outcome(self.terms, call, outcome)
        if isinstance(read, Opinion):
            return read
        reply, spending = read
        limit = self.frame.max_output_tokens
        try:
            answer = check_reply(reply, evidence.texts, self.terms.rubric, self.contract, token_limit=limit)
        except AnswerError as error:
            return rejected(self.terms, call, error, spending)
        return decide(self.terms, answer, spending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One yes/no question.

    Attributes:
        frame: its trusted part.
        closing: trusted text after the evidence.
        criterion: what it asks about; None for the rubric as a whole.
        shift: added to the log-odds of yes, where a model is known to lean to one side.
        words: yes and no, or two other words in their place.
    """

    frame: Frame
    closing: str = ""
    criterion: Criterion | None = None
    shift: float = 0.0
    words: tuple[str, str] = YES_NO

    @property
    def settings(self) -> list[Json]:
        """What of it stands in no frame."""
        told: list[Json] = [self.closing, self.shift]
        return told if self.words == YES_NO else [*told, *self.words]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogprobStrategy:
    """Ask a yes/no question for each criterion, and take the score from the probability of yes.

    With a study (`jurat.judge.study`) there is a call before, whose finding the questions show.
    """

    terms: Terms
    questions: tuple[Asked, ...]
    study: Study | None = None

    @property
    def frames(self) -> tuple[Frame, ...]:
        studied = (self.study.frame,) if self.study else ()
        return (*studied, *(question.frame for question in self.questions))

    @property
    def settings(self) -> Json:
        told: list[Json] = [question.settings for question in self.questions]
        return [*told, [self.study.kind]] if self.study else told

    def check(self) -> None:
        require_logprobs(self.terms.provider.settings)

    def steps(self, evidence: Evidence, repeat: int) -> Steps:
        scored = yield from self.score(evidence, repeat)
        return scored if isinstance(scored, Opinion) else decide(self.terms, *scored)

    def score(
        self, evidence: Evidence, repeat: int
    ) -> Generator[Sequence[Call], Sequence[Outcome], tuple[Answer, Spending] | Opinion]:
        """The questions side by side; one that fails makes the whole fail, and every call is counted."""
        studied = yield from self._studied(evidence, repeat)
        if isinstance(studied, Opinion):
            return studied
        views, before = studied
        prepare = self.terms.provider.prepare
        users = [render_evidence(view, sources_first=True) for view in views]
        asked = [(question, user + question.closing) for question in self.questions for user in users]
        calls = [prepare(ModelRequest(frame=question.frame, user=user, repeat=repeat)) for question, user in asked]
        outcomes = yield calls
        answered = zip(asked, calls, outcomes, strict=True)
        found = [self._probability(question, call, outcome) for (question, _), call, outcome in answered]
        failures = [item for item in found if isinstance(item, Opinion)]
        known = [item for item in found if not isinstance(item, Opinion)]
        spent = [item.spending for item in failures] + [spending for _, spending in known]
        spending = sum_spending((*before, sum_spending(spent, together=True)), together=False)
        if failures:
            rejected = {key: kept for item in failures for key, kept in item.rejected.items()}
            return replace(failures[0], spending=spending, rejected=rejected)
        seen = [share for share, _ in known]
        shares = [mean_share(seen[start : start + len(views)]) for start in range(0, len(seen), len(views))]
        return _answered(self.terms.rubric, self.questions, shares), spending

    def _studied(
        self, evidence: Evidence, repeat: int
    ) -> Generator[Sequence[Call], Sequence[Outcome], tuple[tuple[Evidence, ...], tuple[Spending, ...]] | Opinion]:
        """The views of the evidence that the questions show, and what it cost to find that out."""
        request = self.study.request(evidence, repeat) if self.study else None
        if self.study is None or request is None:
            return (evidence,), ()
        call = self.terms.provider.prepare(request)
        (outcome,) = yield (call,)
        read = read_outcome(self.terms, call, outcome)
        if isinstance(read, Opinion):
            return read
        reply, spending = read
        try:
            return self.study.views(evidence, reply), (spending,)
        except AnswerError as error:
            return rejected(self.terms, call, error, spending)

    def _probability(self, question: Asked, call: Call, outcome: Outcome) -> tuple[float, Spending] | Opinion:
        read = read_outcome(self.terms, call, outcome)
        if isinstance(read, Opinion):
            return read
        reply, spending = read
        try:
            return probability_of_yes(reply, question.words), spending
        except AnswerError as error:
            return rejected(self.terms, call, error, spending)


def _answered(rubric: Rubric, questions: Sequence[Asked], shares: Sequence[float]) -> Answer:
    """The probabilities as an answer: of the criteria, or of the rubric as a whole."""
    answers: list[CriterionAnswer] = []
    for question, share in zip(questions, shares, strict=True):
        low, high = (question.criterion.min, question.criterion.max) if question.criterion else rubric.score_range
        score = low + shifted(share, question.shift) * (high - low)
        reason = f"{question.words[0]} with probability {share:.2f}"
        if question.criterion is None:
            return Answer(score=score, reason=reason)
        answers.append(CriterionAnswer(id=question.criterion.id, score=score, reason=reason))
    return combine_criteria(rubric, answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class BothStrategy:
    """Take the score from the probability of yes, then ask for the reason and the quotes that go with it.

    An explanation that fails its checks takes nothing from the score, which does not rest on it; the verdict then has
    no quotes and a finding says so, or is `unverified` where the author requires evidence.
    """

    terms: Terms
    scorer: LogprobStrategy
    explain_frame: Frame

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.scorer.frames, self.explain_frame)

    @property
    def settings(self) -> Json:
        return self.scorer.settings

    def check(self) -> None:
        self.scorer.check()
        require_structured_output(self.terms.provider.settings)

    def steps(self, evidence: Evidence, repeat: int) -> Steps:
        scored = yield from self.scorer.score(evidence, repeat)
        if isinstance(scored, Opinion):
            return scored
        answer, spent = scored
        met = answer.score >= self.terms.threshold and not answer.blocked_by
        frame = self._offering(self.explain_frame, evidence.texts)
        user = render_evidence(evidence) + decided_text(met)
        call = self.terms.provider.prepare(ModelRequest(frame=frame, user=user, repeat=repeat))
        (outcome,) = yield (call,)
        read = read_outcome(self.terms, call, outcome)
        if isinstance(read, Opinion):
            return unexplained(self.terms, answer, spent, read)
        reply, spending = read
        try:
            reason, quotes = check_explanation(reply, evidence.texts, token_limit=frame.max_output_tokens)
        except AnswerError as error:
            return unexplained(self.terms, answer, spent, rejected(self.terms, call, error, spending))
        explained = replace(answer, reason=reason, evidence=quotes)
        opinion = decide(self.terms, explained, sum_spending((spent, spending), together=False))
        if opinion.score is None:
            return opinion
        return replace(opinion, findings=(*opinion.findings, _REASON_UNCHECKED))

    def _offering(self, frame: Frame, texts: Sequence[str]) -> Frame:
        """The frame with quotes to choose from, for a model that copies badly."""
        schema = choice_schema(texts) if self.terms.provider.settings.wants_examples else None
        return frame if schema is None else replace(frame, schema=ResponseSchema(name="explained_v1", schema=schema))


_REASON_UNCHECKED = Finding(
    code="reason_unchecked",
    message="the score comes from token probabilities; the reason was asked for afterwards and may contradict it",
    severity=Severity.INFO,
)
"""Of every explanation that came after its score: its quotes were looked up, what it says was held against nothing."""
