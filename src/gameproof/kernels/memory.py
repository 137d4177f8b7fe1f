"""Access to memory: arrays without owners, prefetching, packed bits."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import create_struct_proxy, get_null_value
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from gameproof.kernels.jit import inlined

CACHE_LINE = 8  # float64 numbers
# Numbers of a row to prefetch; the processor itself fetches what follows.
ROW_START = 4 * CACHE_LINE


@intrinsic
def borrowed(typing_context, value):
    """The same array or generator, or a tuple of them, without an owner.

    Numba counts references whenever an array is passed, sliced or put into a tuple, and at every
    draw of a generator. A step does this dozens of times, and counting took most of its time. A
    loop whose caller keeps the arrays alive can do without.
    """

    def strip(context, builder, kind, bare):
        if isinstance(kind, types.Array | types.NumPyRandomGeneratorType):
            owned = create_struct_proxy(kind)(context, builder, value=bare)
            owned.meminfo = get_null_value(owned.meminfo.type)
            if isinstance(kind, types.Array):
                owned.parent = get_null_value(owned.parent.type)
            return owned._getvalue()
        if isinstance(kind, types.BaseTuple):
            for k, part in enumerate(kind):
                inner = strip(context, builder, part, builder.extract_value(bare, k))
                bare = builder.insert_value(bare, inner, k)
        return bare

    def generate(context, builder, signature, arguments):
        return strip(context, builder, signature.args[0], arguments[0])

    return value(value), generate


@intrinsic
def section(typing_context, v, start, stop):
    """v[start:stop] of a contiguous vector, borrowed, for 0 <= start <= stop <= v.size. A slice
    checks all of that, which takes longer than a loop over a dozen coordinates."""

    def generate(context, builder, signature, arguments):
        whole = make_array(signature.args[0])(context, builder, arguments[0])
        part = make_array(signature.return_type)(context, builder)
        size = builder.sub(arguments[2], arguments[1])
        each = context.get_abi_sizeof(context.get_data_type(v.dtype))
        itemsize = context.get_constant(types.intp, each)
        place = builder.gep(whole.data, [arguments[1]])
        populate_array(
            part, place, shape=[size], strides=[itemsize], itemsize=itemsize, meminfo=None
        )
        return part._getvalue()

    if not (isinstance(v, types.Array) and (v.ndim, v.layout) == (1, "C")):
        return None
    return v(v, types.intp, types.intp), generate


@intrinsic
def prefetch(typing_context, array, k):
    """Starts loading element k of a contiguous array into the cache. Changes nothing."""

    def generate(context, builder, signature, arguments):
        numbers = create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(numbers.data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        builder.call(function, [place, word(0), word(3), word(1)])  # to read, all levels, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@inlined
def prefetch_row(matrix, i):
    """Starts loading row i of a contiguous matrix."""
    width = matrix.shape[1]
    for c in range(0, min(width, ROW_START), CACHE_LINE):
        prefetch(matrix, i * width + c)


@inlined
def bit(bits, i):
    """True if bit i of a packed array is set."""
    return (bits[i >> 3] >> (i & 7)) & 1 != 0


def packed(flags: np.ndarray) -> np.ndarray:
    """Booleans as bits: so few bytes that those of millions of samples stay in the cache."""
    return np.packbits(flags, bitorder="little")
