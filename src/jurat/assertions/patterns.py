"""Patterns from authors, matched in linear time (RE2), so that no output can make one hang.

RE2 knows no look-around and no back-reference; `^` and `$` are the ends of the text (`(?m)`: of a line), and `\\w`,
`\\d`, `\\b` know ASCII only (`\\pL` is a letter of any script). Linear is not yet quick: the worst case is the size of
the compiled pattern times the length of the text. So both are bounded, and their product; and a search that may take
long runs in a thread, where RE2 lets the interpreter go on.
"""

from __future__ import annotations

from typing import Any

from jurat.assertions.outcome import Check, decided, large_output, named, on_output, too_much
from jurat.errors import Fault
from jurat.evaluation import Assessment
from jurat.evidence import Context

__all__ = ["MAX_INPUT", "MAX_PATTERN", "Pattern", "compile_pattern", "regex"]

MAX_PATTERN = 4096
"""The longest pattern, in bytes of UTF-8."""
MAX_INPUT = 1024 * 1024
"""The longest text that a pattern is matched against, in bytes of UTF-8."""
MAX_PROGRAM = 25_000
"""The largest compiled pattern, in RE2's instructions. Counted repetition multiplies: `(ab){1000}` has 2,000."""
MAX_WORK = 5_000_000_000
"""The most instructions × bytes of one search; at worst about half a minute, as measured with 900 instructions."""
_THREAD_WORK = 5_000_000


class Pattern:
    """A compiled pattern. Immutable; safe to use from several threads."""

    __slots__ = ("_compiled", "size", "text")

    def __init__(self, compiled: Any, text: str) -> None:
        self._compiled, self.text = compiled, text
        self.size: int = compiled._regexp.ProgramSize()

    def occurs(self, text: str, *, full: bool = False) -> bool:
        """Whether the pattern matches somewhere in the text (`full`: the whole of it).

        Raises:
            RequestError: when the text is longer than `MAX_INPUT`, or the search could take too long.
        """
        data = text.encode()
        if len(data) > MAX_INPUT:
            message = f"a pattern is matched against at most {MAX_INPUT:,} bytes, the text has {len(data):,}"
            raise too_much(message)
        if self.size * len(data) > MAX_WORK:
            message = (
                f"the pattern ({self.size:,} instructions) is too large for a text of {len(data):,} bytes; "
                "counted repetitions make a pattern large"
            )
            raise too_much(message)
        search = self._compiled.fullmatch if full else self._compiled.search
        return search(data) is not None

    def heavy(self, context: Context) -> bool:
        """Whether a search in this context's output would hold up the event loop."""
        return self.size * len(context.output) > _THREAD_WORK or large_output(context)


def compile_pattern(text: str, path: str, faults: list[Fault], *, ignore_case: bool = False) -> Pattern | None:
    """The pattern compiled; or a fault, in the engine's words about the author's own text, and None."""
    import re2

    data = text.encode()
    if len(data) > MAX_PATTERN:
        expected = f"a pattern of at most {MAX_PATTERN:,} bytes"
        faults.append(Fault(path=path, expected=expected, found=f"{len(data):,} bytes"))
        return None
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        pattern = Pattern(re2.compile(data, options), text)
    except re2.error as error:
        expected = "a pattern that RE2 accepts (github.com/google/re2/wiki/Syntax)"
        faults.append(Fault(path=path, expected=expected, found=_says(error)))
        return None
    if pattern.size > MAX_PROGRAM:
        expected = f"a pattern of at most {MAX_PROGRAM:,} instructions once compiled"
        hint = "Counted repetitions and Unicode classes make a pattern large."
        faults.append(Fault(path=path, expected=expected, found=f"{pattern.size:,}", hint=hint))
        return None
    return pattern


def _says(error: Exception) -> str:
    said = error.args[0] if error.args else "an error"
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)


def regex(pattern: Pattern, *, full: bool = False) -> Check:
    """Pass when the pattern matches somewhere in the output (`full`: the whole output). Score 0 or 100.

    A blank output is `unverified`; one of more than `MAX_INPUT` bytes is the error `request_invalid`.
    """

    def look(output: str) -> Assessment:
        matched = pattern.occurs(output, full=full)
        reason = f"the pattern {named(pattern.text)} {'matches' if matched else 'does not match'}"
        return decided("regex", matched, reason)

    return on_output("regex", look)
