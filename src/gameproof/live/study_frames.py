"""The answers and the deployments of a study as pandas data frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gameproof.core.exact_bits import exact_numbers
from gameproof.live.deployment_answers import deployment_answers, one_per_question, risk_by
from gameproof.live.facts import (
    EventRow,
    ExposureRow,
    QuestionRow,
    Status,
    by_deployment,
)
from gameproof.live.ledger import Ledger
from gameproof.live.row_contents import read_classifier_bits
from gameproof.live.specification import Specification


def answer_frame(
    ledger: Ledger,
    study: int,
    names: Sequence[str],
    person: Callable[[int], str],
    deployment: int | None = None,
) -> Any:
    """One row per answer, in order of deployment, position and attempt, then of arrival. `names`
    are the columns of an answer."""
    import pandas as pd

    told = ledger.answers(study, deployment)  # before the questions, so that none is missing
    questions = {question.id: question for question in ledger.questions(study, deployment)}
    answers = sorted(told, key=lambda a: (*questions[a.question][1:4], a.id))
    asked = [questions[answer.question] for answer in answers]
    frame = pd.DataFrame(
        {
            "answer": np.array([a.id for a in answers], dtype=np.int64),
            "question": np.array([q.id for q in asked], dtype=np.int64),
            "deployment": np.array([q.deployment for q in asked], dtype=np.int64),
            "position": np.array([q.position for q in asked], dtype=np.int64),
            "attempt": np.array([q.attempt for q in asked], dtype=np.int64),
            "agent": np.array([q.agent for q in asked], dtype=np.int64),
            "person": [person(q.agent) for q in asked],
            "status": [a.status.value for a in answers],
            "key": [a.key for a in answers],
            "told": pd.to_datetime([a.told for a in answers], unit="s", utc=True),
        }
    )
    numbers = np.array([exact_numbers(a.body) for a in answers]).reshape(len(answers), len(names))
    return frame.assign(**dict(zip(names, numbers.T, strict=True)))


def fact_frames(ledger: Ledger, study: int) -> dict[str, Any]:
    """The facts that `answer_frame` and `deployment_frame` do not show."""
    import pandas as pd

    found = {
        "questions": pd.DataFrame(ledger.questions(study), columns=QuestionRow._fields),
        "exposures": pd.DataFrame(ledger.exposures(study), columns=ExposureRow._fields),
        "events": pd.DataFrame(ledger.events(study), columns=EventRow._fields),
    }
    for name, column in (("exposures", "shown"), ("events", "at")):
        found[name][column] = pd.to_datetime(found[name][column], unit="s", utc=True)
    return found


def deployment_frame(
    ledger: Ledger, study: int, specification: Specification, names: Sequence[str]
) -> Any:
    """One row per deployment, with the risk by its answers if there are two or more. `names` are
    the columns of theta.

    Late answers enter the risk, although they change no deployment: leaving out people who take
    long to answer would bias it."""
    import pandas as pd

    answered = ledger.answers(study)  # before the questions, so that none is missing
    problem, questions = specification.problem, ledger.questions(study)
    facts = by_deployment(questions, one_per_question(answered))
    rows = []
    for row in ledger.deployments(study):
        theta, intercept = read_classifier_bits(problem, row.theta)
        asked, answers = facts[row.number]
        risk = risk_by(problem, deployment_answers(specification, row, asked, answers))
        ends = (np.nan,) * 3 if risk is None else (risk.value, risk.low, risk.high)
        rows.append(
            {
                "deployment": row.number,
                "opened": pd.to_datetime(row.opened, unit="s", utc=True),
                "closed": pd.to_datetime(row.closed, unit="s", utc=True),
                "n_questions": sum(question.attempt == 0 for question in asked),
                "n_answers": sum(answer.status is Status.COUNTED for answer in answers),
                "n_late": sum(answer.status is Status.LATE for answer in answers),
                **dict(zip(("risk", "risk_low", "risk_high"), ends, strict=True)),
                "intercept": intercept,
                **dict(zip(names, theta.tolist(), strict=True)),
            }
        )
    return pd.DataFrame(rows)
