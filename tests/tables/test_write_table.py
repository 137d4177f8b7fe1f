"""Written tables are read back unchanged, by pandas too."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gameproof.core.errors import DataError
from gameproof.tables.made_up_people import FAVOURABLE, MOVABLE, TARGET, made_up_people
from gameproof.tables.parquet_files import parquet_metadata
from gameproof.tables.read_table import read_table
from gameproof.tables.table import open_table
from gameproof.tables.write_table import write_table

COLUMNS = {
    "x, y": np.array([0.1, np.nan, -3e300]),
    "n": np.array([1, 2, 3]),
    "text": ["plain", 'with "quotes", and a comma', None],
}


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.bz2", "t.csv.xz", "t.parquet"]
)
def test_pandas_reads_what_was_written(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write_table(path, COLUMNS)
    separator = "\t" if ".tsv" in name else ","
    frame = pd.read_parquet(path) if "parquet" in name else pd.read_csv(path, sep=separator)
    assert list(frame) == list(COLUMNS)
    np.testing.assert_array_equal(frame["x, y"], COLUMNS["x, y"])
    np.testing.assert_array_equal(frame["n"], COLUMNS["n"])
    assert [None if pd.isna(t) else t for t in frame["text"]] == COLUMNS["text"]
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["t", "t.xlsx", "t.gz", "t.parquet.gz"])
def test_name_without_a_format_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.csv, \.tsv or \.parquet"):
        write_table(tmp_path / name, COLUMNS)
    assert list(tmp_path.iterdir()) == []


def test_made_up_people_are_the_same_for_a_seed_and_differ_between_seeds(tmp_path: Path) -> None:
    found = []
    for name, seed in (("a.csv", 0), ("b.parquet", 0), ("c.csv", 1)):
        write_table(tmp_path / name, made_up_people(500, seed))
        found.append(read_table(tmp_path / name, TARGET, FAVOURABLE, MOVABLE))
    assert found[0].fingerprint == found[1].fingerprint != found[2].fingerprint
    assert found[0].features.names[:2] == ("age", "income")
    assert 0.3 < (found[0].y > 0).mean() < 0.7


def test_changed_column_name_is_noticed_in_a_file_that_gameproof_wrote(tmp_path: Path) -> None:
    """A file of another program has no digest of its columns, so there the change passes."""
    people, own, foreign = made_up_people(50), tmp_path / "own.parquet", tmp_path / "other.parquet"
    write_table(own, people)
    pd.DataFrame(people).to_parquet(foreign)
    for path in (own, foreign):
        assert "savings" in open_table(path).columns
        path.write_bytes(path.read_bytes().replace(b"savings", b"savinGs"))
    assert "savinGs" in open_table(foreign).columns
    for read in (open_table, lambda path: parquet_metadata(str(path), path.name)):
        with pytest.raises(DataError, match="truncated or altered"):
            read(own)


@pytest.mark.parametrize(
    "kind",
    [pa.date64(), pa.time32("s"), pa.timestamp("s"), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_types_that_parquet_lacks_are_no_damage(kind: pa.DataType, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_table(path, {"x": pa.nulls(3, kind)})
    assert open_table(path).n == 3
    assert parquet_metadata(str(path), path.name) == ([3], ("x",))


def test_lists_are_refused_in_text_files_alone(tmp_path: Path) -> None:
    columns = {"n": [1, 2], "calls": pa.array([[1, 2], [3]])}
    with pytest.raises(DataError, match=r"'calls' holds list<.*; leave .* ends in \.parquet"):
        write_table(tmp_path / "t.csv", columns)
    assert not list(tmp_path.iterdir())
    write_table(tmp_path / "t.parquet", columns)
    assert pd.read_parquet(tmp_path / "t.parquet")["calls"].map(list).tolist() == [[1, 2], [3]]
