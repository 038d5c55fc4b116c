"""The life of a run: begun, carried out, finished with a gate; or interrupted, and gone on with later.

Whatever ends a run early, what is durable stays: the record says `interrupted`, and `carry_on` asks for nothing that is
there already. A run that could not even say that it ended is found to be interrupted by whoever looks next.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jurat.engine import Plan, RunJob, RunWatcher
from jurat.errors import StoreError
from jurat.evaluation.reducers import reducer_to_json
from jurat.evaluation.subject import Subject
from jurat.jsontext import Json, thaw
from jurat.judge import Judge
from jurat.metrics import Policy, RunTally, read_policy
from jurat.metrics.gate import Verdict
from jurat.provider.pricing import Pricer
from jurat.report.record import RunRecord, RunStatus, TrialRecord
from jurat.store import Store
from jurat.subject import ProviderSubject
from jurat.suite.codec import prompt_hash
from jurat.suiterun.answers import ParentAnswers
from jurat.suiterun.baseline import baseline_for, regressions_of
from jurat.suiterun.bycase import by_case
from jurat.suiterun.options import options_to_json
from jurat.suiterun.places import PLACES, places_of
from jurat.suiterun.prepare import Prepared, folder_of
from jurat.suiterun.provenance import new_run_id, now, provenance
from jurat.suiterun.snapshots import what_it_rests_on
from jurat.vocabulary import Cache, Status

__all__ = ["Finished", "begin", "carry_on", "load_finished", "tally_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A run that is in the store: its record (with its gate, once it is completed), and its figures."""

    record: RunRecord
    tally: RunTally

    @property
    def outcome(self) -> Verdict | None:
        """What the gate came to; None of a run that is not completed."""
        gate = self.record.gate
        return None if gate is None else Verdict(gate["outcome"])


async def begin(prepared: Prepared, store: Store, *, parent: str | None = None) -> RunRecord:
    """Keep a new run in the store, not one call made yet. From here on it is there, whatever happens.

    Raises:
        AuthoringError: when the policy compares with a run that is not there.
        StoreError: when it cannot be kept.
    """
    baseline = await baseline_for(prepared.policy, prepared.suite.name, store, prepared.options.filter)
    rests, places = what_it_rests_on(prepared), places_of(prepared)
    record = RunRecord(
        id=new_run_id(),
        suite=prepared.suite.name,
        suite_hash=rests.suite_hash,
        status=RunStatus.RUNNING,
        created_at=now(),
        samples=prepared.samples,
        reducer=reducer_to_json(prepared.reducer),
        cases=len(rests.cases),
        options={**_options(prepared), **({} if baseline is None else {"baseline": baseline.id})},
        provenance=_provenance(prepared),
        snapshots=rests.by_kind if places is None else {**rests.by_kind, PLACES: (places.hash,)},
        parent=parent,
    )
    await store.runs.begin(record, rests.cases, [*rests.snapshots, *([] if places is None else [places])])
    return record


def _options(prepared: Prepared) -> dict[str, Json]:
    made = {**options_to_json(prepared.options), "concurrency": prepared.limits.concurrency}
    if prepared.suite.file is not None:
        made["suite_file"] = prepared.suite.file
    return made


def _provenance(prepared: Prepared) -> dict[str, Json]:
    suite = prepared.suite
    made = provenance(folder_of(suite) if suite.file else None)
    made["subject"] = None if prepared.subject is None else thaw(dict(prepared.subject.identity))
    made["judges"] = sorted({judge.facts.identity for judge in prepared.judges})
    made["price_sources"] = price_sources(prepared.judges, prepared.subject)
    return made


def price_sources(judges: Iterable[Judge], subject: Subject | None) -> dict[str, Json]:
    """Where each provider's price comes from, with the version of the table; null where it is not known."""
    asked = {judge.provider.settings.name: judge.provider.settings for judge in judges}
    if isinstance(subject, ProviderSubject):
        asked[subject.provider.settings.name] = subject.provider.settings
    return {name: Pricer(asked[name]).price_source for name in sorted(asked)}


class _Recorder:
    """Commits trials of one run (`jurat.engine.Recorder`)."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._runs, self._run_id = store.runs, run_id

    async def commit_trials(self, trials: Sequence[TrialRecord]) -> None:
        await self._runs.commit_trials(self._run_id, trials)


async def carry_on(
    prepared: Prepared, store: Store, record: RunRecord, *, watch: RunWatcher | None = None, resumed: bool = False
) -> Finished:
    """Carry out whatever of the plan is not in the store yet, and finish the run.

    Args:
        record: the run, begun (or, when it is resumed, claimed) by this process.
        watch: is told every trial and call.
        resumed: whether an earlier process began it, so that some of it is there.

    Raises:
        StoreError: when the record cannot be kept; what was durable before stays.
        asyncio.CancelledError: when it was cancelled; the run is `interrupted` by then.
    """
    runs = store.runs
    try:
        job = await _job(prepared, store, record, watch, resumed=resumed)
        prepared.recordings.begin(resumed=resumed)
        async with runs.heartbeat(record.id):
            await job.run()
            prepared.recordings.keep()
            return await _finish(prepared.policy, store, record)
    except BaseException:
        with contextlib.suppress(StoreError):  # then its owner's end says the same
            await runs.interrupt(record.id, now())
        raise


async def _job(
    prepared: Prepared, store: Store, record: RunRecord, watch: RunWatcher | None, *, resumed: bool
) -> RunJob:
    prompt = prepared.prompt
    plan = Plan(
        cases=prepared.cases,
        samples=prepared.samples,
        prompt=prompt,
        prompt_version=None if prompt is None else f"{prompt.name}@{prompt_hash(prompt)[7:19]}",
    )
    return RunJob(
        plan,
        store.runs.journal(record.id),
        _Recorder(store, record.id),
        subject=prepared.subject,
        source=None if record.parent is None else await ParentAnswers.of(store, record),
        limits=prepared.limits,
        cache_read=prepared.options.cache is Cache.READ,
        done=await store.runs.keys(record.id) if resumed else frozenset(),
        resumed=resumed,
        spent_usd=await store.runs.spent_usd(record.id) if resumed else 0.0,
        borne=await store.runs.borne(record.id) if resumed else (),
        watcher=watch,
    )


async def _finish(policy: Policy, store: Store, record: RunRecord) -> Finished:
    statuses: list[Status] = []
    tally = RunTally(record, policy.watch)
    async for case, trials in by_case(store, record):
        outcome = tally.add(case, trials)
        if outcome is not None:
            statuses.append(outcome)
    gate = policy.decide(tally, await regressions_of(policy, store, record))
    finished = now()
    await store.runs.finish(record.id, RunStatus.COMPLETED, finished, statuses, gate.to_json())
    ended = replace(record, status=RunStatus.COMPLETED, finished_at=finished, gate=gate.to_json())
    return Finished(record=ended, tally=tally)


async def load_finished(store: Store, record: RunRecord) -> Finished:
    """A run as it stands in the store, its figures computed from its rows."""
    body = (await store.runs.snapshot(record.suite_hash)).body
    policy = read_policy(body.get("policy", ()), "policy", [])
    return Finished(record=record, tally=await tally_of(store, record, policy))


async def tally_of(store: Store, record: RunRecord, policy: Policy) -> RunTally:
    """The figures of a run, from its rows alone."""
    tally = RunTally(record, policy.watch)
    async for case, trials in by_case(store, record):
        tally.add(case, trials)
    return tally
