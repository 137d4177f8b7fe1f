"""A checkpoint saves a replay and changes no bit; one that is not right is ignored."""

import numpy as np
import pytest
from sqlalchemy import text

import gameproof as gp
from gameproof.live import checkpoint, fold
from studies import answer, problem


@pytest.fixture(autouse=True)
def keep_all(monkeypatch):
    monkeypatch.setattr(fold, "WORTH_KEEPING", 0.0)


@pytest.fixture
def progress_used(monkeypatch):
    """What folds resumed from."""
    found, begin = [], fold.Fold._begin

    def noted(self, progress):
        if progress is not None:
            found.append(progress)
        begin(self, progress)

    monkeypatch.setattr(fold.Fold, "_begin", noted)
    return found


def noisy(study, question):
    """An answer that refutes every model."""
    errors = np.random.default_rng(question.id).normal(size=3)
    return answer(study, question) + (1 + question.agent % 3) * errors


def outcome(where):
    """What a study that is opened anew recommends, and what it asks next."""
    with gp.live.open(where) as study:
        found, folded = study.recommend(), fold.Fold(study.ledger, study.id, study.specification)
        folded.catch_up()
        asks = None
        if folded.next is not None:
            asks = (folded.next.theta.tobytes(), *folded.next.agents)
        return found.theta.tobytes(), found.alpha, str(found), found.final, asks


def replayed(where):
    """The same without a checkpoint."""
    with gp.live.open(where) as study, study.ledger.engine.begin() as connection:
        connection.execute(text("ALTER TABLE checkpoint RENAME TO hidden"))
    found = outcome(where)
    with gp.live.open(where) as study, study.ledger.engine.begin() as connection:
        connection.execute(text("ALTER TABLE hidden RENAME TO checkpoint"))
    return found


def advanced(where, method, people, deployments=1000, **options):
    """A study after some deployments."""
    settings = {"method": method, "batch": 9, "seed": 5, "max_answers": 130, **options}
    study = gp.live.create(where, problem(), **settings)
    while (questions := study.ask(limit=1000, holder="tester")) and deployments:
        for question in questions:
            study.tell(question.id, people(study, question))
        deployments -= 1
    study.close()
    return where


@pytest.mark.parametrize(
    ("method", "people"), [("ogda-rr", answer), ("auto", answer), ("auto", noisy)]
)
@pytest.mark.parametrize("deployments", [9, 1000])
def test_resuming_at_a_checkpoint_gives_the_bits_of_a_replay(
    method, people, deployments, new_database, progress_used
):
    where = advanced(new_database(), method, people, deployments)
    resumed = outcome(where)
    assert len(progress_used) == 2, "no checkpoint was used"  # by the study, and by the fold
    assert resumed == replayed(where)
    assert len(progress_used) == 2


@pytest.mark.parametrize("fault", ["cut", "flipped", "empty", "other version", "other study"])
def test_a_checkpoint_that_is_not_right_is_ignored(fault, tmp_path, monkeypatch, progress_used):
    where = advanced(str(tmp_path / "study.db"), "ogda-rr", answer)
    expected = outcome(where)
    with gp.live.open(where) as study:
        stored = study.ledger.checkpoint(study.id)
        if fault == "other study":
            other = advanced(str(tmp_path / "other.db"), "ogda-rr", answer, seed=6)
            with gp.live.open(other) as another:
                stored = another.ledger.checkpoint(another.id)
        middle = len(stored) // 2
        flipped = stored[:middle] + bytes([stored[middle] ^ 1]) + stored[middle + 1 :]
        faults = {"cut": stored[:middle], "flipped": flipped, "empty": b""}
        study.ledger.keep_checkpoint(study.id, faults.get(fault, stored))
    if fault == "other version":
        monkeypatch.setattr(checkpoint, "source_digest", lambda: "another version")
    progress_used.clear()
    assert outcome(where) == expected
    assert not progress_used


def test_a_changed_answer_is_replayed_and_noticed_despite_a_checkpoint(tmp_path, progress_used):
    where = advanced(str(tmp_path / "study.db"), "ogda-rr", answer)
    with gp.live.open(where) as study, study.ledger.engine.begin() as connection:
        body = study.ledger.answers(study.id, 2)[0].body
        changed = (np.frombuffer(body) + 1).tobytes()
        connection.execute(
            text("UPDATE answer SET body = :new WHERE body = :old"), {"new": changed, "old": body}
        )
    with gp.live.open(where) as study, pytest.raises(gp.live.LedgerError, match="does not follow"):
        study.recommend()
    assert not progress_used


def test_a_forged_checkpoint_is_not_believed(tmp_path, progress_used):
    """One whose digests are right, but which leads to another deployment than the stored one."""
    where = advanced(str(tmp_path / "study.db"), "ogda-rr", answer, deployments=9)
    expected = outcome(where)
    with gp.live.open(where) as study:
        specification = study.specification.to_json()
        found = checkpoint.from_bytes(study.ledger.checkpoint(study.id), specification)
        found.progress.state.memory.x[:] += 0.01
        study.ledger.keep_checkpoint(study.id, checkpoint.to_bytes(found, specification))
    progress_used.clear()
    assert outcome(where) == expected
    assert progress_used, "the checkpoint was not even tried"


def test_a_store_that_cannot_keep_a_checkpoint_loses_nothing(tmp_path):
    where = advanced(str(tmp_path / "study.db"), "ogda-rr", answer, deployments=3)
    with gp.live.open(where) as study:
        with study.ledger.engine.begin() as connection:
            connection.execute(text("DROP TABLE IF EXISTS checkpoint"))
            connection.execute(text("CREATE TABLE checkpoint (study_id INTEGER)"))
        for question in study.ask(limit=1000, holder="tester"):
            study.tell(question.id, answer(study, question))
        assert study.advance() == 1
        assert study.recommend().n_deployments == 4
