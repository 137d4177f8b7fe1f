"""`Checkpoint`: how far a study's method has come, so that nobody has to replay all answers.

A checkpoint is only a cache. It names the facts from which it follows by their digest. It is used
if these are the facts of the study, if the same version of gameproof made it, and if its own digest
is right. Otherwise the answers are replayed. It runs no code when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.npz_files import Arrays
from gameproof.core.source_digest import source_digest
from gameproof.live.facts import AnswerRow, DeploymentRow, QuestionRow
from gameproof.live.stored_parts import part_from_json, part_to_json
from gameproof.live.study_method import MethodProgress
from gameproof.minmax import state_files
from gameproof.minmax.solver import Solver
from gameproof.minmax.state import State
from gameproof.strategic.risk import RiskEstimate

NAME = "the checkpoint of a study"
START_X, START_Y = "start x", "start y"


class Checkpoint(NamedTuple):
    """What the method knows after some deployments."""

    n_deployments: int
    facts: str  # their digest
    progress: MethodProgress


class FactsDigest:
    """A digest of everything that a method was told, in order."""

    def __init__(self) -> None:
        self._found = sha256()

    def add(
        self, row: DeploymentRow, questions: Sequence[QuestionRow], used: Sequence[AnswerRow]
    ) -> None:
        """Adds a closed deployment: who answered what, by position."""
        asked = {question.id: question for question in questions}
        told = sorted(
            (asked[a.question].position, asked[a.question].agent, a.body.hex()) for a in used
        )
        people = sorted((q.position, q.attempt, q.agent) for q in questions)
        self._found.update(json.dumps([row.number, row.theta.hex(), people, told]).encode())

    def value(self) -> str:
        """The digest of all that was added."""
        return self._found.hexdigest()


def to_bytes(checkpoint: Checkpoint, specification: str) -> bytes:
    """A checkpoint as `from_bytes` reads it."""
    progress = checkpoint.progress
    arrays: Arrays = {}
    header: dict[str, Any] = {
        "n_deployments": checkpoint.n_deployments,
        "facts": checkpoint.facts,
        "made_by": _maker(specification),
        "n_chosen": progress.n_chosen,
        "solver": None,
        "risk": None if progress.risk is None else asdict(progress.risk),
        "state": progress.state is not None,
    }
    if progress.solver is not None:
        solver = progress.solver
        header["solver"] = part_to_json(solver)
        header["said"] = [solver.why, solver.settled]
        if solver.start is not None:
            arrays[START_X], arrays[START_Y] = map(np.asarray, solver.start)
    if progress.state is not None:
        own, parts = progress.state.parts()
        header["run"] = own
        arrays |= parts
    return state_files.packed(header, arrays)


def from_bytes(stored: bytes, specification: str) -> Checkpoint | None:
    """The checkpoint; None if it is damaged, or from another study or version."""
    try:
        header, arrays = state_files.unpacked(stored, NAME)
        if header["made_by"] != _maker(specification):
            return None
        return _checkpoint(header, arrays)
    except Exception:  # damaged bytes can be wrong in any way, and the answers are there
        return None


def _checkpoint(header: dict[str, Any], arrays: Arrays) -> Checkpoint:
    solver: Solver | None = None
    if header["solver"] is not None:
        why, settled = header["said"]
        start = None
        if START_X in arrays:
            start = (arrays.pop(START_X), arrays.pop(START_Y))
        solver = replace(part_from_json(header["solver"]), why=why, settled=settled, start=start)
    state = State.of_parts(header["run"], arrays) if header["state"] else None
    risk = None if header["risk"] is None else RiskEstimate(**header["risk"])
    progress = MethodProgress(solver, header["n_chosen"], state, risk)
    return Checkpoint(header["n_deployments"], header["facts"], progress)


def _maker(specification: str) -> str:
    """The study and the version."""
    found = [source_digest(), np.__version__, specification]
    return sha256(json.dumps(found).encode()).hexdigest()
