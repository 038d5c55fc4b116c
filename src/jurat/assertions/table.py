"""The table of assertion types: for each, the keys it takes, what they may hold, and how its check is made.

What is not in the table does not exist: the reader (`jurat.assertions.build`) and the published JSON Schema are both
made from it. Every type has one main key, for which `value` is understood as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jurat.assertions import execution, jsonchecks, patterns, schemas, text, tools, usercode
from jurat.assertions.jsonpath import MISSING, PathSyntaxError, parse_path
from jurat.assertions.kinds import (
    INVALID,
    AnyValue,
    Choice,
    Flag,
    Kind,
    Number,
    Object,
    Text,
    TextOr,
    Texts,
    Whole,
)
from jurat.assertions.outcome import Check, large_output
from jurat.errors import Fault
from jurat.evaluation.reducers import Reducer, reducer_from_json, reducer_schema
from jurat.evidence import Context
from jurat.jsontext import Json
from jurat.suite.shapes import inner
from jurat.vocabulary import Contract, EvidenceRule, Strategy

__all__ = ["COMMON", "JUDGE", "TYPES", "AssertionType", "Key", "Made", "Maker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of an assertion: what it may hold, whether it must be there, other names that are understood."""

    kind: Kind
    about: str
    required: bool = False
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A check, and which contexts are too heavy to check on the event loop."""

    check: Check
    heavy: Callable[[Context], bool] = large_output


Values = Mapping[str, Any]
Maker = Callable[[Values, str, list[Fault]], Made | None]
"""Makes the check of values that were read, all of the right kind; or adds faults (about `path`) and gives None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionType:
    """One type: its purpose, its keys, the keys of which exactly one must be there, its maker (none: made above)."""

    purpose: str
    keys: Mapping[str, Key]
    exactly_one_of: tuple[str, ...] = ()
    make: Maker | None = None
    needs_code: bool = field(default=False)


_CONTRACTS = (Contract.SCORE_V1, Contract.CRITERIA_V1, Contract.REASONED_V1)
"""The contracts that an author chooses among."""


# --- makers --------------------------------------------------------------------------------------------------------


def _plain(build: Callable[..., Check], *main: str) -> Maker:
    """For checks whose values need nothing but to be handed over: the main ones in order, the others by name."""

    def make(values: Values, _path: str, _faults: list[Fault]) -> Made:
        named = {key: part for key, part in values.items() if key not in main}
        return Made(check=build(*(values[key] for key in main), **named))

    return make


def _regex(values: Values, path: str, faults: list[Fault]) -> Made | None:
    ignore_case = values.get("ignore_case", False)
    pattern = patterns.compile_pattern(values["value"], inner(path, "value"), faults, ignore_case=ignore_case)
    if pattern is None:
        return None
    return Made(check=patterns.regex(pattern, full=values.get("full", False)), heavy=pattern.heavy)


def _json_field(values: Values, path: str, faults: list[Fault]) -> Made | None:
    before = len(faults)
    steps = _path_or_fault(values["path"], inner(path, "path"), faults)
    pattern = None
    if "matches" in values:
        pattern = patterns.compile_pattern(values["matches"], inner(path, "matches"), faults)
    others = [key for key in ("expected", "matches", "minimum", "maximum") if key in values]
    if values.get("exists") is False and others:
        found = "false beside " + ", ".join(others)
        faults.append(Fault(path=inner(path, "exists"), expected="true, or no other rule", found=found))
    if values.get("minimum", 0.0) > values.get("maximum", float("inf")):
        expected = "a number that is not above maximum"
        faults.append(Fault(path=inner(path, "minimum"), expected=expected, found=repr(values["minimum"])))
    if steps is None or len(faults) > before:
        return None
    rule = jsonchecks.FieldRule(
        exists=values.get("exists", True),
        expected=values.get("expected", MISSING),
        matches=pattern,
        minimum=values.get("minimum"),
        maximum=values.get("maximum"),
    )
    heavy = large_output if pattern is None else pattern.heavy
    return Made(check=jsonchecks.json_field(steps, rule), heavy=heavy)


def _path_or_fault(text: str, path: str, faults: list[Fault]) -> tuple[str | int, ...] | None:
    try:
        return parse_path(text)
    except PathSyntaxError as error:
        expected = 'a path like customer.orders[0]["unit.price"]'
        faults.append(
            Fault(path=path, expected=expected, found=f"another form: column {error.column} needs {error.what}")
        )
        return None


def _json_schema(values: Values, path: str, faults: list[Fault]) -> Made | None:
    schema = schemas.compile_schema(values["schema"], inner(path, "schema"), faults)
    return None if schema is None else Made(check=schemas.json_schema(schema))


def _structured_output(values: Values, path: str, faults: list[Fault]) -> Made | None:
    if "schema" not in values:
        return Made(check=schemas.structured_output())
    schema = schemas.compile_schema(values["schema"], inner(path, "schema"), faults)
    return None if schema is None else Made(check=schemas.structured_output(schema))


def _python(values: Values, path: str, faults: list[Fault]) -> Made | None:
    arguments = values.get("arguments")
    function = usercode.load_function(values["function"], inner(path, "function"), faults, arguments=arguments)
    if function is None:
        return None
    return Made(check=usercode.python(function, threshold=values.get("threshold")), heavy=lambda _: False)


class _ReducerKind:
    def read(self, value: object, path: str, faults: list[Fault]) -> object:
        if isinstance(value, Reducer):
            return value
        read = reducer_from_json(value, path, faults)
        return INVALID if read is None else read

    def schema(self) -> dict[str, Json]:
        return reducer_schema()


# --- the table -----------------------------------------------------------------------------------------------------

_IGNORE_CASE = Key(kind=Flag(), about="Compare without regard to case. Default false.")
_ARGUMENTS_MATCH = Key(
    kind=Choice(words=("subset", "exact")),
    about="Whether the arguments given must be among those of the call (subset, the default), or be all of them.",
)
_TOOL = Key(kind=Texts(each=Text(longest=1000)), about="The tool's name, or several.", required=True, also=("value",))
_TOOL_ARGUMENTS = Key(kind=Object(), about="What the call's arguments must hold, typed: 1 is not the text 1.")
_SCHEMA = Key(kind=Object(boolean=True), about="A JSON Schema that refers to nothing outside.", also=("value",))
_REQUIRED_SCHEMA = Key(kind=_SCHEMA.kind, about=_SCHEMA.about, also=_SCHEMA.also, required=True)
_ANY_TEXTS = Key(kind=Texts(each=Text(blank=True)), about="The text, or several.", required=True)
_SEEN_TEXTS = Key(kind=Texts(each=Text()), about="The text, or several.", required=True)


def _limit(about: str, maximum: float | None = None) -> Key:
    return Key(kind=Number(minimum=0, maximum=maximum), about=about, required=True)


COMMON: Mapping[str, Key] = {
    "name": Key(kind=Text(longest=200), about="Unique within the case. Default: the type."),
    "weight": Key(kind=Number(above=0), about="How much it counts in a weighted mean. Default 1."),
    "required": Key(kind=Flag(), about="Whether the case cannot pass without it. Default false."),
    "negate": Key(kind=Flag(), about="Whether a pass counts as a fail, and a fail as a pass. Default false."),
}

TYPES: Mapping[str, AssertionType] = {
    "contains": AssertionType(
        purpose="The output contains the text (all of several, or any).",
        keys={
            "value": _SEEN_TEXTS,
            "match": Key(kind=Choice(words=("all", "any")), about="Of several texts. Default all."),
            "ignore_case": _IGNORE_CASE,
        },
        make=_plain(text.contains, "value"),
    ),
    "not_contains": AssertionType(
        purpose="The output contains none of the texts.",
        keys={"value": _ANY_TEXTS, "ignore_case": _IGNORE_CASE},
        make=_plain(text.not_contains, "value"),
    ),
    "exact_match": AssertionType(
        purpose="The output equals the value, or the case's expected.",
        keys={
            "value": Key(
                kind=AnyValue(blank=False, null=False),
                about="A text, compared to the letter; or another JSON value, compared with the output as JSON.",
                also=("expected",),
            ),
            "ignore_case": _IGNORE_CASE,
            "trim": Key(kind=Flag(), about="Leave white space at both ends aside. Default false."),
        },
        make=_plain(text.exact_match),
    ),
    "regex": AssertionType(
        purpose="The pattern matches somewhere in the output. RE2 syntax.",
        keys={
            "value": Key(kind=Text(blank=True), about="The pattern, at most 4,096 bytes.", required=True),
            "ignore_case": _IGNORE_CASE,
            "full": Key(kind=Flag(), about="The pattern must match the whole output. Default false."),
        },
        make=_regex,
    ),
    "json_field": AssertionType(
        purpose="The output is JSON, and the value at the path is as said. Typed: 1 is not the text 1.",
        keys={
            "path": Key(
                kind=Text(longest=1000),
                about='As customer.orders[0]["unit.price"]; $ is the whole value.',
                required=True,
                also=("field",),
            ),
            "expected": Key(kind=AnyValue(), about="The value, null included.", also=("equals", "value")),
            "exists": Key(kind=Flag(), about="Whether there must be such a field. Default true."),
            "matches": Key(kind=Text(blank=True), about="A pattern (RE2) that occurs in the text there."),
            "minimum": Key(kind=Number(), about="The least that the number there may be."),
            "maximum": Key(kind=Number(), about="The most that the number there may be."),
        },
        make=_json_field,
    ),
    "json_deep_compare": AssertionType(
        purpose="Scores the share of leaves in which the output, as JSON, matches the expected value.",
        keys={
            "expected": Key(kind=AnyValue(), about="A JSON value. Default: the case's expected.", also=("value",)),
            "threshold": Key(kind=Number(minimum=0, maximum=100), about="The score that passes. Default 100."),
            "ignore_extra": Key(kind=Flag(), about="Leave aside what only the output has. Default false."),
        },
        make=_plain(jsonchecks.json_deep_compare),
    ),
    "json_schema": AssertionType(
        purpose="The output is JSON that satisfies the schema.",
        keys={"schema": _REQUIRED_SCHEMA},
        make=_json_schema,
    ),
    "required_text": AssertionType(
        purpose="Every one of the texts occurs in the output.",
        keys={"value": _SEEN_TEXTS, "ignore_case": _IGNORE_CASE},
        make=_plain(text.required_text, "value"),
    ),
    "forbidden_text": AssertionType(
        purpose="None of the texts occurs in the output.",
        keys={"value": _ANY_TEXTS, "ignore_case": _IGNORE_CASE},
        make=_plain(text.forbidden_text, "value"),
    ),
    "required_tool": AssertionType(
        purpose="Every one of the tools was called.",
        keys={"tool": _TOOL, "arguments": _TOOL_ARGUMENTS, "arguments_match": _ARGUMENTS_MATCH},
        make=_plain(tools.required_tool, "tool"),
    ),
    "forbidden_tool": AssertionType(
        purpose="None of the tools was called.",
        keys={"tool": _TOOL, "arguments": _TOOL_ARGUMENTS, "arguments_match": _ARGUMENTS_MATCH},
        make=_plain(tools.forbidden_tool, "tool"),
    ),
    "structured_output": AssertionType(
        purpose="The structured reply satisfies the schema.",
        keys={"schema": _SCHEMA},
        make=_structured_output,
    ),
    "max_tool_error_rate": AssertionType(
        purpose="At most this share of the tool calls failed.",
        keys={"value": _limit("The share, from 0 to 1.", 1)},
        make=_plain(tools.max_tool_error_rate, "value"),
    ),
    "max_latency_ms": AssertionType(
        purpose="The subject took at most so many milliseconds.",
        keys={"value": _limit("Milliseconds.")},
        make=_plain(execution.max_latency_ms, "value"),
    ),
    "max_cost_usd": AssertionType(
        purpose="The subject cost at most so many US dollars.",
        keys={"value": _limit("US dollars.")},
        make=_plain(execution.max_cost_usd, "value"),
    ),
    "python": AssertionType(
        purpose="A function of your own decides.",
        keys={
            "function": Key(
                kind=Text(longest=1000),
                about="module:function; it gets the context.",
                required=True,
                also=("value",),
            ),
            "arguments": Key(kind=Object(), about="Keyword arguments for it."),
            "threshold": Key(
                kind=Number(minimum=0, maximum=100), about="The score that passes, where the function gives a number."
            ),
        },
        make=_python,
        needs_code=True,
    ),
    "rubric_judge": AssertionType(
        purpose="A model judges the output by a rubric.",
        keys={
            "rubric": Key(
                kind=TextOr(text=Text(longest=4000), python=True),
                about="The rubric in words (at most 4,000 characters), or as an object.",
            ),
            "template": Key(kind=Text(longest=200), about="A rubric of the catalog: name, or name@revision."),
            "provider": Key(
                kind=TextOr(text=Text(longest=1000), python=True),
                about="The judge's provider: a name, or kind:model.",
                also=("provider_id",),
            ),
            "threshold": Key(kind=Number(), about="The score that passes. Default: the rubric's own."),
            "expected": Key(
                kind=AnyValue(blank=False, null=False), about="A reference answer. Default: the case's expected."
            ),
            "context": Key(kind=Text(), about="Grounding text."),
            "evidence": Key(
                kind=Choice(words=tuple(EvidenceRule)), about="Whether a verdict without quotes counts (optional)."
            ),
            "samples": Key(kind=Whole(minimum=1, maximum=20), about="How often the judge is asked. Default 1."),
            "reducer": Key(kind=_ReducerKind(), about="How repeats become one verdict."),
            "contract": Key(kind=Choice(words=_CONTRACTS), about="The shape of the answer. Default score/v1."),
            "strategy": Key(
                kind=Choice(words=tuple(Strategy)), about="Where the score comes from. Default: what suits the model."
            ),
            "examples": Key(kind=TextOr(text=None, also=("array",)), about="Worked examples, at most 8."),
            "persona": Key(kind=Text(longest=4000), about="Who the judge is to be; precedes the instruction."),
        },
        exactly_one_of=("rubric", "template"),
    ),
}

JUDGE = "rubric_judge"
