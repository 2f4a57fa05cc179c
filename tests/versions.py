"""What is spelled otherwise in the oldest releases that are supported."""

import inspect

import jax
import pandas as pd
from scipy.stats import bootstrap

if hasattr(jax, "enable_x64"):
    enable_x64 = jax.enable_x64
else:
    from jax.experimental import enable_x64


def as_told(number: str) -> float:
    """A number that does not depend on how many rows were computed at once, from its text.

    Of the newest releases that is every one, to the last bit; of the oldest, five digits.
    """
    return float(number) if hasattr(jax, "enable_x64") else float(f"{float(number):.5g}")


# What pandas makes of texts, by name.
TEXT = str(pd.Series(["a"]).dtype)

# What SciPy calls the state of random numbers.
RNG = "rng" if "rng" in inspect.signature(bootstrap).parameters else "random_state"

__all__ = ["RNG", "TEXT", "as_told", "enable_x64"]
