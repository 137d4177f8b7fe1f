"""A row that somebody changed behind the study's back is named."""

import shutil

import pytest
from sqlalchemy import create_engine, text

import gameproof as gp
from studies import answer, complete, problem

# A change by SQL, and the words that name the row. Question 1 is at deployment 0.
CHANGES = {
    "UPDATE study SET specification = specification || ' '": "specification",
    "UPDATE study SET fingerprint = 'other'": "specification",
    "UPDATE study SET created = created + 1": "specification",
    "UPDATE deployment SET theta = zeroblob(24) WHERE number = 1": "deployment 1 ",
    "UPDATE deployment SET theta_hash = 'x' WHERE number = 1": "deployment 1 ",
    "UPDATE deployment SET opened = opened - 1 WHERE number = 2": "deployment 2 ",
    "UPDATE closure SET closed = closed + 1 WHERE deployment_id = 1": "deployment 0 ",
    "DELETE FROM closure WHERE deployment_id = 1": "deployment 0 ",
    "UPDATE question SET agent = agent + 1 WHERE id = 1": "question 1 ",
    "UPDATE question SET position = 1000 WHERE id = 2": "question 2 ",
    "DELETE FROM question WHERE id = 3": "question 3 ",
    "UPDATE exposure SET holder = 'nobody' WHERE question_id = 1": "question 1 ",
    "UPDATE exposure SET shown = shown + 1 WHERE question_id = 2": "question 2 ",
    "DELETE FROM exposure WHERE question_id = 3": "question 3 ",
    "INSERT INTO exposure (question_id, holder, shown) VALUES (4, 'other', 0.0)": "question 4 ",
    "UPDATE answer SET body = zeroblob(24) WHERE id = 1": "answer 1 ",
    "UPDATE answer SET body_hash = 'x' WHERE id = 1": "answer 1 ",
    "UPDATE answer SET key = 'other' WHERE id = 2": "answer 2 ",
    "UPDATE answer SET told = told + 1 WHERE id = 2": "answer 2 ",
    "UPDATE answer SET status = 'late' WHERE id = 3": "answer 3 ",
    "UPDATE answer SET status = 'withdrawn' WHERE id = 3": "answer 3 ",
    "UPDATE answer SET status = 'conflict' WHERE status = 'late'": "it is conflict",
    "UPDATE answer SET status = 'conflict' WHERE status = 'withdrawn'": "it is conflict",
    "DELETE FROM answer WHERE id = 4": "answer 4 is missing",
    "INSERT INTO answer (study_id, question_id, key, body, body_hash, status, told) "
    "SELECT 1, 1, 'new', body, body_hash, 'conflict', told FROM answer WHERE id = 1": "was added",
    "UPDATE event SET body = '{}' WHERE number = 3": "event 3 ",
    "UPDATE event SET kind = 'other' WHERE number = 3": "event 3 ",
    "UPDATE event SET at = at + 1 WHERE number = 4": "event 4 ",
    "UPDATE event SET hash = 'x' WHERE number = 4": "event 4 ",
    "DELETE FROM event WHERE number = 2": "event 3 ",
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The file of a finished study with every kind of answer."""
    path = tmp_path_factory.mktemp("verify") / "study.db"
    settings = {"method": "ogda-rr", "batch": 8, "seed": 3, "max_answers": 30}
    with gp.live.create(path, problem(), **settings) as study:
        questions = study.ask(limit=100, holder="tester")
        told = study.tell(questions[-1].id, answer(study, questions[-1]), key="first")
        study.tell(questions[-1].id, answer(study, questions[-1]), key="second")
        study.withdraw(told.answer_id, "asked to")
        complete(study)
        study.tell(questions[0].id, answer(study, questions[0]), key="late")
        assert study.verify() == []
        status = study.status()
        assert (status.n_late, status.n_conflicts, status.n_withdrawn) == (1, 1, 1)
    return path


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_row_of_any_table_is_named(finished, tmp_path, change) -> None:
    path = tmp_path / "study.db"
    shutil.copy(finished, path)
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        assert connection.execute(text(change)).rowcount == 1
    engine.dispose()
    with gp.live.open(path) as study:
        assert any(CHANGES[change] in sentence for sentence in study.verify())


def test_a_changed_answer_of_an_open_deployment_is_named(tmp_path) -> None:
    with gp.live.create(tmp_path / "study.db", problem(), method="ogda-rr", batch=8) as study:
        [question] = study.ask(holder="tester")
        told = study.tell(question.id, answer(study, question))
        with study.ledger.engine.begin() as connection:
            connection.execute(text("UPDATE answer SET body = zeroblob(24)"))
        assert study.verify() == [f"answer {told.answer_id} was changed"]
