"""The run engine: plans, bounds, and keeps the order. It declares the journal that it writes to."""

from jurat.engine.journal import Journal, MemoryJournal
from jurat.engine.judging import Judged, JudgingJob

__all__ = ["Journal", "Judged", "JudgingJob", "MemoryJournal"]
