"""What a run rests on, as immutable snapshots: the suite, its cases, the prompt, every provider and every rubric.

They are named by their content, so that two runs that rest on the same share them, and a run that is resumed can see
whether something has changed under it. A provider's snapshot says where its key is found and never holds one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from jurat.jsontext import Json, canonical, thaw
from jurat.provider import Provider
from jurat.report.record import CaseRecord, Snapshot
from jurat.suite.case import Case
from jurat.suite.codec import case_hash, case_to_json, prompt_to_json, suite_to_json
from jurat.suiterun.prepare import Prepared
from jurat.vocabulary import content_id

__all__ = ["Rests", "parts_of", "what_it_rests_on"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rests:
    """What a run rests on.

    Attributes:
        suite_hash: names the suite's snapshot.
        by_kind: hashes of everything but the cases, whose records hold theirs.
        snapshots: all bodies, each once, those of the cases too.
        cases: the cases' places in the run.
    """

    suite_hash: str
    by_kind: Mapping[str, tuple[str, ...]]
    snapshots: Sequence[Snapshot]
    cases: Sequence[CaseRecord]


def what_it_rests_on(prepared: Prepared) -> Rests:
    """Everything that a run of this suite rests on."""
    records, bodies = _cases(prepared)
    own = {id(planned.case): record.case_hash for planned, record in zip(prepared.cases, records, strict=True)}
    known = prepared.hashes
    for case in prepared.suite.cases:  # which live as long as the plan, and so do their ids
        if id(case) not in known:
            known[id(case)] = own.get(id(case)) or case_hash(case)
    every = [known[id(case)] for case in prepared.suite.cases]
    suite = _snapshot("suite", suite_to_json(prepared.suite, every))
    found = [suite, *parts_of(prepared)]
    by_kind: dict[str, list[str]] = {}
    for one in found:
        by_kind.setdefault(one.kind, []).append(one.hash)
    return Rests(
        suite_hash=suite.hash,
        by_kind={kind: tuple(sorted(set(names))) for kind, names in by_kind.items()},
        snapshots=list({one.hash: one for one in (*found, *bodies)}.values()),
        cases=records,
    )


def parts_of(prepared: Prepared) -> list[Snapshot]:
    """The parts that may come from elsewhere than the suite file: prompt, providers, rubrics."""
    found = [] if prepared.prompt is None else [_snapshot("prompt", prompt_to_json(prepared.prompt))]
    found += [_snapshot("provider", _provider_to_json(one)) for one in _providers(prepared)]
    return [*found, *(_snapshot("rubric", judge.rubric.to_json()) for judge in prepared.judges)]


def _cases(prepared: Prepared) -> tuple[list[CaseRecord], list[Snapshot]]:
    records: list[CaseRecord] = []
    bodies: list[Snapshot] = []
    for planned in prepared.cases:
        case = planned.case
        bodies.append(body := _snapshot("case", case_to_json(case)))
        records.append(_case_record(planned.case_index, case, body.hash))
    return records, bodies


def _case_record(index: int, case: Case, hash_: str) -> CaseRecord:
    return CaseRecord(
        case_index=index,
        name=case.name,
        case_hash=hash_,
        labels=case.labels,
        metadata=case.metadata,
        file=case.place.file,
        line=case.place.line,
    )


def _snapshot(kind: str, body: Json) -> Snapshot:
    return Snapshot(hash=content_id(canonical(body).encode()), kind=kind, body=body)


def _providers(prepared: Prepared) -> Iterable[Provider]:
    """The subject's provider and the judges', each once, in the order in which they were made."""
    judges = {id(judge.provider): judge.provider for judge in prepared.judges}
    made = {id(one): one for one in prepared.bench.providers}
    return {**made, **judges}.values()


def _provider_to_json(provider: Provider) -> dict[str, Json]:
    settings = provider.settings
    return {
        **settings.identity,
        "name": settings.name,
        "api_key_env": settings.api_key_env,
        "prices": None if settings.prices is None else dict(settings.prices),
        "capabilities": thaw(asdict(settings.capabilities)),
        "default_strategy": settings.default_strategy,
        **({"api_key_keyring": settings.api_key_keyring} if settings.api_key_keyring else {}),
        **({"replayed": True} if settings.replays else {}),
    }
