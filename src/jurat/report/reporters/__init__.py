"""Reporters: a run told in a format that something else reads, fed case by case and never holding the run.

`json`, `report`, `junit`, `github`, `markdown`, `sarif` and `html` are ours; others come from entry points of the group
`jurat.reporters`. What a model wrote is escaped in every one of them.
"""

from __future__ import annotations

from jurat.report.reporters.registry import GROUP, REPORTERS, installed_reporters, make_reporter
from jurat.report.reporters.reporter import Reporter, ReportOptions, Sink, Told

__all__ = [
    "GROUP",
    "REPORTERS",
    "ReportOptions",
    "Reporter",
    "Sink",
    "Told",
    "installed_reporters",
    "make_reporter",
]
