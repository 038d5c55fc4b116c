"""The evaluation contract: assessments, the evaluator protocol, reducers. No model, no I/O."""

from jurat.evaluation.assessment import Assessment, Finding, Measurement, Quote, Severity, TypedError
from jurat.evaluation.evaluator import Evaluator, error_assessment, run_evaluator
from jurat.evaluation.reducers import (
    Reducer,
    ReducerRule,
    RepeatSummary,
    reduce_statuses,
    reducer_from_json,
    reducer_schema,
    reducer_to_json,
    summarize_repeats,
)

__all__ = [
    "Assessment",
    "Evaluator",
    "Finding",
    "Measurement",
    "Quote",
    "Reducer",
    "ReducerRule",
    "RepeatSummary",
    "Severity",
    "TypedError",
    "error_assessment",
    "reduce_statuses",
    "reducer_from_json",
    "reducer_schema",
    "reducer_to_json",
    "run_evaluator",
    "summarize_repeats",
]
