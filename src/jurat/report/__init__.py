"""The record of a run as data and as text: result maps, verdict files, reports. No statistic is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jurat._lazy import lazily

if TYPE_CHECKING:
    from jurat.report.folder_sink import FolderSink
    from jurat.report.interchange import InterchangeReader, InterchangeWriter, interchange_head
    from jurat.report.redaction import EVERYTHING, Withheld
    from jurat.report.result_map import SCHEMA_VERSION, assessment_map, unavailable_map, verdict_map
    from jurat.report.run_console import Look, RunConsole
    from jurat.report.run_report import ReportWriter, comparable, report_head, write_report
    from jurat.report.run_schema import report_schema
    from jurat.report.verdict_file import VerdictFile

__all__ = [
    "EVERYTHING",
    "SCHEMA_VERSION",
    "FolderSink",
    "InterchangeReader",
    "InterchangeWriter",
    "Look",
    "ReportWriter",
    "RunConsole",
    "VerdictFile",
    "Withheld",
    "assessment_map",
    "comparable",
    "interchange_head",
    "report_head",
    "report_schema",
    "unavailable_map",
    "verdict_map",
    "write_report",
]

# Where each name lives. They are imported at first use: every command makes text harmless (`jurat.report.plaintext`),
# and most of them need nothing else of this.
__getattr__ = lazily(
    __name__,
    {
        **dict.fromkeys(("SCHEMA_VERSION", "assessment_map", "unavailable_map", "verdict_map"), "result_map"),
        "FolderSink": "folder_sink",
        **dict.fromkeys(("InterchangeReader", "InterchangeWriter", "interchange_head"), "interchange"),
        **dict.fromkeys(("EVERYTHING", "Withheld"), "redaction"),
        **dict.fromkeys(("Look", "RunConsole"), "run_console"),
        **dict.fromkeys(("ReportWriter", "comparable", "report_head", "write_report"), "run_report"),
        "report_schema": "run_schema",
        "VerdictFile": "verdict_file",
    },
)
