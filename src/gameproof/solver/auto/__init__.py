"""`Solver.auto`: parts that need no tuning, from the problem and from a few pilot queries."""
