"""Trees of any library in one form: arrays of nodes, and what their values mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, final

import numpy as np
import pandas as pd

from rocourse.errors import DataError

Link = Literal["logistic", "softmax", "mean"]
"""From sums of leaves to probabilities; `mean`: the sums are probabilities."""
Missing = Literal["nan", "zero", "never"]
"""Which numbers are missing: NaN, NaN and zero, or none, so that NaN is zero."""

_ARRAYS = (
    "root",
    "output",
    "feature",
    "threshold",
    "left",
    "right",
    "missing_left",
    "code_set",
    "left_codes",
    "value",
    "base",
)


class Tree(NamedTuple):
    """One tree, its root first."""

    feature: np.ndarray
    """The input column that a node looks at, -1 of a leaf, `[nodes]`."""
    threshold: np.ndarray
    """`[nodes]`; of a node that looks at categories, without meaning."""
    left: np.ndarray
    """The child of values on the threshold's lower side, `[nodes]`."""
    right: np.ndarray
    missing_left: np.ndarray
    """Whether a missing value goes to the left, bool `[nodes]`."""
    value: np.ndarray
    """What a leaf adds, `[nodes, width]`: to one output, or to all of them."""
    output: int = 0
    """The output that a width of 1 is added to."""
    apart: Mapping[int, tuple[Sequence[int], bool]] = {}
    """Of each node that looks at categories, whether codes that the model does not know go to the
    left, after the codes that go the other way than these."""


@final
@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """A fitted ensemble of trees as arrays, children and roots by their place among all nodes.

    Rows of it are float64 `[n, features]`, a category by its code: its place in `categories`, or
    where these are not known the number that the library itself gives it.

    Attributes:
        root: `[trees]`.
        output: The output that a tree adds to where `value` has one column, `[trees]`.
        feature: The input column that a node looks at, -1 of a leaf, `[nodes]`.
        threshold: float64 `[nodes]`.
        left: `[nodes]`.
        right: `[nodes]`.
        missing_left: Whether a missing value goes to the left, bool `[nodes]`.
        code_set: The row of `left_codes` of a node that looks at categories, else -1, `[nodes]`.
        left_codes: The codes that go to the left, bool `[sets, codes + 1]`, last what codes that
            the model does not know do.
        value: What a leaf adds, float64 `[nodes, width]`.
        base: What is added to all leaves, float64 `[outputs]`.
        link: From sums to probabilities.
        strict: Whether only values below a threshold go to the left, not those that equal it.
        single: Whether values are rounded to float32 before they are compared.
        zero: The greatest number that is taken for zero.
        missing: Which numbers are missing, a word a feature.
        categories: The categories of each feature in the order of their codes; None of numbers, and
            where the library does not keep them.
        names: The columns that the model was fitted on, if it knows.
        classes: The labels, in the order of the columns of the model's probabilities.
    """

    root: np.ndarray
    output: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    code_set: np.ndarray
    left_codes: np.ndarray
    value: np.ndarray
    base: np.ndarray
    link: Link
    strict: bool
    single: bool
    zero: float
    missing: tuple[Missing, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    names: tuple[str, ...] | None
    classes: np.ndarray
    categorical: np.ndarray = field(init=False)
    """Which features some node looks at as categories, or that have known ones, bool
    `[features]`."""

    def __post_init__(self) -> None:
        of_codes = np.array([known is not None for known in self.categories])
        of_codes[self.feature[self.code_set >= 0]] = True
        object.__setattr__(self, "categorical", of_codes)

    @property
    def n_features(self) -> int:
        """Number of input columns."""
        return len(self.missing)

    def rows(self, frame: pd.DataFrame) -> np.ndarray:
        """The rows of a table as the trees see them, float64 `[n, features]`.

        Args:
            frame: The columns that the model was fitted on; more, and in another order, where it
                knows their names.

        Raises:
            DataError: A column is missing, or a number is none.
        """
        if self.names is not None:
            # LightGBM writes the blanks of a name as underscores.
            known = {str(column).replace(" ", "_"): column for column in frame.columns}
            known |= {str(column): column for column in frame.columns}
            for name in self.names:
                if name not in known:
                    raise DataError(
                        f"The rows must have the columns of the trees, but {name!r} is missing; "
                        "pass the columns that the model was fitted on."
                    )
            frame = frame[[known[name] for name in self.names]]
        elif frame.shape[1] != self.n_features:
            raise DataError(
                f"The rows must have {self.n_features} columns, but got {frame.shape[1]}; pass the "
                "columns that the model was fitted on."
            )
        result = np.empty((len(frame), self.n_features))
        for k, categories in enumerate(self.categories):
            column = frame.iloc[:, k]
            try:
                result[:, k] = _column(column, categories)
            except (TypeError, ValueError) as error:
                raise DataError(
                    f"The column {column.name!r} must hold numbers, or pandas categories as in the "
                    f"model's training, but got {column.dtype}; convert it."
                ) from error
        return result

    def leaves(self, rows: np.ndarray) -> np.ndarray:
        """The leaf of each tree that rows `[n, features]` come to, `[n, trees]`.

        Of trees that look at numbers alone; without compiled code, for few rows.
        """
        values = rows.astype(np.float32) if self.single else rows
        nodes = np.tile(self.root, (len(rows), 1))
        places = np.arange(len(rows))[:, None]
        while (inner := self.feature[nodes] >= 0).any():
            value = values[places, self.feature[nodes]]
            below = value < self.threshold[nodes] if self.strict else value <= self.threshold[nodes]
            left = np.where(np.isnan(value), self.missing_left[nodes], below)
            nodes = np.where(inner, np.where(left, self.left[nodes], self.right[nodes]), nodes)
        return nodes

    def probabilities(self, margins: np.ndarray) -> np.ndarray:
        """What sums of leaves `[..., outputs]` say: float64 `[..., classes]`."""
        if self.link == "softmax":
            shares: np.ndarray = np.exp(margins - margins.max(axis=-1, keepdims=True))
            shares /= shares.sum(axis=-1, keepdims=True)
            return shares
        if self.link == "mean":
            # Shares of many trees may add up to a digit more than 1.
            margins = np.clip(margins, 0.0, 1.0)
            if margins.shape[-1] > 1:
                return margins
        second = margins[..., 0]
        if self.link == "logistic":
            # Of large negative margins the exponential is infinite, and the share rightly zero.
            with np.errstate(over="ignore"):
                second = 1.0 / (1.0 + np.exp(-second))
        return np.stack([1.0 - second, second], axis=-1)

    def to_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The ensemble as JSON-able values and arrays."""
        rest = {
            "link": self.link,
            "strict": self.strict,
            "single": self.single,
            "zero": float(self.zero),
            "missing": list(self.missing),
            "categories": [
                None if known is None else np.asarray(known, object).tolist()
                for known in self.categories
            ],
            "names": None if self.names is None else list(self.names),
            "classes": self.classes.tolist(),
        }
        return rest, {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_state(
        cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
    ) -> "TreeEnsemble":
        """The inverse of `to_state`."""
        return cls(
            **{name: arrays[name] for name in _ARRAYS},
            link=header["link"],
            strict=header["strict"],
            single=header["single"],
            zero=header["zero"],
            missing=tuple(header["missing"]),
            categories=tuple(
                None if known is None else tuple(known) for known in header["categories"]
            ),
            names=None if header["names"] is None else tuple(header["names"]),
            classes=np.asarray(header["classes"]),
        )


def _column(column: pd.Series, known: tuple[Any, ...] | None) -> np.ndarray:
    if known is not None:
        codes = pd.Index(known).get_indexer(pd.Index(column)).astype(np.float64)
        return np.where(column.isna(), np.nan, codes)
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(np.float64)
        return np.where(codes < 0, np.nan, codes)
    numbers: np.ndarray = column.to_numpy(np.float64, na_value=np.nan)
    return numbers


def joined(
    trees: Sequence[Tree],
    *,
    base: Any,
    link: Link,
    strict: bool,
    single: bool,
    zero: float = 0.0,
    missing: Sequence[Missing],
    categories: Sequence[tuple[Any, ...] | None] | None = None,
    names: Sequence[str] | None,
    classes: Any,
) -> TreeEnsemble:
    """The ensemble of single trees; arguments as its attributes."""
    starts = np.concatenate([[0], np.cumsum([len(tree.feature) for tree in trees])])
    n_nodes = int(starts[-1])
    chosen = [
        (int(start) + node, np.asarray(codes, int), unknown)
        for start, tree in zip(starts, trees, strict=False)
        for node, (codes, unknown) in tree.apart.items()
    ]
    most = max((int(codes.max(initial=-1)) + 1 for _, codes, _ in chosen), default=0)
    most = max([most, *(len(known) for known in categories or () if known is not None)])
    code_set = np.full(n_nodes, -1, np.int32)
    left_codes = np.zeros((len(chosen), most + 1), bool)
    for i, (node, codes, unknown) in enumerate(chosen):
        code_set[node] = i
        left_codes[i] = unknown
        left_codes[i, codes] = not unknown

    def every(name: str, dtype: Any) -> np.ndarray:
        parts = [np.asarray(getattr(tree, name), dtype) for tree in trees]
        return np.concatenate(parts) if parts else np.empty(0, dtype)

    def children(name: str) -> np.ndarray:
        parts = [
            np.where(np.asarray(tree.feature) < 0, -1, np.asarray(getattr(tree, name)) + start)
            for start, tree in zip(starts, trees, strict=False)
        ]
        return np.concatenate(parts).astype(np.int32)

    return TreeEnsemble(
        root=starts[:-1].astype(np.int32),
        output=np.array([tree.output for tree in trees], np.int32),
        feature=every("feature", np.int32),
        threshold=every("threshold", np.float64),
        left=children("left"),
        right=children("right"),
        missing_left=every("missing_left", bool),
        code_set=code_set,
        left_codes=left_codes,
        value=every("value", np.float64),
        base=np.asarray(base, np.float64).reshape(-1),
        link=link,
        strict=strict,
        single=single,
        zero=zero,
        missing=tuple(missing),
        categories=tuple(categories) if categories is not None else (None,) * len(missing),
        names=None if names is None else tuple(map(str, names)),
        classes=np.asarray(classes),
    )
