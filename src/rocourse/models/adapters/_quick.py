"""Quick answers of models whose columns are prepared each by itself, without tables.

A search asks about thousands of rows that differ in one value, some at a time: a table for each
call, and a pipeline's checks of it, cost many times what the model does. Where each column of what
the last step sees is a line of one number, or a table of one category, rows become its matrix at
once; trees are evaluated as arrays, logistic regressions by a product.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from rocourse.errors import RocourseError
from rocourse.models.adapters._last_steps import (
    LAST_STEPS,
    Arrays,
    LastStep,
    LineStep,
    TreesStep,
)
from rocourse.models.adapters._views import shortest
from rocourse.models.trees import has_trees, read_trees
from rocourse.schema import COLUMN, Layout, NumberRule, Schema

Prepare = Callable[[Any], np.ndarray]
"""From a table or an array to what the last step sees, float64 `[n, columns]`."""

# Rows that the quick answers are checked on, and how far they may be from the model's own.
_CHECKED = 64
_TOLERANCE = 1e-5
# Values of a number that tell whether a column is a line of it.
_PROBES = 7
# Of whole numbers with more values, a model is a line of each.
_MOST_VALUES = 4096
# Rows whose numbers are looked up, as far as they have been read before: reading few takes as long
# as reading many. So many numbers of a feature are kept.
_LOOKED_UP, _KEPT = 512, 1 << 16


class ReadRows(NamedTuple):
    """Encoded rows as models are shown them."""

    raw: np.ndarray
    """The numbers, `[n, n_continuous]`."""
    codes: list[np.ndarray]
    """The category of each feature, `[n]` each."""


@dataclass(frozen=True, eq=False)
class Quick:
    """A model as a function of encoded rows that makes no table of them.

    Attributes:
        layout: Of the encoded rows.
        rules: Of the numbers, in their order.
        base: What the last step sees of no feature, `[columns]`.
        slopes: By how much each number raises each column, `[n_continuous, columns]`.
        tables: What each category adds to each column, `[categories, columns]` a feature.
        answer: The last step.
        whole: What a whole number's columns are for each of its values, `[values, columns of its
            own]` a number; None of others. Trees turn halfway between values of training rows,
            where another row may lie: a line of it would be told apart by its last digit.
    """

    layout: Layout
    rules: tuple[NumberRule, ...]
    base: np.ndarray
    slopes: np.ndarray
    tables: tuple[np.ndarray, ...]
    answer: LastStep
    whole: tuple[np.ndarray | None, ...] = ()

    def read(self, x: np.ndarray) -> ReadRows:
        """Encoded rows `[n, width]` as all models of the schema are shown them."""
        raw = np.empty((len(x), self.layout.n_continuous))
        for k, rule in enumerate(self.rules):
            few = len(x) <= _LOOKED_UP
            raw[:, k] = self._looked_up(k, x[:, k]) if few else _raw(rule, x[:, k])
        return ReadRows(raw, [x[:, group].argmax(axis=1) for group in self.layout.group_slices])

    def _looked_up(self, k: int, codes: np.ndarray) -> list[float]:
        """As `_raw`: rows of a search differ in few values, and come again."""
        values, known = codes.tolist(), self._known[k]
        if len(known) > _KEPT:
            known = self._known[k] = {}
        if new := [value for value in set(values) if value not in known]:
            told = _raw(self.rules[k], np.array(new, codes.dtype))
            known.update(zip(new, told.tolist(), strict=True))
        return [known[value] for value in values]

    @cached_property
    def _known(self) -> list[dict[float, float]]:
        return [{} for _ in self.rules]

    def __call__(self, x: np.ndarray, read: ReadRows | None = None) -> np.ndarray:
        """Probabilities of encoded rows `[n, width]`, columns in the model's order.

        Args:
            x: The rows.
            read: What `read` gave for them, where it is known.
        """
        return self.answer(self.seen(x, read))

    def seen(self, x: np.ndarray, read: ReadRows | None = None) -> np.ndarray:
        """What the last step sees of encoded rows: float64 `[n, columns]`."""
        raw, codes = self.read(x) if read is None else read
        seen: np.ndarray = self.base + raw @ self.slopes
        for code, table in zip(codes, self.tables, strict=True):
            seen += table[code]
        for k, values in enumerate(self.whole):
            if values is not None:
                place = (raw[:, k] - self.rules[k].feature.low).astype(np.intp)
                seen[:, self.slopes[k] != 0.0] = values[place]
        return seen

    @cached_property
    def turns(self) -> tuple[np.ndarray, ...]:
        """Of each number the encoded values at which trees turn, ascending; none of other models.

        Of columns that a number is alone in: where others move too, so do the places.
        """
        told = []
        alone = (self.slopes != 0.0).sum(axis=0) == 1
        for rule, slopes in zip(self.rules, self.slopes, strict=True):
            places = [
                (self.answer.turns(int(column)) - self.base[column]) / slopes[column]
                for column in np.flatnonzero(alone & (slopes != 0.0))
            ]
            raw = np.concatenate([np.empty(0), *places])
            told.append(np.unique((raw - rule.feature.low) / rule.feature.span))
        return tuple(told)

    def to_state(self) -> tuple[dict[str, Any], Arrays]:
        """JSON-able values and arrays."""
        rest, arrays = self.answer.to_state()
        tables = {f"tables.{k}": np.nan_to_num(table) for k, table in enumerate(self.tables)}
        # What the model is shown of no category: stored arrays are finite.
        tables |= {
            f"gaps.{k}": np.isnan(table)
            for k, table in enumerate(self.tables)
            if np.isnan(table).any()
        }
        last = {f"last.{name}": array for name, array in arrays.items()}
        own = {"base": self.base, "slopes": self.slopes}
        own |= {f"whole.{k}": each for k, each in enumerate(self.whole) if each is not None}
        return {"last_step": self.answer.kind, **rest}, {**own, **tables, **last}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays, schema: Schema) -> "Quick":
        """The inverse of `to_state`."""
        last = {
            name.removeprefix("last."): array
            for name, array in arrays.items()
            if name.startswith("last.")
        }
        layout = schema.layout
        return cls(
            layout,
            _number_rules(schema),
            arrays["base"],
            arrays["slopes"],
            tuple(_with_gaps(arrays, k) for k in range(layout.n_categorical)),
            LAST_STEPS[header["last_step"]].from_state(header, last),
            tuple(arrays.get(f"whole.{k}") for k in range(layout.n_continuous)),
        )


def tree_votes(model: Any, x: np.ndarray) -> np.ndarray | None:
    """The class index that each tree of a forest votes for, `[n, trees]`; None of other models.

    Args:
        model: A model of the user's, as adapted or as stored.
        x: Encoded rows, float32 `[n, width]`.
    """
    quick: Quick | None = getattr(model, "quick", None)
    if quick is None or not isinstance(quick.answer, TreesStep):
        return None
    columns = quick.answer.votes(quick.seen(x))
    return None if columns is None else np.argsort(model.order)[columns]


def make_quick(
    model: Any,
    schema: Schema,
    shown: Callable[[np.ndarray], Any],
    told: Callable[[np.ndarray], np.ndarray],
) -> Quick | None:
    """The model without tables, if its columns are prepared each by itself.

    Args:
        model: The user's model.
        schema: What encoded rows are encoded by.
        shown: From encoded rows to the table that the model is called with.
        told: From encoded rows to the model's own probabilities, to be checked against.
    """
    parts = _parts(model)
    if parts is None:
        return None
    prepare, answer = parts
    layout, rules = schema.layout, _number_rules(schema)

    def seen(x: np.ndarray) -> np.ndarray:
        return np.asarray(prepare(shown(x)), np.float64)

    middle = np.zeros((1, layout.width), np.float32)
    middle[:, : layout.n_continuous] = 0.5
    for group in layout.group_slices:
        middle[:, group.start] = 1.0
    try:
        start = seen(np.repeat(middle, 2, axis=0))[0]
        slopes = np.zeros((layout.n_continuous, len(start)))
        for k, rule in enumerate(rules):
            line = _line(seen, rule, middle, k)
            if line is None:
                return None
            slopes[k] = line
        tables = [_table(seen, middle, group) - start for group in layout.group_slices]
        # Columns of a single number, to which no category adds.
        alone = (slopes != 0.0).sum(axis=0) == 1
        alone &= ~np.any([(table != 0.0).any(axis=0) for table in tables], axis=0)
        whole = tuple(
            _whole(seen, rule, middle, k, slopes[k] != 0.0)
            if alone[slopes[k] != 0.0].all()
            else None
            for k, rule in enumerate(rules)
        )
    except (RocourseError, ValueError, TypeError, KeyError):
        # Whatever cannot be looked at in this way is asked as it is.
        return None
    here = np.array([_raw(rule, middle[:, k])[0] for k, rule in enumerate(rules)])
    base = start - here @ slopes
    quick = Quick(layout, rules, base, slopes, tuple(tables), answer, whole)
    if isinstance(answer, TreesStep) and not _agrees(quick, told, layout):
        # XGBoost takes for missing what a sparse matrix leaves out.
        quick = replace(quick, answer=answer.without_zeros())
    return quick if _agrees(quick, told, layout) else None


def _parts(model: Any) -> tuple[Prepare, LastStep] | None:
    """How columns are prepared, and what the last step makes of them."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    step = _tree_step(last) if has_trees(last) else _line_step(last)
    if step is None or not isinstance(model, Pipeline):
        return step
    (rows, answer), before = step, model[:-1]

    def prepare(frame: Any) -> np.ndarray:
        told = before.transform(frame)
        told = told.toarray() if hasattr(told, "toarray") else told
        return rows(told) if isinstance(told, pd.DataFrame) else np.asarray(told)

    return prepare, answer


def _tree_step(model: Any) -> tuple[Prepare, LastStep] | None:
    try:
        step = TreesStep(read_trees(model))
        # Made now: Numba may not be there.
        rows = step.evaluator.ensemble.rows
    except RocourseError:
        # Or trees alone do not say what the model says.
        return None
    return lambda seen: rows(seen) if isinstance(seen, pd.DataFrame) else seen, step


def _line_step(model: Any) -> tuple[Prepare, LastStep] | None:
    if not isinstance(model, LogisticRegression) or len(model.classes_) != 2:
        return None
    return np.asarray, LineStep(model.coef_[0], model.intercept_)


def _number_rules(schema: Schema) -> tuple[NumberRule, ...]:
    return tuple(NumberRule(one, COLUMN) for one in schema.continuous)


def _with_gaps(arrays: Arrays, k: int) -> np.ndarray:
    table, gaps = arrays[f"tables.{k}"], arrays.get(f"gaps.{k}")
    return table if gaps is None else np.where(gaps, np.nan, table)


def _raw(rule: NumberRule, codes: np.ndarray) -> np.ndarray:
    """The numbers of codes as a model is shown them."""
    values = np.asarray(rule.unscale(codes.astype(np.float64)))
    return values if rule.feature.integer else shortest(values, codes, rule.feature)


def _line(
    seen: Callable[[np.ndarray], np.ndarray], rule: NumberRule, middle: np.ndarray, k: int
) -> np.ndarray | None:
    """By how much one unit of a number raises each column; None if columns are no lines of it."""
    x = np.repeat(middle, _PROBES, axis=0)
    x[:, k] = np.linspace(0.0, 1.0, _PROBES, dtype=np.float32)
    raw, told = _raw(rule, x[:, k]), seen(x)
    slope = (told[-1] - told[0]) / (raw[-1] - raw[0])
    straight = told[0] + (raw - raw[0])[:, None] * slope
    scale = np.abs(told).max(axis=0) + 1e-12
    return slope if (np.abs(straight - told) <= 1e-9 * scale).all() else None


def _whole(
    seen: Callable[[np.ndarray], np.ndarray],
    rule: NumberRule,
    middle: np.ndarray,
    k: int,
    own: np.ndarray,
) -> np.ndarray | None:
    """What a whole number's own columns are for each of its values; None if it has too many."""
    feature = rule.feature
    n = int(feature.span) + 1
    if not feature.integer or n > _MOST_VALUES:
        return None
    x = np.repeat(middle, n, axis=0)
    x[:, k] = np.linspace(0.0, 1.0, n, dtype=np.float32)
    listed = np.array_equal(_raw(rule, x[:, k]), feature.low + np.arange(n))
    return seen(x)[:, own] if listed else None


def _table(
    seen: Callable[[np.ndarray], np.ndarray], middle: np.ndarray, group: slice
) -> np.ndarray:
    """What columns are for each category of a feature."""
    size = group.stop - group.start
    x = np.repeat(middle, size, axis=0)
    x[:, group] = np.eye(size, dtype=np.float32)
    return seen(x)


def random_rows(layout: Layout, n: int) -> np.ndarray:
    """Encoded rows drawn at random, always the same ones, float32 `[n, width]`."""
    rng = np.random.default_rng(0)
    codes = [rng.integers(size, size=n) for size in layout.group_sizes]
    x = np.zeros((n, layout.width), np.float32)
    x[:, : layout.n_continuous] = rng.random((n, layout.n_continuous))
    for group, code in zip(layout.group_slices, codes, strict=True):
        x[np.arange(n), group.start + code] = 1.0
    return x


def _agrees(quick: Quick, told: Callable[[np.ndarray], np.ndarray], layout: Layout) -> bool:
    """Whether it says of rows drawn at random what the model says."""
    x = random_rows(layout, _CHECKED)
    return bool(np.abs(quick(x) - told(x)).max() <= _TOLERANCE)
