"""The evaluation contract: assessments, the evaluator protocol, reducers. No model, no I/O."""

from jurat.evaluation.assessment import Assessment, Finding, Measurement, Quote, Severity, TypedError
from jurat.evaluation.evaluator import Evaluator, error_assessment, run_evaluator

__all__ = [
    "Assessment",
    "Evaluator",
    "Finding",
    "Measurement",
    "Quote",
    "Severity",
    "TypedError",
    "error_assessment",
    "run_evaluator",
]
