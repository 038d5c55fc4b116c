"""Why a document cannot be read: what was expected, what was found, what to do. Whoever catches it names the file."""

from __future__ import annotations

__all__ = ["Unreadable"]


class Unreadable(Exception):
    """A document that cannot be read, in the words of a fault. Carries nothing of the document's text."""

    def __init__(self, expected: str, found: str, hint: str | None = None) -> None:
        self.expected, self.found, self.hint = expected, found, hint
        super().__init__(f"expected {expected}, found {found}")
