"""Every way in which an object becomes another that is to be as good."""

import pickle
from copy import deepcopy
from typing import Any

import pytest


def sent(problem: Any, unaligned: bool = False) -> Any:
    """As joblib, dask and others send it: its arrays can only be read; or they lie anywhere in what
    was received."""
    buffers: list[Any] = []
    raw = pickle.dumps(problem, protocol=5, buffer_callback=buffers.append)
    received = [bytes(part) for part in buffers]
    if unaligned:
        return pickle.loads(raw, buffers=[memoryview(bytearray(b"\0" + b))[1:] for b in received])
    return pickle.loads(raw, buffers=received)


COPIES = {
    "deepcopy": deepcopy,
    "pickle": lambda problem: pickle.loads(pickle.dumps(problem, 4)),
    "sent": sent,
    "sent unaligned": lambda problem: sent(problem, unaligned=True),
}
every_copy = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
