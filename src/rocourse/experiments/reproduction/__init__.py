"""Every table and figure of the paper, from small jobs whose results are kept as JSON.

An entry of the registry is a name, a title, a function from the scale to jobs, and a function from
their results to tables and pictures. Jobs are told apart by a digest of their inputs, so that
entries share them, an interrupted run goes on where it was, and nothing is computed twice.
"""

from rocourse.experiments.reproduction._jobs import Cell, Job, Search, Source, seed_by_seed
from rocourse.experiments.reproduction._registry import ALL, REGISTRY, Entry, find_entries
from rocourse.experiments.reproduction._results import Results, collect
from rocourse.experiments.reproduction._run import reproduce, write_report
from rocourse.experiments.reproduction._scales import SCALES, Scale, Setting, find_scale
from rocourse.experiments.reproduction._schedule import Advance, Outcome, run_jobs
from rocourse.experiments.reproduction._store import Store

__all__ = [
    "ALL",
    "REGISTRY",
    "SCALES",
    "Advance",
    "Cell",
    "Entry",
    "Job",
    "Outcome",
    "Results",
    "Scale",
    "Search",
    "Setting",
    "Source",
    "Store",
    "collect",
    "find_entries",
    "find_scale",
    "reproduce",
    "run_jobs",
    "seed_by_seed",
    "write_report",
]
