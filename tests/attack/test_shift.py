"""Virtual Data Shift against finite differences, closed forms and its own promises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.versions import enable_x64

from rocourse.attack import inner_optimizer, look_ahead, virtual_data_shift

N_ROWS, WIDTH = 5, 3


def smooth_problem(n_classes, dtype):
    """A small smooth network (so that finite differences are exact) with labels and recourses."""
    keys = jax.random.split(jax.random.key(7), 5)
    params = {
        "hidden": 0.8 * jax.random.normal(keys[0], (WIDTH, 4), dtype),
        "output": 0.8 * jax.random.normal(keys[1], (4, n_classes), dtype),
    }
    x = jax.random.uniform(keys[2], (N_ROWS, WIDTH), dtype)
    recourses = jax.random.uniform(keys[3], (N_ROWS, WIDTH), dtype)
    labels = jax.random.randint(keys[4], (N_ROWS,), 0, max(n_classes, 2))
    target = (labels + 1) % max(n_classes, 2)

    def predict(weights, rows):
        logits = jnp.tanh(rows @ weights["hidden"]) @ weights["output"]
        if n_classes == 1:
            share = jax.nn.sigmoid(logits)
            return jnp.concatenate([1 - share, share], axis=1)
        return jax.nn.softmax(logits)

    def loss(weights, rows, classes):
        wanted = jax.nn.one_hot(classes, max(n_classes, 2), dtype=dtype)
        return jnp.mean(jnp.square(predict(weights, rows) - wanted))

    def retrain_loss(weights, rows):
        return loss(weights, rows, labels)

    def attack_loss(weights):
        return loss(weights, recourses, target)

    return params, x, retrain_loss, attack_loss


def central_differences(function, x, step):
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        nudge = np.zeros(x.shape)
        nudge[index] = step
        gradient[index] = (function(x + nudge) - function(x - nudge)) / (2 * step)
    return gradient


@pytest.mark.parametrize("n_classes", [1, 3], ids=["binary", "multi-class"])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("unroll", [1, 2, 3])
def test_gradient_through_the_unrolled_steps_equals_finite_differences(
    unroll, optimizer, n_classes
):
    with enable_x64(True):
        params, x, retrain_loss, attack_loss = smooth_problem(n_classes, jnp.float64)
        inner = inner_optimizer(optimizer, 0.3)
        # Adam's very first step is the gradient's sign, which no shift moves: start a step later.
        _, state = inner.update(jax.grad(retrain_loss)(params, 1.0 - x), inner.init(params))

        def look(shifted):
            return look_ahead(
                retrain_loss, attack_loss, params, state, shifted, inner=inner, unroll=unroll
            )

        def after_retraining(shifted):
            weights, _, _ = look(shifted)
            return attack_loss(weights)

        _, _, gradient = look(x)
        gradient = np.asarray(gradient())
        expected = central_differences(jax.jit(after_retraining), np.asarray(x), 1e-5)
    assert np.abs(expected).max() > 1e-6, "the shift must matter, or this test shows nothing"
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("n_classes", [1, 3], ids=["binary", "multi-class"])
@pytest.mark.parametrize(
    ("optimizer", "unroll"), [("sgd", 1), ("sgd", 2), ("sgd", 3), ("adam", 2), ("adam", 3)]
)
@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_one_attacker_step_follows_the_finite_difference_gradient(
    norm, unroll, optimizer, n_classes
):
    """The whole function, not its parts: δ after T=1 is Π(δ0 + α·direction of the gradient)."""
    epsilon, alpha = 0.1, 0.04
    with enable_x64(True):
        params, x, retrain_loss, attack_loss = smooth_problem(n_classes, jnp.float64)
        options = {
            "key": jax.random.key(3),
            "epsilon": epsilon,
            "unroll": unroll,
            "rate": 0.3,
            "optimizer": optimizer,
            "norm": norm,
            "steps": 1,
        }
        start = virtual_data_shift(
            retrain_loss, attack_loss, params, x, step_size=0.0, **options
        ).delta
        moved = virtual_data_shift(
            retrain_loss, attack_loss, params, x, step_size=alpha, **options
        ).delta
        inner = inner_optimizer(optimizer, 0.3)

        def after_retraining(delta):
            weights = params
            state = inner.init(params)
            for _ in range(unroll):
                gradient = jax.grad(retrain_loss)(weights, x + delta)
                updates, state = inner.update(gradient, state)
                weights = jax.tree.map(jnp.add, weights, updates)
            return attack_loss(weights)

        start, moved = np.asarray(start), np.asarray(moved)
        gradient = central_differences(jax.jit(after_retraining), start, 1e-5)
    if norm == "linf":
        expected = np.clip(start + alpha * np.sign(gradient), -epsilon, epsilon)
    else:
        length = np.linalg.norm(gradient, axis=1, keepdims=True)
        expected = start + alpha * gradient / length
        size = np.linalg.norm(expected, axis=1, keepdims=True)
        expected = expected * np.minimum(1.0, epsilon / size)
    np.testing.assert_allclose(moved, expected, rtol=1e-3, atol=1e-6)


def test_one_sgd_step_on_a_linear_model_has_its_closed_form():
    """f = x·w, squared loss: w' = w − η·2/n·Σ x̃ (x̃·w − y), so the shift's effect is known."""
    w, eta = jnp.array([0.5, -1.0]), 0.1
    x, y = jnp.array([[1.0, 2.0], [0.5, -1.0]]), jnp.array([1.0, 0.0])
    shift = virtual_data_shift(
        lambda weights, rows: jnp.mean(jnp.square(rows @ weights - y)),
        lambda weights: jnp.sum(weights),
        w,
        x,
        key=jax.random.key(0),
        epsilon=0.0,
        steps=1,
        unroll=1,
        rate=eta,
    )
    residual = np.asarray(x @ w - y)
    expected = np.asarray(w) - eta * 2 / 2 * np.asarray(x).T @ residual
    np.testing.assert_allclose(shift.params, expected, rtol=1e-6)


def test_weights_and_optimiser_state_carry_over_the_attacker_steps():
    """With ε = 0 there is no shift: T·K steps of Adam in a row are what must come out."""
    params, x, retrain_loss, attack_loss = smooth_problem(1, jnp.float32)
    shift = virtual_data_shift(
        retrain_loss,
        attack_loss,
        params,
        x,
        key=jax.random.key(0),
        epsilon=0.0,
        steps=3,
        unroll=2,
        rate=0.05,
        optimizer="adam",
    )
    inner = inner_optimizer("adam", 0.05)
    weights, state = params, inner.init(params)
    for _ in range(6):
        updates, state = inner.update(jax.grad(retrain_loss)(weights, x), state)
        weights = jax.tree.map(jnp.add, weights, updates)
    jax.tree.map(
        lambda got, want: np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6),
        shift.params,
        weights,
    )


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_the_last_ascent_moves_the_shift_but_not_the_weights(optimizer):
    params, x, retrain_loss, attack_loss = smooth_problem(1, jnp.float32)
    options = {"key": jax.random.key(1), "epsilon": 0.2, "optimizer": optimizer, "step_size": 0.05}
    whole = virtual_data_shift(retrain_loss, attack_loss, params, x, **options)
    brief = virtual_data_shift(retrain_loss, attack_loss, params, x, last_ascent=False, **options)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), whole.params, brief.params
    )
    moved = np.abs(np.asarray(whole.delta) - np.asarray(brief.delta))
    assert 0.0 < moved.max() <= 0.05 + 1e-6


def test_rows_may_be_columns():
    params, x, retrain_loss, attack_loss = smooth_problem(1, jnp.float32)
    options = {"key": jax.random.key(1), "epsilon": 0.2, "norm": "l2", "rate": 0.5}
    shift = virtual_data_shift(
        lambda weights, columns: retrain_loss(weights, columns.T),
        attack_loss,
        params,
        x.T,
        axis=0,
        **options,
    )
    lengths = np.linalg.norm(np.asarray(shift.delta), axis=0)
    assert shift.delta.shape == x.T.shape
    assert (lengths <= 0.2 + 1e-6).all()
    assert lengths.max() > 0.19


@pytest.mark.parametrize("attacker", ["worst", "random"])
@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_shift_stays_in_its_ball_and_the_given_weights_stay_as_they_are(norm, attacker):
    params, x, retrain_loss, attack_loss = smooth_problem(1, jnp.float32)
    before = jax.tree.map(np.array, params)
    shift = virtual_data_shift(
        retrain_loss,
        attack_loss,
        params,
        x,
        key=jax.random.key(1),
        epsilon=0.2,
        optimizer="adam",
        norm=norm,
        attacker=attacker,
    )
    order = np.inf if norm == "linf" else 2
    assert (np.linalg.norm(shift.delta, order, axis=1) <= 0.2 + 1e-6).all()
    jax.tree.map(np.testing.assert_array_equal, params, before)
    changed = jax.tree.map(lambda a, b: float(jnp.abs(a - b).max()), shift.params, params)
    assert min(jax.tree.leaves(changed)) > 0


def test_the_worst_attacker_hurts_more_than_the_random_one():
    params, x, retrain_loss, attack_loss = smooth_problem(1, jnp.float32)

    def damage(attacker, seed):
        shift = virtual_data_shift(
            retrain_loss,
            attack_loss,
            params,
            x,
            key=jax.random.key(seed),
            epsilon=0.3,
            steps=10,
            rate=0.5,
            attacker=attacker,
        )
        return float(attack_loss(shift.params))

    worst = [damage("worst", seed) for seed in range(5)]
    assert np.mean(worst) > np.mean([damage("random", seed) for seed in range(5)])


def test_adam_with_a_zero_gradient_gives_no_nan():
    """A weight that nothing depends on has a zero gradient in every step."""
    params, x, retrain_loss, attack_loss = smooth_problem(1, jnp.float32)
    params["unused"] = jnp.ones(3)
    shift = virtual_data_shift(
        retrain_loss,
        attack_loss,
        params,
        x,
        key=jax.random.key(0),
        epsilon=0.1,
        optimizer="adam",
    )
    for leaf in jax.tree.leaves(shift):
        assert np.isfinite(leaf).all()
    assert float(jnp.abs(shift.delta).max()) > 0
