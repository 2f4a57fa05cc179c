import pandas as pd
import platformdirs
import pytest

import rocourse.datasets
from rocourse.datasets import data_path, list_datasets, load
from rocourse.errors import DataError
from rocourse.schema import Categorical, Continuous

HEADER = (
    "State,Term,NoEmp,NewExist,CreateJob,RetainedJob,UrbanRural,LowDoc,"
    "DisbursementGross,GrAppv,SBA_Appv,Sector_Points,Approve\n"
)
ROW = "AZ,1,32,1.0,0,0,0,N,12.072541252905651,12.072541252905651,11.78485918045387,0,1\n"


def write_years(root, *years, text=HEADER + ROW):
    directory = root / "loan"
    directory.mkdir(parents=True, exist_ok=True)
    for year in years:
        (directory / f"year={year}.csv").write_text(text)
    return directory


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A machine on which no data have been put anywhere; gives the two default places."""
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *args, **kwargs: tmp_path / "cache")
    monkeypatch.setenv("ROCOURSE_DATA", str(tmp_path / "environment"))
    return (
        tmp_path / "environment",
        tmp_path / "cache" / "data",
    )


def test_public_names():
    assert set(rocourse.datasets.__all__) == {
        "Dataset",
        "DatasetInfo",
        "data_path",
        "fetch",
        "list_datasets",
        "load",
        "load_local",
        "simulate_covariate_shift",
        "simulate_label_shift",
    }


def test_list_names_the_sets():
    assert [info.name for info in list_datasets()] == [
        "german_credit",
        "student",
        "loan",
        "simulated_covariate",
        "simulated_label",
    ]


@pytest.mark.parametrize("name", [info.name for info in list_datasets() if info.name != "loan"])
def test_loaded_set_agrees_with_its_description(name):
    (info,) = (info for info in list_datasets() if info.name == name)
    dataset = load(name)
    assert dataset.name == name
    assert tuple(dataset.subsets) == info.subsets
    assert sum(map(len, dataset.subsets.values())) == info.rows
    assert dataset.target == info.target == dataset.schema.target.name
    for frame in dataset.subsets.values():
        assert list(frame.columns) == [*dataset.schema.names, dataset.target]
    for value in (dataset.description, dataset.license, dataset.source):
        assert value


def assert_schema_is_that_of_the_union(dataset):
    union = pd.concat(dataset.subsets.values())
    for feature in dataset.schema.features:
        column = union[feature.name]
        if isinstance(feature, Continuous):
            assert (feature.low, feature.high) == (column.min(), column.max()), feature.name
            assert feature.integer == (column.dtype.kind == "i"), feature.name
        else:
            assert set(feature.categories) == set(column.unique()), feature.name
    assert set(dataset.schema.target.classes) == set(union[dataset.target].unique())


@pytest.mark.parametrize("name", [info.name for info in list_datasets() if info.name != "loan"])
def test_schema_is_that_of_the_union(name):
    assert_schema_is_that_of_the_union(load(name))


def test_schema_of_loan_is_that_of_all_years(published):
    dataset = load("loan", data_dir=published)
    assert sum(map(len, dataset.subsets.values())) == 449_152
    assert_schema_is_that_of_the_union(dataset)
    some = load("loan", subsets=("2009", "1994"), data_dir=published)
    assert list(some.subsets) == ["1994", "2009"]
    assert some.schema == dataset.schema
    assert some.subsets["1994"]["Approve"].mean() == pytest.approx(0.957, abs=5e-4)
    assert some.subsets["2009"]["Approve"].mean() == pytest.approx(0.669, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "width", "continuous"),
    [("german_credit", 19, 6), ("student", 83, 2), ("loan", 110, 7), ("simulated_label", 2, 2)],
)
def test_encoded_width_is_the_papers(name, width, continuous, tmp_path):
    if name == "loan":
        write_years(tmp_path, 1999)
        layout = load(name, subsets="1999", data_dir=tmp_path).schema.layout
    else:
        layout = load(name).schema.layout
    assert (layout.width, layout.n_continuous) == (width, continuous)


@pytest.mark.parametrize("name", [info.name for info in list_datasets() if info.name != "loan"])
def test_rows_survive_encoding_and_decoding(name):
    dataset = load(name)
    for frame in dataset.subsets.values():
        features = frame.drop(columns=dataset.target)
        decoded = dataset.schema.decode(dataset.schema.encode(features, out_of_range="error"))
        # Encoded values are float32.
        pd.testing.assert_frame_equal(decoded, features, check_dtype=False, rtol=1e-5, atol=1e-5)


def test_paper_schema_has_no_constraints_and_the_actionable_one_differs_only_in_them(tmp_path):
    write_years(tmp_path, 1999)
    loan = load("loan", subsets="1999", data_dir=tmp_path)
    for dataset in (load("german_credit"), load("student"), loan):
        assert dataset.schema.target == dataset.actionable_schema.target
        constrained = 0
        pairs = zip(dataset.schema.features, dataset.actionable_schema.features, strict=True)
        for plain, feature in pairs:
            assert not plain.immutable and plain.direction is None
            constrained += feature.immutable or feature.direction is not None
            assert feature.name == plain.name and type(feature) is type(plain)
            if isinstance(feature, Categorical):
                assert feature.categories == plain.categories and feature.labels == plain.labels
            else:
                assert (feature.low, feature.high) == (plain.low, plain.high)
        assert constrained


def test_actionable_german_credit():
    features = {
        feature.name: feature for feature in load("german_credit").actionable_schema.features
    }
    assert features["Age"].immutable
    assert features["Number people"].immutable
    assert not features["Duration"].immutable and features["Duration"].direction is None


def test_actionable_student():
    features = {feature.name: feature for feature in load("student").actionable_schema.features}
    assert features["age"].immutable
    assert all(features[name].immutable for name in ("Mjob", "Fjob", "Medu", "Fedu"))
    grade = features["G2"]
    assert grade.direction == "up"
    assert grade.categories.index("A") > grade.categories.index("F")


def test_loan_columns_have_their_types(tmp_path):
    write_years(tmp_path, 1999)
    frame = load("loan", subsets="1999", data_dir=tmp_path).subsets["1999"]
    assert frame.loc[0].to_dict()["State"] == "AZ"
    assert frame.dtypes["NewExist"] == "int64"
    assert frame.dtypes["GrAppv"] == "float64"


def test_subsets_keep_the_order_and_schema_of_the_set():
    whole = load("student")
    part = load("student", subsets=["ms"])
    assert list(part.subsets) == ["ms"]
    assert part.schema == whole.schema
    pd.testing.assert_frame_equal(part.subsets["ms"], whole.subsets["ms"])


def test_seed_chooses_the_simulation():
    first, again, other = (load("simulated_label", seed=seed) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(first.subsets["D1"], again.subsets["D1"])
    assert first.schema == again.schema
    assert not first.subsets["D1"].equals(other.subsets["D1"])


@pytest.mark.parametrize("function", [load, data_path])
def test_unknown_name_is_met_with_a_hint(function):
    with pytest.raises(DataError, match=r"got 'germna'; did you mean 'german_credit'\?$"):
        function("germna")
    with pytest.raises(DataError, match=r"^Data set must be one of german_credit, .*, got 'x'; "):
        function("x")


def test_unknown_subset_is_refused():
    with pytest.raises(
        DataError, match=r"Subset of 'student' must be one of gp, ms, got 'pg'; did"
    ):
        load("student", subsets=("gp", "pg"))
    with pytest.raises(DataError, match=r"at least one, got none; choose from gp, ms\.$"):
        load("student", subsets=())


def test_places_are_searched_in_order(nowhere):
    for place in reversed(nowhere):
        directory = write_years(place, *range(1994, 2010))
        assert data_path("loan") == directory


def test_complete_copy_is_preferred_to_a_partial_one(nowhere):
    write_years(nowhere[0], 1999)
    directory = write_years(nowhere[1], *range(1994, 2010))
    assert data_path("loan") == directory


def test_named_directory_is_the_only_one_searched(nowhere, tmp_path):
    write_years(nowhere[0], *range(1994, 2010))
    with pytest.raises(DataError) as caught:
        load("loan", data_dir=tmp_path / "mine")
    assert f"not found in {tmp_path / 'mine' / 'loan'}; call" in str(caught.value)
    assert "rocourse.datasets.fetch('loan', data_dir=" in str(caught.value)


def test_missing_data_name_the_remedy(nowhere):
    with pytest.raises(DataError) as caught:
        load("loan")
    message = str(caught.value)
    assert message.startswith("Data set 'loan' was not found in ")
    assert message.endswith("; run `rocourse data fetch loan`.")
    for place in nowhere:
        assert str(place) in message


def test_missing_years_are_named(nowhere):
    write_years(nowhere[1], 1999, 2004)
    assert list(load("loan", subsets=("1999", "2004")).subsets) == ["1999", "2004"]
    with pytest.raises(DataError, match=r"lacks year=2009.csv; run `rocourse data fetch loan`\.$"):
        load("loan", subsets=("1999", "2009"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "must be a CSV file of the loan data"),
        (HEADER + "AZ,1,32\n", "must be a CSV file of the loan data"),
        (HEADER + ROW.replace("32", "many"), "must be a CSV file of the loan data"),
        ("State,Term\nAZ,1\n", "must hold the columns of the loan data, but lacks NoEmp, "),
    ],
)
def test_damaged_file_is_refused(tmp_path, text, complaint):
    write_years(tmp_path, 1999, text=text)
    with pytest.raises(DataError) as caught:
        load("loan", subsets="1999", data_dir=tmp_path)
    message = str(caught.value)
    assert complaint in message and "year=1999.csv" in message
    assert "\n" not in message


def test_path_of_embedded_files():
    assert (data_path("german_credit") / "org.csv").is_file()


def test_simulated_sets_have_no_path():
    with pytest.raises(DataError, match="has no files of its own"):
        data_path("simulated_label")
