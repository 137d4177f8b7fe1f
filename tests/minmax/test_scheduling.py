"""Work that takes turns: which piece continues when, and what happens to failures."""

from collections.abc import Iterator
from typing import Any

import pytest

from gameproof.minmax import scheduling
from gameproof.minmax.scheduling import Turns


def piece(k: int, length: int, log: list[int]) -> Iterator[int]:
    """Notes its number at each stretch."""
    for far in range(length):
        log.append(k)
        yield far


def failing(words: str) -> Iterator[int]:
    yield 0
    raise RuntimeError(words)


def always() -> bool:
    return True


@pytest.fixture(autouse=True)
def _short_turns(monkeypatch: Any) -> None:
    """A turn is one stretch."""
    monkeypatch.setattr(scheduling, "TURN", 0.0)


def test_pieces_end_one_by_one_and_the_last_go_on_by_turns() -> None:
    log: list[int] = []
    Turns([piece(k, 3, log) for k in range(4)], 1, always).run()
    assert log == [0, 0, 0, 1, 1, 1, 2, 3, 2, 3, 2, 3]


def test_who_is_least_far_goes_first() -> None:
    log: list[int] = []

    def leaping() -> Iterator[int]:
        for far in (5, 6):
            log.append(0)
            yield far

    Turns([leaping(), piece(1, 7, log)], 1, always).run()
    assert log == [0, 1, 1, 1, 1, 1, 1, 0, 1]  # of two that are as far, the first


@pytest.mark.parametrize("jobs", [1, 2, 5, 9])
def test_every_piece_ends_whatever_the_number_of_threads(jobs: int) -> None:
    """A generator that two threads are in raises an error."""
    log: list[int] = []
    Turns([piece(k, 200, log) for k in range(7)], jobs, always).run()
    assert all(log.count(k) == 200 for k in range(7))


def test_after_a_failure_those_begun_end_and_no_other_begins() -> None:
    log: list[int] = []
    with pytest.raises(RuntimeError, match="not today"):
        Turns([failing("not today"), *(piece(k, 4, log) for k in (1, 2, 3))], 1, always).run()
    assert log == []
    with pytest.raises(RuntimeError, match="not today"):
        Turns([piece(0, 4, log), failing("not today")], 1, always).run()
    assert log == [0, 0, 0, 0]


def test_of_several_failures_the_first_in_order_is_raised() -> None:
    def late() -> Iterator[int]:
        yield 9
        raise RuntimeError("first in order")

    with pytest.raises(RuntimeError, match="first in order"):
        Turns([late(), failing("first in time")], 1, always).run()


def test_no_other_begins_once_it_is_enough() -> None:
    log: list[int] = []
    Turns([piece(k, 3, log) for k in range(5)], 1, lambda: len(log) < 2).run()
    assert log == [0, 0, 0]
