"""Fixtures for the tests of worst cases."""

import pytest

import gameproof as gp
from worst_cases import CASES, Array, case


@pytest.fixture(params=range(len(CASES)), ids=lambda number: "-".join(map(str, CASES[number])))
def made(request: pytest.FixtureRequest) -> tuple[gp.StrategicProblem, Array, float]:
    return case(request.param)
