"""`check_response`: the contract of a response, as a test for users' own responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, Matrix, Vector, as_count, as_numbers
from gameproof.strategic.check_known_response import check_known
from gameproof.strategic.contract_checks import claim, claim_everywhere
from gameproof.strategic.feature_mask import (
    Mask,
    feature_mask,
    require_columns,
    require_positions,
)
from gameproof.strategic.population import Population
from gameproof.strategic.responses import BlackBox, KnownResponse, Response

EPS = float(np.finfo(np.float64).eps)


def check_response(
    response: Response | Callable[[Vector, Indices], Any],
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    features: Sequence[int] | None = None,
    best_response: bool | None = None,
    repeatable: bool = True,
    seed: int = 0,
) -> None:
    """Tests that a response keeps its contract, by asking for answers to a few theta.

    Every response must return finite answers of the right shape, leave its arguments unchanged,
    and move only movable features. A repeatable one gives the same answer to the same question, and
    an agent's answer does not depend on who else is asked. Best responses never lower a score, and
    they are monotone: <b(t1) - b(t2), t1 - t2> >= 0. For a `KnownResponse`, answers, gains,
    gradients and the compiled form must agree.

    Parameters
    ----------
    response : Response or callable
        The response to test. A function ``f(theta, indices)`` is tested as `BlackBox(f)`.
    X : array-like of shape (n, d)
        The features of some agents.
    y : array-like of shape (n,), optional
        Their labels, -1 or +1. Only agents with label -1 are asked. By default all are asked.
    features : sequence of int, optional
        The positions of the features that can move. By default those that a `KnownResponse` names;
        other responses may move all.
    best_response : bool, optional
        Whether answers must be best responses. By default what `response.best_response` says.
    repeatable : bool, default=True
        Whether the same question must get the same answer. Give False for a live system.
    seed : int, default=0
        The seed of the theta that are deployed.

    Raises
    ------
    AssertionError
        If the response breaks its contract; the message names the claim that fails, and where.
    TypeError, ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import PowerCost
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> check_response(PowerCost(0.1, degree=3.0, features=[0, 2]), X)
    >>> away = lambda theta, indices: X[indices] - theta
    >>> check_response(away, X, best_response=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    AssertionError: broken: best responses never lower a score; agent 0, theta = ...
    """
    tested = response if isinstance(response, Response) else BlackBox(response)
    features_of_all = as_numbers("X", X)
    labels = np.full(len(features_of_all), -1.0) if y is None else y
    people = Population(features_of_all, labels, tested, one_label=True)
    agents = people.movers
    if not agents.size:
        raise ValueError("y must contain -1: agents with label +1 are never asked")
    movable = _movable(tested, features, people.d)
    thetas = _thetas_to_deploy(people, as_count("seed", seed, least=0))
    if isinstance(tested, BlackBox) and tested.scores:
        session: _Session = _ScoreSession(people, agents)
    else:
        session = _Session(people, agents)
    answers = np.array([session.ask(theta) for theta in thetas])
    if repeatable:
        session.check_repeatable(thetas, answers)
    must_be_best = tested.best_response if best_response is None else best_response
    session.check_answers(thetas, answers, movable, must_be_best)
    if isinstance(tested, KnownResponse):
        check_known(tested, people, agents, thetas, answers - people.X[agents])


def _movable(response: Response, features: Sequence[int] | None, d: int) -> Mask:
    if features is not None:
        require_positions(features)
        require_columns(features, d)
        return feature_mask(features, d)
    if isinstance(response, KnownResponse):
        movable = np.asarray(response.movable(d))
        claim(
            movable.shape == (d,) and movable.dtype == np.bool_,
            f"movable(d) is a mask of {d} booleans, got {movable!r}",
        )
        return movable
    return feature_mask(None, d)


def _thetas_to_deploy(people: Population, seed: int) -> Matrix:
    """Theta of several sizes and directions for which scores are of about unit size, their
    doubles and negatives, single features, and 0."""
    rng = np.random.default_rng(seed)
    scale = np.sqrt(np.mean(people.X**2)) or 1.0
    drawn = rng.standard_normal((4, people.d)) / scale / np.sqrt(people.d)
    sparse = drawn[0] * (rng.random(people.d) < 0.5)
    single = np.eye(people.d)[rng.integers(people.d)] / scale
    none = np.zeros(people.d)
    return np.array([*drawn, 2 * drawn[0], -drawn[1], 0.1 * drawn[2], sparse, single, none])


class _Session:
    """Asks a response for answers, and checks them."""

    def __init__(self, people: Population, agents: Indices) -> None:
        self._people, self._agents = people, agents
        self._own = people.X[agents]

    def ask(self, theta: Vector, rows: Indices | None = None) -> Matrix:
        """Asks all agents, or those in some rows, and checks the form of their answers."""
        agents = self._agents if rows is None else self._agents[rows]
        given = theta.copy(), self._people.X[agents], agents.copy()
        answers = self._answer(*given)
        before = theta, self._people.X[agents], agents
        unchanged = all(np.array_equal(a, b) for a, b in zip(given, before, strict=True))
        claim(unchanged, "the response leaves its arguments as they are")
        try:
            found = as_numbers("answers", answers)
        except (TypeError, ValueError) as error:
            raise AssertionError(f"broken: answers are numbers; {error}") from error
        expected = self._expected_shape(agents)
        claim(found.shape == expected, f"answers have shape {expected}, got {found.shape}")
        finite = np.asarray(np.isfinite(found).reshape(agents.size, -1).all(axis=1))
        claim_everywhere(finite, "answers are finite", agents, theta)
        return found

    def _answer(self, theta: Vector, own: Matrix, agents: Indices) -> Any:
        return self._people.response.answers(theta, own, agents)

    def _expected_shape(self, agents: Indices) -> tuple[int, ...]:
        return (agents.size, self._people.d)

    def check_repeatable(self, thetas: Matrix, answers: Matrix) -> None:
        """Asks a renewed response the same questions again: all agents, and then some of them in
        another order."""
        people = self._people
        same_people = Population(people.X, people.y, people.response, one_label=True)
        repeat = type(self)(same_people, self._agents)
        some = np.arange(self._agents.size)[::-2]
        for theta, before in zip(thetas, answers, strict=True):
            found = repeat.ask(theta)
            same = np.isclose(found, before, rtol=0, atol=self._rounding(before))
            claim_everywhere(
                same.reshape(len(same), -1).all(axis=1),
                "the same question gets the same answer (repeatable=False if it need not)",
                self._agents,
                theta,
            )
            partial = repeat.ask(theta, some)
            same = np.isclose(partial, before[some], rtol=0, atol=self._rounding(before))
            claim_everywhere(
                same.reshape(len(same), -1).all(axis=1),
                "an answer does not depend on who else is asked (repeatable=False if it may)",
                self._agents[some],
                theta,
            )

    def _rounding(self, answers: Matrix) -> float:
        return 1e-12 * float(np.abs(answers).max())

    def check_answers(self, thetas: Matrix, answers: Matrix, movable: Mask, best: bool) -> None:
        """Only movable features move; best responses raise scores and are monotone."""
        moves = answers - self._own
        rounding = 64 * EPS * np.abs(self._own).max(axis=1)
        for theta, move in zip(thetas, moves, strict=True):
            stays = (np.abs(move[:, ~movable]) <= rounding[:, None]).all(axis=1)
            claim_everywhere(stays, "only movable features move", self._agents, theta)
            if best and not theta.any():
                stays = (np.abs(move) <= rounding[:, None]).all(axis=1)
                claim_everywhere(stays, "nobody moves when theta = 0", self._agents, theta)
            elif best:
                rises = move @ theta >= -np.abs(theta).sum() * rounding
                claim_everywhere(rises, "best responses never lower a score", self._agents, theta)
        if best:
            self._check_monotone(thetas, moves, rounding)

    def _check_monotone(self, thetas: Matrix, moves: Matrix, rounding: Vector) -> None:
        for a in range(len(thetas)):
            for b in range(a + 1, len(thetas)):
                step, change = thetas[b] - thetas[a], moves[b] - moves[a]
                lengths = np.linalg.norm(moves[[a, b]], axis=2).max(axis=0)
                slack = 1e-9 * np.linalg.norm(step) * lengths + np.abs(step).sum() * 2 * rounding
                claim_everywhere(
                    change @ step >= -slack,
                    "best responses are monotone: <b(t1) - b(t2), t1 - t2> >= 0",
                    self._agents,
                    thetas[a],
                    thetas[b],
                )


class _ScoreSession(_Session):
    """Asks a black box that shows only scores."""

    def _answer(self, theta: Vector, own: Matrix, agents: Indices) -> Any:
        box: Any = self._people.response
        return box.answered_scores(theta, agents)

    def _expected_shape(self, agents: Indices) -> tuple[int, ...]:
        return (agents.size,)

    def check_answers(self, thetas: Matrix, answers: Matrix, movable: Mask, best: bool) -> None:
        """Best responses raise scores."""
        for theta, scores in zip(thetas, answers, strict=True):
            slack = 64 * EPS * np.abs(self._own) @ np.abs(theta)
            if best:
                rises = scores - self._own @ theta >= -slack
                claim_everywhere(rises, "best responses never lower a score", self._agents, theta)
