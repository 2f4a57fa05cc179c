"""Every table and figure of the paper, by the name that the command line has for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rocourse.errors import ConfigError
from rocourse.experiments.reproduction._attack_figures import (
    ATTACKERS,
    L2_ATTACKERS,
    L2_PANELS,
    PANELS,
    attack_jobs,
    show_attacks,
)
from rocourse.experiments.reproduction._candidates import choice_jobs
from rocourse.experiments.reproduction._comparisons import method_cells, tuning_jobs
from rocourse.experiments.reproduction._development import (
    development_jobs,
    development_note,
    show_development,
)
from rocourse.experiments.reproduction._figures import (
    CONSTANT,
    EPSILONS,
    L2_STEPS,
    LINEAR,
    LINF_STEPS,
    STEPS,
    Varied,
    curve_jobs,
    matrix_jobs,
    pareto_jobs,
    show_curves,
    show_matrices,
    show_pareto,
    show_sizes,
    show_varied,
    size_jobs,
    varied_jobs,
)
from rocourse.experiments.reproduction._flagship import (
    beside_flagship_jobs,
    flagship_jobs,
    flagship_note,
    show_flagship,
)
from rocourse.experiments.reproduction._jobs import Job
from rocourse.experiments.reproduction._promises import (
    judge_jobs,
    promise_jobs,
    show_judges,
    show_promises,
)
from rocourse.experiments.reproduction._results import Results
from rocourse.experiments.reproduction._scales import Scale
from rocourse.experiments.reproduction._tables import (
    cells_of,
    judged,
    oracle_jobs,
    plausible_jobs,
    predictors,
    recourses,
    robustness_jobs,
    show_choices,
    show_methods,
    show_oracle,
    show_plausibility,
    show_predictions,
    show_robustness,
    show_searches,
    show_times,
    timed,
)
from rocourse.reports import Part

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
        beside: Jobs of other entries whose results are shown where they are there, and not done.
    """

    name: str
    title: str
    jobs: Jobs
    render: Render
    note: Callable[[Scale], str] = lambda scale: ""
    ours: bool = False
    beside: Jobs = lambda scale: ()


def _recourses(name: str, title: str, methods: Sequence[str], datasets: Sequence[str]) -> Entry:
    cells = cells_of(methods, datasets)
    return Entry(name, title, judged(cells), recourses(cells))


def _parameters_note(scale: Scale) -> str:
    return scale.note


def _attack_note(scale: Scale) -> str:
    return f"{scale.note} At most {scale.attacked_rows:,} test rows of each subset are attacked."


def _varied(name: str, title: str, symbol: str, *lines: Varied) -> Entry:
    return Entry(
        name, title, varied_jobs(*lines), show_varied(name, title, symbol, *lines), _parameters_note
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
    Entry("table-predictive", "Predictive performance", judged(predictors), show_predictions),
    Entry("table-time", "Time to train and to give a recourse", judged(timed), show_times),
    Entry("table-plausibility", "Whether advice looks real", plausible_jobs, show_plausibility),
    Entry(
        "oracle",
        "What could be had if the future were known",
        oracle_jobs,
        show_oracle,
        lambda scale: "Loan with one seed: 16 models judge in it, and it is a bound, no estimate.",
    ),
    Entry("fig-pareto", "What validity costs", pareto_jobs, show_pareto, _parameters_note),
    Entry(
        "fig-attack",
        "The attacker against trained models",
        attack_jobs(ATTACKERS, PANELS),
        show_attacks(
            "fig-attack",
            "The attacker against trained models",
            ATTACKERS,
            PANELS,
            beside_paper=True,
        ),
        _attack_note,
    ),
    _varied("fig-steps", "Training with more of the attacker's steps T", "T", STEPS),
    _varied("fig-eps", "Training with a larger shift E", "E", EPSILONS),
    _joined(
        _varied("fig-l2", "ℓ∞ and ℓ2 balls", "T", LINF_STEPS, L2_STEPS),
        attack_jobs(L2_ATTACKERS, L2_PANELS),
        show_attacks(
            "fig-l2-attack", "An ℓ2 attacker", L2_ATTACKERS, L2_PANELS, beside_paper=False
        ),
    ),
    _varied("fig-scheduler", "Linear and constant ε", "E", LINEAR, CONSTANT),
    Entry("fig-data-size", "Fewer training rows", size_jobs, show_sizes, _parameters_note),
    Entry("fig-matrix", "Who honours whose advice", matrix_jobs, show_matrices),
    Entry("fig-curves", "Losses and robust validity by epoch", curve_jobs, show_curves),
    Entry(
        "table-robustness",
        "RoCourseNet beside CounterNet in many configurations",
        robustness_jobs,
        show_robustness,
        ours=True,
    ),
    Entry(
        "table-methods",
        "Every method, with parameters tuned on validation rows",
        judged(method_cells),
        show_methods,
        ours=True,
    ),
    Entry("table-tuning", "Parameters that were chosen", tuning_jobs, show_searches, ours=True),
    Entry("table-promises", "Promises, stated and kept", promise_jobs, show_promises, ours=True),
    Entry("table-judges", "Methods before common judges", judge_jobs, show_judges, ours=True),
    Entry(
        "table-flagship",
        "RoCourse in the paper's protocol",
        flagship_jobs,
        show_flagship,
        flagship_note,
        ours=True,
        beside=beside_flagship_jobs,
    ),
    Entry(
        "table-development",
        "Defaults of RoCourse on the tables that they were chosen on",
        development_jobs,
        show_development,
        development_note,
        ours=True,
    ),
    Entry("table-choices", "Settings of RoCoursePanel", choice_jobs, show_choices, ours=True),
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
