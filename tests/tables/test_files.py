"""Tables in files: what can be wrong with them, and that values survive; tables of advice."""

import csv

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.applicants import TARGET, make_applicants, untrained_model

from rocourse.errors import DataError, OutputError
from rocourse.schema import Schema
from rocourse.tables import even_size, new_table, open_table, read_table, recourse_table


def read_batches(path, *, size, columns=None, **options):
    table = open_table(path, size=size, **options)
    batches = list(table.read(list(table.columns) if columns is None else columns))
    assert table.rows == sum(map(len, batches))
    assert all(len(batch) == size for batch in batches[:-1])
    return batches


def refusal(path, **options):
    """The sentence that a file is refused with, whole and in batches."""
    with pytest.raises(DataError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    with pytest.raises(DataError) as caught:
        read_batches(path, size=2, **options)
    assert str(caught.value) == message
    assert repr(str(path)) in message
    assert message.endswith(".") and "; " in message and "\n" not in message
    return message


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "T.CSV"])
def test_what_is_written_is_read_again_exactly(tmp_path, name):
    frame = pd.DataFrame(
        {
            "number": [0.1 + 0.2, 1e-300, -1.0],
            "count": [1, 2, 2**53],
            "text": ["a,b", 'say "x"', "Ärger\n"],
            "flag": [True, False, True],
        }
    )
    with new_table(tmp_path / name, force=False) as write:
        write(frame[:2])
        write(frame[2:])
    pd.testing.assert_frame_equal(read_table(tmp_path / name), frame)
    for size in (1, 2, 3, 4):
        batches = read_batches(tmp_path / name, size=size, text=["text"])
        pd.testing.assert_frame_equal(pd.concat(batches), frame)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty file"),
        (b"\n\n", "an empty file"),
        (b"a,b\n", "no rows below the column names"),
        (b"a,b\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        (b'a,b\n1,"2\n', "EOF inside string"),
        (b"a,b\n1,2,3\n4,5,6\n", "rows with more fields than the header"),
        (b"a,b\n\xff\xfe,2\n", "bytes that are no UTF-8 text"),
    ],
)
def test_a_malformed_csv_file_is_refused(tmp_path, content, words):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert words in refusal(path)


def test_repeated_column_names_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,a\n1,2,3\n")
    assert "got 'a' more than once" in refusal(path)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    assert "got 'a' more than once" in refusal(path)


def test_a_damaged_parquet_file_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 and no more")
    assert "but got another one" in refusal(path)


def test_a_parquet_file_without_rows_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": pd.Series([], dtype=float)}).to_parquet(path)
    assert "no rows" in refusal(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert "there is none" in refusal(tmp_path / "t.csv")
    (tmp_path / "d.csv").mkdir()
    assert "it holds none" in refusal(tmp_path / "d.csv")
    assert "must end in .csv or .parquet, but it ends in '.txt'" in refusal(tmp_path / "t.txt")


def test_the_mark_of_spreadsheets_is_not_part_of_a_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("\ufeffa,b\n1,2\n".encode())
    assert list(read_table(path).columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "amounts"),
    [
        ("amount;note;n\n1,5;a,b;1\n-20,25;c;2\n", [1.5, -20.25]),
        ("amount;note;n\n1.5;1,5;1\n20.25;c;2\n", [1.5, 20.25]),
        ("amount\tnote\tn\n1.5\tx, y\t1\n20.25\tc\t2\n", [1.5, 20.25]),
        ('"amount";"a, note";"n"\n1;x;1\n2;y;2\n', [1, 2]),
        ("amount,note;n\n1,x\n2,y\n", [1, 2]),
    ],
)
def test_fields_may_be_separated_by_semicolons_or_tabs(tmp_path, content, amounts):
    path = tmp_path / "t.csv"
    path.write_text(content)
    assert read_table(path)["amount"].tolist() == amounts
    (batch,) = open_table(path, size=10).read(["amount"])
    assert batch["amount"].tolist() == amounts


def test_columns_of_text_are_read_as_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,NA,2\n007,,NA\n")
    plain = read_table(path)
    assert plain["a"].tolist() == [1, 7] and plain["b"].isna().all()
    text = read_table(path, text=["a", "b", "not there"])
    assert text["a"].tolist() == ["1", "007"]
    assert text["b"].isna().tolist() == [False, True]
    assert text["c"].isna().tolist() == [False, True]


def test_labels_of_several_levels_are_replaced_by_numbers(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.MultiIndex.from_tuples([("x", 1), ("y", 2)]))
    frame.to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").index) == [0, 1]


def test_an_output_of_another_kind_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"must end in \.csv or \.parquet"):
        with new_table(tmp_path / "t.json", force=False):
            pass


def test_a_late_fraction_makes_decimals_of_all_batches(tmp_path):
    path = tmp_path / "t.csv"
    # As a whole number, the last value would be another one than as a decimal.
    path.write_text("a,b\n1,1\n2,2\n3,3\n0.5,4\n9007199254740993,5\n")
    batches = read_batches(path, size=2)
    assert [str(batch["a"].dtype) for batch in batches] == ["float64"] * 3
    assert [str(batch["b"].dtype) for batch in batches] == ["int64"] * 3
    pd.testing.assert_frame_equal(pd.concat(batches), read_table(path))


def test_a_late_odd_value_leaves_the_others_what_they_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,True\n2.5,false\n3,TRUE\nmuch,perhaps\n5,\n")
    first, second, last = read_batches(path, size=2)
    assert first["a"].tolist() == [1.0, 2.5] and first["b"].tolist() == [True, False]
    assert second["a"].tolist() == [3.0, "much"] and second["b"].tolist() == [True, "perhaps"]
    assert last["a"].tolist() == [5] and last["b"].isna().all()


def test_text_is_read_as_text_in_every_batch(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,NA,2\n2,None,2\n007,,3\nx,y,4\n")
    batches = read_batches(path, size=2, text=["a", "b"], columns=["c", "b", "a"])
    whole = read_table(path, text=["a", "b"])[["c", "b", "a"]]
    pd.testing.assert_frame_equal(pd.concat(batches), whole)


def test_rows_without_columns_are_counted(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y", "z"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        batches = read_batches(tmp_path / name, size=2, columns=[], text=["a"])
        assert [batch.shape for batch in batches] == [(2, 0), (1, 0)]


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(10, 3, -1),
        pd.Index(list("tuvwxyz"), name="who"),
        pd.Index([3, 1, 2, 4, 5, 6, None], dtype="Int64"),
        pd.CategoricalIndex(list("aabbcca")),
        pd.date_range("2024-01-01", periods=7, tz="UTC"),
        pd.MultiIndex.from_product([[1], range(7)]),
    ],
    ids=lambda index: f"{type(index).__name__}-{index.dtype}",
)
@pytest.mark.parametrize("row_group_size", [2, 3, 100])
def test_batches_have_the_labels_and_types_of_the_whole(tmp_path, index, row_group_size):
    frame = pd.DataFrame(
        {
            "small": pd.Series(range(7), dtype="int8"),
            "job": pd.Categorical(list("xyzzyxw"), categories=list("wzyxv")),
            "a.b": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
        }
    ).set_axis(index)
    path = tmp_path / "t.parquet"
    frame.to_parquet(path, row_group_size=row_group_size)
    whole = read_table(path)
    for size in (2, 3, 7):
        batches = read_batches(path, size=size)
        for batch in batches:
            assert batch.index.dtype == whole.index.dtype
            assert list(batch["job"].cat.categories) == list(whole["job"].cat.categories)
        pd.testing.assert_frame_equal(pd.concat(batches), whole, check_freq=False)


def test_categories_that_a_row_group_does_not_know_are_those_of_the_file(tmp_path):
    arrow_type = pa.dictionary(pa.int8(), pa.string())
    path = tmp_path / "t.parquet"
    with pq.ParquetWriter(path, pa.schema({"job": arrow_type})) as writer:
        for values in (["b", "b"], ["a", "b"], ["c"]):
            writer.write_table(
                pa.table({"job": pa.array(values).dictionary_encode()}).cast(writer.schema)
            )
    whole = read_table(path)["job"]
    for batch in read_batches(path, size=2):
        assert list(batch["job"].cat.categories) == list(whole.cat.categories)


def test_columns_that_are_not_asked_for_are_not_read(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2], "b": ["x" * 50, "y" * 50]}).to_parquet(path, compression=None)
    damaged = path.read_bytes().replace(b"x" * 50, b"\xff" * 50)
    path.write_bytes(damaged)
    (batch,) = read_batches(path, size=2, columns=["a"])
    assert batch["a"].tolist() == [1, 2]


def test_a_page_that_is_damaged_is_refused_with_the_rows_before_it(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [f"{k}{'x' * 500}" for k in range(100)]}).to_parquet(
        path, row_group_size=50, compression="snappy"
    )
    content = bytearray(path.read_bytes())
    start = pq.read_metadata(path).row_group(1).column(0).dictionary_page_offset
    content[start + 40 : start + 400] = b"\xff" * 360
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"after 50 rows \(.*\); export it again\.$"):
        read_batches(path, size=50)


def test_types_of_later_batches_are_those_of_the_first(tmp_path):
    path = tmp_path / "t.parquet"
    with new_table(path, force=False) as write:
        write(pd.DataFrame({"a": [0.5], "b": ["x"]}))
        write(pd.DataFrame({"a": [2], "b": pd.Series([None], dtype="str")}))
    assert pd.read_parquet(path)["a"].tolist() == [0.5, 2.0]
    with pytest.raises(OutputError, match=r"must take columns of one type"):
        with new_table(tmp_path / "new" / "u.parquet", force=False) as write:
            write(pd.DataFrame({"a": [2]}))
            write(pd.DataFrame({"a": ["x"]}))
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


@pytest.mark.parametrize(
    ("rows", "most", "expected"), [(10, 10, 10), (11, 10, 6), (25, 10, 9), (1, 10, 1), (0, 10, 0)]
)
def test_batches_are_of_one_size(rows, most, expected):
    assert even_size(rows, most) == expected


def test_no_cell_of_a_csv_file_is_a_formula(tmp_path):
    frame = pd.DataFrame(
        {
            "=name": ["=1+1", "-5", "a", None],
            "number": [-5.0, 1.5, -1e30, 0.0],
            "mixed": ["@x", -3, "\tx", "-x"],
        }
    )
    with new_table(tmp_path / "out.csv", force=False) as write:
        write(frame)
        write(frame)
    with (tmp_path / "out.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["'=name", "number", "mixed"]
    expected = [
        ["'=1+1", "-5.0", "'@x"],
        ["-5", "1.5", "-3"],
        ["a", "-1e+30", "'\tx"],
        ["", "0.0", "'-x"],
    ]
    assert lines == expected * 2
    assert frame["mixed"].iloc[0] == "@x"


def test_features_named_like_a_column_of_the_record_keep_their_name():
    frame = make_applicants().rename(columns={"income": "status", "job": "row"})
    model = untrained_model(schema=Schema.infer(frame, target=TARGET, favourable="granted"))
    rows = frame.drop(columns=TARGET)
    table = recourse_table(model.recourse(rows))
    assert list(table.columns[:2]) == ["row_", "status_"]
    assert table["row"].tolist() == model.recourse(rows).frame()["row"].tolist()
    assert set(table["status_"]) <= {"found", "not_found", "not_needed"}
