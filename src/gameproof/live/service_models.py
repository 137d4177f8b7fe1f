"""What the service takes and gives, as the OpenAPI description shows it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from gameproof.live.facts import Status
from gameproof.live.given import LONGEST
from gameproof.live.learnt import Ground
from gameproof.live.people_rows import PersonAsked, PersonState
from gameproof.live.reports import StudyStatus
from gameproof.live.tokens import Scope
from gameproof.strategic.risk import RiskEstimate

# Numbers that JSON and every database hold exactly.
MOST = 2**53 - 1
MOST_AT_ONCE = 1000
MONTH = 31 * 24 * 3600.0


def _whole(value: Any) -> Any:
    """In JSON, 3.0 is the integer 3."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Id = Annotated[int, Field(ge=0, le=MOST), BeforeValidator(_whole)]
Number = Annotated[int, Field(ge=1, le=MOST_AT_ONCE), BeforeValidator(_whole)]
# Databases do not store the zero character, and a log line is one line.
Line = Annotated[str, Field(max_length=1000, pattern=r"^[^\x00-\x1f\x7f]*$")]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Key = Annotated[str, Field(min_length=1, max_length=LONGEST, pattern=r"^[^\x00-\x1f\x7f]*$")]
Cell = str | float | bool | None
Answer = Annotated[
    list[float] | float | dict[str, Cell],
    Field(
        description="The reported features; a score, if the study sees scores only; or, in a study "
        "of a table, the person's row as an object from columns to values."
    ),
]


class Given(BaseModel):
    """What a client sends: exactly these fields, of exactly these types."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class ErrorReply(BaseModel):
    """Why a request failed."""

    code: Annotated[str, Field(description="Stable, for programs.")]
    message: Annotated[str, Field(description="A sentence, for people.")]


class AskRequest(Given):
    """How many questions, and for whom."""

    limit: Number = 1
    holder: Annotated[
        Name, Field(description="Who asks. The same holder gets its open questions again.")
    ] = "anybody"
    lease: Annotated[
        float, Field(gt=0, le=MONTH, description="Seconds for which nobody else gets them.")
    ] = 3600.0


class QuestionReply(BaseModel):
    """One person to be asked."""

    id: int
    agent: int
    person: str
    deployment: int
    position: int
    attempt: int
    expires: float


class AskReply(BaseModel):
    """Questions, and the classifier that these people are shown."""

    theta: list[float]
    intercept: float
    questions: list[QuestionReply]


class TellRequest(Given):
    """An answer. The same key and answer again give the same receipt."""

    question: Id
    answer: Answer
    key: Annotated[
        Key | None, Field(description="Identifies the answer; by default its content does.")
    ] = None


class TellManyRequest(Given):
    """Answers, each of which is stored or refused by itself."""

    answers: Annotated[list[TellRequest], Field(min_length=1, max_length=MOST_AT_ONCE)]


class ReceiptReply(BaseModel):
    """What became of an answer."""

    answer_id: int
    status: Status


class TellManyReply(BaseModel):
    """A receipt or an error for each answer, in the same order."""

    receipts: list[ReceiptReply | ErrorReply]


class ReasonRequest(Given):
    """Why something is done; the study keeps it."""

    reason: Line = ""


class WithdrawRequest(Given):
    """Why an answer is withdrawn; the study keeps it."""

    reason: Annotated[Line, Field(min_length=1)]


class Classifier(BaseModel):
    """A classifier; `model` is a model file's content, if the study has a table."""

    theta: list[float]
    intercept: float
    model: dict[str, Any] | None


class CurrentDeployment(Classifier):
    """The classifier that people are shown now."""

    number: int
    phase: str
    opened: float
    n_questions: int
    n_answered: int


class DeploymentReply(BaseModel):
    """The current deployment; null if the study is finished."""

    deployment: CurrentDeployment | None


class ClosedReply(BaseModel):
    """Whether the deployment was closed; not if nobody has answered it yet."""

    closed: bool


class RecommendationReply(Classifier):
    """The classifier to use, as far as the closed deployments show."""

    alpha: float
    risk: RiskEstimate | None
    n_answers: int
    n_deployments: int
    final: bool
    sentence: str
    why: str
    ground: Ground | None
    learnt: str


class HistoryQuery(BaseModel):
    """Which answers."""

    model_config = ConfigDict(extra="forbid")

    first: Annotated[int, Field(ge=0, le=MOST)] = 0
    limit: Annotated[int, Field(ge=1, le=100_000)] = MOST_AT_ONCE


class HistoryReply(BaseModel):
    """Answers by deployment and position; `next` is the `first` of the next page."""

    columns: list[str]
    rows: list[list[str | int | float | None]]
    next: int | None


class PeopleQuery(BaseModel):
    """Which people."""

    model_config = ConfigDict(extra="forbid")

    deployment: Annotated[int | None, Field(ge=0, le=MOST)] = None
    state: PersonState | None = None
    search: Annotated[str, Field(max_length=200)] = ""
    offset: Annotated[int, Field(ge=0, le=MOST)] = 0
    limit: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 50


class PeopleReply(BaseModel):
    """Some of the people of a deployment, and how many are in each state."""

    deployment: int | None
    counts: dict[str, int]
    total: int
    people: list[PersonAsked]


class AccessReply(BaseModel):
    """What the caller may do."""

    study: str
    token_required: bool
    scopes: list[Scope]


class OverviewReply(BaseModel):
    """Everything that the page shows; its parts may grow in later versions."""

    model_config = ConfigDict(extra="allow")

    at: float
    status: StudyStatus
