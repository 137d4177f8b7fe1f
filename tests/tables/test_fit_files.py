"""``fit_table`` on directories: the fit in memory, whatever the files and wherever the rows are."""

import logging
import os
import signal
from dataclasses import astuple
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster

import gameproof as gp
from clusters import FREE_PORTS
from gameproof.auditing import score_bins
from gameproof.auditing.ranking import Ranking
from gameproof.cli.main import main
from gameproof.core import size_limits
from gameproof.core.errors import ClusterError, DataError
from gameproof.rows.dask_source import DaskSource
from gameproof.strategic import row_problem
from gameproof.tables import block_split, file_parts, plan_files, table_files, training_files
from gameproof.tables.engines import open_engine
from split_files import MEANING, fit_in_memory, frame, require_same_fit, write_parts

pytestmark = pytest.mark.filterwarnings("ignore::Warning:(dask|distributed|tornado|asyncio).*")
ENDS: dict[int, list[int]] = {1: [], 2: [900], 7: [1, 300, 300, 800, 1700, 2499]}


@pytest.fixture(autouse=True)
def _nothing_is_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_problem, "SMALL", 0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    where = tmp_path_factory.mktemp("parts")
    return {n: write_parts(where / str(n), frame(), ends) for n, ends in ENDS.items()}


@pytest.fixture(scope="module")
def expected() -> gp.TableFit:
    return fit_in_memory(frame())


def fit(folder: Path | str, **options: Any) -> gp.TableFit:
    return gp.fit_table(folder, **MEANING, radius=0.05, progress=False, **options)


def coefficients(found: gp.TableFit) -> bytes:
    return b"".join(model.coef_.tobytes() for model in found.models.values())


@pytest.mark.parametrize(("number", "files"), [(1, ""), (2, ""), (7, "*.parquet")])
def test_any_number_of_files_gives_the_fit_in_memory(number, files, folders, expected) -> None:
    require_same_fit(fit(str(folders[number] / files)), expected)


def test_memory_batches_and_a_cluster_give_the_same_bits(
    folders, expected, cluster_client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_parts, "BLOCK", 400)
    held = fit(folders[1])
    on_cluster = fit(folders[1], engine="dask")
    monkeypatch.setattr(size_limits, "DEFAULT", 100_000)
    in_batches = fit(folders[1] / "part-0.parquet")
    assert "read in batches: its 220kB are more than 100kB" in "\n".join(in_batches.lines())
    for other in (on_cluster, in_batches):
        assert coefficients(other) == coefficients(held)
        assert other.audit.metrics == held.audit.metrics
        assert other.training.fingerprint == held.training.fingerprint
    require_same_fit(in_batches, expected)


def test_metrics_of_all_rows_replace_those_of_a_sample(
    folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: Any = {"groups": "home", "measure": "auc", "approve": 0.6}
    whole = fit(folders[2], **options)
    monkeypatch.setattr(block_split, "SAMPLE", 250)
    found = fit(folders[2], **options)
    assert len(found.classifiers.split.test) < 300 < found.classifiers.split.n_test
    assert "come from all 5" in found.notes[1]
    assert coefficients(found) == coefficients(whole)
    assert found.classifiers.cuts == whole.classifiers.cuts
    assert found.audit.confusions == whole.audit.confusions
    assert found.audit.differences == whole.audit.differences
    # Scores are in bins of 1 / 250 of the people; KS has another interval.
    for rows, loose in (("metrics", 8e-3), ("metric_differences", 8e-3), ("gaming", 4e-3)):
        for one, two in zip(getattr(found.audit, rows), getattr(whole.audit, rows), strict=True):
            exact = getattr(one, "metric", "auc") not in ("auc", "gini", "ks")
            for a, b in zip(astuple(one)[:-1], astuple(two)[:-1], strict=True):
                if isinstance(a, float) and getattr(one, "metric", "") != "ks":
                    assert a == pytest.approx(b, abs=1e-9 if exact else loose)
    for one, two in zip(found.audit.thresholds, whole.audit.thresholds, strict=True):
        assert one.approved == pytest.approx(two.approved, abs=4e-3)
        assert one.gamed_bad_approved == pytest.approx(two.gamed_bad_approved, abs=0.03)
    for one, two in zip(found.audit.quality, whole.audit.quality, strict=True):
        assert (one.n, one.n_positive, one.accuracy) == (two.n, two.n_positive, two.accuracy)
    assert found.classifiers.audit_with_curves.metrics == found.audit.metrics


def test_later_folders_are_held_out(tmp_path: Path) -> None:
    for year in (2021, 2022, 2023):
        (tmp_path / f"year={year}").mkdir()
        frame(500, seed=year).to_parquet(tmp_path / f"year={year}" / "part-0.parquet")
    found = fit(tmp_path, split_by="year", test_after=2022)
    assert (found.classifiers.split.n_train, found.classifiers.split.n_test) == (1000, 500)
    assert "year" not in found.model.plan.features.names
    assert "year" in fit(tmp_path).model.plan.features.names
    with pytest.raises(DataError, match=r"all rows of .* have year up to '2030'"):
        fit(tmp_path, split_by="year", test_after=2030)


def test_columns_are_planned_on_a_sample_and_levels_are_counted_in_all_rows(
    folders, expected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "SAMPLE", 700)
    monkeypatch.setattr(training_files, "SAMPLE", 100_000)
    found = fit(folders[7])
    assert found.training.table.n < 750
    assert "column types were found from" in "\n".join(found.lines())
    require_same_fit(found, expected)


def test_columns_that_do_not_vary_in_the_sample_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = frame()
    people["late"] = np.nan
    people.loc[2000:2100, "late"] = np.arange(101.0)
    people["kind"] = None
    people.loc[600:640, "kind"] = np.resize(["a", "b"], 41)
    people["flag"] = np.where(people.index // 30 == 77, 2, 1)
    folder = write_parts(tmp_path / "rare", people, ENDS[7])
    for module in (table_files, plan_files):
        monkeypatch.setattr(module, "SAMPLE", 700)
    found, expected = fit(folder), fit_in_memory(people)
    assert {"late", "kind", "flag"} <= {*found.model.plan.features.names}
    assert found.training.table.n < 800
    require_same_fit(found, expected)


def test_uneven_files_give_the_fit_in_memory(tmp_path: Path) -> None:
    people = frame()
    first = (people["repaid"] == "yes") & (people.index < 900)  # a file of one class
    people = people.loc[np.argsort(~first, kind="stable")].reset_index(drop=True)
    people["savings"] = people["savings"].astype(float)
    people.loc[2300:, "savings"] = np.nan
    people.loc[2400:, "job"] = "astronaut"
    folder = write_parts(tmp_path / "uneven", people, [500, 500, 2300])  # an empty file
    people.loc[:, "age"] = people["age"].astype(float)
    people.iloc[2300:].to_parquet(folder / "part-3.parquet")  # another type
    require_same_fit(fit(folder), fit_in_memory(people))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.drop(columns="age"), "part-1.parquet has no column 'age', which .*part-0"),
        (lambda p: p.assign(more=1), "part-1.parquet has a column 'more', which .*part-0.* lacks"),
        (
            lambda p: p.assign(age=p["age"].astype(str).where(p.index != 2490, "old")),
            "part-1.parquet, row 1591: the column 'age' has 'old'",
        ),
        (
            lambda p: p.assign(repaid=p["repaid"].where(p.index != 2490, "pending")),
            "has 3 values .*; there is 'pending' only in .*part-1.parquet",
        ),
    ],
    ids=["fewer columns", "more columns", "other type", "third outcome"],
)
@pytest.mark.parametrize("engine", [None, "dask"])
def test_a_file_that_does_not_fit_is_named(
    change, message, engine, tmp_path: Path, cluster_client
) -> None:
    people = frame()
    folder = write_parts(tmp_path / "odd", people, [900])
    change(people.iloc[900:]).to_parquet(folder / "part-1.parquet", index=False)
    with pytest.raises(DataError, match=message):
        fit(folder, engine=engine)


def test_a_column_of_numbers_in_one_file_and_text_in_another_is_noted(tmp_path: Path) -> None:
    people = frame(900)
    folder = write_parts(tmp_path / "odd", people, [400])
    text = "aged " + (people["age"] // 30).astype(str)
    people.iloc[400:].assign(age=text).to_parquet(folder / "part-1.parquet", index=False)
    (note,) = [note for note in fit(folder).training.table.notes if "'age'" in note]
    one, other = (folder / f"part-{k}.parquet" for k in range(2))
    assert note == f"'age' holds numbers in {one} and text in {other}"


def test_text_that_only_a_later_row_has_is_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "SAMPLE", 200)
    people = frame()
    people["age"] = people["age"].astype(str).where(people.index != 2490, "old")
    folder = write_parts(tmp_path / "late", people, [900])
    with pytest.raises(DataError, match=r"part-1.parquet: the column 'age' has 'old' in row 1591"):
        fit(folder)


def test_a_killed_worker_does_not_change_a_bit(
    folders, process_cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = fit(folders[2])
    passes, killed, whole = [], [], DaskSource.map
    process_cluster.wait_for_workers(2)

    def killing(self: Any, *given: Any, **more: Any) -> Any:
        passes.append(given)
        if len(passes) == 9:
            killed.append(next(iter(process_cluster.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)
        return whole(self, *given, **more)

    monkeypatch.setattr(DaskSource, "map", killing)
    found = fit(folders[2], scheduler=process_cluster.scheduler.address)
    assert killed
    assert coefficients(found) == coefficients(expected)
    assert found.audit.metrics == expected.audit.metrics


def test_a_lost_scheduler_is_one_clear_line_and_writes_nothing(
    folders, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes, whole = [], DaskSource.map
    cluster = LocalCluster(
        processes=False, protocol="tcp", port=0, n_workers=1, threads_per_worker=1, **FREE_PORTS
    )
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), cluster:

        def losing(self: Any, *given: Any, **more: Any) -> Any:
            passes.append(given)
            if len(passes) == 5:
                cluster.close()
            return whole(self, *given, **more)

        monkeypatch.setattr(DaskSource, "map", losing)
        meaning = ["--target", "repaid", "--favourable", "yes", "--movable", "savings:0..5000"]
        out = ["-o", str(tmp_path / "m.json"), "--report", str(tmp_path / "p.html")]
        address = cluster.scheduler_address
        given = [str(folders[2]), *meaning, *out, "--radius", "0.05", "--scheduler", address]
        assert main(["fit", *given, "--quiet"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"the Dask scheduler at {address} was lost, and nothing was written" in printed.err
    assert printed.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_dask_prints_no_messages_of_its_own_while_a_cluster_is_used(cluster_client) -> None:
    logger = logging.getLogger("distributed.client")
    level = logger.level
    with open_engine("dask", cluster_client.scheduler.address):
        assert not logger.isEnabledFor(logging.ERROR)
    assert logger.level == level


def test_a_scheduler_that_nobody_runs_is_one_clear_error(
    folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gameproof.tables.engines.PATIENCE", 0.3)
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9 "):
        fit(folders[2], scheduler="tcp://127.0.0.1:9")
    with pytest.raises(TypeError, match="a cluster reads files"):
        fit(frame(), engine="dask")
    with pytest.raises(ValueError, match='engine must be None or "dask"'):
        fit(folders[2], engine="spark")


def test_areas_from_bins_are_those_of_all_scores() -> None:
    rng = np.random.default_rng(0)
    scores, good = rng.normal(size=20_000).round(3), rng.random(20_000) < 0.3
    scores[good] += 0.5
    error = np.full(scores.size, 1e-12)
    edges = score_bins.bin_edges(scores[::10], error[::10])
    nobody = np.zeros(scores.size, dtype=np.int64)
    counts = score_bins.counts_by_label(
        score_bins.binned(scores, edges), good, nobody, (1, edges.size + 1)
    )
    found = Ranking(*counts[0])
    below = pd.Series(scores).rank().to_numpy()  # the definition by mean ranks
    n, m = int(good.sum()), int((~good).sum())
    area = (below[good].sum() - n * (n + 1) / 2) / (n * m)
    assert found.area() == pytest.approx(area, abs=5e-5)
