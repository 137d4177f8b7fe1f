"""The minimum of the convex objective of a strategic problem, by second-order methods."""
