"""What is spelled otherwise in the oldest releases that are supported."""

import jax
import pandas as pd

if hasattr(jax, "enable_x64"):
    enable_x64 = jax.enable_x64
else:
    from jax.experimental import enable_x64

# What pandas makes of texts, by name.
TEXT = str(pd.Series(["a"]).dtype)

__all__ = ["TEXT", "enable_x64"]
