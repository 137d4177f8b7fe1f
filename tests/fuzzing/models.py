"""Model files: those of gameproof, and linear models of scikit-learn."""

import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import skops.io
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import gameproof as gp
from fuzzing.damage import ZIPS, archive_of, bomb, forged_array, forged_json, members
from fuzzing.file_format import BOMBS, MEANING, Damaged, Format, people_table, written
from gameproof.estimators.model_io import model_files
from gameproof.tables.load_model import load_model_in_use
from gameproof.tables.write_table import table_bytes


class Models(Format):
    """Models of gameproof: JSON with a digest."""

    def sound(self, folder: Path) -> list[bytes]:
        X, y = gp.synthetic_people(n=60, d=3, seed=1)
        self._X = X
        table = written(folder, "people.csv", table_bytes(Path("people.csv"), people_table()))
        self._table = {name: values[:20] for name, values in people_table().items()}
        models = [
            gp.RobustStrategicClassifier(radius=0.1).fit(X, np.where(y > 0, "good", "bad")),
            gp.RobustStrategicClassifier(
                radius=0.1, budgets={0: (0, 0.5), 1: (-0.2, 0.1)}, favourable=1
            ).fit(X, y),
            gp.StrategicLogisticRegression(response=gp.QuadraticCost(0.1)).fit(X, y),
            gp.fit_table(table, **MEANING, budgets={"savings": (0, 300)}, radius=0.1).model,
        ]
        found = []
        for model in models:
            model.save(folder / "model.json")
            found.append((folder / "model.json").read_bytes())
        return found

    def damaged(self, rng: random.Random) -> Damaged:
        if rng.random() < 0.4:
            return self._by_bytes(rng)
        original, data = self._chosen(rng)
        content = json.loads(data)
        del content["digest"]
        for _ in range(rng.choice((1, 1, 2))):
            content = forged_json(rng, content)
        content = json.loads(json.dumps(content))
        content["digest"] = model_files.content_digest(content)
        return Damaged(json.dumps(content).encode(), original, "forged values", forged=True)

    def content(self, data: bytes, original: int, folder: Path) -> Any:
        model = gp.load_model(written(folder, "model.json", data))
        on_table = type(model).__name__ == "TableModel"
        model.predict(self._table if on_table else self._X)
        model.save(folder / "again.json")
        repr(model)
        return json.loads((folder / "again.json").read_bytes())


class Skops(Format):
    """Linear models of scikit-learn: archives with checksums, but without a digest."""

    def sound(self, folder: Path) -> list[bytes]:
        X, y = gp.synthetic_people(n=60, d=3, seed=1)
        models = [
            LogisticRegression().fit(X, np.where(y > 0, "good", "bad")),
            make_pipeline(StandardScaler(), LinearSVC()).fit(X, y),
            make_pipeline(StandardScaler(), SGDClassifier(random_state=0)).fit(X, y),
        ]
        return [skops.io.dumps(model) for model in models]

    def damaged(self, rng: random.Random) -> Damaged:
        chance = rng.random()
        if chance < 0.35:
            return self._by_bytes(rng)
        original, data = self._chosen(rng)
        if chance < 0.35 + BOMBS:
            return Damaged(bomb(rng, data), original, "bomb")
        if chance < 0.5:
            damage = rng.choice(ZIPS)
            return Damaged(damage(rng, data), original, damage.__name__, forged=True)
        parts = members(data)
        if chance < 0.75:
            schema = json.loads(parts["schema.json"])
            parts["schema.json"] = json.dumps(forged_json(rng, schema)).encode()
        else:
            name = rng.choice([name for name in parts if name.endswith(".npy")])
            buffer = io.BytesIO()
            np.save(buffer, forged_array(rng, np.load(io.BytesIO(parts[name]))))
            parts[name] = buffer.getvalue()
        return Damaged(archive_of(parts), original, "forged values", forged=True)

    def content(self, data: bytes, original: int, folder: Path) -> Any:
        found = load_model_in_use(written(folder, "model.skops", data)).model
        coef, offset = found.towards(found.classes[1])
        assert coef.shape == (coef.size,)
        assert coef.dtype == np.float64
        assert np.isfinite([*coef, offset]).all(), "not finite"
        return found.kind, coef.tobytes(), offset, found.classes, found.names
