"""Default settings of the functions and commands on tables.

This module imports nothing: the command's help shows these values without loading NumPy.
"""

from __future__ import annotations

LABEL_COST = 0.5
"""The adversary's price for flipping a favourable label."""
POWER = 0.05
"""How far people move for a higher score, in the paper's response model."""
TEST_SHARE = 0.2
"""The share of rows held out for testing."""
MEASURES = ("accuracy", "balanced", "auc", "ks", "cost")
"""By what settings are chosen and models are judged."""
GIVEN = "as given"
"""The reason for a setting that the user chose."""
