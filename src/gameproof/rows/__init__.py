"""Blocks of rows and sums over them: in memory, in files, on a cluster."""
