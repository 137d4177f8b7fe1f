"""Tables: text, Parquet, and the arrays of published data sets."""

import bz2
import csv
import gzip
import io
import lzma
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import gameproof as gp
from fuzzing.damage import BYTES, ZIPS, archive_of, bomb, forged_array, members
from fuzzing.file_format import BOMBS, MEANING, Damaged, Format, people_table, written
from gameproof.tables.cache import find, keep
from gameproof.tables.sources import Found
from gameproof.tables.table import open_table
from gameproof.tables.write_table import table_bytes
from tables import CREDIT_TEXT, SMALL_CREDIT


class Tables(Format):
    """Tables in text files. Compressed ones have checksums, except for Zstandard."""

    def sound(self, folder: Path) -> list[bytes]:
        plain = table_bytes(Path("people.csv"), people_table())
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo("people.csv"), plain)
        protected = [gzip.compress(plain, mtime=0), bz2.compress(plain), lzma.compress(plain)]
        self._n_protected = len(protected) + 1
        text = plain.decode()
        return [
            *protected,
            packed.getvalue(),
            plain,
            table_bytes(Path("people.tsv"), people_table()),
            text.replace("savings", "Ersparnis für später").encode("utf-16"),
            pa.compress(plain, "zstd", asbytes=True),
        ]

    def damaged(self, rng: random.Random) -> Damaged:
        original, data = self._chosen(rng)
        forged = original >= self._n_protected
        if rng.random() < BOMBS:
            large = bytes(rng.choice((b"1,", b"\n", b"\0"))) * 3 * 10**7
            packer = rng.choice((gzip.compress, bz2.compress))
            return Damaged(packer(data[:100] + large), original, "bomb", forged=True)
        if forged and rng.random() < 0.4:
            return Damaged(self._edited(rng, data), original, "edited text", forged=True)
        damage = rng.choice(BYTES)
        return Damaged(damage(rng, data), original, damage.__name__, forged)

    @staticmethod
    def _edited(rng: random.Random, data: bytes) -> bytes:
        """Text with an odd piece in it."""
        odd = (
            *('"', '""', ",", "\n", "\r", "\r\n", "\t", ";", "\x00", "\ufeff", "NaN", "1e999"),
            *("=1+1", "9" * 400, "," * 300, '"\n"', "é", "\ud7ff", "sep=;\n", "1.234,5", "\x85"),
        )
        at = rng.randrange(len(data))
        return data[:at] + rng.choice(odd).encode() * rng.choice((1, 1, 3)) + data[at:]

    def content(self, data: bytes, original: int, folder: Path) -> Any:
        path = written(folder, "people.csv", data)
        table = open_table(path)
        found = {name: column.cells.to_pylist() for name, column in table.columns.items()}
        self._compare(data, table, found)
        gp.read_table(path, **MEANING)
        return found

    @staticmethod
    def _compare(data: bytes, table: Any, found: dict[str, list[Any]]) -> None:
        """Plain text must have the rows that the standard library finds."""
        try:
            text = data.decode()
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
        except (UnicodeDecodeError, csv.Error):
            return
        if table.notes or len({len(row) for row in rows}) != 1 or len(rows[0]) != len(found):
            return
        columns = zip(*rows[1:], strict=True)
        for cells, expected in zip(found.values(), columns, strict=True):
            for cell, other in zip(cells, expected, strict=True):
                assert cell == other or cell is None, f"read {cell!r}, expected {other!r}"


class Parquet(Format):
    """Parquet files, with page checksums where gameproof wrote them."""

    def sound(self, folder: Path) -> list[bytes]:
        table = pa.table(people_table())
        sinks = [pa.BufferOutputStream() for _ in range(3)]
        pq.write_table(table, sinks[0])
        pq.write_table(table, sinks[1], compression="gzip", row_group_size=20)
        pq.write_table(table, sinks[2], use_dictionary=False, data_page_version="2.0")
        plain = [sink.getvalue().to_pybytes() for sink in sinks]
        return [table_bytes(Path("people.parquet"), people_table()), *plain]

    def damaged(self, rng: random.Random) -> Damaged:
        original, data = self._chosen(rng)
        damage = rng.choice(BYTES)
        return Damaged(damage(rng, data), original, damage.__name__, forged=original > 0)

    def content(self, data: bytes, original: int, folder: Path) -> Any:
        path = written(folder, "people.parquet", data)
        table = open_table(path)
        found = {name: repr(column.cells.to_pylist()) for name, column in table.columns.items()}
        gp.read_table(path, **MEANING)
        return found


class Npz(Format):
    """Published tables in the data folder, with a checksum in the catalogue."""

    def sound(self, folder: Path) -> list[bytes]:
        written(folder, "cs-training.csv", CREDIT_TEXT.encode())
        _, found = find(SMALL_CREDIT, folder)
        path = keep(Found(found.table, "a file"), SMALL_CREDIT, folder)
        buffer = io.BytesIO()
        np.savez(buffer, table=found.table, source=np.array("a file"))
        return [path.read_bytes(), buffer.getvalue()]

    def damaged(self, rng: random.Random) -> Damaged:
        chance = rng.random()
        if chance < 0.6:
            return self._by_bytes(rng, *ZIPS)
        original, data = self._chosen(rng)
        if chance < 0.6 + BOMBS:
            return Damaged(bomb(rng, data), original, "bomb")
        parts = members(data)
        table = forged_array(rng, np.load(io.BytesIO(parts["table.npy"])))
        buffer = io.BytesIO()
        np.save(buffer, table)
        return Damaged(
            archive_of({**parts, "table.npy": buffer.getvalue()}), original, "forged values"
        )

    def content(self, data: bytes, original: int, folder: Path) -> Any:
        written(folder, "credit.npz", data)
        _, found = find(SMALL_CREDIT, folder)
        return found.table.shape, found.table.tobytes()
