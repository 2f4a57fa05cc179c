"""The training step: which block moves when, compiled how often, and against which judge."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from rocourse.methods import CFModel, CounterNet, RobustCFModel, RoCourseNet, _step
from rocourse.methods._batch import Batch, expand_rows
from rocourse.methods._config import AttackConfig
from rocourse.methods._judge import mean_class_loss, shifted_predictor
from rocourse.methods._recourses import choose_targets, soft_recourses
from rocourse.methods._state import build_generator, build_predictor
from rocourse.methods._step import new_state
from rocourse.methods._training import train

from rocourse.attack import inner_optimizer, look_ahead
from rocourse.schema.constraints import ConstraintLayer

from .conftest import SMALL, make_schema, small


@eqx.filter_jit
def train_step(state, batch, epsilon, constraints, config, rates, *, key):
    after, losses, _ = _step.visit_batch(
        state,
        batch,
        jnp.bool_(True),
        epsilon,
        constraints,
        config,
        rates,
        keys=jax.random.split(key, 4),
    )
    return after, losses


def set_up(frame, model, n=64):
    schema = make_schema(frame)
    plan = model.training_plan()
    constraints = ConstraintLayer.from_schema(schema)
    step = plan.step()
    predictor = build_predictor(schema.layout, 2, plan.predictor, key=jax.random.key(0))
    generator = build_generator(predictor, schema.layout, plan.build, key=jax.random.key(1))
    rows = schema.encode(frame.drop(columns="grade"))[np.arange(n)]
    labels = frame["grade"].to_numpy()[:n].astype(np.int32)
    batch = Batch(rows.continuous, rows.categories, labels, np.ones(n, np.float32))
    return new_state(predictor, generator, step.moving), batch, constraints, (step, plan.rates())


def moved(before, after):
    pairs = zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True)
    return [not np.array_equal(a, b) for a, b in pairs]


@pytest.mark.parametrize("cls", [CounterNet, RoCourseNet])
def test_predictor_moves_by_l1_alone_and_generator_by_l2_and_l3_alone(loans, cls):
    def run(**params):
        state, batch, constraints, step = set_up(loans, cls(**(SMALL | params)))
        after, _ = train_step(
            state, batch, jnp.float32(0.1), constraints, *step, key=jax.random.key(1)
        )
        return state, after

    state, after = run(lambda_1=0.0)
    assert not any(moved(state.predictor, after.predictor))
    assert all(moved(state.generator.output, after.generator.output))
    state, after = run(lambda_2=0.0, lambda_3=0.0)
    assert all(moved(state.predictor, after.predictor))
    assert not any(moved(state.generator, after.generator))


@pytest.mark.parametrize("cls", [CFModel, RobustCFModel])
def test_post_hoc_training_leaves_the_predictor_alone(loans, cls):
    state, batch, constraints, step = set_up(loans, cls(**small(cls)))
    after, losses = train_step(
        state, batch, jnp.float32(0.1), constraints, *step, key=jax.random.key(1)
    )
    assert not any(moved(state.predictor, after.predictor))
    assert all(moved(state.generator.output, after.generator.output))
    assert losses.l1 is None


def test_predictor_learns_the_same_with_and_without_the_attacker(loans):
    """θ is trained in step 1 only, so the attack can cost no accuracy."""
    after = []
    for cls in (CounterNet, RoCourseNet):
        state, batch, constraints, step = set_up(loans, cls(**SMALL))
        for seed in range(3):
            state, _ = train_step(
                state, batch, jnp.float32(0.1), constraints, *step, key=jax.random.key(seed)
            )
        after.append(state.predictor)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), *after)


def test_rows_of_weight_zero_change_nothing(loans):
    state, batch, constraints, step = set_up(loans, CounterNet(**(SMALL | {"dropout": 0.0})))
    half = np.repeat([1.0, 0.0], 32).astype(np.float32)
    other = np.roll(np.arange(64), 7)
    other[:32] = np.arange(32)
    first, first_losses = train_step(
        state,
        batch._replace(weight=half),
        jnp.float32(0.1),
        constraints,
        *step,
        key=jax.random.key(0),
    )
    shuffled = Batch(*(np.asarray(part)[other] for part in batch[:3]), half)
    second, second_losses = train_step(
        state, shuffled, jnp.float32(0.1), constraints, *step, key=jax.random.key(0)
    )
    np.testing.assert_allclose(first_losses, second_losses, rtol=1e-5)
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def attacked_loss(model, frame, *, epsilon, seeds=range(4), **attack):
    """L2 of a trained model's recourses under attack, mean over attackers' starts."""
    rows = model.schema_.encode(frame.drop(columns="grade"))
    labels = frame["grade"].to_numpy().astype(np.int32)
    batch = Batch(rows.continuous, rows.categories, labels, np.ones(len(rows), np.float32))
    constraints = ConstraintLayer.from_schema(model.schema_)

    @eqx.filter_jit
    def measure(key):
        x = expand_rows(batch, constraints.layout)
        target = choose_targets(model.predictor_, x, key=key)
        recourses, _ = soft_recourses(model.predictor_, model.generator_, x, target, constraints)
        judge = shifted_predictor(
            model.predictor_,
            x,
            batch,
            recourses,
            target,
            AttackConfig(**attack),
            loss="mse",
            validity="mse",
            rate=jnp.float32(attack.get("rate", 0.003)),
            epsilon=jnp.float32(epsilon),
            key=key,
        )
        return mean_class_loss(judge, recourses, target, batch.weight, "mse")

    return float(np.mean([measure(jax.random.key(seed)) for seed in seeds]))


def test_attack_grows_with_its_steps_on_a_trained_counternet(counternet, loans):
    damage = [
        attacked_loss(counternet, loans, epsilon=0.3, steps=steps, rate=0.5, optimizer="sgd")
        for steps in (1, 7, 20)
    ]
    assert damage[0] < damage[1] < damage[2]


def test_attack_grows_with_epsilon_on_a_trained_counternet(counternet, loans):
    damage = [
        attacked_loss(counternet, loans, epsilon=epsilon, rate=0.5, optimizer="sgd")
        for epsilon in (0.0, 0.1, 0.3)
    ]
    assert damage[0] < damage[1] < damage[2]


def test_attack_on_the_head_leaves_the_encoder_and_the_original_alone(counternet, loans):
    rows = counternet.schema_.encode(loans.drop(columns="grade"))
    labels = loans["grade"].to_numpy().astype(np.int32)
    batch = Batch(rows.continuous, rows.categories, labels, np.ones(len(rows), np.float32))
    x = expand_rows(batch, counternet.schema_.layout)
    before = jax.tree.map(np.array, eqx.filter(counternet.predictor_, eqx.is_array))
    for scope in ("head", "full"):
        judge = shifted_predictor(
            counternet.predictor_,
            x,
            batch,
            x,
            1 - labels,
            AttackConfig(scope=scope, steps=2),
            loss="mse",
            validity="mse",
            rate=jnp.float32(0.003),
            epsilon=jnp.float32(0.1),
            key=jax.random.key(0),
        )
        encoder_moved = moved(counternet.predictor_.encoder, judge.encoder)
        assert all(encoder_moved) if scope == "full" else not any(encoder_moved)
        assert all(moved(counternet.predictor_.output, judge.output))
    for now, then in zip(
        jax.tree.leaves(counternet.predictor_), jax.tree.leaves(before), strict=True
    ):
        np.testing.assert_array_equal(now, then)


def test_training_step_is_traced_once_for_all_subsets_and_epochs(loans, monkeypatch):
    """Subsets of 400, 250 and 180 rows share the batch shape, so they share the compiled step."""
    traces = []
    original = _step.choose_targets

    def counting(*args, **kwargs):
        traces.append(1)
        return original(*args, **kwargs)

    monkeypatch.setattr(_step, "choose_targets", counting)
    # A width that no other test uses: the compilation must happen here.
    model = RoCourseNet(**(SMALL | {"generator_widths": (17,), "epochs": 3}))
    schema = make_schema(loans)
    constraints = ConstraintLayer.from_schema(schema)
    for n in (400, 250, 180):
        rows = schema.encode(loans.drop(columns="grade"))[np.arange(n)]
        labels = loans["grade"].to_numpy()[:n].astype(np.int32)
        train(rows, labels, 2, constraints, model.training_plan(), seed=n)
    assert len(traces) == 1


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("unroll", [1, 2, 3])
def test_gradient_of_the_shift_is_that_of_plain_autodiff_row_by_row(loans, optimizer, unroll):
    """Rows as columns and our Adam against `vmap` over rows and Optax's, in float32."""
    state, batch, constraints, _ = set_up(loans, RoCourseNet(**SMALL))
    predictor = state.predictor
    x = expand_rows(batch, constraints.layout)
    recourses = jax.random.uniform(jax.random.key(5), x.shape)
    target = 1 - batch.label
    rate = 0.05

    def columns_loss(weights, columns, labels):
        return mean_class_loss(weights, columns, labels, batch.weight, "mse")

    def rows_loss(weights, columns, labels):
        shares = jax.vmap(lambda row: jax.nn.sigmoid(weights(row)[0]))(columns.T)
        return jnp.mean(jnp.square(shares - labels))

    def moments_before(loss, inner):
        # A step before the shift: Adam's first step is a sign, which no shift moves.
        _, moments = inner.update(jax.grad(loss)(predictor, 1.0 - x, target), inner.init(predictor))
        return moments

    def plain_gradient(inner):
        """Reverse-mode autodiff of the whole: retraining, then the attack loss."""
        start = moments_before(rows_loss, inner)

        def after_retraining(shifted):
            weights, moments = predictor, start
            for _ in range(unroll):
                slope = jax.grad(rows_loss)(weights, shifted, batch.label)
                updates, moments = inner.update(slope, moments)
                weights = optax.apply_updates(weights, updates)
            return rows_loss(weights, recourses, target)

        return np.asarray(jax.jit(jax.grad(after_retraining))(x))

    def our_gradient(inner):
        def after_retraining(shifted):
            _, _, gradient = look_ahead(
                lambda weights, shifted: columns_loss(weights, shifted, batch.label),
                lambda weights: columns_loss(weights, recourses, target),
                predictor,
                moments_before(columns_loss, inner),
                shifted,
                inner=inner,
                unroll=unroll,
            )
            return gradient()

        return np.asarray(jax.jit(after_retraining)(x))

    plain = optax.sgd(rate) if optimizer == "sgd" else optax.adam(rate, eps=0.0, eps_root=1e-12)
    expected = plain_gradient(plain)
    found = our_gradient(inner_optimizer(optimizer, rate))
    largest = np.abs(expected).max()
    assert largest > 0.0
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * largest)


def test_measuring_leaves_the_state_as_it_is(loans):
    state, batch, constraints, (config, rates) = set_up(loans, RoCourseNet(**SMALL))
    after, losses, figures = eqx.filter_jit(_step.visit_batch)(
        state,
        batch,
        jnp.bool_(False),
        jnp.float32(0.1),
        constraints,
        config,
        rates,
        keys=jax.random.split(jax.random.key(0), 4),
    )
    assert not any(moved(state, after))
    assert all(float(loss) == 0.0 for loss in losses)
    predictor = state.predictor
    x = expand_rows(batch, constraints.layout)
    shares = jax.vmap(lambda row: jax.nn.sigmoid(predictor(row)[0]))(x.T)
    n = len(batch.label)
    np.testing.assert_allclose(figures.l1 / n, np.mean((shares - batch.label) ** 2), rtol=1e-4)
    accuracy = np.mean((np.asarray(shares) > 0.5) == batch.label)
    np.testing.assert_allclose(figures.accuracy / n, accuracy, rtol=1e-5)


def test_many_batches_a_call_are_one_batch_after_the_other(loans):
    """Stacked batches in one compiled call, the filled-up ones left out, equal single steps."""
    state, batch, constraints, (config, rates) = set_up(loans, CounterNet(**SMALL))
    rolled = Batch(*(np.roll(np.asarray(part), 9, axis=0) for part in batch))
    stack = Batch(*(jnp.stack([a, b, a]) for a, b in zip(batch, rolled, strict=True)))
    epsilon, key, place = jnp.float32(0.1), jax.random.key(3), jnp.asarray([4, 32], jnp.int32)
    together, losses, _ = _step.visit_batches(
        state,
        stack,
        place,
        jnp.int32(2),
        jnp.bool_(True),
        epsilon,
        constraints,
        config,
        rates,
        key=key,
    )
    keys = jax.random.split(jax.random.fold_in(jax.random.fold_in(key, 4), 32), (3, 4))
    one, sums = state, np.zeros(3)
    for some, some_keys in zip((batch, rolled), keys[:2], strict=True):
        one, more, _ = eqx.filter_jit(_step.visit_batch)(
            one, some, jnp.bool_(True), epsilon, constraints, config, rates, keys=some_keys
        )
        sums += np.asarray(more)
    np.testing.assert_allclose(np.asarray(losses), sums, rtol=1e-4)
    for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(one), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
