"""Intervals against other packages, and how often they hold what they are about."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import gameproof as gp
from audited import MOVABLE, people
from gameproof.report.intervals import paired_interval, share_interval, split_interval


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (612, 800)])
def test_share_interval_is_the_one_of_scipy(k: int, n: int) -> None:
    found = stats.binomtest(k, n).proportion_ci(0.9, method="wilson")
    assert share_interval(k, n, 0.9) == pytest.approx((found.low, found.high), abs=1e-12)


@pytest.mark.parametrize(("p", "q"), [(0.1, 0.1), (0.2, 0.05), (0.02, 0.0), (0.3, 0.1)])
def test_paired_interval_holds_the_difference_nearly_always(p: float, q: float) -> None:
    # Exactly, by summing over all outcomes of 60 people: at least 93 %, nominal 95 %.
    n, held = 60, 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            low, high = paired_interval(a, b, n)
            if low <= p - q <= high:
                held += stats.multinomial.pmf([a, b, n - a - b], n, [p, q, 1 - p - q])
    assert held >= 0.93


def test_split_interval_without_overlap_is_the_one_of_scipy() -> None:
    numbers = np.random.default_rng(0).standard_normal(12)
    found = stats.t.interval(0.95, 11, numbers.mean(), stats.sem(numbers))
    assert split_interval(numbers, 0.0) == pytest.approx(found)


def test_splits_that_share_rows_need_the_wider_interval() -> None:
    # The mean of test rows, of which 10 splits of a table of 60 share many, against the true mean
    # 0: 400 tables. The wide interval should hold it in 95 %; below 90 % has a chance under 1e-4.
    rng = np.random.default_rng(1)
    held = {0.0: 0, 0.5: 0}
    for _ in range(400):
        table = rng.standard_normal(60)
        means = np.array([rng.permutation(table)[:20].mean() for _ in range(10)])
        for overlap in held:
            low, high = split_interval(means, overlap)
            held[overlap] += low <= 0 <= high
    assert held[0.5] >= 360 > held[0.0]


def test_one_split_has_no_interval() -> None:
    assert split_interval(np.array([0.5]), 0.1) == (-np.inf, np.inf)


def test_averages_over_splits_are_means_row_by_row() -> None:
    X, y, model = people(120)
    other = gp.LinearModel(model.coefficients * [1, 1, 1, 0], 0.2, model.names, "other")
    edges = pairwise((0, 40, 80, 120))
    parts = [
        gp.compare_models([model, other], X[a:b], y[a:b], movable=MOVABLE, scale=X.std(axis=0))
        for a, b in edges
    ]
    found = gp.average_splits(parts)
    assert found.splits == 3
    assert found.bins == ()
    for table in ("quality", "gaming", "shifts", "weaknesses", "differences"):
        for row in getattr(found, table):
            same = [
                other
                for part in parts
                for other in getattr(part, table)
                if all(
                    getattr(other, key) == getattr(row, key)
                    for key in ("model", "power", "radius", "feature", "against")
                    if hasattr(row, key)
                )
            ]
            assert len(same) == 3
            centre = "difference" if table == "differences" else "accuracy"
            numbers = [getattr(other, centre) for other in same]
            assert getattr(row, centre) == pytest.approx(np.mean(numbers))
            if hasattr(row, "low"):
                half = stats.t.ppf(0.975, 2) * stats.sem(numbers)
                assert row.high - row.low == pytest.approx(2 * half)


def test_audits_that_differ_have_no_mean() -> None:
    X, y, model = people()
    one = gp.audit(model, X, y, powers=(0.0, 1.0))
    with pytest.raises(ValueError, match="different powers"):
        gp.average_splits([one, gp.audit(model, X, y, powers=(0.0, 2.0))])
    with pytest.raises(ValueError, match="no audit"):
        gp.average_splits([])
