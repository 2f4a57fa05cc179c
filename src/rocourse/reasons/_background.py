"""Rows that refused ones are compared with: means of several accepted people, and of nobody."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocourse.errors import ArtifactError
from rocourse.schema import Continuous, Rows, Schema, compact, one_hot

Tensors = Mapping[str, np.ndarray]

LEAST_PEOPLE = 5
"""Who are in each row that is kept: fewer might be told from it."""

_VERSION = 1
_PREFIX = "background"
# Rows of a class.
_ROWS = 16
_ROUNDS = 20
# Training rows that are looked at: a model of the user's may take long to answer.
_ASKED = 2000


@dataclass(frozen=True, eq=False)
class Background:
    """Rows like those that were given each class.

    Attributes:
        rows: Encoded rows, k of them.
        classes: The class, by its index, that people like each row are given, `[k]`.
        people: How many training rows each stands for, `[k]`.
    """

    rows: Rows
    classes: np.ndarray
    people: np.ndarray

    def of(self, target: int) -> tuple[Rows, np.ndarray]:
        """The rows of a class, and their weights, which sum up to 1."""
        where = np.flatnonzero(self.classes == target)
        people = self.people[where].astype(np.float64)
        return self.rows.take(where), people / max(people.sum(), 1.0)

    def to_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """As JSON-able values and named tensors."""
        header = {"version": _VERSION, "rows": len(self.rows), "least_people": LEAST_PEOPLE}
        tensors = {
            "continuous": np.ascontiguousarray(self.rows.continuous),
            "categories": np.ascontiguousarray(self.rows.categories),
            "classes": self.classes,
            "people": self.people,
        }
        return header, {f"{_PREFIX}.{name}": tensor for name, tensor in tensors.items()}

    @classmethod
    def from_state(cls, header: Mapping[str, Any] | None, tensors: Tensors) -> "Background | None":
        """The inverse of `to_state`; None of models of releases that kept none.

        Raises:
            ArtifactError: It is of another version.
        """
        if header is None:
            return None
        if header.get("version") != _VERSION:
            raise ArtifactError(
                f"its background rows must be of version {_VERSION}, but they are of "
                f"{header.get('version')!r}; use the release of rocourse that wrote it."
            )
        names = ("continuous", "categories", "classes", "people")
        numbers, codes, classes, people = (tensors[f"{_PREFIX}.{name}"] for name in names)
        return cls(Rows(numbers, codes), classes, people)


def make_background(
    given: Callable[[Rows], np.ndarray],
    rows: Rows,
    schema: Schema,
    classes: Sequence[int],
    *,
    seed: int,
) -> Background:
    """Rows like those that the model gives some classes.

    The training rows of a class are put into groups of rows that are alike. Of each the mean is
    kept: of numbers the mean, of categories the most frequent one. Groups of fewer than five are
    joined to others, so that no person can be told from what is kept. Means that the model gives
    another class are left out where others remain.

    Args:
        given: The index of the class that the model gives each row.
        rows: The training rows.
        schema: Their schema.
        classes: The classes to keep rows of.
        seed: Decides which rows are looked at where they are many, and how groups begin.
    """
    draw = np.random.default_rng(seed)
    asked = rows.take(draw.permutation(len(rows))[:_ASKED])
    verdicts = given(asked)
    found: list[tuple[Rows, np.ndarray, int]] = []
    for target in classes:
        theirs = asked.take(np.flatnonzero(verdicts == target))
        if len(theirs) < LEAST_PEOPLE:
            continue
        means, people = _means(theirs, schema, draw)
        kept = given(means) == target
        where = np.flatnonzero(kept if kept.any() else ~kept)
        found.append((means.take(where), people[where], target))
    layout = schema.layout
    nobody = Rows(
        np.zeros((0, layout.n_continuous), np.float32),
        np.zeros((0, layout.n_categorical), layout.category_dtype),
    )
    return Background(
        Rows.concatenate([nobody, *(part for part, _, _ in found)]),
        np.array([target for part, _, target in found for _ in range(len(part))], np.int32),
        np.concatenate([np.zeros(0, np.int32), *(people for _, people, _ in found)]),
    )


def _means(rows: Rows, schema: Schema, draw: np.random.Generator) -> tuple[Rows, np.ndarray]:
    """The mean row of each group, and how many are in it."""
    x = one_hot(rows, schema.layout).astype(np.float64)
    groups = _alike(x, min(_ROWS, len(x) // LEAST_PEOPLE), draw)
    names, members, people = np.unique(groups, return_inverse=True, return_counts=True)
    centres = np.zeros((len(names), x.shape[1]))
    np.add.at(centres, members, x)
    centres /= people[:, None]
    for k, feature in enumerate(schema.continuous):
        centres[:, k] = _whole(feature, centres[:, k])
    return compact(centres.astype(np.float32), schema.layout), people.astype(np.int32)


def _whole(feature: Continuous, scaled: np.ndarray) -> np.ndarray:
    if not feature.integer:
        return scaled
    raw = np.rint(feature.low + scaled * feature.span)
    whole: np.ndarray = np.clip((raw - feature.low) / feature.span, 0.0, 1.0)
    return whole


def _alike(x: np.ndarray, k: int, draw: np.random.Generator) -> np.ndarray:
    """The group of each row, by k-means; each group has at least as many as must be in one."""
    centres = x[[int(draw.integers(len(x)))]]
    while len(centres) < k:
        # k-means++: far from those that there are.
        far = _distances(x, centres).min(axis=1)
        if far.sum() == 0.0:
            break
        centres = np.vstack([centres, x[draw.choice(len(x), p=far / far.sum())]])
    for _ in range(_ROUNDS):
        groups = _distances(x, centres).argmin(axis=1)
        people = np.bincount(groups, minlength=len(centres))
        if people.min() < LEAST_PEOPLE and len(centres) > 1:
            centres = np.delete(centres, people.argmin(), axis=0)
            continue
        moved = np.stack([x[groups == i].mean(axis=0) for i in range(len(centres))])
        if np.array_equal(moved, centres):
            break
        centres = moved
    return _large(x, centres)


def _large(x: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The group of each row, without groups that are too small in the end."""
    while True:
        groups: np.ndarray = _distances(x, centres).argmin(axis=1)
        people = np.bincount(groups, minlength=len(centres))
        if len(centres) == 1 or people.min() >= LEAST_PEOPLE:
            return groups
        centres = np.delete(centres, people.argmin(), axis=0)


def _distances(x: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squares of distances, `[n, k]`."""
    cross = x @ centres.T
    squares = (x**2).sum(axis=1)[:, None] - 2.0 * cross + (centres**2).sum(axis=1)
    distances: np.ndarray = np.maximum(squares, 0.0)
    return distances
