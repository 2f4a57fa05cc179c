"""Rows, advice and models in an object store: as on a disk, and what it refuses in one sentence."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pandas as pd
import pytest
from tests.applicants import make_applicants, trained_model, untrained_model
from tests.command_line import refused, run, succeed

from rocourse import load, save
from rocourse._files import new_file
from rocourse._places import _connected, place
from rocourse.errors import ArtifactError, StoreError
from rocourse.tables import _rows, read_table

pytest.importorskip("moto", reason="moto is not installed (rocourse[test])")
ROWS, BATCH = 90, 30


@pytest.fixture(scope="module")
def server():
    """The address of a server that answers as S3 does, with a bucket."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        with suppress(URLError, ConnectionError):
            urlopen(Request(f"{address}/bucket", method="PUT")).close()
            break
        assert process.poll() is None, "moto's server has ended"
        time.sleep(0.1)
    yield address
    process.terminate()
    process.wait()


@pytest.fixture
def store(server, monkeypatch, request):
    """An empty folder in the bucket, as the environment has it reached."""
    reach(server, monkeypatch)
    return place(f"s3://bucket/{request.node.name}")


def reach(address, monkeypatch):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "desk")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    _connected.cache_clear()


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder on disk with a model, and rows in files and folders."""
    folder = tmp_path_factory.mktemp("rows")
    frame = make_applicants(ROWS, seed=1)
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_parquet(folder / "a.parquet", index=False)
    for number in (0, 1):
        part = frame[:50] if number == 0 else frame[50:]
        (folder / "parts").mkdir(exist_ok=True)
        part.to_parquet(folder / "parts" / f"{number}.parquet", index=False)
    save(trained_model(), folder / "model")
    return folder


def upload(folder, there):
    """The same files in the store."""
    for path in folder.rglob("*.*"):
        if path.is_file():
            (there / str(path.relative_to(folder))).put(path)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "parts"])
def test_answers_are_the_same_byte_for_byte(here, store, tmp_path, monkeypatch, name):
    monkeypatch.setattr(_rows, "BATCH_ROWS", BATCH)
    upload(here, store)
    for command in ("recourse", "predict", "certify"):
        out = f"{command}.csv"
        told = succeed(command, here / "model", here / name, "--out", tmp_path / out).stdout
        said = succeed(command, store / "model", store / name, "--out", store / out).stdout
        assert said == told.replace(str(tmp_path), str(store))
        assert (store / out).read_bytes() == (tmp_path / out).read_bytes()
    pd.testing.assert_frame_equal(read_table(store / name), read_table(here / name))


@pytest.mark.filterwarnings("default::rocourse.schema.ClippedWarning")
def test_a_model_is_trained_and_evaluated_there(here, store):
    upload(here, store)
    rows, out = store / "a.csv", store / "trained"
    target = ("--target=loan", "--favourable=granted")
    settings = ("--set=trainer.epochs=1", "--set=trainer.encoder_widths=[4]", "--json", "--quiet")
    succeed("train", rows, *target, "--method=counternet", "--out", out, *settings)
    assert "must be new" in refused("train", rows, *target, "--out", out)
    args = ("evaluate", store / "model", rows, "--against", out, "--reference", rows, "--json")
    told = json.loads(succeed(*args).stdout)
    assert set(told["scores"]["protocols"]["all"]["judged"]) == {str(out)}
    assert load(out).digest_ != load(store / "model").digest_


def test_a_model_is_replaced_and_told_from_another_folder(store):
    first, second = untrained_model(), trained_model()
    assert str(save(first, store / "model")) == str(store / "model")
    save(second, store / "model", force=True)
    assert load(store / "model").digest_ == second.digest_ != first.digest_
    (store / "model" / "weights.safetensors").unlink()
    with pytest.raises(ArtifactError, match="must hold a readable weights"):
        load(store / "model")
    with pytest.raises(ArtifactError, match="nothing is there"):
        load(store / "other")


def test_a_model_whose_header_did_not_arrive_is_none(store, monkeypatch):
    monkeypatch.setattr("rocourse._files.write_file", cut_off)
    with pytest.raises(KeyboardInterrupt):
        save(trained_model(), store / "model")
    with pytest.raises(ArtifactError, match="must hold a readable model.json"):
        load(store / "model")


def cut_off(path, content, *, force):
    """Writes a file, unless it is a model's header."""
    if path.name == "model.json":
        raise KeyboardInterrupt
    with new_file(path, force=force) as file:
        file.write(content)


def test_a_folder_is_written_part_by_part_and_gone_on_with(here, store, monkeypatch, tmp_path):
    monkeypatch.setattr(_rows, "BATCH_ROWS", BATCH)
    args = ("recourse", here / "model", here / "a.csv", "--json", "--out")
    # Processes of their own write the parts.
    first = succeed(*args, store / "parts", "--jobs=2")
    succeed(*args, tmp_path / "parts")
    parts = {path.name: path.read_bytes() for path in (tmp_path / "parts").iterdir()}
    written = {path.name: path for path in (store / "parts").iterdir()}
    assert {name: path.read_bytes() for name, path in written.items()} == parts
    written["part-000001.parquet"].unlink()
    # One that is there is not written again.
    written["part-000000.parquet"].put(tmp_path / "parts" / "part-000002.parquet")
    again = succeed(*args, store / "parts")
    assert json.loads(again.stdout)["rows"] == json.loads(first.stdout)["rows"]
    assert written["part-000001.parquet"].read_bytes() == parts["part-000001.parquet"]
    assert written["part-000000.parquet"].read_bytes() == parts["part-000002.parquet"]
    assert "tells of others" in refused(*args, store / "parts", "--options=2")
    succeed(*args, store / "parts", "--force")
    assert written["part-000000.parquet"].read_bytes() == parts["part-000000.parquet"]


def test_what_is_not_complete_does_not_appear(here, store):
    with pytest.raises(RuntimeError, match="halfway"), new_file(store / "a.csv") as file:
        file.write(b"name\n")
        raise RuntimeError("halfway")
    assert not (store / "a.csv").exists()
    frame = make_applicants(4)
    frame.loc[3, "job"] = "astronaut"
    with new_file(store / "bad.csv") as file:
        frame.to_csv(file, index=False)
    args = ("recourse", here / "model", store / "bad.csv", "--out", store / "r.csv")
    assert "must hold one of" in refused(*args)
    assert [path.name for path in store.iterdir()] == ["bad.csv"]


def test_what_is_not_there_is_said(here, store, tmp_path):
    model, rows = here / "model", here / "a.csv"
    assert refused("predict", model, store / "b.csv").endswith("there is none; check the path.")
    assert "nothing is there" in refused("predict", store / "model", rows)
    out = refused("predict", model, rows, "--out", "s3://nowhere/p.csv")
    assert "must lie in a bucket that is there, but there is no 's3://nowhere'" in out
    succeed("predict", model, rows, "--out", store / "p.csv")
    assert "must be new" in refused("predict", model, rows, "--out", store / "p.csv")
    assert "must end in .csv or .parquet" in refused("predict", model, store / "a.txt")
    (store / "broken.parquet").put(rows)
    assert "export it again" in refused("predict", model, store / "broken.parquet")


class _Refusing(BaseHTTPRequestHandler):
    """Answers as S3 does to those whom it does not know."""

    def do_HEAD(self):
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT = do_POST = do_HEAD

    def log_message(self, *_):
        """Says nothing."""


def test_refused_credentials_are_one_sentence(here, tmp_path, monkeypatch):
    refusing = ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    threading.Thread(target=refusing.serve_forever, daemon=True).start()
    reach(f"http://127.0.0.1:{refusing.server_port}", monkeypatch)
    for args in (
        ("predict", here / "model", "s3://bucket/a.csv"),
        ("predict", "s3://bucket/model", here / "a.csv"),
        ("predict", here / "model", here / "a.csv", "--out", "s3://bucket/p.csv"),
        ("predict", here / "model", here / "a.csv", "--out", "s3://bucket/parts"),
    ):
        sentence = refused(*args)
        assert sentence.startswith("The object store must give access to 's3://bucket/")
        assert "ACCESS_DENIED" in sentence and "check the address, the credentials" in sentence
    refusing.shutdown()
    refusing.server_close()


def test_paths_of_a_disk_are_paths(monkeypatch):
    for text in ("a.csv", "/a/b", "s3:/a", "s3", "http://a/b", "c:\\a"):
        assert place(text) == Path(text)
    path = place("s3://bucket/a b/c.csv")
    assert (str(path), path.name, path.suffix) == ("s3://bucket/a b/c.csv", "c.csv", ".csv")
    assert place(path) is path and path.absolute() is path
    assert str(path.bucket / "d") == "s3://bucket/d"
    result = run("predict", "--help")
    assert "DATA" in result.stdout and "MODEL" in result.stdout


def test_an_address_that_no_store_has_is_refused(monkeypatch):
    _connected.cache_clear()
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT", raising=False)
    with pytest.raises(StoreError, match="'abfs://container/a.csv', but it answers: .*account"):
        place("abfs://container/a.csv").exists()
