"""The package's methods under the names that the listings have for them."""

import gameproof as gp

# How to make it; whether it is optimistic, and whether it reshuffles.
ALGORITHMS = {
    "OGDA-RR": (gp.ogda_rr, True, True),
    "OGDA-WR": (gp.ogda_wr, True, False),
    "SGDA-RR": (gp.sgda_rr, False, True),
    "SGDA-WR": (gp.sgda_wr, False, False),
}
ESTIMATES = {
    "plain": gp.OnePoint(),
    "baseline": gp.OnePoint(baseline=True),
    "two-point": gp.TwoPoint(),
    "symmetric": gp.TwoPoint(symmetric=True),
    "residual": gp.Residual(),
    "exact": gp.Exact(),
}
# Those that ask for values.
QUERYING = {name: gradient for name, gradient in ESTIMATES.items() if name != "exact"}
