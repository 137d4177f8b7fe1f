"""Tests `Solver.auto` on people who violate the model that it learns.

Each row is a kind of people (`imperfect_people`): 500 people, 10 features, at most 2,000 answers.
The risk is the worst-case risk once everybody has settled, computed from the simulated people
outside the solver. *plain envelope* starts at theta = 0 and asks one answer per deployment.

``--seeds 4..23`` takes other seeds than 0 to 3, and ``--kinds stale subgroup`` only some kinds.
``--before FILE`` compares with another version of gameproof: FILE is what this program kept when it
was run with that version and the same seeds.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from harness import Table, save
from imperfect_people import HORIZON, KINDS, problem_of, true_risk

import gameproof as gp

PILOT = 120  # what the choice of the settings may take of the answers, at least
PLAIN, AUTO, BEFORE = "plain envelope", "auto", "auto before"
ROUTES: dict[str, dict[str, Any]] = {
    PLAIN: {"estimate": gp.Envelope(), "start": False, "batch": 1},
    AUTO: {},
}


class Found(NamedTuple):
    """What a route found for one kind of people: one number per seed."""

    risks: list[float]
    answers: list[int]
    deployments: list[int]

    def __str__(self) -> str:
        risk, answers, deployments = (float(np.mean(each)) for each in self)
        return f"{risk:.4f} ({answers:.0f}, {deployments:.0f})"


Outcomes = dict[str, dict[str, Found]]  # by kind and route


def outcome(kind: str, route: str, seed: int) -> tuple[float, int, int]:
    """Returns the risk, the answers and the deployments of one run."""
    problem, people = problem_of(kind, seed, budget=HORIZON)
    solver = gp.Solver.auto(problem, queries=HORIZON - PILOT, seed=seed, **ROUTES[route])
    result = gp.solve(problem, solver, epochs=10**6, seed=seed, progress=False)
    population = problem.population
    return true_risk(problem, people, result.x), population.n_answers, population.n_deployments


def run(kinds: list[str], seeds: range) -> Outcomes:
    """Runs every route for every kind."""
    outcomes: Outcomes = {}
    for kind in kinds:
        outcomes[kind] = {
            route: Found(*map(list, zip(*(outcome(kind, route, s) for s in seeds), strict=True)))
            for route in ROUTES
        }
        print(kind, *map(str, outcomes[kind].values()), file=sys.stderr, flush=True)
    return outcomes


def means_table(outcomes: Outcomes, routes: list[str], seeds: range) -> Table:
    """Returns the mean risks."""
    title = (
        f"At most {HORIZON:,} answers: mean worst-case risk over {len(seeds)} seeds (answers, "
        "deployments)"
    )
    table = Table(title, ["people", *routes])
    for kind, found in outcomes.items():
        table.row(kind, *(str(found[route]) for route in routes))
    return table


def difference_table(outcomes: Outcomes, routes: list[str]) -> Table:
    """Returns how far `auto` is above the other routes: above the one with the best mean."""
    table = Table(
        "Risk of auto above the best of the other columns; negative is better",
        ["people", "best of the others", "mean", "standard error", "largest"],
    )
    for kind, found in outcomes.items():
        best = min((r for r in routes if r != AUTO), key=lambda r: float(np.mean(found[r].risks)))
        above = np.subtract(found[AUTO].risks, found[best].risks)
        error = float(above.std(ddof=1)) / np.sqrt(above.size) if above.size > 1 else np.nan
        table.row(kind, best, *(f"{x:.4f}" for x in (above.mean(), error, above.max())))
    return table


def seeds_table(outcomes: Outcomes, seeds: range) -> Table:
    """Returns everything, for `read_before`."""
    table = Table("Each run", ["people", "route", "seed", "risk", "answers", "deployments"])
    for kind, routes in outcomes.items():
        for route, found in routes.items():
            for seed, *numbers in zip(seeds, *found, strict=True):
                table.row(kind, route, seed, *numbers)
    return table


def read_before(path: Path, kinds: list[str], seeds: range) -> dict[str, Found]:
    """Returns what an earlier version of `auto` found, by kind of people."""
    rows = json.loads(path.read_text())["tables"][-1]["rows"]
    kept = {(kind, seed): numbers for kind, route, seed, *numbers in rows if route == AUTO}
    return {
        kind: Found(*map(list, zip(*(kept[kind, seed] for seed in seeds), strict=True)))
        for kind in kinds
    }


def main() -> None:
    """Prints and keeps the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two seeds")
    parser.add_argument("--seeds", default="0..3")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--before", type=Path)
    given = parser.parse_args()
    first, _, last = given.seeds.partition("..")
    seeds = range(int(first), int(last or first) + 1)[: 2 if given.quick else None]
    kinds, routes = given.kinds, list(ROUTES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.CapWarning)
        outcomes = run(kinds, seeds)
    own = seeds_table(outcomes, seeds)
    if given.before is not None:
        routes = [BEFORE, *ROUTES]
        for kind, before in read_before(given.before, kinds, seeds).items():
            outcomes[kind][BEFORE] = before
    means, above = means_table(outcomes, routes, seeds), difference_table(outcomes, routes)
    save("people", [means, above, own])


if __name__ == "__main__":
    main()
