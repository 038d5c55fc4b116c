"""A run as one HTML file: it opens offline, asks nobody for anything, and runs no script but its own.

Style and script stand in the file, and its policy (CSP) admits these two by their hashes and nothing else: no network,
no other script, no inline style, no form. There is no data in the script; whatever others wrote is text in the page,
escaped, isolated in its direction of writing, with hidden characters made visible. Cases are `<details>`, so that the
page works by keyboard and without the script; sorting, filtering and the rest come on top.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

from jurat.jsontext import Json
from jurat.report.record import RunRecord
from jurat.report.reporters.foreign import one_line, xml
from jurat.report.reporters.html_case import case_html
from jurat.report.reporters.html_run import columns_html, footer_html, run_html
from jurat.report.reporters.reporter import ReportOptions, Sink, Told

__all__ = ["HtmlReporter"]

_TITLE = 200


@lru_cache(maxsize=2)
def _asset(name: str) -> str:
    return files("jurat.report.reporters").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _policy() -> str:
    """What the page may do: show its own style, run its own script."""
    own = f"style-src {_hash(_asset('page.css'))}; script-src {_hash(_asset('page.js'))}"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


class HtmlReporter:
    """Writes one self-contained page; a section for each run."""

    def __init__(self, sink: Sink, options: ReportOptions) -> None:
        self._sink, self._options = sink, options
        self._run: RunRecord | None = None
        self._runs = 0

    def begin(self, run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> None:
        """The page's head before the first run; the run's outcome and figures."""
        if not self._runs:
            word = run.status.value if gate is None else str(gate["outcome"])
            self._write(_opening(f"{one_line(run.suite, _TITLE)}: {word}"))
        self._run = run
        self._write(run_html(run, summary, gate, self._runs))
        self._write(columns_html(summary))
        self._runs += 1

    def case(self, told: Told) -> None:
        """One case."""
        samples = 1 if self._run is None else self._run.samples
        self._write(case_html(told, samples, f"r{self._runs - 1}c{told.case.case_index}", self._options.include_output))

    def end(self) -> None:
        """The cases end, and so does the run."""
        if self._run is not None:
            self._write("</div>\n" + footer_html(self._run, self._options) + "</section>\n")

    def close(self) -> None:
        """The script, and the page's end."""
        if not self._runs:
            self._write(_opening("no run"))
        self._write(f"</main></div>\n<script>{_asset('page.js')}</script>\n</body>\n</html>\n")

    def _write(self, text: str) -> None:
        self._sink.write(text.encode("utf-8"))


def _opening(title: str) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{xml(title)}</title>
<style>{_asset("page.css")}</style>
</head>
<body>
<div class="page">
<header class="top"><div class="brand">jurat<span>evaluation report</span></div>
<button type="button" class="quiet theme" hidden>Dark</button></header>
<main>
"""
