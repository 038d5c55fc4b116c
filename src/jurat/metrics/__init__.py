"""Numbers about many verdicts: rates with intervals, tallies, gates. Web and command line compute none of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jurat._lazy import lazily

if TYPE_CHECKING:
    from jurat.metrics.gate import GateOutcome, RuleOutcome
    from jurat.metrics.policy import Policy, policy_schema, policy_to_json, read_policy
    from jurat.metrics.quantiles import LogHistogram
    from jurat.metrics.rates import Rate, wilson_interval
    from jurat.metrics.report_check import CheckedReport, check_report
    from jurat.metrics.run_tally import RunTally
    from jurat.metrics.summary import Gate, summarize
    from jurat.metrics.tally import Tally

__all__ = [
    "CheckedReport",
    "Gate",
    "GateOutcome",
    "LogHistogram",
    "Policy",
    "Rate",
    "RuleOutcome",
    "RunTally",
    "Tally",
    "check_report",
    "policy_schema",
    "policy_to_json",
    "read_policy",
    "summarize",
    "wilson_interval",
]

# Where each name lives. They are imported at first use: a tally needs nothing of policies and reports.
__getattr__ = lazily(
    __name__,
    {
        **dict.fromkeys(("GateOutcome", "RuleOutcome"), "gate"),
        **dict.fromkeys(("Policy", "policy_schema", "policy_to_json", "read_policy"), "policy"),
        "LogHistogram": "quantiles",
        **dict.fromkeys(("Rate", "wilson_interval"), "rates"),
        **dict.fromkeys(("CheckedReport", "check_report"), "report_check"),
        "RunTally": "run_tally",
        **dict.fromkeys(("Gate", "summarize"), "summary"),
        "Tally": "tally",
    },
)
