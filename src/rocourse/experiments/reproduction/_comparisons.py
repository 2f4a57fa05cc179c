"""Methods and variants in settings of our own: what they train, and only what differs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rocourse.estimators import METHODS, default_options
from rocourse.experiments.reproduction._jobs import Cell, Job, Search, Source
from rocourse.experiments.reproduction._scales import SIMULATED, SIMULATED_ATTACK, Scale

Options = Mapping[str, Any]

# What a unit of proximity costs when parameters are chosen: three points of validity.
_PRICE = 0.03


@dataclass(frozen=True)
class ComparedData:
    """A data set, with what all variants share on it; what a method does not have is passed over.

    Attributes:
        source: Its rows.
        options: Parameters.
        generator_epochs: Where a generator comes after the predictor: it gets more steps than
            beside it, for they are cheap.
        trials: How many sets of parameters to try for a tuned variant.
        tuned_once: Whether tuned variants are tuned once, and not for each seed.
    """

    source: Source
    options: Options
    generator_epochs: int = 0
    trials: int = 10
    tuned_once: bool = False

    def options_for(self, method: str, *, tuned: bool = False) -> dict[str, Any]:
        """The options that the estimator called `method` takes."""
        options, estimator = dict(self.options), METHODS[method]()
        # Beside the model, a generator is trained for the trainer's epochs.
        if tuned and not estimator.trainer.trains_beside:
            options["proposer__epochs"] = self.generator_epochs
        return {name: value for name, value in options.items() if name in estimator.get_params()}


@dataclass(frozen=True)
class Variant:
    """One way to train, the same on every data set.

    The parameters of a tuned variant come from a search, and win. A variant that is another with
    robust training (`plain`) takes the parameters that were found for that method, so that nothing
    but the attack tells the two apart; if it is tuned itself, its attack is.
    """

    name: str
    method: str
    options: Options = field(default_factory=dict)
    tuned: bool = False
    plain: str | None = None


# Widths, learning rates and batches are the paper's (its tables of hyper-parameters), but for the
# batch of German Credit: 600 rows in batches of 256 leave both networks unfinished.
_DATA = (
    ComparedData(
        Source("german_credit", ("org", "upt")),
        {"trainer__batch_size": 128, "trainer__epochs": 40},
        generator_epochs=80,
    ),
    ComparedData(
        Source("student", ("gp", "ms")),
        {
            "trainer__encoder_widths": (50, 10),
            "trainer__head_widths": (10,),
            "trainer__learning_rate": 0.01,
            "trainer__epochs": 60,
        },
        generator_epochs=120,
    ),
    ComparedData(
        Source("loan", ("1999", "2004", "2009")),
        {
            "trainer__encoder_widths": (200, 10),
            "trainer__head_widths": (10,),
            # 500 batches an epoch where the small sets have three to five.
            "trainer__epochs": 5,
        },
        generator_epochs=5,
        trials=6,
        tuned_once=True,
    ),
)

# Every variant names its attack in full: what was measured stays what it was when defaults change.
_ADAM = SIMULATED_ATTACK
_EDIT = {
    "proposer__network": "edit",
    "proposer__proximity_loss": "mse",
    "proposer__proximity_weight": 0.1,
}
# Three times the paper's price of a change.
_DEAR = {
    "proposer__network": "edit",
    "proposer__proximity_loss": "mse",
    "proposer__proximity_weight": 0.3,
}
# An L1 price: small changes cost as much a step as large ones, so few features change.
_SPARSE = {
    "proposer__network": "edit",
    "proposer__proximity_loss": "l1",
    "proposer__proximity_weight": 1.0,
}
# The paper's generator, with its hidden width for German Credit on all sets.
_REBUILD = {
    "proposer__network": "rebuild",
    "proposer__target_input": False,
    "proposer__widths": (20,),
    "proposer__proximity_loss": "mse",
    "proposer__proximity_weight": 0.1,
}


def _attacked(name: str, options: Options, **attack: Any) -> Variant:
    attacked = {f"attack__{option}": value for option, value in {**_ADAM, **attack}.items()}
    return Variant(name, "rocoursenet", {**options, **attacked})


_ROBUSTNESS = (
    Variant("counternet-rebuild", "counternet", _REBUILD),
    _attacked("rocoursenet-rebuild", _REBUILD),
    # Algorithm 1 to the letter, with the paper's η.
    _attacked("rocoursenet-rebuild-sgd", _REBUILD, optimizer="sgd", learning_rate=0.03),
    Variant("counternet-edit", "counternet", _EDIT),
    _attacked("rocoursenet-edit", _EDIT),
    Variant("counternet-edit-l1", "counternet", _SPARSE),
    _attacked("rocoursenet-edit-l1", _SPARSE),
    _attacked("rocoursenet-edit-sgd", _EDIT, optimizer="sgd", learning_rate=0.03),
    _attacked("rocoursenet-edit-head", _EDIT, scope="head"),
    # Numbers shift less and categories more, as when records are corrected.
    _attacked(
        "rocoursenet-edit-categories", _EDIT, learning_rate=0.03, epsilon=0.05, category_scale=4.0
    ),
    Variant("counternet-edit-dear", "counternet", _DEAR),
    _attacked("rocoursenet-edit-dear", _DEAR),
    _attacked("rocoursenet-edit-eta-0.01", _EDIT, learning_rate=0.01),
    _attacked("rocoursenet-edit-sgd-eta-1", _EDIT, optimizer="sgd", learning_rate=1.0),
)

_SIMULATED = (
    Variant("counternet", "counternet", {"proposer__proximity_weight": 1.2}),
    _attacked("rocoursenet", {"proposer__proximity_weight": 1.2}),
    # What the generator knows in the paper: z and p, but not which way to go.
    _attacked(
        "rocoursenet-without-target-input",
        {"proposer__proximity_weight": 1.2, "proposer__target_input": False},
    ),
)

# In the order of the tables: what searches, what is trained post hoc, what is trained jointly; with
# the plain method of those that are trained robustly.
_PLAIN_METHODS = {
    "vanillacf": None,
    "vanillacf-random": None,
    "roar": None,
    "rbr": None,
    "cf-model": None,
    "robust-cf-model": "cf-model",
    "vae-cf": None,
    "robust-vae-cf": "vae-cf",
    "counternet": None,
    "rocoursenet-random": "counternet",
    "rocoursenet": "counternet",
}

_METHODS = (
    *(
        Variant(method, method, tuned=plain is None, plain=plain)
        for method, plain in _PLAIN_METHODS.items()
    ),
    # Not tuned: the paper's squared price with its λ3, at which a change is almost free.
    Variant("cf-model-paper-price", "cf-model", _EDIT),
    Variant("robust-cf-model-paper-price", "robust-cf-model", _EDIT),
    # The default attack has the paper's E; retrained predictors are no good judges of another.
    *(
        Variant(f"{method}-tuned-attack", method, tuned=True, plain=plain)
        for method, plain in _PLAIN_METHODS.items()
        if plain is not None
    ),
)


def robustness_cells(scale: Scale) -> list[Cell]:
    """RoCourseNet beside CounterNet, in many configurations."""
    return [
        _cell(scale, rows, variant, rows.options_for(variant.method))
        for rows in _DATA
        for variant in _ROBUSTNESS
    ]


def simulated_cells(scale: Scale) -> list[Cell]:
    """The same on the paper's simulated shifts."""
    data = [
        ComparedData(
            scale.settings[name].source,
            SIMULATED.values_for(**default_options(METHODS["rocoursenet"])),
        )
        for name in ("simulated_covariate", "simulated_label")
    ]
    return [
        _cell(scale, rows, variant, rows.options_for(variant.method))
        for rows in data
        for variant in _SIMULATED
    ]


def method_cells(scale: Scale) -> list[Cell]:
    """Every method, with parameters tuned on validation rows."""
    return [
        _cell(
            scale,
            rows,
            variant,
            rows.options_for(variant.method, tuned=True),
            _searches(scale, rows, variant),
        )
        for rows in _DATA
        for variant in _METHODS
    ]


def tuning_jobs(scale: Scale) -> list[Job]:
    """The searches behind `method_cells`."""
    return list(
        dict.fromkeys(
            job for cell in method_cells(scale) for seed in cell.seeds for job in cell.tunes(seed)
        )
    )


def _cell(
    scale: Scale,
    rows: ComparedData,
    variant: Variant,
    options: Options,
    searches: tuple[Search, ...] = (),
) -> Cell:
    source = Source(
        rows.source.dataset,
        rows.source.subsets,
        # Small sets are small enough for any scale.
        rows=scale.compared_rows if rows.source.dataset == "loan" else None,
    )
    seeds = tuple(range(scale.compared_seeds))
    return Cell(
        source, variant.method, {**options, **variant.options}, seeds, variant.name, searches
    )


def _searches(scale: Scale, rows: ComparedData, variant: Variant) -> tuple[Search, ...]:
    def search(method: str, options: Options, after: Search | None = None) -> Search:
        fixed = {**rows.options_for(method, tuned=True), **options}
        trials = min(rows.trials, scale.most_trials or rows.trials)
        return Search(method, fixed, trials, _PRICE, rows.tuned_once, after)

    plain = () if variant.plain is None else (search(variant.plain, {}),)
    if not variant.tuned:
        return plain
    return (*plain, search(variant.method, variant.options, *plain))
