"""`Question`: what a run asks. `Questioner`: asks it, stores the answers, says what failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Vector, as_number
from gameproof.core.errors import EvaluationError
from gameproof.kernels import layout as at
from gameproof.kernels.estimation import base_row
from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.interrupts import interruptible
from gameproof.minmax.plan import Plan, steps_per_epoch
from gameproof.minmax.problem import Problem
from gameproof.minmax.solver import Solver
from gameproof.minmax.state import State


class Question(NamedTuple):
    """A deployed point (x, y) and the samples asked there.

    The answer is one value per sample; for an estimate from observations, one row per sample.

    Attributes
    ----------
    id
        The number of the question.
    x, y
        The deployed point.
    indices
        The samples asked.

    Examples
    --------
    >>> import gameproof as gp
    >>> game = gp.QuadraticGame.random(n=5, seed=0)
    >>> gp.Run(game, gp.sgda_rr(), seed=0).ask().indices.size
    1
    """

    id: int
    x: Vector
    y: Vector
    indices: Indices


class Questioner:
    """The point that is deployed, the samples asked there, and their values."""

    def __init__(self, problem: Problem, solver: Solver, plan: Plan, state: State) -> None:
        self.problem, self.solver, self.plan, self.state = problem, solver, plan, state
        self.method, self.memory = plan.method, state.memory
        self.counts: Any = state.memory.counts.data  # plain integers, without NumPy's overhead

    @property
    def _phase(self) -> NDArray[np.int64]:
        """The row of `Method.plan` for the present phase."""
        found: NDArray[np.int64] = self.method.plan[self.counts[at.PHASE]]
        return found

    @property
    def _gradient(self) -> Gradient:
        """The estimate of the present phase."""
        found: Gradient = self.plan.gradients[self.counts[at.PHASE]]
        return found

    # --- what is asked

    @property
    def samples_asked(self) -> Indices:
        """The samples asked at a deployed point that have not been answered."""
        counts = self.counts
        listed = self.memory.samples[at.ASKED_LIST]
        found: Indices = listed[counts[at.ANSWERED] : counts[at.ASKED]].copy()
        return found

    def pending(self) -> Question:
        """The deployed point, and the samples whose values are still missing."""
        return self.question(at.POINT, self.samples_asked)

    def question(self, row: int, samples: Indices) -> Question:
        """A question at POINT or BASE."""
        points = max(self.plan.n_points, 1)
        return Question(
            self._phases_before() * points + self.counts[at.POINT_NO] + 1,
            _frozen(self.memory.x[row].copy()),
            _frozen(self._y(row)),
            samples,
        )

    def _phases_before(self) -> int:
        """How many phases and batches of snapshot passes precede the present one."""
        counts, method = self.counts, self.method
        steps, every = int(counts[at.STEP] * method.phases), method.snapshot_every
        if not every:
            return steps + int(counts[at.PHASE])
        batches = steps_per_epoch(method.n, method.batch)
        steps += batches * int(counts[at.EPOCH] // every)
        if counts[at.PHASE] == method.phases:
            return steps + int(counts[at.POSITION] // method.batch)
        return steps + batches + int(counts[at.PHASE])

    def _y(self, row: int) -> Vector:
        """A copy of y, with the coordinates of this step in their present place."""
        if not self.method.private:
            if row == at.POINT and not self.method.y_perturbed:
                row = base_row.py_func(self.method, self._phase, self.counts[at.POINT_NO])
            dense: Vector = self.memory.y[row].copy()
            return dense
        y: Vector = self.memory.own[:, at.OWN_U].copy()
        for which in range(2):
            first = which * self.method.batch
            places = slice(first, first + self.counts[at.N_CURRENT + which])
            columns = self.memory.samples[at.SLOT, places]
            y[self.memory.samples[at.BATCH, places]] = self.memory.y[at.BASE, columns]
        return y

    def substitute(self, others: Indices) -> None:
        """Puts `others` in the places of the samples asked, in the same order."""
        replaced = self.samples_asked
        unlike = self._sources_of(replaced) != self._sources_of(others)
        if unlike.any():
            old, new = replaced[unlike][0], others[unlike][0]
            raise ValueError(
                f"sample {new} cannot replace sample {old}: the values of one are counted, and "
                "those of the other are known or free"
            )
        counts, samples, first = self.counts, self.memory.samples, 0
        samples[at.ASKED_LIST, counts[at.ANSWERED] : counts[at.ASKED]] = others
        for which in range(2 if self.method.asks_previous else 1):
            start = which * self.method.batch
            batch = samples[at.BATCH, start : start + counts[at.N_CURRENT + which]]
            asked = self._sources_of(batch) != at.KNOWN
            last = first + int(asked.sum())
            batch[asked] = samples[at.ASKED_LIST, first:last]
            first = last

    def costly(self, samples: Indices) -> Indices:
        """The samples among these whose values are counted."""
        found: Indices = samples[self._sources_of(samples) == at.COUNTED]
        return found

    def _sources_of(self, samples: Indices) -> Indices:
        """How the gradient of each sample is obtained."""
        sources = self.method.sources
        if not sources.bits.size:
            return np.full(samples.shape, sources.if_clear)
        with_bit = (sources.bits[samples >> 3] >> (samples & 7)) & 1 == 1
        return np.where(with_bit, sources.if_set, sources.if_clear)

    # --- values

    def ask_problem(self, stop: Callable[[], bool] | None) -> None:
        """Takes the missing values from the problem. An error names the sample, and the values
        before it are kept."""
        question = self.pending()
        try:
            with interruptible():
                values = self.problem.evaluate(question.indices, question.x, question.y)
        except Exception as error:
            raise self._raised(error, question, *question.indices) from error
        self.state.position = self.problem.queries.position
        try:
            self.receive(question, values, stop)
        except EvaluationError:
            raise
        except Exception as error:
            raise self._raised(error, self.pending()) from error

    def receive(
        self, question: Question, values: Iterable[Any], stop: Callable[[], bool] | None = None
    ) -> None:
        """Stores values as they come. Values before an invalid one stay stored."""
        counts = self.counts
        answers, first = self.memory.answers[counts[at.POINT_NO]], counts[at.ANSWERED]
        end, m = first + len(question.indices), first
        costly = self._sources_of(question.indices) == at.COUNTED
        one_by_one = stop is not None and not isinstance(values, (list, tuple, np.ndarray))
        for given in _computed(values) if one_by_one else values:
            if m == end:
                raise self._miscounted(m - first + 1, question)
            value = given if isinstance(given, float) else self._number(given)
            if not isfinite(value):
                raise self.failure(f"gave {value}", self.pending())
            answers[m] = value
            counts[at.QUERIES] += int(costly[m - first])
            m += 1
            counts[at.ANSWERED] = m
            if one_by_one and stop():  # type: ignore[misc]
                raise KeyboardInterrupt
        if m < end:
            raise self._miscounted(m - first, question)

    def _number(self, given: Any) -> float:
        try:
            if isinstance(given, np.complexfloating):  # float() would drop the imaginary part
                raise TypeError("a complex number is not a value")
            return as_number("the value", given)
        except (TypeError, OverflowError) as error:
            what = f"gave {given!r}, which is not a number"
            raise self.failure(what, self.pending()) from error

    # --- errors

    def _miscounted(self, found: int, question: Question) -> EvaluationError:
        what = f"{self.problem.name} gave {found} values for {len(question.indices)} samples"
        return self._error(what, question)

    def _raised(self, error: Exception, question: Question, *asked: int) -> EvaluationError:
        """The error if an exception was raised while all these samples were evaluated at once."""
        return self.failure(f"raised {type(error).__name__}: {error}", question, *asked)

    def failure(self, what: str, question: Question, *samples: int) -> EvaluationError:
        """An error about some samples, by default the first one that is still to be answered."""
        at_fault = samples or question.indices[:1]
        listed = ", ".join(map(str, at_fault[:5])) + (", …" if len(at_fault) > 5 else "")
        return self._error(f"sample{'s' * (len(at_fault) > 1)} {listed} {what}", question)

    def _error(self, what: str, question: Question) -> EvaluationError:
        """The error, with a copy of the state that later steps do not change."""
        return EvaluationError(f"{what}, {self._where(question)}", self.state.copy())

    def _where(self, question: Question) -> str:
        sets, point = (self.problem.x_set, self.problem.y_set), (question.x, question.y)
        inside = all(
            np.isfinite(p).all() and s.contains(p) for s, p in zip(sets, point, strict=True)
        )
        outside = "" if inside else " (outside the sets, as points up to the query radius are)"
        return (
            f"in step {self.state.steps + 1} (epoch {self.state.epoch + 1}), at "
            f"x = {_shown(question.x)}, y = {_shown(question.y)}{outside}; nothing is lost: fix "
            "the cause and continue with resume=error.state"
        )


def _computed(values: Iterable[Any]) -> Iterator[Any]:
    """The values one by one. A second Ctrl-C interrupts the function that computes one, and not the
    code that stores it."""
    iterator = iter(values)
    while True:
        with interruptible():
            try:
                value = next(iterator)
            except StopIteration:
                return
        yield value


def _frozen(point: Vector) -> Vector:
    point.setflags(write=False)
    return point


def _shown(point: Vector) -> str:
    return np.array2string(point, threshold=8, edgeitems=3, precision=6, separator=", ")
