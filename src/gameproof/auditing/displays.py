"""Pictures in scikit-learn's style: `from_estimator` or `from_audit`, then `plot`.

Displays hold the numbers that they draw. matplotlib is imported when something is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

from numpy.typing import ArrayLike

from gameproof.auditing.audit import MULTIPLES, audit
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.figures import line_style
from gameproof.estimators.radius_curve import RadiusCurve
from gameproof.estimators.robust import RobustStrategicClassifier
from gameproof.estimators.select_radius import select_radius

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

MEASURES = {"accuracy": "accuracy", "auc": "AUC", "accepted_negative": "bad applicants accepted"}


@final
@dataclass(eq=False, repr=False)
class GamingCurveDisplay:
    """The quality of classifiers when people use multiples of their budgets.

    Parameters
    ----------
    audit : Audit
        The result of `audit` or `compare_models`.
    measure : {"accuracy", "auc", "accepted_negative"}, optional
        What is drawn: accuracy, AUC, or the share of bad applicants who are accepted.
    who : {"bad", "refused"}, optional
        Who moves: everyone who should be refused, or everyone who is refused.

    Raises
    ------
    ValueError
        If the measure is not one of these.

    Examples
    --------
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> model = gp.StrategicLogisticRegression(budgets={2: (-0.5, 0.5)}).fit(X, y)
    >>> display = gp.GamingCurveDisplay.from_estimator(model, X, y, multiples=[2])
    >>> display.ax_.get_xlabel()
    'multiple of the budgets'
    """

    audit: Audit
    measure: str = "accuracy"
    who: str = "bad"
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {self.measure!r}")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        budgets: Any = None,
        favourable: Any = None,
        multiples: Any = MULTIPLES,
        measure: str = "accuracy",
        ax: Axes | None = None,
    ) -> GamingCurveDisplay:
        """Audits a fitted classifier, as `audit` does, and draws the result."""
        found = audit(
            estimator, X, y, budgets=budgets, favourable=favourable, multiples=multiples, radii=()
        )
        return cls(found, measure).plot(ax)

    @classmethod
    def from_audit(
        cls, audit: Audit, *, measure: str = "accuracy", ax: Axes | None = None
    ) -> GamingCurveDisplay:
        """Draws an audit that was made before."""
        return cls(audit, measure).plot(ax)

    def plot(self, ax: Axes | None = None) -> GamingCurveDisplay:
        """Draws the curves, on these axes or on new ones."""
        self.ax_, self.figure_ = _axes(ax)
        drawn = len(self.ax_.get_lines())  # by other displays, in the first styles
        for k, name in enumerate(self.audit.models, start=drawn):
            rows = [row for row in self.audit.of(self.audit.gaming, name) if row.movers == self.who]
            x, style = [row.multiple for row in rows], line_style(name, k)
            values = [getattr(row, self.measure) for row in rows]
            look = {"color": style.colour, "linestyle": style.dash, "marker": style.marker}
            self.ax_.plot(x, values, label=name, **look)
            if self.measure == "accuracy":
                ends = [row.low for row in rows], [row.high for row in rows]
                self.ax_.fill_between(x, *ends, color=style.colour, alpha=0.12, linewidth=0)
        self.ax_.set(xlabel="multiple of the budgets", ylabel=MEASURES[self.measure])
        self.ax_.legend()
        return self


@final
@dataclass(eq=False, repr=False)
class RadiusCurveDisplay:
    """What `select_radius` measured, and the radius that it recommends.

    Parameters
    ----------
    curve : RadiusCurve
        The result of `select_radius`.

    Examples
    --------
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> curve = gp.select_radius(X, y, radii=[0, 0.05, 0.1], folds=3)
    >>> gp.RadiusCurveDisplay.from_curve(curve).ax_.get_xlabel()
    'radius'
    """

    curve: RadiusCurve
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: RobustStrategicClassifier | Pipeline,
        X: ArrayLike,
        y: ArrayLike,
        *,
        ax: Axes | None = None,
        **options: Any,
    ) -> RadiusCurveDisplay:
        """Calls `select_radius` with these options and draws the result."""
        return cls(select_radius(X, y, estimator, **options)).plot(ax)

    @classmethod
    def from_curve(cls, curve: RadiusCurve, *, ax: Axes | None = None) -> RadiusCurveDisplay:
        """Draws a curve that was computed before."""
        return cls(curve).plot(ax)

    def plot(self, ax: Axes | None = None) -> RadiusCurveDisplay:
        """Draws the curves, on these axes or on new ones."""
        self.ax_, self.figure_ = _axes(ax)
        rows = self.curve.rows()
        x = [row["radius"] for row in rows]
        for k, name in enumerate(("clean", "gamed")):
            style = line_style("", k)
            self.ax_.errorbar(
                x,
                [row[name] for row in rows],
                [row[f"{name} error"] for row in rows],
                label=name,
                color=style.colour,
                linestyle=style.dash,
                marker=style.marker,
                capsize=3,
            )
        at = self.curve.recommended
        self.ax_.axvline(at, color="#888888", linewidth=1, label=f"recommended: {at:.3g}")
        self.ax_.set(xlabel="radius", ylabel=self.curve.measure.label)
        # matplotlib does not see error bars when it looks for a free place.
        self.ax_.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        return self


@final
@dataclass(eq=False, repr=False)
class ThresholdDisplay:
    """Bad rate or cost over approval rates, when nobody games and when bad applicants game.

    Parameters
    ----------
    audit : Audit
        The result of `audit` or `compare_models`; its last model is drawn.
    measure : {"bad_rate", "cost"}, optional
        What is drawn: the share of bad applicants among the approved, or the cost per applicant.

    Raises
    ------
    ValueError
        If the measure is not one of these.

    Examples
    --------
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> model = gp.StrategicLogisticRegression(budgets={2: (-0.5, 0.5)}).fit(X, y)
    >>> found = gp.audit(model, X, y)
    >>> gp.ThresholdDisplay.from_audit(found).ax_.get_xlabel()
    'approved'
    """

    audit: Audit
    measure: str = "bad_rate"
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.measure not in ("bad_rate", "cost"):
            raise ValueError(f"measure must be bad_rate or cost, got {self.measure!r}")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        measure: str = "bad_rate",
        ax: Axes | None = None,
        **options: Any,
    ) -> ThresholdDisplay:
        """Audits a fitted classifier, as `audit` does with these options, and draws the result."""
        return cls(audit(estimator, X, y, **options), measure).plot(ax)

    @classmethod
    def from_audit(
        cls, audit: Audit, *, measure: str = "bad_rate", ax: Axes | None = None
    ) -> ThresholdDisplay:
        """Draws an audit that was made before."""
        return cls(audit, measure).plot(ax)

    def plot(self, ax: Axes | None = None) -> ThresholdDisplay:
        """Draws the curves, on these axes or on new ones."""
        self.ax_, self.figure_ = _axes(ax)
        model = self.audit.models[-1]
        rows = self.audit.of(self.audit.thresholds, model)
        drawn = len(self.ax_.get_lines())  # by other displays, in the first styles
        curves = (("", "nobody games"), ("gamed_", "budgets used"))
        for k, (prefix, name) in enumerate(curves, start=drawn):
            style = line_style("", k)
            if ax is not None:  # where curves of other models may be
                name = f"{model}, {name}"
            points = sorted(
                (getattr(row, f"{prefix}approved"), getattr(row, f"{prefix}{self.measure}"))
                for row in rows
                if getattr(row, f"{prefix}{self.measure}") is not None
            )
            x, y = zip(*points, strict=True)
            look = {"color": style.colour, "linestyle": style.dash, "marker": style.marker}
            self.ax_.plot(x, y, label=name, **look)
        label = "bad among the approved" if self.measure == "bad_rate" else "cost per applicant"
        self.ax_.set(xlabel="approved", ylabel=label)
        self.ax_.legend()
        return self


def _axes(ax: Axes | None) -> tuple[Any, Any]:
    """The given axes, or those of a new figure, and their figure."""
    if ax is not None:
        return ax, ax.figure
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("displays need matplotlib: pip install 'gameproof[plot]'") from error
    figure, axes = pyplot.subplots(layout="constrained")
    return axes, figure
