"""How a check says what it found: the few sentences that all deterministic checks share.

A check is a plain function from a context to an assessment. It decides (`decided`), or it says what was missing
(`unverified`), or it raises an `EvaluationError` when it could not look. It speaks of facts ("2 of 3 texts occur"), not
of good and bad, so that its sentence stays true when an assertion negates the verdict. Nothing to look at is never a
pass: a blank output is `unverified` for every check of its content, the forbidding ones included.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable

from jurat.errors import ErrorCategory, RequestError
from jurat.evaluation import Assessment, Finding, Measurement, Severity
from jurat.evidence import Context
from jurat.jsontext import Json
from jurat.vocabulary import Status

__all__ = ["REVISION", "Check", "clip", "decided", "is_blank", "large_output", "named", "on_output", "too_much"]
__all__ += ["unverified"]

Check = Callable[[Context], "Assessment | Awaitable[Assessment]"]
"""What an assertion does: a context in, an assessment out; checks that run a person's code are awaited."""

REVISION = "1"
"""The revision of the deterministic checks. A change of what one of them means is a new one."""

LARGE_OUTPUT = 256 * 1024
"""From this many characters on, a check runs beside the event loop instead of on it."""

_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_CLIP = 200
_NAMED = 60


def decided(
    check: str,
    passed: bool,
    reason: str,
    *,
    score: float | None = None,
    measurements: tuple[Measurement, ...] = (),
    details: dict[str, Json] | None = None,
) -> Assessment:
    """A verdict. The score, from 0 to 100, is 100 for a pass and 0 for a fail unless it is given."""
    return Assessment(
        evaluator=check,
        revision=REVISION,
        status=Status.PASS if passed else Status.FAIL,
        score=(100.0 if passed else 0.0) if score is None else score,
        reason=reason,
        measurements=measurements,
        details=details or {},
    )


def unverified(check: str, code: str, message: str) -> Assessment:
    """No verdict, since evidence is missing; the finding says which."""
    finding = Finding(code=code, message=message, severity=Severity.WARNING)
    return Assessment(evaluator=check, revision=REVISION, status=Status.UNVERIFIED, findings=(finding,))


def too_much(message: str) -> RequestError:
    """The error for evidence that is beyond what a check takes, or not of the shape that it reads."""
    return RequestError(ErrorCategory.REQUEST_INVALID, message)


def on_output(check: str, look: Callable[[str], Assessment]) -> Check:
    """A check of the output's text: `look` is asked only when there is something to look at."""

    def run(context: Context) -> Assessment:
        return empty_output(check) if is_blank(context.output) else look(context.output)

    return run


def empty_output(check: str) -> Assessment:
    """What every check of content says about a blank output."""
    return unverified(check, "empty_output", "the output is empty or blank, so there is nothing to check")


def is_blank(text: str) -> bool:
    """Whether a reader would see nothing: only white space, control and format characters (a zero-width space, …)."""
    return not text.strip() or all(unicodedata.category(character) in _UNSEEN for character in text)


def large_output(context: Context) -> bool:
    """Whether a check of this output would hold up the event loop."""
    return len(context.output) > LARGE_OUTPUT


def clip(text: str, limit: int = _CLIP) -> str:
    """The text, cut to `limit` characters; what was cut off is marked by an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def named(text: str) -> str:
    """What an author expects, as a sentence names it: in quotation marks, on one line, at most 60 characters of it.

    White space other than a blank, and what nobody sees, is told as its escape. Never for a text of an output.
    """
    shown = "".join(one if one.isprintable() else repr(one)[1:-1] for one in clip(text, _NAMED))
    return f"“{shown}”"
