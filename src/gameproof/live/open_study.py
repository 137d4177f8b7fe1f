"""`create` and `open`: studies by name, in a database."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from gameproof.core.arguments import shown
from gameproof.live.facts import LedgerError
from gameproof.live.given import given_text
from gameproof.live.ledger import Ledger
from gameproof.live.memory_ledger import MemoryLedger
from gameproof.live.refusals import unknown_study
from gameproof.live.schema import SCHEMA_VERSION
from gameproof.live.specification import (
    USUAL_BATCH,
    Settings,
    Silence,
    Specification,
    with_real_people,
)
from gameproof.live.sql_ledger import SqlLedger
from gameproof.live.study import Study
from gameproof.live.study_method import StudyMethod
from gameproof.minmax.solver import Solver
from gameproof.strategic.robust_problem import StrategicProblem

# A limit of answers leaves room for this many deployments, unless the batch is given.
FEWEST_DEPLOYMENTS = 20
WEEK = 7 * 24 * 3600.0


def create(
    where: str | Path | Ledger,
    problem: StrategicProblem,
    *,
    name: str = "study",
    method: str | Solver = "auto",
    batch: int | None = None,
    seed: int = 0,
    silence: Silence = "replace",
    patience: float = WEEK,
    max_answers: int | None = None,
    max_deployments: int | None = None,
    max_per_person: int | None = None,
    table: dict[str, Any] | None = None,
) -> Study:
    """Creates a study and opens its first deployment.

    Parameters
    ----------
    where : path, URL or Ledger
        An SQLite file, which is created if it is missing; an SQLAlchemy URL, such as
        ``postgresql://…``; ":memory:"; or a ledger.
    problem : StrategicProblem
        The people, the loss and the adversary. The study stores a copy of the data. The people
        answer themselves: the population's response is used only to see whether answers are
        features or, with ``BlackBox(…, scores=True)``, scores.
    name : str
        The study's name in the database.
    method : str or Solver
        "auto" (learn, verify, run, check), "ogda-rr", "ogda-wr", "sgda-rr", "sgda-wr", or a solver.
    batch : int, optional
        Rows per step of the run; those with label -1 among them are asked. By default 100, or a
        twentieth of `max_answers` if that is less.
    seed : int
        The same seed and answers give the same study, to the bit.
    silence : {"wait", "replace", "continue"}
        What to do about people who were shown a question and do not answer within `patience`: wait
        for them, ask someone else, or close the deployment with those who answered.
    patience : float
        Seconds until a person counts as silent. By default a week.
    max_answers, max_deployments, max_per_person : int, optional
        The most counted answers, deployments, and questions to one person.
    table : dict, optional
        What the study knows about the columns of a table; `problem_from_table` gives it.

    Returns
    -------
    Study
        The study.

    Raises
    ------
    LedgerError
        "name-taken" if the database has a study of this name.
    TypeError, ValueError
        If an argument is not valid, or the problem cannot be stored, such as a `CustomLoss`.
    """
    settings = Settings(
        method,
        _usual_batch(max_answers) if batch is None else batch,
        seed,
        silence,
        patience,
        max_answers,
        max_deployments,
        max_per_person,
    )
    if not isinstance(problem, StrategicProblem):
        raise TypeError(f"problem must be a StrategicProblem, got {shown(problem)}")
    name = given_text("name", name)
    specification = Specification(with_real_people(problem), settings, table)
    _require_first_deployment(specification)
    text = specification.to_json()
    ledger = _ledger(where, create=True)
    try:
        row = ledger.create(name, text, specification.fingerprint, time.time())
        study = Study(ledger, row, specification)
        study.advance()
    except BaseException:
        ledger.close()
        raise
    return study


def open(where: str | Path | Ledger, name: str | None = None) -> Study:
    """Opens a study.

    Parameters
    ----------
    where : path, URL or Ledger
        What `create` was given.
    name : str, optional
        The study's name; may be left out if the database has a single study.

    Returns
    -------
    Study
        The study.

    Raises
    ------
    LedgerError
        "no-store" if there is no such file, "not-a-store" if it is something else,
        "unknown-study" if it has no study of this name, "unknown-version" if a newer gameproof made
        it.
    """
    ledger = _ledger(where, create=False)
    try:
        names = ledger.names()
        if name is None and len(names) != 1:
            raise unknown_study(name, names)
        row = ledger.study(names[0] if name is None else name)
        if row.schema_version > SCHEMA_VERSION:
            raise LedgerError(
                "unknown-version",
                f"the study has the schema version {row.schema_version}, and this gameproof reads "
                f"{SCHEMA_VERSION}; install a newer gameproof",
            )
        return Study(ledger, row, Specification.from_json(row.specification))
    except BaseException:
        ledger.close()
        raise


def _usual_batch(max_answers: int | None) -> int:
    most = USUAL_BATCH if max_answers is None else max_answers // FEWEST_DEPLOYMENTS
    return max(1, min(USUAL_BATCH, most))


def _require_first_deployment(specification: Specification) -> None:
    """Raises if the limit of answers is too small to begin."""
    settings = specification.settings
    first = next(StudyMethod(specification.problem, settings).inquiry(), None)
    if settings.max_answers is None and first is not None:
        return
    if first is None or len(first.agents) > (settings.max_answers or 0):
        raise ValueError(
            f"max_answers={settings.max_answers} is too few for one deployment; allow more, or "
            f"give a smaller batch than {settings.batch}"
        )


def _ledger(where: str | Path | Ledger, create: bool) -> Ledger:
    if isinstance(where, Ledger):
        return where
    if not isinstance(where, (str, Path)):
        raise TypeError(f"where must be a path, a URL or a Ledger, got {shown(where)}")
    if str(where) == ":memory:":
        return MemoryLedger()
    return SqlLedger(where, create)
