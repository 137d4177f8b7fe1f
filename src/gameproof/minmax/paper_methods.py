"""The paper's four methods: OGDA and SGDA, with reshuffling and with replacement."""

from __future__ import annotations

from typing import Any

from gameproof.minmax.orders.reshuffle import Reshuffle
from gameproof.minmax.orders.with_replacement import WithReplacement
from gameproof.minmax.solver import Solver
from gameproof.minmax.updates.ogda import OGDA
from gameproof.minmax.updates.sgda import SGDA


def ogda_rr(**parts: Any) -> Solver:
    """OGDA with reshuffling, the paper's algorithm.

    Parameters
    ----------
    **parts
        Other parts of the `Solver`, such as ``gradient=TwoPoint()``.

    Returns
    -------
    Solver
        The method.

    Examples
    --------
    >>> ogda_rr(batch=10).name
    'OGDA-RR'
    """
    return Solver(update=OGDA(), order=Reshuffle(), **parts)


def ogda_wr(**parts: Any) -> Solver:
    """OGDA, sampling with replacement.

    Parameters
    ----------
    **parts
        Other parts of the `Solver`, such as ``gradient=TwoPoint()``.

    Returns
    -------
    Solver
        The method.

    Examples
    --------
    >>> ogda_wr(batch=10).name
    'OGDA-WR'
    """
    return Solver(update=OGDA(), order=WithReplacement(), **parts)


def sgda_rr(**parts: Any) -> Solver:
    """Plain descent-ascent with reshuffling.

    Parameters
    ----------
    **parts
        Other parts of the `Solver`, such as ``gradient=TwoPoint()``.

    Returns
    -------
    Solver
        The method.

    Examples
    --------
    >>> sgda_rr(batch=10).name
    'SGDA-RR'
    """
    return Solver(update=SGDA(), order=Reshuffle(), **parts)


def sgda_wr(**parts: Any) -> Solver:
    """Plain descent-ascent, sampling with replacement.

    Parameters
    ----------
    **parts
        Other parts of the `Solver`, such as ``gradient=TwoPoint()``.

    Returns
    -------
    Solver
        The method.

    Examples
    --------
    >>> sgda_wr(batch=10).name
    'SGDA-WR'
    """
    return Solver(update=SGDA(), order=WithReplacement(), **parts)
