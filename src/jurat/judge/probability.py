"""A score from the probability of one word out of two, without any I/O.

What always holds: the two words' probabilities are normalised over the two alone, whatever else the model might have
said; log-odds are natural logarithms. A reply without the probabilities of its first token has no score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from jurat.errors import AnswerError, ErrorCategory
from jurat.judge.answer import check_signals
from jurat.provider.protocol import FinishReason, Reply

__all__ = ["YES_NO", "log_odds", "mean_share", "probability_of_yes", "shifted"]

YES_NO = ("yes", "no")
"""The words of a question that is answered by yes or no; the first one speaks for the work."""
_ROUNDING = 1e-3
_EDGE = 1e-6


def log_odds(share: float) -> float:
    """ln(p / (1 - p)), for p above 0 and below 1."""
    return math.log(share / (1.0 - share))


def mean_share(shares: Sequence[float]) -> float:
    """The probability whose log-odds are the mean of those of some probabilities; one alone stays what it is.

    With several, each is kept from certainty by a millionth, so that one sure word does not outweigh every other.
    """
    if len(shares) == 1:
        return shares[0]
    inside = [min(max(share, _EDGE), 1.0 - _EDGE) for share in shares]
    mean = math.fsum(map(log_odds, inside)) / len(inside)
    return 1.0 / (1.0 + math.exp(-mean))


def shifted(share: float, shift: float) -> float:
    """The probability whose log-odds are those of `share` plus the shift; 0 and 1 stay what they are."""
    if shift == 0.0 or not 0.0 < share < 1.0:
        return share
    return 1.0 / (1.0 + math.exp(-(log_odds(share) + shift)))


def probability_of_yes(reply: Reply, words: tuple[str, str] = YES_NO) -> float:
    """P(yes) / (P(yes) + P(no)) at the first token, 0 to 1, over every spelling of the two words.

    `words` are other two in their place, the one that speaks for the work first. A logarithm a little above 0 is a
    rounding error of the server's and counts as 0.

    Raises:
        AnswerError: as for any reply, and `schema_violation` when neither word is among the alternatives, or what is
            reported are no log-probabilities.
    """
    cut = reply.finish_reason is FinishReason.LENGTH  # expected here: one token is all that is asked for
    check_signals(replace(reply, finish_reason=FinishReason.STOP) if cut else reply)
    if not reply.logprobs:
        message = "expected log-probabilities of the first token, found none in the reply"
        raise AnswerError(ErrorCategory.SCHEMA_VIOLATION, message)
    weights = dict.fromkeys(words, 0.0)
    for token, logprob in reply.logprobs[0].top.items():
        if not logprob <= _ROUNDING:
            message = "expected log-probabilities (at most 0), found a number above"
            raise AnswerError(ErrorCategory.SCHEMA_VIOLATION, message)
        word = token.strip().casefold()
        if word in weights:
            weights[word] += math.exp(min(logprob, 0.0))
    total = sum(weights.values())
    if total <= 0.0:
        message = f"expected {words[0]} or {words[1]} among the first token's alternatives, found neither"
        raise AnswerError(ErrorCategory.SCHEMA_VIOLATION, message)
    return weights[words[0]] / total
