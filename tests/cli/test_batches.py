"""Files of many batches: `predict` and `recourse` say what they would say of the whole."""

import errno
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from rocourse.methods import RoCourseNet
from tests.applicants import TARGET, make_applicants, make_schema, trained_model
from tests.command_line import refused, run, succeed

from rocourse.artifacts import save
from rocourse.tables import _rows

# Models compute in blocks: 40 rows go into the same one as 200, so that nothing is compiled for
# these tests, and every bit of the answers must be the same.
ROWS, BATCH = 200, 40
COMMANDS = ("predict", "recourse")


@pytest.fixture(scope="module")
def applicants():
    return make_applicants(ROWS, seed=1)


@pytest.fixture(scope="module")
def model(applicants):
    """A model in whose range all rows lie."""
    header, tensors = trained_model().to_state()
    schema = make_schema(applicants)
    return RoCourseNet.from_state({**header, "schema": schema.to_dict()}, tensors)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, applicants, model):
    """A directory with the rows as `a.csv` and `a.parquet`, and the model."""
    folder = tmp_path_factory.mktemp("batches")
    applicants.to_csv(folder / "a.csv", index=False)
    applicants.to_parquet(folder / "a.parquet", index=False, row_group_size=30)
    save(model, folder / "model")
    return folder


@pytest.fixture
def batches(monkeypatch):
    monkeypatch.setattr(_rows, "BATCH_ROWS", BATCH)


def both_ways(monkeypatch, *args):
    """What a command prints for the rows at once, and for one batch after the other."""
    whole = succeed(*args)
    with monkeypatch.context() as patch:
        patch.setattr(_rows, "BATCH_ROWS", BATCH)
        return whole, succeed(*args)


def written_both_ways(monkeypatch, tmp_path, name, *args):
    """The files that a command writes for the rows at once, and batch by batch."""
    whole, parts = tmp_path / f"whole-{name}", tmp_path / f"parts-{name}"
    succeed(*args, "--out", whole)
    with monkeypatch.context() as patch:
        patch.setattr(_rows, "BATCH_ROWS", BATCH)
        succeed(*args, "--out", parts)
    return whole, parts


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("source", ["a.csv", "a.parquet"])
def test_batches_are_written_as_the_whole_is(folder, tmp_path, monkeypatch, command, source):
    args = (command, folder / "model", folder / source)
    whole, parts = written_both_ways(monkeypatch, tmp_path, "r.csv", *args)
    assert parts.read_bytes() == whole.read_bytes()
    whole, parts = written_both_ways(monkeypatch, tmp_path, "r.parquet", *args)
    pd.testing.assert_frame_equal(pd.read_parquet(parts), pd.read_parquet(whole))
    assert pq.read_schema(parts).equals(pq.read_schema(whole), check_metadata=True)
    assert pq.read_metadata(parts).num_row_groups == ROWS / BATCH


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", [[], ["--json"]], ids=["screen", "json"])
def test_batches_are_printed_as_the_whole_is(folder, monkeypatch, command, option):
    args = (command, folder / "model", folder / "a.csv", *option)
    whole, parts = both_ways(monkeypatch, *args)
    assert parts.stdout == whole.stdout
    assert parts.stderr == whole.stderr == ""
    if option:
        document = json.loads(parts.stdout)
        assert parts.stdout == json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        records = document["records" if command == "recourse" else "predictions"]
        label = "index" if command == "recourse" else "row"
        assert [record[label] for record in records] == list(range(ROWS))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_late_bad_value_is_told_by_its_row_and_leaves_nothing(
    folder, applicants, tmp_path, batches, command, suffix
):
    frame = applicants.copy()
    frame.loc[150, "job"] = "astronaut"
    data = tmp_path / f"bad.{suffix}"
    frame.to_csv(data, index=False) if suffix == "csv" else frame.to_parquet(data)
    args = (command, folder / "model", data)
    for option in ("--json", f"--out={tmp_path}/new/r.csv", f"--out={tmp_path}/new/r.parquet"):
        sentence = refused(*args, option)
        assert sentence.startswith("Rows 120 to 159: Column 'job' must hold one of")
        assert "1 row holds an unseen category (first 'astronaut' in row 150)" in sentence
    assert [path.name for path in tmp_path.iterdir()] == [data.name]


def test_a_late_odd_value_in_a_column_of_numbers_is_told_by_its_row(
    folder, applicants, tmp_path, batches
):
    frame = applicants.astype({"income": object})
    frame.loc[199, "income"] = "plenty"
    frame.to_csv(tmp_path / "bad.csv", index=False)
    sentence = refused("recourse", folder / "model", tmp_path / "bad.csv")
    assert (
        "'income' must hold numbers, but 1 row holds text (first 'plenty' in row 199)" in sentence
    )


def test_a_late_fraction_is_written_as_if_it_had_been_known_before(
    folder, applicants, tmp_path, monkeypatch
):
    data = tmp_path / "a.csv"
    whole_numbers = applicants["income"].clip(20, 80).astype(int).astype(object)
    applicants.assign(income=[*whole_numbers[:-1], 33.25]).to_csv(data, index=False)
    args = ("recourse", folder / "model", data)
    whole, parts = both_ways(monkeypatch, *args, "--json")
    assert parts.stdout == whole.stdout
    whole, parts = written_both_ways(monkeypatch, tmp_path, "r.csv", *args)
    assert parts.read_bytes() == whole.read_bytes()


@pytest.fixture
def narrow(model, applicants, tmp_path):
    """A file of rows in narrow types, of which the first need no advice."""
    granted = model.predict(applicants.drop(columns=TARGET)) == "granted"
    frame = pd.concat([applicants[granted], applicants[~granted]], ignore_index=True)
    assert granted.sum() > BATCH
    frame = frame.astype({"income": "float32", "age": "int8"})
    frame["job"] = pd.Categorical(frame["job"], categories=frame["job"].unique())
    frame["region"] = frame["region"].astype("category")
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=BATCH)
    return tmp_path / "a.parquet"


@pytest.mark.parametrize("rows", [ROWS, 2 * BATCH])
def test_types_do_not_depend_on_which_rows_are_advised(
    folder, narrow, tmp_path, monkeypatch, batches, rows
):
    pd.read_parquet(narrow).head(rows).to_parquet(tmp_path / "b.parquet")
    args = ("recourse", folder / "model", tmp_path / "b.parquet", "--out")
    succeed(*args, tmp_path / "parts.parquet")
    parts = pd.read_parquet(tmp_path / "parts.parquet")
    assert parts["income"].dtype == np.float64
    assert parts["age"].dtype == np.int8
    assert isinstance(parts["job"].dtype, pd.CategoricalDtype)
    assert isinstance(parts["region"].dtype, pd.CategoricalDtype)
    monkeypatch.undo()
    succeed(*args, tmp_path / "whole.parquet")
    whole = pd.read_parquet(tmp_path / "whole.parquet")
    pd.testing.assert_frame_equal(parts, whole, check_dtype=False)


def test_labels_of_stored_rows_are_kept(folder, applicants, tmp_path, batches):
    for labels in ([f"r{k}" for k in range(ROWS)], range(1000, 1000 + 2 * ROWS, 2)):
        applicants.set_axis(labels, axis=0).to_parquet(tmp_path / "a.parquet")
        result = succeed("recourse", folder / "model", tmp_path / "a.parquet", "--json")
        records = json.loads(result.stdout)["records"]
        assert [record["index"] for record in records] == list(labels)
        succeed(
            "predict", folder / "model", tmp_path / "a.parquet", "--out", tmp_path / "p.parquet"
        )
        assert pd.read_parquet(tmp_path / "p.parquet")["row"].tolist() == list(labels)
        (tmp_path / "p.parquet").unlink()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_without_rows_is_refused(folder, applicants, tmp_path, suffix):
    data = tmp_path / f"empty.{suffix}"
    empty = applicants.head(0)
    empty.to_csv(data, index=False) if suffix == "csv" else empty.to_parquet(data)
    for command in COMMANDS:
        sentence = refused(command, folder / "model", data, "--out", tmp_path / "r.csv")
        assert "no rows below the column names; add rows" in sentence
    assert [path.name for path in tmp_path.iterdir()] == [data.name]


@pytest.mark.filterwarnings("default")
def test_one_warning_tells_of_the_values_clipped_in_all_batches(
    folder, applicants, tmp_path, monkeypatch
):
    frame = applicants.copy()
    frame.loc[[50, 60, 190], "income"] = [500.0, 400.0, 300.0]
    frame.to_csv(tmp_path / "a.csv", index=False)
    whole, parts = both_ways(monkeypatch, "predict", folder / "model", tmp_path / "a.csv")
    assert "'income' (3 rows, first 500, range" in parts.stderr
    assert parts.stderr == whole.stderr and parts.stderr.count("\n") == 1


class Interruptions:
    """A model's method that works twice, and then fails."""

    def __init__(self, failure):
        self.failure, self.calls, self.method = failure, 0, RoCourseNet.recourse

    def __call__(self, *args, **options):
        self.calls += 1
        if self.calls > 2:
            raise self.failure
        return self.method(*args, **options)


@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
def test_an_interrupt_leaves_nothing(folder, tmp_path, monkeypatch, batches, name):
    fail = Interruptions(KeyboardInterrupt())
    monkeypatch.setattr(RoCourseNet, "recourse", lambda *args, **options: fail(*args, **options))
    result = run("recourse", folder / "model", folder / "a.csv", "--out", tmp_path / "new" / name)
    assert result.exit_code == 130
    assert result.stderr == "interrupted: no output was written\n"
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_prints_no_half_of_a_document(folder, monkeypatch, batches):
    fail = Interruptions(KeyboardInterrupt())
    monkeypatch.setattr(RoCourseNet, "recourse", lambda *args, **options: fail(*args, **options))
    result = run("recourse", folder / "model", folder / "a.csv", "--json")
    assert result.exit_code == 130 and result.stdout == ""


@pytest.mark.parametrize(
    ("name", "writer", "method"),
    [
        ("r.csv", pd.DataFrame, "to_csv"),
        ("r.parquet", pq.ParquetWriter, "write_table"),
    ],
)
def test_a_full_disk_leaves_nothing(folder, tmp_path, monkeypatch, batches, name, writer, method):
    write, calls = getattr(writer, method), []

    def fill_up(*args, **options):
        calls.append(args)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(*args, **options)

    monkeypatch.setattr(writer, method, fill_up)
    sentence = refused("predict", folder / "model", folder / "a.csv", "--out", tmp_path / name)
    assert "must be writable, but got No space left on device" in sentence
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told_to_people_on_a_terminal_only(folder, tmp_path, batches):
    args = ("predict", folder / "model", folder / "a.csv")
    told = run(*args, terminal="1").stderr
    assert f"{ROWS}/{ROWS}" in told and "rows/s" in told
    assert run(*args).stderr == ""
    for option in ("--quiet", "--json"):
        assert run(*args, option, terminal="1").stderr == ""
