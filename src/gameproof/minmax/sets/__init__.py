"""Convex compact sets, one file each: mathematics, NumPy form, name of the compiled form."""
