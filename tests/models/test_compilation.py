"""Where compiled code is kept."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import jax, rocourse.models
print(jax.config.jax_compilation_cache_dir)
"""


def told(tmp_path, **variables):
    """What JAX is told in a fresh process whose cache folder is `tmp_path`/cache."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JAX_", "ROCOURSE_"))
    }
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_users_cache_folder_is_the_default(tmp_path):
    folder = told(tmp_path)
    assert folder.startswith(str(tmp_path))
    assert os.stat(folder).st_mode & 0o077 == 0


def test_another_folder_can_be_named(tmp_path):
    wish = tmp_path / "elsewhere"
    assert told(tmp_path, ROCOURSE_COMPILATION_CACHE=str(wish)) == str(wish)
    assert wish.is_dir()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"ROCOURSE_COMPILATION_CACHE": "off"}, "None"),
        ({"JAX_COMPILATION_CACHE_DIR": "/mine"}, "/mine"),
    ],
)
def test_it_can_be_turned_off_and_yields_to_jax(tmp_path, variables, expected):
    assert told(tmp_path, **variables) == expected
    assert not (tmp_path / "cache").exists()


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path):
    open_to_all = tmp_path / "shared"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    assert told(tmp_path, ROCOURSE_COMPILATION_CACHE=str(open_to_all)) == "None"


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path):
    (tmp_path / "file").write_text("")
    wish = str(tmp_path / "file" / "folder")
    assert told(tmp_path, ROCOURSE_COMPILATION_CACHE=wish) == "None"
