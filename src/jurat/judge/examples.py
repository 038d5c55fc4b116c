"""Worked examples as an author writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jurat.errors import AuthoringError, Fault
from jurat.evaluation import Quote
from jurat.evidence import context_from_json
from jurat.evidence.conversation import refuse_unknown
from jurat.jsontext import found_word, type_name
from jurat.judge.prompt import WorkedExample

__all__ = ["examples_from_json"]

_KEYS = ("evidence", "context", "reason", "score", "quotes")


def examples_from_json(values: object, path: str, faults: list[Fault]) -> tuple[WorkedExample, ...]:
    """Worked examples as an author writes them: `{evidence: {output: …}, context: …, reason, score, quotes}`.

    `evidence` is a context (`output`, `rendered_input`, `expected`, …), `context` the grounding text, `quotes` a list
    of `{message_index, quote}`. What is wrong goes into `faults`.
    """
    if not isinstance(values, Sequence) or isinstance(values, str):
        faults.append(Fault(path=path, expected="an array of examples", found=type_name(values)))
        return ()
    made = [_example(value, f"{path}[{index}]", faults) for index, value in enumerate(values)]
    return tuple(example for example in made if example is not None)


def _example(value: object, path: str, faults: list[Fault]) -> WorkedExample | None:
    if not isinstance(value, Mapping):
        faults.append(Fault(path=path, expected="an example {evidence, reason, score}", found=type_name(value)))
        return None
    before = len(faults)
    refuse_unknown(value, _KEYS, path, faults)
    reason, score, grounding = value.get("reason"), value.get("score"), value.get("context")
    if not isinstance(reason, str):
        faults.append(Fault(path=f"{path}.reason", expected="text", found=type_name(reason)))
    if isinstance(score, bool) or not isinstance(score, int | float):
        faults.append(Fault(path=f"{path}.score", expected="a number", found=found_word(score)))
    if grounding is not None and not isinstance(grounding, str):
        faults.append(Fault(path=f"{path}.context", expected="text", found=type_name(grounding)))
    quotes = _quotes(value.get("quotes", ()), f"{path}.quotes", faults)
    try:
        context = context_from_json(value.get("evidence"))
    except AuthoringError as error:
        faults += [
            Fault(path=f"{path}.evidence.{fault.path}", expected=fault.expected, found=fault.found)
            for fault in error.faults
        ]
    if len(faults) > before:
        return None
    return WorkedExample(
        context=context, reason=str(reason), score=float(str(score)), quotes=quotes, grounding=grounding
    )


def _quotes(values: object, path: str, faults: list[Fault]) -> tuple[Quote, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        faults.append(Fault(path=path, expected="an array of quotes", found=type_name(values)))
        return ()
    made: list[Quote] = []
    for index, value in enumerate(values):
        number = value.get("message_index") if isinstance(value, Mapping) else None
        text = value.get("quote") if isinstance(value, Mapping) else None
        if type(number) is int and isinstance(text, str):
            made.append(Quote(message_index=number, quote=text))
        else:
            faults.append(Fault(path=f"{path}[{index}]", expected="{message_index, quote}", found=type_name(value)))
    return tuple(made)
