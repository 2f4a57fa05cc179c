"""A letter as blocks of text: what pages, PDF and plain text have in common."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rocourse._wording import listed
from rocourse.errors import ConfigError
from rocourse.reasons import Reason
from rocourse.reports.letters._case import Advice, Case, WithheldLetter
from rocourse.reports.letters._lender import FeatureWords, Lender, Texts
from rocourse.reports.letters._words import Words, plain_name
from rocourse.schema import Schema


class Block(NamedTuple):
    """A heading, a paragraph, or a list."""

    heading: str = ""
    text: str = ""
    items: tuple[str, ...] = ()
    numbered: bool = False


@dataclass(frozen=True)
class Letter:
    """A letter.

    Attributes:
        language: Its code.
        draft: That it is none to be sent yet; empty: it is.
        sender: Lines.
        facts: Date and references: pairs of a name and a value.
        subject: What it is about.
        blocks: What it says.
        closing: Lines at its end.
    """

    language: str
    draft: str
    sender: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    subject: str
    blocks: tuple[Block, ...]
    closing: tuple[str, ...]


def make_letter(
    case: Case, schema: Schema, words: Words, lender: Lender, *, law: str | None = None
) -> Letter:
    """The letter to a refused applicant.

    Args:
        case: Whom it is about.
        schema: Of the model that decided.
        words: The language.
        lender: Who writes.
        law: The section of rights; None: the lender's, or the language's own.

    Raises:
        WithheldLetter: A reason is a protected attribute for which the lender has no sentence, or
            there is no reason to tell.
        ConfigError: The language has no section of this law.
    """
    chosen = law or lender.law or words.law
    if chosen not in words.rights:
        raise ConfigError(
            f"The law must be one that the words of {words.language!r} know, "
            f"{listed(sorted(words.rights))}, but got {chosen!r}; choose one, or add it to a file "
            "of words of your own."
        )
    teller = _Teller(schema, words, lender)
    name = lender.name or words.sentences["nameless"]
    rights = (_filled(words, text, lender) for text in words.rights[chosen])
    return Letter(
        language=words.language,
        draft="" if lender.reviewed else words.say("draft"),
        sender=(name, *lender.address, *([lender.contact] if lender.contact else [])),
        facts=(
            (words.say("date_label"), words.day(case.decided)),
            (words.say("reference_label"), case.reference),
        ),
        subject=words.say("subject"),
        blocks=(
            Block(text=words.say("greeting")),
            Block(text=words.say("decision")),
            Block(heading=words.say("reasons_title"), text=words.say("reasons_intro")),
            Block(items=tuple(teller.reasons(case)), numbered=True),
            *teller.advice(case),
            Block(heading=words.say("rights_title")),
            *(Block(text=text) for text in rights if text),
        ),
        closing=(words.say("closing"), name),
    )


def _filled(words: Words, text: str, lender: Lender) -> str:
    named = ("agency", "bureau", "officer", "authority", "contact")
    return words.fill(text, **{name: getattr(lender, name) for name in named})


class _Teller:
    """Reasons and changes in a lender's words."""

    def __init__(self, schema: Schema, words: Words, lender: Lender) -> None:
        self._schema, self._words, self._lender = schema, words, lender

    def reasons(self, case: Case) -> Iterator[str]:
        if not case.reasons:
            raise WithheldLetter(
                f"The letter about {case.reference!r} must tell reasons, but nothing lowers this "
                "application's score beside those that are accepted; write it by hand."
            )
        for reason in case.reasons:
            own = self._own(reason.feature).reason.get(self._words.language)
            if reason.protected and own is None:
                raise WithheldLetter(
                    f"The letter about {case.reference!r} would tell {reason.feature!r} as a "
                    "reason, which looks like a protected attribute; let a lawyer see whether the "
                    "model may go by it, and then word it in the lender's file "
                    f"(features.{reason.feature!r}.reason), or train without it.",
                    reason.feature,
                )
            yield self._reason(reason, own)

    def _reason(self, reason: Reason, own: str | None) -> str:
        name, value = self._name(reason.feature), self._value(reason.feature, reason.value)
        if own is not None:
            text = own.replace("{value}", value)
        else:
            # Numbers that have words are codes, of which none is more than another.
            coded = reason.beside in ("higher", "lower") and self._values(reason.feature)
            beside = None if reason.value is None or coded else reason.beside
            text = self._words.say("reason", name=name, value=value, beside=beside)
        code = self._own(reason.feature).code
        return text if code is None else f"{text} ({code})"

    def advice(self, case: Case) -> Iterator[Block]:
        promised = [one for one in case.advice if one.promised]
        unsure = [one for one in case.advice if not one.promised]
        say = self._words.say
        yield Block(heading=say("advice_title"))
        if promised:
            assert case.until is not None
            until = self._words.day(case.until)
            yield Block(text=say("promised", until=until, ways=len(promised)))
            yield from self._ways(promised, 1, alone=len(case.advice) == 1)
        if unsure:
            yield Block(text=say("unsure", ways=len(unsure), others=bool(promised)))
            yield from self._ways(unsure, 1 + len(promised), alone=len(case.advice) == 1)
        if not case.advice:
            yield Block(text=say("no_advice"))
        else:
            yield Block(text=say("unchanged", promised=bool(promised)))

    def _ways(self, ways: Sequence[Advice], start: int, *, alone: bool) -> Iterator[Block]:
        for number, way in enumerate(ways, start=start):
            title = self._words.say(
                "way", number=number, alone=alone, reference=way.reference or ""
            )
            yield Block(text=title, items=tuple(self._changes(way)))

    def _changes(self, way: Advice) -> Iterator[str]:
        for change in way.changes:
            name = change["feature"]
            before, after = (self._value(name, change[end]) for end in ("from", "to"))
            yield self._words.say("change", name=self._name(name), before=before, after=after)

    def _own(self, name: str) -> FeatureWords:
        return self._lender.features.get(name, _NOTHING)

    def _name(self, name: str) -> str:
        return self._own(name).name.get(self._words.language) or plain_name(self._schema[name])

    def _value(self, name: str, value: object) -> str:
        unit = self._own(name).unit.get(self._words.language)
        return self._words.value(self._schema[name], value, unit, self._values(name))

    def _values(self, name: str) -> Texts:
        return self._own(name).values.get(self._words.language, {})


_NOTHING = FeatureWords()
