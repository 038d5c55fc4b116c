"""Numbers about many verdicts: rates with intervals, tallies, gates. Web and command line compute none of their own."""

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
