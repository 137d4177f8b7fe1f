"""What the rows of a ledger hold as exact bits: classifiers, and answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.exact_bits import exact_bytes, exact_numbers
from gameproof.live.facts import AnswerRow, QuestionRow
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.inquiry import Replies
from gameproof.strategic.robust_problem import StrategicProblem

# Larger differences mean another method or other data.
ROUNDING = 1e-8


class Deployed(NamedTuple):
    """A classifier as a deployment stores it."""

    theta: Vector
    intercept: float


def stored_classifier(problem: StrategicProblem, theta: Vector, intercept: float) -> bytes:
    """The exact bits of a classifier; the intercept comes first if there is one."""
    head = [] if problem.intercept is None else [intercept]
    return exact_bytes(np.concatenate([head, theta]))


def read_classifier_bits(problem: StrategicProblem, stored: bytes) -> Deployed:
    """The classifier of `stored_classifier`."""
    numbers = exact_numbers(stored)
    if problem.intercept is None:
        return Deployed(numbers, 0.0)
    return Deployed(numbers[1:], float(numbers[0]))


def same_up_to_rounding(stored: Sequence[bytes], expected: bytes) -> Mask:
    """Which classifiers of equal size are this one. Another processor or another version of a
    library may round differently."""
    wanted = exact_numbers(expected)
    found = exact_numbers(b"".join(stored)).reshape(-1, wanted.size)
    same: Mask = np.isclose(found, wanted, rtol=ROUNDING, atol=ROUNDING)
    return np.asarray(same.all(axis=1))


def replies_by_position(
    questions: Sequence[QuestionRow], used: Sequence[AnswerRow], width: int | None
) -> Replies:
    """The answers to a deployment in order of position: features, or scores without a width."""
    asked = {question.id: question for question in questions}
    ordered = sorted(used, key=lambda answer: asked[answer.question].position)
    agents = np.array([asked[answer.question].agent for answer in ordered], dtype=np.int64)
    numbers = exact_numbers(b"".join(answer.body for answer in ordered))
    return Replies(agents, numbers if width is None else numbers.reshape(len(ordered), width))
