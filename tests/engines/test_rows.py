"""Commands about rows say the same wherever they are answered, and go on where they stopped."""

import json
import os
import signal
from itertools import count

import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.applicants import make_applicants, trained_model, untrained_model
from tests.clusters import start_cluster
from tests.command_line import refused, run, succeed
from tests.versions import as_told

from rocourse.artifacts import StoredModel, save
from rocourse.console import _requests
from rocourse.engines import ProcessPool, _spread
from rocourse.engines._ray import RayPool
from rocourse.tables import _rows

cluster = pytest.fixture(scope="module")(start_cluster)
ROWS, BATCH = 120, 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A directory with a model, and rows in files and folders."""
    folder = tmp_path_factory.mktemp("rows")
    frame = make_applicants(ROWS, seed=1)
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_parquet(folder / "a.parquet", index=False)
    for suffix in ("csv", "parquet"):
        parts = folder / f"{suffix}s"
        parts.mkdir()
        (parts / "_SUCCESS").touch()
        for number, part in enumerate((frame[:50], frame[50:])):
            if suffix == "csv":
                part.to_csv(parts / f"{number}.csv", index=False)
            else:
                part.to_parquet(parts / f"{number}.parquet", index=False)
    save(trained_model(), folder / "model")
    return folder


@pytest.fixture(autouse=True)
def batches(monkeypatch):
    monkeypatch.setattr(_rows, "BATCH_ROWS", BATCH)


@pytest.fixture
def engine(cluster):
    """A cluster, whose processes live as long as the tests: those of a machine are started anew."""
    return ("--engine=ray",)


@pytest.mark.parametrize("command", ["recourse", "predict", "certify"])
@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
def test_files_are_the_same_byte_for_byte(folder, tmp_path, engine, command, name):
    args = (command, folder / "model", folder / "a.parquet", "--json")
    here = succeed(*args, "--out", tmp_path / f"here-{name}")
    there = succeed(*args, "--out", tmp_path / f"there-{name}", *engine)
    assert there.stdout == here.stdout
    written = [(tmp_path / f"{where}-{name}").read_bytes() for where in ("here", "there")]
    assert written[0] == written[1]


def test_what_is_printed_is_the_same(folder, engine):
    args = ("recourse", folder / "model", folder / "a.csv")
    here = succeed(*args).stdout
    assert succeed(*args, *engine).stdout == here
    assert succeed(*args, "--jobs=2").stdout == here


@pytest.mark.filterwarnings("default::rocourse.schema.ClippedWarning")
def test_an_evaluation_is_the_same(folder, tmp_path, engine, monkeypatch):
    frame = pd.read_csv(folder / "a.csv")
    frame.loc[0, "income"] += 1000.0
    frame.to_csv(tmp_path / "a.csv", index=False)
    save(untrained_model(seed=3), tmp_path / "judge")
    args = ("evaluate", folder / "model", tmp_path / "a.csv", "--against", tmp_path / "judge")
    args = (*args, "--reference", folder / "a.csv", "--by=job", "--json")

    def told(*more):
        result = succeed(*args, *more)
        document = json.loads(result.stdout, parse_float=as_told)
        del document["scores"]["seconds_per_recourse"]
        return document, result.stderr

    whole = told()
    monkeypatch.setattr(_spread, "BATCH_ROWS", BATCH)
    blocks = told()
    assert blocks[0] == whole[0] and "clipped in 'income' (1 row" in blocks[1]
    assert told("--jobs=2") == told(*engine) == blocks


def test_an_evaluation_says_which_rows_are_bad(folder, tmp_path, engine, monkeypatch):
    monkeypatch.setattr(_spread, "BATCH_ROWS", BATCH)
    frame = pd.read_csv(folder / "a.csv")
    frame.loc[70, "job"] = "astronaut"
    frame.to_csv(tmp_path / "bad.csv", index=False)
    sentence = refused("evaluate", folder / "model", tmp_path / "bad.csv", *engine)
    assert sentence.startswith("Rows 60 to 89: Column 'job' must hold one of")
    told = run("evaluate", folder / "model", tmp_path / "bad.csv", "--period=job", *engine)
    assert told.exit_code == 2 and "leave out --engine and --jobs" in told.stderr


def test_wishes_of_each_row_go_with_it(folder, tmp_path, engine):
    wishes = [{"lock": ["income"]} if row % 3 else None for row in range(ROWS)]
    (tmp_path / "wishes.json").write_text(json.dumps(wishes))
    args = ("recourse", folder / "model", folder / "a.csv", "--json")
    args = (*args, "--wishes", tmp_path / "wishes.json")
    assert succeed(*args, *engine).stdout == succeed(*args).stdout


def test_bad_rows_are_told_by_their_number_and_leave_nothing(folder, tmp_path, engine):
    frame = pd.read_csv(folder / "a.csv")
    frame.loc[70, "job"] = "astronaut"
    frame.to_csv(tmp_path / "bad.csv", index=False)
    args = ("recourse", folder / "model", tmp_path / "bad.csv")
    sentence = refused(*args, "--out", tmp_path / "r.csv", *engine)
    assert sentence.startswith("Rows 60 to 89: Column 'job' must hold one of")
    assert sentence == refused(*args, "--out", tmp_path / "r.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.filterwarnings("default::rocourse.schema.ClippedWarning")
def test_warnings_reach_the_one_who_asked(folder, tmp_path, engine):
    frame = pd.read_csv(folder / "a.csv")
    frame["income"] += 1000.0
    frame.to_csv(tmp_path / "rich.csv", index=False)
    args = ("recourse", folder / "model", tmp_path / "rich.csv")
    here, there = succeed(*args), succeed(*args, *engine)
    assert "clipped in 'income' (120 rows" in here.stderr and there.stderr == here.stderr


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_of_files_is_one_table(folder, tmp_path, kind):
    whole = ("recourse", folder / "model", folder / f"a.{kind}")
    parts = ("recourse", folder / "model", folder / f"{kind}s")
    assert succeed(*parts).stdout == succeed(*whole).stdout
    for args, name in ((whole, "whole.csv"), (parts, "parts.csv")):
        succeed(*args, "--out", tmp_path / name)
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_files_of_a_folder_that_differ_are_refused(folder, tmp_path):
    frame = make_applicants(4)
    (tmp_path / "empty").mkdir()
    assert "it holds none" in refused("predict", folder / "model", tmp_path / "empty")
    for kind in ("csv", "parquet"):
        (tmp_path / kind).mkdir()
        for number, part in enumerate((frame, frame.rename(columns={"job": "task"}))):
            path = tmp_path / kind / f"{number}.{kind}"
            part.to_csv(path, index=False) if kind == "csv" else part.to_parquet(path)
        sentence = refused("predict", folder / "model", tmp_path / kind)
        assert f"1.{kind}' must have the columns of the other files" in sentence
        assert "task" in sentence and "stands where 'job" in sentence
    (tmp_path / "csv" / "0.csv").rename(tmp_path / "parquet" / "2.csv")
    assert "both .csv and .parquet" in refused("predict", folder / "model", tmp_path / "parquet")


@pytest.mark.parametrize("command", ["recourse", "predict"])
def test_a_folder_is_written_part_by_part(folder, tmp_path, engine, command):
    args = (command, folder / "model", folder / "a.csv")
    succeed(*args, "--out", tmp_path / "whole.parquet")
    parts = tmp_path / "parts"
    first = succeed(*args, "--out", parts, "--json", *engine)
    names = [f"part-00000{number}.parquet" for number in range(ROWS // BATCH)]
    assert sorted(path.name for path in parts.iterdir()) == ["_SUCCESS", "_plan.json", *names]
    read = pd.concat([pd.read_parquet(parts / name) for name in names], ignore_index=True)
    pd.testing.assert_frame_equal(read, pd.read_parquet(tmp_path / "whole.parquet"))
    # What was stopped goes on: parts that are there are left as they are.
    (parts / names[1]).unlink()
    kept = {name: (parts / name).stat().st_mtime_ns for name in names if name != names[1]}
    again = succeed(*args, "--out", parts, "--json", *engine)
    assert again.stdout == first.stdout
    assert {name: (parts / name).stat().st_mtime_ns for name in kept} == kept
    assert pq.read_table(parts / names[1]).num_rows == BATCH


WAYS = {"processes": ("--jobs=2",), "ray": ("--engine=ray",)}


@pytest.mark.parametrize(("name", "pool"), [("processes", ProcessPool), ("ray", RayPool)])
def test_what_is_interrupted_on_one_engine_goes_on_on_the_other(
    folder, tmp_path, cluster, monkeypatch, name, pool
):
    args = ("recourse", folder / "model", folder / "a.csv")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    succeed(*args, "--out", whole)
    turns, wait = count(), pool.wait

    def interrupted(self):
        if next(turns) == 2:
            raise KeyboardInterrupt
        return wait(self)

    with monkeypatch.context() as patched:
        patched.setattr(pool, "wait", interrupted)
        assert run(*args, "--out", parts, *WAYS[name]).exit_code == 130
    assert not (parts / "_SUCCESS").exists()
    kept = {path: path.stat().st_mtime_ns for path in parts.glob("part-*")}
    assert 2 <= len(kept) <= ROWS // BATCH
    for path in kept:
        assert path.read_bytes() == (whole / path.name).read_bytes()
    [other] = WAYS.keys() - {name}
    succeed(*args, "--out", parts, *WAYS[other])
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    for path in whole.iterdir():
        assert (parts / path.name).read_bytes() == path.read_bytes()


def test_parts_of_something_else_are_refused_and_replaced_by_force(folder, tmp_path):
    args = ("recourse", folder / "model", folder / "a.csv")
    out = tmp_path / "parts"
    succeed(*args, "--out", out)
    for other in (("--lock=income",), ("--options=2",)):
        assert "_plan.json tells of others" in refused(*args, *other, "--out", out)
    succeed(*args, "--lock=income", "--out", out, "--force")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").touch()
    assert "holds other files" in refused(*args, "--out", tmp_path / "mine", "--force")


def test_a_model_travels_as_its_files(folder, tmp_path):
    import pickle
    import shutil

    shutil.copytree(folder / "model", tmp_path / "model")
    stored = StoredModel(tmp_path / "model")
    assert stored() is stored()
    shutil.rmtree(tmp_path / "model")
    again = pickle.loads(pickle.dumps(stored))
    assert again().digest_ == stored().digest_ and again() is not stored()


def test_a_worker_that_is_killed_leaves_no_trace(folder, tmp_path, cluster, monkeypatch):
    mark = tmp_path / "mark"
    monkeypatch.setattr(
        _requests.AdviceRequest,
        "__reduce__",
        lambda request: (unpack, (mark, type(request), request.__dict__)),
    )
    args = ("recourse", folder / "model", folder / "a.csv")
    there = succeed(*args, "--out", tmp_path / "there.csv", "--engine=ray")
    assert mark.exists()
    monkeypatch.undo()
    monkeypatch.setattr(_rows, "BATCH_ROWS", BATCH)
    assert (
        there.stdout.replace("there", "here")
        == succeed(*args, "--out", tmp_path / "here.csv").stdout
    )
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


def unpack(mark, kind, fields):
    """Ends the first process that unpacks a request."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return kind(**fields)


def test_an_address_goes_with_ray():
    result = run("recourse", "model", "rows.csv", "--address=auto")
    assert result.exit_code == 2 and "--address goes with --engine ray" in result.stderr
