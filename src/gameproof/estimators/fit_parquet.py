"""`fit_parquet`: a fit to Parquet files that need not fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gameproof.estimators.row_fit import Model, fit_blocks
from gameproof.rows.parquet_source import ParquetSource


def fit_parquet(
    model: Model,
    files: str | Path | Sequence[str | Path],
    target: str,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
) -> Model:
    """Fits a classifier to Parquet files, a batch of rows at a time.

    The fit is that of the same rows in memory, with the same certificate. Only a sample, and the
    rows that decide the solution, are held in memory. The files are read about twenty times.

    Parameters
    ----------
    model : RobustStrategicClassifier or StrategicLogisticRegression
        The classifier to fit. Its response must be known and the same for all rows, and `prepare`
        must be None, `Prepare`, or a fitted transformer in scikit-learn's `FrozenEstimator`.
    files : str, Path or list
        A file, a directory, a pattern such as ``"loans-*.parquet"``, or a list of them.
    target : str
        The column of labels.
    columns : sequence of str, optional
        The features, which must be numbers; by default all other columns.
    weight : str, optional
        The column of sample weights.

    Returns
    -------
    RobustStrategicClassifier or StrategicLogisticRegression
        The fitted model itself. Its ``result_.y`` is empty.

    Raises
    ------
    DataError
        If a file cannot be read, has other columns, or holds a missing number or label; the message
        names the file.

    Examples
    --------
    >>> import os, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = pa.table({"a": X[:, 0], "b": X[:, 1], "repaid": y})
    >>> pq.write_table(table, os.path.join(folder.name, "part-0.parquet"))
    >>> model = gp.RobustStrategicClassifier(radius=0.01, budgets={"a": (0, 0.5)})
    >>> model = gp.fit_parquet(model, folder.name, target="repaid")
    >>> model.training_["rows"], model.result_.duality_gap < 1e-8
    (300, True)
    >>> folder.cleanup()
    """
    source = ParquetSource(files, target, columns, weight)
    return fit_blocks(model, source, len(source.columns), source.columns)
