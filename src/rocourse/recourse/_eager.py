"""A second search for rows whose few changes a cheap first one has used up."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from rocourse.recourse._fewer import where_rows
from rocourse.recourse._proposer import Context
from rocourse.recourse.search import Space
from rocourse.schema import Rows

Search = Callable[[Space, np.ndarray], Rows]


def search_twice(search: Search, context: Context, target: np.ndarray) -> Rows:
    """Proposals of a greedy search; where few features may change, those that gain most if need be.

    Edits are chosen by what they gain for their price. Where only so many features may change,
    cheap ones may take the place of those that would have convinced the model; so rows that it
    stays unconvinced of are searched for once more, at no price.

    Args:
        search: From a space and the places of rows to proposals for these.
        context: The model and the schema.
        target: The class index wanted for each row.
    """
    proposed = search(context.space, np.arange(len(target)))
    if context.schema.max_features is None:
        return proposed
    left = np.flatnonzero(~_convinced(context, proposed, target))
    if not len(left):
        return proposed
    eager = search(_at_no_price(context.space), left)
    better = np.zeros(len(target), dtype=bool)
    better[left] = _convinced(context, eager, target[left])
    continuous, categories = proposed.continuous.copy(), proposed.categories.copy()
    continuous[left], categories[left] = eager.continuous, eager.categories
    return where_rows(better, Rows(continuous, categories), proposed)


def _convinced(context: Context, rows: Rows, target: np.ndarray) -> np.ndarray:
    convinced: np.ndarray = context.verdicts(context.predict(rows)) == target
    return convinced


def _at_no_price(space: Space) -> Space:
    """The same space, in which changes cost nothing but being one."""

    def priced(space: Space) -> tuple[object, ...]:
        actions = space.constraints.actions
        assert actions is not None  # the schema says how many features may change
        return actions.weights, actions.prices, actions.feature_weights

    free: Space = eqx.tree_at(priced, space, replace_fn=jnp.zeros_like)
    return free
