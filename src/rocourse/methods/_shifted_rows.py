"""Training rows as they might look when a model is trained anew: what a panel is trained on."""

from dataclasses import dataclass

import numpy as np

from rocourse.methods._config import require_number, require_part, require_share
from rocourse.schema import Layout, Rows


@dataclass(frozen=True, kw_only=True)
class ShiftConfig:
    """How far rows may shift. All are drawn anew for each shift.

    Attributes:
        noise: Numbers move by up to this much, in encoded units.
        flip: The share of categories that are redrawn from their column.
        scramble: The probability that a categorical column is shuffled: whoever learns from it
            learns to do without the column, as when its codes are corrected later.
        tilt: How strongly rows are drawn by their features, as a standard deviation of log-weights.
        label_tilt: The same, by their class.
        evenness: From 0, classes as frequent as they are, to 1: all alike.
        novelty: From 0, redrawn categories as frequent as they are, to 1: all alike. Those with few
            rows, or none, then come with all classes, and whoever learns from it makes nothing of
            them.
        jitter: Categories of ordered columns move by up to this share of the column's: what one of
            them says becomes what its neighbours say.
        ordered: Whether each categorical column's codes follow an order; of none, if empty.
    """

    noise: float
    flip: float
    scramble: float
    tilt: float
    label_tilt: float
    evenness: float = 0.0
    novelty: float = 0.0
    jitter: float = 0.0
    ordered: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        require_number("noise", self.noise, at_least=0.0)
        require_share("flip", self.flip)
        if self.scramble != 1.0:
            require_share("scramble", self.scramble)
        require_number("tilt", self.tilt, at_least=0.0)
        require_number("label_tilt", self.label_tilt, at_least=0.0)
        require_part("evenness", self.evenness)
        require_part("novelty", self.novelty)
        require_part("jitter", self.jitter)


USUAL_SHIFT = ShiftConfig(noise=0.1, flip=0.05, scramble=0.0, tilt=0.5, label_tilt=0.3)
"""What a year may do to rows, unless told otherwise."""


def shift_rows(
    rows: Rows,
    labels: np.ndarray,
    n_classes: int,
    layout: Layout,
    config: ShiftConfig,
    rng: np.random.Generator,
) -> tuple[Rows, np.ndarray]:
    """As many rows, drawn with unequal weights and then moved."""
    weights = _log_weights(rows, labels, n_classes, layout, config, rng)
    shares = np.exp(weights - weights.max())
    drawn = rng.choice(len(rows), len(rows), p=shares / shares.sum())
    values = rows.continuous[drawn]
    values = np.clip(values + rng.uniform(-config.noise, config.noise, values.shape), 0.0, 1.0)
    codes = _jittered(rows.categories[drawn], layout, config, rng)
    for size, column in zip(layout.group_sizes, codes.T, strict=True):
        flipped = rng.random(len(column)) < config.flip
        column[flipped] = _redrawn(column, size, int(flipped.sum()), config.novelty, rng)
        if rng.random() < config.scramble:
            rng.shuffle(column)
    return Rows(values.astype(np.float32), codes), labels[drawn]


def _jittered(
    codes: np.ndarray, layout: Layout, config: ShiftConfig, rng: np.random.Generator
) -> np.ndarray:
    if not config.jitter:
        return codes
    ordered = config.ordered or (False,) * layout.n_categorical
    for size, column, follows in zip(layout.group_sizes, codes.T, ordered, strict=True):
        if follows:
            reach = config.jitter * size
            moves = np.rint(rng.uniform(-reach, reach, len(column))).astype(np.int64)
            column[:] = np.clip(column + moves, 0, size - 1)
    return codes


def _redrawn(
    column: np.ndarray, size: int, count: int, novelty: float, rng: np.random.Generator
) -> np.ndarray:
    codes: np.ndarray = rng.choice(column, count)
    if novelty:
        new = rng.random(count) < novelty
        codes[new] = rng.integers(size, size=new.sum())
    return codes


def _log_weights(
    rows: Rows,
    labels: np.ndarray,
    n_classes: int,
    layout: Layout,
    config: ShiftConfig,
    rng: np.random.Generator,
) -> np.ndarray:
    """A random direction: which numbers, categories and classes become more frequent.

    Rare classes do so by as much as they shall be evened out.
    """
    spread = rows.continuous.std(axis=0)
    # A few extreme rows would otherwise have all the weight.
    standard = np.clip((rows.continuous - rows.continuous.mean(axis=0)) / (spread + 1e-6), -3, 3)
    weights = standard @ rng.normal(size=standard.shape[1])
    for size, codes in zip(layout.group_sizes, rows.categories.T, strict=True):
        weights = weights + rng.normal(size=size)[codes]
    n_features = layout.n_continuous + layout.n_categorical
    # A class without rows is drawn by none.
    counts = np.maximum(np.bincount(labels, minlength=n_classes), 1)
    by_class = config.label_tilt * rng.normal(size=n_classes) - config.evenness * np.log(counts)
    tilted: np.ndarray = config.tilt * weights / np.sqrt(max(n_features, 1)) + by_class[labels]
    return tilted
