"""How it is solved: estimates, orders, updates, schedules, the run, its state and its result."""
