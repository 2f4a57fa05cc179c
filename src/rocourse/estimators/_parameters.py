"""The parameters that all estimators have: what they mean, their checks, presets, texts."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple, Protocol, get_args

from rocourse.attack import Attack
from rocourse.errors import ConfigError
from rocourse.estimators._presets import find_preset
from rocourse.models import Trainer
from rocourse.options import NESTED, Options, documented, parameter_docs, tuning_ranges
from rocourse.options import Range as TuningRange
from rocourse.recourse import Proposer
from rocourse.schema import OutOfRange


class Composed(Protocol):
    """An estimator, as far as its parameters go."""

    trainer: Trainer
    proposer: Proposer
    attack: Attack | None
    model: Any
    preset: str | None
    threshold: float | None
    approval_rate: float | None
    unusual: bool
    witnesses: int
    out_of_range: OutOfRange


class Parameters(NamedTuple):
    """What each parameter means."""

    docs: Mapping[str, str]

    def documented(self, summary: str | None) -> str:
        """A class's docstring with its parameters."""
        return documented(summary, self.docs)


KEPT = "kept"
"""The one option of a proposer that is known by its own name: the share of promises to keep."""

OPTION_PARTS = ("trainer", "proposer", "attack")
"""The parameters that are objects of options, or none."""

CUT_OFFS = ("threshold", "approval_rate")
"""The parameters that say which probability is enough, of which one may be given."""

PARAMETERS = Parameters(
    {
        "schema": "The features and their constraints; None infers it (no constraints) from X in "
        "`fit`.",
        "trainer": "How the model that decides is trained.",
        "proposer": "How recourses are proposed for it.",
        "attack": "What the proposer is trained against; None: nothing. For proposers that train "
        "a generator.",
        "model": "A model that decides already: a fitted estimator of this library, or any model "
        "that gives probabilities; None trains one.",
        "preset": "Settings by name that take the place of defaults (`rocourse.PRESETS`); an "
        "option that differs from its default wins.",
        "threshold": "The probability of the favourable class from which on it is granted, of two "
        "classes; None: the most probable class is given, or `approval_rate` says.",
        "approval_rate": "The share of the training rows that are to be granted the favourable "
        "class: sets the threshold in `fit`, also for the models that recourses are tried on.",
        "unusual": "Whether recourses may ask for what hardly any training row has: numbers beyond "
        "the first and the 99th percentile, categories of less than 2% of the rows. The paper's "
        "methods do.",
        "witnesses": "Models of shifted training rows that are kept beside the model, to say how "
        "many of them would honour a recourse.",
        "out_of_range": "What to do with values outside the training range, `clip` or `error`.",
        "random_state": "Seed, RandomState or None.",
    }
)


def documented_defaults(init: Callable[..., None], **defaults: Any) -> Callable[..., None]:
    """An `__init__` with other defaults, which its signature tells.

    It takes nested names too, as `set_params` does: `attack__steps=9` is short for
    `attack=Attack(steps=9)` with whatever else the default attack has, and `kept=0.9` for
    `proposer__kept=0.9`.
    """

    @wraps(init)
    def __init__(self: Any, *args: Any, **params: Any) -> None:
        init(self, *args, **{**defaults, **params})

    signature = inspect.signature(init)
    # `__signature__` is what scikit-learn, `help` and notebooks read.
    __init__.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            parameter.replace(default=defaults[name]) if name in defaults else parameter
            for name, parameter in signature.parameters.items()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
    )
    return __init__


def require_options(part: str, option: str, value: Any) -> None:
    """Refuses to set an option of a part that is not there."""
    if not isinstance(value, Options):
        raise ConfigError(
            f"The option '{part}' must be an object of options for '{option}' to be set: got "
            f"{value!r}; set it first."
        )


def check_parameters(estimator: Composed) -> None:
    """Refuses impossible parameters."""
    for name, kind in (("trainer", Trainer), ("proposer", Proposer)):
        if not isinstance(getattr(estimator, name), kind):
            raise _wrong(name, f"a {kind.__name__}", getattr(estimator, name))
    if estimator.attack is not None and not isinstance(estimator.attack, Attack):
        raise _wrong("attack", "an Attack, or None", estimator.attack)
    if estimator.attack is not None and not estimator.proposer.takes_attack:
        raise ConfigError(
            f"The option 'attack' must be None with a {type(estimator.proposer).__name__}, which "
            f"trains nothing that could be attacked: got {estimator.attack!r}; leave it out, or "
            "take a GeneratorProposer."
        )
    if estimator.out_of_range not in get_args(OutOfRange):
        choices = ", ".join(repr(choice) for choice in get_args(OutOfRange))
        raise _wrong("out_of_range", f"one of {choices}", estimator.out_of_range)
    if not isinstance(estimator.unusual, bool):
        raise _wrong("unusual", "True or False", estimator.unusual)
    count = estimator.witnesses
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise _wrong("witnesses", "a whole number of at least 0", count)
    for name in CUT_OFFS:
        stated = getattr(estimator, name)
        if stated is not None and not _is_share(stated):
            raise _wrong(name, "a number above 0 and below 1, or None", stated)
    if estimator.threshold is not None and estimator.approval_rate is not None:
        raise ConfigError(
            "The option 'approval_rate' must be None with a 'threshold', which it would set: got "
            f"{estimator.approval_rate!r} and {estimator.threshold!r}; leave one of them out."
        )
    if estimator.preset is not None:
        find_preset(estimator.preset)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 < value < 1.0


def states_cut_off(estimator: Composed) -> bool:
    """Whether another verdict than the most probable class is asked for."""
    return any(getattr(estimator, name) is not None for name in CUT_OFFS)


def _wrong(name: str, rule: str, received: Any) -> ConfigError:
    return ConfigError(
        f"The option '{name}' must be {rule}: got {received!r}; set it to such a value."
    )


def resolved(estimator: Composed) -> tuple[Trainer, Proposer, Attack | None]:
    """Trainer, proposer and attack with what the preset says in place of defaults."""
    parts: dict[str, Any] = {name: getattr(estimator, name) for name in OPTION_PARTS}
    if estimator.preset is not None:
        values = find_preset(estimator.preset).values_for(**parts)
        defaults = default_options(type(estimator))
        for name, value in values.items():
            part, _, option = name.partition(NESTED)
            options, usual = parts[part], defaults[part]
            # Where another object was put in place of the default, its own defaults are what count.
            usual = usual if type(usual) is type(options) else type(options)()
            if options.get_params()[option] == usual.get_params()[option]:
                parts[part] = options(**{option: value})
    return parts["trainer"], parts["proposer"], parts["attack"]


def default_options(cls: type[Any]) -> dict[str, Any]:
    """Trainer, proposer and attack of a method unless others are given."""
    parameters = inspect.signature(cls.__init__).parameters
    return {name: parameters[name].default for name in OPTION_PARTS}


def describe_parameters(cls: type[Any]) -> dict[str, tuple[Any, str]]:
    """The default and the meaning of every parameter, nested ones by scikit-learn's names."""
    described: dict[str, tuple[Any, str]] = {}
    defaults = cls().get_params()
    for name, doc in PARAMETERS.docs.items():
        described[name] = (defaults[name], doc)
        if isinstance(defaults[name], Options):
            for inner, inner_doc in parameter_docs(defaults[name]).items():
                nested = f"{name}{NESTED}{inner}"
                described[nested] = (defaults[nested], inner_doc)
    return described


def tuning_space(cls: type[Any]) -> dict[str, TuningRange]:
    """How far tuning varies a method's options, by scikit-learn's nested names.

    Only what decides between validity, robustness and cost: what the trainer of a model alone
    decides belongs to that model, and a method that could weaken its model would find recourses
    easy to defend.
    """
    parts = default_options(cls)
    space = {
        f"{part}{NESTED}{name}": where
        for part, options in parts.items()
        if options is not None
        for name, where in tuning_ranges(options).items()
    }
    if parts["trainer"].trains_beside and parts["proposer"].task(None) is not None:
        # Beside the model, a generator is trained for the trainer's epochs.
        del space[f"proposer{NESTED}epochs"]
    if not getattr(parts["trainer"], "copies", 1):
        # Where nothing is blurred, the blur decides nothing.
        space = {
            name: where for name, where in space.items() if f"{NESTED}blur{NESTED}" not in name
        }
    return space


def named_options(name: str, value: Any) -> Options | None:
    """The object of options that a parameter's value names, as files and command lines do.

    Trainers and proposers are named by their kind, an attack with its defaults by `true`.
    """
    if name == "trainer" and isinstance(value, str):
        return Trainer.find(value)()
    if name == "proposer" and isinstance(value, str):
        return Proposer.find(value)()
    return Attack() if name == "attack" and value is True else None
