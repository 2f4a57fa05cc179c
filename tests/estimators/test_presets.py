"""Presets: settings by name that take the place of defaults, and of nothing else."""

import json

import pytest
from sklearn.base import clone
from tests.loans import make_schema, small

import rocourse
from rocourse.attack import Attack
from rocourse.estimators import (
    METHODS,
    PRESETS,
    RBR,
    CounterNet,
    RoCourseNet,
    RoCourseNetRandom,
    RoCoursePanel,
    VanillaCF,
)
from rocourse.estimators._parameters import default_options, resolved
from rocourse.models import PlainTrainer
from rocourse.recourse import GeneratorProposer, PanelProposer

PAIRS = [(preset, method) for preset in PRESETS for method in METHODS]


@pytest.mark.parametrize(("preset", "method"), PAIRS)
def test_a_preset_changes_what_it_states_and_nothing_else(preset, method):
    cls = METHODS[method]
    before, stated = default_options(cls), PRESETS[preset].values_for(**default_options(cls))
    after = dict(zip(before, resolved(cls(preset=preset)), strict=True))
    for part, options in before.items():
        if options is None:
            assert after[part] is None
            continue
        mine = {k.removeprefix(f"{part}__"): v for k, v in stated.items() if k.startswith(part)}
        assert after[part] == options(**mine)
        for name, value in mine.items():
            assert after[part].get_params()[name] == value


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_says_why_and_states_what_some_method_has(preset):
    found = PRESETS[preset]
    assert found.reason.endswith(".") and "{" not in found.reason
    told = {
        name: value
        for cls in METHODS.values()
        for name, value in found.values_for(**default_options(cls)).items()
    }
    parts = {"trainer": found.trainer, "attack": found.attack}
    wanted = {f"{part}__{name}" for part, values in parts.items() for name in values}
    wanted |= {f"proposer__{name}" for values in found.proposer.values() for name in values}
    assert told.keys() == wanted
    json.dumps(told)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_states_only_what_differs_from_the_defaults(preset):
    found = PRESETS[preset]
    methods = [RoCourseNet, RoCoursePanel]
    for name in {n for cls in methods for n in found.values_for(**default_options(cls))}:
        values = [found.values_for(**default_options(cls)) for cls in methods]
        defaults = [cls().get_params() for cls in methods]
        assert any(
            name in stated and stated[name] != default[name]
            for stated, default in zip(values, defaults, strict=True)
        ), name


def test_an_option_that_differs_from_its_default_wins():
    model = RoCoursePanel(preset="panel-loan", trainer__epochs=3, trainer__blur__flip=0.4)
    trainer, proposer, _ = resolved(model)
    assert (trainer.epochs, trainer.blur.flip) == (3, 0.4)
    # The rest is the preset's, within the same object too.
    assert (trainer.committee, trainer.blur.uniform_flip) == (6, 1.0)
    assert proposer.margin_quantile == (0.9, 0.6)


def test_what_differs_is_judged_by_the_methods_own_defaults():
    """`random` is what RoCourseNet-Random has by default; the preset leaves it as it is."""
    _, _, attack = resolved(RoCourseNetRandom(preset="paper-loan"))
    assert attack == Attack(shift="random", optimizer="sgd", learning_rate=0.03)
    # Another object in place of the default is judged by its own.
    trainer, _, _ = resolved(RoCourseNet(preset="paper-loan", trainer=PlainTrainer(epochs=9)))
    assert trainer == PlainTrainer(epochs=9, encoder_widths=(200, 10), head_widths=(10,))


def test_methods_without_a_part_are_left_alone():
    assert resolved(CounterNet(preset="paper-loan"))[2] is None
    assert resolved(RBR(preset="paper-loan"))[1] == RBR().proposer
    trainer, proposer, attack = resolved(VanillaCF(preset="panel-student"))
    assert (proposer, attack) == (VanillaCF().proposer, None)
    # A committee, copies and their blur are the steady trainer's.
    assert trainer == PlainTrainer(epochs=15)
    panel = CounterNet(preset="paper-loan", proposer=PanelProposer())
    assert resolved(panel)[1] == PanelProposer()


def test_parameters_stay_as_they_were_given_and_what_was_fitted_tells_the_preset(loans, tmp_path):
    sizes = small(CounterNet, trainer__epochs=1)
    del sizes["proposer__widths"]
    model = CounterNet(make_schema(loans), preset="paper-student", random_state=0, **sizes)
    before = model.get_params()
    assert clone(model).get_params() == before
    model.fit(loans.drop(columns="grade"), loans["grade"])
    assert model.get_params() == before
    assert model.trainer_ == model.trainer, "all that the preset says of it was said otherwise"
    assert model.proposer == GeneratorProposer(epochs=12)
    stated = PRESETS["paper-student"].proposer["generator"]
    assert model.proposer_ == GeneratorProposer(epochs=12)(**stated)
    again = rocourse.load(rocourse.save(model, tmp_path / "model"))
    assert again.get_params()["preset"] == "paper-student"
    assert (again.proposer, again.proposer_) == (model.proposer, model.proposer_)
    rows = loans.drop(columns="grade").head(20)
    assert again.recourse(rows).to_records() == model.recourse(rows).to_records()


def test_epochs_are_planned_with_the_preset():
    assert CounterNet(preset="panel-loan").planned_epochs == 8
    assert RoCoursePanel(preset="panel-loan").planned_epochs == 8
    assert RoCoursePanel(preset="panel-loan", trainer__epochs=2).planned_epochs == 2
