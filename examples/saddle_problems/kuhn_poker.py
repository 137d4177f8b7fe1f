"""Kuhn poker in sequence form: three cards, two players, one bet.

Both players ante 1 and get one of the cards J, Q, K. The first player bets 1 or checks. After a bet
the second player folds or calls; after a check, the second player checks or bets, and then the
first player folds or calls.

In sequence form a strategy is the vector of probabilities with which a player makes each sequence
of moves, and payoffs are bilinear. For each card the first player has three complete sequences
(bet; check, then call; check, then fold), whose probabilities sum to 1. The second player has two
independent choices for each card: after a bet, and after a check. So both strategies are products
of simplices. Each of the 6 deals is a sample. With best play the first player loses 1/18 a game.

Kuhn, "A simplified two-person poker", 1950; von Stengel, "Efficient computation of behavior
strategies", 1996.
"""

from itertools import permutations

import numpy as np

import gameproof as gp

QUERIES = 20_000
DEALS = list(permutations(range(3), 2))  # (card of the first player, card of the second)
BET, CALL, FOLD = range(3)  # the first player: bet; check, then call or fold
VALUE = -1 / 18


def loss(i, x, y):
    """Returns what the first player (x) loses to the second (y) in deal i."""
    own, other = DEALS[i]
    sign = 1 if other > own else -1  # +1 if the second player wins a showdown
    bet, call, fold = x[3 * own : 3 * own + 3]
    calls, folds, bets, checks = y[4 * other : 4 * other + 4]
    return (
        bet * (2 * sign * calls - folds)
        + call * (2 * sign * bets + sign * checks)
        + fold * (bets + sign * checks)
    )


PROBLEM = gp.SaddleProblem(
    loss,
    n=len(DEALS),
    x_set=gp.Product(*[gp.Simplex(3)] * 3),  # a simplex for each card
    y_set=gp.Product(*[gp.Simplex(2)] * 6),  # for each card, after a bet and after a check
)
# The loss is x'Ay: A[j, k] is the loss of the unit vectors e_j and e_k.
MATRIX = np.array([[PROBLEM.value(a, b) for b in np.eye(12)] for a in np.eye(9)])


def duality_gap(x, y):
    """Returns the gap: a best response picks the best sequence in each simplex."""
    worst = (x @ MATRIX).reshape(6, 2).max(axis=1).sum()
    best = (MATRIX @ y).reshape(3, 3).min(axis=1).sum()
    return float(worst - best)


def main():
    """Learns to play from values alone and prints the duality gap."""
    solver = gp.Solver.auto(PROBLEM, queries=QUERIES, seed=0)
    result = gp.solve(PROBLEM, solver, queries=QUERIES, seed=0)
    print(solver.why)
    for card, row in zip("JQK", result.x.reshape(3, 3), strict=True):
        print(f"{card}: bet {row[BET]:.2f}, check and call {row[CALL]:.2f}, "
              f"check and fold {row[FOLD]:.2f}")  # fmt: skip
    print(f"duality gap: {duality_gap(*PROBLEM.start):.4f} at the start, "
          f"{duality_gap(result.x, result.y):.2g} now")  # fmt: skip


if __name__ == "__main__":
    main()
