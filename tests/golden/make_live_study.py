"""Makes the frozen study of tests/live/test_frozen.py, as SQL text.

    PYTHONPATH=tests .venv/bin/python tests/golden/make_live_study.py

Run it once for every schema version, and keep the files of earlier versions: later versions of
gameproof must open and continue them.
"""

import sqlite3
import tempfile
from pathlib import Path

import gameproof as gp
from gameproof.live.schema import SCHEMA_VERSION
from studies import answer, problem

FOLDER = Path(__file__).parent
SETTINGS = {"method": "ogda-rr", "batch": 4, "seed": 3, "max_answers": 24, "max_per_person": 5}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "study.db"
        with gp.live.create(path, problem(n=20), name="frozen", **SETTINGS) as study:
            questions = study.ask(limit=100, holder="tester")
            told = [study.tell(q.id, answer(study, q), key=f"q{q.id}") for q in questions]
            study.tell(questions[0].id, answer(study, questions[0]) + 1, key="again")
            study.withdraw(told[-1].answer_id, "asked to")
            study.tell(questions[-1].id, answer(study, questions[-1]), key="corrected")
            assert study.advance() == 1
            study.tell(questions[0].id, answer(study, questions[0]), key="late")
            [first, *_] = study.ask(limit=1, holder="tester")
            study.tell(first.id, answer(study, first), key=f"q{first.id}")
        with sqlite3.connect(path) as connection:
            text = "\n".join(connection.iterdump())
    (FOLDER / f"live_study_{SCHEMA_VERSION}.sql").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
