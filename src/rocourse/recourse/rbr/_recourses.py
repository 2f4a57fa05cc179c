"""RBR (Nguyen et al., 2022), robust Bayesian recourse: against the worst Gaussians near samples.

1. Walk towards training rows of the target class to the nearest boundary point (`_boundary`).
2. Draw samples in a ball around it and let the model label them.
3. Move to where the worst-case odds of the unfavourable samples' Gaussians against the favourable
   ones' are least, within a budget of change (`_descent`, `_likelihoods`).
4. Make categories whole. Soft ones often lean to the target class by less than half, and fall back
   to what they were: the recourse is then no longer valid. The repair, which is not part of the
   published method, walks on to the training row that the boundary was found on, whole at every
   step, until the model agrees.
"""

import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import BatchModel, has_network
from rocourse.recourse.rbr._likelihoods import likelihood_table
from rocourse.recourse.rbr._reference import Reference, nearest
from rocourse.recourse.rbr._search import (
    Block,
    RbrSettings,
    Surroundings,
    search_compiled,
    search_on_host,
)
from rocourse.recourse.search import Space, propose_in_blocks, traced
from rocourse.schema import Rows
from rocourse.schema.constraints import ConstraintLayer

_BLOCK_SIZES = (1, 32)
_HOST_BLOCK_SIZES = (1, 8)


def rbr_recourses(
    model: BatchModel,
    rows: Rows,
    target: np.ndarray,
    space: Space,
    reference: Reference,
    settings: RbrSettings,
    *,
    seed: int,
) -> Rows:
    """Searches a recourse for each row.

    Args:
        model: The classifier; with its network at hand the whole search is compiled.
        rows: The rows to change.
        target: The class index wanted for each.
        space: What the rows may become.
        reference: What was learned of the training rows (`learn_reference`).
        settings: How to search.
        seed: Of the draw of samples, which is the same for all rows.
    """
    around = surroundings(space.constraints, reference, settings, seed=seed)
    free = not bounds_anything(space.constraints)
    # The table has taken these in; what is left of the settings shapes the code or is traced.
    numbers = traced(settings._replace(sigma=0.0, epsilon_op=0.0, epsilon_pe=0.0))

    def run(values: np.ndarray, codes: np.ndarray, wanted: np.ndarray) -> tuple[Array, Array]:
        index, margins = nearest(reference, values, codes, wanted, count=settings.neighbours)
        block = Block(values, codes, wanted, index, margins)
        if has_network(model):
            return search_compiled(model.predictor, block, space, around, numbers, free)
        return search_on_host(model, block, space, around, numbers, free)

    compiled = has_network(model)
    sizes = _BLOCK_SIZES if compiled else _HOST_BLOCK_SIZES
    return propose_in_blocks(run, rows, target, sizes=sizes, side_by_side=compiled)


def surroundings(
    constraints: ConstraintLayer, reference: Reference, settings: RbrSettings, *, seed: int
) -> Surroundings:
    """Draws the samples and tabulates their likelihoods."""
    layout = constraints.layout
    radius = settings.radius * float(reference.max_distance)
    # Rows are at most this far apart, and samples no farther than the radius from a row.
    reach = float(np.sqrt(layout.n_continuous + 2 * layout.n_categorical)) + radius
    return Surroundings(
        continuous=jnp.asarray(reference.continuous),
        categories=jnp.asarray(reference.categories),
        offsets=jnp.asarray(radius * draw_ball(layout.width, settings.samples, seed=seed)),
        table=likelihood_table(
            dimension=layout.width,
            sigma=float(settings.sigma),
            epsilon_op=float(settings.epsilon_op),
            epsilon_pe=float(settings.epsilon_pe),
            reach=reach,
        ),
    )


def draw_ball(dimension: int, count: int, *, seed: int) -> np.ndarray:
    """Points drawn uniformly from the Euclidean unit ball, float32 `[count, dimension]`."""
    rng = np.random.default_rng(seed)
    normals = rng.standard_normal((count, dimension))
    directions = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    lengths = rng.uniform(size=(count, 1)) ** (1.0 / dimension)
    points: np.ndarray = (lengths * directions).astype(np.float32)
    return points


def bounds_anything(constraints: ConstraintLayer) -> bool:
    """Whether there is a row that some training row is out of reach for."""
    may = (
        constraints.may_rise,
        constraints.may_fall,
        constraints.category_may_rise,
        constraints.category_may_fall,
        constraints.low <= 0.0,
        constraints.high >= 1.0,
    )
    return not all(bool(np.all(flags)) for flags in may)
