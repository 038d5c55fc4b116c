"""`jurat show`: one run, or one case of it in full: prompt, answer, and each assertion with its proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from jurat.cli._exits import exits
from jurat.cli._forms import FormatOption, IncludeOutputOption, RunArgument, StoreOption
from jurat.cli._stdout import line, say, say_json
from jurat.eventloop import run_in_loop

if TYPE_CHECKING:
    from jurat.cli._reporting import Printing
    from jurat.errors import AuthoringError
    from jurat.report.record import CaseRecord, RunRecord, TrialRecord
    from jurat.store import Store

__all__ = ["show"]

_MOST_NAMES = 20


def show(
    run: RunArgument = "latest",
    case: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A case in full, by its name. May be given again.")
    ] = None,
    form: FormatOption = "console",
    include_output: IncludeOutputOption = False,
    store: StoreOption = None,
) -> None:
    """Show a run: its cases that did not pass, its figures and its gate; or one case with everything about it."""
    with exits():
        from jurat.cli._reporting import printing_of

        # On one's own screen, what is read as data is told in full.
        printing = printing_of(form, None, (), include_output or form == "json")
        if case and form not in ("console", "json"):
            raise _only_as_text(form)
        run_in_loop(_show(run, case or [], printing, store))


def _only_as_text(form: str) -> AuthoringError:
    from jurat.errors import AuthoringError, Fault

    fault = Fault(path="--format", expected="console or json, for a case", found=form)
    return AuthoringError("jurat show", [fault])


async def _show(text: str, names: list[str], printing: Printing, store: str | None) -> None:
    from jurat.cli._reporting import print_reports
    from jurat.suiterun import load_finished
    from jurat.workbench import Workbench

    opened = await Workbench().open_store(store, must_exist=True, reads=True)
    try:
        record = await opened.runs.find(text)
        if names:
            for case in await _cases(opened, record, names):
                await _show_case(opened, record, case, printing.form)
        else:
            await print_reports(opened, [await load_finished(opened, record)], printing)
    finally:
        await opened.aclose()


async def _cases(store: Store, record: RunRecord, names: list[str]) -> list[CaseRecord]:
    """The cases of these names, in the order in which they were asked for."""
    from jurat.errors import AuthoringError, Fault
    from jurat.vocabulary import nearest

    known = {case.name: case async for case in store.runs.cases(record.id)}
    faults = []
    for name in names:
        if name not in known:
            near = nearest(name, list(known))
            few = ", ".join(list(known)[:_MOST_NAMES])
            hint = f"Did you mean {near}?" if near else f"There are {few}{', …' if len(known) > _MOST_NAMES else ''}"
            expected = f"a case of run {record.id}"
            faults.append(Fault(path="--case", expected=expected, found=repr(name[:80]), hint=hint))
    if faults:
        raise AuthoringError("jurat show", faults)
    return [known[name] for name in names]


async def _show_case(store: Store, record: RunRecord, case: CaseRecord, form: str) -> None:
    trials = [trial async for trial in store.runs.trials(record.id, case.case_index)]
    body = (await store.runs.snapshot(case.case_hash)).body
    if form == "json":
        from jurat.report.content import content_of
        from jurat.report.run_json import case_json

        told = case_json(replace(case, content=content_of(body)), trials, record.samples, include_output=True)
        say_json(told)
        return
    for trial in trials:
        say(_in_full(case, trial, body, record.samples))
    if not trials:
        line(f"case {case.name}: no trial yet")


def _in_full(case: CaseRecord, trial: TrialRecord, body: dict[str, object], samples: int) -> str:
    from jurat.cli._trial import trial_text
    from jurat.suiterun import trial_evidence

    documents = body.get("documents") or ()
    assert isinstance(documents, Sequence)  # noqa: S101 (as the suite's codec writes it)
    return trial_text(case, trial, trial_evidence(body, trial), samples, documents=documents)
