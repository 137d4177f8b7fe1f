"""Convex compact sets: each in a file with its mathematics, its NumPy form and its compiled form."""
