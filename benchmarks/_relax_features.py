"""Encoded rows as the features of jax-relax; imported in its environment only."""

from collections.abc import Sequence

import numpy as np
from relax.data_utils import Feature, FeaturesList


def features_of(
    x: np.ndarray, n_continuous: int, group_sizes: list[int], fixed: Sequence[int] = ()
) -> FeaturesList:
    """Encoded rows `[n, width]`, each feature with its own kind of constraint.

    Args:
        x: The rows, numbers first.
        n_continuous: How many numbers.
        group_sizes: Of one-hot groups.
        fixed: The features that must not change, by their places.
    """
    features = []
    for i in range(n_continuous):
        scale = {"name": "minmax", "transformer": {"min_": 0.0, "max_": 1.0}}
        features.append(
            Feature(
                f"value{i}",
                x[:, [i]],
                scale,
                transformed_data=x[:, [i]],
                is_immutable=i in fixed,
            )
        )
    start = n_continuous
    for i, size in enumerate(group_sizes):
        group = x[:, start : start + size]
        codes = group.argmax(axis=1)[:, None]
        one_hot = {"name": "ohe", "transformer": {"categories_": np.arange(size)}}
        features.append(
            Feature(
                f"group{i}",
                codes,
                one_hot,
                transformed_data=group,
                is_immutable=n_continuous + i in fixed,
            )
        )
        start += size
    return FeaturesList(features)
