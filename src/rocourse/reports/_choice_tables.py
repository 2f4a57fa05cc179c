"""What came of the candidates for RoCoursePanel's settings."""

from collections.abc import Mapping, Sequence
from typing import Any

from rocourse.reports._parts import Part, Table, grouped, shown

_MEASURES = (
    ("robust validity", "robust_validity"),
    ("± seeds", "spread"),
    ("proximity", "proximity"),
    ("accuracy", "accuracy"),
    ("inliers", "inliers"),
    ("adverse: robust validity", "adverse_robust_validity"),
    ("adverse: proximity", "adverse_proximity"),
)
_NOTE = (
    "Means over seeds (and subsets) of trials that do not read reported test rows, but for those "
    "that say so. Halves, quarters: rows of the training set that ask, their judges trained on "
    "shifted rows. Early years: loan's 1994, 1997, 1999 and 2001 judge each other."
)


def choice_tables(
    choices: Sequence[tuple[str, str, Mapping[str, float]]],
    folds: Sequence[Mapping[str, Any]],
    shares: Sequence[Mapping[str, Any]],
) -> list[Part]:
    """The candidates, their accuracy by folds, and the threshold of the outlier factor.

    Args:
        choices: What a candidate was judged by, its title, and what came of it.
        folds: A candidate's name, accuracy, AUC, gain and standard error.
        shares: A threshold, and the shares of recourses and test rows that are inliers.
    """
    rows = [
        (proxy, title, *(shown(found.get(measure), 4) for _, measure in _MEASURES))
        for proxy, title, found in choices
    ]
    columns = grouped(("", ("data", "method", *(name for name, _ in _MEASURES))))
    return [
        Table("Candidates", columns, tuple(rows), _NOTE),
        Table(
            "German Credit: accuracy by folds of the training rows",
            grouped(("", ("method", "accuracy", "AUC", "gain", "standard error"))),
            tuple(
                (
                    trial["name"],
                    *(shown(trial[m], 4) for m in ("accuracy", "auc", "gain", "standard_error")),
                )
                for trial in folds
            ),
            "The gain is over the paper's model, on the same folds.",
        ),
        Table(
            "German Credit: inliers by the threshold of the local outlier factor",
            grouped(("", ("threshold", "recourses", "test rows"))),
            tuple(
                (share["threshold"], shown(share["recourses"], 4), shown(share["test_rows"], 4))
                for share in shares
            ),
            "The share of training rows that are outliers; auto is scikit-learn's factor of 1.5.",
        ),
    ]
