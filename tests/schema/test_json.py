"""The written form of a schema: exact, versioned and strict."""

import json

import pytest
from hypothesis import given
from tests.strategies import schemas

from rocourse.errors import OutputError, SchemaError
from rocourse.schema import Categorical, Continuous, Schema, Target, _json, _toml

SCHEMA = Schema(
    (
        Continuous(
            "Duration",
            4,
            72,
            integer=True,
            direction="down",
            bounds=(0, 84.5),
            unit="months",
            missing="impute",
            fill=24,
        ),
        Continuous(
            "Since",
            "2015-01-31",
            "2020-12-31",
            integer=True,
            bounds=("2010-01-01", None),
            unit="days",
            date=True,
            missing="drop",
        ),
        Categorical(
            "Housing",
            ("own", "rent"),
            immutable=True,
            labels=("owner", "tenant"),
            missing="category",
        ),
    ),
    Target("Paid", (False, True), True),
    ignored=("Notes",),
    id="Number",
)
WRITTEN = {
    "format": "rocourse-schema",
    "version": 2,
    "features": [
        {
            "name": "Duration",
            "kind": "continuous",
            "low": 4,
            "high": 72,
            "integer": True,
            "immutable": False,
            "direction": "down",
            "bounds": [0.0, 84.5],
            "unit": "months",
            "missing": "impute",
            "fill": 24,
        },
        {
            "name": "Since",
            "kind": "continuous",
            "low": "2015-01-31",
            "high": "2020-12-31",
            "integer": True,
            "immutable": False,
            "direction": None,
            "bounds": ["2010-01-01", None],
            "unit": "days",
            "date": True,
            "missing": "drop",
        },
        {
            "name": "Housing",
            "kind": "categorical",
            "categories": ["own", "rent"],
            "immutable": True,
            "direction": None,
            "labels": ["owner", "tenant"],
            "missing": "category",
        },
    ],
    "target": {"name": "Paid", "classes": [False, True], "favourable": True},
    "ignored": ["Notes"],
    "id": "Number",
}


def test_written_form_is_the_documented_one():
    assert json.loads(SCHEMA.to_json()) == WRITTEN == SCHEMA.to_dict()
    assert Schema.from_dict(WRITTEN) == SCHEMA


@given(schemas(messy=True))
def test_round_trip_is_exact(schema):
    again = Schema.from_json(schema.to_json())
    assert again == schema
    assert again.digest() == schema.digest()
    # Equality would let True pass for 1 and 1 for 1.0.
    assert repr(again) == repr(schema)


def test_version_1_is_read_as_it_was_meant():
    features = [
        {"name": "x", "kind": "continuous", "low": 0, "high": 1, "unit": "m"},
        {"name": "k", "kind": "categorical", "categories": ["a", "b"], "labels": None},
    ]
    old = {"format": "rocourse-schema", "version": 1, "features": features, "target": None}
    assert Schema.from_dict(old) == Schema(
        [Continuous("x", 0, 1, unit="m"), Categorical("k", ("a", "b"))]
    )
    # What says nothing new is written as before, and has the digest that it had.
    assert Schema.from_dict(old).to_dict()["version"] == 1


def test_defaults_may_be_left_out():
    short = {
        "format": "rocourse-schema",
        "version": 1,
        "features": [{"name": "x", "kind": "continuous", "low": 0, "high": 1}],
    }
    assert Schema.from_dict(short) == Schema([Continuous("x", 0, 1)])


def test_digest_tells_schemas_apart_and_not_their_spelling():
    def make(**options):
        return Schema([Continuous("x", **{"low": 0, "high": 1, **options})]).digest()

    assert make() == make(low=0.0, bounds=[None, None])
    different = [make(), make(high=2), make(integer=True), make(direction="up"), make(unit="m")]
    assert len(set(different)) == len(different)
    assert len(make()) == 64


def changed(**top):
    return json.dumps({**WRITTEN, **top})


def with_feature(**keys):
    feature = {"name": "x", "kind": "continuous", "low": 0, "high": 1, **keys}
    return changed(features=[{k: v for k, v in feature.items() if v != "left out"}])


BAD_TEXTS = {
    "no JSON": ("{", "must be JSON, but line 1, column 2 is not"),
    "empty": ("", "must be JSON, but line 1, column 1 is not"),
    "no object": ("[]", "must be a JSON object, but got []"),
    "no format": ("{}", "format 'rocourse-schema', but got None"),
    "another format": (changed(format="model"), "format 'rocourse-schema', but got 'model'"),
    "another version": (changed(version=3), "must have format version 1 or 2, but got 3"),
    "no version": (changed(version=None), "must have format version 1 or 2, but got None"),
    "unknown key": (
        changed(note="hi"),
        "keys than 'features', 'format', 'id', 'ignored', 'max_features', 'missing_codes', ",
    ),
    "no features": (
        json.dumps({"format": "rocourse-schema", "version": 1}),
        "The schema must have the key 'features', but got only 'format', 'version'",
    ),
    "features no list": (changed(features={}), "features must be a list, but got {}"),
    "feature no object": (changed(features=["x"]), "Feature 1 of the schema must be a JSON object"),
    "features empty": (changed(features=[]), "at least one feature"),
    "unknown feature key": (
        with_feature(imutable=True),
        "Feature 'x' must have no other keys than 'bounds', 'change', 'date', 'direction', 'fill', "
        "'high', 'immutable', 'integer', 'kind', 'low', 'missing', 'name', 'unit', 'written', "
        "but got 'imutable' (did you mean 'immutable'?)",
    ),
    "key of the other kind": (with_feature(labels=["a"]), "but got 'labels'"),
    "missing key": (with_feature(low="left out"), "Feature 'x' must have the key 'low'"),
    "missing name": (with_feature(name="left out"), "Feature 1 of the schema must have the key 'n"),
    "unknown kind": (with_feature(kind="ordinal"), "kind must be 'continuous' or 'categorical'"),
    "NaN": (with_feature(low=float("nan")), "must hold finite numbers, but got NaN"),
    "infinity": (with_feature(bounds=[None, float("inf")]), "finite numbers, but got Infinity"),
    "number beyond float": (
        with_feature().replace('"high": 1', '"high": 1e999'),
        "Feature 'x': high must be finite, but got inf",
    ),
    "text for a number": (with_feature(low="0"), "Feature 'x': low must be a number, but got '0'"),
    "number for a flag": (with_feature(integer=1), "integer must be True or False, but got 1"),
    "null for a flag": (with_feature(immutable=None), "immutable must be True or False, but got N"),
    "key given twice": (
        changed().replace('"version": 2', '"version": 2, "version": 2'),
        "Keys of a schema must be unique, but got 'version' twice",
    ),
    "ignored no list": (changed(ignored="Notes"), "ignored must be a list of column names"),
    "ignored feature": (changed(ignored=["Since"]), "neither feature nor target, but 'Since' is"),
    "id no text": (changed(id=7), "must be named by text, but got 7"),
    "text that is no date": (with_feature(date=True, low="soon"), "low must be a number, but got"),
    "fill that is no category": (
        changed(
            features=[{"name": "k", "kind": "categorical", "categories": ["a", "b"], "fill": "c"}]
        ),
        "fill must be one of the categories 'a', 'b', but got 'c'",
    ),
    "unknown word for gaps": (with_feature(missing="guess"), "missing must be one of 'error', 'i"),
    "category of numbers": (with_feature(missing="category"), "missing must be 'error', 'impute' "),
    "target no object": (
        changed(target="Paid"),
        "target must be a JSON object or null, but got 'P",
    ),
    "target without classes": (changed(target={"name": "y"}), "must have the key 'classes'"),
    "nested category": (
        changed(features=[{"name": "k", "kind": "categorical", "categories": [["a"], "b"]}]),
        "must be text, numbers or flags, but got ['a'] (list)",
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_anything_unexpected_is_refused_in_one_sentence(text, message, assert_sentence):
    with pytest.raises(SchemaError) as caught:
        Schema.from_json(text)
    assert message in str(caught.value)
    assert_sentence(caught.value)


def test_file_round_trip(tmp_path):
    SCHEMA.save(tmp_path / "schema.json")
    assert Schema.load(tmp_path / "schema.json") == SCHEMA
    assert Schema.load(str(tmp_path / "schema.json")) == SCHEMA
    assert [path.name for path in tmp_path.iterdir()] == ["schema.json"]


@given(schemas())
def test_a_schema_goes_through_toml(schema):
    assert Schema(*_json.from_dict(_toml.parse(schema.to_toml()))) == schema


def test_a_file_ending_in_toml_is_for_people(tmp_path, assert_sentence):
    path = tmp_path / "schema.toml"
    path.write_text(SCHEMA.to_toml({"Housing": "A remark."}))
    assert Schema.load(path) == SCHEMA
    text = path.read_text()
    assert '# A remark.\nname = "Housing"' in text
    # Every line that is offered may be taken.
    offered = text.replace("# max_features = 3", "max_features = 3")
    path.write_text(offered.replace("# change = ", "change = "))
    taken = Schema.load(path)
    assert taken.max_features == 3 and taken["Duration"].change.max_decrease_share == 0.5
    # As TOML has dates, and no bound on one side.
    path.write_text(text.replace('bounds = ["2010-01-01", inf]', "bounds = [2010-01-01, inf]"))
    assert Schema.load(path) == SCHEMA
    for broken, message in (("low =", "must be TOML"), ("low = nan #", "must hold numbers")):
        path.write_text(text.replace("low = 4", broken))
        with pytest.raises(SchemaError, match=message) as caught:
            Schema.load(path)
        assert_sentence(caught.value)


def test_existing_file_is_replaced_only_on_request(tmp_path, assert_sentence):
    path = tmp_path / "schema.json"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists already") as caught:
        SCHEMA.save(path)
    assert_sentence(caught.value)
    assert path.read_text() == "mine"
    SCHEMA.save(path, force=True)
    assert Schema.load(path) == SCHEMA


def test_path_that_cannot_be_written_is_reported(tmp_path, assert_sentence):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="'.*file/schema.json' must") as caught:
        SCHEMA.save(tmp_path / "file" / "schema.json")
    assert_sentence(caught.value)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="must be"):
        SCHEMA.save(tmp_path / "folder", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_folders_are_made_as_for_models(tmp_path):
    SCHEMA.save(tmp_path / "new" / "schema.json")
    assert Schema.load(tmp_path / "new" / "schema.json") == SCHEMA


def test_file_that_cannot_be_read_is_reported(tmp_path, assert_sentence):
    path = tmp_path / "schema.json"
    with pytest.raises(SchemaError, match=r"schema\.json' must be readable, but got No such file"):
        Schema.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match=r"schema\.json' must be text in UTF-8") as caught:
        Schema.load(path)
    assert_sentence(caught.value)
    path.write_text(changed(version=9))
    with pytest.raises(SchemaError, match=r"json' cannot be used: .* version 1 or 2, but got 9"):
        Schema.load(path)
