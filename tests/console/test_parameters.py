"""Parameters from `--config` and `--set`: names, nested ones too, and who wins."""

import json

import pytest

from rocourse.console import read_parameters
from rocourse.errors import ConfigError

KNOWN = (
    "attack",
    "attack__inner",
    "attack__inner__rate",
    "attack__steps",
    "class_weight",
    "epochs",
    "model",
    "model__epochs",
    "random_state",
    "schema",
    "widths",
)


def read(*assignments, config=None):
    return read_parameters(config, assignments, known=KNOWN)


def refusal(*assignments, config=None):
    with pytest.raises(ConfigError) as caught:
        read(*assignments, config=config)
    return str(caught.value)


@pytest.fixture
def store(tmp_path):
    """Writes a config file."""

    def write(content, name="c.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("epochs=7", {"epochs": 7}),
        ("widths=50,10", {"widths": (50, 10)}),
        ("widths=[50]", {"widths": (50,)}),
        ("epochs=null", {"epochs": None}),
        ("epochs=many=few", {"epochs": "many=few"}),
        ("attack.steps=7", {"attack__steps": 7}),
        ("attack__steps=7", {"attack__steps": 7}),
        (" attack.inner.rate = 0.1", {"attack__inner__rate": 0.1}),
        ("attack=null", {"attack": None}),
        (
            'attack={"steps": 7, "inner": {"rate": 1}}',
            {"attack__steps": 7, "attack__inner__rate": 1},
        ),
        ('class_weight={"a": 2}', {"class_weight": {"a": 2}}),
    ],
)
def test_an_assignment_is_a_name_and_a_value(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.json", '{"epochs": 3, "attack": {"steps": 7, "inner": {"rate": 0.1}}}'),
        ("c.json", '{"epochs": 3, "attack.steps": 7, "attack__inner": {"rate": 0.1}}'),
        ("c.toml", "epochs = 3\nattack.steps = 7\n[attack.inner]\nrate = 0.1\n"),
        ("c.yaml", "epochs: 3\nattack:\n  steps: 7\n  inner: {rate: 0.1}\n"),
        ("c.yml", "# comments\nepochs: 3\nattack.steps: 7\nattack__inner: {rate: 0.1}\n"),
    ],
)
def test_a_file_may_nest_objects(store, name, content):
    expected = {"epochs": 3, "attack__steps": 7, "attack__inner__rate": 0.1}
    assert read(config=store(content, name)) == expected


def test_lists_within_objects_are_tuples_too(store):
    assert read(config=store({"attack": {"inner": {"rate": [1, 2]}}})) == {
        "attack__inner__rate": (1, 2)
    }


def test_the_command_line_wins_over_the_file(store):
    config = store({"epochs": 3, "attack": {"steps": 7, "inner": {"rate": 0.1}}})
    told = read("attack.steps=9", "epochs=4", config=config)
    assert told == {"epochs": 4, "attack__steps": 9, "attack__inner__rate": 0.1}
    assert read("attack=null", config=config) == {"epochs": 3, "attack": None}


def test_a_part_of_what_is_given_as_a_whole_is_refused(store):
    words = "'attack.inner.rate' must come without a value for 'attack', but got None for it"
    assert words in refusal("attack.inner.rate=1", config=store({"attack": None}))
    assert words in refusal("attack=null", "attack.inner.rate=1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "atack.steps=7",
            "'atack.steps' must be one that the method has (did you mean 'attack.steps'?)",
        ),
        (
            "attack__step=7",
            "'attack.step' must be one that the method has (did you mean 'attack.steps'?)",
        ),
        ("attack_steps=7", "(did you mean 'attack.steps'?)"),
        ("epoch=7", "(did you mean 'epochs'?); correct the name, or see `rocourse methods NAME`."),
        ("qqq=7", "must be one that the method has: attack, attack.inner, attack.inner.rate, "),
        ("qqq=7", ", attack.steps, class_weight, epochs, widths; correct the name, or see "),
        ("model=7", "'model' must be given by --explain"),
        ("model.epochs=7", "'model.epochs' must be given by --explain"),
        ("random_state=7", "'random_state' must be given by --seed"),
    ],
)
def test_wrong_names_are_told_as_they_are_written(text, words):
    message = refusal(text)
    assert words in message
    assert "__" not in message


def test_wrong_names_within_objects_are_refused(store):
    message = refusal(config=store({"atack": {"steps": 7}}))
    assert "'atack.steps'" in message and "did you mean 'attack.steps'?" in message
