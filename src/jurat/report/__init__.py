"""The record of a run as data and as text: result maps, verdict files, reports. No statistic is computed here."""

from jurat.report.result_map import SCHEMA_VERSION, assessment_map, unavailable_map, verdict_map
from jurat.report.run_console import Look, RunConsole
from jurat.report.run_report import ReportWriter, comparable, report_head, write_report
from jurat.report.run_schema import report_schema
from jurat.report.verdict_file import VerdictFile

__all__ = [
    "SCHEMA_VERSION",
    "Look",
    "ReportWriter",
    "RunConsole",
    "VerdictFile",
    "assessment_map",
    "comparable",
    "report_head",
    "report_schema",
    "unavailable_map",
    "verdict_map",
    "write_report",
]
