"""Columns that give the target away: known only when it is, as a rule."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rocourse.schema.check._columns import Column, TableColumns
from rocourse.schema.check._record import Finding, option

# Rows that are enough to see it, and the fewest of a class that make it no chance.
_ROWS, _FEWEST = 4000, 10
# Balanced accuracy on rows that were held out.
_NEARLY_PERFECT = 0.98
_LEAVES = 4
_CATEGORIES = 100


def giveaways(table: TableColumns) -> Iterator[Finding]:
    """Columns of which one simple rule predicts the target nearly perfectly on other rows."""
    target = table.target
    if target is None or not 2 <= len(target.distinct) <= 20:
        return
    rows = np.flatnonzero(target.codes >= 0)
    rng = np.random.default_rng(0)
    rows = rng.permutation(rows)[:_ROWS]
    labels = target.codes[rows]
    common = np.flatnonzero(np.bincount(labels) >= _FEWEST)
    if len(common) < 2:
        return
    rows = rows[np.isin(labels, common)]
    for column in table.features:
        if not 2 <= len(column.distinct) + bool(column.missing):
            continue
        if np.array_equal(column.codes, target.codes) or column.traits.ids:
            continue
        score = _score(column, rows, target.codes[rows])
        if score >= _NEARLY_PERFECT:
            drop = option("drop", [column.name])
            yield Finding(
                kind="giveaway",
                columns=(column.name,),
                severity="warning",
                sentence=f"{column.name!r} alone tells {target.name!r} nearly always (balanced "
                f"accuracy {score:.3f} on held-out rows); if it is known only afterwards, leave it "
                f"out with {drop}.",
                option=drop,
            )


def _score(column: Column, rows: npt.NDArray[np.intp], labels: npt.NDArray[np.intp]) -> float:
    """Balanced accuracy of a rule about this column, learned on one half and tried on the other."""
    halves = np.arange(len(rows)) % 2 == 0
    right = np.zeros(len(rows), dtype=bool)
    for half in (halves, ~halves):
        told = _rule(column, rows[half], labels[half], rows[~half])
        if told is None:
            return 0.0
        right[~half] = told == labels[~half]
    return float(np.mean([right[labels == label].mean() for label in np.unique(labels)]))


def _rule(
    column: Column,
    rows: npt.NDArray[np.intp],
    labels: npt.NDArray[np.intp],
    others: npt.NDArray[np.intp],
) -> npt.NDArray[np.intp] | None:
    if column.numbers is not None:
        # Slow to import, and needed by nothing else that reads a schema.
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(
            max_leaf_nodes=_LEAVES, class_weight="balanced", random_state=0
        )
        values = np.clip(column.numbers, -1e30, 1e30)[:, None]
        told: npt.NDArray[np.intp] = tree.fit(values[rows], labels).predict(values[others])
        return told
    if len(column.distinct) > _CATEGORIES:
        return None
    # Missing is a category of its own, the last one.
    seen = np.zeros((len(column.distinct) + 1, labels.max() + 1))
    np.add.at(seen, (column.codes[rows], labels), 1)
    likely: npt.NDArray[np.intp] = (seen / np.maximum(seen.sum(axis=0), 1)).argmax(axis=1)
    return likely[column.codes[others]]
