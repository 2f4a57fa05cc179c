"""Every block of code and every command on a page runs, or says above itself why not."""

import copy
import re

import pytest
from tests.docs.pages import PAGES, ROOT, RUN, SHOWN, blocks, name, prose
from tests.docs.world import Page, commands, copy_world, make_world, small_fits

# Followed to the letter by a test of its own.
APART = {"docs/add-a-method.md"}
UNRUN = [
    pytest.param(block, id=f"{name(page)}:{block.line}")
    for page in PAGES
    for block in blocks(page)
    if block.reason
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    return make_world(folder), folder


def runnable(page):
    return [block for block in blocks(page) if block.language in RUN and not block.reason]


@pytest.mark.parametrize(
    "page", [p for p in PAGES if runnable(p) and name(p) not in APART], ids=name
)
def test_the_blocks_of_a_page_run_one_after_the_other(page, world, tmp_path, monkeypatch):
    names, folder = world
    copy_world(folder, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    runner = Page(copy.copy(names), tmp_path)
    try:
        with small_fits():
            for block in runnable(page):
                runner.run(block, f"{name(page)}:{block.line}")
    finally:
        runner.close()


@pytest.mark.parametrize("block", UNRUN)
def test_what_is_not_run_says_why(block):
    pytest.skip(f"a block on a page is not run: {block.reason}")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is_and_no_command_hides(page):
    for block in blocks(page):
        assert block.language in (*RUN, *SHOWN), f"{name(page)}:{block.line}"
        if block.language in SHOWN:
            hidden = re.search(r"(?m)^(\$ |rocourse |make |pip |curl )", block.code)
            assert not hidden, f"{name(page)}:{block.line} holds a command; call it `sh`"
    assert not re.search(r"(?m)^ {4,}(rocourse|make|pip|curl) ", prose(page)), name(page)


def test_a_stranger_needs_ten_commands_at_most():
    page = ROOT / "docs" / "path.md"
    assert 5 <= sum(len(commands(block)) for block in blocks(page)) <= 10


def test_the_pages_are_found():
    assert len(PAGES) > 20 and ROOT / "README.md" in PAGES
