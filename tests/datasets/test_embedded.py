"""The embedded sets against the files that the paper's authors published, and their own claims."""

from collections import Counter
from importlib import resources

import pandas as pd
import pytest
from tests.versions import TEXT

from rocourse.datasets import load

SUBSETS = [("german_credit", "org"), ("german_credit", "upt"), ("student", "gp"), ("student", "ms")]


def rows(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    return list(frame.itertuples(index=False, name=None))


@pytest.mark.parametrize(("name", "subset"), SUBSETS)
def test_rows_are_those_of_the_published_file(published, name, subset):
    theirs = pd.read_csv(published / name / f"{subset}.csv")
    theirs = theirs.rename(columns={"GoodCustomer (label)": "GoodCustomer"})
    ours = load(name).subsets[subset]
    assert list(ours.columns) == list(theirs.columns)
    # The published files are shuffled, all but one.
    assert Counter(rows(ours)) == Counter(rows(theirs))
    if subset == "org":
        assert rows(ours) == rows(theirs)


@pytest.mark.parametrize(
    ("name", "subset", "count", "favourable"),
    [
        ("german_credit", "org", 1000, 700),
        ("german_credit", "upt", 1000, 700),
        ("student", "gp", 423, 146),
        ("student", "ms", 226, 48),
    ],
)
def test_size_and_label_rate(name, subset, count, favourable):
    dataset = load(name)
    frame = dataset.subsets[subset]
    assert len(frame) == count
    assert frame[dataset.target].sum() == favourable


@pytest.mark.parametrize(("name", "subset"), SUBSETS)
def test_numbers_are_whole_and_nothing_is_missing(name, subset):
    frame = load(name).subsets[subset]
    assert not frame.isna().any(axis=None)
    kinds = {dtype.kind for dtype in frame.dtypes if dtype != TEXT}
    assert kinds == {"i"}


def test_correction_of_german_credit_is_a_relabelling_but_for_ten_cells():
    subsets = load("german_credit").subsets
    recoded = subsets["org"].assign(
        **{
            "Status": lambda frame: frame["Status"].map({1: 4, 2: 1, 3: 2, 4: 3}),
            "History": lambda frame: frame["History"].map({0: 3, 1: 4, 2: 0, 3: 2, 4: 1}),
            "Number people": lambda frame: 3 - frame["Number people"],
        }
    )
    before, after = Counter(rows(recoded)), Counter(rows(subsets["upt"]))
    gone, new = sorted((before - after).elements()), sorted((after - before).elements())
    cells = [
        sum(a != b for a, b in zip(*pair, strict=True)) for pair in zip(gone, new, strict=True)
    ]
    assert cells == [1] * 10


def test_attribution_travels_with_the_data():
    text = (resources.files("rocourse.datasets") / "embedded" / "ATTRIBUTION.md").read_text("utf-8")
    for word in ("CC BY 4.0", "Hofmann", "Grömping", "Cortez", "Silva", "Changes"):
        assert word in text
    for name, subset in SUBSETS:
        assert f"{name}/{subset}.csv" in text


def test_each_load_gives_rows_of_its_own():
    frame = load("student").subsets["gp"]
    frame["age"] = 0
    assert load("student").subsets["gp"]["age"].min() == 15
