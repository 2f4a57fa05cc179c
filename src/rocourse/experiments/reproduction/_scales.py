"""How large a run is: `paper`, the whole protocol, or `quick`, to see within minutes that it runs.

Both have the presets of the paper's tables; what differs is stated with its reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rocourse.datasets import list_datasets
from rocourse.errors import ConfigError
from rocourse.estimators import METHODS, PRESETS, Preset, default_options
from rocourse.experiments.reproduction._jobs import Cell, Source

_NOTHING = Preset("")
_SUBSETS = {info.name: info.subsets for info in list_datasets()}
# First, middle and last of the years after which the data change most; all of them take 16 times as
# many verdicts.
_YEARS = ("1999", "2004", "2009")

# An ℓ2 ball of this radius reaches as far as the corners of the ℓ∞ ball of E = 0.1 do in loan's 110
# columns; of radius 0.1 it would hold next to nothing.
L2_EPSILON = 1.0

# What figures vary is stated everywhere, though it is the default: a table and a figure that have a
# model in common then ask for the same job, also when defaults change.
_STATED = Preset(
    "What figures vary.",
    trainer={"epochs": 50},
    proposer={"generator": {"epochs": 50}, "vae": {"epochs": 50}},
    attack={"steps": 7, "unroll": 2, "epsilon": 0.1, "schedule": "linear", "norm": "linf"},
)
SIMULATED = Preset(
    "Two numbers a row: a small encoder suffices.",
    trainer={
        "encoder_widths": (50, 10),
        "head_widths": (10,),
        "learning_rate": 0.01,
        "epochs": 40,
    },
    proposer={"generator": {"proximity_loss": "mse"}},
)
SIMULATED_ATTACK: Mapping[str, Any] = {
    "optimizer": "adam",
    "learning_rate": 0.003,
    "epsilon": 0.1,
    "category_scale": 1.0,
}
# λ3 = 1.2 keeps the recourses short.
_SIMULATED_PRICE = Preset(
    "The paper has no parameters for these.",
    proposer={"generator": {"proximity_weight": 1.2}},
    attack=SIMULATED_ATTACK,
)


@dataclass(frozen=True)
class Setting:
    """A data set, with what all methods have in common on it.

    Attributes:
        source: The rows.
        preset: What differs from the defaults; each method takes what it has.
        seeds: How many.
        panel: What differs for RoCoursePanel, our extension, besides.
    """

    source: Source
    preset: Preset
    seeds: int
    panel: Preset = _NOTHING

    def cell(self, method: str, title: str = "", **changes: Any) -> Cell:
        """A method on it.

        Args:
            method: As in `METHODS`.
            title: What to call it, if not by its method.
            **changes: Parameters that differ from the setting's, by their nested names.
        """
        preset = self.preset.merged(self.panel) if method == "rocourse-panel" else self.preset
        options = preset.values_for(**default_options(METHODS[method]))
        if METHODS[method]().trainer.trains_beside:
            # Beside the model, a generator is trained for the trainer's epochs.
            options.pop("proposer__epochs", None)
        return Cell(self.source, method, {**options, **changes}, tuple(range(self.seeds)), title)

    def fraction(self, fraction: float) -> "Setting":
        """The same with a share of the training rows."""
        source = self.source
        return replace(self, source=replace(source, fraction=None if fraction == 1 else fraction))


@dataclass(frozen=True)
class Scale:
    """How large a run is.

    Attributes:
        name: `quick` or `paper`.
        settings: The data sets of the tables, by name.
        parameters: Loan as the figures have it that vary one parameter.
        trained: The same where networks are trained, or attacked, for each value.
        steps: T, the attacker's steps in training.
        attack_steps: T of attacks on trained models.
        epsilons: E, the largest shift.
        prices: λ3, the price of a change.
        search_prices: λ of ROAR.
        ambiguities: ε₁ and ε₂ of RBR.
        panels: Of RoCoursePanel, the margin's quantile and the least gain.
        fractions: Shares of the training rows.
        attacked_rows: The most test rows of a subset to attack.
        compared_seeds: How many seeds our own comparisons have.
        compared_rows: The most rows of each of loan's years in them.
        most_trials: The most sets of parameters that a search tries there.
        note: What is smaller than in the paper where one parameter is varied.
    """

    name: str
    settings: Mapping[str, Setting]
    parameters: Setting
    trained: Setting
    steps: tuple[int, ...]
    attack_steps: tuple[int, ...]
    epsilons: tuple[float, ...]
    prices: tuple[float, ...]
    search_prices: tuple[float, ...]
    ambiguities: tuple[tuple[float, float], ...]
    panels: tuple[tuple[float, float], ...]
    fractions: tuple[float, ...]
    attacked_rows: int
    compared_seeds: int
    compared_rows: int | None
    most_trials: int | None
    note: str


def _setting(dataset: str, seeds: int, changes: Preset = _NOTHING) -> Setting:
    name = dataset.replace("_", "-")
    preset = _STATED.merged(PRESETS[f"paper-{name}"]).merged(changes)
    panel = PRESETS[f"panel-{name}"]
    return Setting(Source(dataset, _SUBSETS[dataset]), preset, seeds, panel)


def _simulated(seeds: int) -> dict[str, Setting]:
    preset = _STATED.merged(SIMULATED).merged(_SIMULATED_PRICE)
    return {
        name: Setting(Source(name, _SUBSETS[name]), preset, seeds)
        for name in ("simulated_covariate", "simulated_label")
    }


_LOAN = _setting("loan", 3)
_FEWER_EPOCHS = Preset(
    "A figure has many models.",
    trainer={"epochs": 20},
    proposer={"generator": {"epochs": 20}, "vae": {"epochs": 20}},
)
_LESS_LOAN = _setting("loan", 3, _FEWER_EPOCHS)
_FEW_YEARS = replace(_LESS_LOAN, source=Source("loan", _YEARS))
_QUICK_LOAN = replace(_LESS_LOAN, source=Source("loan", _YEARS, rows=3000), seeds=1)

PAPER_SCALE = Scale(
    "paper",
    settings={
        "german_credit": _setting("german_credit", 5),
        "student": _setting("student", 5),
        "loan": _LOAN,
        **_simulated(5),
    },
    parameters=_FEW_YEARS,
    trained=replace(_FEW_YEARS, seeds=1),
    steps=(1, 3, 5, 7, 10, 15, 20),
    attack_steps=(1, 3, 5, 7, 10, 15, 20),
    epsilons=(0.01, 0.05, 0.1, 0.2, 0.3, 0.5),
    prices=(0.02, 0.05, 0.1, 0.3, 1.0, 3.0),
    search_prices=(0.01, 0.03, 0.1, 0.3, 1.0),
    ambiguities=((0.0, 0.0), (0.1, 0.1), (0.5, 0.5), (1.0, 1.0), (2.0, 2.0)),
    panels=(
        (0.6, 0.8),
        (0.6, 0.6),
        (0.6, 0.5),
        (0.6, 0.45),
        (0.6, 0.35),
        (0.6, 0.3),
        (0.6, 0.15),
        (0.6, 0.1),
        (0.6, 0.01),
        (0.9, 0.01),
    ),
    fractions=(0.05, 0.1, 0.25, 0.5, 1.0),
    attacked_rows=2048,
    compared_seeds=5,
    compared_rows=None,
    most_trials=None,
    note=(
        "Where one parameter is varied, and in the frontier of loan: the years 1999, 2004 and 2009 "
        "with all their rows and 20 epochs, and one seed where RoCourseNet is trained or attacked; "
        "the paper has 16 years and 50 epochs. It is the direction that such a figure has to show, "
        "and the whole grid would take days."
    ),
)

QUICK_SCALE = Scale(
    "quick",
    settings={
        "german_credit": _setting("german_credit", 2),
        "student": _setting("student", 2),
        "loan": _QUICK_LOAN,
        **_simulated(2),
    },
    parameters=_QUICK_LOAN,
    trained=_QUICK_LOAN,
    steps=(1, 3, 7),
    attack_steps=(1, 7, 20),
    epsilons=(0.02, 0.1, 0.5),
    prices=(0.1, 0.3, 1.0),
    search_prices=(0.03, 0.3),
    ambiguities=((0.0, 0.0), (1.0, 1.0)),
    panels=((0.6, 0.3), (0.6, 0.01)),
    fractions=(0.3, 1.0),
    attacked_rows=512,
    compared_seeds=1,
    compared_rows=3000,
    most_trials=2,
    note=(
        "At most 3,000 rows of each of loan's years 1999, 2004 and 2009, 20 epochs, and few seeds: "
        "this scale shows that everything runs, not what comes out."
    ),
)

SCALES: Mapping[str, Scale] = {scale.name: scale for scale in (QUICK_SCALE, PAPER_SCALE)}
"""By name."""


def find_scale(name: str) -> Scale:
    """The scale called `name`."""
    if name not in SCALES:
        raise ConfigError(
            f"The scale must be one of {', '.join(SCALES)}: got {name!r}; name one of them."
        )
    return SCALES[name]
