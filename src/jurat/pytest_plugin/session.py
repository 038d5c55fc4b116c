"""What one pytest session shares: a loop, judges with their connections, stores, the runs of its suites, and figures.

Nothing of it exists before the first evaluation: a session without one costs nothing and leaves nothing. At its end
runs that are on their way are interrupted, and everything durable stays.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jurat.pytest_plugin.options import Options

if TYPE_CHECKING:
    from jurat.jsontext import Json
    from jurat.judgefactory import JudgeFactory
    from jurat.pytest_plugin.caseruns import CaseRuns
    from jurat.pytest_plugin.loopthread import Job, LoopThread
    from jurat.store import Store
    from jurat.workbench import Workbench

__all__ = ["Session", "begun", "current", "ended"]

T = TypeVar("T")


class Session:
    """One session.

    Args:
        options: what was asked for.

    Attributes:
        folder: of the test that is running; suites are looked for there first.
        selected: the cases that are tests of this session, by suite file.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.folder: Path | None = None
        self.selected: dict[Path, list[str]] = {}
        self._figures: list[dict[str, Json]] = []
        self._loop: LoopThread | None = None
        self._factory: JudgeFactory | None = None
        self._bench: Workbench | None = None
        self._stores: dict[str, Store] = {}
        self._case_runs: CaseRuns | None = None

    # --- what is counted -------------------------------------------------------------------------------------------

    def note(self, figure: dict[str, Json]) -> None:
        """Count something for the summary, with the test that is running."""
        self._figures.append(figure)

    def drain(self) -> list[dict[str, Json]]:
        """What was counted since this was last asked."""
        drained, self._figures = self._figures, []
        return drained

    @contextlib.contextmanager
    def counting_errors(self) -> Iterator[None]:
        """Count what is raised instead of a result as one error."""
        from jurat.errors import JuratError
        from jurat.pytest_plugin.raised import category_of

        try:
            yield
        except JuratError as error:
            self.note({"counts": {"error": 1}, "errors": {category_of(error): 1}})
            raise

    # --- what is shared --------------------------------------------------------------------------------------------

    @property
    def loop(self) -> LoopThread:
        """The session's loop."""
        if self._loop is None:
            from jurat.pytest_plugin.loopthread import LoopThread

            self._loop = LoopThread()
        return self._loop

    @property
    def case_runs(self) -> CaseRuns:
        """The runs of the suites that are tests."""
        if self._case_runs is None:
            from jurat.pytest_plugin.caseruns import CaseRuns

            self._case_runs = CaseRuns(self)
        return self._case_runs

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry something out in the session's loop, and wait for it."""
        return self.start(work).result()

    def start(self, work: Coroutine[Any, Any, T]) -> Job[T]:
        """Begin something in the session's loop."""
        return self.loop.start(work)

    def factory(self) -> JudgeFactory:
        """The judges that evaluations share which name no providers of their own; for the session's loop alone."""
        if self._factory is None:
            from jurat.judgefactory import JudgeFactory
            from jurat.pytest_plugin.benches import bench_of

            self._bench = bench_of(self.options)
            self._factory = JudgeFactory(self._bench)
        return self._factory

    @contextlib.asynccontextmanager
    async def store(self, place: str | Path) -> AsyncIterator[Store]:
        """A store that stays open until the session ends; for the session's loop alone."""
        from jurat.store import Store

        key = str(place)
        if key not in self._stores:
            opened = await Store.open(place)
            if self._stores.setdefault(key, opened) is not opened:  # another run was faster
                await opened.aclose()
        yield self._stores[key]

    def outcomes(self) -> list[tuple[str, str, str]]:
        """How runs of suites that are tests came out: suite, id, in words."""
        return [] if self._case_runs is None else self._case_runs.outcomes()

    def unasked(self) -> list[dict[str, Json]]:
        """What was spent on cases that no test came to tell."""
        return [] if self._case_runs is None else self._case_runs.unasked()

    def close(self) -> None:
        """End everything that is on its way, and let go of everything. May be called again."""
        if self._case_runs is not None:
            self._case_runs.close()
        loop, self._loop = self._loop, None
        if loop is not None:
            from jurat.pytest_plugin.loopthread import PATIENCE_S

            loop.start(self._let_go()).settled(PATIENCE_S)
            loop.close()

    async def _let_go(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            for store in self._stores.values():
                stack.push_async_callback(store.aclose)
            if self._bench is not None:
                stack.push_async_callback(self._bench.aclose)
            if self._case_runs is not None:
                stack.push_async_callback(self._case_runs.let_go)
            self._stores, self._bench, self._factory = {}, None, None


_SESSIONS: list[Session] = []
"""The sessions of this process, the innermost last: tests of plugins run pytest within pytest."""


def begun(session: Session) -> None:
    """From here on it is the current one."""
    _SESSIONS.append(session)


def ended(session: Session) -> None:
    """Close it; the one around it is the current one again."""
    session.close()
    if session in _SESSIONS:
        _SESSIONS.remove(session)


def current() -> Session:
    """The session of the tests that are running; where pytest does not run, one without options."""
    if not _SESSIONS:
        begun(Session(Options()))
    return _SESSIONS[-1]
