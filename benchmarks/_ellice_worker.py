"""Asks ElliCE for recourses in an environment of its own.

Started by `certified.py` with a folder that holds `task.json` and `arrays.npz`: the layers of a
network, encoded training rows with labels, and those who ask. Writes what ElliCE proposes by each
method, and the processor time of each row.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from ellice import Data, Explainer

# Of a last layer's loss, as rocourse has it; by default it is a tenth of that.
_PENALTY = 1e-3


def network(arrays: dict[str, np.ndarray], depth: int, slope: float) -> torch.nn.Sequential:
    """The model that decides, as PyTorch has it."""
    parts: list[torch.nn.Module] = []
    for k in range(depth + 1):
        weight, bias = (torch.tensor(arrays[f"{name}{k}"]).float() for name in ("weight", "bias"))
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
        layer.weight.data, layer.bias.data = weight, bias
        parts += [layer, torch.nn.LeakyReLU(slope)]
    return torch.nn.Sequential(*parts[:-1])


def main() -> None:
    """Runs the task."""
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    task = json.loads((folder / "task.json").read_text())
    arrays = dict(np.load(folder / "arrays.npz"))
    names = [f"c{k}" for k in range(arrays["train"].shape[1])]
    train = pd.DataFrame(arrays["train"], columns=names)
    rows = pd.DataFrame(arrays["rows"], columns=names)
    data = Data(train.assign(y=arrays["labels"]), "y", continuous_features=names)
    explainer = Explainer(network(arrays, task["depth"], task["slope"]), data, device="cpu")
    answer = {}
    for method in task["methods"]:
        found, seconds = [], []
        for i in range(len(rows)):
            torch.manual_seed(0)
            start = time.process_time()
            told = explainer.generate_counterfactuals(
                rows.iloc[[i]],
                method=method,
                features_to_vary=[names[k] for k in task["mutable"]],
                one_way_change={names[int(k)]: way for k, way in task["one_way"].items()},
                one_hot_groups=[[names[k] for k in group] for group in task["groups"]]
                if method == "continuous"
                else None,
                permitted_range={names[k]: [0.0, 1.0] for k in task["numbers"]},
                robustness_epsilon=task["epsilon"],
                regularization_coefficient=_PENALTY,
                requires="robust",
                progress_bar=False,
            )
            seconds.append(time.process_time() - start)
            found.append(told[names].iloc[0] if len(told) else rows.iloc[i])
        answer[method] = np.asarray(found, float)
        answer[f"{method}.seconds"] = np.array(seconds)
    np.savez(folder / "found.npz", **answer)


if __name__ == "__main__":
    main()
