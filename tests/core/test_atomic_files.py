"""Atomic writes replace the content of a file and nothing else."""

import errno
import os
from pathlib import Path

import pytest

from gameproof.core.atomic_files import write_whole

posix = pytest.mark.skipif(os.name == "nt", reason="rights, links and pipes of another kind")


@posix
def test_overwritten_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text("old")
    path.chmod(0o600)
    write_whole(path, b"new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)


@posix
@pytest.mark.parametrize("before", ["old", None])
def test_link_stays_and_its_target_changes(before, tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "elsewhere" / "target"
    target.parent.mkdir()
    if before:
        target.write_text(before)
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@posix
def test_pipe_and_folder_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, what in ((tmp_path / "pipe", "a device or a pipe"), (tmp_path, "a folder")):
        with pytest.raises(FileExistsError, match=f"{path} is {what}, expected the name of a file"):
            write_whole(path, b"new")
    assert (tmp_path / "pipe").is_fifo()


def test_longest_name_is_taken(tmp_path: Path) -> None:
    path = tmp_path / ("m" * 250 + ".json")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"


def test_full_disk_is_told_with_the_name_and_leaves_what_was_there(
    tmp_path: Path, monkeypatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "mine"
    path.write_text("old")
    with pytest.raises(OSError, match=f"'{path}'") as failure:
        write_whole(path, b"new")
    assert failure.value.errno == errno.ENOSPC
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("mine", "old")]
