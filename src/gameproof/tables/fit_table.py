"""`fit_table`: from a table to a robust classifier, compared with two baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from gameproof.core.progress import step
from gameproof.estimators.measures import MeasureName
from gameproof.tables.column_budgets import StatedBudgets
from gameproof.tables.date_columns import StatedDates
from gameproof.tables.defaults import LABEL_COST, POWER, TEST_SHARE
from gameproof.tables.engines import EngineName
from gameproof.tables.fit_settings import FitSettings, checked_radius
from gameproof.tables.meaning import Meaning
from gameproof.tables.open_training import open_training
from gameproof.tables.table_fit import TableFit
from gameproof.tables.three_classifiers import fit_classifiers


def fit_table(
    table: Any,
    *,
    target: str,
    favourable: Any = None,
    budgets: StatedBudgets,
    radius: float | Literal["auto"] = "auto",
    label_cost: float = LABEL_COST,
    power: float = POWER,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    rest: bool = False,
    unfavourable: Sequence[Any] = (),
    ignore: Sequence[Any] = (),
    dates: StatedDates = (),
    balanced: bool | None = None,
    test_share: float = TEST_SHARE,
    split_by: str | None = None,
    test_after: Any = None,
    seed: int = 0,
    measure: MeasureName | None = None,
    cost_accept_bad: float = 1.0,
    cost_refuse_good: float = 1.0,
    threshold: float | None = None,
    approve: float | None = None,
    train_for: float | Literal["auto"] = 1.0,
    groups: str | None = None,
    engine: EngineName | None = None,
    scheduler: str | None = None,
    progress: bool | None = None,
) -> TableFit:
    """Fit a robust classifier to a table and compare it with two baselines on held-out rows.

    This is what ``gameproof fit`` does. The baselines are plain and strategic logistic regression,
    fitted to the same rows.

    Parameters
    ----------
    table : path, data frame or mapping
        A file (CSV, TSV or Parquet, compressed or not), a directory of such files, a pattern such
        as ``"loans/*.parquet"``, a table of pandas, polars or pyarrow, or a mapping from column
        names to values. Directories, patterns and Parquet files that are too large to be read whole
        are processed in batches. Needs ``pip install 'gameproof[tables]'``.
    target : str
        The column that holds the outcome.
    favourable : str, number or bool
        The value of the target that people want. It gets the label +1.
    budgets : mapping or sequence of str
        What people can change, in the table's own units: a range of changes for a number, the
        levels that can be claimed for a category, or None for half a standard deviation or every
        level. A list of names means None for each; an empty one means no gaming.
    radius : float or "auto", default "auto"
        How inaccurate the data may be, in standard deviations. "auto" chooses the largest radius
        that cross-validation cannot tell from the best one by the measure.
    label_cost : float, default 0.5
        The adversary's price for flipping a favourable label; infinite if labels are reliable.
    power : float, default 0.05
        How far people move for a higher score, for the strategic baseline and the secondary
        numbers.
    drop, categories : sequence of str
        Columns to leave out, and numeric columns that hold codes.
    rest : bool, default False
        Treat all values of the target other than the favourable one as one outcome.
    unfavourable, ignore : sequence
        Values of the target that are bad outcomes, and values whose rows are left out. Needed if
        the target has more than two values.
    dates : sequence of str or mapping
        Columns of dates to use as days since 2000-01-01; other dates are left out. A mapping gives
        their formats, such as ``{"applied": "%d/%m/%Y"}``, None to detect them.
    balanced : bool, optional
        Whether both outcomes count the same in the fit, by class weights. By default they do if
        one of them is rare and the measure does not depend on how rare it is. Probabilities always
        fit the base rate.
    test_share : float, default 0.2
        The share of rows held out for testing.
    split_by, test_after : optional
        An out-of-time test instead: rows whose value in the column `split_by` is larger than
        `test_after` are held out.
    seed : int, default 0
        Seed of the split and of cross-validation.
    measure : {"accuracy", "balanced", "auc", "ks", "cost"}, optional
        The measure by which settings are chosen and models are judged. By default "auc" if an
        outcome has less than 30 % of the rows, else "accuracy".
    cost_accept_bad, cost_refuse_good : float, default 1
        What a wrong decision costs, in any unit. With the measure "cost", the fit minimises it.
    threshold : float, optional
        Approve people whose probability of the favourable outcome is larger. By default each model
        has its own threshold, which follows from the class weights and from gaming.
    approve : float, optional
        Instead of a threshold, the share of the training rows to approve.
    train_for : float or "auto", default 1.0
        The multiple of the budgets that the robust model is trained for. "auto" chooses the
        smallest one that cross-validation cannot tell from the best one by the measure.
    groups : str, optional
        A column of the table; everything is then also reported by its values.
    engine : {"dask"}, optional
        Work on a Dask cluster. Its workers must be able to read the files.
    scheduler : str, optional
        The address of a Dask scheduler, such as ``"tcp://host:8786"``. By default Dask's default
        client, or else a cluster on this machine.
    progress : bool, optional
        Report long steps on stderr. By default only on a terminal.

    Returns
    -------
    TableFit
        The models, their evaluation, the radius and its curve, notes, and methods to save the
        model and to write a page. Printed, it is a summary.

    Raises
    ------
    DataError
        If the table cannot be read or used: the message names the column and the row.
    ValueError
        If a setting is out of range, or a budget does not fit its column.
    ClusterError
        If the cluster cannot be reached, or is lost.

    Examples
    --------
    >>> import gameproof as gp, tempfile
    >>> from gameproof.tables.made_up_people import made_up_people
    >>> people = made_up_people(600)
    >>> budgets = {"savings": (0, 5000), "utilisation": (-0.2, 0), "job": ["retired"]}
    >>> fit = gp.fit_table(
    ...     people, target="repaid", favourable="yes", budgets=budgets, radius=0.05
    ... )
    >>> fit.accuracy["robust"]["gamed"] > fit.accuracy["logistic"]["gamed"]
    True
    >>> fit.model.predict(people).shape
    (600,)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit.save(f"{folder}/model.json")
    ...     fit.write_page(f"{folder}/page.html")
    ...     again = gp.load_model(f"{folder}/model.json")
    >>> bool((again.predict(people) == fit.model.predict(people)).all())
    True
    """
    settings = FitSettings(
        label_cost,
        power,
        test_share,
        seed,
        cost_accept_bad,
        cost_refuse_good,
        measure,
        balanced,
        threshold,
        approve,
        train_for,
    ).checked()
    chosen = checked_radius(radius)
    meaning = Meaning(
        target,
        favourable,
        budgets,
        drop,
        categories,
        rest,
        unfavourable,
        ignore,
        dates,
        groups,
        split_by,
        test_after,
    )
    with open_training(table, meaning, engine, scheduler, progress) as training:
        classifiers = fit_classifiers(
            training, settings, seed=settings.seed, radius=chosen, progress=progress
        )
        split = classifiers.split
        with step(f"testing on {split.n_test:,} rows", progress, split.progress):
            return TableFit(training, classifiers, classifiers.audit)
