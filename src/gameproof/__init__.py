"""gameproof: classifiers that hold up when people game them.

Inside it, a solver for finite-sum convex-concave min-max problems that can only be queried:

>>> import gameproof as gp
>>> game = gp.MatrixGame.random(n=50, seed=1)
>>> solver = gp.ogda_rr(gradient=gp.TwoPoint(), step=gp.Power(0.05, 0.5), radius=0.1)
>>> result = gp.solve(game, solver, epochs=500, seed=0)
>>> round(gp.duality_gap(game, result.x, result.y), 1)
0.1

Names load on first use, so that the import itself takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gameproof import live as live
    from gameproof.auditing.audit import audit as audit
    from gameproof.auditing.audit import compare_models as compare_models
    from gameproof.auditing.audit_page import write_audit as write_audit
    from gameproof.auditing.audit_result import Audit as Audit
    from gameproof.auditing.average_splits import average_splits as average_splits
    from gameproof.auditing.displays import GamingCurveDisplay as GamingCurveDisplay
    from gameproof.auditing.displays import RadiusCurveDisplay as RadiusCurveDisplay
    from gameproof.auditing.displays import ThresholdDisplay as ThresholdDisplay
    from gameproof.auditing.linear_model import LinearModel as LinearModel
    from gameproof.auditing.page import write_page as write_page
    from gameproof.auditing.radius_section import which_radius as which_radius
    from gameproof.core.errors import AnswerError as AnswerError
    from gameproof.core.errors import BudgetExceeded as BudgetExceeded
    from gameproof.core.errors import BudgetWarning as BudgetWarning
    from gameproof.core.errors import CapWarning as CapWarning
    from gameproof.core.errors import ClusterError as ClusterError
    from gameproof.core.errors import DataError as DataError
    from gameproof.core.errors import DataNotFound as DataNotFound
    from gameproof.core.errors import DivergedError as DivergedError
    from gameproof.core.errors import EvaluationError as EvaluationError
    from gameproof.core.errors import GameproofError as GameproofError
    from gameproof.core.errors import IgnoresDataWarning as IgnoresDataWarning
    from gameproof.core.errors import JournalError as JournalError
    from gameproof.core.errors import ModelFileError as ModelFileError
    from gameproof.core.errors import StartProjectedWarning as StartProjectedWarning
    from gameproof.core.errors import StateFileError as StateFileError
    from gameproof.estimators.features import Features as Features
    from gameproof.estimators.fit_parquet import fit_parquet as fit_parquet
    from gameproof.estimators.gamed_scorer import gamed_scorer as gamed_scorer
    from gameproof.estimators.logistic import (
        StrategicLogisticRegression as StrategicLogisticRegression,
    )
    from gameproof.estimators.prepare import Prepare as Prepare
    from gameproof.estimators.radius_curve import RadiusCurve as RadiusCurve
    from gameproof.estimators.robust import RobustStrategicClassifier as RobustStrategicClassifier
    from gameproof.estimators.select_budget import BudgetCurve as BudgetCurve
    from gameproof.estimators.select_budget import select_budget as select_budget
    from gameproof.estimators.select_radius import select_radius as select_radius
    from gameproof.estimators.table_budgets import Budgets as Budgets
    from gameproof.minmax import theory as theory
    from gameproof.minmax.averages import Average as Average
    from gameproof.minmax.averages import Last as Last
    from gameproof.minmax.averages import StepWeighted as StepWeighted
    from gameproof.minmax.averages import Suffix as Suffix
    from gameproof.minmax.checks import check_gradient as check_gradient
    from gameproof.minmax.checks import check_order as check_order
    from gameproof.minmax.checks import check_problem as check_problem
    from gameproof.minmax.checks import check_update as check_update
    from gameproof.minmax.estimates.coordinates import Coordinates as Coordinates
    from gameproof.minmax.estimates.directions import Directions as Directions
    from gameproof.minmax.estimates.exact import Exact as Exact
    from gameproof.minmax.estimates.gaussian import Gaussian as Gaussian
    from gameproof.minmax.estimates.gradient import Gradient as Gradient
    from gameproof.minmax.estimates.one_point import OnePoint as OnePoint
    from gameproof.minmax.estimates.residual import Residual as Residual
    from gameproof.minmax.estimates.two_point import TwoPoint as TwoPoint
    from gameproof.minmax.estimates.variance_reduced import VarianceReduced as VarianceReduced
    from gameproof.minmax.games.bilinear_game import BilinearGame as BilinearGame
    from gameproof.minmax.games.matrix_game import MatrixGame as MatrixGame
    from gameproof.minmax.games.quadratic_game import QuadraticGame as QuadraticGame
    from gameproof.minmax.games.robust_least_squares import RobustLeastSquares as RobustLeastSquares
    from gameproof.minmax.orders.order import Order as Order
    from gameproof.minmax.orders.reshuffle import Reshuffle as Reshuffle
    from gameproof.minmax.orders.shuffle_once import ShuffleOnce as ShuffleOnce
    from gameproof.minmax.orders.with_replacement import WithReplacement as WithReplacement
    from gameproof.minmax.paper_methods import ogda_rr as ogda_rr
    from gameproof.minmax.paper_methods import ogda_wr as ogda_wr
    from gameproof.minmax.paper_methods import sgda_rr as sgda_rr
    from gameproof.minmax.paper_methods import sgda_wr as sgda_wr
    from gameproof.minmax.parallel import solve_many as solve_many
    from gameproof.minmax.problem import Problem as Problem
    from gameproof.minmax.problem import duality_gap as duality_gap
    from gameproof.minmax.problem import gap as gap
    from gameproof.minmax.questions import Question as Question
    from gameproof.minmax.result import Result as Result
    from gameproof.minmax.result import Snapshot as Snapshot
    from gameproof.minmax.run import Run as Run
    from gameproof.minmax.saddle import Saddle as Saddle
    from gameproof.minmax.saddle_problem import SaddleProblem as SaddleProblem
    from gameproof.minmax.schedules import Constant as Constant
    from gameproof.minmax.schedules import PerStep as PerStep
    from gameproof.minmax.schedules import Power as Power
    from gameproof.minmax.set_checks import check_set as check_set
    from gameproof.minmax.sets.ball import Ball as Ball
    from gameproof.minmax.sets.box import Box as Box
    from gameproof.minmax.sets.cone import Cone as Cone
    from gameproof.minmax.sets.convex_set import ConvexSet as ConvexSet
    from gameproof.minmax.sets.l1_ball import L1Ball as L1Ball
    from gameproof.minmax.sets.product import Product as Product
    from gameproof.minmax.sets.simplex import Simplex as Simplex
    from gameproof.minmax.solve import solve as solve
    from gameproof.minmax.solver import Solver as Solver
    from gameproof.minmax.state import State as State
    from gameproof.minmax.trace import Trace as Trace
    from gameproof.minmax.updates.alternating import Alternating as Alternating
    from gameproof.minmax.updates.anchored import Anchored as Anchored
    from gameproof.minmax.updates.extragradient import Extragradient as Extragradient
    from gameproof.minmax.updates.ogda import OGDA as OGDA
    from gameproof.minmax.updates.past_extragradient import PastExtragradient as PastExtragradient
    from gameproof.minmax.updates.sgda import SGDA as SGDA
    from gameproof.minmax.updates.update import Phase as Phase
    from gameproof.minmax.updates.update import Update as Update
    from gameproof.strategic.baselines import plain_regression as plain_regression
    from gameproof.strategic.baselines import strategic_problem as strategic_problem
    from gameproof.strategic.baselines import strategic_regression as strategic_regression
    from gameproof.strategic.budgets import BallBudget as BallBudget
    from gameproof.strategic.budgets import BoxBudget as BoxBudget
    from gameproof.strategic.budgets import PriceBudget as PriceBudget
    from gameproof.strategic.check_response import check_response as check_response
    from gameproof.strategic.degree_estimate import estimate_degree as estimate_degree
    from gameproof.strategic.envelope import Envelope as Envelope
    from gameproof.strategic.imperfect_answers import Noisy as Noisy
    from gameproof.strategic.imperfect_answers import Reluctant as Reluctant
    from gameproof.strategic.imperfect_answers import Stale as Stale
    from gameproof.strategic.imperfect_moves import Boxed as Boxed
    from gameproof.strategic.imperfect_moves import Limited as Limited
    from gameproof.strategic.imperfect_moves import Rounded as Rounded
    from gameproof.strategic.learning.learn_response import learn_response as learn_response
    from gameproof.strategic.learning.learned_response import LearnedResponse as LearnedResponse
    from gameproof.strategic.losses.check_loss import check_loss as check_loss
    from gameproof.strategic.losses.custom_loss import CustomLoss as CustomLoss
    from gameproof.strategic.losses.huber_hinge import HuberHinge as HuberHinge
    from gameproof.strategic.losses.logistic_loss import Logistic as Logistic
    from gameproof.strategic.losses.loss import Loss as Loss
    from gameproof.strategic.losses.pseudo_huber_hinge import PseudoHuberHinge as PseudoHuberHinge
    from gameproof.strategic.population import Population as Population
    from gameproof.strategic.power_costs import NoResponse as NoResponse
    from gameproof.strategic.power_costs import PowerCost as PowerCost
    from gameproof.strategic.power_costs import QuadraticCost as QuadraticCost
    from gameproof.strategic.refutation import Verdict as Verdict
    from gameproof.strategic.refutation import refute as refute
    from gameproof.strategic.responses import BlackBox as BlackBox
    from gameproof.strategic.responses import Response as Response
    from gameproof.strategic.responses import Sight as Sight
    from gameproof.strategic.risk import RiskEstimate as RiskEstimate
    from gameproof.strategic.risk import estimate_risk as estimate_risk
    from gameproof.strategic.robust_problem import StrategicProblem as StrategicProblem
    from gameproof.strategic.saddle_point import largest_useful_radius as largest_useful_radius
    from gameproof.strategic.saddle_point import saddle_point as saddle_point
    from gameproof.strategic.worst_case import WorstCase as WorstCase
    from gameproof.strategic.worst_case import worst_case as worst_case
    from gameproof.tables.audit_table import TableAudit as TableAudit
    from gameproof.tables.audit_table import audit_table as audit_table
    from gameproof.tables.budget_learning.learn_budgets import learn_budgets as learn_budgets
    from gameproof.tables.budget_learning.learned_budgets import LearnedBudgets as LearnedBudgets
    from gameproof.tables.dataset import Dataset as Dataset
    from gameproof.tables.fit_table import fit_table as fit_table
    from gameproof.tables.load_model import load_model as load_model
    from gameproof.tables.load_published import load_bank as load_bank
    from gameproof.tables.load_published import load_credit as load_credit
    from gameproof.tables.load_published import load_german as load_german
    from gameproof.tables.read_table import read_table as read_table
    from gameproof.tables.synthetic import synthetic_people as synthetic_people
    from gameproof.tables.table_fit import TableFit as TableFit
    from gameproof.tables.table_model import TableModel as TableModel

__version__ = "0.1.0"

# Where each public name lives.
_HOMES = {
    "minmax.estimates.gradient": ["Gradient"],
    "minmax.estimates.one_point": ["OnePoint"],
    "minmax.estimates.two_point": ["TwoPoint"],
    "minmax.estimates.residual": ["Residual"],
    "minmax.estimates.gaussian": ["Gaussian"],
    "minmax.estimates.directions": ["Directions"],
    "minmax.estimates.coordinates": ["Coordinates"],
    "minmax.estimates.exact": ["Exact"],
    "minmax.estimates.variance_reduced": ["VarianceReduced"],
    "strategic.envelope": ["Envelope"],
    "minmax.sets.convex_set": ["ConvexSet"],
    "minmax.sets.ball": ["Ball"],
    "minmax.sets.box": ["Box"],
    "minmax.sets.cone": ["Cone"],
    "minmax.sets.l1_ball": ["L1Ball"],
    "minmax.sets.product": ["Product"],
    "minmax.sets.simplex": ["Simplex"],
    "minmax.updates.update": ["Phase", "Update"],
    "minmax.updates.ogda": ["OGDA"],
    "minmax.updates.sgda": ["SGDA"],
    "minmax.updates.extragradient": ["Extragradient"],
    "minmax.updates.past_extragradient": ["PastExtragradient"],
    "minmax.updates.anchored": ["Anchored"],
    "minmax.updates.alternating": ["Alternating"],
    "minmax.orders.order": ["Order"],
    "minmax.orders.reshuffle": ["Reshuffle"],
    "minmax.orders.with_replacement": ["WithReplacement"],
    "minmax.orders.shuffle_once": ["ShuffleOnce"],
    "minmax.checks": [
        "check_gradient",
        "check_order",
        "check_problem",
        "check_update",
    ],
    "minmax.set_checks": ["check_set"],
    "estimators.select_budget": ["BudgetCurve", "select_budget"],
    "tables.budget_learning.learn_budgets": ["learn_budgets"],
    "tables.budget_learning.learned_budgets": ["LearnedBudgets"],
    "tables.audit_table": ["TableAudit", "audit_table"],
    "tables.fit_table": ["fit_table"],
    "tables.load_model": ["load_model"],
    "estimators.radius_curve": ["RadiusCurve"],
    "estimators.select_radius": ["select_radius"],
    "estimators.logistic": ["StrategicLogisticRegression"],
    "estimators.robust": ["RobustStrategicClassifier"],
    "estimators.gamed_scorer": ["gamed_scorer"],
    "tables.table_fit": ["TableFit"],
    "tables.table_model": ["TableModel"],
    "estimators.table_budgets": ["Budgets"],
    "estimators.features": ["Features"],
    "tables.dataset": ["Dataset"],
    "tables.load_published": ["load_bank", "load_credit", "load_german"],
    "tables.read_table": ["read_table"],
    "estimators.prepare": ["Prepare"],
    "tables.synthetic": ["synthetic_people"],
    "core.errors": [
        "AnswerError",
        "BudgetExceeded",
        "BudgetWarning",
        "CapWarning",
        "ClusterError",
        "DataError",
        "DataNotFound",
        "DivergedError",
        "EvaluationError",
        "GameproofError",
        "IgnoresDataWarning",
        "JournalError",
        "ModelFileError",
        "StartProjectedWarning",
        "StateFileError",
    ],
    "estimators.fit_parquet": ["fit_parquet"],
    "strategic.baselines": ["plain_regression", "strategic_problem", "strategic_regression"],
    "strategic.saddle_point": ["largest_useful_radius", "saddle_point"],
    "strategic.risk": ["RiskEstimate", "estimate_risk"],
    "strategic.worst_case": ["WorstCase", "worst_case"],
    "strategic.check_response": ["check_response"],
    "strategic.budgets": ["BallBudget", "BoxBudget", "PriceBudget"],
    "strategic.imperfect_answers": ["Noisy", "Reluctant", "Stale"],
    "strategic.imperfect_moves": ["Boxed", "Limited", "Rounded"],
    "strategic.learning.learn_response": ["learn_response"],
    "strategic.learning.learned_response": ["LearnedResponse"],
    "strategic.degree_estimate": ["estimate_degree"],
    "strategic.refutation": ["Verdict", "refute"],
    "strategic.population": ["Population"],
    "strategic.power_costs": ["NoResponse", "PowerCost", "QuadraticCost"],
    "strategic.responses": ["BlackBox", "Response", "Sight"],
    "minmax.games.bilinear_game": ["BilinearGame"],
    "minmax.games.matrix_game": ["MatrixGame"],
    "minmax.games.quadratic_game": ["QuadraticGame"],
    "minmax.games.robust_least_squares": ["RobustLeastSquares"],
    "strategic.losses.check_loss": ["check_loss"],
    "strategic.losses.custom_loss": ["CustomLoss"],
    "strategic.losses.huber_hinge": ["HuberHinge"],
    "strategic.losses.logistic_loss": ["Logistic"],
    "strategic.losses.loss": ["Loss"],
    "strategic.losses.pseudo_huber_hinge": ["PseudoHuberHinge"],
    "minmax.problem": ["Problem", "duality_gap", "gap"],
    "minmax.saddle": ["Saddle"],
    "minmax.saddle_problem": ["SaddleProblem"],
    "strategic.robust_problem": ["StrategicProblem"],
    "auditing.audit": ["audit", "compare_models"],
    "auditing.audit_result": ["Audit"],
    "auditing.displays": ["GamingCurveDisplay", "RadiusCurveDisplay", "ThresholdDisplay"],
    "auditing.linear_model": ["LinearModel"],
    "auditing.radius_section": ["which_radius"],
    "auditing.page": ["write_page"],
    "auditing.audit_page": ["write_audit"],
    "auditing.average_splits": ["average_splits"],
    "minmax.averages": ["Average", "Last", "StepWeighted", "Suffix"],
    "minmax.parallel": ["solve_many"],
    "minmax.solver": ["Solver"],
    "minmax.paper_methods": ["ogda_rr", "ogda_wr", "sgda_rr", "sgda_wr"],
    "minmax.result": ["Result", "Snapshot"],
    "minmax.run": ["Run"],
    "minmax.schedules": ["Constant", "PerStep", "Power"],
    "minmax.solve": ["solve"],
    "minmax.questions": ["Question"],
    "minmax.state": ["State"],
    "minmax.trace": ["Trace"],
    "minmax.theory": ["theory"],
    "live": ["live"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'gameproof' has no attribute {name!r}")
    module = import_module(f"gameproof.{_HOME_OF[name]}")
    value = module if name in ("live", "theory") else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
