"""The tables of a ledger. `SCHEMA_VERSION` grows with every change of them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

SCHEMA_VERSION = 1

metadata = MetaData()
# SQLite numbers rows by itself only if the key is a plain INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")


def _of_study() -> Column[int]:
    return Column("study_id", Id, ForeignKey("study.id"), nullable=False)


study = Table(
    "study",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("specification", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("created", Double, nullable=False),
)

deployment = Table(
    "deployment",
    metadata,
    Column("id", Id, primary_key=True),
    _of_study(),
    Column("number", Integer, nullable=False),
    Column("theta", LargeBinary, nullable=False),  # little-endian float64: exact bits
    Column("theta_hash", Text, nullable=False),
    Column("opened", Double, nullable=False),
    UniqueConstraint("study_id", "number"),
)

# A row here closes its deployment, once and for all.
closure = Table(
    "closure",
    metadata,
    Column("deployment_id", Id, ForeignKey("deployment.id"), primary_key=True, autoincrement=False),
    Column("closed", Double, nullable=False),
)

question = Table(
    "question",
    metadata,
    Column("id", Id, primary_key=True),
    _of_study(),
    Column("deployment_id", Id, ForeignKey("deployment.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("agent", BigInteger, nullable=False),
    UniqueConstraint("deployment_id", "position", "attempt"),
)

exposure = Table(
    "exposure",
    metadata,
    Column("id", Id, primary_key=True),
    Column("question_id", Id, ForeignKey("question.id"), nullable=False),
    Column("holder", Text, nullable=False),
    Column("shown", Double, nullable=False),
    UniqueConstraint("question_id", "holder"),
)

lease = Table(
    "lease",
    metadata,
    Column("question_id", Id, ForeignKey("question.id"), primary_key=True, autoincrement=False),
    Column("holder", Text, nullable=False),
    Column("granted", Double, nullable=False),
    Column("expires", Double, nullable=False),
)

answer = Table(
    "answer",
    metadata,
    Column("id", Id, primary_key=True),
    _of_study(),
    Column("question_id", Id, ForeignKey("question.id"), nullable=False),
    Column("key", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("body_hash", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("told", Double, nullable=False),
    UniqueConstraint("study_id", "key"),
)
# Whatever tellers do at once, a question has one counted answer.
Index(
    "one_counted_answer",
    answer.c.question_id,
    unique=True,
    sqlite_where=answer.c.status == "counted",
    postgresql_where=answer.c.status == "counted",
)
Index("answers_of_question", answer.c.question_id)
Index("answers_of_status", answer.c.study_id, answer.c.status)

event = Table(
    "event",
    metadata,
    Column("study_id", Id, ForeignKey("study.id"), primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("hash", Text, nullable=False),
)
# The last pause or phase is found without reading all events.
Index("events_of_kind", event.c.study_id, event.c.kind, event.c.number)
