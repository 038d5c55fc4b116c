"""The record of a run as data: result maps, verdict files. No number is computed here."""

from jurat.report.result_map import SCHEMA_VERSION, assessment_map, unavailable_map, verdict_map
from jurat.report.verdict_file import VerdictFile

__all__ = ["SCHEMA_VERSION", "VerdictFile", "assessment_map", "unavailable_map", "verdict_map"]
