"""Features in a memory-mapped file: they are not copied, and the kernel's own records show that it
was asked for large pages."""

import mmap
import re
from pathlib import Path

import numpy as np
import pytest
from numba import typeof

import gameproof as gp
from gameproof.strategic import memmap

LARGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
has_large_pages = pytest.mark.skipif(
    not LARGE_PAGES.exists(), reason="the system has no transparent large pages to be asked for"
)
N, D = 5000, 10


@pytest.fixture
def file(tmp_path):
    """People's features, in a file of NumPy's own format."""
    path = tmp_path / "X.npy"
    np.save(path, np.random.default_rng(0).standard_normal((N, D)))
    return path


def population(X):
    return gp.Population(X, np.resize([1.0, -1.0], len(X)))


def is_asked_for(array):
    """Whether the kernel records a request for large pages at the address of an array."""
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if bounds := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            start, stop = (int(bound, 16) for bound in bounds.groups())
            inside = start <= array.ctypes.data < stop
        if inside and line.startswith("VmFlags:"):
            return "hg" in line.split()
    raise LookupError("the array lies in no part of memory that the kernel tells of")


@has_large_pages
@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_large_pages_are_asked_for_however_a_file_is_mapped(file, mode):
    X = np.load(file, mmap_mode=mode)
    assert not is_asked_for(X)
    people = population(X)
    assert np.shares_memory(people.X, X)
    assert is_asked_for(X)
    assert np.array_equal(people.X, np.load(file))


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_a_file_needs_no_compiling_beyond_that_of_an_array(file, mode):
    types = [
        typeof(gp.StrategicProblem(population(X), radius=0.1).data)
        for X in (np.load(file), np.load(file, mmap_mode=mode))
    ]
    assert types[0] == types[1]


@has_large_pages
def test_a_part_of_a_file_and_a_buffer_of_ones_own_count_as_well(file):
    part = np.load(file, mmap_mode="r")[1000:4000]
    assert is_asked_for(population(part).X)
    with open(file, "rb") as opened:
        bare = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    X = np.frombuffer(bare, offset=128).reshape(N, D)
    assert is_asked_for(population(X).X)


@has_large_pages
def test_a_file_that_may_not_fit_is_left_alone(file, monkeypatch):
    X = np.load(file, mmap_mode="r")
    monkeypatch.setattr(memmap, "machine_memory", lambda: X.nbytes)
    population(X)
    assert not is_asked_for(X)


class Refuses(mmap.mmap):
    """A mapping on a system that refuses every request."""

    asked = 0

    def madvise(self, *advice):
        self.asked += 1
        raise OSError(22, "Invalid argument")


@pytest.mark.parametrize("known", [True, False])
def test_a_system_that_refuses_is_asked_at_most_once_and_nothing_is_lost(file, known, monkeypatch):
    if known:
        monkeypatch.setattr(mmap, "MADV_HUGEPAGE", 14, raising=False)
    else:
        monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    with open(file, "rb") as opened:
        mapping = Refuses(opened.fileno(), 0, access=mmap.ACCESS_READ)
    people = population(np.frombuffer(mapping, offset=128).reshape(N, D))
    assert np.array_equal(people.X, np.load(file))
    assert mapping.asked == known


def test_a_container_has_the_memory_that_it_is_given(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memmap, "LIMIT", limit)
    machine = memmap.machine_memory()
    limit.write_text("max\n")
    assert memmap.machine_memory() == machine > 2**20
    limit.write_text("1048576\n")
    assert memmap.machine_memory() == 2**20


@pytest.mark.parametrize("kind", [np.float64, np.float32])  # the second would have to be copied
def test_files_that_are_no_longer_mapped_are_named(tmp_path, kind):
    X, y = np.ones((6, 2), kind), np.resize(np.array([1, -1], kind), 6)
    for name, array in (("X", X), ("y", y)):
        np.save(tmp_path / name, array)
        closed = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
        closed._mmap.close()
        with pytest.raises(ValueError, match=f"{name} lies in a mapped file that was closed"):
            gp.Population(**{"X": X, "y": y} | {name: closed})


def test_owners_of_another_kind_are_not_asked_for_theirs():
    X = np.random.default_rng(2).standard_normal((N, D))

    class Owner:
        __array_interface__ = X.__array_interface__

        @property
        def base(self):
            raise AssertionError("nobody's business")

    assert np.array_equal(population(np.asarray(Owner())).X, X)


def test_arrays_in_plain_memory_are_taken_as_they_are():
    X = np.random.default_rng(1).standard_normal((N, D))
    assert memmap.mapping_behind(X) is None
    assert np.shares_memory(population(X).X, X)
