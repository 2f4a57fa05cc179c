"""Parameters of estimators: nested names, objects that are shared and never changed, copies."""

import json
from copy import deepcopy

import pytest
from sklearn.base import clone

from rocourse.attack import Attack
from rocourse.errors import ConfigError
from rocourse.estimators import (
    METHODS,
    CounterNet,
    RoCourseNet,
    RoCoursePanel,
    describe_parameters,
    named_options,
    tuning_space,
)
from rocourse.estimators._parameters import default_options
from rocourse.models import JointTrainer, PlainTrainer, Shift, SteadyTrainer
from rocourse.options import Options
from rocourse.recourse import PanelProposer, ROARProposer


def test_nested_names_are_short_for_objects():
    short = RoCourseNet(trainer__epochs=3, attack__steps=9, proposer__widths=(5,))
    long = RoCourseNet(attack=Attack(steps=9)).set_params(
        trainer=JointTrainer(epochs=3), proposer__widths=(5,)
    )
    assert short.get_params() == long.get_params()
    assert short.get_params()["attack__steps"] == 9
    assert short.attack == Attack(steps=9)


def test_names_go_as_deep_as_the_objects_do():
    model = RoCoursePanel(trainer__blur__flip=0.5, proposer__shift__tilt=0.0)
    assert model.trainer.blur == SteadyTrainer().blur(flip=0.5)
    assert model.get_params()["proposer__shift__tilt"] == 0.0
    assert model.set_params(trainer__blur=Shift()).trainer.blur == Shift()


@pytest.mark.parametrize(
    "params",
    [
        {"trainer": SteadyTrainer(), "trainer__committee": 2},
        {"trainer__committee": 2, "trainer": SteadyTrainer()},
    ],
    ids=["object first", "option first"],
)
def test_an_object_and_its_options_are_set_together_in_any_order(params):
    for model in (RoCourseNet(**params), RoCourseNet().set_params(**params)):
        assert model.trainer == SteadyTrainer(committee=2)
    model = RoCourseNet().set_params(attack=None).set_params(attack=Attack(), attack__steps=3)
    assert model.attack == Attack(steps=3)


@pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS)
def test_defaults_are_shared_and_never_changed(cls):
    before, objects = cls().get_params(), default_options(cls)
    told = json.dumps({name: str(part) for name, part in objects.items()})
    model = cls(trainer__epochs=7)
    model.set_params(trainer__dropout=0.1, trainer__batch_size=9)
    for name, value in model.get_params().items():
        if isinstance(value, Options) and "__" not in name:
            model.set_params(**{f"{name}__{k}": v for k, v in value.get_params(False).items()})
    assert model.trainer.epochs == 7
    assert cls().get_params() == before
    assert all(getattr(cls(), name) is part for name, part in objects.items())
    assert json.dumps({name: str(part) for name, part in objects.items()}) == told


def test_estimators_that_share_an_object_do_not_share_its_changes():
    shared = Attack(steps=3)
    one, other = RoCourseNet(attack=shared), RoCourseNet(attack=shared)
    one.set_params(attack__steps=4)
    assert (one.attack.steps, other.attack.steps, shared.steps) == (4, 3, 3)


@pytest.mark.parametrize("copied", [clone, deepcopy], ids=["clone", "deepcopy"])
def test_copies_have_equal_options_of_their_own(copied):
    model = RoCoursePanel(preset="panel-loan", trainer__blur__flip=0.5, proposer__members=2)
    twin = copied(model)
    assert twin.get_params() == model.get_params()
    twin.set_params(trainer__blur__flip=0.1)
    assert model.trainer.blur.flip == 0.5


@pytest.mark.parametrize(
    ("cls", "params", "message"),
    [
        (CounterNet, {"attack__steps": 3}, "'attack' must be an object of options for 'steps' to"),
        (CounterNet, {"trainer": 3, "trainer__epochs": 3}, "'trainer' must be an object of opt"),
        (CounterNet, {"trainer__epoch": 3}, "JointTrainer has no option 'epoch', only "),
        (RoCourseNet, {"attack__steps": 0}, "'steps' of Attack must be a whole number of at"),
        (RoCourseNet, {"trainer__blur__flip": 0.1}, "JointTrainer has no option 'blur', only "),
        (RoCoursePanel, {"proposer__shift__flip": 7}, "'flip' of Shift must be at least 0 and"),
    ],
)
def test_nested_names_that_cannot_be_are_refused_at_once(cls, params, message):
    for make in (lambda: cls(**params), lambda: cls().set_params(**params)):
        with pytest.raises(ConfigError, match=message) as caught:
            make()
        assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


def test_names_that_no_estimator_has_are_refused_as_scikit_learn_does():
    with pytest.raises(ValueError, match="Invalid parameter 'epochs' for estimator"):
        RoCourseNet(epochs=3)
    with pytest.raises(ValueError, match="Invalid parameter 'epochs' for estimator"):
        RoCourseNet().set_params(epochs=3)
    with pytest.raises(ValueError, match="Invalid parameter 'training' for estimator"):
        RoCourseNet(training__epochs=3)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"trainer": "joint"}, "'trainer' must be a Trainer: got 'joint'"),
        ({"proposer": Attack()}, r"'proposer' must be a Proposer: got Attack\(\)"),
        ({"attack": 7}, "'attack' must be an Attack, or None: got 7"),
        ({"proposer": ROARProposer()}, r"'attack' must be None with a ROARProposer, .*Attack\(\)"),
        ({"out_of_range": "keep"}, "'out_of_range' must be one of 'clip', 'error': got 'keep'"),
        ({"witnesses": -1}, "'witnesses' must be a whole number of at least 0: got -1"),
        ({"preset": "paper"}, "'preset' must be one of paper-german-credit, .*: got 'paper'"),
        ({"preset": 3}, "'preset' must be one of paper-german-credit, .*: got 3"),
    ],
)
def test_objects_of_another_kind_are_refused_before_training(params, message, loans):
    model = RoCourseNet(**params)
    with pytest.raises(ConfigError, match=message):
        model.check_parameters()
    with pytest.raises(ConfigError, match=message):
        model.fit(loans.drop(columns="grade"), loans["grade"])


def test_parts_are_named_as_files_and_command_lines_name_them():
    assert named_options("trainer", "steady") == SteadyTrainer()
    assert named_options("proposer", "panel") == PanelProposer()
    assert named_options("attack", True) == Attack()
    for name, value in (("attack", 3), ("attack", None), ("trainer", PlainTrainer()), ("x", "y")):
        assert named_options(name, value) is None
    with pytest.raises(ConfigError, match="trainer must be one of plain, joint, steady: got 'x'"):
        named_options("trainer", "x")


@pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS)
def test_what_is_tuned_is_a_parameter_and_its_ends_are_allowed(cls):
    space, described = tuning_space(cls), describe_parameters(cls)
    assert space and space.keys() <= described.keys()
    for name, where in space.items():
        ends = where.values if hasattr(where, "values") else (where.low, where.high)
        for value in ends:
            changed = cls().set_params(**{name: int(value) if name.endswith("epochs") else value})
            assert changed.get_params()[name] == value


def test_epochs_are_tuned_where_they_count():
    """Beside the model, a generator is trained for the trainer's epochs; after it, for its own."""
    beside, after = tuning_space(METHODS["counternet"]), tuning_space(METHODS["cf-model"])
    assert "trainer__epochs" in beside and "proposer__epochs" not in beside
    assert "proposer__epochs" in after and "trainer__epochs" not in after
