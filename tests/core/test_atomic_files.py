"""Atomic writes replace the content of a file and nothing else."""

import errno
import os
from pathlib import Path

import pytest

from gameproof.core.atomic_files import write_rules, write_whole

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


def test_file_that_appeared_meanwhile_is_kept_where_rules_forbid_to_replace(
    tmp_path: Path, monkeypatch
) -> None:
    path = tmp_path / "mine"
    with write_rules(replace=False):
        write_whole(path, b"first")
        with pytest.raises(FileExistsError, match=f"{path} already exists; it was not overwritten"):
            write_whole(path, b"second")

        def no_links(*_: object) -> None:
            raise OSError(errno.EPERM, "no hard links here")

        monkeypatch.setattr(os, "link", no_links)
        with pytest.raises(FileExistsError):
            write_whole(path, b"third")
        write_whole(tmp_path / "other", b"fourth")
    assert sorted((p.name, p.read_bytes()) for p in tmp_path.iterdir()) == [
        ("mine", b"first"),
        ("other", b"fourth"),
    ]
    write_whole(path, b"fifth")
    assert path.read_bytes() == b"fifth"


@posix
def test_link_out_of_the_folder_is_not_followed_where_rules_forbid_it(tmp_path: Path) -> None:
    folder, target = tmp_path / "out", tmp_path / "elsewhere"
    folder.mkdir()
    target.write_text("old")
    (folder / "link").symlink_to(target)
    (folder / "inner").symlink_to(folder / "real")
    (folder / "sub").symlink_to(tmp_path)
    with write_rules(folder=folder):
        for path in (folder / "link", folder / "sub" / "elsewhere"):
            with pytest.raises(PermissionError, match=rf"{path} leads to {target} through a link"):
                write_whole(path, b"new")
        write_whole(folder / "inner", b"new")
    assert target.read_text() == "old"
    assert (folder / "real").read_text() == "new"
