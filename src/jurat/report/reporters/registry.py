"""Which reporters there are: ours, and those of installed distributions (entry points of the group `jurat.reporters`).

An entry point's name is the format; what it names is a callable that gets a sink and `ReportOptions` and gives a
reporter. Nothing is loaded before it is asked for, and ours cannot be replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from jurat.errors import AuthoringError, Fault, JuratError, ReporterFault
from jurat.jsontext import Json, type_name
from jurat.processend import kept_alive
from jurat.report.record import RunRecord
from jurat.report.reporters.reporter import Reporter, ReportOptions, Sink, Told
from jurat.vocabulary import nearest

__all__ = ["GROUP", "REPORTERS", "installed_reporters", "make_reporter"]

GROUP = "jurat.reporters"
_HOMES = {
    "json": "json_report.JsonReporter",
    "report": "interchange_report.InterchangeReporter",
    "junit": "junit.JUnitReporter",
    "github": "github.GitHubReporter",
    "markdown": "markdown.MarkdownReporter",
    "sarif": "sarif.SarifReporter",
    "html": "html.HtmlReporter",
}
REPORTERS = tuple(_HOMES)
"""The formats of ours."""
_METHODS = ("begin", "case", "end", "close")


def installed_reporters() -> tuple[str, ...]:
    """The formats that installed distributions add, sorted. Loads none of them."""
    from importlib.metadata import entry_points

    return tuple(sorted({point.name for point in entry_points(group=GROUP)} - {*_HOMES}))


def make_reporter(name: str, sink: Sink, options: ReportOptions, option: str = "--format") -> Reporter:
    """A reporter of this format.

    Raises:
        AuthoringError: when there is none, or several, or what an entry point names makes none.
    """
    if name in _HOMES:
        module, _, kind = _HOMES[name].partition(".")
        made: Reporter = getattr(import_module(f"jurat.report.reporters.{module}"), kind)(sink, options)
        return made
    return _installed(name, sink, options, option)


def _installed(name: str, sink: Sink, options: ReportOptions, option: str) -> Reporter:
    from importlib.metadata import entry_points

    points = {point.value: point for point in entry_points(group=GROUP, name=name)}
    if not points:
        every = [*REPORTERS, *installed_reporters()]
        near = nearest(name, every)
        hint = f"Did you mean {near}?" if near else None
        raise _wrong(option, "one of " + ", ".join(every), repr(name[:80]), hint)
    if len(points) > 1:
        found = " and ".join(sorted(points))
        raise _wrong(option, f"one installed reporter {name}", found, "Uninstall all but one of them")
    (point,) = points.values()
    try:
        with kept_alive():
            made: Any = point.load()(sink, options)
    except (AuthoringError, KeyboardInterrupt):
        raise
    except BaseException as error:
        expected = f"{point.value} to load and to make a reporter"
        raise _wrong(option, expected, f"it raised {type(error).__name__}") from None
    if not all(callable(getattr(made, method, None)) for method in _METHODS):
        raise _wrong(option, f"{point.value} to make a reporter ({', '.join(_METHODS)})", type_name(made))
    return _Guarded(f"{name} ({point.value})", made)


class _Guarded:
    """A reporter of another distribution. Whatever it raises costs its own report and no other.

    A sink that cannot be written to raises through it; what interrupts the program does, too.
    """

    def __init__(self, called: str, reporter: Reporter) -> None:
        self._called, self._reporter = called, reporter

    def begin(self, run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> None:
        self._step(lambda: self._reporter.begin(run, summary, gate))

    def case(self, told: Told) -> None:
        self._step(lambda: self._reporter.case(told))

    def end(self) -> None:
        self._step(self._reporter.end)

    def close(self) -> None:
        self._step(self._reporter.close)

    def _step(self, step: Callable[[], None]) -> None:
        try:
            with kept_alive():
                step()
        except (OSError, JuratError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise ReporterFault(self._called, type(error).__name__) from error


def _wrong(option: str, expected: str, found: str, hint: str | None = None) -> AuthoringError:
    return AuthoringError("report", [Fault(path=option, expected=expected, found=found, hint=hint)])
