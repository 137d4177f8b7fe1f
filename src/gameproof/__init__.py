"""gameproof: classifiers that hold up when people game them.

Inside it, a solver for finite-sum convex-concave min-max problems that can only be queried:

>>> import gameproof as gp
>>> game = gp.MatrixGame.random(n=50, seed=1)
>>> solver = gp.ogda_rr(gradient=gp.TwoPoint(), step=gp.Power(0.05, 0.5), radius=0.1)
>>> result = gp.solve(game, solver, epochs=500, seed=0)
>>> round(gp.duality_gap(game, result.x, result.y), 2)
0.12

Names load on first use, so that the import itself takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gameproof import theory as theory
    from gameproof.classify.budget import BudgetCurve as BudgetCurve
    from gameproof.classify.budget import select_budget as select_budget
    from gameproof.classify.learning.learn import learn_budgets as learn_budgets
    from gameproof.classify.learning.learned import LearnedBudgets as LearnedBudgets
    from gameproof.classify.load import load_model as load_model
    from gameproof.classify.radius import RadiusCurve as RadiusCurve
    from gameproof.classify.radius import select_radius as select_radius
    from gameproof.classify.regression import (
        StrategicLogisticRegression as StrategicLogisticRegression,
    )
    from gameproof.classify.robust import RobustStrategicClassifier as RobustStrategicClassifier
    from gameproof.classify.scorer import gamed_scorer as gamed_scorer
    from gameproof.classify.table import TableModel as TableModel
    from gameproof.data.budgets import Budgets as Budgets
    from gameproof.data.dataset import Dataset as Dataset
    from gameproof.data.dataset import Features as Features
    from gameproof.data.load import load_bank as load_bank
    from gameproof.data.load import load_credit as load_credit
    from gameproof.data.plan import read_table as read_table
    from gameproof.data.prepare import Prepare as Prepare
    from gameproof.data.synthetic import synthetic_people as synthetic_people
    from gameproof.errors import AnswerError as AnswerError
    from gameproof.errors import BudgetExceeded as BudgetExceeded
    from gameproof.errors import BudgetWarning as BudgetWarning
    from gameproof.errors import CapWarning as CapWarning
    from gameproof.errors import DataError as DataError
    from gameproof.errors import DataNotFound as DataNotFound
    from gameproof.errors import DivergedError as DivergedError
    from gameproof.errors import EvaluationError as EvaluationError
    from gameproof.errors import GameproofError as GameproofError
    from gameproof.errors import IgnoresDataWarning as IgnoresDataWarning
    from gameproof.errors import ModelFileError as ModelFileError
    from gameproof.errors import StartProjectedWarning as StartProjectedWarning
    from gameproof.errors import StateFileError as StateFileError
    from gameproof.exact.baselines import plain_regression as plain_regression
    from gameproof.exact.baselines import strategic_problem as strategic_problem
    from gameproof.exact.baselines import strategic_regression as strategic_regression
    from gameproof.exact.reference import largest_useful_radius as largest_useful_radius
    from gameproof.exact.reference import saddle_point as saddle_point
    from gameproof.exact.risk import RiskEstimate as RiskEstimate
    from gameproof.exact.risk import estimate_risk as estimate_risk
    from gameproof.exact.worst_case import WorstCase as WorstCase
    from gameproof.exact.worst_case import worst_case as worst_case
    from gameproof.population.budgets import BallBudget as BallBudget
    from gameproof.population.budgets import BoxBudget as BoxBudget
    from gameproof.population.budgets import PriceBudget as PriceBudget
    from gameproof.population.costs import NoResponse as NoResponse
    from gameproof.population.costs import PowerCost as PowerCost
    from gameproof.population.costs import QuadraticCost as QuadraticCost
    from gameproof.population.imperfect import Boxed as Boxed
    from gameproof.population.imperfect import Limited as Limited
    from gameproof.population.imperfect import Noisy as Noisy
    from gameproof.population.imperfect import Reluctant as Reluctant
    from gameproof.population.imperfect import Rounded as Rounded
    from gameproof.population.imperfect import Stale as Stale
    from gameproof.population.learn import learn_response as learn_response
    from gameproof.population.learned import LearnedResponse as LearnedResponse
    from gameproof.population.observed import Verdict as Verdict
    from gameproof.population.observed import estimate_degree as estimate_degree
    from gameproof.population.observed import refute as refute
    from gameproof.population.population import Population as Population
    from gameproof.population.responses import BlackBox as BlackBox
    from gameproof.population.responses import Response as Response
    from gameproof.population.responses import Sight as Sight
    from gameproof.problem.games import BilinearGame as BilinearGame
    from gameproof.problem.games import MatrixGame as MatrixGame
    from gameproof.problem.games import QuadraticGame as QuadraticGame
    from gameproof.problem.games import RobustLeastSquares as RobustLeastSquares
    from gameproof.problem.losses import CustomLoss as CustomLoss
    from gameproof.problem.losses import HuberHinge as HuberHinge
    from gameproof.problem.losses import Logistic as Logistic
    from gameproof.problem.losses import Loss as Loss
    from gameproof.problem.losses import PseudoHuberHinge as PseudoHuberHinge
    from gameproof.problem.losses import check_loss as check_loss
    from gameproof.problem.problem import Problem as Problem
    from gameproof.problem.problem import Saddle as Saddle
    from gameproof.problem.problem import duality_gap as duality_gap
    from gameproof.problem.problem import gap as gap
    from gameproof.problem.saddle import SaddleProblem as SaddleProblem
    from gameproof.problem.sets import Ball as Ball
    from gameproof.problem.sets import Box as Box
    from gameproof.problem.sets import Cone as Cone
    from gameproof.problem.sets import ConvexSet as ConvexSet
    from gameproof.problem.sets import L1Ball as L1Ball
    from gameproof.problem.sets import Product as Product
    from gameproof.problem.sets import Simplex as Simplex
    from gameproof.problem.strategic import StrategicProblem as StrategicProblem
    from gameproof.report.audit import audit as audit
    from gameproof.report.audit import compare_models as compare_models
    from gameproof.report.findings import Audit as Audit
    from gameproof.report.model import LinearModel as LinearModel
    from gameproof.report.on_choice import which_radius as which_radius
    from gameproof.report.page import write_page as write_page
    from gameproof.report.sections import write_audit as write_audit
    from gameproof.report.splits import average_splits as average_splits
    from gameproof.solver.averages import Average as Average
    from gameproof.solver.averages import Last as Last
    from gameproof.solver.averages import StepWeighted as StepWeighted
    from gameproof.solver.averages import Suffix as Suffix
    from gameproof.solver.extragradient import Extragradient as Extragradient
    from gameproof.solver.gradients import Envelope as Envelope
    from gameproof.solver.gradients import Exact as Exact
    from gameproof.solver.gradients import OnePoint as OnePoint
    from gameproof.solver.gradients import Residual as Residual
    from gameproof.solver.gradients import TwoPoint as TwoPoint
    from gameproof.solver.many import solve_many as solve_many
    from gameproof.solver.method import Solver as Solver
    from gameproof.solver.method import ogda_rr as ogda_rr
    from gameproof.solver.method import ogda_wr as ogda_wr
    from gameproof.solver.method import sgda_rr as sgda_rr
    from gameproof.solver.method import sgda_wr as sgda_wr
    from gameproof.solver.orders import Reshuffle as Reshuffle
    from gameproof.solver.orders import ShuffleOnce as ShuffleOnce
    from gameproof.solver.orders import WithReplacement as WithReplacement
    from gameproof.solver.result import Result as Result
    from gameproof.solver.result import Snapshot as Snapshot
    from gameproof.solver.run import Run as Run
    from gameproof.solver.schedules import Constant as Constant
    from gameproof.solver.schedules import Power as Power
    from gameproof.solver.solve import solve as solve
    from gameproof.solver.state import State as State
    from gameproof.solver.steps import Question as Question
    from gameproof.solver.trace import Trace as Trace
    from gameproof.solver.updates import OGDA as OGDA
    from gameproof.solver.updates import SGDA as SGDA
    from gameproof.solver.updates import Phase as Phase
    from gameproof.solver.updates import Update as Update

__version__ = "0.1.0"

# Where each public name lives.
_HOMES = {
    "classify.budget": ["BudgetCurve", "select_budget"],
    "classify.learning.learn": ["learn_budgets"],
    "classify.learning.learned": ["LearnedBudgets"],
    "classify.load": ["load_model"],
    "classify.radius": ["RadiusCurve", "select_radius"],
    "classify.regression": ["StrategicLogisticRegression"],
    "classify.robust": ["RobustStrategicClassifier"],
    "classify.scorer": ["gamed_scorer"],
    "classify.table": ["TableModel"],
    "data.budgets": ["Budgets"],
    "data.dataset": ["Dataset", "Features"],
    "data.load": ["load_bank", "load_credit"],
    "data.plan": ["read_table"],
    "data.prepare": ["Prepare"],
    "data.synthetic": ["synthetic_people"],
    "errors": [
        "AnswerError",
        "BudgetExceeded",
        "BudgetWarning",
        "CapWarning",
        "DataError",
        "DataNotFound",
        "DivergedError",
        "EvaluationError",
        "GameproofError",
        "IgnoresDataWarning",
        "ModelFileError",
        "StartProjectedWarning",
        "StateFileError",
    ],
    "exact.baselines": ["plain_regression", "strategic_problem", "strategic_regression"],
    "exact.reference": ["largest_useful_radius", "saddle_point"],
    "exact.risk": ["RiskEstimate", "estimate_risk"],
    "exact.worst_case": ["WorstCase", "worst_case"],
    "population.budgets": ["BallBudget", "BoxBudget", "PriceBudget"],
    "population.imperfect": ["Boxed", "Limited", "Noisy", "Reluctant", "Rounded", "Stale"],
    "population.learn": ["learn_response"],
    "population.learned": ["LearnedResponse"],
    "population.observed": ["Verdict", "estimate_degree", "refute"],
    "population.population": ["Population"],
    "population.costs": ["NoResponse", "PowerCost", "QuadraticCost"],
    "population.responses": ["BlackBox", "Response", "Sight"],
    "problem.games": ["BilinearGame", "MatrixGame", "QuadraticGame", "RobustLeastSquares"],
    "problem.losses": [
        "CustomLoss",
        "HuberHinge",
        "Logistic",
        "Loss",
        "PseudoHuberHinge",
        "check_loss",
    ],
    "problem.problem": ["Problem", "Saddle", "duality_gap", "gap"],
    "problem.saddle": ["SaddleProblem"],
    "problem.sets": ["Ball", "Box", "Cone", "ConvexSet", "L1Ball", "Product", "Simplex"],
    "problem.strategic": ["StrategicProblem"],
    "report.audit": ["audit", "compare_models"],
    "report.findings": ["Audit"],
    "report.model": ["LinearModel"],
    "report.on_choice": ["which_radius"],
    "report.page": ["write_page"],
    "report.sections": ["write_audit"],
    "report.splits": ["average_splits"],
    "solver.averages": ["Average", "Last", "StepWeighted", "Suffix"],
    "solver.extragradient": ["Extragradient"],
    "solver.gradients": ["Envelope", "Exact", "OnePoint", "Residual", "TwoPoint"],
    "solver.many": ["solve_many"],
    "solver.method": ["Solver", "ogda_rr", "ogda_wr", "sgda_rr", "sgda_wr"],
    "solver.orders": ["Reshuffle", "ShuffleOnce", "WithReplacement"],
    "solver.result": ["Result", "Snapshot"],
    "solver.run": ["Run"],
    "solver.schedules": ["Constant", "Power"],
    "solver.solve": ["solve"],
    "solver.steps": ["Question"],
    "solver.state": ["State"],
    "solver.trace": ["Trace"],
    "solver.updates": ["OGDA", "SGDA", "Phase", "Update"],
    "theory": ["theory"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'gameproof' has no attribute {name!r}")
    module = import_module(f"gameproof.{_HOME_OF[name]}")
    value = module if name == "theory" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
