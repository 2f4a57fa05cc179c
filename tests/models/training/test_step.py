"""The training step: which block moves when, compiled how often, and against which judge."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests.loans import make_schema, small

from rocourse.attack import Attack, inner_optimizer, look_ahead
from rocourse.estimators import CFModel, CounterNet, RobustCFModel, RoCourseNet
from rocourse.models import NetworkModel
from rocourse.models.training import (
    TrainingPlan,
    TrainingRows,
    _step,
    train,
)
from rocourse.models.training._batch import Batch, expand_rows
from rocourse.models.training._config import Rates, StepConfig
from rocourse.models.training._judge import mean_class_loss, shifted_predictor
from rocourse.models.training._recourses import choose_targets, soft_recourses
from rocourse.models.training._step import for_both_purposes
from rocourse.models.training._training import _begin
from rocourse.schema import Rows, one_hot
from rocourse.schema.constraints import ConstraintLayer

# One function for all tests: with equal shapes and configuration it is compiled once.
visit = eqx.filter_jit(_step.visit_batch)


def train_step(state, batch, constraints, config, rates, *, key):
    after, losses, _ = visit(
        state,
        batch,
        jnp.bool_(True) if for_both_purposes(config) else True,
        jnp.float32(0.1),
        constraints,
        config,
        rates,
        keys=jax.random.split(key, 4),
    )
    return after, losses


def plan_of(model):
    """How a method trains its generator: beside the predictor, or for one that stands still."""
    trainer = model.trainer
    task = model.proposer.task(model.attack, trainer.encoder_widths)
    if trainer.trains_beside:
        return TrainingPlan("both", trainer, task, trainer.prediction_weight)
    return TrainingPlan("generator", trainer, task)


def set_up(frame, model, n=64):
    schema = make_schema(frame)
    plan = plan_of(model)
    constraints = ConstraintLayer.from_schema(schema)
    # As training begins, which is compiled as a whole.
    state, _, _ = _begin(
        jnp.uint32(0),
        schema.layout,
        2,
        plan.generator.build,
        plan.moving,
        (plan.trainer.encoder_widths, plan.trainer.head_widths),
        None,
    )
    rows = schema.encode(frame.drop(columns="grade"))[np.arange(n)]
    labels = frame["grade"].to_numpy()[:n].astype(np.int32)
    batch = Batch(rows.continuous, rows.categories, labels, np.ones(n, np.float32))
    return state, batch, constraints, (StepConfig.of(plan), Rates.of(plan))


def moved(before, after):
    pairs = zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True)
    return [not np.array_equal(a, b) for a, b in pairs]


def plain(**params):
    return CounterNet(**small(CounterNet, **params))


def robust(**params):
    """RoCourseNet with the attack that it has by default."""
    return RoCourseNet(**small(RoCourseNet, **params)).set_params(attack=Attack())


@pytest.mark.parametrize("make", [plain, robust])
def test_predictor_moves_by_l1_alone_and_generator_by_l2_and_l3_alone(loans, make):
    def run(**params):
        state, batch, constraints, step = set_up(loans, make(**params))
        after, _ = train_step(state, batch, constraints, *step, key=jax.random.key(1))
        return state, after

    state, after = run(trainer__prediction_weight=0.0)
    assert not any(moved(state.predictor, after.predictor))
    assert all(moved(state.generator.output, after.generator.output))
    state, after = run(proposer__validity_weight=0.0, proposer__proximity_weight=0.0)
    assert all(moved(state.predictor, after.predictor))
    assert not any(moved(state.generator, after.generator))


@pytest.mark.parametrize("cls", [CFModel, RobustCFModel])
def test_post_hoc_training_leaves_the_predictor_alone(loans, cls):
    state, batch, constraints, step = set_up(loans, cls(**small(cls)))
    after, losses = train_step(state, batch, constraints, *step, key=jax.random.key(1))
    assert not any(moved(state.predictor, after.predictor))
    assert all(moved(state.generator.output, after.generator.output))
    assert losses.l1 is None


def test_predictor_learns_the_same_with_and_without_the_attacker(loans):
    """θ is trained in step 1 only, so the attack can cost no accuracy."""
    after = []
    for make in (plain, robust):
        state, batch, constraints, step = set_up(loans, make())
        for seed in range(3):
            state, _ = train_step(state, batch, constraints, *step, key=jax.random.key(seed))
        after.append(state.predictor)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), *after)


def test_rows_of_weight_zero_change_nothing(loans):
    state, batch, constraints, step = set_up(loans, plain())
    half = np.repeat([1.0, 0.0], 32).astype(np.float32)
    other = np.roll(np.arange(64), 7)
    other[:32] = np.arange(32)
    # Rows are where they were, and drop out as they did; only those that weigh nothing change.
    key = jax.random.key(0)
    first, first_losses = train_step(
        state, batch._replace(weight=half), constraints, *step, key=key
    )
    shuffled = Batch(*(np.asarray(part)[other] for part in batch[:3]), half)
    second, second_losses = train_step(state, shuffled, constraints, *step, key=key)
    np.testing.assert_allclose(first_losses, second_losses, rtol=1e-5)
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


@eqx.filter_jit
def attacked_loss(network, generator, batch, constraints, attack, rate, epsilon, key):
    """L2 of recourses under an attack that starts anywhere."""
    x = expand_rows(batch, constraints.layout)
    target = choose_targets(network, x, key=key)
    recourses, _ = soft_recourses(network, generator, x, target, constraints)
    judge = shifted_predictor(
        network,
        x,
        batch,
        recourses,
        target,
        attack,
        loss="mse",
        validity="mse",
        rate=rate,
        epsilon=epsilon,
        key=key,
    )
    return mean_class_loss(judge, recourses, target, batch.weight, "mse")


def batch_of(frame, schema):
    rows = schema.encode(frame.drop(columns="grade"))
    labels = frame["grade"].to_numpy().astype(np.int32)
    return Batch(rows.continuous, rows.categories, labels, np.ones(len(rows), np.float32))


def damage(model, frame, *, epsilon, steps=7):
    """L2 of a trained model's recourses under attack, mean over attackers' starts."""
    return np.mean(
        [
            attacked_loss(
                model.network_,
                model.state_,
                batch_of(frame, model.schema_),
                ConstraintLayer.from_schema(model.schema_),
                Attack(steps=steps, optimizer="sgd"),
                jnp.float32(0.5),
                jnp.float32(epsilon),
                jax.random.key(seed),
            )
            for seed in range(4)
        ]
    )


def test_attack_grows_with_its_steps_on_a_trained_counternet(counternet, loans):
    found = [damage(counternet, loans, epsilon=0.3, steps=steps) for steps in (1, 7, 20)]
    assert found[0] < found[1] < found[2]


def test_attack_grows_with_epsilon_on_a_trained_counternet(counternet, loans):
    found = [damage(counternet, loans, epsilon=epsilon) for epsilon in (0.0, 0.1, 0.3)]
    assert found[0] < found[1] < found[2]


@eqx.filter_jit
def attacked_predictor(network, batch, layout, attack):
    x = expand_rows(batch, layout)
    return shifted_predictor(
        network,
        x,
        batch,
        x,
        1 - batch.label,
        attack,
        loss="mse",
        validity="mse",
        rate=jnp.float32(0.003),
        epsilon=jnp.float32(0.1),
        key=jax.random.key(0),
    )


def test_attack_on_the_head_leaves_the_encoder_and_the_original_alone(counternet, loans):
    batch, layout = batch_of(loans, counternet.schema_), counternet.schema_.layout
    batch = Batch(*map(jnp.asarray, batch))
    before = jax.tree.map(np.array, eqx.filter(counternet.network_, eqx.is_array))
    for scope in ("head", "full"):
        attack = Attack(scope=scope, steps=2)
        judge = attacked_predictor(counternet.network_, batch, layout, attack)
        encoder_moved = moved(counternet.network_.encoder, judge.encoder)
        assert all(encoder_moved) if scope == "full" else not any(encoder_moved)
        assert all(moved(counternet.network_.output, judge.output))
    for now, then in zip(
        jax.tree.leaves(counternet.network_), jax.tree.leaves(before), strict=True
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
    model = RoCourseNet(**small(RoCourseNet, proposer__widths=(17,), trainer__epochs=3))
    schema = make_schema(loans)
    for n in (400, 250, 180):
        rows = schema.encode(loans.drop(columns="grade"))[np.arange(n)]
        labels = loans["grade"].to_numpy()[:n].astype(np.int32)
        train(TrainingRows(rows, labels, 2, schema), plan_of(model), seed=n)
    assert len(traces) == 1


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("unroll", [1, 2, 3])
def test_gradient_of_the_shift_is_that_of_plain_autodiff_row_by_row(loans, optimizer, unroll):
    """Rows as columns and our Adam against `vmap` over rows and Optax's, in float32."""
    state, batch, constraints, _ = set_up(loans, plain())
    rate, layout = 0.05, constraints.layout

    def columns_loss(weights, columns, labels):
        return mean_class_loss(weights, columns, labels, batch.weight, "mse")

    def rows_loss(weights, columns, labels):
        shares = jax.vmap(lambda row: jax.nn.sigmoid(weights(row)[0]))(columns.T)
        return jnp.mean(jnp.square(shares - labels))

    def moments_before(loss, inner, predictor, x, target):
        # A step before the shift: Adam's first step is a sign, which no shift moves.
        _, moments = inner.update(jax.grad(loss)(predictor, 1.0 - x, target), inner.init(predictor))
        return moments

    @eqx.filter_jit
    def plain_gradient(inner, predictor, batch, recourses):
        """Reverse-mode autodiff of the whole: retraining, then the attack loss."""
        x, target = expand_rows(batch, layout), 1 - batch.label
        start = moments_before(rows_loss, inner, predictor, x, target)

        def after_retraining(shifted):
            weights, moments = predictor, start
            for _ in range(unroll):
                slope = jax.grad(rows_loss)(weights, shifted, batch.label)
                updates, moments = inner.update(slope, moments)
                weights = optax.apply_updates(weights, updates)
            return rows_loss(weights, recourses, target)

        return jax.grad(after_retraining)(x)

    @eqx.filter_jit
    def our_gradient(inner, predictor, batch, recourses):
        x, target = expand_rows(batch, layout), 1 - batch.label
        _, _, gradient = look_ahead(
            lambda weights, shifted: columns_loss(weights, shifted, batch.label),
            lambda weights: columns_loss(weights, recourses, target),
            predictor,
            moments_before(columns_loss, inner, predictor, x, target),
            x,
            inner=inner,
            unroll=unroll,
        )
        return gradient()

    theirs = optax.sgd(rate) if optimizer == "sgd" else optax.adam(rate, eps=0.0, eps_root=1e-12)
    recourses = np.random.default_rng(5).random((layout.width, 64), np.float32)
    known = (state.predictor, Batch(*map(jnp.asarray, batch)), recourses)
    expected = np.asarray(plain_gradient(theirs, *known))
    found = np.asarray(our_gradient(inner_optimizer(optimizer, rate), *known))
    largest = np.abs(expected).max()
    assert largest > 0.0
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * largest)


def test_measuring_leaves_the_state_as_it_is(loans):
    state, batch, constraints, (config, rates) = set_up(loans, robust())
    after, losses, figures = visit(
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
    x = one_hot(Rows(batch.continuous, batch.categories), constraints.layout)
    shares = NetworkModel.of([state.predictor]).probabilities(x)[:, 1]
    n = len(batch.label)
    np.testing.assert_allclose(figures.l1 / n, np.mean((shares - batch.label) ** 2), rtol=1e-4)
    accuracy = np.mean((shares > 0.5) == batch.label)
    np.testing.assert_allclose(figures.accuracy / n, accuracy, rtol=1e-5)


def test_many_batches_a_call_are_one_batch_after_the_other(loans):
    """Stacked batches in one compiled call, the filled-up ones left out, equal single steps."""
    state, batch, constraints, (config, rates) = set_up(loans, plain())
    rolled = Batch(*(np.roll(np.asarray(part), 9, axis=0) for part in batch))
    # As many as training stacks, so that it is the code that training has compiled.
    stack = Batch(*(np.stack([a, b, *30 * [a]]) for a, b in zip(batch, rolled, strict=True)))
    epsilon, key, place = jnp.float32(0.1), jax.random.key(3), jnp.asarray([4, 32], jnp.int32)
    together, losses, _ = _step.visit_batches(
        state,
        stack,
        place,
        jnp.int32(2),
        True,
        epsilon,
        constraints,
        config,
        rates,
        key=key,
    )
    keys = jax.random.split(jax.random.fold_in(jax.random.fold_in(key, 4), 32), (32, 4))
    one, sums = state, np.zeros(3)
    for some, some_keys in zip((batch, rolled), keys[:2], strict=True):
        one, more, _ = visit(one, some, True, epsilon, constraints, config, rates, keys=some_keys)
        sums += np.asarray(more)
    np.testing.assert_allclose(np.asarray(losses), sums, rtol=1e-4)
    for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(one), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
