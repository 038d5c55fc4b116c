"""The family tree of everything that can go wrong.

One root, three branches by *whose* trouble it is:

    JuratError
    ├── AuthoringError            the author's input is wrong; found before anything is spent (exit code 2)
    │   └── RubricInvalid         a rubric that breaks the rules of its shape
    ├── EvaluationError           an evaluator could not decide; never a score (carries a stable `category`)
    │   ├── AnswerError           the judge's answer was no valid verdict
    │   ├── RequestError          the question could not be asked; nothing was sent
    │   ├── ProviderError         the model could not be reached or would not answer
    │   └── EvaluatorFault        a user's evaluator raised, or returned nonsense
    ├── ModelError                an embedded model is missing, damaged or could not be fetched
    └── StoreError                the record could not be written or read (exit code 4)

Every member makes its sentence from fields: what was expected, what was found, where, what to do. No message ever
carries the text of a model, of a subject, of a document or of a provider's error body, and no secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from jurat.credentials import masked

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AnswerError",
    "AuthoringError",
    "ErrorCategory",
    "EvaluationError",
    "EvaluatorFault",
    "Fault",
    "JuratError",
    "ModelError",
    "ProviderError",
    "ReporterFault",
    "RequestError",
    "RubricInvalid",
    "StoreError",
]


class ErrorCategory(StrEnum):
    """The stable words under which a failure to decide is recorded. A word, once released, keeps its meaning."""

    # The answer, in the order in which the validator looks (jurat.judge.answer).
    REFUSAL = "refusal"
    TRUNCATED = "truncated"
    EMPTY_RESPONSE = "empty_response"
    MALFORMED_JSON = "malformed_json"
    SCHEMA_VIOLATION = "schema_violation"
    NON_FINITE_SCORE = "non_finite_score"
    SCORE_OUT_OF_RANGE = "score_out_of_range"
    EMPTY_REASON = "empty_reason"
    REASON_TOO_LONG = "reason_too_long"
    MESSAGE_INDEX_OUT_OF_RANGE = "message_index_out_of_range"
    QUOTE_EMPTY = "quote_empty"
    QUOTE_NOT_FOUND = "quote_not_found"
    # Before an answer.
    RUBRIC_INVALID = "rubric_invalid"
    REQUEST_INVALID = "request_invalid"
    UNSUPPORTED_STRUCTURED_OUTPUT = "unsupported_structured_output"
    CONTEXT_TOO_LARGE = "context_too_large"
    PROVIDER_NOT_FOUND = "provider_not_found"
    MISSING_API_KEY = "missing_api_key"
    AUTH_ERROR = "auth_error"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    NETWORK_ERROR = "network_error"
    INVALID_REQUEST = "invalid_request"
    API_ERROR = "api_error"
    BUDGET_EXHAUSTED = "budget_exhausted"
    # A user's own evaluator.
    EVALUATOR_EXCEPTION = "evaluator_exception"
    INVALID_RESULT = "invalid_result"


def _again(kind: type[JuratError], fields: dict[str, object]) -> JuratError:
    """Make an error anew from its fields, as a copy in another process is made."""
    return kind(**fields)


class JuratError(Exception):
    """The root: catch this to catch everything that jurat raises on purpose.

    What looks like a credential in a message is `***`, wherever it stood: in a file, an option or a name.
    """

    def __init__(self, *words: object) -> None:
        super().__init__(*(masked(word) if isinstance(word, str) else word for word in words))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong with an author's input.

    `path` names the value (`criteria[2].min`), `file` and `line` (from 1) say where it was written, if it was.
    """

    path: str
    expected: str
    found: str
    hint: str | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        where = self.path or "(top level)"
        if self.file is not None:
            place = f"{self.file}:{self.line}" if self.line is not None else self.file
            where = f"{place}: {where}"
        hint = f". {self.hint}" if self.hint else ""
        return masked(f"{where}: expected {self.expected}, found {self.found}{hint}")


class AuthoringError(JuratError):
    """The author's input is wrong. All faults are reported together; nothing was spent.

    Attributes:
        subject: what was read, as the author calls it (`rubric file`, `assertion`).
        faults: every fault, at least one, in the order of the input.
    """

    def __init__(self, subject: str, faults: Iterable[Fault]) -> None:
        self.subject = subject
        self.faults = tuple(faults)
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        super().__init__(f"{subject}: {count}\n" + "\n".join(f"  {fault}" for fault in self.faults))

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (type(self), {"subject": self.subject, "faults": self.faults}))


class RubricInvalid(AuthoringError):
    """A rubric breaks the rules of its shape (category `rubric_invalid`)."""

    category = ErrorCategory.RUBRIC_INVALID


class EvaluationError(JuratError):
    """An evaluator could not decide. The assessment is `error`: never a score, a zero or a fail.

    Attributes:
        category: the stable word under which it is recorded.
    """

    def __init__(self, category: ErrorCategory, message: str) -> None:
        self.category = category
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (type(self), {"message": str(self), **vars(self)}))


class AnswerError(EvaluationError):
    """The judge answered, but not with a valid verdict. The message never repeats the answer."""


class RequestError(EvaluationError):
    """The question could not be put to the model; nothing was sent and nothing was spent."""


class ProviderError(EvaluationError):
    """The model could not be reached, or did not answer.

    Attributes:
        status: the HTTP status, where there was one.
        attempts: how many requests were made (0: none was sent).
        retry_after_s: the delay that the server asked for, in seconds, if it asked for one.
        request_id: the provider's own name for the request, to quote in a support case.
        failed: why each of those requests failed, in order; where nothing else is told, as this error says.
    """

    def __init__(
        self,
        category: ErrorCategory,
        message: str,
        *,
        status: int | None = None,
        attempts: int = 1,
        retry_after_s: float | None = None,
        request_id: str | None = None,
        failed: tuple[ErrorCategory, ...] | None = None,
    ) -> None:
        super().__init__(category, message)
        self.failed = (category,) * attempts if failed is None else failed
        self.status = status
        self.attempts = attempts
        self.retry_after_s = retry_after_s
        self.request_id = request_id


class EvaluatorFault(EvaluationError):
    """A user's evaluator raised (`evaluator_exception`) or returned nonsense (`invalid_result`)."""


class ReporterFault(JuratError):
    """A reporter of an installed distribution raised; its report is given up, and the others are written.

    Attributes:
        reporter: its format, and what the entry point names.
        raised: the kind of the exception. Its text is kept back: nobody knows what it repeats.
    """

    def __init__(self, reporter: str, raised: str) -> None:
        self.reporter, self.raised = reporter, raised
        super().__init__(f"report {reporter}: the reporter raised {raised}; its report is not written")


class ModelError(JuratError):
    """An embedded model is missing, damaged, or could not be fetched; the message says which command mends it."""


class StoreError(JuratError):
    """The record could not be written or read. What was committed before stays."""
