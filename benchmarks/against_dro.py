"""Saddle points against the package dro, where nobody responds: a table of docs/mathematics.md.

If nobody responds, and labels stay or flip both ways, the robust problem is ordinary Wasserstein
logistic regression. dro 0.4.3 solves it through cvxpy with Clarabel. With p = 2 it minimises over
theta, an intercept and lambda >= |theta|

    delta lambda + (1/n) sum_i max(l(z_i, y_i), l(z_i, -y_i) - kappa' lambda)

A flip costs kappa' there. Here it costs kappa |y - y'| = 2 kappa, so kappa' = 2 kappa. lambda is
alpha.

dro's `fit` takes no tolerance, so Clarabel's default, 1e-8, applies. An extra run with a tighter
tolerance, which is not timed, shows that the differences come from dro. The two packages take
turns, and the table shows medians of a few rounds. reference.py has n = 100,000.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from functools import partialmethod
from math import inf
from typing import NamedTuple, TypeVar
from unittest.mock import patch

import numpy as np
from harness import Table, save

import gameproof as gp

ROUNDS = 5
# dro has no such bounds. They are so large that none is active, as the last line shows.
ALPHA_MAX, INTERCEPT_MAX = 50.0, 10.0
# Features are shifted, so that the intercept matters.
SHIFT = 0.3
TIGHT = {f"tol_{name}": 1e-10 for name in ("gap_abs", "gap_rel", "feas")}

Answer = TypeVar("Answer")


class Case(NamedTuple):
    """A problem. `label_cost` is our kappa, infinite if labels stay."""

    n: int
    d: int
    radius: float
    label_cost: float
    intercept: bool = False
    noise: float = 0.1
    seed: int = 0


CASES = (
    Case(100, 3, 0.05, 0.4, noise=1.0),
    Case(100, 3, 0.05, 0.4, noise=1.0, intercept=True),
    Case(200, 5, 0.1, 0.5, noise=1.0, seed=1),
    Case(200, 5, 0.01, 0.05, noise=1.0, seed=3),
    Case(200, 5, 0.001, 1.0, noise=1.0, seed=3, intercept=True),
    Case(500, 10, 0.02, 0.25),
    Case(500, 10, 0.02, 0.25, intercept=True),
    Case(500, 25, 0.1, 2.0, seed=4),
    Case(500, 10, 0.05, inf),
    Case(500, 10, 0.05, inf, intercept=True),
    Case(2000, 10, 0.05, 0.5, seed=2, intercept=True),
    Case(5000, 10, 0.05, 0.5, seed=2),
)
GOLDEN = (
    Case(120, 4, 0.05, 0.4, noise=1.0, seed=5),
    Case(120, 4, 0.02, 0.25, noise=1.0, seed=6, intercept=True),
)


def people(case: Case) -> gp.Population:
    """Returns people who do not respond."""
    X, y = gp.synthetic_people(n=case.n, d=case.d, noise=case.noise, seed=case.seed)
    return gp.Population(X + SHIFT, y)


def our_problem(case: Case) -> gp.StrategicProblem:
    """Returns the case as a strategic problem."""
    return gp.StrategicProblem(
        people(case),
        case.radius,
        case.label_cost,
        flips="none" if case.label_cost == inf else "both",
        alpha_max=ALPHA_MAX,
        intercept=INTERCEPT_MAX if case.intercept else None,
    )


def fit_dro(case: Case, agents: gp.Population) -> tuple[np.ndarray, float, float]:
    """Returns dro's theta and intercept, and the value that it reports."""
    from dro.linear_model.wasserstein_dro import WassersteinDRO

    model = WassersteinDRO(case.d, "logistic", fit_intercept=case.intercept)
    kappa = "inf" if case.label_cost == inf else 2 * case.label_cost
    model.update({"p": 2, "eps": case.radius, "kappa": kappa})
    model.fit(agents.X, agents.y)
    return model.theta, float(model.b), model.robust_obj


def fit_dro_tightly(case: Case, agents: gp.Population) -> tuple[np.ndarray, float, float]:
    """Returns the result of `fit_dro` with a tighter tolerance of Clarabel."""
    import cvxpy as cp

    tight = patch.object(cp.Problem, "solve", partialmethod(cp.Problem.solve, **TIGHT))
    with tight, warnings.catch_warnings():
        # Some problems do not quite reach the tolerance.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        return fit_dro(case, agents)


def timed(task: Callable[[], Answer]) -> tuple[Answer, float]:
    """Returns the result of a task and its time in seconds."""
    began = time.perf_counter()
    answer = task()
    return answer, time.perf_counter() - began


def largest_difference(
    problem: gp.StrategicProblem, x: np.ndarray, theta: np.ndarray, b: float
) -> float:
    """Returns the largest difference from our solution, in theta and the intercept."""
    return float(max(np.abs(problem.split(x)[0] - theta).max(), abs(problem.offset(x) - b)))


def compare(case: Case, table: Table) -> tuple[float, float, float]:
    """Adds a row. Returns the largest difference, our alpha and the absolute intercept."""
    problem, times = our_problem(case), []
    for _ in range(ROUNDS):
        saddle, our_time = timed(lambda: gp.saddle_point(problem))
        (theta, b, value), their_time = timed(lambda: fit_dro(case, problem.population))
        times.append((our_time, their_time))
    our_time, their_time = np.median(times, axis=0).tolist()
    x, (ours, alpha), offset = saddle.x, problem.split(saddle.x), problem.offset(saddle.x)
    far = largest_difference(problem, x, theta, b)
    tight = largest_difference(problem, x, *fit_dro_tightly(case, problem.population)[:2])
    # The worst-case risk of any theta is the problem's value with the best alpha.
    risk = gp.worst_case(problem, ours, offset).value
    excess = gp.worst_case(problem, theta, b).value - risk
    table.row(
        case.n,
        case.d,
        case.radius,
        case.label_cost,
        "yes" if case.intercept else "no",
        far,
        tight,
        round(risk, 6),
        excess,
        value - risk,
        saddle.duality_gap,
        our_time,
        their_time,
        their_time / our_time,
    )
    return far, alpha, abs(offset)


LEGEND = f"""\
The same problems solved by both packages; medians of {ROUNDS} rounds, taking turns
apart    largest difference between the two solutions, in theta and b
tight    largest difference with dro's solver at tolerance 1e-10 instead of 1e-8
risk     worst-case risk of our solution
more     how much larger it is for dro's solution
reported how much larger the value is that dro reports
gap      duality gap that certifies our solution
ours     our seconds, then dro's, and their ratio
"""
COLUMNS = (
    *("n", "d", "delta", "kappa", "b"),
    *("apart", "tight", "risk", "more", "reported", "gap"),
    *("ours", "dro", "times"),
)


def print_table(cases: tuple[Case, ...]) -> None:
    """Solves every case with both packages and prints the table."""
    table = Table(LEGEND, COLUMNS)
    far, alphas, offsets = zip(*(compare(case, table) for case in cases), strict=True)
    save("against_dro", [table])
    print(
        f"\nLargest difference: {max(far):.1e}. No bound is active: alpha is at most "
        f"{max(alphas):.1f} of\n{ALPHA_MAX:g}, b at most {max(offsets):.2f} of {INTERCEPT_MAX:g}."
    )


def print_golden() -> None:
    """Prints the numbers of tests/golden/test_dro.py: theta, then the intercept."""
    for case in GOLDEN:
        theta, b, _ = fit_dro(case, people(case))
        print(case)
        print("  ", ", ".join(f"{number:.8f}" for number in [*theta, b]))


def main() -> None:
    """Prints the table, or the solutions that a test freezes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--golden", action="store_true", help="print the solutions that a test freezes"
    )
    parser.add_argument("--quick", action="store_true", help="the smaller problems")
    options = parser.parse_args()
    try:
        import dro  # noqa: F401
    except ImportError as error:
        sys.exit(f"This needs dro ({error}): pip install dro==0.4.3, which needs torch.")
    if options.golden:
        print_golden()
    else:
        print_table(CASES[:4] if options.quick else CASES)


if __name__ == "__main__":
    main()
