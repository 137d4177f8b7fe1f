"""The convex side of a strategic problem, which is what the learner minimises, and its minimum by
second-order methods: see `minimum`."""
