"""The oracle's and the samples' jobs, run for real on a small panel."""

import pytest
from tests.experiments.reproduction.tiny import OPTIONS

from rocourse.experiments.reproduction import Cell, Source, Store, collect, run_jobs

OPTIONS_OF_PANELS = {name: value for name, value in OPTIONS.items() if name != "proposer__widths"}
PANEL = Cell(
    Source("simulated_label", ("D1", "D2"), rows=200),
    "rocourse-panel",
    {
        **OPTIONS_OF_PANELS,
        "trainer__epochs": 30,
        "trainer__learning_rate": 0.03,
        "proposer__members": 3,
    },
    seeds=(0,),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("panel"))
    jobs = [*PANEL.judges(0), *PANEL.oracles(0), PANEL.sample("D1", 0, 5)]
    outcome = run_jobs(jobs, store)
    assert not outcome.failed
    return {job: store.read(job) for job in jobs}


def test_the_oracle_convinces_the_judges_at_no_more_cost(results):
    guessed, told = collect(PANEL, results), collect(PANEL, results, Cell.oracles)
    for measure in (guessed, told):
        assert measure is not None
    robust = [r.summary().protocols["all"]["robust_validity"].mean for r in (guessed, told)]
    cost = [r.summary().protocols["all"]["proximity"].mean for r in (guessed, told)]
    assert robust[1] >= robust[0]
    assert robust[1] > 0.99
    assert cost[1] < cost[0]


def test_a_sample_is_advice_in_raw_units(results):
    applicants = results[PANEL.sample("D1", 0, 5)]["applicants"]
    assert len(applicants) == 5
    for applicant in applicants:
        assert applicant["valid"] and applicant["proximity"] > 0
        assert all(isinstance(change, str) for change in applicant["changes"])
