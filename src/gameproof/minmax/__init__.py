"""The general solver for finite-sum saddle problems: problems, parts of a method, runs."""
