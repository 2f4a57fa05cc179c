"""A model and rows of the loan data's shape, which the benchmarks share."""

import numpy as np
import pandas as pd

from rocourse import Categorical, Continuous, PlainTrainer, Schema, Target, VanillaCF

# 110 encoded columns.
N_CONTINUOUS = 7
GROUP_SIZES = (51, 36, 3, 7, 6)
ENCODER, HEAD = (200, 10), (10,)
TRAINING_ROWS = 10_000


def draw_rows(n: int) -> tuple[pd.DataFrame, pd.Series]:
    """Rows and labels of the loan data's shape.

    They are drawn at random, so that no download is needed; the label follows a rule that uses all
    features, with noise.
    """
    rng = np.random.default_rng(0)
    columns: dict[str, np.ndarray] = {}
    score = rng.logistic(0.0, 0.5, n)
    for i in range(N_CONTINUOUS):
        columns[f"value{i}"] = rng.beta(2.0, 4.0, n)
        score += rng.normal(0.0, 4.0) * (columns[f"value{i}"] - 1 / 3)
    for i, n_categories in enumerate(GROUP_SIZES):
        shares = rng.dirichlet(np.ones(n_categories))
        columns[f"group{i}"] = rng.choice(n_categories, n, p=shares)
        score += rng.normal(0.0, 0.7, n_categories)[columns[f"group{i}"]]
    label = pd.Series((score > np.median(score)).astype(int), name="approved")
    return pd.DataFrame(columns), label


def make_schema() -> Schema:
    """The schema of the drawn rows."""
    # Without whole numbers and other rules: jax-relax knows ranges and categories only.
    return Schema(
        features=(
            *(Continuous(f"value{i}", low=0.0, high=1.0) for i in range(N_CONTINUOUS)),
            *(Categorical(f"group{i}", tuple(range(k))) for i, k in enumerate(GROUP_SIZES)),
        ),
        target=Target("approved", classes=(0, 1), favourable=1),
    )


def make_problem(n: int) -> tuple[VanillaCF, pd.DataFrame, pd.DataFrame, pd.Series]:
    """A trained model of such rows, its training rows, rows to explain, their labels."""
    frame, label = draw_rows(TRAINING_ROWS + n)
    model = VanillaCF(
        schema=make_schema(),
        trainer=PlainTrainer(encoder_widths=ENCODER, head_widths=HEAD, epochs=15),
        random_state=0,
    )
    model.fit(frame[:TRAINING_ROWS], label[:TRAINING_ROWS])
    train, rest = frame[:TRAINING_ROWS], frame[TRAINING_ROWS:]
    return model, train, rest, label[TRAINING_ROWS:]
