"""Problems, contenders, and the gap by queries.

The gap is gp.gap to a certified saddle point. A target is reached when the gap stays below it for
the rest of the run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np

import gameproof as gp
from gameproof.minmax.run_engine import UNLIMITED
from gameproof.paper.participants import draw_people
from gameproof.strategic.newton.convex_objective import ConvexObjective

TARGETS = (0.1, 0.03, 0.01, 0.003)
AVERAGES = {"average": gp.StepWeighted(), "suffix": gp.Suffix(), "last": gp.Last()}
RECORDS_PER_DECADE = 12
Row = dict[str, Any]

PROBLEMS: dict[str, Row] = {
    "synthetic 500": {"source": "synthetic", "n": 500},
    "synthetic 4000": {"source": "synthetic", "n": 4000},
    "synthetic 500, exact": {"source": "synthetic", "n": 500, "radius": 0.1, "form": "exact"},
    "credit 2000": {"source": "credit", "n": 2000},
}
# Problems that show what Solver.auto needs as n and d grow.
SIZES: dict[str, Row] = {
    f"n {n}, d {d}": {"source": "synthetic", "n": n, "d": d}
    for n, d in ((250, 10), (500, 10), (1000, 10), (2000, 10), (4000, 10), (1000, 5), (1000, 40))
}


@cache
def certified_problem(
    name: str, seed: int, positive: str = "exact"
) -> tuple[gp.StrategicProblem, gp.Saddle]:
    """Returns a problem with the people of this seed, and its certified saddle point."""
    what = (PROBLEMS | SIZES)[name]
    people = draw_people(what["source"], what["n"], what.get("d", 10), seed)
    radius, form = what.get("radius", 0.4), what.get("form", "printed")
    problem = people.problem(radius, form=form, positive=positive)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.CapWarning)
        saddle = gp.saddle_point(problem)
    assert saddle.duality_gap < 1e-7
    return problem, saddle


class Gap:
    """Computes gp.gap(problem, x, y, saddle) fast: L(x, y*) with arrays, and L(x*, y) as a linear
    function of y."""

    def __init__(self, problem: gp.StrategicProblem, saddle: gp.Saddle) -> None:
        self._objective = ConvexObjective(problem, saddle.y)
        free = ConvexObjective(problem)
        v = free.lift(saddle.x)
        self._free, self._pulls = free.free, free.pulls(v)
        self._value = free.at(v).value
        x, y = problem.start
        assert abs(self(x, y) - gp.gap(problem, x, y, saddle)) < 1e-9

    def __call__(self, x: Any, y: Any) -> float:
        upper = self._objective.at(self._objective.lift(x)).value
        lower = self._value + float(y[self._free] @ self._pulls) / self._objective.n
        return upper - lower


def fresh_copy(problem: gp.StrategicProblem) -> gp.StrategicProblem:
    """Returns the problem with the same people and all counts at zero."""
    people = problem.population
    return problem.with_population(gp.Population(people.X, people.y, people.response))


def as_black_box(problem: gp.StrategicProblem) -> gp.StrategicProblem:
    """Returns the problem with the response as_black_box, so that people can only be asked."""
    people = problem.population
    box = gp.BlackBox(lambda theta, i: people.response.answers(theta, people.X[i], i))
    return problem.with_population(gp.Population(people.X, people.y, box))


# --- contenders


@dataclass(frozen=True)
class Contender:
    """A family of settings, of which the best is used for each average."""

    solver: Callable[..., gp.Solver]
    gradient: gp.OnePoint | gp.TwoPoint | gp.Residual | gp.Envelope
    letter: bool = False

    def settings(self, quick: bool) -> list[Row]:
        """Returns the grid. `gamma`, in units of n, multiplies the adversary's steps."""
        one = not isinstance(self.gradient, gp.TwoPoint | gp.Envelope)
        radii = (2.0, 4.0) if one else (0.1,)
        steps = (0.0003, 0.001, 0.003, 0.01)
        if self.letter:  # only larger steps move gamma here
            radii, steps = (4.0, 8.0, 16.0), (0.03, 0.1, 0.3, 1.0)
        exponents = (0.76,) if self.letter else (0.5, 0.76)
        gammas = (None,) if self.letter else (4.0, 64.0)
        if quick:
            radii, steps, gammas = radii[-2:], steps[2:4], gammas[-1:]
        names = ("radius", "step", "exponent", "gamma")
        return [
            dict(zip(names, setting, strict=True))
            for setting in product(radii, steps, exponents, gammas)
        ]

    def make(self, n: int, setting: Row) -> gp.Solver:
        """Returns the solver of a setting. The suffix average keeps the sums of all averages."""
        wide = not isinstance(self.gradient, gp.TwoPoint | gp.Envelope)
        gamma = setting["gamma"]
        return self.solver(
            gradient=self.gradient,
            step=gp.Power(setting["step"], setting["exponent"]),
            radius=gp.Power(setting["radius"], 0.25 if wide else 0.0),
            scale=None if gamma is None else (1.0, gamma * n),
            average=gp.Suffix(),
        )


CONTENDERS: dict[str, Contender] = {
    "paper to the letter": Contender(gp.ogda_rr, gp.OnePoint(), letter=True),
    "OGDA-RR, one point": Contender(gp.ogda_rr, gp.OnePoint()),
    "OGDA-WR, one point": Contender(gp.ogda_wr, gp.OnePoint()),
    "SGDA-RR, one point": Contender(gp.sgda_rr, gp.OnePoint()),
    "SGDA-WR, one point": Contender(gp.sgda_wr, gp.OnePoint()),
    "SGDA-RR, baseline": Contender(gp.sgda_rr, gp.OnePoint(baseline=True)),
    "SGDA-RR, residual": Contender(gp.sgda_rr, gp.Residual()),
    "SGDA-RR, two points": Contender(gp.sgda_rr, gp.TwoPoint()),
    "SGDA-RR, envelope": Contender(gp.sgda_rr, gp.Envelope()),
}


# --- runs


def curve(
    problem: gp.StrategicProblem,
    saddle: gp.Saddle,
    solver: gp.Solver,
    cap: int,
    seed: int,
    averages: Sequence[gp.Average],
) -> tuple[list[int], list[int], list[list[float]]]:
    """Returns queries, deployments and the gap of each average at every record, from the start on.

    If a run fails, its gap is infinite from there on.
    """
    with_sums, gap = replace(solver, average=gp.Suffix()), Gap(problem, saddle)
    run = gp.Run(problem, with_sums, seed=seed)
    asked, deployed = [0], [0]
    gaps = [[gap(*run.recommend())] * len(averages)]
    step = 1.0
    while asked[-1] < cap:
        step = max(step * 10 ** (1 / RECORDS_PER_DECADE), step + 1)
        try:
            run.advance(int(step), UNLIMITED, compiled=run.can_compile)
            found = [gap(*a.read(run.state)) for a in averages]
        except (gp.GameproofError, FloatingPointError):
            return [*asked, cap], [*deployed, cap], [*gaps, [np.inf] * len(gaps[0])]
        asked.append(run.state.queries)
        deployed.append(run.state.deployments)
        gaps.append([g if np.isfinite(g) else np.inf for g in found])
    return asked, deployed, gaps


def reached(counts: list[int], gaps: list[float], target: float) -> float:
    """Returns the count after which the gap stays below the target, infinite if it never does."""
    above = np.flatnonzero(~(np.asarray(gaps) <= target))
    first = 0 if above.size == 0 else int(above[-1]) + 1
    return float(counts[first]) if first < len(counts) else np.inf


def tune(problem: str, contender: str, setting: Row, seed: int, cap: int) -> list[Row]:
    """Returns the queries to each target with each average, for one setting and seed."""
    way = CONTENDERS[contender]
    instance, saddle = certified_problem(problem, seed, "estimated" if way.letter else "exact")
    asked, _, gaps = curve(
        instance, saddle, way.make(instance.n, setting), cap, seed, list(AVERAGES.values())
    )
    common = {"problem": problem, "contender": contender, "setting": setting, "cap": cap}
    return [
        {
            **common,
            "average": average,
            "target": target,
            "queries": reached(asked, column, target),
            "final": column[-1],
        }
        for average, column in zip(AVERAGES, zip(*gaps, strict=True), strict=True)
        for target in TARGETS
    ]


def automatic(problem: str, seed: int, cap: int, parts: Row, curve_too: bool = False) -> list[Row]:
    """Runs `Solver.auto`: the pilot, and then the run that starts at what the pilot learned."""
    instance, saddle = certified_problem(problem, seed)
    asks = as_black_box(instance)
    solver = gp.Solver.auto(asks, seed=seed, **parts)
    pilot, before = asks.population.n_answers, asks.population.n_deployments
    # A run that knows the response takes the same steps, compiled.
    own = fresh_copy(instance)
    asked, deployed, gaps = curve(own, saddle, solver, cap, seed, [solver.average])
    column = [row[0] for row in gaps]
    total, distinct = [pilot + a for a in asked], [before + d for d in deployed]
    shown = {"pilot": pilot, "gradient": type(solver.gradient).__name__}
    rows = [
        {
            **shown,
            "target": target,
            "queries": reached(total, column, target),
            "run": reached(asked, column, target),
            "deployments": reached(distinct, column, target),
        }
        for target in TARGETS
    ]
    if curve_too:
        rows.append({**shown, "asked": total, "deployed": distinct, "gaps": column})
    return rows
