"""`Study`: a study with real people, as a fold of their answers.

The state of a study is what its method makes of the counted answers, in order of deployment and
position. Nothing else is remembered: a process that opens the study replays the answers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self, final

from numpy.typing import ArrayLike

from gameproof.live.facts import Receipt
from gameproof.live.ledger import Ledger
from gameproof.live.reports import LiveDeployment, LiveQuestion, Recommendation, StudyStatus
from gameproof.minmax.solver import Solver
from gameproof.strategic.robust_problem import StrategicProblem

Silence = Literal["wait", "replace", "continue"]
HOUR, WEEK = 3600.0, 7 * 24 * 3600.0


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
        People asked at each deployment of the run.
    seed : int
        The same seed and answers give the same study, to the bit.
    silence : {"wait", "replace", "continue"}
        What to do about people who were shown a question and do not answer within `patience`: wait
        for them, ask someone else, or close the deployment with those who answered.
    patience : float
        Seconds until a person counts as silent. By default a week.
    max_answers, max_deployments, max_per_person : int, optional
        The most counted answers, deployments, and questions to one person.

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
    raise LookupError


def open(where: str | Path | Ledger, name: str | None = None) -> Study:
    """Opens a study. The name may be left out if the database has a single one.

    Raises LedgerError "unknown-study" if there is none of this name."""
    raise LookupError


@final
class Study:
    """A study with real people. `create` and `open` make one.

    Any number of processes may ask and tell at once. Whoever calls `ask` or `advance` also moves
    the study on, if nobody else is doing so.
    """

    name: str
    problem: StrategicProblem

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def deployment(self) -> LiveDeployment | None:
        """The current deployment; None if the study is finished."""

    def ask(
        self, limit: int = 1, holder: str = "anybody", lease: float = HOUR
    ) -> list[LiveQuestion]:
        """Up to `limit` open questions, leased to `holder` for `lease` seconds.

        Nobody else is given them meanwhile; the same holder gets its questions again. The list is
        empty if the study is paused or finished, or if others hold all open questions. The study
        advances first, if it can."""

    def tell(self, question_id: int, answer: ArrayLike, key: str | None = None) -> Receipt:
        """Stores an answer: the reported features, or a score if the study sees scores only.

        In a study of a table, a mapping from columns to values is also accepted. When this method
        returns, the answer is on disk. The same key and answer again return the same receipt.
        Without a key, the answer itself is the key."""

    def withdraw(self, answer_id: int, reason: str) -> None:
        """Withdraws an answer. While its deployment is open, its question is asked again.

        Deployments that followed from the answer stay as they were, since people have seen them;
        the answer no longer enters risk estimates, tables and exports."""

    def advance(self) -> int:
        """Closes the deployment if its answers are complete and opens the next one, as often as
        possible; replaces silent people. Returns how many deployments were closed: 0 if somebody
        else is advancing the study."""

    def close_deployment(self) -> bool:
        """Closes the current deployment now, with those who answered. False if nobody did."""

    def pause(self, reason: str = "") -> None:
        """Asks nobody until `resume`. Answers to open questions still count."""

    def resume(self) -> None:
        """Ends a pause."""

    def finish(self, reason: str = "") -> None:
        """Ends the study: closes the current deployment and asks nobody any more."""

    def status(self) -> StudyStatus:
        """How far the study is. Changes nothing."""

    def recommend(self) -> Recommendation:
        """The classifier to use, from the answers so far. Changes nothing."""

    def history(self) -> Any:
        """A pandas data frame with one row per answer: deployment, position, attempt, agent,
        person, status, key, times and the answer."""

    def deployments(self) -> Any:
        """A pandas data frame with one row per deployment: theta, times, counts and the worst-case
        risk by its answers, with its interval."""

    def verify(self) -> list[str]:
        """Sentences that name every row that was changed behind the study's back; none if the hash
        chain is intact."""

    def close(self) -> None:
        """Gives back the connections to the database. The study itself goes on: `open` it again."""
