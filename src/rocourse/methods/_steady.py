"""Models that change little when they are trained anew on other rows.

A promise is kept if the next model judges as this one did. Each network learns from blurred copies
of its rows, so that it leans on no single value; a committee of them owes less to chance than one
does; classes are shown more evenly than they are, and verdicts balanced afterwards, so that a rare
class is neither learned from too little nor forgotten.
"""

import math
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from rocourse.methods._config import require_count, require_number, require_part, require_share
from rocourse.methods._shifted_rows import ShiftConfig, shift_rows
from rocourse.methods._training import EpochCallback, EpochRecord, TrainingPlan, train
from rocourse.networks import Predictor
from rocourse.schema import Layout, Rows, one_hot
from rocourse.schema.constraints import ConstraintLayer

# Of setting one class's offset after the other's, when there are more than two.
_BALANCING_ROUNDS = 30


@dataclass(frozen=True, kw_only=True)
class SteadyConfig:
    """How steady a model shall be.

    Attributes:
        committee: Networks whose mean logits are the model's.
        copies: Blurred copies of the training rows that each network learns from; 0 leaves the
            rows as they are.
        noise: Numbers of a copy move by up to this much, in encoded units.
        flip: The share of a copy's categories that are redrawn from their column.
        evenness: From 0, classes of a copy as frequent as they are, to 1: all alike.
        novelty: From 0, categories redrawn as frequent as they are, to 1: all alike.
        balance: 0: verdicts as trained. Else each class is given to at least this share of as many
            training rows as have it, and within this most rows are told right.
        jitter: Categories of ordered columns move by up to this share of the column's.
        ordered: Whether each categorical column's codes follow an order; of none, if empty.
    """

    committee: int
    copies: int
    noise: float
    flip: float
    evenness: float
    novelty: float
    balance: float
    jitter: float = 0.0
    ordered: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        require_count("committee", self.committee)
        if self.copies != 0:
            require_count("copies", self.copies)
        # Under the names that users know them by; members' shifts have the plain ones.
        require_number("blur_noise", self.noise, at_least=0.0)
        require_share("blur_flip", self.flip)
        require_part("blur_jitter", self.jitter)
        self.blur()
        require_part("balance", self.balance)

    def blur(self) -> ShiftConfig:
        """What is done to a copy."""
        return ShiftConfig(
            noise=self.noise,
            flip=self.flip,
            scramble=0.0,
            tilt=0.0,
            label_tilt=0.0,
            evenness=self.evenness,
            novelty=self.novelty,
            jitter=self.jitter,
            ordered=self.ordered,
        )


def train_steadily(
    rows: Rows,
    labels: np.ndarray,
    n_classes: int,
    constraints: ConstraintLayer,
    plan: TrainingPlan,
    config: SteadyConfig,
    *,
    seed: int,
    on_epoch: EpochCallback | None = None,
) -> tuple[list[Predictor], list[EpochRecord]]:
    """Trains a committee; gives its networks and the record of the first one's epochs.

    Args:
        rows: Compact rows.
        labels: Class indices, `[n]`.
        n_classes: How many classes there are.
        constraints: Of the rows' schema.
        plan: How to train one network.
        config: How steady the committee shall be.
        seed: Decides copies and networks. A single network without copies is the one that `train`
            arrives at.
        on_epoch: Called after each epoch of the first network.
    """
    rng = np.random.default_rng(seed)
    seeds = [seed, *rng.integers(2**31, size=config.committee - 1).tolist()]
    networks: list[Predictor] = []
    history: list[EpochRecord] = []
    for i, start in enumerate(seeds):
        shown = _blurred(rows, labels, n_classes, constraints.layout, config, rng)
        trained = train(
            *shown,
            n_classes,
            constraints,
            plan,
            seed=start,
            on_epoch=None if i else on_epoch,
        )
        networks.append(trained.predictor)
        history = history or trained.history
    return _balanced(networks, rows, labels, constraints.layout, config.balance), history


def _blurred(
    rows: Rows,
    labels: np.ndarray,
    n_classes: int,
    layout: Layout,
    config: SteadyConfig,
    rng: np.random.Generator,
) -> tuple[Rows, np.ndarray]:
    if not config.copies:
        return rows, labels
    blur = config.blur()
    drawn = [shift_rows(rows, labels, n_classes, layout, blur, rng) for _ in range(config.copies)]
    copies = Rows(
        np.concatenate([copy.continuous for copy, _ in drawn]),
        np.concatenate([copy.categories for copy, _ in drawn]),
    )
    return copies, np.concatenate([marks for _, marks in drawn])


def _balanced(
    networks: list[Predictor], rows: Rows, labels: np.ndarray, layout: Layout, balance: float
) -> list[Predictor]:
    if not balance:
        return networks
    scores = class_scores(networks, one_hot(rows, layout))
    offsets = balancing_offsets(scores, labels, balance)
    # One logit is the lead of the second class over the first.
    moved = offsets[1:] - offsets[0] if len(networks[0].output.bias) == 1 else offsets
    return [
        eqx.tree_at(lambda part: part.output.bias, network, network.output.bias + moved)
        for network in networks
    ]


def class_scores(networks: list[Predictor], x: np.ndarray) -> np.ndarray:
    """The committee's score of each class for encoded rows `[n, width]`, as `[classes, n]`."""
    columns = jnp.asarray(x.T)
    logits = np.mean([np.asarray(network(columns)) for network in networks], axis=0)
    return np.concatenate([np.zeros_like(logits), logits]) if len(logits) == 1 else logits


def balancing_offsets(scores: np.ndarray, labels: np.ndarray, balance: float = 1.0) -> np.ndarray:
    """What to add to scores `[classes, n]` so that verdicts are about as frequent as labels are.

    A class is given to at least `balance` times as many rows as have it, and at most as many times
    as few; within this most rows are told right. A class without rows keeps its score.
    """
    n_classes, n = scores.shape
    wanted = np.bincount(labels, minlength=n_classes)
    offsets = np.zeros(n_classes, np.float32)
    # Of two classes the second one's is enough, once.
    order = [1] if n_classes == 2 else _BALANCING_ROUNDS * list(range(n_classes))
    for c in order:
        if not wanted[c]:
            continue
        others = scores + offsets[:, None]
        others[c] = -np.inf
        # What the class needs to win each row: it wins as many as need less than it is given.
        needed = others.max(axis=0) - scores[c]
        rows = np.argsort(needed, kind="stable")
        won = (labels[rows] == c).astype(int) - (labels[rows] == others.argmax(axis=0)[rows])
        right = np.concatenate([[0], np.cumsum(won)])
        least, most = _allowed_counts(int(wanted[c]), n, balance)
        count = least + int(np.argmax(right[least : most + 1]))
        last = needed[rows[count - 1]]
        offsets[c] = 0.5 * (last + needed[rows[count]]) if count < n else last + 1.0
    return offsets


def _allowed_counts(wanted: int, n: int, balance: float) -> tuple[int, int]:
    """The fewest and the most of `n` rows that a class of `wanted` rows, and the rest, may have."""
    others = n - wanted
    least = math.ceil(max(balance * wanted, n - others / balance))
    most = math.floor(min(wanted / balance, n - balance * others))
    # Rounded shares must not shut out the exact count.
    return min(least, wanted), max(most, wanted)
