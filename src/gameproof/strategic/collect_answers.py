"""Asks one question, and keeps the answers: within the budget, counted and checked.

A question is claimed before anybody is asked. If some answers are unusable, the others are kept,
and the same question asks only for the rest. If another process is asking the same question, its
answers are waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector, as_numbers
from gameproof.core.errors import AnswerError
from gameproof.minmax.interrupts import delayed_interrupts, interruptible
from gameproof.strategic.answer_records import AnswerRecords, QuestionClaim

# Larger answers would overflow in later computations.
LARGEST_ANSWER = 1e50
# Seconds between two looks for an answer that another process is asking for, first and later.
FIRST_LOOK, LATER_LOOKS = 0.005, 0.5

Question = Callable[[Indices], Any]  # asks these agents


def collect_answers(
    records: AnswerRecords,
    theta: Vector,
    agents: Indices,
    shape: tuple[int, ...],
    question: Question,
) -> Matrix:
    """The answers of these agents to a question about theta, each of this shape."""
    pause = FIRST_LOOK
    claim = records.claim(theta, agents, shape)
    try:
        while True:
            if claim.mine.any():
                _ask(records, claim, shape, question)
            if claim.answered.all():
                return claim.answers
            with interruptible():
                time.sleep(pause)
            pause = min(1.5 * pause, LATER_LOOKS)
            records.retry(claim)
    except BaseException:
        records.release(claim)
        raise


def _ask(
    records: AnswerRecords, claim: QuestionClaim, shape: tuple[int, ...], question: Question
) -> None:
    """Asks those whom nobody has asked, and keeps what they answer."""
    asked = claim.agents[claim.mine]
    with interruptible():
        given = _given(records, asked, question)
    with delayed_interrupts():  # an answer that has arrived is not lost
        answers = _as_answers(records, claim, given, shape)
        sizes = np.abs(answers.reshape(asked.size, -1)).max(axis=1)
        usable = sizes <= LARGEST_ANSWER  # False for NaN
        records.keep(claim, answers, usable)
    if not usable.all():
        raise _unusable(records, asked[~usable], sizes[~usable][0], usable.any())


def _given(records: AnswerRecords, asked: Indices, question: Question) -> Any:
    try:
        return question(asked)
    except Exception as error:
        raise AnswerError(f"{_who(records, asked)} {type(error).__name__}: {error}") from error


def _as_answers(
    records: AnswerRecords, claim: QuestionClaim, given: Any, shape: tuple[int, ...]
) -> Matrix:
    """The given answers as an array. Anything else counts as answered, and raises."""
    asked = claim.agents[claim.mine]
    expected = (asked.size, *shape)
    try:
        answers = as_numbers("answers", given)
    except TypeError as error:
        records.discard(claim)
        raise AnswerError(f"{_who(records, asked)} {error}") from error
    if answers.shape != expected:
        records.discard(claim)
        raise AnswerError(
            f"{_who(records, asked)} answers of shape {answers.shape}, expected {expected}"
        )
    return answers


def _unusable(records: AnswerRecords, agents: Indices, size: float, others: bool) -> AnswerError:
    what = f"of size {size:.0e}, too large to compute with"
    if not np.isfinite(size):
        what = "that is not finite"
    if others:
        until = "" if records.stored else " until something else is asked"
        what += f"; the others' answers are kept{until}"
    return AnswerError(f"{_who(records, agents)} an answer {what}")


def _who(records: AnswerRecords, agents: Indices) -> str:
    shown = ", ".join(map(str, agents[:5])) + (", …" if agents.size > 5 else "")
    noun = "agent" if agents.size == 1 else "agents"
    return f"deployment {records.n_deployments}, {noun} {shown}:"
