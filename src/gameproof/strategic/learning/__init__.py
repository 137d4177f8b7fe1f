"""Response models learned from observed answers."""
