"""The data sets by name."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rocourse._wording import closest
from rocourse.datasets import _german_credit, _loan, _student
from rocourse.datasets._dataset import Dataset, DatasetInfo
from rocourse.datasets._locate import Location, embedded, find_directory
from rocourse.datasets._simulated import (
    COVARIATE_INFO,
    LABEL_INFO,
    simulate_covariate_shift,
    simulate_label_shift,
)
from rocourse.errors import DataError
from rocourse.schema import Schema

__all__ = ["data_path", "get_info", "list_datasets", "load"]


@dataclass(frozen=True)
class _Stored:
    """A data set that is read, not generated."""

    info: DatasetInfo
    schema: Schema
    actionable_schema: Schema


_STORED = {
    module.INFO.name: _Stored(module.INFO, module.SCHEMA, module.ACTIONABLE_SCHEMA)
    for module in (_german_credit, _student, _loan)
}
_SIMULATED = {
    COVARIATE_INFO.name: simulate_covariate_shift,
    LABEL_INFO.name: simulate_label_shift,
}
_INFOS = {
    info.name: info
    for info in (*(stored.info for stored in _STORED.values()), COVARIATE_INFO, LABEL_INFO)
}


def list_datasets() -> tuple[DatasetInfo, ...]:
    """All data sets that `load` knows."""
    return tuple(_INFOS.values())


def get_info(name: str) -> DatasetInfo:
    """What is known of the data set `name`."""
    if name not in _INFOS:
        raise DataError(_unknown("Data set", name, _INFOS))
    return _INFOS[name]


def load(
    name: str,
    *,
    subsets: Collection[str] | None = None,
    seed: int = 0,
    data_dir: Location | None = None,
) -> Dataset:
    """Loads a data set.

    Whatever subsets are asked for, the schema is that of the union of all of them, so that models
    of different subsets share one encoded space.

    Args:
        name: One of the names in `list_datasets()`.
        subsets: Only these subsets, such as `("1999", "2004")` or `"1999"`. By default all.
        seed: Seed of a simulated data set; others do not use it.
        data_dir: For data sets of kind `download`: the files are in `<data_dir>/<name>`. By default
            they are looked for below the directory named by the environment variable
            `ROCOURSE_DATA`, then where `fetch` puts them.

    Raises:
        DataError: The data set or a subset is not known, or its files are missing or damaged.
    """
    info = get_info(name)
    if isinstance(subsets, str):
        subsets = (subsets,)
    for subset in subsets or ():
        if subset not in info.subsets:
            raise DataError(_unknown(f"Subset of {name!r}", subset, info.subsets))
    wanted = [subset for subset in info.subsets if subsets is None or subset in subsets]
    if not wanted:
        raise DataError(
            f"Subsets of {name!r} must name at least one, got none; "
            f"choose from {', '.join(info.subsets)}."
        )
    if name in _SIMULATED:
        drawn = _SIMULATED[name](seed=seed)
        stored = _Stored(info, drawn.schema, drawn.actionable_schema)
        frames = {subset: drawn.subsets[subset] for subset in wanted}
    else:
        stored = _STORED[name]
        frames = _read(stored, wanted, data_dir)
    return Dataset(
        name=name,
        schema=stored.schema,
        actionable_schema=stored.actionable_schema,
        subsets=frames,
        target=info.target,
        description=info.description,
        license=info.license,
        source=info.source,
    )


def load_local(name: str, subsets: Collection[str]) -> dict[str, pd.DataFrame]:
    """The tables of a folder of the user's, `<ROCOURSE_DATA>/<name>/<subset>.csv`, by subset.

    Raises:
        DataError: They are not there.
    """
    files = {subset: f"{subset}.csv" for subset in subsets}
    try:
        directory = find_directory(name, list(files.values()))
    except DataError:
        raise DataError(
            f"The tables of {name!r} must lie in a folder of that name, {', '.join(files.values())}"
            ", but were not found; name the folder that holds it by ROCOURSE_DATA."
        ) from None
    return {subset: pd.read_csv(directory / file) for subset, file in files.items()}


def data_path(name: str, *, data_dir: Location | None = None) -> Path:
    """The directory that holds the files of a data set.

    Raises:
        DataError: The data set is not known, has no files, or has not been fetched.
    """
    info = get_info(name)
    if info.kind == "download":
        files = [_loan.file_name(subset) for subset in info.subsets]
        return find_directory(name, files, data_dir)
    folder = embedded(name)
    if info.kind == "simulated" or not isinstance(folder, Path):
        raise DataError(
            f"Data set {name!r} has no files of its own; use rocourse.datasets.load({name!r})."
        )
    return folder


def _read(
    stored: _Stored, subsets: Collection[str], data_dir: Location | None
) -> dict[str, pd.DataFrame]:
    name = stored.info.name
    if stored.info.kind == "download":
        files = {subset: _loan.file_name(subset) for subset in subsets}
        directory = find_directory(name, list(files.values()), data_dir)
        return {subset: _loan.read(directory / file) for subset, file in files.items()}
    frames = {}
    for subset in subsets:
        with (embedded(name) / f"{subset}.csv").open("rb") as stream:
            frames[subset] = pd.read_csv(stream)
    return frames


def _unknown(what: str, name: str, known: Collection[str]) -> str:
    # There are few, and people leave out half of a name.
    meant = closest(name, known, likeness=0.5)
    hint = "choose one of them." if meant is None else f"did you mean {meant!r}?"
    return f"{what} must be one of {', '.join(known)}, got {name!r}; {hint}"
