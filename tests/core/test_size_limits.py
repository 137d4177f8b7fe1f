"""Files that unpack to more than the limit are refused before memory is used."""

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gameproof as gp
from gameproof.cli.main import main
from gameproof.core.errors import DataError
from gameproof.core.npz_files import read_npz
from gameproof.core.size_limits import VARIABLE, max_unpacked, parse_size
from gameproof.tables.cache import find, kept_path
from gameproof.tables.catalog import BANK
from gameproof.tables.table import open_table
from gameproof.tables.unpack import unpacked

ROWS = 30_000
TEXT = b"a,b\n" + b"1,2\n" * ROWS


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return file.getvalue()


def zstandard(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def parquet(columns: dict[str, object]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


BOMBS = {
    "gzip": gzip.compress(TEXT),
    "two gzip members": gzip.compress(TEXT[:40_000]) + gzip.compress(TEXT[40_000:]),
    "bzip2": bz2.compress(TEXT),
    "xz": lzma.compress(TEXT),
    "zstandard": zstandard(TEXT),
    "zip": zipped(TEXT),
    "gzip in zip": zipped(gzip.compress(TEXT)),
    "numbers in parquet": parquet({"a": np.zeros(ROWS), "b": np.zeros(ROWS)}),
    # One long text, stored once: only the lengths tell how large the column is.
    "text in parquet": parquet({"a": ["x" * 1000] * 300}),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_file_that_unpacks_beyond_the_limit_is_refused_and_read_with_a_larger_one(
    kind: str, tmp_path: Path, monkeypatch
) -> None:
    path = tmp_path / "table"
    path.write_bytes(BOMBS[kind])
    assert len(BOMBS[kind]) < 10_000
    with pytest.raises(DataError, match=rf"table unpacks to .*more than .* 50kB.*{VARIABLE}"):
        open_table(path, max_bytes=50_000)
    monkeypatch.setenv(VARIABLE, "50 kB")
    with pytest.raises(DataError, match="limit of 50kB"):
        open_table(path)
    assert open_table(path, max_bytes=10**6).n in (ROWS, 300)


def test_archive_that_contains_itself_ends() -> None:
    nested = b"a,b\n1,2\n"
    for _ in range(6):
        nested = gzip.compress(nested)
    with pytest.raises(DataError, match="compressed more than 5 times"):
        unpacked(nested, "t.gz")


def test_command_takes_the_limit_as_an_option(tmp_path: Path, capsys) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(BOMBS["gzip"])
    arguments = ["fit", str(path), "--target", "no", "--movable", "", "-o", str(tmp_path / "m")]
    assert main([*arguments, "--max-size", "50kB"]) == 1
    assert "more than the limit of 50kB" in capsys.readouterr().err
    assert main(arguments) == 1
    assert "has no target column 'no'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*arguments, "--max-size", "much"])
    assert "expected a size such as 500MB" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "0", "-1", "1e9", "GB", "1PB", "nan", "9" * 30])
def test_size_that_makes_no_sense_is_refused(text: str, monkeypatch) -> None:
    with pytest.raises(ValueError, match="expected a size such as"):
        parse_size(text)
    if text:
        monkeypatch.setenv(VARIABLE, text)
        with pytest.raises(ValueError, match=VARIABLE):
            max_unpacked()


@pytest.mark.parametrize("kind", ["state", "table", "data set"])
def test_limit_that_is_no_size_is_not_reported_as_damage(kind: str, tmp_path, monkeypatch) -> None:
    game = gp.QuadraticGame.random(n=5, seed=0)
    run = gp.solve(game, gp.ogda_rr(step=0.02, radius=0.5), epochs=1, seed=0)
    run.state.save(tmp_path / "run.state")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TEXT))
    kept_path(BANK, tmp_path).write_bytes(npz(table=np.zeros((2, 2)), source="x"))
    monkeypatch.setenv(VARIABLE, "much")
    read = {
        "state": lambda: gp.State.load(tmp_path / "run.state"),
        "table": lambda: open_table(tmp_path / "t.csv.gz"),
        "data set": lambda: find(BANK, tmp_path),
    }
    with pytest.raises(ValueError, match=f"^the environment variable {VARIABLE}: .* got 'much'"):
        read[kind]()


def npz(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_arrays_of_every_shape_and_type_are_read_as_numpy_reads_them() -> None:
    arrays = {
        "whole": np.arange(6).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "scalar": np.array(3.5),
        "none": np.empty((0, 4), dtype=np.uint32),
        "text": np.array("a file"),
        "flags": np.array([True, False]),
    }
    found = read_npz(npz(**arrays), "f.npz", DataError, 10**6)
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        assert found[name].flags.c_contiguous == array.flags.c_contiguous
        assert found[name].flags.writeable


def test_header_that_asks_for_more_memory_than_the_file_has_is_damage_not_lack_of_memory() -> None:
    """NumPy's reader raises MemoryError here, or reserves what the header says."""
    member = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
    np.lib.format.write_array_header_1_0(member, header)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.npy", member.getvalue() + bytes(80))
    with pytest.raises(ValueError, match=r"shape \(10000000000000,\) has 80 bytes"):
        read_npz(file.getvalue(), "f.npz", DataError, 10**6)


def test_arrays_larger_than_the_limit_are_refused_before_they_are_unpacked() -> None:
    file = io.BytesIO()
    np.savez_compressed(file, x=np.zeros(10**6))
    with pytest.raises(DataError, match="unpacks to 8MB, more than the limit of 1MB"):
        read_npz(file.getvalue(), "f.npz", DataError, 10**6)


def test_many_levels_are_refused_by_column_and_number(monkeypatch) -> None:
    features = gp.Features(
        ("city", "job"), {"city": tuple(map(str, range(1000))), "job": ("a", "b", "c")}
    )
    prepare = gp.Prepare(features).fit(np.zeros((10, 2)))
    monkeypatch.setenv(VARIABLE, "1MB")
    assert prepare.transform(np.zeros((100, 2))).shape == (100, 1003)
    with pytest.raises(ValueError, match=r"need 8.02MB .* column 'city' alone has 1,000 levels"):
        prepare.transform(np.zeros((1000, 2)))
