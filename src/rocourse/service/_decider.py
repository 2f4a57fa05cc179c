"""The model in service: decisions and recourses for many rows at once."""

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from rocourse._places import Place
from rocourse.artifacts import load_from
from rocourse.errors import ArtifactError, ConfigError
from rocourse.estimators import RecourseClassifier
from rocourse.schema import (
    Categorical,
    CertificateKind,
    ClippedWarning,
    Continuous,
    Schema,
    Wishes,
    describe_change,
    jsonable,
)

Row = Mapping[str, Any]

# Rows are computed in blocks of a few sizes; these come first, and shall not wait for a compiler.
_WARM_SIZES = (1, 32)
_MOST_AT_ONCE = _WARM_SIZES[-1]
_WARM_OPTIONS = 3
# What a service may do between reading two requests without anybody noticing.
_MOMENT = 0.02
# Rows to look for one that is refused and can be helped.
_EXAMPLES = 64
# The share of promises that is to be kept where the method states none.
_KEPT = 0.95


@dataclass(frozen=True)
class Choice:
    """What an applicant asks for beyond the best advice.

    Attributes:
        wishes: What advice has to respect, if anything.
        options: The most options to give.
    """

    wishes: Wishes | None
    options: int


@dataclass(frozen=True)
class Decision:
    """What the model says about one row.

    Attributes:
        decision: The class it is given.
        favourable: Whether that is the class that people want.
        probability: Of the favourable class.
        advice: What to change; None for a row that needs none.
        imputed: The features that were missing and filled in.
    """

    decision: Any
    favourable: bool
    probability: float
    advice: "Advice | None"
    imputed: list[str]


@dataclass(frozen=True)
class Advice:
    """What a row must change to be given the favourable class.

    Attributes:
        status: Whether the changed row is given the favourable class (`found`), is so without a
            promise that the next model does as well (`found_unsure`), or is not (`not_found`).
        probability: Of the favourable class after the change.
        cost: L1 distance in the encoded space.
        changes: Each with feature, from, to and text; empty if nothing was found.
        row: The whole row after the change.
        robustness: The estimated chance that the next model honours it, if there is an idea.
        months: That it takes, where the schema says.
        certificate: What is proved of it, if that was asked for.
        options: All options, this one first; None if neither options nor wishes were asked for.
        reason: Why wishes cannot be met, if so.
    """

    status: str
    probability: float
    cost: float
    changes: list[dict[str, Any]]
    row: dict[str, Any]
    robustness: float | None
    months: float | None
    certificate: dict[str, Any] | None = None
    options: "tuple[Advice, ...] | None" = None
    reason: str | None = None

    @property
    def found(self) -> bool:
        """Whether it can be promised."""
        return self.status == "found"


class Decider:
    """A loaded model, ready to answer."""

    def __init__(self, model: RecourseClassifier, digest: str, name: str) -> None:
        target = model.schema_.target
        assert target is not None  # every fitted model has one
        self.model, self.digest, self.name = model, digest, name
        # How many rows it decides on within a moment; a search takes longer for one.
        self.prompt_rows = 0
        self.schema: Schema = model.schema_
        self.schema_digest = model.schema_.digest()
        self.favourable: Any = target.wanted()

    @classmethod
    def load(
        cls,
        path: Place,
        model_from: str | None = None,
        certify: tuple[CertificateKind, float | None] | None = None,
    ) -> "Decider":
        """Reads a model, verifies it, and has it answer once.

        Args:
            path: Its directory.
            model_from: What makes the model that it explains, where it was stored without.
            certify: The certificate that advice has to reach, and its level; None: none.

        Raises:
            ArtifactError: The model is missing, damaged or altered.
            ConfigError: Its columns have no names, or its own model cannot be made.
        """
        model = load_from(path, model_from)
        if not hasattr(model, "feature_names_in_"):
            raise ConfigError(
                f"A model in service must know its columns by name, but {str(path)!r} was trained "
                "on an array; train it on a table."
            )
        if certify is not None:
            model = model.certifying(certify[0], at=certify[1])
        # Of the files that were read: what lies there by now may be another model.
        decider = cls(model, model.digest_, path.name or str(path))
        try:
            decider.prove_itself()
            rows = [middle_row(decider.schema)] * _MOST_AT_ONCE
            began = perf_counter()
            decider.model.recourse_each(rows)
        except ArtifactError:
            raise
        # Whatever a header or a tensor leads to: it must not go live.
        except Exception as error:
            raise ArtifactError(
                f"Model {str(path)!r} must answer to be put in service, but asking it for "
                f"recourses raised {type(error).__name__}; train it again."
            ) from error
        decider.prompt_rows = _MOST_AT_ONCE if perf_counter() - began < _MOMENT else 0
        return decider

    @property
    def kept(self) -> float:
        """The share of promises that is to be kept."""
        pledge = self.model.pledge()
        return _KEPT if pledge is None else pledge.kept

    @property
    def witnesses(self) -> int:
        """How many models of shifted rows say how robust a recourse is."""
        return len(self.model.witnesses_)

    def prove_itself(self) -> None:
        """Compiles what the first requests need, and shows that the model's answers are sound.

        Raises:
            ArtifactError: A recourse that it gives is none.
        """
        for size in _WARM_SIZES:
            rows = _random_rows(self.schema, size)
            for label in self.model.classes_:
                # One of them is another class than the rows have.
                for row, record in zip(
                    rows, self.model.recourse_each(rows, desired=label), strict=True
                ):
                    self._check(row, record)
        # Options are searched for in other ways, what is preferred in yet another.
        free = [feature.name for feature in self.schema.features if not feature.immutable]
        for wishes in (None, Wishes(prefer=tuple(free[:1]))):
            self.decide([self.example()], [Choice(wishes, _WARM_OPTIONS)])

    def _check(self, row: Row, record: dict[str, Any]) -> None:
        """Asks for what was found, as if the applicant had done it."""
        numbers = (record[name] for name in ("probability_before", "probability", "cost"))
        sound = all(map(math.isfinite, numbers))
        if sound and record["changes"]:
            changed = {change["feature"]: change["to"] for change in record["changes"]}
            (after,) = self.model.recourse_each([{**row, **changed}], desired=record["desired"])
            sound = after["predicted"] == record["desired"]
        if not sound:
            raise ArtifactError(
                f"Model {self.name!r} must give recourses that it honours itself, but for a row "
                "that was made up it gives none of them or numbers that are none; train it again."
            )

    def example(self) -> dict[str, Any]:
        """A made-up row: one that is refused and can be helped, if one is soon found."""
        rows = _random_rows(self.schema, _EXAMPLES)
        for row, decision in zip(rows, self.decide(rows), strict=True):
            if decision.advice is not None and decision.advice.found:
                return row
        return middle_row(self.schema)

    def decide(
        self, rows: Sequence[Row], choices: Sequence[Choice] | None = None
    ) -> list[Decision]:
        """Decision and, where the row is refused, recourse for each row.

        Args:
            rows: The applicants.
            choices: What each asks for besides; None for the best advice to all.
        """
        records: list[dict[str, Any]] = []
        with warnings.catch_warnings():
            # Numbers outside the training range are clipped; nobody reads a warning here.
            warnings.simplefilter("ignore", ClippedWarning)
            if choices is None:
                for start in range(0, len(rows), _MOST_AT_ONCE):
                    some = rows[start : start + _MOST_AT_ONCE]
                    records += self.model.recourse_each(some, desired=self.favourable)
                return [self._decision(*pair) for pair in zip(rows, records, strict=True)]
            for row, choice in zip(rows, choices, strict=True):
                records += self.model.recourse_each(
                    [row], desired=self.favourable, wishes=choice.wishes, options=choice.options
                )
        return [self._chosen(*pair) for pair in zip(rows, records, strict=True)]

    def _decision(self, row: Row, record: dict[str, Any]) -> Decision:
        needed = record["status"] != "not_needed"
        return Decision(
            decision=record["predicted"],
            # Who has the class may still have to change something: to end where they wish.
            favourable=record["predicted"] == record["desired"],
            probability=record["probability_before"],
            advice=self._advice(row, record) if needed else None,
            imputed=record["imputed"],
        )

    def _chosen(self, row: Row, record: dict[str, Any]) -> Decision:
        """The decision on a row with wishes or options."""
        decision = self._decision(row, record)
        if decision.advice is None:
            return decision
        alone = [record] if record["status"] != "not_found" else []
        options = tuple(self._advice(row, one) for one in record.get("options", alone))
        advice = replace(decision.advice, options=options, reason=record.get("reason"))
        return replace(decision, advice=advice)

    def _advice(self, row: Row, record: dict[str, Any]) -> Advice:
        changes = [
            {
                "feature": name,
                # What the caller sent, not what a table made of it.
                "from": row[name],
                "to": change["to"],
                "text": describe_change(self.schema[name], row[name], change["to"]),
            }
            for change in record["changes"]
            for name in [change["feature"]]
        ]
        return Advice(
            status=record["status"],
            probability=record["probability"],
            cost=record["cost"],
            changes=changes,
            row={**row, **{change["feature"]: change["to"] for change in changes}},
            robustness=record["robustness"],
            months=record["months"],
            certificate=record.get("certificate"),
        )


def same_questions(one: Schema, other: Schema) -> bool:
    """Whether two schemas ask for the same rows and promise the same class.

    Ranges of numbers, and what gaps are read as, may differ: they come from training rows.
    """
    return _questions(one) == _questions(other)


def _questions(schema: Schema) -> str:
    content = schema.to_dict()
    for feature in content["features"]:
        for changing in ("low", "high", "fill"):
            feature.pop(changing, None)
    return json.dumps(content, sort_keys=True, default=str)


def middle_row(schema: Schema) -> dict[str, Any]:
    """A row in the middle of everything."""
    row: dict[str, Any] = {}
    for feature in schema.features:
        if isinstance(feature, Categorical):
            row[feature.name] = feature.categories[0]
        else:
            row[feature.name] = _number(feature, 0.5)
    return row


def _random_rows(schema: Schema, number: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    return [
        {
            feature.name: feature.categories[rng.integers(len(feature.categories))]
            if isinstance(feature, Categorical)
            else _number(feature, rng.random())
            for feature in schema.features
        }
        for _ in range(number)
    ]


def _number(feature: Continuous, place: float) -> float | int | str:
    lowest, highest = feature.bounds
    low = feature.low if lowest is None else max(feature.low, lowest)
    high = feature.high if highest is None else min(feature.high, highest)
    value = low + place * (high - low)
    if feature.date:
        return jsonable(feature, round(value))
    return round(value) if feature.integer else float(f"{value:.4g}")
