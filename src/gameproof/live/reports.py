"""What a study returns: its deployment, questions, status and recommendation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, final

from gameproof.core.arguments import Vector
from gameproof.live.facts import Counts
from gameproof.live.learnt import Ground, PresentRisk
from gameproof.live.specification import Settings
from gameproof.strategic.risk import RiskEstimate

State = Literal["asking", "paused", "finished"]


@final
@dataclass(frozen=True, eq=False)
class LiveDeployment:
    """The classifier that people are shown now.

    Attributes
    ----------
    number : int
        Deployments are numbered from 0.
    theta, intercept : ndarray of shape (d,), float
        The deployed coefficients of the problem's features, and the intercept (0 without one).
    phase : str
        What the answers are for: "pilot", "run" or "risk".
    opened : float
        When it was deployed, in seconds since 1970.
    n_questions, n_answered : int
        The positions of this deployment, and those that have a counted answer.
    model : object or None
        The same classifier for rows of the study's table (`TableModel`); None without a table.
    """

    number: int
    theta: Vector
    intercept: float
    phase: str
    opened: float
    n_questions: int
    n_answered: int
    model: Any | None = None


@final
@dataclass(frozen=True, eq=False)
class LiveQuestion:
    """One person to be asked at the current deployment.

    Attributes
    ----------
    id : int
        What `tell` takes.
    agent : int
        The row index of the person.
    person : str
        The person's value in the table's key column; without one, the row index.
    theta, intercept : ndarray of shape (d,), float
        The deployed classifier.
    deployment, position, attempt : int
        The place of the question. If a silent person is replaced, the attempt grows.
    expires : float
        When the lease ends, in seconds since 1970. Later answers count while the question is open.
    """

    id: int
    agent: int
    person: str
    theta: Vector
    intercept: float
    deployment: int
    position: int
    attempt: int
    expires: float


@final
@dataclass(frozen=True)
class StudyStatus:
    """How far a study is.

    Attributes
    ----------
    name, method : str
        The study and its method.
    state : {"asking", "paused", "finished"}
        Whether questions are asked.
    phase : str
        What the current answers are for: "pilot", "run" or "risk".
    n_answers : int
        Counted answers.
    n_deployments : int
        Deployments so far, with the current one.
    n_pending : int
        Open questions without an answer.
    n_leased : int
        Open questions that somebody holds.
    n_late, n_conflicts, n_withdrawn : int
        Answers that do not count.
    n_silent : int
        Questions whose person was replaced, or that were closed without an answer.
    max_answers, max_deployments, max_per_person : int or None
        The limits; None without one.
    sentence : str
        The state, and what to do next.
    warnings : tuple of str
        What to keep in mind when the numbers are read.
    """

    name: str
    method: str
    state: State
    phase: str
    n_answers: int
    n_deployments: int
    n_pending: int
    n_leased: int
    n_late: int
    n_conflicts: int
    n_withdrawn: int
    n_silent: int
    max_answers: int | None
    max_deployments: int | None
    max_per_person: int | None
    sentence: str
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return self.sentence


@final
@dataclass(frozen=True, eq=False)
class Recommendation:
    """The classifier to use, as far as the closed deployments show.

    Attributes
    ----------
    theta, intercept, alpha : ndarray of shape (d,), float, float
        The classifier, and the adversary's multiplier.
    risk : RiskEstimate or None
        The worst-case risk with an interval; None before anything is known about it.
    ground : {"known", "answers", "learnt", "nearest"} or None
        What the risk rests on: theta = 0, to which nobody responds; answers to this very theta,
        late ones included; the learned response, if all answers fit it; or answers to the nearest
        theta that was deployed, whose risk is not the same. `sentence` says how certain it is.
    n_answers, n_deployments : int
        The counted answers and the closed deployments that it follows from.
    final : bool
        Whether the study is finished.
    sentence : str
        What is recommended, and why.
    why : str
        What the pilot found, and what the study chose because of that.
    learnt : str
        What the answers so far, late ones included, show about the response; empty if they are too
        few.
    model : object or None
        The same classifier for rows of the study's table (`TableModel`); None without a table.
    """

    theta: Vector
    intercept: float
    alpha: float
    risk: RiskEstimate | None
    n_answers: int
    n_deployments: int
    final: bool
    sentence: str
    why: str = ""
    model: Any | None = None
    ground: Ground | None = None
    learnt: str = ""

    def __str__(self) -> str:
        return self.sentence


SILENCE_WARNING = (
    "{number} did not answer. Silence is rarely random: those who answered may respond "
    "differently, and the recommendation rests on them."
)


def study_status(
    name: str, settings: Settings, counts: Counts, phase: str, *, paused: bool, finished: bool
) -> StudyStatus:
    """The status of a study with these facts."""
    state: State = "finished" if finished else "paused" if paused else "asking"
    silent = counts.replaced + counts.unanswered
    return StudyStatus(
        name=name,
        method=settings.method_name,
        state=state,
        phase=phase,
        n_answers=counts.counted,
        n_deployments=counts.deployments,
        n_pending=counts.pending,
        n_leased=counts.leased,
        n_late=counts.late,
        n_conflicts=counts.conflicts,
        n_withdrawn=counts.withdrawn,
        n_silent=silent,
        max_answers=settings.max_answers,
        max_deployments=settings.max_deployments,
        max_per_person=settings.max_per_person,
        sentence=_status_sentence(state, phase, counts),
        warnings=(SILENCE_WARNING.format(number=_people(silent)),) if silent else (),
    )


def _status_sentence(state: State, phase: str, counts: Counts) -> str:
    so_far = _so_far(counts.counted, counts.deployments, "deployment")
    if state == "finished":
        return f"Finished after {so_far}; the recommendation is final."
    if state == "paused":
        return f"Paused after {so_far}; nobody is asked until the study is resumed."
    if not counts.pending:
        return f"{so_far} ({phase}); the deployment is complete, and asking opens the next one."
    return f"{so_far} ({phase}); {plural(counts.pending, 'open question')}."


def recommendation_sentence(
    present: PresentRisk | None, why: str, n_answers: int, n_deployments: int
) -> str:
    """What is recommended, how good it is, and why."""
    parts = [f"From {_so_far(n_answers, n_deployments, 'closed deployment')}."]
    if present is None:
        parts.append("Its risk is not known yet.")
    else:
        parts.append(f"Worst-case risk: {_risk(present.risk)}, {present.sentence}.")
    return " ".join([*parts, why]).strip()


def _risk(found: RiskEstimate) -> str:
    value, low, high = (f"{number:.4g}" for number in (found.value, found.low, found.high))
    if not found.n_queries:
        return value
    known = "known to four digits" if low == high else f"between {low} and {high}"
    return f"{value}, {known} with {100 * found.confidence:g} % confidence"


def _so_far(n_answers: int, n_deployments: int, what: str) -> str:
    return f"{plural(n_answers, 'answer')} at {plural(n_deployments, what)}"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def plural(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
