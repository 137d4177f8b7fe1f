"""`Population`: agents with features, labels and a response, and a record of what was asked."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import (
    BLOCK,
    Indices,
    Matrix,
    Vector,
    as_count,
    as_numbers,
    require_finite,
)
from gameproof.core.fingerprint import fingerprint
from gameproof.strategic.answer_records import AnswerRecords
from gameproof.strategic.collect_answers import collect_answers
from gameproof.strategic.counted_answers import CountedAnswers
from gameproof.strategic.journal import Journal
from gameproof.strategic.population_arrays import as_features, as_labels, as_weights
from gameproof.strategic.power_costs import NoResponse
from gameproof.strategic.responses import BlackBox, Response, Sight


@final
class Population:
    """Agents with features, labels and a response to a deployed theta.

    Only agents with label -1 move, and only they are ever asked. A population counts answers and
    deployments, and stores answers in a journal if it has one.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The agents' own features. A contiguous float64 array is not copied, so X may be a
        memory-mapped file.
    y : array-like of shape (n,)
        Labels, -1 or +1; possibly a memory-mapped file.
    response : Response, optional
        How agents answer. By default nobody moves.
    budget : int, optional
        The most answers that may be asked for, by all threads and copies of this population, and
        with a journal by all programs that use it. A question that would exceed the budget is
        refused, and nobody is asked.
    weights : array-like of shape (n,), optional
        How much each agent counts: an agent of weight 2 counts as two. Only ratios matter; the
        attribute has mean 1.
    one_label : bool, default=False
        Whether all labels may be the same. That is enough to ask for answers, but not to learn a
        classifier.
    journal : str or Path, optional
        A file that stores every answer before it is used; created if it is missing. An answer in
        the journal is never asked for again: a program that is started again with the same seeds
        continues where it stopped. Counts and the budget then cover everything in the journal.

    Attributes
    ----------
    n, d : int
        The number of agents and of features.
    n_answers, n_deployments : int
        The answers and the deployments so far. A theta that is deployed again counts as another
        deployment, but not in a journal.
    answers_by_agent : ndarray of shape (n,)
        The answers of each agent so far.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If shapes do not match, features are not finite, labels are not -1 and +1, weights are not
        positive, or the response does not fit the population.
    JournalError
        If the journal belongs to other people, is damaged, or cannot be written.

    Examples
    --------
    >>> people = Population([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> people.ask([1.0, 1.0], [0, 1])
    array([[1., 0.],
           [0., 1.]])
    >>> people.n_answers, people.n_deployments
    (1, 1)
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        response: Response | None = None,
        *,
        budget: int | None = None,
        weights: ArrayLike | None = None,
        one_label: bool = False,
        journal: str | Path | None = None,
    ) -> None:
        self.X = as_features(X)
        self.n, self.d = self.X.shape
        self.y = as_labels(y, self.n)
        if not one_label:
            self.require_both_labels()
        self.weights = as_weights(weights, self.n)
        # Equal weights are one number that is broadcast: see `as_weights`.
        self.weighted = self.weights.strides != (0,)
        self.response = NoResponse() if response is None else response
        if not isinstance(self.response, Response):
            raise TypeError(
                "response must be a Response, such as QuadraticCost(power) or BlackBox(function), "
                f"got {response!r}"
            )
        self.response.fit(self.n, self.d)
        self.response = self.response.renewed()
        limit = None if budget is None else as_count("budget", budget, least=0)
        self._records: AnswerRecords = CountedAnswers(self.n, limit)
        if journal is not None:
            if not isinstance(journal, (str, Path)):
                raise TypeError(f"journal must be the path of a file, got {journal!r}")
            self._records = Journal(Path(journal), self._traits(), limit)

    def _traits(self) -> dict[str, str | int]:
        """What a journal notes about these people."""
        return {
            "fingerprint": fingerprint([*self.X.shape, self.X, self.y]),
            "n_people": self.n,
            "n_features": self.d,
            "sees": "scores" if self.sight < Sight.ANSWERS else "features",
        }

    def __repr__(self) -> str:
        return (
            f"Population({self.n} agents, {self.d} features, {self.n_positive} positive, "
            f"{self.response!r})"
        )

    @property
    def n_positive(self) -> int:
        """The number of agents with label +1."""
        return int((self.y > 0).sum())

    @property
    def movers(self) -> Indices:
        """The agents with label -1, who may move and can be asked."""
        return np.flatnonzero(self.y < 0)

    @property
    def n_movers(self) -> int:
        """The number of agents with label -1."""
        return int(self.n - self.n_positive)

    def require_both_labels(self) -> None:
        """Raises if all labels are the same: no classifier can be learned from them."""
        if self.n_positive in (0, self.n):
            raise ValueError(f"y must contain both -1 and +1, got only {self.y[0]:+g}")

    @property
    def positive_share(self) -> float:
        """The share of agents with label +1, by weight."""
        if not self.weighted:
            return float(self.n_positive / self.n)
        return float(self.weights[self.y > 0].sum() / self.n)

    @cached_property
    def largest_by_feature(self) -> Vector:
        """The largest absolute value in each column of X."""
        blocks = range(0, self.n, BLOCK)  # a copy of X may not fit into memory
        found: Vector = np.max([np.abs(self.X[k : k + BLOCK]).max(axis=0) for k in blocks], axis=0)
        return found

    @property
    def largest(self) -> float:
        """The largest absolute value in X."""
        return float(self.largest_by_feature.max())

    @property
    def journal(self) -> Path | None:
        """The file that stores the answers; None without one."""
        return self._records.path if isinstance(self._records, Journal) else None

    @property
    def budget(self) -> int | None:
        """The most answers that may be asked for; None without a budget."""
        return self._records.budget

    @property
    def answers_by_agent(self) -> NDArray[np.int32]:
        """The number of answers of each agent so far."""
        return self._records.by_agent

    @property
    def n_answers(self) -> int:
        """The number of answers so far; with a journal, of all answers in it."""
        return self._records.n_answers

    @property
    def n_deployments(self) -> int:
        """The number of deployments so far."""
        return self._records.n_deployments

    @property
    def remaining(self) -> int | None:
        """The number of answers left in the budget; None without a budget."""
        return self._records.remaining

    @property
    def records(self) -> AnswerRecords:
        """The records of answers. A restarted program plans its questions with them, so that it
        plans the same ones and finds their answers in the journal."""
        return self._records

    @property
    def sight(self) -> Sight:
        """What a learner may see of these people."""
        return self.response.sight

    def ask(self, theta: ArrayLike, agents: ArrayLike) -> Matrix:
        """Deploys theta and returns the features that these agents report.

        Agents with label +1 are not asked: they report their own features.

        Parameters
        ----------
        theta : array-like of shape (d,)
            The coefficients to deploy.
        agents : array-like of int
            The row indices of the agents.

        Returns
        -------
        ndarray of shape (len(agents), d)
            The reported features.

        Raises
        ------
        TypeError
            If the population shows scores only.
        BudgetExceeded
            If the budget does not allow the question; nobody is asked.
        AnswerError
            If answers are invalid. Valid answers are kept, and the same question asks only for the
            others.
        """
        if self.sight < Sight.ANSWERS:
            raise TypeError("this population shows scores only; call scores() instead")
        deployed, chosen, moving = self._prepare(theta, agents)
        reported: Matrix = self.X[chosen]
        if moving.any():
            reported[moving] = collect_answers(
                self._records,
                deployed,
                chosen[moving],
                (self.d,),
                lambda asked: self.response.answers(deployed, self.X[asked], asked.copy()),
            )
        return reported

    def scores(self, theta: ArrayLike, agents: ArrayLike) -> Vector:
        """Deploys theta and returns the scores <b, theta> of these agents.

        The parameters and errors are the same as for `ask`, but a population that shows scores
        only can be asked too."""
        if not (isinstance(self.response, BlackBox) and self.response.scores):
            return self.ask(theta, agents) @ np.asarray(theta, dtype=np.float64)
        deployed, chosen, moving = self._prepare(theta, agents)
        found: Vector = self.X[chosen] @ deployed
        if moving.any():
            box = self.response
            found[moving] = collect_answers(
                self._records,
                deployed,
                chosen[moving],
                (),
                lambda asked: box.answered_scores(deployed, asked.copy()),
            )
        return found

    def note(self, theta: Vector, agents: Indices) -> None:
        """Counts a question whose answers compiled code computes from the response, or that was
        answered elsewhere."""
        asked = agents[self.y[agents] < 0]
        if asked.size:
            self._records.note(theta, asked)

    def _prepare(
        self, theta: ArrayLike, agents: ArrayLike
    ) -> tuple[Vector, Indices, NDArray[np.bool_]]:
        deployed = as_numbers("theta", theta, "a vector")
        if deployed.shape != (self.d,):
            raise ValueError(f"theta has shape {deployed.shape}, the population {self.d} features")
        require_finite("theta", deployed)
        chosen = np.atleast_1d(np.asarray(agents))
        if chosen.size and chosen.dtype.kind not in "iu":
            raise TypeError(f"agents must be row indices (integers), got {agents!r}")
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < self.n):
            raise IndexError(f"there are agents 0 to {self.n - 1}, got {agents!r}")
        indices = chosen.astype(np.int64)
        return deployed, indices, self.y[indices] < 0

    def keep_answers_of(self, other: Population) -> None:
        """Takes over the usable answers to a question that failed in part, from another population
        of the same people."""
        self._records.keep_answers_of(other._records)
