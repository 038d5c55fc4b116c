"""The pytest plugin: evaluations as assertions, suite files as tests.

    assert_evaluation, assert_evaluations, assert_suite      fixtures, and functions to import from here
    aassert_evaluation, aassert_evaluations, aassert_suite   the same, to await in the test's own loop
    EvaluationFailed, Undecided                              what they raise: a verdict, or none

Files that match `jurat_suites` are collected, each case a test. A project that uses none of this does not notice the
plugin: it reads no file, opens no connection, prints nothing, and imports nothing that costs.

PYTEST_DONT_REWRITE: its assertions are no tests'. Some versions of pytest warn of a plugin that was imported before
they could rewrite it, and a warning may be an error; of one that says this they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import pytest

from jurat.pytest_plugin.options import add_options, options_of
from jurat.pytest_plugin.raised import EvaluationFailed, Undecided
from jurat.pytest_plugin.session import Session, begun, ended

if TYPE_CHECKING:
    from pathlib import Path

    from jurat._api import Run
    from jurat.evaluation import Reducer
    from jurat.evidence import Context
    from jurat.provider import Provider
    from jurat.pytest_plugin.asserts import Evaluated
    from jurat.suite.suite import Suite

    Providers = Mapping[str, Provider | Mapping[str, Any] | str]

    class SuiteOptions(TypedDict, total=False):
        """The options of `jurat.run_suite`."""

        providers: Providers | None
        samples: int | None
        reducer: Reducer | Mapping[str, float] | str | None
        concurrency: int | None
        filter: str | None
        cache: str
        store: str | Path | None
        budget_usd: float | None
        timeout_s: float | None
        record: str | Path | None
        replay: str | Path | None
        live: bool


__all__ = [
    "EvaluationFailed",
    "Undecided",
    "aassert_evaluation",
    "aassert_evaluations",
    "aassert_suite",
    "assert_evaluation",
    "assert_evaluations",
    "assert_suite",
]

_SESSION = pytest.StashKey[Session]()


# --- assertions ----------------------------------------------------------------------------------------------------


def assert_evaluation(
    context: Context | str,
    assertion: Mapping[str, Any] | str,
    *,
    providers: Providers | None = None,
    timeout_s: float | None = None,
) -> Evaluated:
    """Evaluate one assertion on one context. It passes, or something is raised.

    Args:
        context: what is known of the trial, or the output alone.
        assertion: as a suite file has it, or a template's name for a judge with the defaults.
        providers: providers by name; those of the command line come before them.
        timeout_s: seconds until the evaluation is an error, `timeout`.

    Raises:
        EvaluationFailed: when it fails.
        Undecided: when there is no verdict.
        AuthoringError: when the assertion or the context is wrong; nothing was spent.
    """
    __tracebackhide__ = True
    return assert_evaluations(context, [assertion], providers=providers, timeout_s=timeout_s)[0]


def assert_evaluations(
    context: Context | str,
    assertions: Sequence[Mapping[str, Any] | str],
    *,
    providers: Providers | None = None,
    timeout_s: float | None = None,
) -> list[Evaluated]:
    """Evaluate several assertions on one context, side by side. All of them are evaluated, and all faults are told.

    Args and what is raised: as of `assert_evaluation`; `timeout_s` is each one's. One that failed is a failure
    whatever else is undecided.
    """
    __tracebackhide__ = True
    from jurat.pytest_plugin.asserts import evaluate_here

    return evaluate_here(context, assertions, providers, timeout_s)


async def aassert_evaluation(
    context: Context | str,
    assertion: Mapping[str, Any] | str,
    *,
    providers: Providers | None = None,
    timeout_s: float | None = None,
) -> Evaluated:
    """As `assert_evaluation`, in the running event loop."""
    __tracebackhide__ = True
    return (await aassert_evaluations(context, [assertion], providers=providers, timeout_s=timeout_s))[0]


async def aassert_evaluations(
    context: Context | str,
    assertions: Sequence[Mapping[str, Any] | str],
    *,
    providers: Providers | None = None,
    timeout_s: float | None = None,
) -> list[Evaluated]:
    """As `assert_evaluations`, in the running event loop."""
    __tracebackhide__ = True
    from jurat.pytest_plugin.asserts import evaluate_there

    return await evaluate_there(context, assertions, providers, timeout_s)


def assert_suite(suite: str | Path | Suite, **given: Unpack[SuiteOptions]) -> Run:
    """Run a suite, and hold it against its policy. It passes, or something is raised.

    Args:
        suite: a suite file, beside the test or where pytest was called; or a suite.
        given: options as of `jurat.run_suite`; those of the command line come before them.

    Raises:
        EvaluationFailed: when the gate failed.
        Undecided: when the gate is undecided.
        AuthoringError: when the suite or an option is wrong; nothing was spent.
        StoreError: when the record cannot be kept.
    """
    __tracebackhide__ = True
    from jurat.pytest_plugin.suiteasserts import suite_here

    return suite_here(suite, given)


async def aassert_suite(suite: str | Path | Suite, **given: Unpack[SuiteOptions]) -> Run:
    """As `assert_suite`, in the running event loop."""
    __tracebackhide__ = True
    from jurat.pytest_plugin.suiteasserts import suite_there

    return await suite_there(suite, given)


def _fixture(helper: Callable[..., Any]) -> Any:
    def given() -> Callable[..., Any]:
        return helper

    given.__doc__ = (helper.__doc__ or "").partition("\n")[0]
    return pytest.fixture(name=helper.__name__, scope="session")(given)


_assert_evaluation = _fixture(assert_evaluation)
_assert_evaluations = _fixture(assert_evaluations)
_assert_suite = _fixture(assert_suite)
_aassert_evaluation = _fixture(aassert_evaluation)
_aassert_evaluations = _fixture(aassert_evaluations)
_aassert_suite = _fixture(aassert_suite)


# --- hooks ---------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Tell pytest the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Begin a session, of which nothing exists yet."""
    from jurat.pytest_plugin.reporting import Reporter

    _spare_rewriting(config)
    config.addinivalue_line("markers", "jurat: asks evaluators, or is a case of a suite")
    session = config.stash[_SESSION] = Session(options_of(config))
    begun(session)
    config.pluginmanager.register(Reporter(config, session), "jurat-session")


def _spare_rewriting(config: pytest.Config) -> None:
    """Have our modules imported as they are.

    pytest rewrites the assertions of every module of a distribution that brings a plugin. Of all of jurat that takes
    seconds where no byte code is kept, and its assertions are not tests.
    """
    hook = config.pluginmanager.rewrite_hook
    getattr(hook, "_must_rewrite", set()).difference_update({"jurat", "jurat.pytest_plugin"})


def pytest_unconfigure(config: pytest.Config) -> None:
    """End it."""
    if (session := config.stash.get(_SESSION, None)) is not None:
        ended(session)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A suite file, if it is one by its name; no other file is looked at."""
    if not parent.config.stash[_SESSION].options.is_suite(file_path):
        return None
    from jurat.pytest_plugin.items import SuiteFile

    return SuiteFile.from_parent(parent, path=file_path)
