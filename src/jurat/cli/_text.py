"""Text from elsewhere, on a terminal: what `jurat.report.plaintext` makes harmless, under the name commands use."""

from __future__ import annotations

from jurat.report.plaintext import visible, wrapped

__all__ = ["visible", "wrapped"]
