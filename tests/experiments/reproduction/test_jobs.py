"""Jobs: told apart by what they depend on, and by nothing else."""

import pickle

import pytest
from tests.experiments.reproduction.tiny import CELL, cell

from rocourse.errors import ConfigError
from rocourse.estimators import METHODS
from rocourse.experiments.reproduction import REGISTRY, SCALES, Cell, Job, Source, find_entries
from rocourse.experiments.reproduction._jobs import as_parameters


def test_digest_is_what_it_was_when_results_were_stored():
    # A change here makes every result on disk unfindable: raise VERSION if it is meant.
    job = Job("fit", {"dataset": "student", "subset": "GP", "seed": 0, "method": "counternet"})
    assert job.digest == "7e7fbca392c900eb1870c1be534ec0bb671e39022eb3c6f24b85577880d6f11c"
    assert job.name == f"fit-{job.digest[:16]}"


def test_order_and_tuples_make_no_difference():
    one = Job("fit", {"dataset": "d", "options": {"a": (1, 2), "b": 0.5}})
    other = Job("fit", {"options": {"b": 0.5, "a": [1, 2]}, "dataset": "d"})
    assert one == other and len({one, other}) == 1
    assert pickle.loads(pickle.dumps(one)) == other


@pytest.mark.parametrize(
    "other",
    [
        CELL.fit("D2", 0),
        CELL.fit("D1", 1),
        cell(trainer__epochs=2).fit("D1", 0),
        Cell(Source("simulated_label", ("D1", "D2")), "counternet", CELL.options, (0,)).fit(
            "D1", 0
        ),
        Job("judge", CELL.fit("D1", 0).inputs),
    ],
    ids=["subset", "seed", "options", "rows", "kind"],
)
def test_whatever_decides_the_result_decides_the_digest(other):
    assert other != CELL.fit("D1", 0)


def test_a_fit_does_not_depend_on_the_other_subsets_but_a_judgement_does():
    years = [
        Cell(Source("loan", subsets), "counternet", {}, (0,))
        for subsets in (("1999", "2004"), ("1999", "2004", "2009"))
    ]
    assert years[0].fit("1999", 0) == years[1].fit("1999", 0)
    assert years[0].judge("1999", 0) != years[1].judge("1999", 0)


def test_what_json_has_not_is_refused():
    with pytest.raises(ConfigError, match="values that JSON has.*object"):
        Job("fit", {"options": {"generator": object()}})


@pytest.mark.parametrize("scale", SCALES.values(), ids=lambda scale: scale.name)
@pytest.mark.parametrize("entry", REGISTRY.values(), ids=lambda entry: entry.name)
def test_every_entry_asks_for_jobs_with_options_that_methods_take(entry, scale):
    jobs = entry.jobs(scale)
    assert jobs
    checked = set()
    for job in jobs:
        for fit in job.needs or (job,):
            method = fit.inputs.get("method", "rocourse-panel")
            for options in fit.inputs.get("candidates", {"": fit.inputs.get("options")}).values():
                if (method, str(options)) not in checked:
                    checked.add((method, str(options)))
                    METHODS[method](**as_parameters(options)).check_parameters()


def test_names_are_found_and_unknown_ones_refused():
    assert find_entries(["all"]) == [entry for entry in REGISTRY.values() if not entry.ours]
    names = [entry.name for entry in find_entries(["table-framework", "table-main"])]
    assert names == ["table-main", "table-framework"]
    with pytest.raises(ConfigError, match="experiment must be one of .*got 'table-man'"):
        find_entries(["table-main", "table-man"])
