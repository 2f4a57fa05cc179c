"""Data sets with a shift between their subsets: embedded, fetched with checksums, or simulated."""

from rocourse.datasets._dataset import Dataset, DatasetInfo
from rocourse.datasets._fetch import fetch
from rocourse.datasets._registry import data_path, list_datasets, load, load_local
from rocourse.datasets._simulated import simulate_covariate_shift, simulate_label_shift

__all__ = [
    "Dataset",
    "DatasetInfo",
    "data_path",
    "fetch",
    "list_datasets",
    "load",
    "load_local",
    "simulate_covariate_shift",
    "simulate_label_shift",
]
