"""Quantiles of Student's t, against those of scipy."""

from __future__ import annotations

import pytest
from scipy import stats

from jurat.metrics.student import student_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 19, 201, 5_000, 1_000_000, 10_000_000])
@pytest.mark.parametrize("share", [0.001, 0.025, 0.2, 0.5, 0.8, 0.975, 0.9999])
def test_a_quantile_is_that_of_scipy(share: float, freedom: int) -> None:
    assert student_quantile(share, freedom) == pytest.approx(float(stats.t.ppf(share, freedom)), rel=1e-6, abs=1e-9)
