"""Made-up people in many files, and the fit to them in memory with the same test rows."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from gameproof.rows.row_draws import held_out
from gameproof.tables.fit_settings import FitSettings
from gameproof.tables.made_up_people import made_up_people
from gameproof.tables.meaning import Meaning
from gameproof.tables.table import as_table
from gameproof.tables.table_fit import TableFit
from gameproof.tables.three_classifiers import fit_classifiers
from gameproof.tables.training_table import training_table

BUDGETS = {"savings": (0, 5000), "utilisation": (-0.2, 0), "job": ["retired"]}
MEANING: dict[str, Any] = {"target": "repaid", "favourable": "yes", "budgets": BUDGETS}


def frame(n: int = 2500, seed: int = 0) -> pd.DataFrame:
    """Made-up people."""
    return pd.DataFrame(dict(made_up_people(n, seed=seed)))


def write_parts(folder: Path, people: pd.DataFrame, ends: Sequence[int]) -> Path:
    """Writes rows up to each end to a Parquet file of their own."""
    folder.mkdir(exist_ok=True)
    for k, (start, end) in enumerate(zip([0, *ends], [*ends, len(people)], strict=True)):
        table = pa.Table.from_pandas(people.iloc[start:end], preserve_index=False)
        pq.write_table(table, folder / f"part-{k}.parquet", row_group_size=400)
    return folder


def fit_in_memory(people: pd.DataFrame, **settings: Any) -> TableFit:
    """The fit to a table in memory whose test rows are those of a table in files."""
    training = training_table(as_table(people), Meaning(**MEANING))
    test = held_out(np.arange(len(people)), 0.2, seed=0)
    training = replace(training, later=test)
    found = fit_classifiers(
        training, FitSettings(**settings).checked(), seed=0, radius=0.05, progress=False
    )
    return TableFit(training, found, found.audit)


def require_same_fit(found: TableFit, expected: TableFit) -> None:
    """Holds two fits to the same numbers, up to rounding."""
    for name, model in found.models.items():
        other = expected.models[name]
        assert model.names == other.names
        # The indicators of all levels add up to the intercept, so only scores are unique.
        scores = [each.decision_function(expected.training.table) for each in (model, other)]
        np.testing.assert_allclose(*scores, rtol=0, atol=1e-10)
        np.testing.assert_allclose(model.calibration, other.calibration, rtol=1e-8, atol=1e-10)
    assert found.verdict == expected.verdict
    assert found.audit.confusions == expected.audit.confusions
    pairs = zip(found.audit.metrics, expected.audit.metrics, strict=True)
    for one, two in pairs:
        assert (one.model, one.metric, one.multiple) == (two.model, two.metric, two.multiple)
        assert abs(one.value - two.value) < 1e-8
