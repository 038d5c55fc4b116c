"""Numbers about many verdicts: rates with intervals, tallies. Web and command line compute none of their own."""

from jurat.metrics.quantiles import LogHistogram
from jurat.metrics.rates import Rate, wilson_interval
from jurat.metrics.summary import Gate, summarize
from jurat.metrics.tally import Tally

__all__ = ["Gate", "LogHistogram", "Rate", "Tally", "summarize", "wilson_interval"]
