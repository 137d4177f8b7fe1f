"""Tests `Solver.auto` on people who violate the model that it learns.

Each row is a kind of people (`imperfect_people`): 500 people, 10 features, at most 2,000 answers.
The risk is the worst-case risk once everybody has settled, computed from the simulated people
outside the solver. *plain envelope* starts at theta = 0 and asks one answer per deployment.

``--before FILE`` adds what another version of gameproof found: FILE is the table that this program
kept when it was run with that version.
"""

from __future__ import annotations

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
SEEDS = 4
ROUTES: dict[str, dict[str, Any]] = {
    "plain envelope": {"estimate": gp.Envelope(), "start": False, "batch": 1},
    "auto": {},
}


class Found(NamedTuple):
    """The means over seeds."""

    risk: float
    answers: int
    deployments: int

    def __str__(self) -> str:
        return f"{self.risk:.4f} ({self.answers}, {self.deployments})"


def outcome(kind: str, route: str, seed: int) -> tuple[float, int, int]:
    """Returns the risk, the answers and the deployments of one run."""
    problem, people = problem_of(kind, seed, budget=HORIZON)
    solver = gp.Solver.auto(problem, queries=HORIZON - PILOT, seed=seed, **ROUTES[route])
    result = gp.solve(problem, solver, epochs=10**6, seed=seed, progress=False)
    population = problem.population
    return true_risk(problem, people, result.x), population.n_answers, population.n_deployments


def found(kind: str, route: str, seeds: int) -> Found:
    """Returns the means over seeds."""
    outcomes = np.array([outcome(kind, route, seed) for seed in range(seeds)])
    risk, answers, deployments = outcomes.mean(axis=0)
    return Found(float(risk), round(answers), round(deployments))


def people_table(seeds: int, before: dict[str, str]) -> Table:
    """Returns the table of risks by kind of people."""
    routes = [*(["auto before"] if before else []), *ROUTES]
    table = Table(
        f"At most {HORIZON:,} answers: mean worst-case risk over {seeds} seeds (answers, "
        "deployments)",
        ["people", *routes],
    )
    for kind in KINDS:
        earlier = [before.get(kind, "")] if before else []
        table.row(kind, *earlier, *(str(found(kind, route, seeds)) for route in ROUTES))
        print(table.rows[-1], file=sys.stderr, flush=True)
    return table


def read_before(arguments: list[str]) -> dict[str, str]:
    """Returns the column "auto" of an earlier table, by kind of people."""
    if "--before" not in arguments:
        return {}
    kept = json.loads(Path(arguments[arguments.index("--before") + 1]).read_text())
    table = kept["tables"][0]
    column = table["columns"].index("auto")
    return {row[0]: row[column] for row in table["rows"]}


def main() -> None:
    """Prints and keeps the table."""
    seeds = 2 if "--quick" in sys.argv else SEEDS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.CapWarning)
        save("people", [people_table(seeds, read_before(sys.argv))])


if __name__ == "__main__":
    main()
