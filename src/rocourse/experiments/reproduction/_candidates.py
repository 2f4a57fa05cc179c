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

# A network as the paper has it: of the rows themselves, alone, with its verdicts as trained.
_PAPERS = {"copies": 0, "committee": 1, "balance": 0.0}
# Half of the rows, twice the epochs: as many steps as with all of them.
_GERMAN = {"batch_size": 256, "epochs": 30, "copies": 4, "blur_noise": 0.0, "members": 6}
_THRIFTY = _GERMAN | {"worth": 0.02}
_SCRAMBLED = _THRIFTY | {"scramble": 1.0}
_USUAL = _THRIFTY | {"blur_flip": 0.5, "typicality": 0.9, "rarest": 0.1}
# Three quarters of the rows: the epochs that all of them have.
_QUARTER = _THRIFTY | {"epochs": 15, "typicality": 0.9}
_QUARTER_USUAL = _QUARTER | {"committee": 6, "rarest": 0.1}
_AS_TRAINED = _QUARTER_USUAL | {
    "epochs": 20,
    "blur_jitter": 0.1,
    "blur_flip": 0.2,
    "balance": 0.0,
}
_NEIGHBOURLY = _USUAL | {"blur_jitter": 0.2, "blur_flip": 0.2, "committee": 6, "balance": 0.7}
_STUDENT = {
    "encoder_widths": (50, 10),
    "head_widths": (10,),
    "learning_rate": 0.01,
    "epochs": 30,
    "copies": 4,
    "blur_noise": 0.0,
}
_TYPICAL = _STUDENT | {"blur_flip": 0.3, "typicality": 0.8, "members": 8, "flip": 0.2}
_SMOOTH = _TYPICAL | {"blur_jitter": 0.3, "blur_noise": 0.2}
_SMOOTH_SIX = _SMOOTH | {"committee": 6, "typicality": 0.9}
_QUARTER_SMOOTH = _SMOOTH_SIX | {"epochs": 15}
_LOAN = {"encoder_widths": (200, 10), "head_widths": (10,), "epochs": 8}
_STEADIER = _LOAN | {"evenness": 0.7, "committee": 6, "members": 4, "typicality": (0.9, 0.5)}
_EVEN = _LOAN | {"novelty": 1.0, "evenness": 1.0}
_ALONE = _EVEN | {"members": 1, "typicality": (0.9, 0.6), "worth": 0.03}
_DROPPED = _ALONE | {"committee": 6, "dropout": 0.5, "blur_flip": 0.05}
CANDIDATES: Mapping[str, Mapping[str, Options]] = {
    "German Credit, halves": {
        "paper's model": _GERMAN | {"epochs": 100, **_PAPERS},
        "no blur": _SCRAMBLED | {"blur_flip": 0.0},
        "blur .3": _SCRAMBLED | {"blur_flip": 0.3},
        "blur .5": _SCRAMBLED | {"blur_flip": 0.5},
        "typical .9": _SCRAMBLED | {"blur_flip": 0.5, "typicality": 0.9},
        "no scramble": _THRIFTY | {"blur_flip": 0.5, "typicality": 0.9},
        "blur .3, no scramble": _THRIFTY | {"blur_flip": 0.3, "typicality": 0.9},
        "blur .3, typical .95": _THRIFTY | {"blur_flip": 0.3, "typicality": 0.95},
        "rarest .05": _USUAL | {"rarest": 0.05},
        "rarest .1": _USUAL,
        "rarest .1, blur .4": _USUAL | {"blur_flip": 0.4},
        "rarest .1, committee 6": _USUAL | {"committee": 6},
        "rarest .1, committee 6, blur .3": _USUAL | {"committee": 6, "blur_flip": 0.3},
        "rarest .1, committee 6, blur .4": _USUAL | {"committee": 6, "blur_flip": 0.4},
        "jitter .2, blur .2": _NEIGHBOURLY | {"committee": 3, "rarest": 0.002, "balance": 1.0},
        "jitter .2, blur .2, the model alone": _NEIGHBOURLY | {"members": 1},
        "jitter .2, blur .2, committee 6, balance .7": _NEIGHBOURLY,
    },
    "German Credit, quarters": {
        "paper's model": _QUARTER | {"epochs": 50, **_PAPERS, "members": 1},
        "blur .5": _QUARTER | {"blur_flip": 0.5},
        "blur .5, committee 6, rarest .1, balance .5": _QUARTER_USUAL
        | {"blur_flip": 0.5, "balance": 0.5},
        "blur .6, committee 6, rarest .1, balance .5, 10 epochs": _QUARTER_USUAL
        | {"blur_flip": 0.6, "balance": 0.5, "epochs": 10},
        "blur .4, committee 6, rarest .1, balance .6, 10 epochs": _QUARTER_USUAL
        | {"blur_flip": 0.4, "balance": 0.6, "epochs": 10},
        "jitter .2, blur .2, committee 6, rarest .1, balance .7": _QUARTER_USUAL
        | {"blur_jitter": 0.2, "blur_flip": 0.2, "balance": 0.7},
        "jitter .1, blur .2, committee 6, rarest .1, as trained, 20 epochs": _AS_TRAINED,
        "jitter .1, blur .3, committee 6, rarest .1, as trained, 20 epochs": _AS_TRAINED
        | {"blur_flip": 0.3},
        "jitter .1, blur .2, committee 12, rarest .1, as trained, 20 epochs": _AS_TRAINED
        | {"committee": 12},
    },
    "Student, halves": {
        "paper's model": _STUDENT | {"epochs": 100, **_PAPERS},
        "blur .3": _STUDENT | {"blur_flip": 0.3},
        "typical .7": _STUDENT | {"blur_flip": 0.3, "typicality": 0.7, "members": 8, "flip": 0.2},
        "typical .8": _TYPICAL,
        "noise .2": _TYPICAL | {"blur_noise": 0.2},
        "novelty": _TYPICAL | {"blur_noise": 0.2, "novelty": 1.0},
        "jitter .15": _TYPICAL | {"blur_jitter": 0.15},
        "jitter .15, noise .2": _SMOOTH | {"blur_jitter": 0.15},
        "jitter .3": _TYPICAL | {"blur_jitter": 0.3},
        "jitter .3, noise .2": _SMOOTH,
        "jitter .3, noise .2, typical .9": _SMOOTH | {"typicality": 0.9},
        "jitter .3, noise .2, committee 6": _SMOOTH | {"committee": 6},
        "jitter .3, noise .2, committee 6, typical .9": _SMOOTH_SIX,
        "jitter .3, noise .2, committee 6, typical .95": _SMOOTH_SIX | {"typicality": 0.95},
        "jitter .3, noise .2, committee 6, typical .9, rarest .05": _SMOOTH_SIX | {"rarest": 0.05},
        "jitter .3, noise .2, committee 6, typical .9, rarest .1": _SMOOTH_SIX | {"rarest": 0.1},
        "jitter .3, noise .2, committee 12, typical .9": _SMOOTH_SIX | {"committee": 12},
        "jitter .3, noise .2, blur .5, committee 6, typical .9": _SMOOTH_SIX | {"blur_flip": 0.5},
        "jitter .3, noise .2, dropout .5, committee 6, typical .9": _SMOOTH_SIX | {"dropout": 0.5},
    },
    "Student, quarters": {
        "committee 6, typical .9": _QUARTER_SMOOTH,
        "committee 6, typical .95": _QUARTER_SMOOTH | {"typicality": 0.95},
        "committee 6, typical .9, worth .006": _QUARTER_SMOOTH | {"worth": 0.006},
        "committee 6, typical .9, worth .005": _QUARTER_SMOOTH | {"worth": 0.005},
        "committee 6, typical .8": _QUARTER_SMOOTH | {"typicality": 0.8},
        "committee 6, typical .9, rarest .05": _QUARTER_SMOOTH | {"rarest": 0.05},
        "committee 6, typical .9, rarest .1": _QUARTER_SMOOTH | {"rarest": 0.1},
        "committee 6, typical .8, rarest .08": _QUARTER_SMOOTH
        | {"typicality": 0.8, "rarest": 0.08},
        "committee 6, typical .85, rarest .08": _QUARTER_SMOOTH
        | {"typicality": 0.85, "rarest": 0.08},
        "committee 6, typical .8, rarest .1": _QUARTER_SMOOTH | {"typicality": 0.8, "rarest": 0.1},
        "paper's model": _QUARTER_SMOOTH | {"epochs": 50, **_PAPERS},
    },
    "loan, early years": {
        "paper's model": _LOAN | {"epochs": 50, **_PAPERS},
        "blur .2": _LOAN,
        "refusals typical .9": _LOAN | {"typicality": (0.9, 0.6)},
        "even .7, blur .4": _STEADIER | {"blur_flip": 0.4},
        "even .7, blur .5": _STEADIER | {"blur_flip": 0.5},
        "refusals typical .95": _STEADIER | {"blur_flip": 0.5, "typicality": (0.95, 0.5)},
        "novelty": _LOAN | {"novelty": 1.0},
        "even novelty": _EVEN,
        "even novelty, jitter .14": _EVEN
        | {"jitter": 0.14, "typicality": (0.8, 0.6), "worth": 0.03},
        "the model alone": _ALONE,
        "dropout .5": _DROPPED,
        "dropout .5, noise .2": _DROPPED | {"blur_noise": 0.2},
        "dropout .5, balance .7": _DROPPED | {"balance": 0.7},
        "dropout .5, noise .2, balance .7": _DROPPED | {"blur_noise": 0.2, "balance": 0.7},
        "dropout .5, balance .6, committee 10": _DROPPED | {"balance": 0.6, "committee": 10},
    },
}
"""By proxy and title."""

# Tried on what is reported, and not kept.
_BLURRED = {"epochs": 15, "members": 6, "typicality": 0.9, "worth": 0.02, "rarest": 0.1}
_BLURRED |= {"committee": 6, "copies": 4, "blur_noise": 0.0}
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
            ("rarest .1, committee 6, blur .4", {"blur_flip": 0.4}),
            (
                "jitter .2, blur .2, committee 6, balance .7",
                {"blur_flip": 0.2, "blur_jitter": 0.2, "balance": 0.7},
            ),
        )
    ),
    (
        "loan, all years, seeds 0 to 2",
        "reported before: no novelty, no evenness",
        Proxy("judged-choice", "loan", (0, 1, 2), _ALL_YEARS).job(
            _LOAN | {"members": 6, "typicality": 0.6}
        ),
    ),
    (
        "loan, all years, seed 0",
        "even .7, blur .5",
        Proxy("judged-choice", "loan", (0,), _ALL_YEARS).job(_STEADIER | {"blur_flip": 0.5}),
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
