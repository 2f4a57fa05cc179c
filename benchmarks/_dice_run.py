"""DiCE beside rocourse: its environment, and what it proposes there."""

import json
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from _relax_env import HERE, ISOLATED, CannotRunError, environment

from rocourse import Schema

FOLDER = HERE.parent / ".venv-dice"
METHODS = ("random", "genetic")
# The releases that dice-ml was seen to run with. Each is named, without what it asks for itself:
# dice-ml would bring XGBoost with a gigabyte of CUDA libraries.
_PINS = (
    "--no-deps",
    "dice-ml==0.12",
    "raiutils==0.4.2",
    "jsonschema==4.26.0",
    "jsonschema-specifications==2025.9.1",
    "attrs==26.1.0",
    "referencing==0.37.0",
    "rpds-py==2026.9.1",
    "typing_extensions==4.16.0",
    "tqdm==4.70.1",
    "requests==2.34.2",
    "certifi",
    "charset-normalizer",
    "cloudpickle",
    "idna",
    "narwhals",
    "python-dateutil",
    "six",
    "urllib3",
)
# Models are fitted there as here.
_SHARED = ("joblib", "numpy", "pandas", "pyarrow", "scikit-learn", "scipy", "threadpoolctl")


def dice_recourses(
    schema: Schema, train: pd.DataFrame, rows: pd.DataFrame, family: str, label: str, said: Any
) -> tuple[dict[str, tuple[pd.DataFrame, np.ndarray]], str]:
    """What DiCE proposes for rows, by method: proposals by the rows' places, and seconds of each.

    Args:
        schema: What may change.
        train: Training rows, labels 0 and 1 among them.
        rows: Who asks.
        family: The kind of model.
        label: The column of labels.
        said: The probabilities that the model here gives the rows, which DiCE's has to give too.
    """
    python = environment(FOLDER, (*_PINS, *_releases()), module="dice_ml")
    mutable = [feature for feature in schema.features if not feature.immutable]
    ranges = {
        feature.name: (*_asked_for(train[feature.name]), feature.direction == "up")
        for feature in schema.continuous
        if not feature.immutable
    }
    task = {
        "family": family,
        "label": label,
        "groups": [feature.name for feature in schema.categorical],
        "numbers": [feature.name for feature in schema.continuous],
        "mutable": [feature.name for feature in mutable],
        "ranges": ranges,
        "methods": METHODS,
    }
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "task.json").write_text(json.dumps(task))
        train.to_parquet(folder / "train.parquet")
        rows.to_parquet(folder / "rows.parquet")
        command = [str(python), *ISOLATED, str(HERE / "_dice_worker.py"), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CannotRunError(f"DiCE ended with {done.stderr.strip().splitlines()[-1:]}.")
        result = json.loads((folder / "result.json").read_text())
        if np.abs(np.asarray(result["said"]) - said).max() > 1e-6:
            raise CannotRunError("The model of DiCE's environment must be the one here; it is not.")
        found = {
            method: (
                pd.read_parquet(folder / f"{method}.parquet").set_index("place"),
                np.asarray(result[method]),
            )
            for method in METHODS
        }
    return found, result["version"]


def _asked_for(column: "pd.Series[Any]") -> tuple[float, float]:
    """Where numbers may end: all training rows, as DiCE has it by default."""
    return float(column.min()), float(column.max())


def _releases() -> list[str]:
    try:
        boosting = f"xgboost-cpu=={version('xgboost-cpu')}"
    except PackageNotFoundError:
        boosting = f"xgboost=={version('xgboost')}"
    return [*(f"{name}=={version(name)}" for name in _SHARED), boosting]
