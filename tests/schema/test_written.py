"""Numbers that come as text, as people write them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocourse import Schema
from rocourse.errors import DataError, SchemaError
from rocourse.schema import Continuous
from rocourse.schema._describe import describe_changes
from rocourse.schema._overlay import in_form_of
from rocourse.schema._written import Style, style, template_of

STYLES = [
    "$1,234.5",
    "1234.5%",
    "1 234,5 €",
    "1.234,5 EUR",
    "CHF 1'234.5",
    "1,234.5 months",
    "£1234.5",
]


@given(
    st.sampled_from(STYLES),
    st.lists(st.decimals(-(10**7), 10**7, places=2), min_size=25, max_size=60, unique=True),
)
def test_what_is_written_is_read_and_its_style_is_found(template, decimals):
    numbers = [float(number) for number in decimals]
    texts = [style(template).write(number) for number in numbers]
    assert [style(template).read(text) for text in texts] == numbers
    found = template_of(texts)
    assert found is not None
    assert [style(found).read(text) for text in texts] == numbers
    assert style(found).unit == style(template).unit


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["$1,200", "$950", "-$12.50"], [1200, 950, -12.5]),
        (["14%", "7.5%", "100 %"], [14, 7.5, 100]),
        (["1 234,5 €", "12,25 €", "900 €"], [1234.5, 12.25, 900]),
        (["1.234,5", "2.000", "3,25"], [1234.5, 2000, 3.25]),
        (["1.200.000 €", "2.500 €", "900 €"], [1200000, 2500, 900]),
        (["1,200", "950", "12,000"], [1200, 950, 12000]),
        (["0,125", "0,250", "1,5"], [0.125, 0.25, 1.5]),
        (["USD 1,200", "USD 7", "USD 8.5"], [1200, 7, 8.5]),
        (["\u2212 5 %", "3\u00a0%", "+4%"], [-5, 3, 4]),
    ],
)
def test_texts_that_can_mean_one_thing_are_read(texts, numbers):
    template = template_of(texts)
    assert template is not None
    assert [style(template).read(text) for text in texts] == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["1.200 €", "3.500 €", "900 €"],  # Thousands, or three decimals?
        ["$5", "€5", "$6"],
        ["12k", "800", "900"],
        ["007 €", "008 €", "012 €"],
        ["1 year", "2 years", "3 years"],  # A choice, as far as anybody knows.
        ["1,2,3", "4,5", "6"],
        ["1200", "950", "12"],  # Whoever has plain numbers as text means it.
        ["$5%", "$6%", "$7%"],
        ["red", "$5", "$6"],
        ["$5", "$6"],
    ],
)
def test_other_texts_are_not(texts):
    assert template_of(texts) is None


def table(rows=60):
    rng = np.random.default_rng(0)
    income, rate = rng.integers(500, 9000, rows), rng.integers(1, 60, rows) / 2
    return (
        income,
        rate,
        pd.DataFrame(
            {
                "income": [f"${number:,}" for number in income],
                "rate": [f"{number:.1f}%".replace(".", ",") for number in rate],
                "job": rng.choice(["a", "b"], rows),
            }
        ),
    )


def test_a_table_is_read_encoded_and_comes_back_as_it_was_written():
    income, rate, frame = table()
    frame.loc[3, "rate"], rate[3] = None, np.nan
    schema = Schema.infer(frame)
    by_name = {feature.name: feature for feature in schema.continuous}
    assert by_name["income"].unit == "$" and by_name["income"].integer
    assert (by_name["income"].low, by_name["income"].high) == (income.min(), income.max())
    assert by_name["rate"].unit == "%" and by_name["rate"].written == "1234,5%"
    assert Schema.from_dict(schema.to_dict()) == schema
    numbers = frame.assign(income=income, rate=rate)
    np.testing.assert_array_equal(
        schema.encode(frame).continuous, schema.encode(numbers).continuous
    )
    fresh = in_form_of(frame["rate"], by_name["rate"], pd.Series([12.5, 7.0]))
    assert fresh.tolist() == ["12,5%", "7%"]
    assert describe_changes(by_name["income"], frame["income"][:1], pd.Series([9000])) == [
        f"income: {income[0]} → 9000 $"
    ]
    with pytest.raises(DataError, match=r"'income' must hold numbers such as \$1,234.5, but 1 row"):
        schema.encode(frame.assign(income=["$1,2x", *frame["income"][1:]]))


def test_a_template_that_is_none_is_refused():
    with pytest.raises(SchemaError, match="written must be 1234.5 as the column writes it"):
        Continuous("fee", 0, 1, written="$")
    with pytest.raises(SchemaError, match="dates or written numbers"):
        Continuous("fee", 0, 1, date=True, written="$1234.5")
    with pytest.raises(ValueError, match="1,234,5"):
        Style("1,234,5")
