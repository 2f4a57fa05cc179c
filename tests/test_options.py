"""Objects of options: nested names, JSON and back, and one sentence where a value cannot be."""

import importlib
import inspect
import json
import pkgutil
import re
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocourse.attack
import rocourse.models
import rocourse.recourse
from rocourse.attack import Attack
from rocourse.errors import ConfigError
from rocourse.models import PlainTrainer, Shift, SteadyTrainer, Trainer
from rocourse.options import (
    Choices,
    Options,
    Span,
    either,
    instance,
    many,
    maybe,
    number,
    one_of,
    option,
    parameter_docs,
    share,
    truth,
    tuning_ranges,
    whole,
)
from rocourse.recourse import GeneratorProposer, PanelProposer, Proposer

NOBODYS = object()
CANDIDATES = (0, 1, 2, 0.0, 1e-9, 0.5, 1.0, 3.5, True, False, None, (1,), (3, 2), (0.5, 0.25))


def find_options():
    """Every class of options that can be made, wherever it is declared."""
    found = set()
    for room in (rocourse.attack, rocourse.models, rocourse.recourse):
        names = [m.name for m in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]
        for module in map(importlib.import_module, names):
            found |= {
                value
                for value in vars(module).values()
                if inspect.isclass(value)
                and issubclass(value, Options)
                and not inspect.isabstract(value)
                and value is not Options
            }
    return sorted(found, key=lambda cls: cls.__name__)


KINDS = find_options()


def fields_of(cls):
    return {f.name: f.metadata["rule"] for f in cls.__dataclass_fields__.values() if f.metadata}


def values_for(rule):
    """Values that a rule allows, functions left out: they have no JSON."""
    if rule.kind is not None:
        return made(rule.kind) | st.sampled_from(
            [v for v in (None,) if rule.holds(v)] or [rule.kind()]
        )
    words = re.findall(r"'([^']*)'", rule.words)
    values = st.sampled_from([value for value in (*CANDIDATES, *words) if rule.holds(value)])
    if rule.holds(0.5):
        values |= st.floats(1e-9, 0.999)
    if rule.holds(7):
        values |= st.integers(1 if rule.holds(1) else 2, 10**9)
    return values


def made(cls):
    """Objects of a class of options, some of them by default."""
    optional = {name: values_for(rule) for name, rule in fields_of(cls).items()}
    return st.fixed_dictionaries({}, optional=optional).map(lambda values: cls(**values))


def sentence(error):
    message = str(error)
    assert "\n" not in message and message.endswith(".") and not re.search(r"[.] [A-Z]", message)
    assert "; " in message, "no remedy"
    return message


def test_every_trainer_proposer_attack_and_shift_is_found():
    assert {Attack, Shift} | set(Trainer.kinds.values()) | set(Proposer.kinds.values()) == set(
        KINDS
    )
    assert set(Trainer.kinds) == {"plain", "joint", "steady"}
    assert set(Proposer.kinds) == {
        "generator",
        "jury",
        "vae",
        "vanillacf",
        "roar",
        "rbr",
        "panel",
    }
    for family in (Trainer, Proposer):
        assert all(member.kind == kind for kind, member in family.kinds.items())
        assert all(family.find(kind) is member for kind, member in family.kinds.items())


@pytest.mark.parametrize("cls", KINDS)
def test_options_come_back_from_json(cls):
    @given(made(cls))
    def check(options):
        record = json.loads(json.dumps(options.to_dict(), allow_nan=False))
        again = cls.from_dict(record)
        assert again == options and hash(again) == hash(options)
        assert again.to_dict() == options.to_dict()
        for family in (Trainer, Proposer):
            if isinstance(options, family):
                assert family.from_dict(record) == options

    check()


@pytest.mark.parametrize("cls", KINDS)
def test_nested_names_read_and_change_the_same_options(cls):
    @given(made(cls), made(cls))
    def check(options, other):
        params = options.get_params()
        own = options.get_params(deep=False)
        assert own.keys() == fields_of(cls).keys() and own.items() <= params.items()
        for name, value in params.items():
            holder = options
            for part in name.split("__"):
                holder = getattr(holder, part)
            assert holder is value
        assert options(**own) == options
        # One name after the other, the innermost too, it becomes the other.
        changed = options
        for name, value in other.get_params(deep=False).items():
            changed = changed(**{name: value})
        assert changed == other
        nested = {name: value for name, value in other.get_params().items() if "__" in name}
        if all(name.rpartition("__")[0] in params for name in nested):
            deeply = {name: value for name, value in nested.items() if name in params}
            found = options(**deeply).get_params()
            assert {name: found[name] for name in deeply} == deeply
        assert options.get_params() == params, "what was there is left as it was"

    check()


@pytest.mark.parametrize("cls", KINDS)
def test_values_that_cannot_be_are_refused_in_a_sentence_that_names_option_and_class(cls):
    for name, rule in fields_of(cls).items():
        wrong = [NOBODYS, "?", -1, float("nan"), float("inf"), (), [], {}]
        refused = [value for value in wrong if not rule.holds(value)]
        assert refused, name
        for value in refused:
            with pytest.raises(ConfigError) as caught:
                cls(**{name: value})
            message = sentence(caught.value)
            start = f"The option '{name}' of {cls.__name__} must be {rule.words}: got {value!r};"
            assert message.startswith(start)


@pytest.mark.parametrize("cls", KINDS)
def test_options_cannot_be_changed_in_place(cls):
    options = cls()
    for name in fields_of(cls):
        with pytest.raises(AttributeError):
            setattr(options, name, getattr(options, name))


@pytest.mark.parametrize("cls", KINDS)
def test_options_are_documented_and_shown_by_what_differs(cls):
    docs = parameter_docs(cls)
    assert docs.keys() == fields_of(cls).keys()
    for name, doc in docs.items():
        assert doc.endswith("."), name
        assert f"    {name}: {doc.split()[0]}" in cls.__doc__
    assert repr(cls()) == f"{cls.__name__}()"


@pytest.mark.parametrize("cls", KINDS)
def test_what_tuning_tries_is_allowed(cls):
    for name, where in tuning_ranges(cls()).items():
        tried = (where.low, where.high) if isinstance(where, Span) else where.values
        for value in tried:
            as_it_is = int(value) if isinstance(where, Span) and where.whole else value
            assert as_it_is in where
            assert cls()(**{name: as_it_is}).get_params()[name] == as_it_is
        assert json.loads(json.dumps(where.to_dict())) == json.loads(json.dumps(where.to_dict()))


def test_what_is_switched_off_is_not_tuned():
    kind = Proposer.find("vanillacf")
    assert "jitter" not in tuning_ranges(kind())
    assert "jitter" in tuning_ranges(kind(jitter=0.1))


def test_shown_options_are_those_that_differ():
    steady = SteadyTrainer(committee=2, blur=Shift(flip=0.5))
    assert repr(steady) == "SteadyTrainer(committee=2, blur=Shift(flip=0.5))"
    assert eval_free(repr(Attack(steps=3))) == {"steps": "3"}


def eval_free(shown):
    """The parts of a representation, read without running it."""
    inside = shown.partition("(")[2].removesuffix(")")
    return dict(part.split("=") for part in inside.split(", ") if part)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stepz": 3}, "Attack has no option 'stepz', only category_scale, "),
        ({"steps__a": 3}, "The option 'steps' of Attack must be an object of options for 'a' to"),
    ],
)
def test_names_that_are_not_there_are_refused(change, message):
    with pytest.raises(ConfigError) as caught:
        Attack()(**change)
    assert sentence(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("family", "record", "message"),
    [
        (Trainer, {}, "A trainer must be one of plain, joint, steady: got None;"),
        (Trainer, {"kind": ["plain"]}, "A trainer must be one of plain, joint, steady: got"),
        (Proposer, {"kind": "oracle"}, "A proposer must be one of generator, "),
        (Trainer, {"kind": "plain", "colour": 1}, "PlainTrainer has no option 'colour', only"),
        (Trainer, {"kind": "plain", "epochs": 0}, "The option 'epochs' of PlainTrainer must"),
        (Attack, {"norm": []}, "The option 'norm' of Attack must be one of 'linf', 'l2': got"),
        (Proposer, {"kind": "panel", "shift": {"flip": 2}}, "The option 'flip' of Shift must"),
        (Proposer, {"kind": "panel", "shift": {"flop": 2}}, "Shift has no option 'flop', only"),
    ],
)
def test_records_that_make_no_options_are_refused(family, record, message):
    with pytest.raises(ConfigError) as caught:
        family.from_dict(record)
    assert sentence(caught.value).startswith(message)


def test_an_attack_that_is_none_by_default_comes_back_too():
    measured = GeneratorProposer(measured_attack=Attack(steps=3, norm="l2"))
    assert Proposer.from_dict(json.loads(json.dumps(measured.to_dict()))) == measured
    assert measured(measured_attack__steps=4).measured_attack == Attack(steps=4, norm="l2")
    with pytest.raises(ConfigError, match="'measured_attack' of GeneratorProposer must be an obj"):
        GeneratorProposer()(measured_attack__steps=4)


def test_equal_options_of_other_kinds_differ():
    assert PlainTrainer() != Trainer.find("joint")()
    assert PanelProposer() == PanelProposer(shift=Shift())
    assert len({PanelProposer(), PanelProposer(shift=Shift()), PanelProposer(members=7)}) == 2


def test_a_new_kind_joins_its_family_by_its_class_line():
    class Shapes(Options):
        """Shapes."""

        kinds: ClassVar[dict[str, type[Options]]] = {}

    class Round(Shapes, kind="round"):
        """Round ones."""

        radius: float = option(default=1.0, doc="How far it is.", rule=number(above=0.0))

    assert Shapes.from_dict({"kind": "round", "radius": 2}) == Round(radius=2.0)
    assert "radius: How far it is." in Round.__doc__
    assert "round" not in Trainer.kinds


@pytest.mark.parametrize(
    ("rule", "allowed", "refused"),
    [
        (whole(), [1, 7], [0, 1.0, True, "1", None]),
        (whole(at_least=0), [0], [-1, False]),
        (number(at_least=0.0), [0, 0.5, 3], [-0.1, float("nan"), float("inf"), True, "1"]),
        (number(above=0.0), [1e-9], [0, 0.0, -1]),
        (share(), [0, 0.5, 0.999], [1, 1.0, -0.1, True, float("nan")]),
        (share(all_of_it=True), [0, 1, 1.0], [1.1, -0.1, True]),
        (one_of(("a", "b")), ["a"], ["c", 1, None]),
        (truth(), [True, False], [0, 1, "yes", None]),
        (many(whole(), "numbers"), [(1,), (1, 2)], [(), [1], (0,), 1]),
        (maybe(whole()), [None, 1], [0]),
        (either(one_of(("a",)), whole()), ["a", 1], ["b", 0]),
        (instance(Shift), [Shift()], [Attack(), None, Shift]),
    ],
)
def test_rules_allow_what_they_say(rule, allowed, refused):
    assert all(rule.holds(value) for value in allowed)
    assert not any(rule.holds(value) for value in refused)
    assert rule.words and not rule.words.endswith(".")


def test_spans_and_choices_hold_what_is_in_them():
    assert 0.5 in Span(0.0, 1.0) and 1 in Span(0.0, 1.0)
    assert 1.5 not in Span(0.0, 1.0) and True not in Span(0.0, 1.0) and "a" not in Span(0.0, 1.0)
    assert 0.5 not in Span(0.0, 1.0, whole=True) and 1 in Span(0.0, 1.0, whole=True)
    assert (1.0, 0.3) in Choices(((1.0, 0.3), (0.1,))) and 2 not in Choices((1,))
    assert Choices(((1.0, 0.3),)).to_dict() == {"values": [[1.0, 0.3]]}
