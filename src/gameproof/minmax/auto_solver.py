"""`choose`: `Solver.auto` for a problem with known sets, about which only values can be asked.

1. *Probe.* A few values show whether they repeat, whether they are defined outside the sets, and
   how large gradients are (`auto_probe`).
2. *Settings.* With D a block's half diameter and G the size of its estimates, a step of D / G moves
   across the block. If the run can afford many gradients of the mean over all samples, estimates
   use all samples: they are exact unless values are noisy, and steps can stay constant.
   Otherwise, estimates use few samples, and steps fall as the root of time. Differences are
   taken along every coordinate within the affine hull of the sets, or along random directions if
   that costs too much.
3. *Race.* The settings compete on the rest of the pilot, and so does the start (`auto_race`). The
   run continues from the winner's point. If no setting beats the start, the run begins there.
4. *Final check.* `solve` compares the output with the start, and returns the better one
   (`final_check`).

If the kind of estimate is given, or some gradients are known, a formula gives the steps
(`auto_formula`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gameproof.core.arguments import as_count
from gameproof.minmax import auto_formula
from gameproof.minmax.auto_options import AutoOptions
from gameproof.minmax.auto_probe import FEWEST, ProbeFindings, probe
from gameproof.minmax.auto_race import RaceOutcome, SettingRace
from gameproof.minmax.averages import Average, Last, Suffix
from gameproof.minmax.blocks import Perturbed
from gameproof.minmax.estimates.coordinates import Coordinates
from gameproof.minmax.estimates.directions import Directions
from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.problem import Problem
from gameproof.minmax.schedules import Constant, PerStep, Power, Schedule
from gameproof.minmax.solver import Solver
from gameproof.minmax.updates.extragradient import Extragradient
from gameproof.minmax.updates.ogda import OGDA
from gameproof.minmax.updates.past_extragradient import PastExtragradient
from gameproof.minmax.updates.sgda import SGDA
from gameproof.minmax.updates.update import Update

# The run that is assumed if its length is not given, and the share of it for the pilot.
USUAL_QUERIES, PILOT_SHARE = 10_000, 5
# Estimates use all samples if the run affords this many of them, and all coordinates if it affords
# this many of single samples.
MANY_GRADIENTS = 50
# The share of the pilot for the probe.
PROBE_SHARE = 6
# Updates and steps in units of D / G, by what they use.
ALL_SAMPLES: tuple[tuple[Update, float, bool], ...] = (
    (PastExtragradient(), 0.3, False),
    (Extragradient(), 0.3, False),
    (PastExtragradient(), 0.1, False),
)
FEW_SAMPLES: tuple[tuple[Update, float, bool], ...] = (
    (SGDA(), 1.0, True),
    (PastExtragradient(), 1.0, True),
    (Extragradient(), 1.0, True),
    (OGDA(), 0.5, True),
    (PastExtragradient(), 0.3, True),
)


def choose(problem: Problem, options: AutoOptions) -> Solver:
    """The solver that `Solver.auto` returns for a problem without people; see there."""
    everything = Perturbed(problem.x_set.dim, True)
    if options.estimate is not None or problem.private_y or problem.estimated != everything:
        return auto_formula.choose(problem, options)
    queries = USUAL_QUERIES if options.queries is None else options.queries
    pilot = options.pilot
    if pilot is None:
        pilot = max(queries // PILOT_SHARE, 2 * FEWEST)
    as_count("pilot", pilot, least=2 * FEWEST)
    found = probe(problem, pilot // PROBE_SHARE, np.random.default_rng([options.seed, 2]))
    settings, plan = _settings(problem, found, queries, options.batch)
    outcome = SettingRace(problem, settings, found.noisy, options.seed).outcome(
        pilot - found.n_values
    )
    why = " ".join([_explain_probe(problem, found), plan, _explain_race(outcome, len(settings))])
    if {"x", "y"} <= problem.known:
        why += " The problem gives its gradients: estimate=Exact() would ask nothing."
    begin = outcome.point if options.start and outcome.beats_start else None
    return replace(outcome.winner, start=begin, why=why, fallback=problem.start)


def _settings(
    problem: Problem, found: ProbeFindings, queries: int, batch: int | None
) -> tuple[list[Solver], str]:
    """The competing settings, and a sentence that describes them."""
    n, sets = problem.n, (problem.x_set, problem.y_set)
    dim = sum(part.dim - len(part.fixed_sums) for part in sets)
    per_sample, gradients = dim + 1, queries // (n * (dim + 1))
    all_samples = gradients >= MANY_GRADIENTS if batch is None else batch >= n
    batch = (n if all_samples else 1) if batch is None else min(batch, n)
    k = min(max(queries // (MANY_GRADIENTS * batch) - 1, 1), max(dim, 1))
    gradient: Gradient = Coordinates(feasible=found.feasible)
    if k < dim:
        gradient, per_sample = Directions(k=k, feasible=found.feasible), k + 1
    exact = all_samples and k >= dim and not found.noisy
    sizes = found.sizes(batch, n, max(dim, 1) / k)
    base = Solver(
        gradient=gradient,
        radius=found.radius,
        scale=(found.widths[0] / float(sizes[0]), found.widths[1] / float(sizes[1])),
        batch=batch,
    )
    settings = [
        replace(base, update=update, step=PerStep(_step(c, falls)), average=_average(falls))
        for update, c, falls in (ALL_SAMPLES if exact else FEW_SAMPLES)
    ]
    which = "all samples" if batch == n else "one sample" if batch == 1 else f"{batch} samples"
    along = "every coordinate" if k >= dim else f"{k} random directions"
    plan = (
        f"A gradient of all {n} samples costs {n * (dim + 1)} values, of which a run of {queries} "
        f"affords {gradients}; so a step uses {which} and differences along {along}, "
        f"{per_sample * batch} values for each estimate."
    )
    return settings, plan


def _step(c: float, falls: bool) -> Schedule:
    return Power(c, 0.5) if falls else Constant(c)


def _average(falls: bool) -> Average:
    return Suffix() if falls else Last()


def _explain_probe(problem: Problem, found: ProbeFindings) -> str:
    parts = [f"Nothing is known about {problem.name} but its sets and values."]
    if found.noisy:
        parts.append("Values differ when asked again, so the query radius is large.")
    if found.feasible:
        parts.append("Values are not defined outside the sets, so every query stays inside.")
    return " ".join(parts)


def _explain_race(outcome: RaceOutcome, number: int) -> str:
    raced = f"{number} settings raced on {outcome.n_values} values."
    if not outcome.beats_start:
        return (
            f"{raced} None of them beat the start, so the run begins there with the best of them, "
            "and returns the start unless it ends better."
        )
    kind = "constant steps" if isinstance(outcome.winner.average, Last) else "decreasing steps"
    return (
        f"{raced} {type(outcome.winner.update).__name__} with {kind} won: its estimated gap is "
        f"{outcome.gap:.2g}, and {outcome.start_gap:.2g} at the start. The run continues from its "
        "point."
    )
