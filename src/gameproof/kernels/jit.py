"""How functions are compiled and cached.

Numba stamps a cache entry with the file of the function, so a change in a callee of another file
would go unnoticed. Here every entry is stamped with a digest of the whole package `kernels`.

Kernels take arrays, numbers, NamedTuples of those and a NumPy ``Generator``: such arguments can be
cached on disk. A user's compiled function cannot; `for_data` then gives an uncached twin.
"""

import hashlib
import warnings
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

from numba import njit, typeof, types, vectorize
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import intrinsic, overload


def package_stamp(folder: Path) -> str:
    """A digest of every source file in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


STAMP = package_stamp(Path(__file__).parent)


class PackageCache(FunctionCache):
    """A disk cache whose entries expire when any file of this package changes."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=STAMP,
        )


# Parts are called from compiled code only. Without wrappers for calls from Python and C they
# compile in a fraction of the time.
PART: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def cached(function: Any) -> Any:
    """Compiles on first use and keeps the result on disk. For kernels that Python calls."""
    dispatcher: Any = njit(error_model="numpy", nogil=True, forceinline=False)(function)
    try:
        dispatcher._cache = PackageCache(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        warnings.warn(
            "there is no writable folder for compiled code, so every process compiles again; "
            "set the environment variable NUMBA_CACHE_DIR to a writable folder",
            stacklevel=2,
        )
    return dispatcher


# Numba hands options such as forceinline down to callees that do not set them.


def inlined(function: Any) -> Any:
    """A part of other kernels, inlined into them and cached with them."""
    return njit(error_model="numpy", forceinline=True, **PART)(function)


@intrinsic
def stay_apart(typing_context: Any) -> Any:
    """Forbids the compiler to inline the function that calls this."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), generate


def not_inlined(function: Any) -> Any:
    """A part of other kernels that is long or rarely needed. Inlined, it would slow down the step
    and its compilation; `stay_apart` in its first line prevents that."""
    return njit(error_model="numpy", forceinline=False, **PART)(function)


def by_type(choose: Any) -> Any:
    """A part whose code depends on the types of its arguments: `choose` takes Numba's types and
    returns the function to compile. So a run compiles only its own kind of problem and sets."""

    @wraps(choose)
    def part(*arguments: Any) -> Any:
        raise TypeError(f"{choose.__name__} is called from compiled code only")

    options = {"error_model": "numpy", "forceinline": True}
    overload(part, jit_options=options, strict=False)(choose)
    return part


def elementwise(function: Any) -> Any:
    """A compiled function of one number, applied to arrays element by element."""
    return vectorize(["f8(f8)"])(function.py_func)


def bound(kernel: Any, *arguments: Any) -> Any:
    """The entry point of a kernel for arguments of these types. Calling it skips the dispatcher,
    which would look at every array again."""
    return kernel.compile(tuple(map(typeof, arguments)))


@lru_cache
def for_data(kernel: Any, has_user_functions: bool) -> Any:
    """The kernel itself, or its uncached twin for data that contain a user's functions."""
    return njit(error_model="numpy", nogil=True)(kernel.py_func) if has_user_functions else kernel
