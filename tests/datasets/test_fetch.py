import hashlib
import os

import pytest

from rocourse.datasets import _fetch, data_path, fetch, list_datasets
from rocourse.datasets._locate import storage_root
from rocourse.errors import ConfigError, DataError, FetchError

FILES = {f"year={year}.csv": f"rows of {year}\n".encode() for year in range(1994, 2010)}


@pytest.fixture
def source(server, monkeypatch):
    """A server that holds all files of the loan data, with checksums to match."""
    server.files = {f"/data/loan/{name}".replace("=", "%3D"): body for name, body in FILES.items()}
    checksums = {name: hashlib.sha256(body).hexdigest() for name, body in FILES.items()}
    monkeypatch.setattr(_fetch, "_checksums", lambda name: checksums)
    return server


def test_all_files_arrive(source, tmp_path):
    directory = fetch("loan", data_dir=tmp_path, base_url=f"{source.url}/data/")
    assert directory == tmp_path / "loan"
    for name, body in FILES.items():
        assert (directory / name).read_bytes() == body
    assert data_path("loan", data_dir=tmp_path) == directory


def test_files_that_are_there_are_kept(source, tmp_path):
    fetch("loan", data_dir=tmp_path, base_url=f"{source.url}/data")
    source.requests.clear()
    calls = []
    fetch(
        "loan",
        data_dir=tmp_path,
        base_url=f"{source.url}/data",
        progress=lambda *call: calls.append(call),
    )
    assert source.requests == []
    assert calls == [(name, len(body), len(body)) for name, body in FILES.items()]


def test_damaged_file_is_fetched_again(source, tmp_path):
    fetch("loan", data_dir=tmp_path, base_url=f"{source.url}/data")
    (tmp_path / "loan" / "year=2001.csv").write_bytes(b"damaged")
    source.requests.clear()
    fetch("loan", data_dir=tmp_path, base_url=f"{source.url}/data")
    assert source.requests == [("/data/loan/year%3D2001.csv", None)]
    assert (tmp_path / "loan" / "year=2001.csv").read_bytes() == FILES["year=2001.csv"]


@pytest.mark.parametrize("files", [["year=1999.csv"], "year=1999.csv"])
def test_only_the_named_files_are_fetched(source, tmp_path, files):
    directory = fetch("loan", data_dir=tmp_path, base_url=f"{source.url}/data", files=files)
    assert [path.name for path in directory.glob("*.csv*")] == ["year=1999.csv"]


def test_failure_keeps_what_has_arrived(source, tmp_path):
    del source.files["/data/loan/year%3D1996.csv"]
    with pytest.raises(FetchError, match="year%3D1996.csv failed because the server answered 404"):
        fetch("loan", data_dir=tmp_path, base_url=f"{source.url}/data")
    names = {path.name for path in (tmp_path / "loan").glob("year=*.csv")}
    assert names == {"year=1994.csv", "year=1995.csv"}
    with pytest.raises(DataError, match=r"incomplete: .* lacks year=1996.csv, "):
        data_path("loan", data_dir=tmp_path)


def test_wrong_checksum_leaves_no_file(source, tmp_path):
    source.files["/data/loan/year%3D1994.csv"] = b"something else"
    with pytest.raises(FetchError, match="year=1994.csv .* must have SHA-256"):
        fetch("loan", data_dir=tmp_path, base_url=f"{source.url}/data")
    assert list((tmp_path / "loan").glob("*.csv*")) == []


def test_place_that_cannot_be_written_is_reported(source, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FetchError, match="Cannot write .*file"):
        fetch("loan", data_dir=tmp_path / "file", base_url=f"{source.url}/data")


@pytest.mark.parametrize("name", [info.name for info in list_datasets() if info.name != "loan"])
def test_what_needs_no_fetching_is_refused(name):
    with pytest.raises(DataError, match=f"{name}.* nothing to fetch; use rocourse.datasets.load"):
        fetch(name)


def test_unknown_names_are_refused(source, tmp_path):
    with pytest.raises(DataError, match="got 'laon'; did you mean 'loan'"):
        fetch("laon")
    with pytest.raises(DataError, match=r"has no file 'year=1993.csv'; choose from year=1994.csv,"):
        fetch("loan", data_dir=tmp_path, files=["year=1993.csv"])


def test_address_must_be_http(tmp_path):
    with pytest.raises(ConfigError, match="base_url must be an http or https address, got 'file:"):
        fetch("loan", data_dir=tmp_path, base_url=f"file://{tmp_path}")
    assert list(tmp_path.iterdir()) == []


def test_default_place_is_the_environment_then_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("ROCOURSE_DATA", str(tmp_path))
    assert storage_root() == tmp_path
    assert storage_root(tmp_path / "given") == tmp_path / "given"
    monkeypatch.setenv("ROCOURSE_DATA", "")
    assert storage_root().parts[-2:] == ("rocourse", "data")


def test_default_address_is_pinned_to_a_commit():
    assert _fetch.BASE_URL.startswith("https://")
    assert "0a383992f90462cdc03602d6a5c02721680fe3f8" in _fetch.BASE_URL


def test_checksums_cover_all_files_of_the_set():
    checksums = _fetch._checksums("loan")
    assert list(checksums) == list(FILES)
    assert all(len(digest) == 64 for digest in checksums.values())


def test_published_files_have_the_checksums(published, monkeypatch):
    before = sorted(os.listdir(published / "loan"))
    # Nothing listens there: files that are correct need no server, and no right to write.
    assert fetch("loan", data_dir=published, base_url="http://127.0.0.1:9") == published / "loan"
    assert sorted(os.listdir(published / "loan")) == before
