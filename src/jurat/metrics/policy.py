"""A quality policy: rules that a run must meet, as data. What they come to for a run is `jurat.metrics.gate`'s word.

A policy is read whole: every unknown rule or key, every value out of bounds is a fault with its path, before anything
is spent. Limits are kept as they were written and compared exactly, never rounded.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from jurat.errors import Fault
from jurat.jsontext import Json, NotJson, canonical, found_word, type_name
from jurat.metrics.rules import ALONE, NAME, RULES, Key, Rule, RuleType
from jurat.metrics.run_tally import Watch, metadata_value
from jurat.vocabulary import content_id, nearest

if TYPE_CHECKING:
    from jurat.metrics.gate import GateOutcome
    from jurat.metrics.regressions import Regressions
    from jurat.metrics.run_tally import RunTally

__all__ = ["RULES", "Policy", "Rule", "RuleType", "policy_schema", "policy_to_json", "read_policy"]
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Rules, all of which a run must meet. Without any, every case has to pass."""

    rules: tuple[Rule, ...] = ()

    @property
    def hash(self) -> str:
        """Names the policy by what it says."""
        return content_id(canonical(policy_to_json(self)).encode())

    @property
    def wants_baseline(self) -> bool:
        """Whether a rule compares with another run; `baseline` names it, where the author did."""
        return any(rule.type is RuleType.NO_REGRESSION for rule in self.rules)

    @property
    def baseline(self) -> str | None:
        """The run that `no_regression` compares with, as its author named it."""
        return next((rule.baseline for rule in self.rules if rule.baseline is not None), None)

    @property
    def watch(self) -> Watch:
        """What a `RunTally` has to be told so that the rules can be decided."""
        timed = [rule for rule in self.rules if rule.percentile is not None and rule.maximum is not None]
        return Watch(
            labels=frozenset(rule.label for rule in self.rules if rule.label is not None),
            metadata=frozenset(rule.metadata for rule in self.rules if rule.metadata is not None),
            assertions=frozenset(rule.assertion for rule in self.rules if rule.assertion is not None),
            case_rates=_limits(rule.minimum for rule in self.rules if rule.type is RuleType.CASE_PASS_RATE),
            subject_ms=_limits(rule.maximum for rule in timed if rule.stage != "judge"),
            judge_ms=_limits(rule.maximum for rule in timed if rule.stage == "judge"),
        )

    def decide(self, tally: RunTally, baseline: Regressions | None = None) -> GateOutcome:
        """What the policy comes to for a run; `jurat.metrics.gate.decide` tells more."""
        from jurat.metrics.gate import decide

        return decide(self, tally, baseline)

    def faults(
        self,
        *,
        assertions: Collection[str],
        templates: Collection[str],
        labels: Collection[str],
        metadata: Iterable[Mapping[str, Json]] = (),
        path: str = "policy",
    ) -> list[Fault]:
        """Rules that name an assertion, a template, a label or metadata that the suite does not have: they could never
        decide.

        Args:
            assertions: names of all assertions of the suite.
            templates: its judges' rubrics as `name@revision`.
            labels: of all cases.
            metadata: of all cases.
        """
        short = {template.partition("@")[0] for template in templates}
        known = {"assertion": set(assertions), "template": {*templates, *short}, "label": set(labels)}
        pairs = {(name, metadata_value(value)) for one in metadata for name, value in one.items()}
        found = []
        for index, rule in enumerate(self.rules):
            for key, names in known.items():
                given = getattr(rule, key)
                if given is not None and given not in names:
                    words = f"a{'n' if key == 'assertion' else ''} {key} of the suite"
                    fault = Fault(path=f"{path}[{index}].{key}", expected=words, found=repr(given[:80]))
                    found.append(_with_hint(fault, given, sorted(names)))
            if rule.metadata is not None and rule.metadata not in pairs:
                words = "what stands in the metadata of a case"
                found.append(Fault(path=f"{path}[{index}].metadata", expected=words, found=rule.group[:80]))
        return found


def _limits(values: Any) -> tuple[float, ...]:
    return tuple(sorted({value for value in values if value is not None}))


# --- reading -------------------------------------------------------------------------------------------------------


def read_policy(values: object, path: str, faults: list[Fault]) -> Policy:
    """Read a list of rules; what is wrong is added to the faults, and the policy then lacks it.

    Args:
        values: as they were written.
        path: where (`policy`).
    """
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        faults.append(Fault(path=path, expected="a list of rules", found=type_name(values)))
        return Policy()
    read = [_rule(value, f"{path}[{index}]", faults) for index, value in enumerate(values)]
    rules = tuple(rule for rule in read if rule is not None)
    first: dict[str, int] = {}
    for index, rule in enumerate(rules):
        if rule.name is not None and first.setdefault(rule.name, index) != index:
            fault = Fault(path=f"{path}[{index}].name", expected="a name of its own", found=repr(rule.name[:80]))
            faults.append(fault)
    if len({rule.baseline for rule in rules if rule.baseline is not None}) > 1:
        faults.append(Fault(path=path, expected="one baseline for all rules", found="several"))
    return Policy(rules=rules)


def _rule(value: object, path: str, faults: list[Fault]) -> Rule | None:
    if not isinstance(value, Mapping):
        faults.append(Fault(path=path, expected="a rule (an object with a type)", found=type_name(value)))
        return None
    given = value.get("type")
    if not isinstance(given, str) or given not in tuple(RuleType):
        found = found_word(given) if "type" in value else "nothing"
        fault = Fault(path=f"{path}.type", expected=f"one of {', '.join(RuleType)}", found=found)
        faults.append(_with_hint(fault, given, list(RuleType)))
        return None
    before = len(faults)
    kind = RuleType(given)
    keys = {"name": NAME, **RULES[kind]}
    _unknown_keys(value, keys, path, faults)
    made: dict[str, Any] = {}
    for name, key in keys.items():
        if name in value:
            made[name] = _value(value[name], key, f"{path}.{name}", faults)
        elif key.required:
            faults.append(Fault(path=f"{path}.{name}", expected=_expected(key), found="nothing"))
    _one_of(value, keys, path, faults)
    if "maximum_regressed" in value:
        beside = [name for name in ALONE if name in value]
        if beside:
            faults.append(
                Fault(path=path, expected="maximum_regressed alone", found=f"{' and '.join(beside)} beside it")
            )
    elif kind is RuleType.NO_REGRESSION:
        made.setdefault("maximum_drop", 0.0)
    if kind in (RuleType.NO_REGRESSION, RuleType.FLIP_RATE) and "assertion" in value and "template" in value:
        faults.append(Fault(path=path, expected="at most one of assertion and template", found="both"))
    return Rule(type=kind, **made) if len(faults) == before else None


def _unknown_keys(value: Mapping[Any, Any], keys: Mapping[str, Key], path: str, faults: list[Fault]) -> None:
    for key in value:
        if key != "type" and key not in keys:
            fault = Fault(path=f"{path}.{str(key)[:80]}", expected="a known key", found="an unknown one")
            faults.append(_with_hint(fault, key, [*keys]))


def _one_of(value: Mapping[Any, Any], keys: Mapping[str, Key], path: str, faults: list[Fault]) -> None:
    for words in sorted({key.one_of for key in keys.values() if key.one_of}):
        given = sum(name in value for name, key in keys.items() if key.one_of == words)
        if given != 1:
            found = "both" if given else "neither"
            faults.append(Fault(path=path, expected=f"exactly one of {words.replace(' or ', ' and ')}", found=found))


def _value(value: object, key: Key, path: str, faults: list[Fault]) -> object:
    if key.mapping:
        return _pair(value, path, faults)
    if key.number:
        sound = isinstance(value, int | float) and not isinstance(value, bool) and not _outside(value, key)
    elif key.words:
        sound = isinstance(value, str) and value in key.words
    else:
        sound = isinstance(value, str) and bool(value.strip()) and len(value) <= 1_000 and not _SURROGATE.search(value)
    if not sound:
        faults.append(Fault(path=path, expected=_expected(key), found=found_word(value)))
    return value


def _outside(value: float, key: Key) -> bool:
    if not -1e15 <= value <= 1e15:  # no number at all, infinite, or an integer beyond all floats
        return True
    if key.whole and value != int(value):
        return True
    if key.low is not None and value < key.low:
        return True
    if key.above is not None and value <= key.above:
        return True
    return key.high is not None and value > key.high


def _pair(value: object, path: str, faults: list[Fault]) -> tuple[str, str] | None:
    if isinstance(value, Mapping) and len(value) == 1:
        (name, wanted), *_ = value.items()
        if isinstance(name, str) and (wanted is None or isinstance(wanted, str | bool | int | float)):
            with contextlib.suppress(NotJson):  # not finite, or no Unicode
                canonical(name)
                return name, metadata_value(wanted)
    found = f"an object with {len(value)} keys" if isinstance(value, Mapping) and len(value) != 1 else type_name(value)
    faults.append(Fault(path=path, expected="one key with a text, number, boolean or null", found=found))
    return None


def _expected(key: Key) -> str:
    if key.words:
        return f"one of {', '.join(key.words)}"
    if not key.number:
        return "text that is not blank, of at most 1,000 characters"
    least = (
        f"above {key.above:g}" if key.above is not None else f"of at least {key.low:g}" if key.low is not None else ""
    )
    most = f"at most {key.high:g}" if key.high is not None else ""
    return " ".join(("a whole number" if key.whole else "a number", ", ".join(filter(None, (least, most))))).strip()


def _with_hint(fault: Fault, given: object, known: Sequence[str]) -> Fault:
    near = nearest(given, list(known)) if isinstance(given, str) else None
    return fault if near is None else replace(fault, hint=f"Did you mean {near}?")


# --- writing -------------------------------------------------------------------------------------------------------


def rule_to_json(rule: Rule) -> dict[str, Json]:
    """The rule as its author may have written it; what was left out stays out."""
    from jurat.jsontext import parse_strict

    made = {field.name: getattr(rule, field.name) for field in fields(rule)}
    if rule.metadata is not None:
        made["metadata"] = {rule.metadata[0]: parse_strict(rule.metadata[1])}
    return {**{name: value for name, value in made.items() if value is not None}, "type": rule.type.value}


def policy_to_json(policy: Policy) -> list[Json]:
    """What `read_policy` reads back as the same policy."""
    return [rule_to_json(rule) for rule in policy.rules]


def policy_schema() -> dict[str, Json]:
    """The JSON Schema of what `read_policy` reads."""
    return {
        "type": "array",
        "description": "Quality rules that a run must meet. Without any, every case has to pass.",
        "items": {"oneOf": [_rule_schema(kind, keys) for kind, keys in RULES.items()]},
    }


def _rule_schema(kind: RuleType, keys: Mapping[str, Key]) -> dict[str, Json]:
    made: dict[str, Json] = {
        "type": "object",
        "properties": {
            "type": {"const": kind.value},
            **{name: _key_schema(key) for name, key in {"name": NAME, **keys}.items()},
        },
        "required": ["type", *(name for name, key in keys.items() if key.required)],
        "additionalProperties": False,
    }
    alternatives = [name for name, key in keys.items() if key.one_of]
    if alternatives:
        made["oneOf"] = [{"required": [name]} for name in alternatives]
    elif "template" in keys:
        made["not"] = {"required": ["assertion", "template"]}
    if "maximum_regressed" in keys:
        made["if"] = {"required": ["maximum_regressed"]}
        made["then"] = {"properties": dict.fromkeys(ALONE, False)}
    return made


def _key_schema(key: Key) -> dict[str, Json]:
    made: dict[str, Json] = {"description": key.text}
    if key.words:
        return {**made, "enum": list(key.words), "default": key.words[0]}
    if key.mapping:
        plain = {"type": ["string", "number", "boolean", "null"]}
        return {**made, "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": plain}
    if not key.number:
        return {**made, "type": "string", "maxLength": 1_000, "pattern": r"\S"}
    bounds = {"minimum": key.low, "exclusiveMinimum": key.above, "maximum": key.high}
    kind = "integer" if key.whole else "number"
    return {**made, "type": kind, **{word: bound for word, bound in bounds.items() if bound is not None}}
