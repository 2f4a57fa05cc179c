"""VanillaCF (Wachter et al., 2017): gradient descent on validity and distance, row by row."""

from functools import partial
from typing import Literal, NamedTuple, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from rocourse.models import BatchModel, has_network
from rocourse.recourse.search import (
    Candidate,
    Network,
    Query,
    Space,
    better,
    group_members,
    hard,
    judge,
    judged,
    log_odds,
    log_odds_of,
    log_odds_slope,
    no_candidate,
    project,
    propose_in_blocks,
    traced,
)
from rocourse.schema import Layout, Rows
from rocourse.schema.constraints import Limits, expand

SearchLoss = Literal["mse", "cross_entropy", "hinge"]
Distance = Literal["l1", "l2"]
SearchOptimizer = Literal["adam", "rmsprop"]
SEARCH_LOSSES: tuple[SearchLoss, ...] = get_args(SearchLoss)
DISTANCES: tuple[Distance, ...] = get_args(Distance)
SEARCH_OPTIMIZERS: tuple[SearchOptimizer, ...] = get_args(SearchOptimizer)


class VanillaSettings(NamedTuple):
    """How VanillaCF searches; what the options of `VanillaCFProposer` say."""

    proximity_weight: float
    loss: SearchLoss
    distance: Distance
    margin: float
    optimizer: SearchOptimizer
    learning_rate: float
    steps: int
    jitter: float
    start_noise: float = 0.1
    """The search starts this far, at most, from the row in each column: at the row itself the
    gradient may be zero."""


class Noise(NamedTuple):
    """Draws from U(−1, 1), `[width]` each, the same for all rows."""

    start: Array
    jitter: Array


class Progress(NamedTuple):
    """A search under way, of one row."""

    x: Array
    """Where it is, `[width]`; categories are soft."""
    moments: optax.OptState
    attempt_odds: Array
    """The target's log-odds at the last hardened iterate."""
    best: Candidate


class Task(NamedTuple):
    """What stays fixed while one row is searched for."""

    row: Array
    """The row itself, `[width]`."""
    origin: Array
    """Where distances are measured from, `[width]`."""
    limits: Limits
    target: Array


def vanilla_recourses(
    model: BatchModel,
    rows: Rows,
    target: np.ndarray,
    space: Space,
    settings: VanillaSettings,
    *,
    seed: int,
) -> Rows:
    """Searches a recourse for each row.

    Args:
        model: The classifier; with its network at hand the whole search is compiled.
        rows: The rows to change.
        target: The class index wanted for each.
        space: What the rows may become.
        settings: How to search.
        seed: Decides the starts; all rows share one draw, so that none depends on its neighbours.
    """
    noise = _draw_noise(space.layout.width, seed)
    numbers = traced(settings)
    if has_network(model):
        network = model.predictor
        return propose_in_blocks(
            lambda *block: _search_compiled(network, Query.of(*block), space, noise, numbers),
            rows,
            target,
            side_by_side=True,
        )
    return propose_in_blocks(
        lambda *block: _search_on_host(model, Query.of(*block), space, noise, numbers), rows, target
    )


def begin(
    x: Array,
    target: Array,
    space: Space,
    noise: Noise,
    settings: VanillaSettings,
) -> tuple[Task, Progress]:
    """The search for one encoded row, before its first step."""
    limits = space.constraints.limits(x)
    layout = space.layout
    # Without jitter the row is its own projection but for rounding, which would be counted as cost.
    moved = project(x + settings.jitter * noise.jitter, limits, layout)
    origin = jnp.where(settings.jitter == 0.0, x, moved)
    start = project(origin + settings.start_noise * noise.start, limits, layout)
    task = Task(x, origin, limits, target)
    return task, Progress(
        start, _optimizer(settings).init(start), jnp.array(jnp.inf), no_candidate(x)
    )


def step(
    task: Task,
    progress: Progress,
    odds: Array,
    slope: Array,
    space: Space,
    settings: VanillaSettings,
) -> Progress:
    """Moves one row by one optimiser step and projects it on its limits.

    Args:
        task: The row's task.
        progress: Where the search is.
        odds: The target's log-odds there.
        slope: Their gradient, `[width]`.
        space: What rows may become.
        settings: How to search.
    """
    # Soft categories can be content while the hard ones are not: half a change of two categories
    # may be enough where neither becomes whole. So the hardened iterate has a say in how urgent it
    # is to go on, and the soft one in which direction.
    urgent = jnp.minimum(odds, progress.attempt_odds)
    urge = jax.grad(validity_loss)(urgent, loss=settings.loss, margin=settings.margin)
    away = progress.x - task.origin
    pull = jnp.sign(away) if settings.distance == "l1" else 2.0 * away
    gradient = _along_shares(
        urge * slope + settings.proximity_weight * pull, progress.x, space.layout
    )
    updates, moments = _optimizer(settings).update(gradient, progress.moments)
    x = project(progress.x + updates, task.limits, space.layout)
    return progress._replace(x=x, moments=moments)


def _along_shares(gradient: Array, x: Array, layout: Layout) -> Array:
    """The gradient with that of each category taken relative to its group's present mix.

    Shares that rise together do not change: without this an optimiser that gives every column the
    same pace raises a good category and a slightly good one alike, and the projection undoes both.
    """
    cut = layout.n_continuous
    if not layout.group_sizes:
        return gradient
    member = group_members(layout)
    mixed = (gradient[cut:] * x[cut:]) @ member @ member.T
    return gradient.at[cut:].add(-mixed)


def validity_loss(odds: Array, *, loss: SearchLoss, margin: Array | float) -> Array:
    """How far the log-odds of the target class are from what is wanted."""
    if loss == "mse":
        return jnp.square(jax.nn.sigmoid(-odds))
    if loss == "cross_entropy":
        return jax.nn.softplus(-odds)
    return jnp.maximum(margin - odds, 0.0)


def keep(
    task: Task,
    progress: Progress,
    x: Array,
    odds: Array,
    valid: Array,
    *,
    margin: Array | float,
) -> Progress:
    """Remembers the hardened iterate `x` if it is the best so far: the cheapest with the margin."""
    cost = jnp.sum(jnp.abs(x - task.origin))
    best = better(progress.best, Candidate(x, cost, odds, valid & (odds >= margin)))
    return progress._replace(attempt_odds=odds, best=best)


def search(
    network: Network,
    x: Array,
    target: Array,
    space: Space,
    noise: Noise,
    settings: VanillaSettings,
) -> Progress:
    """The whole search for one encoded row, with a network that JAX can trace."""
    task, progress = begin(x, target, space, noise, settings)

    def advance(progress: Progress, _: None) -> tuple[Progress, None]:
        odds, slope = jax.value_and_grad(lambda point: log_odds(network(point), target))(progress.x)
        progress = step(task, progress, odds, slope, space, settings)
        attempt = space.settle(progress.x, task.row, task.limits)
        return keep(
            task, progress, attempt, *judge(network, attempt, target), margin=settings.margin
        ), None

    return jax.lax.scan(advance, progress, None, length=settings.steps)[0]


@eqx.filter_jit
def _search_compiled(
    network: Network,
    query: Query,
    space: Space,
    noise: Noise,
    settings: VanillaSettings,
) -> tuple[Array, Array]:
    layout = space.layout

    def one(values: Array, codes: Array, wanted: Array) -> tuple[Array, Array]:
        x = expand(values, codes, layout)
        return hard(search(network, x, wanted, space, noise, settings).best.x, layout)

    return jax.vmap(one)(*query)


def _search_on_host(
    model: BatchModel,
    query: Query,
    space: Space,
    noise: Noise,
    settings: VanillaSettings,
) -> tuple[Array, Array]:
    task, progress = _begin_all(query, space, noise, settings)
    target = np.asarray(query.target)
    for _ in range(settings.steps):
        probability, slope = map(jnp.asarray, model.slopes(np.asarray(progress.x), target))
        progress, attempts = _step_all(task, progress, probability, slope, space, settings)
        shares = jnp.asarray(model.probabilities(np.asarray(attempts)))
        progress = _keep_all(task, progress, attempts, shares, settings)
    return _hard_all(progress.best.x, space)


@eqx.filter_jit
def _begin_all(
    query: Query,
    space: Space,
    noise: Noise,
    settings: VanillaSettings,
) -> tuple[Task, Progress]:
    def one(values: Array, codes: Array, wanted: Array) -> tuple[Task, Progress]:
        x = expand(values, codes, space.layout)
        return begin(x, wanted, space, noise, settings)

    return jax.vmap(one)(*query)


@eqx.filter_jit
def _step_all(
    task: Task,
    progress: Progress,
    probability: Array,
    slope: Array,
    space: Space,
    settings: VanillaSettings,
) -> tuple[Progress, Array]:
    def one(
        task: Task, progress: Progress, probability: Array, slope: Array
    ) -> tuple[Progress, Array]:
        odds, slope = log_odds_of(probability), log_odds_slope(probability, slope)
        progress = step(task, progress, odds, slope, space, settings)
        return progress, space.settle(progress.x, task.row, task.limits)

    return jax.vmap(one)(task, progress, probability, slope)


@eqx.filter_jit
def _keep_all(
    task: Task, progress: Progress, attempts: Array, shares: Array, settings: VanillaSettings
) -> Progress:
    def one(task: Task, progress: Progress, attempt: Array, shares: Array) -> Progress:
        return keep(task, progress, attempt, *judged(shares, task.target), margin=settings.margin)

    return jax.vmap(one)(task, progress, attempts, shares)


@eqx.filter_jit
def _hard_all(x: Array, space: Space) -> tuple[Array, Array]:
    return jax.vmap(partial(hard, layout=space.layout))(x)


def _optimizer(settings: VanillaSettings) -> optax.GradientTransformation:
    make = optax.adam if settings.optimizer == "adam" else optax.rmsprop
    return make(settings.learning_rate)


def _draw_noise(width: int, seed: int) -> Noise:
    start, jitter = np.random.default_rng(seed).uniform(-1.0, 1.0, (2, width)).astype(np.float32)
    return Noise(jnp.asarray(start), jnp.asarray(jitter))
