"""Decisions about the rows of a table in files: one file of decisions for each file.

The decisions are first written to a hidden folder. When all are complete, each file gets its name
at once; if anything fails before, nothing is left behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

from gameproof.core.atomic_files import move_whole
from gameproof.core.progress import step
from gameproof.core.staging import staging
from gameproof.rows.block_list import BlockList
from gameproof.rows.dask_source import DaskSource
from gameproof.rows.row_progress import RowProgress
from gameproof.rows.row_source import RowSource
from gameproof.tables.engines import Engine, EngineName, open_engine
from gameproof.tables.file_parts import FilePart
from gameproof.tables.parquet_files import with_digest
from gameproof.tables.predict_table import About, predict_table
from gameproof.tables.spreadsheet_cells import neutralised
from gameproof.tables.table_files import TableFiles
from gameproof.tables.table_model import TableModel
from gameproof.tables.write_table import is_text_table, table_bytes


class Wanted(NamedTuple):
    """The columns to copy, the number of reasons, and whether text stays as it is in CSV."""

    keep: tuple[str, ...] = ()
    reasons: int = 0
    raw: bool = False


def decision_files(files: TableFiles, out: Path) -> dict[str, Path]:
    """The file of decisions for each file of a table, by its path.

    Files keep the names that they have in their folder. If the table is one file, `out` is the
    file itself."""
    paths = {part.path: part.name for part in files.parts}
    if files.folder is None:
        return dict.fromkeys(paths, out)
    found = {}
    for path, name in paths.items():
        place = out / Path(name).relative_to(files.folder)
        known = place.suffix == ".parquet" or is_text_table(place)
        found[path] = place if known else place.with_suffix("")
    return found


def predict_files(
    model: TableModel,
    files: TableFiles,
    out: Path,
    wanted: Wanted,
    *,
    engine: EngineName | None = None,
    scheduler: str | None = None,
    progress: bool | None = None,
) -> About:
    """Writes the decisions about each file of a table to its own file in `out`."""
    targets = decision_files(files, out)
    parts: dict[str, list[FilePart]] = {}
    for part in files.parts:
        parts.setdefault(part.path, []).append(part)
    watch = RowProgress(files.n)
    folder = out if files.folder is not None else out.parent
    with open_engine(engine, scheduler) as where, _created(folder), staging(folder) as place:
        staged = [place / f"{k}-{targets[path].name}" for k, path in enumerate(parts)]
        source = _source(where, list(parts.values()), watch)
        with step(f"deciding about {files.n:,} rows", progress, watch):
            places = [str(place) for place in staged]
            found: list[About] = list(source.map(_decide, model, wanted, each=places))
        for path, place in zip(parts, staged, strict=True):
            targets[path].parent.mkdir(parents=True, exist_ok=True)
            move_whole(place, targets[path])
    return reduce(About.merged, found)


def _source(engine: Engine, files: Sequence[list[FilePart]], watch: RowProgress) -> RowSource:
    """A source whose blocks are files."""
    sizes = [sum(part.size for part in parts) for parts in files]
    if engine.client is None:
        return BlockList(files, sizes, watch)
    return DaskSource.places(engine.client, files, sum(sizes), watch)


def _decide(parts: list[FilePart], place: str, model: TableModel, wanted: Wanted) -> About:
    """Writes the decisions about the parts of one file, and returns notes."""
    path, found = Path(place), []
    writer: Any = None
    try:
        for part in parts:
            table = part.read()
            assert table is not None  # parts have rows
            columns, about = predict_table(model, table, wanted.keep, reasons=wanted.reasons)
            found.append(about)
            if path.suffix == ".parquet":
                writer = _appended(writer, path, columns, sum(each.size for each in parts))
            else:  # a text file is one part
                own = columns if wanted.raw else neutralised(columns)
                path.write_bytes(table_bytes(path, own))
    finally:
        if writer is not None:
            writer.close()
    return reduce(About.merged, found)


def _appended(writer: Any, path: Path, columns: Mapping[str, Any], n_rows: int) -> Any:
    """The writer of a Parquet file of `n_rows` rows, after it has written some of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
    if writer is None:
        schema = with_digest(table.schema, n_rows)
        writer = pq.ParquetWriter(path, schema, write_page_checksum=True)
    writer.write_table(table.cast(writer.schema))
    return writer


@contextmanager
def _created(folder: Path) -> Iterator[None]:
    """Creates a folder and, if it stays empty, removes it."""
    created = [part for part in (folder, *folder.absolute().parents) if not part.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for part in created:
            if part.is_dir() and not any(part.iterdir()):
                part.rmdir()
