"""Tables in Parquet files that need not fit into memory.

The files are read one after the other, a batch at a time. Batches are cut into blocks of the same
size as blocks in memory, across the ends of files, so that sums have the same bits as in memory.
While one batch is decoded, the cores work on the batches before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.core.errors import DataError
from gameproof.core.naming import quoted_list
from gameproof.rows.cores import on_cores
from gameproof.rows.row_blocks import BLOCK
from gameproof.rows.row_source import RawRows, RowSource

# Rows that are decoded at once.
BATCH = 4 * BLOCK
# Bytes of a column that are read from a file at once.
BUFFER = 2**20


class ParquetSource(RowSource):
    """The columns of one or many Parquet files.

    `given` is a file, a directory of files, a pattern such as ``"loans-*.parquet"``, or a list of
    files. `target` is the column of labels and `weight` the column of weights. `columns` are the
    features, by default all other columns. Every feature must be a number; a missing one is NaN.
    """

    def __init__(
        self,
        given: str | Path | Sequence[str | Path],
        target: str,
        columns: Sequence[str] | None = None,
        weight: str | None = None,
        *,
        block: int = BLOCK,
        cores: int | None = None,
    ) -> None:
        self.files = parquet_files(given)
        self.target, self.weight, self._block, self._cores = target, weight, block, cores
        first = _schema(self.files[0])
        others = {target} if weight is None else {target, weight}
        features = [name for name in first.names if name not in others]
        self.columns = tuple(features if columns is None else columns)
        self._read = [*self.columns, target, *([] if weight is None else [weight])]
        self.n = sum([self._checked(path, first) for path in self.files])
        if not self.n:
            raise DataError(f"{self.files[0]} has no rows")

    def map(
        self, function: Callable[..., Any], *parameters: Any, each: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        def of_block(numbered: tuple[int, Any]) -> Any:
            k, (names, batches) = numbered
            own = () if each is None else (each[k],)
            return function(self._raw(names, batches), *own, *parameters)

        return on_cores(of_block, enumerate(self._blocks()), self._cores)

    def _blocks(self) -> Iterator[tuple[list[Path], list[Any]]]:
        """Record batches that together have the rows of one block, with their files."""
        names: list[Path] = []
        waiting: list[Any] = []
        missing = self._block
        for path, batch in self._batches():
            start = 0
            while start < batch.num_rows:
                part = batch.slice(start, missing)
                start += part.num_rows
                missing -= part.num_rows
                names.append(path)
                waiting.append(part)
                if not missing:
                    yield names, waiting
                    names, waiting, missing = [], [], self._block
        if waiting:
            yield names, waiting

    def _batches(self) -> Iterator[tuple[Path, Any]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        for path in self.files:
            try:
                # By default, Arrow holds the whole file in memory.
                with pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER) as file:
                    for batch in file.iter_batches(max(BATCH, self._block), columns=self._read):
                        yield path, batch
            except (pa.ArrowException, OSError) as error:
                raise DataError(f"{path} cannot be read: {error}") from error

    def _raw(self, names: list[Path], batches: list[Any]) -> RawRows:
        X = np.concatenate([self._features(batch) for batch in batches])
        y = np.concatenate([_values(batch.column(self.target)) for batch in batches])
        weights: Vector | None = None
        if self.weight is not None:
            columns = [_values(batch.column(self.weight)) for batch in batches]
            weights = np.concatenate(columns).astype(np.float64)
        different = list(dict.fromkeys(map(str, names)))
        return RawRows(X, y, weights, " or ".join(different))

    def _features(self, batch: Any) -> Matrix:
        """The features of a batch."""
        found = np.empty((batch.num_rows, len(self.columns)))
        for k, name in enumerate(self.columns):
            column = batch.column(name)
            found[:, k] = column.to_numpy(zero_copy_only=False)
        return found

    def _checked(self, path: Path, first: Any) -> int:
        """The number of rows of a file, whose columns must be those of the first file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = _schema(path)
        for name in self._read:
            if name not in schema.names:
                raise DataError(
                    f"{path} has no column {name!r}; it has {quoted_list(schema.names)}"
                )
        for name in self._read:
            kind, expected = (one.field(name).type for one in (schema, first))
            number = pa.types.is_floating(kind) or pa.types.is_integer(kind)
            if name != self.target and not (number or pa.types.is_boolean(kind)):
                raise DataError(
                    f"{path}: column {name!r} is of type {kind}, but must hold numbers; leave it "
                    "out, or encode it first"
                )
            if name == self.target and kind != expected:
                raise DataError(
                    f"{path}: column {name!r} is of type {kind}, but of type {expected} in "
                    f"{self.files[0]}; write the files with the same types"
                )
        rows: int = pq.read_metadata(path).num_rows
        return rows


def parquet_files(given: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files that a path, a directory or a pattern names, in the order of their names."""
    if not isinstance(given, (str, Path)):
        return [file for each in given for file in parquet_files(each)]
    path = Path(given)
    if path.is_dir():
        found = sorted(file for file in path.rglob("*.parquet") if file.is_file())
    elif path.exists():
        found = [path]
    else:
        found = [Path(name) for name in sorted(glob(str(given), recursive=True))]
    if not found:
        raise DataError(f"there is no Parquet file at {given}")
    return found


def _schema(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a Parquet file, or damaged: {error}") from error


def _values(column: Any) -> Any:
    return column.to_numpy(zero_copy_only=False)
