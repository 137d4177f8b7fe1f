"""Files of runs: states and journals."""

import io
import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

import gameproof as gp
from fuzzing.damage import ODD_VALUES, ZIPS, bomb, forged_array, forged_json, members
from fuzzing.file_format import BOMBS, Damaged, Format, written
from gameproof.minmax import state_files
from tallied import X, Y


class States(Format):
    """States of runs: arrays and a header with a digest, resumed by compiled code."""

    def sound(self, folder: Path) -> list[bytes]:
        X, y = gp.synthetic_people(n=12, d=3, seed=1)
        people = gp.Population(X, y, gp.QuadraticCost(0.1))
        strategic = gp.StrategicProblem(people, radius=0.1, label_cost=0.5)
        game = gp.QuadraticGame.random(n=12, dx=3, dy=2, seed=1)
        short: dict[str, Any] = {"step": gp.Power(0.02, 0.5), "radius": 0.5}
        self._runs = [
            (game, gp.ogda_rr(**short, batch=5), 0, {"epochs": 2}),
            (game, gp.sgda_wr(**short, average=gp.Suffix()), 0, {"epochs": 2}),
            (game, gp.ogda_rr(gradient=gp.Coordinates(), **short), 0, {"queries": 21}),
            (strategic, gp.ogda_rr(gradient=gp.TwoPoint(), **short, batch=4), 1, {"queries": 13}),
            (strategic, gp.ogda_rr(gradient=gp.Envelope(), **short), 1, {"epochs": 1}),
        ]
        kinds = (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64)
        found = []
        for k, (problem, solver, seed, limits) in enumerate(self._runs):
            rng = np.random.Generator(kinds[k % len(kinds)](seed))
            state = gp.solve(problem, solver, seed=rng, **limits).state
            state.save(folder / "run.state")
            found.append((folder / "run.state").read_bytes())
        return found

    def damaged(self, rng: random.Random) -> Damaged:
        chance = rng.random()
        if chance < 0.3:
            return self._by_bytes(rng, *ZIPS)
        original, data = self._chosen(rng)
        if chance < 0.3 + BOMBS:
            return Damaged(bomb(rng, data), original, "bomb")
        parts = members(data)
        arrays = {name.removesuffix(".npy"): np.load(io.BytesIO(parts[name])) for name in parts}
        header = json.loads(arrays.pop("header").tobytes())
        del header["digest"]
        for _ in range(rng.choice((1, 1, 2))):
            if rng.random() < 0.3:
                header = json.loads(json.dumps(forged_json(rng, header)))
            else:
                name = rng.choice((*arrays, *["counts"] * 8, *["order", "samples", "numbers"] * 2))
                arrays[name] = forged_array(rng, arrays[name])
        header["digest"] = state_files.content_digest(header, arrays)
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return Damaged(buffer.getvalue(), original, "forged values", forged=True)

    def content(self, data: bytes, original: int, folder: Path) -> Any:
        state = gp.State.load(written(folder, "run.state", data))
        problem, solver, _, _ = self._runs[original]
        state.save(folder / "again.state")
        again = members((folder / "again.state").read_bytes())
        result = gp.solve(problem, solver, resume=state, epochs=4)
        end = [part.tobytes() for part in (result.x, result.y, result.last_x, result.last_y)]
        return again, end


class Journals(Format):
    """Journals: SQLite databases, whose questions are asked again in the same order."""

    def sound(self, folder: Path) -> list[bytes]:
        path = folder / "answers.db"
        found = []
        for number in (1, 4):
            path.unlink(missing_ok=True)
            self._replay(path, number, moved)
            found.append(path.read_bytes())
        return found

    @staticmethod
    def _replay(path: Path, number: int, people: Any) -> Any:
        """Asks all questions; the population is closed when the function returns."""
        population = gp.Population(X, Y, gp.BlackBox(people), budget=500, journal=path)
        rng = np.random.default_rng(number)
        answers = []
        for _ in range(6 * number):
            theta = rng.integers(-2, 3, 2) / 2
            answers.append(population.ask(theta, rng.choice([1, 2, 4, 5], 3)).tobytes())
        return answers, population.n_answers, population.answers_by_agent.tolist()

    def damaged(self, rng: random.Random) -> Damaged:
        if rng.random() < 0.5:
            return self._by_bytes(rng)
        original, data = self._chosen(rng)
        return Damaged(edited(rng, data), original, "edited rows")

    def content(self, data: bytes, original: int, folder: Path) -> Any:
        for path in folder.glob("answers.db*"):
            path.unlink()
        path = written(folder, "answers.db", data)
        return self._replay(path, (1, 4)[original], strangers)


def moved(theta: Any, agents: Any) -> Any:
    """What the people in the journal answer."""
    return X[agents] + 0.3 * theta


def strangers(theta: Any, agents: Any) -> Any:
    """Answers that are not in the journal: whoever gets them has asked again."""
    return X[agents] + 1000.0


COLUMNS = {
    "study": ("id", "fingerprint", "n_people", "n_features", "sees", "n_counted", "n_other"),
    "deployment": ("id", "study", "theta", "hash"),
    "question": ("id", "deployment", "person", "occurrence"),
    "answer": ("id", "question", "status", "body", "digest"),
}


def edited(rng: random.Random, data: bytes) -> bytes:
    """A database in which a program has changed something."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with closing(connection):
        # A database in memory has no write-ahead log; the two bytes say whether a file has one.
        connection.deserialize(data[:18] + b"\x01\x01" + data[20:])
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        done = 0
        while not done:
            statement, *values = rng.choice((_updated, _updated, _updated, _removed, _schema))(rng)
            try:
                done = abs(connection.execute(statement, values).rowcount)
            except (sqlite3.IntegrityError, OverflowError):
                continue
        found = connection.serialize()
        return found[:18] + data[18:20] + found[20:]


def _updated(rng: random.Random) -> tuple[Any, ...]:
    """One cell with another value."""
    table = rng.choice(list(COLUMNS))
    column = rng.choice(COLUMNS[table])
    plain = [odd for odd in ODD_VALUES if not isinstance(odd, (list, dict))]
    odd = rng.choice(
        (*plain, *range(-3, 12), b"", bytes(16), "unusable", "told", rng.randbytes(16))
    )
    change = "?"
    if rng.random() < 0.3:
        change = f"(SELECT {column} FROM {table} WHERE id <> ? ORDER BY random() LIMIT 1)"
    where = f"id = (SELECT id FROM {table} LIMIT 1 OFFSET {rng.randrange(12)})"
    return f"UPDATE {table} SET {column} = {change} WHERE {where} AND {column} IS NOT ?", odd, odd


def _removed(rng: random.Random) -> tuple[Any, ...]:
    """Missing rows."""
    table = rng.choice(list(COLUMNS))
    rows = rng.choice(("", f" WHERE id = {rng.randrange(1, 9)}", f" WHERE id > {rng.randrange(9)}"))
    return (f"DELETE FROM {table}{rows}",)


def _schema(rng: random.Random) -> tuple[Any, ...]:
    """Other tables or marks."""
    table = rng.choice(list(COLUMNS))
    column = rng.choice(COLUMNS[table])
    return (
        rng.choice(
            (
                f"DROP TABLE {table}",
                "DROP TABLE lease",
                f"ALTER TABLE {table} RENAME TO other",
                f"ALTER TABLE {table} RENAME COLUMN {column} TO other",
                "DROP INDEX counted_answer",
                f"PRAGMA user_version = {rng.choice((0, 2, 99, -1))}",
                f"PRAGMA application_id = {rng.choice((0, 1, -1))}",
                f"CREATE TRIGGER t AFTER INSERT ON {table} BEGIN DELETE FROM answer; END",
                f"INSERT INTO lease VALUES ({rng.randrange(9)}, 'nobody', '')",
                "INSERT INTO lease VALUES (1, '../../x', '')",
                "INSERT INTO lease VALUES (2, x'00ff', '')",
                "INSERT INTO lease VALUES (3, char(0), '')",
            )
        ),
    )
