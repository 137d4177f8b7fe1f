"""Compiled code in small modules, one cache stamp for all of them: see `jit`."""
