"""Where compiled code is kept."""

import os
import subprocess
import sys

import jax
import pytest

from rocourse.models import keep_compiled_code
from rocourse.models._compilation import CACHE_VARIABLE

SETTINGS = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")


@pytest.fixture
def told(tmp_path, monkeypatch):
    """What JAX is told of where to keep compiled code, by a user whose home is `tmp_path`."""
    before = {name: getattr(jax.config, name) for name in SETTINGS}
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def ask(wish=None, *, already=None):
        monkeypatch.delenv(CACHE_VARIABLE, raising=False)
        if wish is not None:
            monkeypatch.setenv(CACHE_VARIABLE, str(wish))
        jax.config.update("jax_compilation_cache_dir", already)
        keep_compiled_code()
        return jax.config.jax_compilation_cache_dir

    yield ask
    for name, value in before.items():
        jax.config.update(name, value)


def test_it_is_told_when_models_are_imported(tmp_path):
    """In a process of its own, since here it has been told already."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JAX_", "ROCOURSE_"))
    }
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    code = "import jax, rocourse.models; print(jax.config.jax_compilation_cache_dir)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    folder = done.stdout.strip()
    assert folder.startswith(str(tmp_path))
    assert os.stat(folder).st_mode & 0o077 == 0


@pytest.mark.parametrize("wish", [None, "", "on", "TRUE"])
def test_the_users_cache_folder_is_the_default(tmp_path, told, wish):
    folder = told(wish)
    assert folder.startswith(str(tmp_path))
    assert os.stat(folder).st_mode & 0o077 == 0


def test_another_folder_can_be_named(tmp_path, told):
    wish = tmp_path / "elsewhere"
    assert told(wish) == str(wish)
    assert wish.is_dir()


@pytest.mark.parametrize(
    ("wish", "already", "expected"),
    [("off", None, None), ("0", None, None), (None, "/mine", "/mine")],
)
def test_it_can_be_turned_off_and_yields_to_jax(tmp_path, told, wish, already, expected):
    assert told(wish, already=already) == expected
    assert not (tmp_path / "cache").exists()


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, told):
    open_to_all = tmp_path / "shared"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    assert told(open_to_all) is None


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path, told):
    (tmp_path / "file").write_text("")
    assert told(tmp_path / "file" / "folder") is None
