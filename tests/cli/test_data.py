"""`rocourse data`."""

import hashlib
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.command_line import refused, run, succeed

from rocourse import datasets


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A local server with a loan set of a few bytes, and the checksums that go with it."""
    content = b"state,paid\nCA,1\n"
    info = next(info for info in datasets.list_datasets() if info.name == "loan")
    files = [f"year={year}.csv" for year in info.subsets]
    folder = tmp_path / "mirror" / "loan"
    folder.mkdir(parents=True)
    for file in files:
        (folder / file).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(
        "rocourse.datasets._fetch._checksums", lambda _: dict.fromkeys(files, digest)
    )

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder.parent))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_list_names_all_data_sets():
    names = [info.name for info in datasets.list_datasets()]
    text = succeed("data", "list").stdout
    assert all(name in text for name in names)
    document = json.loads(succeed("data", "list", "--json").stdout)
    assert [record["name"] for record in document] == names
    assert succeed("data", "list", "--quiet").output == ""


def test_path_prints_where_the_files_are():
    expected = str(datasets.data_path("german_credit"))
    assert succeed("data", "path", "german_credit").stdout == f"{expected}\n"
    document = json.loads(succeed("data", "path", "german_credit", "--json").stdout)
    assert document == {"name": "german_credit", "path": expected}


def test_path_of_an_unknown_data_set_is_refused():
    assert "did you mean 'german_credit'?" in refused("data", "path", "german_credits")


def test_fetch_downloads_and_says_where_to(mirror, tmp_path):
    target = tmp_path / "data"
    result = succeed("data", "fetch", "loan", "--dir", target, "--base-url", mirror, "--json")
    assert json.loads(result.stdout) == {"name": "loan", "path": str(target / "loan")}
    assert len(list((target / "loan").glob("year=*.csv"))) == 16
    assert result.stderr.splitlines()[-1].startswith("file 16/16")
    again = succeed("data", "fetch", "loan", "--dir", target, "--base-url", mirror, "--quiet")
    assert again.output == ""


def test_fetch_of_what_ships_with_the_package_is_refused():
    assert "nothing to fetch" in refused("data", "fetch", "student")


def test_an_interrupted_fetch_says_how_to_go_on(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets, "fetch", interrupted)
    result = run("data", "fetch", "loan")
    assert result.exit_code == 130
    assert result.stderr == "interrupted: run the same command again to resume\n"
