"""What the distribution tells pytest to load. It loads the plugin under its own name, unless somebody has done so.

A plugin that pytest finds by itself cannot be named with `-p` or in a conftest as well. This one can.
"""

from __future__ import annotations

__all__ = ["pytest_plugins"]

pytest_plugins = ("jurat.pytest_plugin",)
