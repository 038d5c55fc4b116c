"""Assertions: what code can decide about an output, and how a suite file asks for it.

`build_assertions` turns what an author wrote into evaluators, or raises every fault at once; `assertion_schema` is the
same table as a JSON Schema. A deterministic check is a plain function from a context to an assessment, with a score of
0 or 100 unless it says otherwise.
"""

from jurat.assertions.assertion import Assertion, Given
from jurat.assertions.build import JudgeFactory, build_assertion, build_assertions
from jurat.assertions.jsonpath import MISSING, PathSyntaxError, format_path, look_up, parse_path
from jurat.assertions.jsonvalues import json_equal
from jurat.assertions.plugins import installed_types
from jurat.assertions.schema import assertion_schema
from jurat.assertions.tools import ToolCall, tool_calls
from jurat.threads import call_user_code, in_thread

__all__ = [
    "MISSING",
    "Assertion",
    "Given",
    "JudgeFactory",
    "PathSyntaxError",
    "ToolCall",
    "assertion_schema",
    "build_assertion",
    "build_assertions",
    "call_user_code",
    "format_path",
    "in_thread",
    "installed_types",
    "json_equal",
    "look_up",
    "parse_path",
    "tool_calls",
]
