"""`TableFiles`: one table in many files, or in a file that is larger than memory.

The files are those of a directory and its subdirectories, or those that match a pattern. Names that
begin with _ or . are ignored, as writers of such directories expect. Directories named key=value
give all their files a column. The rows have an order: that of the files by name, and that within
each file. They are read in parts: groups of rows of a Parquet file, or whole text files.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, final

from gameproof.core.errors import DataError
from gameproof.core.naming import listed
from gameproof.core.size_limits import shown_size, whole_limit
from gameproof.tables.column import Column
from gameproof.tables.file_parts import (
    FilePart,
    Keys,
    clashes,
    file_parts,
    is_parquet,
    joined_tables,
)
from gameproof.tables.number_spelling import Spelling
from gameproof.tables.parquet_files import parquet_metadata
from gameproof.tables.table import Table, require_pyarrow
from gameproof.tables.table_format import DETECTED, TableFormat

SUFFIXES = (".parquet", ".csv", ".tsv")
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
# Rows that columns are planned on, and the most files that they come from.
SAMPLE, SAMPLED_FILES = 100_000, 64


@final
@dataclass(frozen=True, eq=False)
class TableFiles:
    """The parts of a table in files. `sample` holds some of its rows, and `columns` the columns of
    the sample.

    `source` is what the user named, `notes` say how the files were found, and `folder` is the one
    that they are in, None for a single file."""

    source: str
    parts: tuple[FilePart, ...]
    names: tuple[str, ...]
    stated: TableFormat = DETECTED
    notes: tuple[str, ...] = ()
    folder: str | None = None

    @cached_property
    def sample(self) -> Table:
        """The first rows of files all over the table; all rows of a table that is small."""
        whole = self.n <= SAMPLE
        found = sampled_parts(self.parts) if not whole else self.parts
        most = None if whole else max(1, SAMPLE // len(found))
        tables = [part.read(most=most) for part in found]
        read = [table for table in tables if table is not None]
        if not read:
            raise DataError(f"{self.source} has no rows")
        notes = dict.fromkeys(note for table in read for note in table.notes)
        joined = joined_tables(read, self.source, self.names)
        return replace(joined, notes=(*self.notes, *notes, *clashes(read, self.names)))

    @property
    def n(self) -> int:
        """The number of rows."""
        return sum(part.size for part in self.parts)

    @property
    def columns(self) -> Any:
        """The columns of the sample by name."""
        return self.sample.columns

    @property
    def spelling(self) -> Spelling:
        """How numbers are written in the sample."""
        return self.sample.spelling

    def column(self, name: str, role: str = "column") -> Column:
        """The column of this name in the sample, or an error that suggests a similar name."""
        return self.sample.column(name, role)


def required_files(given: Any, stated: TableFormat = DETECTED) -> TableFiles:
    """The files of a table, which workers of a cluster read themselves."""
    if not isinstance(given, (str, Path)):
        raise TypeError(
            "a cluster reads files: give a directory, a pattern or a Parquet file, got "
            f"{type(given).__name__}; for Dask collections, use the classifiers of gameproof.dask"
        )
    files = table_files(given, stated)
    if files is not None:
        return files
    if not Path(given).is_file():
        raise DataError(f"there is no file {given}")
    parts, names = file_parts(Path(given), (), stated)
    if not parts:
        raise DataError(f"{given} has no rows")
    return TableFiles(str(given), tuple(parts), names, stated)


def table_files(given: str | Path, stated: TableFormat = DETECTED) -> TableFiles | None:
    """The files of a directory or of a pattern, or a Parquet file that is too large to be read
    whole; None for any other file."""
    path = Path(given)
    if path.is_file() or not (path.is_dir() or glob.has_magic(str(given))):
        return _large_file(path, stated)
    require_pyarrow()
    files, notes = _in_directory(path) if path.is_dir() else _matching(str(given))
    parts: list[FilePart] = []
    names: tuple[str, ...] | None = None
    for file in files:
        keys = _keys(file, path) if path.is_dir() else _keys(file, Path())
        own, columns = file_parts(file, keys, stated)
        names = _same_columns(file, columns, files[0], names)
        parts += own
    if not parts or names is None:
        raise DataError(f"{given} has no rows")
    folder = str(path) if path.is_dir() else _common_folder(files)
    return TableFiles(str(given), tuple(parts), names, stated, (_counted(files), *notes), folder)


def sampled_parts(parts: Sequence[FilePart]) -> list[FilePart]:
    """The first part of files all over the table."""
    firsts = list({part.path: part for part in reversed(parts)}.values())[::-1]
    if len(firsts) == 1:
        firsts = list(parts)
    step = (len(firsts) - 1) / max(1, min(len(firsts), SAMPLED_FILES) - 1)
    chosen = {round(k * step) for k in range(min(len(firsts), SAMPLED_FILES))}
    return [firsts[k] for k in sorted(chosen)]


def _in_directory(folder: Path) -> tuple[list[Path], list[str]]:
    """The tables below a directory in the order of their names, and notes on other files."""
    tables: list[Path] = []
    others: list[Path] = []
    for file in sorted(folder.rglob("*")):
        hidden = any(part[0] in "._" for part in file.relative_to(folder).parts)
        if file.is_file() and not hidden:
            (tables if _is_table(file) else others).append(file)
    if not tables:
        found = f"only {listed([file.name for file in others], 3)}" if others else "no files"
        raise DataError(
            f"there is no table in the folder {folder}: it has {found}; expected CSV, TSV or "
            "Parquet files"
        )
    kinds = {_is_parquet(file) for file in tables}
    if len(kinds) > 1:
        text = next(file for file in tables if not _is_parquet(file))
        raise DataError(
            f"the folder {folder} has Parquet files and text files, such as {text.name}; say which "
            f"to read with a pattern, as in '{folder}/**/*.parquet'"
        )
    names = listed([str(file.relative_to(folder)) for file in others], 3)
    return tables, [f"ignored {names}"] if others else []


def _matching(pattern: str) -> tuple[list[Path], list[str]]:
    names = sorted(glob.glob(pattern, recursive=True))
    files = [Path(name) for name in names if Path(name).is_file()]
    if not files:
        raise DataError(f"no file matches {pattern}")
    return files, []


def _common_folder(files: Sequence[Path]) -> str:
    """The folder that all files are below."""
    return os.path.commonpath([file.parent for file in files]) or "."


def _is_table(file: Path) -> bool:
    inner = file.with_suffix("") if file.suffix.lower() in PACKED else file
    return inner.suffix.lower() in SUFFIXES


def _is_parquet(file: Path) -> bool:
    return file.suffix.lower() == ".parquet"


def _keys(file: Path, folder: Path) -> Keys:
    """The columns that directories named key=value give."""
    parents = file.parent.relative_to(folder).parts if folder != Path() else file.parent.parts
    pairs = (part.split("=", 1) for part in parents if "=" in part[1:])
    return tuple((key, value) for key, value in pairs)


def _same_columns(
    file: Path, names: tuple[str, ...], first: Path, expected: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """The columns of the files before, after a check that this file has the same."""
    if not names or expected is None:  # a text file without rows
        return names or expected
    lacking = [name for name in expected if name not in names]
    if lacking:
        raise DataError(
            f"{file} has no column {lacking[0]!r}, which {first} has; all files of a table need "
            "the same columns"
        )
    more = [name for name in names if name not in expected]
    if more:
        raise DataError(
            f"{file} has a column {more[0]!r}, which {first} lacks; all files of a table need the "
            "same columns"
        )
    return expected


def _large_file(path: Path, stated: TableFormat) -> TableFiles | None:
    """The parts of a Parquet file that is too large to be read whole."""
    if not path.is_file() or not is_parquet(path):
        return None
    require_pyarrow()
    groups, names = parquet_metadata(os.path.abspath(path), str(path))
    size, limit = 8 * sum(groups) * len(names), whole_limit()
    if size <= limit:
        return None
    parts, _ = file_parts(path, (), stated)
    note = f"read in batches: its {shown_size(size)} are more than {shown_size(limit)}"
    return TableFiles(str(path), tuple(parts), names, stated, (note,))


def _counted(files: Sequence[Path]) -> str:
    return f"read from {len(files):,} files" if len(files) > 1 else f"read from {files[0]}"
