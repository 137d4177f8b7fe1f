"""Learns budgets from tables of people before and after a model became known."""
