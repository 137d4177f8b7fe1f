"""The disk cache of compiled code: a change in any file of the package expires every entry."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import gameproof.kernels

# Compiles a function that calls `dot` of another file, and prints its result and the cache hits.
PROGRAM = """
import numpy as np
from gameproof.kernels.caller import square
print(square(np.array([1.0, 2.0])), sum(square.stats.cache_hits.values()))
"""
CALLER = """
from gameproof.kernels.jit import cached
from gameproof.kernels.vectors import dot

@cached
def square(v):
    return dot(v, v)
"""


def run(folder: Path) -> tuple[float, int]:
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    result, hits = done.stdout.split()
    return float(result), int(hits)


def test_editing_a_callee_in_another_file_recompiles_its_callers(tmp_path: Path) -> None:
    package = tmp_path / "gameproof"
    shutil.copytree(Path(gameproof.kernels.__file__).parent, package / "kernels")
    (package / "__init__.py").touch()
    (package / "kernels" / "caller.py").write_text(CALLER)
    assert run(tmp_path) == (5.0, 0)
    assert run(tmp_path) == (5.0, 1)
    callee = package / "kernels" / "vectors.py"
    source = callee.read_text()
    changed = source.replace("return (s0 + s1) + (s2 + s3)", "return 3 * ((s0 + s1) + (s2 + s3))")
    assert changed != source
    callee.write_text(changed)
    assert run(tmp_path) == (15.0, 0)
    assert run(tmp_path) == (15.0, 1)
