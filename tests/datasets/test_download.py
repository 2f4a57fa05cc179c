import hashlib
import socket

import pytest

from rocourse.datasets._download import download, exclusive
from rocourse.errors import FetchError

BODY = bytes(range(256)) * 4096  # 1 MiB: several pieces
DIGEST = hashlib.sha256(BODY).hexdigest()


@pytest.fixture
def url(server):
    server.files["/file.csv"] = BODY
    return f"{server.url}/file.csv"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.csv"


@pytest.fixture
def part(tmp_path):
    return tmp_path / "file.csv.part"


def test_good_file_arrives_whole(url, path, part, server):
    download(url, path, sha256=DIGEST)
    assert path.read_bytes() == BODY
    assert not part.exists()
    assert server.requests == [("/file.csv", None)]


def test_progress_counts_up_to_the_size(url, path):
    calls = []
    download(url, path, sha256=DIGEST, progress=lambda *call: calls.append(call))
    assert calls[0] == ("file.csv", 0, len(BODY))
    assert calls[-1] == ("file.csv", len(BODY), len(BODY))
    assert [done for _, done, _ in calls] == sorted({done for _, done, _ in calls})


def test_file_is_not_seen_before_it_is_complete(url, path):
    seen = []
    download(url, path, sha256=DIGEST, progress=lambda *call: seen.append(path.exists()))
    assert len(seen) > 2
    assert not any(seen)


def test_truncated_body_is_reported_and_kept_for_resuming(url, path, part, server):
    server.cut_after = 300_000
    with pytest.raises(FetchError, match=r"stopped after 300000 of 1048576 bytes.* to resume\.$"):
        download(url, path, sha256=DIGEST)
    assert not path.exists()
    assert part.read_bytes() == BODY[:300_000]


def test_interrupted_download_is_resumed_by_range(url, path, part, server):
    server.cut_after = 300_000
    with pytest.raises(FetchError):
        download(url, path, sha256=DIGEST)
    server.cut_after = None
    calls = []
    download(url, path, sha256=DIGEST, progress=lambda *call: calls.append(call))
    assert server.requests == [("/file.csv", None), ("/file.csv", "bytes=300000-")]
    assert path.read_bytes() == BODY
    assert not part.exists()
    assert calls[0] == ("file.csv", 300_000, len(BODY))
    assert calls[-1] == ("file.csv", len(BODY), len(BODY))


def test_keyboard_interrupt_leaves_a_part_that_is_resumed(url, path, part, server):
    def interrupt(file, done, total):
        if done > 300_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(url, path, sha256=DIGEST, progress=interrupt)
    assert not path.exists()
    kept = part.stat().st_size
    assert 300_000 < kept < len(BODY)
    download(url, path, sha256=DIGEST)
    assert server.requests[-1] == ("/file.csv", f"bytes={kept}-")
    assert path.read_bytes() == BODY


def test_server_without_ranges_starts_again(url, path, part, server):
    part.write_bytes(b"not the beginning of the file")
    server.ranges = False
    download(url, path, sha256=DIGEST)
    assert server.requests == [("/file.csv", "bytes=29-")]
    assert path.read_bytes() == BODY


def test_range_that_begins_elsewhere_starts_again(url, path, part, server):
    part.write_bytes(BODY[:1000])
    server.range_shift = 10
    download(url, path, sha256=DIGEST)
    assert [header for _, header in server.requests] == ["bytes=1000-", None]
    assert path.read_bytes() == BODY


def test_part_longer_than_the_file_starts_again(url, path, part, server):
    part.write_bytes(BODY + b"more")
    download(url, path, sha256=DIGEST)
    assert [header for _, header in server.requests] == [f"bytes={len(BODY) + 4}-", None]
    assert path.read_bytes() == BODY


def test_complete_part_needs_no_request(url, path, part, server):
    part.write_bytes(BODY)
    download(url, path, sha256=DIGEST)
    assert server.requests == []
    assert path.read_bytes() == BODY
    assert not part.exists()


@pytest.mark.parametrize("beginning", [b"", b"of another file"])
def test_wrong_checksum_names_both_and_removes_the_part(url, path, part, beginning):
    if beginning:
        part.write_bytes(beginning)
    expected = hashlib.sha256(b"something else").hexdigest()
    with pytest.raises(FetchError) as caught:
        download(url, path, sha256=expected)
    got = hashlib.sha256(beginning + BODY[len(beginning) :]).hexdigest()
    message = str(caught.value)
    assert "file.csv" in message and expected in message and got in message
    assert not path.exists()
    assert not part.exists()


def test_wrong_checksum_leaves_an_older_file_alone(url, path):
    path.write_bytes(b"older")
    with pytest.raises(FetchError, match="must have SHA-256"):
        download(url, path, sha256="0" * 64)
    assert path.read_bytes() == b"older"


def test_body_without_length_arrives_whole(url, path, server):
    server.chunked = True
    calls = []
    download(url, path, sha256=DIGEST, progress=lambda *call: calls.append(call))
    assert path.read_bytes() == BODY
    assert calls[-1] == ("file.csv", len(BODY), None)


def test_truncated_body_without_length_is_reported(url, path, part, server):
    server.chunked, server.cut_after = True, 300_000
    with pytest.raises(FetchError, match=r"bytes \(the connection closed early\); .* to resume\.$"):
        download(url, path, sha256=DIGEST)
    assert not path.exists()
    server.cut_after = None
    download(url, path, sha256=DIGEST)
    assert path.read_bytes() == BODY


def test_http_error_is_reported(server, path):
    with pytest.raises(FetchError, match="absent.csv failed because the server answered 404"):
        download(f"{server.url}/absent.csv", path, sha256=DIGEST)
    assert not path.exists()


def test_refused_connection_is_reported(path, server):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/file.csv"
        with pytest.raises(FetchError, match="connection refused"):
            download(url, path, sha256=DIGEST)


def test_silent_server_is_reported(path, server):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file.csv"
        with pytest.raises(FetchError, match=r"connection \(timed out\)"):
            download(url, path, sha256=DIGEST, timeout=0.1)


def test_unwritable_place_is_reported(url, path, part):
    part.mkdir()
    with pytest.raises(FetchError, match=r"Cannot write .*file.csv.part \(is a directory\)"):
        download(url, path, sha256=DIGEST)


def test_full_disk_is_reported_and_the_download_resumed(url, path, server):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A limit on the size of files stands in for the end of the disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
    try:
        with pytest.raises(FetchError, match=r"Cannot write .*file.csv.part \(file too large\)"):
            download(url, path, sha256=DIGEST)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not path.exists()
    download(url, path, sha256=DIGEST)
    assert server.requests[-1] == ("/file.csv", "bytes=300000-")
    assert path.read_bytes() == BODY


def test_second_process_is_turned_away(tmp_path):
    with exclusive(tmp_path):
        with pytest.raises(FetchError, match="Another process is downloading"):
            with exclusive(tmp_path):
                pass
    with exclusive(tmp_path):
        pass
