"""Databases of every schema version so far can be opened, verified and continued."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import gameproof as gp
from gameproof.live.schema import SCHEMA_VERSION
from studies import complete, problem

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = sorted(GOLDEN.glob("live_study_*.sql"))
SETTINGS = {"method": "ogda-rr", "batch": 4, "seed": 3, "max_answers": 24, "max_per_person": 5}


def test_every_schema_version_has_a_frozen_database() -> None:
    versions = [int(path.stem.rpartition("_")[2]) for path in FILES]
    assert versions == list(range(1, SCHEMA_VERSION + 1))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_a_frozen_study_continues_to_the_same_bits(tmp_path, file) -> None:
    path = tmp_path / "study.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(file.read_text(encoding="utf-8"))
    new = gp.live.create(":memory:", problem(n=20), name="frozen", **SETTINGS)
    complete(new)
    with gp.live.open(path, "frozen") as study:
        assert study.verify() == []
        status = study.status()
        assert (status.n_late, status.n_conflicts, status.n_withdrawn) == (1, 1, 1)
        assert status.state == "asking"
        complete(study)
        assert study.verify() == []
        assert study.recommend().final
        np.testing.assert_array_equal(study.recommend().theta, new.recommend().theta)


def test_a_study_of_a_later_version_is_refused(tmp_path) -> None:
    path = tmp_path / "study.db"
    gp.live.create(path, problem(n=20), **SETTINGS).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE study SET schema_version = schema_version + 1")
        connection.commit()
    with pytest.raises(gp.live.LedgerError, match="newer gameproof") as error:
        gp.live.open(path)
    assert error.value.code == "unknown-version"
