"""The words of letters, a file for each language."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined
from jinja2.exceptions import TemplateError
from jinja2.sandbox import SandboxedEnvironment

from rocourse.errors import ConfigError
from rocourse.schema import Categorical, Feature, describe_value, words_of

LANGUAGES = ("en", "de")
"""Languages whose words come with this package."""

_FOLDER = files("rocourse.reports.letters") / "words"
# Sentences of a lender's own file: nothing but words and choices between them.
_SENTENCES = SandboxedEnvironment(
    autoescape=False, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


@dataclass(frozen=True)
class Words:
    """A language.

    Attributes:
        language: Its code, as `en`.
        law: The section of rights that is taken if the lender says nothing.
        sentences: By name; Jinja2 templates.
        rights: The paragraphs about rights, by law.
        form: Dates, numbers and units.
    """

    language: str
    law: str
    sentences: Mapping[str, str]
    rights: Mapping[str, list[str]]
    form: Mapping[str, Any]

    def say(self, name: str, /, **facts: Any) -> str:
        """A sentence."""
        return self.fill(self.sentences[name], **facts)

    def fill(self, sentence: str, /, **facts: Any) -> str:
        """A sentence with its facts, on one line.

        Raises:
            ConfigError: It is no template, or asks for what is not known.
        """
        try:
            return " ".join(_SENTENCES.from_string(sentence).render(facts).split())
        except TemplateError as error:
            raise ConfigError(
                f"A sentence of a letter must be one that can be filled in, but {sentence[:60]!r} "
                f"cannot: {error}."
            ) from error

    def day(self, day: date) -> str:
        """A date in words."""
        return self.say(
            "date", day=day.day, month=self.form["months"][day.month - 1], year=day.year
        )

    def value(
        self, feature: Feature, value: Any, unit: str | None, names: Mapping[str, str]
    ) -> str:
        """A value in an applicant's words.

        Args:
            feature: Whose.
            value: As JSON has it; None: it is missing.
            unit: The lender's word for the unit, if there is one.
            names: The lender's words for categories, labels, and numbers that are codes.
        """
        if value is None:
            return self.sentences["not_given"]
        label = describe_value(feature, value)
        if (name := names.get(label, names.get(str(value)))) is not None:
            return name
        if isinstance(feature, Categorical):
            return label
        if feature.date:
            return self.day(date.fromisoformat(str(value)[:10]))
        bare = label.removesuffix(f" {feature.unit}")
        if unit is None:
            words = self.form["units_of_one" if bare == "1" else "units"]
            unit = words.get(feature.unit, feature.unit)
        # With a unit it is an amount, and no year: 2,800 DM beside 14,027 DM.
        bare = re.sub(r"^(\D?\d)(\d{3})(?!\d)", r"\1,\2", bare) if unit else bare
        marks = {",": self.form["thousands"], ".": self.form["decimal"]}
        number = "".join(marks.get(sign, sign) for sign in bare)
        return f"{number} {unit}" if unit else number


def plain_name(feature: Feature) -> str:
    """A column's name as words: `Credit amount` of CreditAmount or credit_amount."""
    if " " in feature.name:
        return feature.name
    return " ".join(words_of(feature.name)).capitalize() or feature.name


def read_words(language: str) -> Words:
    """The words of a language.

    Args:
        language: One of `LANGUAGES`, or the path of a file of your own, .toml.

    Raises:
        ConfigError: There is no such language, or its file is not complete.
    """
    own = language not in LANGUAGES
    what = f"The file of words {language!r}" if own else f"The words of {language!r}"
    if own and not language.endswith(".toml"):
        raise ConfigError(
            f"A letter's language must be one of {', '.join(LANGUAGES)}, or a file of words "
            f"(.toml), but got {language!r}; choose one."
        )
    try:
        source = Path(language) if own else _FOLDER / f"{language}.toml"
        content = tomllib.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{what} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise ConfigError(f"{what} must be TOML, but it is not: {error}.") from error
    if own:
        _check_complete(content, what)
    return Words(**content)


def _check_complete(content: dict[str, Any], what: str) -> None:
    model = tomllib.loads((_FOLDER / "en.toml").read_text(encoding="utf-8"))
    for part in model:
        missing = part not in content or type(content[part]) is not type(model[part])
        if not missing and part in ("sentences", "form"):
            missing = not set(model[part]) <= set(content[part])
        if missing or set(content) - set(model):
            raise ConfigError(
                f"{what} must have the parts of en.toml, all sentences included, but {part!r} is "
                "incomplete, or there are others; begin with a copy of it."
            )
