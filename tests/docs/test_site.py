"""The site builds without a warning: pages are in the navigation, links lead somewhere."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest
from tests.docs.pages import PAGES, ROOT, name
from tests.test_public_api import PUBLIC

import rocourse

WORDS_BEFORE = 21_000
README_LINES = 110
NO_NETWORK = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, with notebooks as they are stored."""
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | NO_NETWORK | {"NO_MKDOCS_2_WARNING": "1"}
    environment |= {"PYTHONPATH": str(ROOT / "src")}
    environment.pop("ROCOURSE_RUN_NOTEBOOKS", None)
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert built.returncode == 0, built.stderr[-3000:]
    return folder


def test_every_public_name_is_in_the_reference(site):
    index = (site / "reference" / "index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r"<code>(\w+)</code></a>", index))
    assert set(rocourse.__all__) - {"__version__"} <= linked
    pages = [path.read_text(encoding="utf-8") for path in (site / "reference").glob("*.html")]
    shown = set(re.findall(r'id="(rocourse\.[\w.]+)"', "".join(pages)))
    for room, names in PUBLIC.items():
        if room not in ("rocourse", "rocourse.console"):
            assert {f"{room}.{each}" for each in names} <= shown, room


def test_nothing_is_fetched_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"', text)
        assert not fetched, f"{page.name}: {fetched}"


def test_links_of_the_readme_lead_somewhere():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?://)([^)#]+)", text):
            assert (ROOT / target).exists(), f"{name(page)}: {target}"


def test_the_pages_have_fewer_words_than_they_had_and_the_readme_is_short():
    spec = importlib.util.spec_from_file_location("words", ROOT / "docs" / "site" / "words.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    counted = module.words()
    assert set(counted) < {page.name for page in PAGES}
    assert sum(counted.values()) < WORDS_BEFORE, "run `make words` and cut"
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES
