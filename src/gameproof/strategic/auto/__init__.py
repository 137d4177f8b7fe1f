"""`Solver.auto` for strategic problems."""
