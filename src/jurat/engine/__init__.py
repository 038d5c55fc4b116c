"""The run engine: plans, bounds, and keeps the order. It declares the journal and the recorder that it writes to.

`RunJob` executes the plan of a suite; `JudgingJob` judges recorded outputs as they stream by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jurat._lazy import lazily

if TYPE_CHECKING:
    from jurat.engine.answering import OutputSource
    from jurat.engine.journal import Journal, MemoryJournal
    from jurat.engine.judging import Judged, JudgingJob
    from jurat.engine.plan import Place, Plan, PlannedCase
    from jurat.engine.recorder import MemoryRecorder, Recorder, RunWatcher, Silent
    from jurat.engine.run import CONCURRENCY, RunJob
    from jurat.engine.status import trial_status

__all__ = [
    "CONCURRENCY",
    "Journal",
    "Judged",
    "JudgingJob",
    "MemoryJournal",
    "MemoryRecorder",
    "OutputSource",
    "Place",
    "Plan",
    "PlannedCase",
    "Recorder",
    "RunJob",
    "RunWatcher",
    "Silent",
    "trial_status",
]

# Where each name lives. They are imported at first use: who judges a file needs nothing of the plan of a suite.
__getattr__ = lazily(
    __name__,
    {
        "OutputSource": "answering",
        **dict.fromkeys(("Journal", "MemoryJournal"), "journal"),
        **dict.fromkeys(("Judged", "JudgingJob"), "judging"),
        **dict.fromkeys(("Place", "Plan", "PlannedCase"), "plan"),
        **dict.fromkeys(("MemoryRecorder", "Recorder", "RunWatcher", "Silent"), "recorder"),
        **dict.fromkeys(("CONCURRENCY", "RunJob"), "run"),
        "trial_status": "status",
    },
)
