"""What callers give to a study, checked: answers, names, keys and ids."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import Vector, as_count, as_numbers, shown
from gameproof.core.errors import AnswerError
from gameproof.core.exact_bits import exact_bytes
from gameproof.live.specification import Specification
from gameproof.live.study_table import StudyTable
from gameproof.strategic.collect_answers import LARGEST_ANSWER

# Databases cannot index longer texts, and store no NUL.
LONGEST = 500
LARGEST_ID = 2**63 - 1


def given_text(what: str, value: object) -> str:
    """A name, a holder or a key as every database can store it."""
    text = str(value)
    if not 1 <= len(text) <= LONGEST:
        raise ValueError(f"{what} must have 1 to {LONGEST} characters, got {len(text):,}")
    return storable(what, text)


def storable(what: str, text: str) -> str:
    """Text without the characters that databases refuse."""
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError(f"{what} has a character that cannot be stored: {shown(text)}")
    return text


def given_id(what: str, value: int) -> int:
    """The id of a question or an answer; -1 for a number that no database gives."""
    number = as_count(what, value, least=-sys.maxsize)
    return number if number <= LARGEST_ID else -1


def answer_numbers(question: int, answer: ArrayLike) -> NDArray[np.float64]:
    """An answer as an array; raises AnswerError if it is none of numbers."""
    try:
        return as_numbers(f"the answer to question {question}", answer)
    except (TypeError, ValueError) as error:
        raise AnswerError(str(error)) from error


def answer_body(
    specification: Specification,
    table: StudyTable | None,
    question: int,
    answer: ArrayLike | Mapping[str, Any],
    known: Callable[[int], Vector | None],
) -> bytes:
    """The exact bits of an answer; `known` gives the features of the person of a question. Raises
    AnswerError if the answer has the wrong form."""
    if isinstance(answer, Mapping):
        if table is None:
            raise AnswerError(
                "this study has no table, so an answer is a list of features, not columns"
            )
        answer = table.features(answer, lambda _: known(question))
    numbers = answer_numbers(question, answer)
    width = specification.problem.population.d
    expected: tuple[int, ...] = () if specification.sees_scores else (width,)
    if numbers.shape != expected:
        wanted = f"{width} features" if expected else "one score"
        raise AnswerError(
            f"question {question} expects {wanted}, got {numbers.size} numbers of shape "
            f"{numbers.shape}"
        )
    if not (np.abs(numbers) <= LARGEST_ANSWER).all():
        raise AnswerError(f"the answer to question {question} is not finite, or too large")
    return exact_bytes(numbers.reshape(-1))
