"""The least that a greedy search has to compute for a recourse, in products of float32.

A step asks every network about every edit. First layers are looked up and added, so that only the
later layers' products count, a multiply-add for each weight and edit. How many steps a row takes is
the least `max_changes` that gives its recourse. Trees, pruning, and all that is not a product count
as nothing.
"""

from typing import Any

import jax
import numpy as np

from rocourse import RecourseClassifier
from rocourse.schema import Rows


def step_flops(model: RecourseClassifier) -> float:
    """One step of one row, two a multiply-add."""
    state: Any = model.state_
    if isinstance(state, dict):
        later = [array for name, array in state.items() if name.startswith("weights.")]
        later = [array for array in later if array is not state["weights.0"]]
        edits = len(state["value"])
    else:
        networks = state.jury.jurors.networks
        # Of two classes, the log-odds are one product.
        logits = max(1, networks.weight.shape[1] - (networks.weight.shape[1] == 2))
        later = [*state.jury.weights[1:], networks.weight[:, :logits]]
        edits = len(state.edits.value)
    return 2.0 * edits * sum(array.size for array in jax.tree.leaves(later))


def mean_steps(model: RecourseClassifier, rows: Rows, target: np.ndarray) -> float:
    """The edits that a search makes for a row, on average."""
    context, proposer, state = model._context(), model.proposer_, model.state_
    most = proposer.max_changes
    final = proposer.propose(state, context, rows, target)
    steps = np.full(len(rows), most)
    for changes in range(most - 1, 0, -1):
        found = proposer(max_changes=changes).propose(state, context, rows, target)
        same = (found.categories == final.categories).all(axis=1)
        same &= (found.continuous == final.continuous).all(axis=1)
        # From here on it is as it will stay.
        steps[same & (steps == changes + 1)] = changes
        if not (steps == changes).any():
            break
    return float(steps.mean())
