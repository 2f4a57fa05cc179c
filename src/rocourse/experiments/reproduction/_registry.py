"""Every table and figure of the paper, by the name that the command line has for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rocourse.errors import ConfigError
from rocourse.experiments.reproduction._attack_figures import (
    ATTACKERS,
    L2_ATTACKERS,
    L2_SWEEPS,
    SWEEPS,
    attack_jobs,
    attack_parts,
)
from rocourse.experiments.reproduction._candidates import choice_jobs
from rocourse.experiments.reproduction._choice_tables import choice_tables
from rocourse.experiments.reproduction._comparison_tables import (
    method_tables,
    robustness_tables,
    tuning_tables,
)
from rocourse.experiments.reproduction._comparisons import (
    judged,
    method_cells,
    robustness_cells,
    simulated_cells,
    tuning_jobs,
)
from rocourse.experiments.reproduction._curve_figure import curve_jobs, curve_parts
from rocourse.experiments.reproduction._frontier_figures import (
    pareto_jobs,
    pareto_parts,
    size_jobs,
    size_parts,
)
from rocourse.experiments.reproduction._jobs import Job
from rocourse.experiments.reproduction._matrix_figure import matrix_jobs, matrix_parts
from rocourse.experiments.reproduction._model_tables import (
    predictive_jobs,
    predictive_tables,
    time_jobs,
    time_tables,
)
from rocourse.experiments.reproduction._oracle_table import oracle_jobs, oracle_tables
from rocourse.experiments.reproduction._parameter_figures import (
    CONSTANT,
    EPSILONS,
    L2_STEPS,
    LINEAR,
    LINF_STEPS,
    STEPS,
    Series,
    series_jobs,
    series_parts,
)
from rocourse.experiments.reproduction._parts import Part
from rocourse.experiments.reproduction._plausibility_tables import (
    plausible_jobs,
    plausible_tables,
)
from rocourse.experiments.reproduction._recourse_tables import (
    cells_of,
    judgements,
    recourse_tables,
)
from rocourse.experiments.reproduction._results import Results
from rocourse.experiments.reproduction._scales import Scale

ALL = "all"

Jobs = Callable[[Scale], Sequence[Job]]
Render = Callable[[Scale, Results], Sequence[Part]]


@dataclass(frozen=True)
class Entry:
    """A table or figure.

    Attributes:
        name: What the command line calls it.
        title: What it shows.
        jobs: What has to be done for it at a scale.
        render: Its tables and pictures, from the results that there are.
        note: What is smaller than in the paper at a scale, or else to be known.
        ours: Whether it compares what the paper does not, in settings of our own. It is done when
            it is named, not by `all`.
    """

    name: str
    title: str
    jobs: Jobs
    render: Render
    note: Callable[[Scale], str] = lambda scale: ""
    ours: bool = False


def _recourses(name: str, title: str, methods: Sequence[str], datasets: Sequence[str]) -> Entry:
    cells = cells_of(methods, datasets)
    return Entry(name, title, judgements(cells), recourse_tables(cells))


def _parameters_note(scale: Scale) -> str:
    return scale.note


def _attack_note(scale: Scale) -> str:
    return f"At most {scale.attacked_rows:,} test rows of each subset are attacked."


def _varied(name: str, title: str, symbol: str, *series: Series) -> Entry:
    return Entry(
        name,
        title,
        series_jobs(*series),
        series_parts(name, title, symbol, *series),
        _parameters_note,
    )


def _joined(entry: Entry, jobs: Jobs, render: Render) -> Entry:
    """The entry with further jobs, tables and pictures."""
    return replace(
        entry,
        jobs=lambda scale: [*entry.jobs(scale), *jobs(scale)],
        render=lambda scale, results: [*entry.render(scale, results), *render(scale, results)],
    )


_ENTRIES = (
    _recourses(
        "table-main",
        "Robustness of recourses under model shift",
        ("vanillacf", "counternet", "roar", "rbr", "rocoursenet", "rocourse-panel"),
        ("loan", "german_credit", "student"),
    ),
    _recourses(
        "table-framework",
        "Robust training of post-hoc generators",
        ("cf-model", "robust-cf-model", "vae-cf", "robust-vae-cf"),
        ("loan",),
    ),
    _recourses(
        "table-heuristics",
        "Random perturbations instead of the worst one",
        ("vanillacf", "vanillacf-random", "rocoursenet-random", "rocoursenet"),
        ("loan",),
    ),
    _recourses(
        "table-simulated",
        "Simulated covariate and label shift",
        ("rocoursenet",),
        ("simulated_covariate", "simulated_label"),
    ),
    Entry("table-predictive", "Predictive performance", predictive_jobs, predictive_tables),
    Entry("table-time", "Time to train and to give a recourse", time_jobs, time_tables),
    Entry("table-plausibility", "Whether advice looks real", plausible_jobs, plausible_tables),
    Entry("oracle", "What could be had if the future were known", oracle_jobs, oracle_tables),
    Entry("fig-pareto", "What validity costs", pareto_jobs, pareto_parts, _parameters_note),
    Entry(
        "fig-attack",
        "The attacker against trained models",
        attack_jobs(ATTACKERS, SWEEPS),
        attack_parts("fig-attack", "The attacker against trained models", ATTACKERS, SWEEPS),
        _attack_note,
    ),
    _varied("fig-steps", "Training with more of the attacker's steps T", "T", STEPS),
    _varied("fig-eps", "Training with a larger shift E", "E", EPSILONS),
    _joined(
        _varied("fig-l2", "ℓ∞ and ℓ2 balls", "T", LINF_STEPS, L2_STEPS),
        attack_jobs(L2_ATTACKERS, L2_SWEEPS),
        attack_parts("fig-l2-attack", "An ℓ2 attacker", L2_ATTACKERS, L2_SWEEPS),
    ),
    _varied("fig-scheduler", "Linear and constant ε", "E", LINEAR, CONSTANT),
    Entry("fig-data-size", "Fewer training rows", size_jobs, size_parts, _parameters_note),
    Entry("fig-matrix", "Who honours whose advice", matrix_jobs, matrix_parts),
    Entry("fig-curves", "Losses and robust validity by epoch", curve_jobs, curve_parts),
    Entry(
        "table-robustness",
        "RoCourseNet beside CounterNet in many configurations",
        judged(lambda scale: [*robustness_cells(scale), *simulated_cells(scale)]),
        robustness_tables,
        ours=True,
    ),
    Entry(
        "table-methods",
        "Every method, with parameters tuned on validation rows",
        judged(method_cells),
        method_tables,
        ours=True,
    ),
    Entry("table-tuning", "Parameters that were chosen", tuning_jobs, tuning_tables, ours=True),
    Entry("table-choices", "Settings of RoCoursePanel", choice_jobs, choice_tables, ours=True),
)

REGISTRY: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}
"""By name, in the order of the report."""


def find_entries(names: Sequence[str]) -> list[Entry]:
    """The entries of some names, `all` being all of the paper's, in the order of the report."""
    for name in names:
        if name != ALL and name not in REGISTRY:
            raise ConfigError(
                f"The experiment must be one of {', '.join((*REGISTRY, ALL))}: got {name!r}; name "
                "one of them."
            )
    return [
        entry
        for entry in REGISTRY.values()
        if entry.name in names or (ALL in names and not entry.ours)
    ]
