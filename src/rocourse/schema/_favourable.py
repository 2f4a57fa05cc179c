"""Which class people want: taken where a target leaves no doubt, and otherwise never guessed."""

import re
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Never

from rocourse._wording import counted, show
from rocourse.errors import SchemaError
from rocourse.schema._values import Scalar

# What a target that says yes to something bad is called. Whole words:
_BAD_WORDS = frozenset(
    "bad late loss lost risk risky dead died death sick ill overdue npl poor fault error "
    "ausfall verzug verlust betrug tod tot krank mahnung storno schaden schlecht".split()
)
# ... and how longer ones begin, or what is within one, as in Kreditausfall.
_BAD_BEGINNINGS = (
    "den(y|ie[ds]|ial)|default|churn|fail|fraud|reject|refus|declin|delinq|arrear|bankrupt|insolv|"
    "chargeoff|charged|writeoff|written|dropout|dropped|attrition|cancel|terminat|diseas|mortal|"
    "malign|relaps|recidiv|reoffend|violat|defect|unpaid|missed|disapprov|unsuccess|unfavo|adverse|"
    "negativ"
)
_BAD_PARTS = (
    "ausfall|verzug|abgelehnt|ablehn|betrug|betrüg|kündig|kuendig|insolven|abbruch|abgebrochen|"
    "durchgefallen|rückst|rueckst|unbezahlt|säumig|saeumig|ungünstig|nichtbestanden"
)
_BAD = re.compile(f"^(?:{_BAD_BEGINNINGS})|{_BAD_PARTS}")
_NOT = frozenset("no not non never low kein keine nicht ohne niedriges geringes".split())
# Classes that say no more than whether the target's name is true of a row.
_YES = frozenset("1 1.0 true yes y ja j".split())
_NO = frozenset("0 0.0 false no n nein".split())
_WORD = re.compile(r"[A-ZÄÖÜ]+(?![a-zäöüß])|[A-ZÄÖÜ]?[a-zäöüß]+|\d+(?:\.\d+)?")


def words_of(name: object) -> list[str]:
    """The words in a name such as `LoanStatus` or `loan_status`, in small letters."""
    return [word.casefold() for word in _WORD.findall(str(name))]


def sounds_bad(name: object) -> bool:
    """Whether a name, of a target or of a class, says that it is nothing people want."""
    words = words_of(name)
    return any(
        (word in _BAD_WORDS or _BAD.search(word) is not None)
        and not (place > 0 and words[place - 1] in _NOT)
        for place, word in enumerate(words)
    )


def unwanted(name: str, label: Scalar) -> bool:
    """Whether a class of a target looks like one that nobody wants."""
    if sounds_bad(name):
        return _says_yes(label) or sounds_bad(label)
    return sounds_bad(label) or _says_no(label)


def clear_favourable(name: str, classes: Sequence[Scalar]) -> Scalar | None:
    """The class that people want of 0 and 1, or of flags, unless the name says that it is bad."""
    plain = len(classes) == 2 and not any(isinstance(label, str) for label in classes)
    # 0 and 1 are equal to the flags.
    if not plain or set(classes) != {0, 1} or sounds_bad(name):
        return None
    return max(classes)


def suggested(name: str, classes: Sequence[Scalar]) -> Scalar:
    """A class to name in an example: the first that looks wanted."""
    return next((label for label in reversed(classes) if not unwanted(name, label)), classes[0])


def option_of(label: Scalar) -> str:
    """How the class is stated on the command line."""
    return f"--favourable {quote(str(label))}"


def unclear_sentence(name: str, counts: Mapping[Scalar, int]) -> str:
    """What to say where nobody has said which class people want."""
    shown = [f"{show(label)} ({counted(count, 'row')})" for label, count in counts.items()]
    if len(shown) > 6:
        shown = [*shown[:6], f"... ({len(shown)} in all)"]
    example = suggested(name, list(counts))
    return (
        f"The class that people want must be stated for target {name!r}, but got only its classes "
        f"{', '.join(shown)}; write {option_of(example)} (in Python favourable={show(example)}), "
        "or another of them."
    )


def refuse_unclear(name: str, counts: Mapping[Scalar, int]) -> Never:
    """Ends where a guess would begin."""
    raise SchemaError(unclear_sentence(name, counts))


def _says_yes(label: Scalar) -> bool:
    return str(label).casefold() in _YES


def _says_no(label: Scalar) -> bool:
    return str(label).casefold() in _NO
