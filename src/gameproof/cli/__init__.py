"""The command ``gameproof``: one module for each of its words."""
