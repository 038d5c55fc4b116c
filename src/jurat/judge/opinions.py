"""From what became of a call to a judge's opinion: what all ways of asking share.

Pass and fail are decided here, by the program. What is no answer, or no reply at all, is an error that keeps its cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from jurat.errors import ErrorCategory, EvaluationError, ProviderError, RequestError
from jurat.evaluation import Finding, Severity, TypedError
from jurat.judge.answer import Answer
from jurat.judge.verdict import Opinion, Spending, Withheld, spent_in_vain, sum_spending
from jurat.provider.protocol import Call, Provider, ProviderSettings, Raw, Reply, Usage
from jurat.rubric import Rubric
from jurat.vocabulary import EvidenceRule, Status

__all__ = [
    "Outcome",
    "Price",
    "Terms",
    "decide",
    "read_outcome",
    "rejected",
    "require_logprobs",
    "require_structured_output",
    "unexplained",
]

Outcome = Raw | Withheld | EvaluationError
"""What becomes of a call: a raw reply, a reply withheld, or the typed error that stood in its way."""

Price = Callable[[Usage], float | None]
"""USD for a usage of the judge's model; None when it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What all strategies need to know of the judge that uses them."""

    rubric: Rubric
    provider: Provider
    price: Price
    threshold: float
    evidence: EvidenceRule
    free: bool = False
    """Whether it is known that the provider is never paid, not even for requests that failed."""


def decide(terms: Terms, answer: Answer, spending: Spending) -> Opinion:
    """Pass or fail by the program: the score meets the threshold and no required criterion failed."""
    if terms.evidence is EvidenceRule.REQUIRED and not answer.evidence:
        finding = Finding(
            code="no_quotes", message="the verdict gives no quotes, which are required", severity=Severity.WARNING
        )
        return Opinion(status=Status.UNVERIFIED, reason=answer.reason, findings=(finding,), spending=spending)
    findings = tuple(
        Finding(
            code="required_criterion_failed",
            message=f"the required criterion {criterion} is under its midpoint",
            severity=Severity.WARNING,
        )
        for criterion in answer.blocked_by
    )
    return Opinion(
        status=Status.PASS if answer.score >= terms.threshold and not answer.blocked_by else Status.FAIL,
        score=answer.score,
        reason=answer.reason,
        quotes=answer.evidence,
        criteria=answer.criteria,
        findings=findings,
        spending=spending,
    )


def read_outcome(terms: Terms, call: Call, outcome: Outcome) -> tuple[Reply, Spending] | Opinion:
    """What an outcome says, and what it cost; or the opinion that it leaves no room for more."""
    if isinstance(outcome, Withheld):
        return Opinion(status=Status.ERROR, error=outcome.error, spending=outcome.spending)
    if isinstance(outcome, EvaluationError):
        return Opinion.failed(outcome.category, str(outcome), spent_in_vain(outcome, free=terms.free))
    try:
        reply = terms.provider.read(outcome)
    except EvaluationError as error:
        return rejected(terms, call, error, _spending(terms, outcome, None))
    except Exception as error:
        message = f"provider {terms.provider.settings.name} raised {type(error).__name__} over a reply"
        fault = ProviderError(ErrorCategory.API_ERROR, message)
        return rejected(terms, call, fault, _spending(terms, outcome, None))
    return reply, _spending(terms, outcome, reply)


def _spending(terms: Terms, raw: Raw, reply: Reply | None) -> Spending:
    usage = reply.usage if reply else Usage()
    cost = 0.0 if raw.cached else terms.price(usage)
    return Spending(
        usage=usage,
        cost_usd=cost,
        duration_ms=raw.latency_ms,
        attempts=raw.attempts,
        failed=tuple(sorted(raw.failed)),
        cached=raw.cached,
        models=(reply.model,) if reply and reply.model else (),
    )


def rejected(terms: Terms, call: Call, error: EvaluationError, spending: Spending) -> Opinion:
    """A reply that is no valid answer, or no reply at all: an error, and its text is not to be kept."""
    refused = TypedError(type=error.category, message=str(error))
    account = spending
    if spending.cached:  # what is kept is what the reply cost when it was paid for, not what recalling it cost
        account = replace(spending, cached=False, cost_usd=terms.price(spending.usage))
    kept = Withheld(error=refused, spending=account)
    return Opinion(status=Status.ERROR, error=refused, spending=spending, rejected={call.key: kept})


def unexplained(terms: Terms, answer: Answer, spent: Spending, why: Opinion) -> Opinion:
    category = why.error.type if why.error else ErrorCategory.API_ERROR
    finding = Finding(
        code="explanation_rejected",
        message=f"the score stands without a quoted reason: the explanation was refused ({category})",
        severity=Severity.WARNING,
    )
    opinion = decide(terms, answer, sum_spending((spent, why.spending), together=False))
    return replace(opinion, findings=(*opinion.findings, finding), rejected=why.rejected)


def require_structured_output(settings: ProviderSettings) -> None:
    """
    Raises:
        RequestError: `unsupported_structured_output`, when the model cannot follow a schema strictly.
    """
    if not settings.capabilities.structured_output:
        message = (
            f"the judge asks for strict structured output, which {settings.name} ({settings.model}) does not offer; "
            "take another model, or choose the contract reasoned/v1"
        )
        raise RequestError(ErrorCategory.UNSUPPORTED_STRUCTURED_OUTPUT, message)


def require_logprobs(settings: ProviderSettings) -> None:
    """
    Raises:
        RequestError: `request_invalid`, when the model does not report the probabilities of its tokens.
    """
    if settings.capabilities.top_logprobs < 2:
        message = (
            f"the strategy needs log-probabilities, which {settings.name} ({settings.model}) does not report; "
            "choose the strategy answer, or declare capabilities.top_logprobs if the model does report them"
        )
        raise RequestError(ErrorCategory.REQUEST_INVALID, message)
