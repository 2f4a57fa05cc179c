"""A user's model fitted again: by scikit-learn's clone, or by a function of the user's."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from rocourse.errors import ConfigError

Refit = Callable[[Any, np.ndarray, int], Any]
"""From rows as the model takes them, labels and a seed to a fitted model of the same kind."""

_LARGEST_SEED = np.iinfo(np.int32).max


def clone_and_fit(model: Any) -> Refit | None:
    """How an estimator of scikit-learn's kind is fitted again; None for any other model."""
    if not (hasattr(model, "fit") and hasattr(model, "get_params")):
        return None

    def refit(X: Any, y: np.ndarray, seed: int) -> Any:
        fresh = clone(model)
        seeds = {
            name: seed % _LARGEST_SEED
            for name in fresh.get_params()
            if name == "random_state" or name.endswith("__random_state")
        }
        return fresh.set_params(**seeds).fit(X, y)

    return refit


def refitted(refit: Refit, name: str, X: Any, y: np.ndarray, seed: int) -> Any:
    """The model fitted again.

    Raises:
        ConfigError: It cannot be, in this way.
    """
    try:
        return refit(X, y, seed)
    except Exception as error:
        # Libraries in C++ tell where they were, too.
        reason = " ".join(str(error).partition("Stack trace")[0].split())[:300].rstrip(".")
        raise ConfigError(
            f"{name} must be fitted again on shifted rows, but that raised "
            f"{type(error).__name__}: {reason}; if it was fitted on other dtypes, such as "
            "categories, give training rows as adapt(model, schema, like=...), else say how with "
            f"refit=function of (X, y, seed), y being labels such as {y[:1].tolist()[0]!r}, or "
            "give refits of yours as members=[...]."
        ) from error
