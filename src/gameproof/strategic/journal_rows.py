"""The rows of a journal: its tables, and how numbers, times and digests are written.

    study       the people: a fingerprint of their features and labels, and counts of answers
    deployment  each theta, as the bytes of its little-endian float64 numbers
    question    a person asked at a deployment, and how often they were asked there before
    lease       a question that somebody is asking at the moment, and who
    answer      what the person answered: counted, unusable (counts towards the budget, but is
                never used), or told (was given elsewhere and counts, but is not stored)

Rows are never changed, except for the counts of a study; only leases are deleted. Each answer has
a digest of itself and of its question, so that an altered row is noticed.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

APPLICATION, VERSION = 0x67616D65, 1
SCHEMA = (
    """CREATE TABLE study (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        fingerprint TEXT NOT NULL,
        n_people INTEGER NOT NULL,
        n_features INTEGER NOT NULL,
        sees TEXT NOT NULL CHECK (sees IN ('features', 'scores')),
        n_counted INTEGER NOT NULL DEFAULT 0,
        n_other INTEGER NOT NULL DEFAULT 0,
        created TEXT NOT NULL
    )""",
    """CREATE TABLE deployment (
        id INTEGER PRIMARY KEY,
        study INTEGER NOT NULL REFERENCES study (id),
        theta BLOB NOT NULL,
        hash BLOB NOT NULL,
        created TEXT NOT NULL,
        UNIQUE (study, hash)
    )""",
    """CREATE TABLE question (
        id INTEGER PRIMARY KEY,
        deployment INTEGER NOT NULL REFERENCES deployment (id),
        person INTEGER NOT NULL,
        occurrence INTEGER NOT NULL,
        UNIQUE (deployment, person, occurrence)
    )""",
    """CREATE TABLE lease (
        question INTEGER PRIMARY KEY REFERENCES question (id),
        holder TEXT NOT NULL,
        created TEXT NOT NULL
    )""",
    """CREATE TABLE answer (
        id INTEGER PRIMARY KEY,
        question INTEGER NOT NULL REFERENCES question (id),
        status TEXT NOT NULL CHECK (status IN ('counted', 'unusable', 'told')),
        body BLOB,
        digest BLOB NOT NULL,
        created TEXT NOT NULL
    )""",
    "CREATE UNIQUE INDEX counted_answer ON answer (question) WHERE status = 'counted'",
)


def now() -> str:
    """The time in UTC, as rows note it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def hash_of(theta: bytes) -> bytes:
    """The key of a theta."""
    return hashlib.sha256(theta).digest()


def answer_digest(theta_hash: bytes, person: int, occurrence: int, body: bytes) -> bytes:
    """The digest of an answer and its question."""
    digest = hashlib.blake2b(theta_hash, digest_size=16)
    digest.update(f"{person} {occurrence} {len(body)} ".encode() + body)
    return digest.digest()
