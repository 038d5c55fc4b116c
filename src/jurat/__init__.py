"""Jurat: evaluation of language-model output whose verdicts show their proof.

evaluate, aevaluate   one assertion on one context, as the result map
run_suite, arun_suite  a suite, as a Run with its record, summary, gate and report
compare_runs          a run against an earlier one, as a Comparison
Judge, JudgeSettings  a rubric, a model and a way of asking; `await judge.judge(context)`
Context, Document     what an evaluator may see
Assessment, Finding   what an evaluator of your own gives back
Verdict, Status       what a judge gives back
rubrics               the catalog, and rubrics of your own
testing               the scripted provider, and `check_answer`
JuratError            the root of everything that is raised on purpose
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jurat._lazy import lazily
from jurat._version import __version__

if TYPE_CHECKING:
    from jurat import rubrics, testing
    from jurat._api import Run, aevaluate, arun_suite, evaluate, run_suite
    from jurat._comparing import acompare_runs, compare_runs
    from jurat.errors import (
        AnswerError,
        AuthoringError,
        ErrorCategory,
        EvaluationError,
        JuratError,
        ProviderError,
        RequestError,
        StoreError,
    )
    from jurat.evaluation import Assessment, Finding, Measurement, Quote, Reducer, Severity
    from jurat.evidence import Context, Document, Message
    from jurat.judge import Judge, JudgeSettings, Verdict, WorkedExample
    from jurat.metrics.comparison import Change
    from jurat.metrics.comparison_result import Comparison
    from jurat.metrics.comparison_tally import Regression
    from jurat.rubric import Rubric
    from jurat.vocabulary import Contract, EvidenceRule, Status, Strategy

__all__ = [
    "AnswerError",
    "Assessment",
    "AuthoringError",
    "Change",
    "Comparison",
    "Context",
    "Contract",
    "Document",
    "ErrorCategory",
    "EvaluationError",
    "EvidenceRule",
    "Finding",
    "Judge",
    "JudgeSettings",
    "JuratError",
    "Measurement",
    "Message",
    "ProviderError",
    "Quote",
    "Reducer",
    "Regression",
    "RequestError",
    "Rubric",
    "Run",
    "Severity",
    "Status",
    "StoreError",
    "Strategy",
    "Verdict",
    "WorkedExample",
    "__version__",
    "acompare_runs",
    "aevaluate",
    "arun_suite",
    "compare_runs",
    "evaluate",
    "rubrics",
    "run_suite",
    "testing",
]

# Where each public name lives. They are imported at first use, so that `import jurat` costs next to nothing.
__getattr__ = lazily(
    __name__,
    {
        **dict.fromkeys(("Run", "aevaluate", "arun_suite", "evaluate", "run_suite"), "_api"),
        **dict.fromkeys(("acompare_runs", "compare_runs"), "_comparing"),
        "Change": "metrics.comparison",
        "Comparison": "metrics.comparison_result",
        "Regression": "metrics.comparison_tally",
        **dict.fromkeys(("Assessment", "Finding", "Measurement", "Quote", "Reducer", "Severity"), "evaluation"),
        **dict.fromkeys(("Context", "Document", "Message"), "evidence"),
        **dict.fromkeys(("Judge", "JudgeSettings", "Verdict", "WorkedExample"), "judge"),
        **dict.fromkeys(("AnswerError", "AuthoringError", "ErrorCategory", "EvaluationError"), "errors"),
        **dict.fromkeys(("JuratError", "ProviderError", "RequestError", "StoreError"), "errors"),
        "Rubric": "rubric",
        **dict.fromkeys(("Contract", "EvidenceRule", "Status", "Strategy"), "vocabulary"),
        "rubrics": "rubrics",
        "testing": "testing",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
