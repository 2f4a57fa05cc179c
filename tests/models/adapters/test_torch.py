"""PyTorch modules: logits, modes and gradients."""

import copy

import numpy as np
import pytest
import torch
from tests.models.adapters.conftest import make_schema

from rocourse.errors import ConfigError, DataError
from rocourse.models.adapters import adapt
from rocourse.schema import Schema


def mlp(width, outputs, *, seed=0, **options):
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(width, 16, **options),
        torch.nn.BatchNorm1d(16, **options),
        torch.nn.Tanh(),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(16, outputs, **options),
    )


class Squeezed(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x).squeeze()


def in_evaluation(module, x):
    twin = copy.deepcopy(module).eval()
    with torch.no_grad():
        return twin(torch.tensor(x)).numpy()


def test_one_logit_goes_through_the_sigmoid(schema, encoded):
    module = mlp(schema.layout.width, 1)
    result = adapt(module, schema).probabilities(encoded)
    expected = 1 / (1 + np.exp(-in_evaluation(module, encoded)[:, 0]))
    np.testing.assert_allclose(result, np.column_stack([1 - expected, expected]), atol=1e-6)


def test_several_logits_go_through_the_softmax(graded):
    schema = make_schema(graded)
    x = np.random.default_rng(0).uniform(size=(20, schema.layout.width)).astype(np.float32)
    module = mlp(schema.layout.width, 3)
    powers = np.exp(in_evaluation(module, x))
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(adapt(module, schema).probabilities(x), expected, atol=1e-6)
    named = adapt(module, schema, classes=("low", "middle", "high"))
    np.testing.assert_allclose(named.probabilities(x), expected[:, [2, 0, 1]], atol=1e-6)


def test_probabilities_are_taken_as_they_are_if_that_is_stated(schema, encoded):
    module = torch.nn.Sequential(mlp(schema.layout.width, 2), torch.nn.Softmax(dim=1))
    result = adapt(module, schema, outputs="probabilities").probabilities(encoded)
    np.testing.assert_allclose(result, in_evaluation(module, encoded), atol=1e-6)


def linear(width, outputs, dtype=torch.float32):
    torch.manual_seed(1)
    return torch.nn.Linear(width, outputs, dtype=dtype)


@pytest.mark.parametrize("outputs", ["logits", "probabilities"])
def test_the_gradient_of_one_logit_is_the_closed_form(outputs, schema, encoded):
    module = linear(schema.layout.width, 1)
    weights = module.weight.detach().numpy()[0]
    wanted = np.arange(len(encoded)) % 2
    shown = module if outputs == "logits" else torch.nn.Sequential(module, torch.nn.Sigmoid())
    p, slopes = adapt(shown, schema, outputs=outputs).slopes(encoded, wanted)
    q = 1 / (1 + np.exp(-in_evaluation(module, encoded)[:, 0]))
    np.testing.assert_allclose(p, np.where(wanted == 1, q, 1 - q), atol=1e-6)
    sign = np.where(wanted == 1, 1.0, -1.0)
    expected = (sign * q * (1 - q))[:, None] * weights
    np.testing.assert_allclose(slopes, expected, atol=1e-6)


def test_the_gradient_of_several_logits_is_the_closed_form(graded):
    schema = make_schema(graded)
    x = np.random.default_rng(0).uniform(size=(30, schema.layout.width)).astype(np.float32)
    module = linear(schema.layout.width, 3)
    wanted = np.arange(30) % 3
    adapted = adapt(module, schema, classes=("low", "middle", "high"))
    p, slopes = adapted.slopes(x, wanted)
    # The classes are sorted (high, low, middle): columns 2, 0, 1 of the module.
    column = np.array([2, 0, 1])[wanted]
    shares = adapted.probabilities(x)[:, [1, 2, 0]]
    weights = module.weight.detach().numpy()
    expected = shares[np.arange(30), column, None] * (weights[column] - shares @ weights)
    np.testing.assert_allclose(p, shares[np.arange(30), column], atol=1e-6)
    np.testing.assert_allclose(slopes, expected, atol=1e-6)


def test_the_gradient_of_a_network_agrees_with_fine_differences(schema, encoded):
    module = mlp(schema.layout.width, 1, dtype=torch.float64)
    x = encoded[:6]
    _, slopes = adapt(module, schema).slopes(x, np.ones(6, int))
    h = 1e-6
    for column in range(schema.layout.width):
        moves = np.zeros(schema.layout.width)
        moves[column] = h
        high = in_evaluation(module, x.astype(np.float64) + moves)[:, 0]
        low = in_evaluation(module, x.astype(np.float64) - moves)[:, 0]
        rise = 1 / (1 + np.exp(-high)) - 1 / (1 + np.exp(-low))
        np.testing.assert_allclose(slopes[:, column], rise / (2 * h), atol=1e-6)


def test_every_part_is_left_in_the_mode_it_was_in(schema, encoded):
    module = mlp(schema.layout.width, 1).train()
    module[1].eval()
    adapted = adapt(module, schema)
    adapted.slopes(encoded[:4], np.ones(4, int))
    assert [part.training for part in module] == [True, False, True, True, True]
    before = module[1].running_mean.clone()
    first = adapted.probabilities(encoded)
    # Neither dropout nor the statistics of the batch act: the module is in evaluation mode.
    np.testing.assert_array_equal(adapted.probabilities(encoded), first)
    assert torch.equal(module[1].running_mean, before)


def test_the_modes_are_restored_after_an_error(schema):
    module = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(3, 1)).train()
    with pytest.raises(ConfigError, match="Sequential must accept .* RuntimeError"):
        adapt(module, schema)
    assert all(part.training for part in module.modules())


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_slopes_work_where_gradients_are_off(mode, schema, encoded):
    adapted = adapt(mlp(schema.layout.width, 1), schema)
    expected = adapted.slopes(encoded, np.ones(len(encoded), int))[1]
    with mode():
        result = adapted.slopes(encoded, np.ones(len(encoded), int))[1]
    np.testing.assert_array_equal(result, expected)


def test_parameters_get_no_gradients_and_stay_trainable(schema, encoded):
    module = mlp(schema.layout.width, 1)
    adapted = adapt(module, schema)
    adapted.probabilities(encoded)
    adapted.slopes(encoded, np.ones(len(encoded), int))
    assert all(weights.grad is None and weights.requires_grad for weights in module.parameters())


def test_a_module_that_squeezes_its_answer_can_judge_one_row(schema, encoded):
    adapted = adapt(Squeezed(mlp(schema.layout.width, 1)), schema)
    p, slopes = adapted.slopes(encoded, np.ones(len(encoded), int))
    one, slope = adapted.slopes(encoded[:1], np.ones(1, int))
    np.testing.assert_allclose(one, p[:1], atol=1e-6)
    np.testing.assert_allclose(slope, slopes[:1], atol=1e-6)
    np.testing.assert_allclose(adapted.probabilities(encoded[:1])[0, 1], p[0], atol=1e-6)


def test_an_adapted_module_can_be_copied(schema, encoded):
    adapted = adapt(mlp(schema.layout.width, 1), schema)
    target = np.ones(len(encoded), int)
    twin = copy.deepcopy(adapted)
    np.testing.assert_array_equal(
        twin.slopes(encoded, target)[1], adapted.slopes(encoded, target)[1]
    )


def test_many_rows_pass_in_parts(schema, encoded, monkeypatch):
    adapted = adapt(mlp(schema.layout.width, 1), schema)
    target = np.arange(len(encoded)) % 2
    whole = (adapted.probabilities(encoded), *adapted.slopes(encoded, target))
    monkeypatch.setattr("rocourse.models.adapters._torch._ROWS", 7)
    parts = (adapted.probabilities(encoded), *adapted.slopes(encoded, target))
    for left, right in zip(whole, parts, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-6)


def test_a_module_that_ignores_its_inputs_has_no_slope(schema, encoded):
    class Constant(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.zeros(1))

        def forward(self, x):
            return self.bias.expand(len(x), 1)

    _, slopes = adapt(Constant(), schema).slopes(encoded[:3], np.ones(3, int))
    assert (slopes == 0.0).all()


def test_a_module_that_detaches_its_answer_is_refused_where_slopes_are_asked_for(schema, encoded):
    class Detached(torch.nn.Module):
        def forward(self, x):
            return x[:, :1].detach()

    adapted = adapt(Detached(), schema)
    assert adapted.probabilities(encoded).shape == (len(encoded), 2)
    with pytest.raises(ConfigError, match="must be differentiable in its inputs"):
        adapted.slopes(encoded, np.ones(len(encoded), int))


def test_a_module_on_raw_numbers_has_slopes_by_differences(loans):
    frame = loans[["monthly income", "debt", "grade"]]
    schema = Schema.infer(frame, target="grade", favourable="granted")
    module = torch.nn.Linear(2, 1)
    with torch.no_grad():
        module.weight[:] = torch.tensor([[0.02, -0.03]])
        module.bias.zero_()
    adapted = adapt(module, schema, inputs="array")
    x = np.full((1, 2), 0.5, np.float32)
    p, slopes = adapted.slopes(x, np.ones(1, int))
    spans = np.array([feature.span for feature in schema.continuous])
    exact = p * (1 - p) * np.array([0.02, -0.03]) * spans
    np.testing.assert_allclose(slopes[0], exact, rtol=0.01)


class Pair(torch.nn.Module):
    def forward(self, x):
        return x[:, 0], x


class Broken(torch.nn.Module):
    def forward(self, x):
        return x[:, :1] * float("nan")


class Doubled(torch.nn.Module):
    def forward(self, x):
        return 2.0 * x[:, :1]


@pytest.mark.parametrize(
    ("make", "options", "error", "sentence"),
    [
        (Pair, {}, ConfigError, "Pair must return one tensor, but got tuple"),
        (Broken, {}, DataError, "Broken must give finite logits, but got nan"),
        (lambda: linear(10, 3), {}, ConfigError, r"\(7,\) or \(7, 2\), but got \(7, 3\)"),
        (lambda: linear(10, 1), {"inputs": "frame"}, ConfigError, "must take tensors"),
        (
            Doubled,
            {"outputs": "probabilities"},
            DataError,
            "state outputs='logits'",
        ),
    ],
    ids=["tuple", "nan", "too wide", "frame", "logits for probabilities"],
)
def test_a_module_that_cannot_be_used_is_refused(make, options, error, sentence, schema):
    with pytest.raises(error, match=sentence):
        adapt(make(), schema, **options)
