"""Small tables with what trees stumble over, and small models of every library on them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import strategies as st

CATEGORIES = ["amber", "blue", "cyan", "dun", "ecru", "fawn"]


@dataclass(frozen=True)
class Table:
    """Training rows and labels."""

    frame: pd.DataFrame
    labels: np.ndarray

    def numbers(self, *, missing):
        """The columns that are no categories."""
        frame = self.frame.drop(columns="colour")
        return Table(frame if missing else frame.fillna(0.0), self.labels)

    def text(self):
        """With categories as text, none of them missing."""
        colour = self.frame["colour"].astype(object).fillna("none")
        return Table(self.frame.assign(colour=colour), self.labels)


@st.composite
def tables(draw, classes=None):
    """Ties, large numbers, a constant, missing values, categories; two classes or three."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(60, 150))
    scale = draw(st.sampled_from([1.0, 1e-6, 1e7, 1e12]))
    frame = pd.DataFrame(
        {
            "wide": rng.normal(size=n) * scale,
            "ties": rng.integers(-2, 3, n).astype(float),
            "tenths": rng.normal(size=n).round(1),
            "large": rng.normal(size=n) ** 9 * 1e20,
            "constant": np.full(n, draw(st.sampled_from([0.0, 7.5]))),
            "colour": pd.Categorical(rng.choice(CATEGORIES, n), categories=CATEGORIES),
        }
    )
    share = draw(st.sampled_from([0.0, 0.2]))
    for name in ("wide", "ties", "colour"):
        frame.loc[rng.random(n) < share, name] = np.nan
    score = (
        frame["wide"].fillna(0.0) / scale
        + frame["ties"].fillna(1.0) * (frame["tenths"] > 0.0)
        + 2.0 * frame["colour"].isin(CATEGORIES[:2])
        + np.sign(frame["large"])
        + rng.normal(0.0, 0.5, n)
    )
    count = classes or draw(st.sampled_from([2, 2, 3]))
    edges = np.quantile(score, np.linspace(0, 1, count + 1)[1:-1])
    return Table(frame, np.digitize(score, edges))


def around_thresholds(ensemble, table, *, n=150, seed=0):
    """Rows as in the table, their numbers on thresholds of the trees and just beside them."""
    rng = np.random.default_rng(seed)
    frame = table.frame.iloc[rng.integers(len(table.frame), size=n)].reset_index(drop=True)
    for k, name in enumerate(frame.columns):
        at = (ensemble.feature == k) & (ensemble.code_set < 0)
        thresholds = ensemble.threshold[at & np.isfinite(ensemble.threshold)]
        if ensemble.categorical[k] or not len(thresholds):
            continue
        near = np.concatenate(
            [
                thresholds,
                np.nextafter(thresholds, np.inf),
                np.nextafter(thresholds, -np.inf),
                [-1e30, 1e30, 0.0],
            ]
        )
        chosen = rng.random(n) < 0.7
        frame.loc[chosen, name] = rng.choice(near, n)[chosen]
    return frame
