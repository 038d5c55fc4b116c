"""The loopback server of the providers' tests serves here too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "provider"))
