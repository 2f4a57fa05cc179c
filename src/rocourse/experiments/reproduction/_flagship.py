"""RoCourse in the paper's protocol: its defaults on all sets, every row flipped."""

from rocourse.experiments.reproduction._jobs import Cell, Job, seed_by_seed
from rocourse.experiments.reproduction._results import Results, measured
from rocourse.experiments.reproduction._scales import Scale
from rocourse.reports import BASE, EXTENSION, FlagshipLine, Part, flagship_table, recourse_tables

_METHOD = "rocourse"
_DATASETS = ("loan", "german_credit", "student")
_BESIDE = ("rocoursenet", EXTENSION)


def flagship_jobs(scale: Scale) -> list[Job]:
    """Judgements of RoCourse, and fits of plain networks to compare accuracies with."""
    plain = [job for dataset in _DATASETS for job in _plain_fits(scale, dataset)]
    return [*seed_by_seed([_cell(scale, dataset) for dataset in _DATASETS]), *plain]


def beside_flagship_jobs(scale: Scale) -> list[Job]:
    """The stored judgements of others, with the settings that the paper's tables have for them."""
    return seed_by_seed([cell for dataset in _DATASETS for cell in _others(scale, dataset)])


def show_flagship(scale: Scale, results: Results) -> list[Part]:
    """What was to be reached, and all measures beside those of others."""
    lines = [
        FlagshipLine(
            measured(_cell(scale, dataset), results),
            [results[job]["accuracy"] for job in _plain_fits(scale, dataset) if job in results],
        )
        for dataset in _DATASETS
    ]
    beside = [
        measured(cell, results)
        for dataset in _DATASETS
        for cell in (*_others(scale, dataset), _cell(scale, dataset))
    ]
    return [flagship_table(lines), *recourse_tables(beside)]


def flagship_note(scale: Scale) -> str:
    """What to know when comparing."""
    return "RoCourse has its defaults on all sets, the others what was chosen for each."


def _cell(scale: Scale, dataset: str, method: str = _METHOD) -> Cell:
    setting = scale.settings[dataset]
    return Cell(setting.source, method, {}, tuple(range(setting.seeds)))


def _plain_fits(scale: Scale, dataset: str) -> list[Job]:
    cell = _cell(scale, dataset, BASE)
    return [job for seed in cell.seeds for job in cell.fits(seed)]


def _others(scale: Scale, dataset: str) -> list[Cell]:
    return [scale.settings[dataset].cell(method) for method in _BESIDE]
