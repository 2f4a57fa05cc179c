"""A method in the rolling protocol: what its promises would have come to, period after period."""

from collections.abc import Callable
from typing import Any

import pandas as pd
from sklearn.base import clone

from rocourse._wording import show
from rocourse.errors import DataError
from rocourse.estimators import RecourseClassifier, VanillaCF
from rocourse.evaluation import RollingResult, common_judges, run_rolling
from rocourse.models import PlainTrainer, Trainer

Advance = Callable[[int, int, str], None]
"""Told how many of how many models are fitted, and which comes next."""


def evaluate_rolling(
    model: RecourseClassifier,
    rows: pd.DataFrame,
    labels: "pd.Series[Any]",
    periods: "pd.Series[Any]",
    *,
    kept: float | None = None,
    on_progress: Advance | None = None,
) -> RollingResult:
    """Trains a method anew for each period, and has what comes next judge its promises.

    For each period but the last, a model of all periods so far makes promises to those whom it
    refuses among the period's held-out rows. The model retrained with the next period, a model of
    the next period alone, and common judges (a plain network, gradient boosting, logistic
    regression; trained on what the retrained model has seen) say which are kept. All decide by the
    method's cut-off.

    Args:
        model: A fitted model: its schema, its options and its seed are used, not its weights.
        rows: Rows of all periods.
        labels: Their classes.
        periods: The period of each; they follow each other in sorted order.
        kept: The share of promises to be kept, if not the model's own.
        on_progress: Told of each model.

    Raises:
        DataError: A period is missing, or has no rows of some class.
        ConfigError: There are fewer than two periods.
    """
    if periods.isna().any():
        place = periods.index[periods.isna()][0]
        raise DataError(
            f"Every row must have a period, but row {show(place)} has none; fill it in, or leave "
            "such rows out."
        )
    target = str(labels.name)
    frame = rows.assign(**{target: labels})
    parts = {str(period): frame[periods == period] for period in sorted(periods.unique())}
    # An approval rate is each model's own; a threshold goes with the model that is explained.
    cut_off: dict[str, Any] = {"threshold": None, "approval_rate": model.approval_rate}
    if model.approval_rate is None and model.cut_off_ is not None:
        cut_off["threshold"] = model.cut_off_.threshold
    blank: RecourseClassifier = clone(model).set_params(
        schema=model.schema_,
        trainer=model.trainer_,
        proposer=model.proposer_,
        attack=model.attack_,
        preset=None,
        witnesses=0,
        **cut_off,
    )
    if kept is not None:
        blank.set_params(kept=kept)
    done, total = 0, 2 * len(parts) - 1

    def tell(name: str) -> None:
        nonlocal done
        if on_progress is not None:
            on_progress(done, total, name)
        done += 1

    def fit(
        name: str, X: pd.DataFrame, y: "pd.Series[Any]", groups: "pd.Series[str] | None", seed: int
    ) -> RecourseClassifier:
        tell(name)
        fitted: RecourseClassifier = clone(blank).set_params(random_state=seed)
        return fitted.fit(X, y, groups=groups)

    def plain(trainer: Trainer, X: pd.DataFrame, y: "pd.Series[Any]", seed: int) -> VanillaCF:
        """What decides; its recourses are of no use here."""
        return VanillaCF(model.schema_, trainer=trainer, random_state=seed, **cut_off).fit(X, y)

    def alone(name: str, X: pd.DataFrame, y: "pd.Series[Any]", seed: int) -> VanillaCF:
        tell(name)
        return plain(model.trainer_, X, y, seed)

    return run_rolling(
        parts,
        target,
        fit,
        seed=model.seed_,
        fit_alone=alone,
        judges={
            "network": lambda X, y, seed: plain(PlainTrainer(), X, y, seed),
            **common_judges(model.schema_, **cut_off),
        },
    )
