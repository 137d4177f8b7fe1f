"""States that were forged together with their digest are refused before compiled code sees them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.kernels import layout as at
from gameproof.minmax import state_files

GAME = gp.QuadraticGame.random(n=12, seed=0)
SOLVER = gp.ogda_rr(gradient=gp.TwoPoint(), step=0.01, radius=0.1, batch=2)
Forge = Callable[[dict[str, Any], dict[str, Any]], None]


def count(place: int, value: int) -> Forge:
    return lambda header, arrays: arrays["counts"].__setitem__(place, value)


def entry(name: str, place: Any, value: float) -> Forge:
    return lambda header, arrays: arrays[name].__setitem__(place, value)


def other_shape(name: str) -> Forge:
    return lambda header, arrays: arrays.update({name: arrays[name][..., :-1].copy()})


def other_generator(**changes: Any) -> Forge:
    return lambda header, arrays: header["generator"].update(changes)


FORGED: dict[str, tuple[Forge, str]] = {
    "negative epoch": (count(at.EPOCH, -1), "epoch is -1"),
    "epoch of another step": (count(at.EPOCH, 7), "do not belong to step"),
    "position beyond n": (count(at.POSITION, 12), "position is 12, expected 0 to 11"),
    "position within a batch": (count(at.POSITION, 1), "do not belong to step"),
    "unknown stage": (count(at.STAGE, 99), "stage is 99"),
    "unknown phase": (count(at.PHASE, 50), "phase is 50"),
    "batch too long": (count(at.N_CURRENT, 10**6), "size of the batch is 1000000"),
    "batch before": (count(at.N_PREVIOUS, 1), "the step before had 2 samples"),
    "too many asked": (count(at.ASKED, 10**9), "samples asked is 1000000000"),
    "more answers than asked": (count(at.ANSWERED, 9), "answers is 9"),
    "values beyond floats": (count(at.QUERIES, 2**62), "queries is"),
    "sample beyond n": (entry("samples", (at.BATCH, 0), 12), "outside 0 to 11"),
    "column beyond the batch": (entry("samples", (at.SLOT, 0), 99), "outside 0 to 3"),
    "order beyond n": (entry("order", 0, 4_000_000_000), "outside 0 to 11"),
    "order with a repetition": (
        lambda header, arrays: arrays["order"].__setitem__(0, arrays["order"][1]),
        "not a permutation",
    ),
    "infinite iterate": (entry("x", (at.U, 0), np.inf), "x holds a number that is not finite"),
    "negative radius": (entry("numbers", at.RADIUS, -1.0), "a radius or a weight is negative"),
    "narrow x": (other_shape("x"), "x has shape"),
    "short order": (other_shape("order"), "order has shape"),
    "marks that are missing": (lambda header, arrays: header.update(marks=3), "mark"),
    "unknown generator": (other_generator(bit_generator="Mersenne"), "Mersenne"),
    "generator without a state": (other_generator(state={}), "generator"),
    "seconds as text": (lambda header, arrays: header.update(seconds="long"), "seconds"),
    "other text": (lambda header, arrays: header.update(solver=7), "solver"),
    "unknown array": (lambda header, arrays: arrays.update(extra=np.zeros(3)), "extra"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("states") / "run.state"
    gp.solve(GAME, SOLVER, epochs=2, seed=0).state.save(path)
    return path


@pytest.mark.parametrize(("forge", "said"), FORGED.values(), ids=FORGED)
def test_forged_state_is_refused_with_what_is_wrong(
    forge: Forge, said: str, whole: Path, tmp_path: Path
) -> None:
    header, arrays = state_files.read(whole)
    arrays = {name: array.copy() for name, array in arrays.items()}
    forge(header, arrays)
    path = tmp_path / "forged.state"
    state_files.write(path, header, arrays)
    with pytest.raises(gp.StateFileError, match=said):
        gp.solve(GAME, SOLVER, epochs=3, resume=path)


def test_state_that_was_not_forged_resumes(whole: Path, tmp_path: Path) -> None:
    header, arrays = state_files.read(whole)
    state_files.write(tmp_path / "same.state", header, arrays)
    resumed = gp.solve(GAME, SOLVER, epochs=3, resume=tmp_path / "same.state")
    np.testing.assert_array_equal(resumed.x, gp.solve(GAME, SOLVER, epochs=3, seed=0).x)
