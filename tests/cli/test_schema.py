"""`rocourse schema`."""

import json
import re
import tomllib

import pytest
from tests.applicants import make_schema
from tests.command_line import refused, succeed

from rocourse.console import read_parameters
from rocourse.estimators import METHODS
from rocourse.schema import Change, Schema

CONSTRAINED = (
    "--target",
    "loan",
    "--favourable",
    "granted",
    "--immutable",
    "region",
    "--increase-only",
    "age",
)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_infer_gives_the_schema_of_the_python_interface(files, applicants, name):
    result = succeed("schema", "infer", files / name, *CONSTRAINED, "--json")
    assert Schema.from_json(result.stdout) == make_schema(applicants)


def test_infer_writes_the_schema(files, applicants, tmp_path):
    out = tmp_path / "new" / "schema.json"
    result = succeed("schema", "infer", files / "a.csv", *CONSTRAINED, "--out", out)
    assert Schema.load(out) == make_schema(applicants)
    assert "only raise it" in result.stdout
    assert str(out) in result.stdout


def test_infer_takes_all_options(files, applicants):
    result = succeed(
        "schema",
        "infer",
        files / "a.csv",
        "--target=loan",
        "--categorical=age",
        "--immutable=region, job",
        "--decrease-only=income",
        "--bounds=income=0:100",
        "--favourable=denied",
        "--json",
    )
    expected = Schema.infer(
        applicants,
        target="loan",
        categorical=["age"],
        immutable=["region", "job"],
        decrease_only=["income"],
        bounds={"income": (0, 100)},
        favourable="denied",
    )
    assert Schema.from_json(result.stdout) == expected


def test_infer_leaves_out_columns_and_knows_whole_numbers(files, applicants, tmp_path):
    path = tmp_path / "b.csv"
    applicants.assign(debt=[float(k) for k in range(len(applicants))], id=range(80)).to_csv(
        path, index=False
    )
    args = ("--drop", "id", "--drop", "loan,region", "--integer", "debt", "--json")
    schema = Schema.from_json(succeed("schema", "infer", path, *args).stdout)
    assert schema.names == ("income", "age", "job", "debt")
    assert schema["debt"].integer
    assert schema.target is None


def test_infer_takes_limits_of_change_and_shows_them(files, tmp_path):
    limits = ("--max-change=income=+20%", "--max-change=income=-5", "--max-change=age=3")
    args = (*limits, "--step=income=0.5", "--max-features=2", "--out", tmp_path / "schema.json")
    shown = succeed("schema", "infer", files / "a.csv", *args).stdout
    schema = Schema.load(tmp_path / "schema.json")
    assert schema["income"].change == Change(max_increase_share=0.2, max_decrease=5, step=0.5)
    assert schema["age"].change == Change(max_increase=3, max_decrease=3)
    assert schema.max_features == 2
    assert "by at most 3" in shown
    assert "at most 2 features" in shown


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--max-change", "income"),
        ("--max-change", "income=+a%"),
        ("--max-change", "=3"),
        ("--step", "income=big"),
    ],
)
def test_malformed_limits_are_refused(files, option, text):
    assert f"but got {text!r}" in refused("schema", "infer", files / "a.csv", option, text)


def test_open_bounds_are_open(files):
    result = succeed("schema", "infer", files / "a.csv", "--bounds", "age=:99", "--json")
    assert Schema.from_json(result.stdout)["age"].bounds == (None, 99.0)


@pytest.mark.parametrize("text", ["age", "age=18", "=1:2", "age=a:b", "age=1:2:3"])
def test_malformed_bounds_are_refused(files, text):
    assert f"but got {text!r}" in refused("schema", "infer", files / "a.csv", "--bounds", text)


def test_a_favourable_class_must_exist(files):
    args = ("--target", "loan", "--favourable", "yes")
    sentence = refused("schema", "infer", files / "a.csv", *args)
    assert "--favourable must be one of" in sentence and "'granted'" in sentence


def test_a_column_with_a_comma_in_its_name_can_be_named(applicants, tmp_path):
    path = tmp_path / "b.csv"
    applicants.rename(columns={"income": "income, net"}).to_csv(path, index=False)
    result = succeed("schema", "infer", path, "--immutable", "income, net", "--json")
    assert Schema.from_json(result.stdout)["income, net"].immutable


def test_show_gives_what_infer_wrote(files, tmp_path):
    out = tmp_path / "schema.json"
    written = succeed("schema", "infer", files / "a.csv", *CONSTRAINED, "--out", out, "--json")
    assert succeed("schema", "show", out, "--json").stdout == written.stdout
    table = succeed("schema", "show", out).stdout
    assert "full, none, part" in table and "favourable: granted" in table


def test_show_refuses_what_is_no_schema(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({"format": "other"}))
    assert "must have the format 'rocourse-schema'" in refused("schema", "show", path)


def test_quiet_prints_nothing(files, tmp_path):
    out = tmp_path / "schema.json"
    result = succeed("schema", "infer", files / "a.csv", "--out", out, "--quiet")
    assert result.output == ""
    assert out.exists()


def test_an_existing_file_needs_force(files, tmp_path):
    out = tmp_path / "schema.json"
    out.write_text("mine")
    assert "exists already" in refused("schema", "infer", files / "a.csv", "--out", out)
    assert out.read_text() == "mine"
    succeed("schema", "infer", files / "a.csv", "--out", out, "--force")
    assert Schema.load(out).names == ("income", "age", "job", "region", "loan")


def test_init_writes_a_schema_and_parameters_that_change_nothing_yet(files, applicants, tmp_path):
    out = tmp_path / "project"
    args = ("init", files / "a.csv", *CONSTRAINED, "--out", out)
    result = succeed(*args)
    assert Schema.load(out / "schema.toml") == make_schema(applicants)
    config = (out / "config.toml").read_text()
    assert tomllib.loads(config) == {"trainer": {}, "proposer": {}}
    assert f"--schema {out}/schema.toml --config {out}/config.toml" in result.stdout
    assert "already" in refused(*args)
    succeed(*args, "--force", "--quiet")


@pytest.mark.parametrize("method", METHODS)
def test_each_parameter_that_init_offers_may_be_set(files, tmp_path, method):
    succeed("init", files / "a.csv", *CONSTRAINED, "--out", tmp_path, "--method", method)
    lines = (tmp_path / "config.toml").read_text().splitlines()
    offered = [line.removeprefix("# ") if re.match(r"# \w+ = \S", line) else line for line in lines]
    config = tmp_path / "all.toml"
    config.write_text("\n".join(offered))
    estimator = METHODS[method]()
    parameters = read_parameters(config, [], known=estimator.get_params())
    assert len(parameters) > 5
    assert estimator.set_params(**parameters).get_params() == METHODS[method]().get_params()
