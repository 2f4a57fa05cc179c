"""What holds for all tests: no timing decides one, and no process takes more memory mappings than
Linux allows it. And models that many of them ask, each trained once per process."""

import gc
import os
from pathlib import Path

import jaxlib.version

# Compiling is nearly all that the tests do, and most of it is spent on making code fast that runs
# for milliseconds: on optimising it, on fusing operations well, on parts to be compiled side by
# side. `JAX_DISABLE_MOST_OPTIMIZATIONS=0 XLA_FLAGS= make test` tests it as users run it.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
# Threads of scikit-learn and PyTorch that wait for one another while all cores are busy count as
# processor time, and there is a test process a core.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A flag that XLA does not know ends the process; these are known to the versions between.
if (0, 8) <= jaxlib.version.__version_info__ < (0, 11):
    os.environ.setdefault(
        "XLA_FLAGS",
        "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1",
    )

import jax
import pytest
from hypothesis import settings
from tests.loans import fit, make_loans
from tests.skipped import in_ci, must_not_be_skipped, tell_skipped

from rocourse.estimators import METHODS, RoCourseNet

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Each compiled program takes several mappings for as long as JAX remembers it. Linux allows 65,530
# to a process; beyond, the next program that is compiled ends it without a word.
_MAPPINGS = Path("/proc/self/maps")
_MANY = 20_000


@pytest.fixture(scope="module", autouse=True)
def _few_mappings():
    """Forgets compiled programs after a module, once there are many."""
    yield
    if _MAPPINGS.exists() and _MAPPINGS.read_bytes().count(b"\n") > _MANY:
        jax.clear_caches()
        gc.collect()


# Outermost, so that nothing but the count of all tests is told after it.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    """Says in the end what was skipped and why: nothing is skipped in silence."""
    yield
    reports = terminalreporter.getreports("skipped")
    for line in tell_skipped(reports):
        terminalreporter.write_line(line, yellow=True)
    for line in must_not_be_skipped(reports) if in_ci() else ():
        terminalreporter.write_line(f"FAILED for CI=true: {line}", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """With `CI=true`, what was skipped for want of a server or a browser has failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    lacking = reporter and must_not_be_skipped(reporter.getreports("skipped"))
    if in_ci() and lacking and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def optimised():
    """Compiles as users do, for tests that search for far longer than they compile."""
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.fixture(scope="session")
def loans():
    return make_loans(400, seed=0)


@pytest.fixture(scope="session")
def graded_loans():
    return make_loans(400, seed=0, n_classes=3)


@pytest.fixture(scope="session")
def fitted(loans):
    """Fitted models of all methods by name, each made when it is first asked for."""
    models = {}

    def get(name):
        if name not in models:
            models[name] = fit(METHODS[name], loans)
        return models[name]

    return get


@pytest.fixture(scope="session")
def counternet(fitted):
    return fitted("counternet")


@pytest.fixture(scope="session")
def rocoursenet(fitted):
    return fitted("rocoursenet")


@pytest.fixture(scope="session")
def graded_rocoursenet(graded_loans):
    return fit(RoCourseNet, graded_loans, trainer__epochs=20, witnesses=2)
