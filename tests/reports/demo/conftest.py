"""A result by hand: one method that promises, one that does worse than silence by one judge."""

import json
from dataclasses import replace

import pytest

from rocourse import datasets
from rocourse.experiments._demo_records import lender_schema
from rocourse.reports.demo import Change, DemoResult, MethodRun, SampleRecourse, Verdicts

KINDS = ("committee", "network", "boosting", "logistic")


def told(kept, unchanged) -> dict[str, Verdicts]:
    """The same verdicts by two models of every kind."""
    return {kind: Verdicts((kept - 0.02, kept + 0.02), (unchanged, unchanged)) for kind in KINDS}


ROCOURSE = MethodRun(
    name="rocourse",
    title="RoCourse",
    own="committee",
    stated=0.95,
    accuracy=0.75,
    refused=50,
    promised=40,
    unsure=6,
    told={**told(0.97, 0.3), "boosting": Verdicts((0.9, 0.92), (0.4, 0.4))},
    unsure_told=told(0.8, 0.1),
    proximity=2.25,
    unusual=0.0,
    most_asked="Duration 12 months",
    most_asked_share=0.2,
)
COUNTERNET = MethodRun(
    name="counternet",
    title="CounterNet",
    own="network",
    stated=None,
    accuracy=0.72,
    refused=60,
    promised=0,
    unsure=58,
    told={**told(0.85, 0.35), "logistic": Verdicts((0.4, 0.42), (0.5, 0.5))},
    unsure_told={},
    proximity=1.5,
    unusual=0.9,
    most_asked="Credit amount 250 DM",
    most_asked_share=0.88,
)
SAMPLE = SampleRecourse(
    applicant=17,
    values={
        "Duration": 48,
        "Credit amount": 6000,
        "Installment rate": 4,
        "Age": 35,
        "Existing credits": 2,
        "Number people": 1,
        "Present residence": 2,
        "Status": 2,
        "History": 1,
    },
    changes=(
        Change("Duration", 48, 24, "Duration: 48 → 24 months"),
        Change("Status", 2, 4, "Status: balance below 0 DM → balance of 200 DM or more"),
    ),
    promised=True,
    chance=0.96,
    kept=8,
    unchanged=1,
    proximity=2.3,
)


@pytest.fixture(scope="package")
def result() -> DemoResult:
    return DemoResult(
        command="rocourse demo --seed 0",
        created="2026-01-02T03:04:05+00:00",
        seed=0,
        seconds=20.0,
        cpu_seconds=30.0,
        versions={"rocourse": "0", "python": "3.11"},
        dataset="german_credit",
        source="somebody",
        license="CC BY 4.0",
        schema=lender_schema(datasets.load("german_credit")),
        customers=700,
        corrected=350,
        applicants=200,
        judges=2,
        methods=(ROCOURSE, COUNTERNET),
        samples=(SAMPLE,),
    )


@pytest.fixture
def record(result) -> dict:
    return json.loads(json.dumps(result.to_dict()))


@pytest.fixture
def nothing_promised(result) -> DemoResult:
    silent = replace(
        ROCOURSE,
        promised=0,
        unsure=46,
        told={},
        proximity=None,
        unusual=None,
        most_asked=None,
        most_asked_share=None,
    )
    return replace(result, methods=(silent, COUNTERNET), samples=())
