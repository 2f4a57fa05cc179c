"""Settings of RoCoursePanel that were tried to choose those of the tables, and how.

Seeds are others than the reported ones, but where it is said.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocourse.experiments.reproduction._jobs import Job
from rocourse.experiments.reproduction._scales import Scale

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Proxy:
    """How candidates are judged in place of the reported shifts.

    Attributes:
        kind: Of the jobs.
        dataset: Whose rows.
        seeds: Those of the trials.
        how: What else the jobs have to know.
    """

    kind: str
    dataset: str
    seeds: tuple[int, ...]
    how: Options

    def job(self, options: Options, seeds: tuple[int, ...] | None = None, **how: Any) -> Job:
        """Tries a candidate."""
        inputs = {
            "dataset": self.dataset,
            "method": "rocourse-panel",
            "seeds": seeds or self.seeds,
            "options": options,
        }
        return Job(self.kind, {**inputs, **self.how, **how})


_HALVES = {"share": 0.5}
_QUARTERS = {"share": 0.25}
_RELABELLED = {"shift": "relabelled"}
_CUT = {"shift": "cut"}
_SEEDS, _QUARTER_SEEDS = (20, 21, 22), (20, 21, 22, 23, 24, 25)
_EARLY = {"subsets": ("1994", "1997", "1999", "2001")}

PROXIES: Mapping[str, Proxy] = {
    "German Credit, halves": Proxy(
        "shifted-choice", "german_credit", _SEEDS, _HALVES | _RELABELLED
    ),
    "German Credit, quarters": Proxy(
        "shifted-choice", "german_credit", _QUARTER_SEEDS, _QUARTERS | _RELABELLED
    ),
    "Student, halves": Proxy("shifted-choice", "student", _SEEDS, _HALVES | _CUT),
    "Student, quarters": Proxy("shifted-choice", "student", _QUARTER_SEEDS, _QUARTERS | _CUT),
    "loan, early years": Proxy("judged-choice", "loan", (20, 21), _EARLY),
}
"""By what tables call them."""

# Redrawn categories may be any of the column's, for the model and for the members.
_UNIFORM = {"trainer__blur__uniform_flip": 1.0, "proposer__shift__uniform_flip": 1.0}
# A network as the paper has it: of the rows themselves, alone, with its verdicts as trained.
_PAPERS = {"trainer__copies": 0, "trainer__committee": 1, "trainer__balance": 0.0}
# Half of the rows, twice the epochs: as many steps as with all of them.
_GERMAN = {
    "trainer__batch_size": 256,
    "trainer__epochs": 30,
    "trainer__copies": 4,
    "trainer__blur__noise": 0.0,
    "proposer__members": 6,
}
_THRIFTY = _GERMAN | {"proposer__min_gain": 0.02}
_SHUFFLED = _THRIFTY | {"proposer__shift__shuffle": 1.0}
_USUAL = _THRIFTY | {
    "trainer__blur__flip": 0.5,
    "proposer__margin_quantile": 0.9,
    "proposer__min_category_share": 0.1,
}
# Three quarters of the rows: the epochs that all of them have.
_QUARTER = _THRIFTY | {"trainer__epochs": 15, "proposer__margin_quantile": 0.9}
_QUARTER_USUAL = _QUARTER | {"trainer__committee": 6, "proposer__min_category_share": 0.1}
_AS_TRAINED = _QUARTER_USUAL | {
    "trainer__epochs": 20,
    "trainer__blur__ordinal_noise": 0.1,
    "trainer__blur__flip": 0.2,
    "trainer__balance": 0.0,
}
_NEIGHBOURLY = _USUAL | {
    "trainer__blur__ordinal_noise": 0.2,
    "trainer__blur__flip": 0.2,
    "trainer__committee": 6,
    "trainer__balance": 0.7,
}
_STUDENT = {
    "trainer__encoder_widths": (50, 10),
    "trainer__head_widths": (10,),
    "trainer__learning_rate": 0.01,
    "trainer__epochs": 30,
    "trainer__copies": 4,
    "trainer__blur__noise": 0.0,
}
_TYPICAL = _STUDENT | {
    "trainer__blur__flip": 0.3,
    "proposer__margin_quantile": 0.8,
    "proposer__members": 8,
    "proposer__shift__flip": 0.2,
}
_SMOOTH = _TYPICAL | {"trainer__blur__ordinal_noise": 0.3, "trainer__blur__noise": 0.2}
_SMOOTH_SIX = _SMOOTH | {"trainer__committee": 6, "proposer__margin_quantile": 0.9}
_QUARTER_SMOOTH = _SMOOTH_SIX | {"trainer__epochs": 15}
_LOAN = {"trainer__encoder_widths": (200, 10), "trainer__head_widths": (10,), "trainer__epochs": 8}
_STEADIER = _LOAN | {
    "trainer__blur__class_evenness": 0.7,
    "trainer__committee": 6,
    "proposer__members": 4,
    "proposer__margin_quantile": (0.9, 0.5),
}
_EVEN = _LOAN | {**_UNIFORM, "trainer__blur__class_evenness": 1.0}
_ALONE = _EVEN | {
    "proposer__members": 1,
    "proposer__margin_quantile": (0.9, 0.6),
    "proposer__min_gain": 0.03,
}
_DROPPED = _ALONE | {"trainer__committee": 6, "trainer__dropout": 0.5, "trainer__blur__flip": 0.05}
CANDIDATES: Mapping[str, Mapping[str, Options]] = {
    "German Credit, halves": {
        "paper's model": _GERMAN | {"trainer__epochs": 100, **_PAPERS},
        "no blur": _SHUFFLED | {"trainer__blur__flip": 0.0},
        "blur .3": _SHUFFLED | {"trainer__blur__flip": 0.3},
        "blur .5": _SHUFFLED | {"trainer__blur__flip": 0.5},
        "quantile .9": _SHUFFLED | {"trainer__blur__flip": 0.5, "proposer__margin_quantile": 0.9},
        "no shuffle": _THRIFTY | {"trainer__blur__flip": 0.5, "proposer__margin_quantile": 0.9},
        "blur .3, no shuffle": _THRIFTY
        | {"trainer__blur__flip": 0.3, "proposer__margin_quantile": 0.9},
        "blur .3, quantile .95": _THRIFTY
        | {"trainer__blur__flip": 0.3, "proposer__margin_quantile": 0.95},
        "min share .05": _USUAL | {"proposer__min_category_share": 0.05},
        "min share .1": _USUAL,
        "min share .1, blur .4": _USUAL | {"trainer__blur__flip": 0.4},
        "min share .1, committee 6": _USUAL | {"trainer__committee": 6},
        "min share .1, committee 6, blur .3": _USUAL
        | {"trainer__committee": 6, "trainer__blur__flip": 0.3},
        "min share .1, committee 6, blur .4": _USUAL
        | {"trainer__committee": 6, "trainer__blur__flip": 0.4},
        "ordinal noise .2, blur .2": _NEIGHBOURLY
        | {"trainer__committee": 3, "proposer__min_category_share": 0.002, "trainer__balance": 1.0},
        "ordinal noise .2, blur .2, the model alone": _NEIGHBOURLY | {"proposer__members": 1},
        "ordinal noise .2, blur .2, committee 6, balance .7": _NEIGHBOURLY,
    },
    "German Credit, quarters": {
        "paper's model": _QUARTER | {"trainer__epochs": 50, **_PAPERS, "proposer__members": 1},
        "blur .5": _QUARTER | {"trainer__blur__flip": 0.5},
        "blur .5, committee 6, min share .1, balance .5": _QUARTER_USUAL
        | {"trainer__blur__flip": 0.5, "trainer__balance": 0.5},
        "blur .6, committee 6, min share .1, balance .5, 10 epochs": _QUARTER_USUAL
        | {"trainer__blur__flip": 0.6, "trainer__balance": 0.5, "trainer__epochs": 10},
        "blur .4, committee 6, min share .1, balance .6, 10 epochs": _QUARTER_USUAL
        | {"trainer__blur__flip": 0.4, "trainer__balance": 0.6, "trainer__epochs": 10},
        "ordinal noise .2, blur .2, committee 6, min share .1, balance .7": _QUARTER_USUAL
        | {
            "trainer__blur__ordinal_noise": 0.2,
            "trainer__blur__flip": 0.2,
            "trainer__balance": 0.7,
        },
        "ordinal noise .1, blur .2, committee 6, min share .1, as trained, 20 epochs": _AS_TRAINED,
        "ordinal noise .1, blur .3, committee 6, min share .1, as trained, 20 epochs": _AS_TRAINED
        | {"trainer__blur__flip": 0.3},
        "ordinal noise .1, blur .2, committee 12, min share .1, as trained, 20 epochs": _AS_TRAINED
        | {"trainer__committee": 12},
    },
    "Student, halves": {
        "paper's model": _STUDENT | {"trainer__epochs": 100, **_PAPERS},
        "blur .3": _STUDENT | {"trainer__blur__flip": 0.3},
        "quantile .7": _STUDENT
        | {
            "trainer__blur__flip": 0.3,
            "proposer__margin_quantile": 0.7,
            "proposer__members": 8,
            "proposer__shift__flip": 0.2,
        },
        "quantile .8": _TYPICAL,
        "noise .2": _TYPICAL | {"trainer__blur__noise": 0.2},
        "uniform flips": _TYPICAL | {"trainer__blur__noise": 0.2, **_UNIFORM},
        "ordinal noise .15": _TYPICAL | {"trainer__blur__ordinal_noise": 0.15},
        "ordinal noise .15, noise .2": _SMOOTH | {"trainer__blur__ordinal_noise": 0.15},
        "ordinal noise .3": _TYPICAL | {"trainer__blur__ordinal_noise": 0.3},
        "ordinal noise .3, noise .2": _SMOOTH,
        "ordinal noise .3, noise .2, quantile .9": _SMOOTH | {"proposer__margin_quantile": 0.9},
        "ordinal noise .3, noise .2, committee 6": _SMOOTH | {"trainer__committee": 6},
        "ordinal noise .3, noise .2, committee 6, quantile .9": _SMOOTH_SIX,
        "ordinal noise .3, noise .2, committee 6, quantile .95": _SMOOTH_SIX
        | {"proposer__margin_quantile": 0.95},
        "ordinal noise .3, noise .2, committee 6, quantile .9, min share .05": _SMOOTH_SIX
        | {"proposer__min_category_share": 0.05},
        "ordinal noise .3, noise .2, committee 6, quantile .9, min share .1": _SMOOTH_SIX
        | {"proposer__min_category_share": 0.1},
        "ordinal noise .3, noise .2, committee 12, quantile .9": _SMOOTH_SIX
        | {"trainer__committee": 12},
        "ordinal noise .3, noise .2, blur .5, committee 6, quantile .9": _SMOOTH_SIX
        | {"trainer__blur__flip": 0.5},
        "ordinal noise .3, noise .2, dropout .5, committee 6, quantile .9": _SMOOTH_SIX
        | {"trainer__dropout": 0.5},
    },
    "Student, quarters": {
        "committee 6, quantile .9": _QUARTER_SMOOTH,
        "committee 6, quantile .95": _QUARTER_SMOOTH | {"proposer__margin_quantile": 0.95},
        "committee 6, quantile .9, min gain .006": _QUARTER_SMOOTH | {"proposer__min_gain": 0.006},
        "committee 6, quantile .9, min gain .005": _QUARTER_SMOOTH | {"proposer__min_gain": 0.005},
        "committee 6, quantile .8": _QUARTER_SMOOTH | {"proposer__margin_quantile": 0.8},
        "committee 6, quantile .9, min share .05": _QUARTER_SMOOTH
        | {"proposer__min_category_share": 0.05},
        "committee 6, quantile .9, min share .1": _QUARTER_SMOOTH
        | {"proposer__min_category_share": 0.1},
        "committee 6, quantile .8, min share .08": _QUARTER_SMOOTH
        | {"proposer__margin_quantile": 0.8, "proposer__min_category_share": 0.08},
        "committee 6, quantile .85, min share .08": _QUARTER_SMOOTH
        | {"proposer__margin_quantile": 0.85, "proposer__min_category_share": 0.08},
        "committee 6, quantile .8, min share .1": _QUARTER_SMOOTH
        | {"proposer__margin_quantile": 0.8, "proposer__min_category_share": 0.1},
        "paper's model": _QUARTER_SMOOTH | {"trainer__epochs": 50, **_PAPERS},
    },
    "loan, early years": {
        "paper's model": _LOAN | {"trainer__epochs": 50, **_PAPERS},
        "blur .2": _LOAN,
        "refusals quantile .9": _LOAN | {"proposer__margin_quantile": (0.9, 0.6)},
        "even .7, blur .4": _STEADIER | {"trainer__blur__flip": 0.4},
        "even .7, blur .5": _STEADIER | {"trainer__blur__flip": 0.5},
        "refusals quantile .95": _STEADIER
        | {"trainer__blur__flip": 0.5, "proposer__margin_quantile": (0.95, 0.5)},
        "uniform flips": _LOAN | {**_UNIFORM},
        "even uniform flips": _EVEN,
        "even uniform flips, ordinal noise .14": _EVEN
        | {
            "proposer__shift__ordinal_noise": 0.14,
            "proposer__margin_quantile": (0.8, 0.6),
            "proposer__min_gain": 0.03,
        },
        "the model alone": _ALONE,
        "dropout .5": _DROPPED,
        "dropout .5, noise .2": _DROPPED | {"trainer__blur__noise": 0.2},
        "dropout .5, balance .7": _DROPPED | {"trainer__balance": 0.7},
        "dropout .5, noise .2, balance .7": _DROPPED
        | {"trainer__blur__noise": 0.2, "trainer__balance": 0.7},
        "dropout .5, balance .6, committee 10": _DROPPED
        | {"trainer__balance": 0.6, "trainer__committee": 10},
    },
}
"""By proxy and title."""

# Tried on what is reported, and not kept.
_BLURRED = {
    "trainer__epochs": 15,
    "proposer__members": 6,
    "proposer__margin_quantile": 0.9,
    "proposer__min_gain": 0.02,
    "proposer__min_category_share": 0.1,
}
_BLURRED |= {"trainer__committee": 6, "trainer__copies": 4, "trainer__blur__noise": 0.0}
_ALL_YEARS = {"subsets": tuple(map(str, range(1994, 2010)))}
TRIED_ON_REPORTED: tuple[tuple[str, str, Job], ...] = (
    *(
        (
            "German Credit, seeds 0 to 4",
            title,
            Proxy(
                "judged-choice", "german_credit", (0, 1, 2, 3, 4), {"subsets": ("org", "upt")}
            ).job(_BLURRED | options),
        )
        for title, options in (
            ("min share .1, committee 6, blur .4", {"trainer__blur__flip": 0.4}),
            (
                "ordinal noise .2, blur .2, committee 6, balance .7",
                {
                    "trainer__blur__flip": 0.2,
                    "trainer__blur__ordinal_noise": 0.2,
                    "trainer__balance": 0.7,
                },
            ),
        )
    ),
    (
        "loan, all years, seeds 0 to 2",
        "reported before: no uniform flips, no evenness",
        Proxy("judged-choice", "loan", (0, 1, 2), _ALL_YEARS).job(
            _LOAN | {"proposer__members": 6, "proposer__margin_quantile": 0.6}
        ),
    ),
    (
        "loan, all years, seed 0",
        "even .7, blur .5",
        Proxy("judged-choice", "loan", (0,), _ALL_YEARS).job(
            _STEADIER | {"trainer__blur__flip": 0.5}
        ),
    ),
)
"""Proxy, title and job."""

_FOLDED = "German Credit, quarters"
_QUICK_CANDIDATES = 2


def choices(scale: Scale) -> list[tuple[str, str, Job]]:
    """Proxy, title and job of each candidate; at a small scale, few candidates, seeds and rows."""
    found = []
    for name, proxy in PROXIES.items():
        titles = list(CANDIDATES[name].items())
        if scale.name == "paper":
            found += [(name, title, proxy.job(options)) for title, options in titles]
            continue
        fewer = {} if scale.compared_rows is None else {"rows": scale.compared_rows}
        if proxy.kind == "shifted-choice":
            fewer = {}
        found += [
            (name, title, proxy.job(options, proxy.seeds[:1], **fewer))
            for title, options in titles[:_QUICK_CANDIDATES]
        ]
    return [*found, *(TRIED_ON_REPORTED if scale.name == "paper" else ())]


def fold_job(scale: Scale) -> Job:
    """How accurate German Credit's candidates are."""
    candidates, seeds = CANDIDATES[_FOLDED], PROXIES[_FOLDED].seeds
    if scale.name != "paper":
        candidates, seeds = dict(list(candidates.items())[:_QUICK_CANDIDATES]), seeds[:1]
    inputs = {"dataset": "german_credit", "seeds": seeds, "folds": 4, "candidates": candidates}
    return Job("folds", inputs)


def inlier_job(scale: Scale) -> Job:
    """Where the threshold of the local outlier factor lies."""
    cell = scale.settings["german_credit"].cell("rocourse-panel")
    inputs = {
        "dataset": "german_credit",
        "method": cell.method,
        "seeds": cell.seeds,
        "thresholds": ("auto", 0.05, 0.1),
        "options": cell.options,
    }
    return Job("inliers", inputs)


def choice_jobs(scale: Scale) -> list[Job]:
    """All candidates, by all that they were judged by."""
    return [*(job for _, _, job in choices(scale)), fold_job(scale), inlier_job(scale)]
