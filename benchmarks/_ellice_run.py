"""ElliCE beside rocourse: its environment, and what it proposes there."""

import json
import subprocess
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from _relax_env import HERE, ISOLATED, CannotRunError, environment
from scipy.linalg import block_diag

from rocourse import Schema
from rocourse.certificates._intervals import Layers

FOLDER = HERE.parent / ".venv-ellice"
METHODS = ("continuous", "data_supported")
_PINS = ("ellice==0.1.4", "torch")
_SHARED = ("numpy", "pandas", "scikit-learn", "scipy")


def ellice_recourses(
    schema: Schema,
    layers: Layers,
    last: np.ndarray,
    train: np.ndarray,
    labels: np.ndarray,
    rows: np.ndarray,
    epsilon: float,
    slope: float = 0.01,
) -> dict[str, tuple[np.ndarray, float]]:
    """What ElliCE proposes, by method: encoded rows, and the median of their seconds.

    Args:
        schema: What may change.
        layers: The model that decides.
        last: Its last layer, fitted anew, for the class that is wanted; the bias last.
        train: Encoded training rows.
        labels: 0 and 1.
        rows: Who asks, encoded.
        epsilon: The loss that last layers may give away.
        slope: Of units that are below zero.
    """
    python = environment(
        FOLDER, (*_PINS, *(f"{name}=={version(name)}" for name in _SHARED)), module="ellice"
    )
    numbers, groups = schema.continuous, schema.layout.group_slices
    open_groups = [
        list(range(*group.indices(rows.shape[1])))
        for feature, group in zip(schema.categorical, groups, strict=True)
        if not feature.immutable
    ]
    free = [k for k, feature in enumerate(numbers) if not feature.immutable]
    ways = {"up": "increase", "down": "decrease"}
    task = {
        "depth": len(layers.weights),
        "methods": METHODS,
        "epsilon": epsilon,
        "slope": slope,
        "numbers": free,
        "groups": open_groups,
        "mutable": [*free, *(k for group in open_groups for k in group)],
        "one_way": {k: ways[numbers[k].direction] for k in free if numbers[k].direction in ways},
    }
    arrays = {"train": train, "labels": labels, "rows": rows}
    weights = [np.concatenate(layers.weights[0]), *(block_diag(*w) for w in layers.weights[1:])]
    weights.append(last[None, :-1])
    for k, (weight, bias) in enumerate(zip(weights, (*layers.biases, last[-1:]), strict=True)):
        arrays[f"weight{k}"], arrays[f"bias{k}"] = weight, bias.ravel()
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "task.json").write_text(json.dumps(task))
        np.savez(folder / "arrays.npz", **arrays)
        command = [str(python), *ISOLATED, str(HERE / "_ellice_worker.py"), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CannotRunError(f"ElliCE ended with {done.stderr.strip().splitlines()[-1:]}.")
        found = dict(np.load(folder / "found.npz"))
    return {
        method: (found[method], float(np.median(found[f"{method}.seconds"]))) for method in METHODS
    }
