"""`rocourse check`, and the look that train and schema infer take."""

import json

import numpy as np
import pytest
from tests.applicants import TARGET, make_applicants
from tests.command_line import refused, run, succeed

from rocourse.artifacts import load
from rocourse.schema import Schema

STATED = ("--target=loan", "--favourable=granted")
QUICK = ("--method=vanillacf", "--set=trainer.epochs=2", "--set=trainer.encoder_widths=8,4")


@pytest.fixture
def messy(tmp_path):
    """A table with an id, a constant and attributes that are protected."""
    frame = make_applicants(200)
    frame.insert(0, "customer_id", [f"K{k}" for k in range(len(frame))])
    frame["bank"] = "ours"
    path = tmp_path / "messy.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_page_for_people_and_a_document_for_machines(messy, tmp_path):
    page = succeed("check", messy, *STATED, "--html", tmp_path / "check.html").stdout
    assert "200 rows × 7 columns; 2 errors, 1 warning" in page
    assert page.index("error") < page.index("warning  protected")
    assert "--fix safe takes what is safe: --drop customer_id,bank --immutable age" in page
    html = (tmp_path / "check.html").read_text()
    assert "customer_id" in html and "safe to fix" in html
    result = succeed("check", messy, *STATED, "--json")
    data = json.loads(result.stdout)
    assert data["format"] == "rocourse-check" and result.stderr == ""
    assert [f["kind"] for f in data["findings"]][:2] == ["id", "constant"]


def test_names_in_the_page_are_text(tmp_path):
    frame = make_applicants(60).rename(columns={"age": "age <script>"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    succeed("check", tmp_path / "a.csv", *STATED, "--html", tmp_path / "c.html", "--quiet")
    page = (tmp_path / "c.html").read_text()
    assert "age &lt;script&gt;" in page and "<script>" not in page


def test_errors_stop_training_and_inference_in_a_sentence(messy, tmp_path):
    for command in (("train", messy, "--out", tmp_path / "m"), ("schema", "infer", messy)):
        sentence = refused(*command, *STATED)
        assert "'customer_id' is an id (200 different values in 200 rows)" in sentence
        assert "--drop customer_id" in sentence and "(1 more: rocourse check" in sentence
    assert not (tmp_path / "m").exists()


def test_safe_fixes_are_taken_and_told_line_by_line(messy, tmp_path):
    out = tmp_path / "m"
    result = succeed("train", messy, *STATED, "--fix=safe", *QUICK, "--out", out)
    told = result.stderr.splitlines()
    assert told[:3] == [
        "fixed: 'customer_id' left out (id)",
        "fixed: 'bank' left out (constant)",
        "fixed: 'age' made immutable (protected)",
    ]
    assert "People will be told how to become loan = granted." in result.stdout
    schema = load(out).schema_
    assert schema.names == ("income", "age", "job", "region") and schema["age"].immutable
    written = tmp_path / "s.json"
    succeed("schema", "infer", messy, *STATED, "--fix=safe", "--out", written)
    assert Schema.load(written) == schema
    assert succeed("check", messy, *STATED, "--fix=safe").stdout.count("fixed: ") == 3
    assert (
        run("train", messy, *STATED, "--fix=safe", "--schema", written, "--out", "x").exit_code == 2
    )


def test_what_was_said_is_not_said_again(messy):
    dropped = (*STATED, "--drop=customer_id,bank")
    assert "warning: 'age' looks like" in succeed("schema", "infer", messy, *dropped).stderr
    for said in ("--immutable=age", "--increase-only=age"):
        assert succeed("schema", "infer", messy, *dropped, said).stderr == ""
    insisted = succeed(
        "schema", "infer", messy, *STATED, "--drop=bank", "--categorical=customer_id"
    )
    assert "'customer_id'" not in insisted.stderr


def test_an_unclear_target_is_refused_with_the_option(tmp_path):
    frame = make_applicants().rename(columns={TARGET: "deny"})
    frame["deny"] = np.where(frame["deny"] == "denied", "yes", "no")
    frame.to_csv(tmp_path / "a.csv", index=False)
    sentence = refused("train", tmp_path / "a.csv", "--target=deny", "--out", tmp_path / "m")
    assert "'no' (40 rows), 'yes' (40 rows)" in sentence and "--favourable no" in sentence
    args = ("--target=deny", "--favourable=yes", "--immutable=age")
    result = succeed("schema", "infer", tmp_path / "a.csv", *args)
    assert "deny = yes, which looks like what nobody wants" in result.stderr


def test_gaps_are_on_the_page(tmp_path):
    frame = make_applicants(200)
    number = next(name for name in frame if frame[name].dtype.kind in "if" and name != TARGET)
    frame.loc[:29, number] = np.nan
    path = tmp_path / "gaps.csv"
    frame.to_csv(path, index=False)
    told = json.loads(succeed("check", path, *STATED, "--json").stdout)["findings"]
    assert [one["counts"] for one in told if one["kind"] == "missing"] == [{number: 30}]
