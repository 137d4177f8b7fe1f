"""Losses of a score and a label."""
