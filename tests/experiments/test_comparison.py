"""Comparisons: stored cell by cell, never computed twice, tables from JSON alone."""

import json
from dataclasses import replace

import pytest
from rocourse.methods import METHODS

from rocourse.errors import ArtifactError, ConfigError
from rocourse.experiments import (
    COMPARISONS,
    Comparison,
    ComparisonCell,
    Setting,
    Variant,
    as_markdown,
    comparison_rows,
    find_comparison,
    protocol_tables,
    read_comparison,
    run_comparison,
)

QUICK = {
    "encoder_widths": (8, 4),
    "head_widths": (4,),
    "generator_widths": (8,),
    "batch_size": 512,
    "epochs": 1,
}
TINY = Comparison(
    "tiny",
    "A comparison for the tests.",
    settings=(Setting("label", "simulated_label", options=QUICK),),
    variants=(Variant("plain", "counternet"),),
    seeds=2,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("comparison")
    run_comparison(TINY, out)
    return out


def test_each_cell_is_one_file_with_all_parameters_and_versions(folder):
    (path,) = folder.iterdir()
    record = json.loads(path.read_text("utf-8"))
    assert path.name == "label--plain.json"
    assert record["options"]["encoder_widths"] == [8, 4]
    assert record["options"]["lambda_3"] == METHODS["counternet"]().lambda_3
    assert [run["seed"] for run in record["result"]["runs"]] == [0, 1]
    assert {"python", "jax", "rocourse"} <= set(record["versions"])


def test_stored_cell_is_not_computed_again(folder, monkeypatch):
    monkeypatch.setitem(METHODS, "counternet", None)
    cells = run_comparison(TINY, folder)
    assert [cell.variant for cell in cells] == ["plain"]


def test_table_has_a_row_a_cell_with_mean_and_spread(folder):
    (cell,) = read_comparison(TINY, folder)
    header, row = comparison_rows([cell])
    values = dict(zip(header, row, strict=True))
    summary = cell.result.summary().protocols["all"]["robust_validity"]
    assert values["variant"] == "plain"
    assert values["robust validity"] == f"{summary.mean:.3f} ± {summary.std:.3f}"
    lines = as_markdown([header, row]).splitlines()
    assert len(lines) == 3
    assert {line.count("|") for line in lines} == {len(header) + 1}


def test_measures_that_no_stored_result_has_get_no_column(folder):
    (cell,) = read_comparison(TINY, folder)
    header, row = comparison_rows([cell])
    values = dict(zip(header, row, strict=True))
    distance = cell.result.summary().protocols["adverse"]["neighbour_distance"]
    assert values["adverse: neighbour distance"].startswith(f"{distance.mean:.3f} ± ")
    record = cell.to_dict()
    for run in record["result"]["runs"]:
        run["version"] = 1
        for subset in run["subsets"]:
            for scores in subset["scores"]["protocols"].values():
                for name in ("unchanged", "unchanged_validity", "neighbour_distance", "inliers"):
                    del scores[name]
    old = ComparisonCell.from_dict(record)
    header, row = comparison_rows([old])
    assert not {"unchanged", "neighbour distance", "inliers"} & set(header)
    assert len(header) == len(row) == 10
    header, *rows = comparison_rows([old, cell])
    assert [line[header.index("inliers")] == "–" for line in rows] == [True, False]


def test_cell_of_another_format_is_refused(tmp_path):
    (tmp_path / "label--plain.json").write_text('{"format": "other", "version": 9}')
    with pytest.raises(ArtifactError, match="format .*rocourse-comparison.* got .*other"):
        read_comparison(TINY, tmp_path)


def test_comparison_is_cut_down_to_what_is_named():
    cut = find_comparison("robustness", ["student"], ["rocoursenet-edit"])
    assert [setting.name for setting in cut.settings] == ["student"]
    assert [variant.name for variant in cut.variants] == ["rocoursenet-edit"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "experiment must be one of .*got 'nothing'"),
        (("robustness", ["moon"]), "data set must be one of .*got 'moon'"),
        (("robustness", [], ["magic"]), "variant must be one of .*got 'magic'"),
    ],
)
def test_unknown_names_are_refused(arguments, message):
    with pytest.raises(ConfigError, match=message):
        find_comparison(*arguments)


def test_every_variant_has_options_that_its_method_takes():
    for comparison in COMPARISONS.values():
        for setting in comparison.settings:
            for variant in comparison.variants:
                options = {**setting.options_for(variant.method), **variant.options}
                METHODS[variant.method](**options).check_parameters()


def test_protocol_tables_hold_every_measure_and_the_papers_figures(folder):
    (cell,) = read_comparison(TINY, folder)
    renamed = replace(cell, setting="student", method="roar")
    tables = dict(protocol_tables([renamed, cell]))
    everyone, refused, models = tables.values()
    header, ours, other = everyone
    found = dict(zip(header, ours, strict=True))
    assert (found["paper: validity"], found["robust"]) == ("0.967", "0.820")
    assert other[-1] == "–", "the paper has no such data set"
    summary = cell.result.summary()
    assert found["validity"].startswith(f"{summary.protocols['all']['validity'].mean:.3f}")
    adverse = dict(zip(*refused[:2], strict=True))
    assert adverse["proximity"].startswith(f"{summary.protocols['adverse']['proximity'].mean:.3f}")
    speed = dict(zip(*models[:2], strict=True))["ms a recourse"]
    assert float(speed) == pytest.approx(1e3 * summary.model["seconds_per_recourse"].mean, abs=1e-3)
