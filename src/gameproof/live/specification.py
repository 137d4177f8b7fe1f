"""`Specification`: everything that a study needs besides its answers, as one JSON text.

The text holds the people and the problem, so that a study can be opened without the program that
created it. Arrays are stored by exact bits.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, fields
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Matrix, Vector, as_count, as_positive
from gameproof.core.exact_bits import exact_bytes, exact_numbers
from gameproof.core.fingerprint import fingerprint
from gameproof.live.facts import LedgerError
from gameproof.live.stored_parts import part_from_json, part_to_json
from gameproof.minmax.paper_methods import ogda_rr, ogda_wr, sgda_rr, sgda_wr
from gameproof.minmax.solver import Solver
from gameproof.strategic.population import Population
from gameproof.strategic.responses import BlackBox, Sight
from gameproof.strategic.robust_problem import StrategicProblem

Silence = Literal["wait", "replace", "continue"]
SILENCES = ("wait", "replace", "continue")
METHODS = {"ogda-rr": ogda_rr, "ogda-wr": ogda_wr, "sgda-rr": sgda_rr, "sgda-wr": sgda_wr}
AUTO = "auto"
VERSION = 1
# 100 people per deployment cost no accuracy and save most deployments.
USUAL_BATCH = 100


@final
@dataclass(frozen=True)
class Settings:
    """How a study asks. See `create`."""

    method: str | Solver
    batch: int
    seed: int
    silence: Silence
    patience: float
    max_answers: int | None
    max_deployments: int | None
    max_per_person: int | None

    def __post_init__(self) -> None:
        if not isinstance(self.method, Solver) and self.method not in (AUTO, *METHODS):
            known = ", ".join(map(repr, [AUTO, *METHODS]))
            raise ValueError(f"method must be {known} or a Solver, got {self.method!r}")
        as_count("batch", self.batch)
        as_count("seed", self.seed, least=0)
        as_positive("patience", self.patience)
        if self.silence not in SILENCES:
            raise ValueError(
                f'silence must be "wait", "replace" or "continue", got {self.silence!r}'
            )
        for name in ("max_answers", "max_deployments", "max_per_person"):
            if getattr(self, name) is not None:
                as_count(name, getattr(self, name))

    @property
    def solver(self) -> Solver | None:
        """The solver; None if it is chosen by a pilot."""
        if isinstance(self.method, Solver):
            return self.method
        return None if self.method == AUTO else METHODS[self.method](batch=self.batch)

    @property
    def method_name(self) -> str:
        """For people."""
        return self.method.name if isinstance(self.method, Solver) else self.method


@final
@dataclass(frozen=True, eq=False)
class Specification:
    """A problem and how to study it.

    `table` is what a study of a table knows about its columns, as JSON: see `problem_from_table`.
    """

    problem: StrategicProblem
    settings: Settings
    table: dict[str, Any] | None = None

    @property
    def sees_scores(self) -> bool:
        """Whether answers are scores instead of features."""
        return self.problem.population.sight < Sight.ANSWERS

    @property
    def fingerprint(self) -> str:
        """Identifies the people."""
        people = self.problem.population
        return fingerprint([*people.X.shape, people.X, people.y, people.weights])

    def to_json(self) -> str:
        """The text that `from_json` reads."""
        settings = {name: part_to_json(value) for name, value in vars(self.settings).items()}
        return json.dumps(
            {
                "version": VERSION,
                "problem": _problem_record(self.problem),
                "sees": "scores" if self.sees_scores else "features",
                "settings": settings,
                "table": self.table,
            },
            sort_keys=True,
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The specification of a text."""
        stored = json.loads(text)
        if stored["version"] != VERSION:
            raise LedgerError(
                "unknown-version",
                f"the study has the specification version {stored['version']}, and this gameproof "
                f"reads {VERSION}; install a newer gameproof",
            )
        problem = _problem(stored["problem"], stored["sees"] == "scores")
        known = {field.name for field in fields(Settings)}
        given = {name: part_from_json(each) for name, each in stored["settings"].items()}
        settings = Settings(**{name: given[name] for name in known})
        return cls(problem, settings, stored["table"])


def with_real_people(problem: StrategicProblem) -> StrategicProblem:
    """This problem with people who can be asked only by a study."""
    people = problem.population
    if problem.flips == "both":
        raise ValueError('nobody moves if labels flip both ways; use flips="one-way" or "none"')
    scores = people.sight < Sight.ANSWERS
    asked = Population(
        people.X,
        people.y,
        BlackBox(_refuse, scores=scores),
        weights=people.weights if people.weighted else None,
    )
    return problem.with_population(asked)


def _refuse(theta: Vector, agents: Indices) -> Matrix:
    raise LedgerError("people-are-asked", "the people of a study answer through tell() only")


def _problem_record(problem: StrategicProblem) -> dict[str, Any]:
    people = problem.population
    return {
        "X": _array_record(people.X),
        "y": _array_record(people.y),
        "weights": _array_record(people.weights) if people.weighted else None,
        "radius": problem.radius,
        "label_cost": problem.label_cost if np.isfinite(problem.label_cost) else None,
        "loss": part_to_json(problem.loss),
        "form": problem.form,
        "flips": problem.flips,
        "alpha_max": problem.alpha_max,
        "intercept": problem.intercept,
        "positive": "estimated" if problem.estimates_positive else "exact",
        "smooth": problem.smooth,
        "feature_cost": _array_record(problem.feature_cost),
    }


def _problem(stored: dict[str, Any], scores: bool) -> StrategicProblem:
    weights, label_cost = stored["weights"], stored["label_cost"]
    people = Population(
        _array(stored["X"]),
        _array(stored["y"]),
        BlackBox(_refuse, scores=scores),
        weights=None if weights is None else _array(weights),
    )
    rest = ("form", "flips", "alpha_max", "intercept", "positive", "smooth")
    return StrategicProblem(
        people,
        stored["radius"],
        float("inf") if label_cost is None else label_cost,
        part_from_json(stored["loss"]),
        feature_cost=_array(stored["feature_cost"]),
        **{name: stored[name] for name in rest},
    )


def _array_record(array: NDArray[Any]) -> dict[str, Any]:
    return {"shape": list(array.shape), "bits": b64encode(exact_bytes(array)).decode()}


def _array(stored: dict[str, Any]) -> NDArray[np.float64]:
    return exact_numbers(b64decode(stored["bits"])).reshape(stored["shape"])
