"""Everything that can be found out before anything is spent: the suite, its options and its surroundings, as one plan.

All faults are told together, each with the file and line where its author wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from jurat.engine import PlannedCase
from jurat.errors import AuthoringError, EvaluationError, Fault, ModelError, RequestError
from jurat.evaluation.reducers import Reducer, reducer_from_json
from jurat.evaluation.subject import Subject
from jurat.judge import Judge
from jurat.judgefactory import JudgeFactory
from jurat.metrics.policy import Policy, read_policy
from jurat.provider import Provider
from jurat.provider.openfiles import crowding_faults
from jurat.provider.rows import check_row
from jurat.provider.scripted import scripted_replies
from jurat.rubric import Rubric, read_rubric
from jurat.subject import make_subject
from jurat.suite.filter import parse_filter
from jurat.suite.loaded import LoadedSuite
from jurat.suite.suite import Limits, Prompt, SubjectKind, Suite
from jurat.suitefiles import FolderFiles, with_bytes
from jurat.suiterun.assertions import AssertionBuilder
from jurat.suiterun.modules import foreign_modules
from jurat.suiterun.money import unpriced_faults
from jurat.suiterun.options import RunOptions
from jurat.suiterun.recordings import Recordings
from jurat.suiterun.refusing import may_be_refused, refusals
from jurat.workbench import Workbench
from jurat.yamltext import MAX_BYTES

__all__ = ["Prepared", "bench_for", "check_suite", "chosen_prompt", "folder_of", "plan_for", "prepare"]

_ALONE = ("local",)
"""Provider kinds whose calls go one at a time where the author says nothing: models on this machine."""
_DEFAULT_CONCURRENCY = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """A suite that can be run.

    Attributes:
        suite: as it was read.
        options: as they were given.
        bench: has made the providers, and closes them.
        subject: who answers; None where every case brings its own output.
        prompt: the prompt of the subject, or None.
        judges: every judge of the plan, once.
        cases: the cases that are run, in order, each with its assertions.
        policy: what the run has to meet.
        samples, reducer: trials of each case, and how they become one outcome.
        limits: the bounds that hold; `concurrency` is never None here.
        recordings: what the run answers from, and what it leaves.
        loaded: the suite with where its parts were written; None of one that was written in no file.
        hashes: of the suite's cases, by their ids, as far as they are known; shared by all plans that are made of one.
    """

    suite: Suite
    options: RunOptions
    bench: Workbench
    subject: Subject | None
    prompt: Prompt | None
    judges: tuple[Judge, ...]
    cases: tuple[PlannedCase, ...]
    policy: Policy
    samples: int
    reducer: Reducer
    limits: Limits
    recordings: Recordings
    loaded: LoadedSuite | None = None
    hashes: dict[int, str] = field(default_factory=dict, repr=False)

    async def aclose(self) -> None:
        """Close the subject and the providers."""
        try:
            if self.subject is not None:
                await self.subject.aclose()
        finally:
            await self.bench.aclose()


def folder_of(suite: Suite) -> Path:
    """What file names in a suite are relative to: its file's folder, or the working directory."""
    return Path(suite.file).parent if suite.file else Path()


def chosen_prompt(suite: Suite) -> Prompt | None:
    """The subject's prompt. That one is named where there are several is the manifest's business."""
    wanted = suite.subject.prompt
    return next((prompt for prompt in suite.prompts if wanted in (None, prompt.name)), None)


def bench_for(suite: Suite, options: RunOptions, recordings: Recordings) -> Workbench:
    """The workbench on which a suite is run: the options' providers come first, then the suite's own."""
    bench = Workbench(
        providers=options.providers,
        suite_rows=suite.providers,
        suite_folder=folder_of(suite),
        of_file=suite.file is not None,
        through=recordings.provider,
    )
    recordings.trust = bench.trust
    return bench


def check_suite(suite: LoadedSuite | Suite) -> None:
    """Find everything that is wrong with a suite and can be found without a key, a model or a connection.

    Raises:
        AuthoringError: with every fault, each with file and line.
    """
    _Preparation(suite, RunOptions()).checked()


def plan_for(suite: LoadedSuite | Suite, options: RunOptions) -> Prepared:
    """The suite as a plan: everything is checked that needs neither a key nor a model nor a connection.

    Raises:
        AuthoringError: with every fault, each with file and line.
    """
    return _Preparation(suite, options).checked()


def prepare(suite: LoadedSuite | Suite, options: RunOptions, *, asks: bool = True, whole: bool = True) -> Prepared:
    """The suite, ready to be run: its providers can be asked, as far as that is known without a connection.

    Args:
        suite: as it was read; a suite that was made in another way has no lines to tell.
        asks: whether its subject is asked; otherwise the answers come from elsewhere, and none is made.
        whole: whether these are all of its cases. Else they are those that an earlier process left, of a suite that was
            checked as a whole when the run was begun: there may be none, and nothing is amiss in what they lack.

    Raises:
        AuthoringError: with every fault, each with file and line.
    """
    work = _Preparation(suite, options, asks=asks, whole=whole)
    prepared = work.checked()
    work.refuse_unready(prepared)
    return prepared


class _Preparation:
    """One look at a suite: gathers the parts, and the faults of all of them."""

    def __init__(
        self, suite: LoadedSuite | Suite, options: RunOptions, *, asks: bool = True, whole: bool = True
    ) -> None:
        self._loaded = suite if isinstance(suite, LoadedSuite) else None
        self._suite = suite.suite if isinstance(suite, LoadedSuite) else suite
        self._options, self._asks, self._whole = options, asks, whole
        self._faults: list[Fault] = []
        self._names: set[str] = set()
        self._folder = folder_of(self._suite)
        self._recordings = Recordings(
            record=options.record,
            replay=options.replay,
            live=options.live,
            adds=options.filter is not None,
            base=self._folder,
        )
        self._bench = bench_for(self._suite, options, self._recordings)
        # A run that was begun has the rules that it was begun with, or none.
        self._of_workspace = whole and not self._suite.policy and bool(self._bench.config.policy)
        if self._of_workspace:
            self._suite = replace(self._suite, policy=self._bench.config.policy)
        self._factory = JudgeFactory(self._bench, read_rubric=self._rubric, collect=True)

    def checked(self) -> Prepared:
        """The parts, none of which is at fault."""
        answered = self._suite.subject.kind is SubjectKind.RECORDED or not self._asks
        if self._loaded is None and not answered:  # made by a program, or begun by an earlier process
            self._suite = with_bytes(self._suite, FolderFiles(self._folder), self._faults)
        suite, options = self._suite, self._options
        self._faults += foreign_modules(suite, self._folder)
        rows = _row_faults(suite)
        reducer = options.reducer or reducer_from_json(suite.reducer, "reducer", self._faults)
        policy = read_policy(suite.policy, "policy", self._faults)
        if self._whole:
            self._refuse_idle_providers()
        subject, prompt = self._subject(), chosen_prompt(self._suite)
        cases = self._cases()
        self._refuse_unpreparable(subject, prompt, cases)
        self._faults += self._policy_faults(policy) if self._whole else []
        limits = self._limits()
        self._faults = [*rows, *(fault for fault in self._faults if not _repeats(fault, rows))]
        self._raise()
        assert reducer is not None  # noqa: S101 (else there was a fault)
        return Prepared(
            suite=suite,
            options=options,
            bench=self._bench,
            subject=subject,
            prompt=prompt,
            judges=tuple(self._factory.judges),
            cases=cases,
            policy=policy,
            samples=options.samples or suite.samples,
            reducer=reducer,
            limits=limits,
            recordings=self._recordings,
            loaded=self._loaded,
        )

    def refuse_unready(self, prepared: Prepared) -> None:
        """Find out that a key or a model is missing, or a budget cannot be kept, before the first call."""
        if prepared.subject is not None:
            self._note("subject", prepared.subject.check)
        seen: set[int] = set()
        for judge, path in self._factory.judges.items():
            self._note(path, judge.check)
            if id(judge.provider) not in seen:
                seen.add(id(judge.provider))
                self._note(f"{path}.provider", judge.provider.check)
        if prepared.limits.budget_usd is not None:
            self._faults += unpriced_faults(self._providers())
        self._refuse_crowds(prepared)
        self._raise()

    def _refuse_crowds(self, prepared: Prepared) -> None:
        """More calls over the network than this system lets one process have connections."""
        calls = prepared.limits.concurrency or _DEFAULT_CONCURRENCY
        given = "--concurrency" if self._options.concurrency else "limits.concurrency"
        if self._suite.subject.kind is SubjectKind.HTTP or any(one.settings.endpoint for one in self._providers()):
            self._faults += crowding_faults(calls, given)

    def _raise(self) -> None:
        if not self._faults:
            return
        written = [fault for fault in self._faults if not fault.path.startswith("--")]
        given = [fault for fault in self._faults if fault.path.startswith("--")]  # in no file
        placed = written if self._loaded is None else self._loaded.placed(written)
        raise AuthoringError("suite", [*given, *placed])

    def _note(self, path: str, check: object) -> None:
        try:
            check()  # type: ignore[operator]
        except (EvaluationError, ModelError) as error:
            category = f"{error.category.value}: " if isinstance(error, EvaluationError) else ""
            found = f"{category}{error}"
            self._faults.append(Fault(path=path, expected="a model that can be asked", found=found))

    def _providers(self) -> list[Provider]:
        """Everybody who is asked for money, each once."""
        every = [judge.provider for judge in self._factory.judges]
        spec = self._suite.subject
        if self._asks and spec.kind is SubjectKind.PROVIDER:
            every.append(self._bench.provider(spec.provider))
        return list({id(provider): provider for provider in every}.values())

    # --- the parts -------------------------------------------------------------------------------------------------

    def _rubric(self, name: str) -> Rubric:
        return read_rubric(FolderFiles(self._folder).read(name, limit=MAX_BYTES), name)

    def _subject(self) -> Subject | None:
        spec = self._suite.subject
        if not self._asks:
            return None
        try:
            provider = self._bench.provider(spec.provider) if spec.kind is SubjectKind.PROVIDER else None
            folder = self._folder.resolve()
            subject = make_subject(spec, provider=provider, base_dir=folder, trust=self._bench.trust)
            return subject if subject is None or provider is not None else self._recordings.subject(subject)
        except AuthoringError as error:
            self._faults += [
                one if one.file else replace(one, path=f"subject.{one.path}" if one.path else "subject")
                for one in error.faults
            ]
        except RequestError as error:
            found = f"{error.category.value}: {error}"
            self._faults.append(Fault(path="subject", expected="a provider that exists", found=found))
        return None

    def _cases(self) -> tuple[PlannedCase, ...]:
        """The cases that are chosen; the assertions of all are built, so that no fault hides behind a filter."""
        written = self._options.filter
        chosen = parse_filter(written) if written is not None else None
        builder = AssertionBuilder(self._factory, self._faults)
        planned: list[PlannedCase] = []
        for index, case in enumerate(self._suite.cases):
            assertions = builder.build(index, case)
            self._names.update(assertion.name for assertion in assertions)
            if chosen is None or chosen(case):
                planned.append(PlannedCase(case_index=len(planned), case=case, assertions=assertions))
        if not planned and self._whole:
            self._faults.append(self._nothing_chosen())
        return tuple(planned)

    def _nothing_chosen(self) -> Fault:
        if self._options.filter is None:
            return Fault(path="cases", expected="at least one case", found="0 cases")
        names = ", ".join(case.name for case in self._suite.cases[:5])
        more = ", …" if len(self._suite.cases) > 5 else ""
        hint = f"The cases are called {names}{more}" if names else None
        found = f"0 cases selected of {len(self._suite.cases)}"
        return Fault(path="--filter", expected="an expression that at least one case meets", found=found, hint=hint)

    def _limits(self) -> Limits:
        own, options = self._suite.limits, self._options
        return replace(
            own,
            concurrency=options.concurrency or own.concurrency or self._usual_concurrency(),
            budget_usd=own.budget_usd if options.budget_usd is None else options.budget_usd,
            run_timeout_s=own.run_timeout_s if options.timeout_s is None else options.timeout_s,
        )

    def _usual_concurrency(self) -> int:
        spec = self._suite.subject
        kinds = {judge.provider.settings.kind for judge in self._factory.judges}
        if spec.kind is SubjectKind.PROVIDER:
            kinds |= {made.settings.kind for made in self._bench.providers}
        elif spec.kind in (SubjectKind.PYTHON, SubjectKind.HTTP):
            kinds.add(spec.kind.value)
        return 1 if kinds and kinds <= set(_ALONE) else _DEFAULT_CONCURRENCY

    # --- what does not fit together --------------------------------------------------------------------------------

    def _refuse_idle_providers(self) -> None:
        """A provider that is given for a name which nobody uses is a slip, and the run would be another than meant."""
        known = [name for name in self._bench.names if name not in self._options.providers]
        used = set(_named_providers(self._suite))
        for name in self._options.providers:
            if name not in used and name not in known:
                every = ", ".join(sorted(used | set(known)))
                hint = f"There are {every}"
                self._faults.append(
                    Fault(path="--provider", expected="a provider that the suite names", found=repr(name), hint=hint)
                )

    def _refuse_unpreparable(
        self, subject: Subject | None, prompt: Prompt | None, cases: Iterable[PlannedCase]
    ) -> None:
        """Have every conversation that could be refused made ready once: what cannot be said is told now."""
        if subject is None:
            return
        numbers = {id(case): index for index, case in enumerate(self._suite.cases)}
        for planned in cases:
            if may_be_refused(planned.case, prompt, self._suite.subject.kind):
                path = f"cases[{numbers[id(planned.case)]}]"
                self._faults += refusals(subject, planned.case, prompt, path, read=self._loaded is not None)

    def _policy_faults(self, policy: Policy) -> list[Fault]:
        """Rules that name what the suite does not have, be its cases chosen or not."""
        labels = {label for case in self._suite.cases for label in case.labels}
        templates = {judge.rubric.reference for judge in self._factory.judges}
        metadata = [case.metadata for case in self._suite.cases]
        found = policy.faults(assertions=self._names, templates=templates, labels=labels, metadata=metadata)
        if not self._of_workspace:
            return found
        hint = "These rules are for suites that have none of their own; give this one a policy"
        return [replace(fault, file=str(self._bench.config.file), hint=fault.hint or hint) for fault in found]


def _row_faults(suite: Suite) -> list[Fault]:
    """What is wrong with the suite's own provider rows, whether anybody uses them or not."""
    faults: list[Fault] = []
    for index, row in enumerate(suite.providers.values()):
        try:
            check_row(row)
            if row.get("kind") == "scripted" and isinstance(row.get("replies"), list | tuple):
                scripted_replies(row["replies"])
        except AuthoringError as error:
            faults += [replace(one, path=f"providers[{index}].{one.path}") for one in error.faults]
    return faults


def _repeats(fault: Fault, rows: Iterable[Fault]) -> bool:
    """Whether a fault is a row's own, met again where the row is used."""
    said = (fault.expected, fault.found)
    return any(said == (row.expected, row.found) and _last(fault.path) == _last(row.path) for row in rows)


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _named_providers(suite: Suite) -> Iterator[str]:
    """The names by which a suite calls providers, in its subject and its assertions."""
    if suite.subject.provider is not None:
        yield suite.subject.provider
    for case in suite.cases:
        for assertion in case.assertions:
            named = assertion.get("provider", assertion.get("provider_id"))
            if isinstance(named, str):
                yield named
