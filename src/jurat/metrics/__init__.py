"""Numbers about many verdicts: rates with intervals, tallies. Web and command line compute none of their own."""

from jurat.metrics.quantiles import LogHistogram
from jurat.metrics.rates import Rate, wilson_interval
from jurat.metrics.tally import Tally

__all__ = ["LogHistogram", "Rate", "Tally", "wilson_interval"]
