"""Words that several commands share: forms of reports, what counts as a failure, and how options are explained."""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "BUDGET_HELP",
    "CACHE_HELP",
    "CONCURRENCY_HELP",
    "FAIL_ON_HELP",
    "FILTER_HELP",
    "FORMAT_HELP",
    "INCLUDE_HELP",
    "LIVE_HELP",
    "OUTPUT_HELP",
    "PROVIDER_HELP",
    "RECORD_HELP",
    "REPLAY_HELP",
    "REPORT_HELP",
    "RUN_HELP",
    "STORE_HELP",
    "TIMEOUT_HELP",
    "FailOn",
    "Form",
]


class Form(StrEnum):
    """How a list is printed."""

    CONSOLE = "console"
    JSON = "json"


class FailOn(StrEnum):
    """What makes the exit code a failure."""

    FAIL = "fail"
    UNDECIDED = "undecided"
    NEVER = "never"


FORMAT_HELP = (
    "How the report is told: console, json, report, junit, github, markdown, sarif, html, or an installed one."
)
REPORT_HELP = "A report in another format, into a file. May be given again."
OUTPUT_HELP = "A file for the report, whole or not there; the summary is then still printed."
INCLUDE_HELP = "Answers and conversations belong to the report."
STORE_HELP = "Where runs are kept: a file or a PostgreSQL URL. Default: .jurat/jurat.db."
RUN_HELP = "A run's id, a beginning of it that no other has, or latest."
CONCURRENCY_HELP = "Calls in flight, subject and judges together. Default: by provider."
FILTER_HELP = "Which cases: NAME*, label:L, metadata.key=V, !TERM; all must hold."
PROVIDER_HELP = "Take kind:model, or another provider, for this name. May be given again."
BUDGET_HELP = "Begin no call once so much is known to be spent."
TIMEOUT_HELP = "For the whole run; what is not decided by then is an error."
CACHE_HELP = "Whether replies from earlier runs are used."
RECORD_HELP = "Keep everybody's replies in this folder, for --replay."
REPLAY_HELP = "Answer from the recordings in this folder: no key, no connection, no model."
LIVE_HELP = "Ask those again of whom the suite has recordings."
FAIL_ON_HELP = "What fails: fail (1 when the gate failed), undecided (1 then too), never (0)."
