"""Features, their constraints, encoding, cost, and the record of recourses.

`Schema` turns rows into arrays and back; `Recourse` is what every method emits. Importing this
package does not import
JAX: the constraint layer of compiled code lives in `rocourse.schema.constraints`.

Examples:
    >>> schema = Schema.infer(df, target="GoodCustomer", immutable=["Age"])
    >>> schema.names[:2]
    ('Duration', 'Credit amount')

    By hand:

    >>> income = Continuous("income", low=0, high=90_000, integer=True, direction="up")
    >>> job = Categorical("job", categories=("none", "part", "full"))
    >>> Schema((income, job), Target("deny", ("no", "yes"), favourable="no")).names
    ('income', 'job')
"""

from rocourse.schema._certificate import CERTIFICATES, Certificate, CertificateKind
from rocourse.schema._clipping import ClippedWarning
from rocourse.schema._codes import MissingCodes, codes_as_gaps, codes_as_none
from rocourse.schema._cost import features_changed, proximity
from rocourse.schema._cut_off import CutOff, threshold_of_rate, verdicts
from rocourse.schema._describe import describe_change, describe_value
from rocourse.schema._encoding import OutOfRange
from rocourse.schema._favourable import words_of
from rocourse.schema._features import Categorical, Continuous, Feature, Target
from rocourse.schema._frames import as_frame
from rocourse.schema._gaps import GAP_WORDS, MISSING, Missing, MissingWords, gaps_of, is_gap
from rocourse.schema._layout import Layout, Rows, compact, one_hot
from rocourse.schema._limits import Change, Follows, Linear, Moves
from rocourse.schema._limits_in_words import limits_in_words, together_in_words
from rocourse.schema._narrowing import Narrowing, Start
from rocourse.schema._proof import Loosening, Proof
from rocourse.schema._recourse import Recourse
from rocourse.schema._row import EncodedRow, RowCodec, RowCodes, jsonable
from rocourse.schema._rules import COLUMN, NEGLIGIBLE_CHANGE, CategoryRule, Fault, NumberRule
from rocourse.schema._schema import Schema
from rocourse.schema._usual import Usual, common_categories, usual_ends, without_codes
from rocourse.schema._values import ValueIndex
from rocourse.schema._wishes import EachWishes, Wishes, WishesLike, wishes_of_rows
from rocourse.schema.check import Finding, TableCheck

__all__ = [
    "CERTIFICATES",
    "Certificate",
    "CertificateKind",
    "COLUMN",
    "EncodedRow",
    "NEGLIGIBLE_CHANGE",
    "Categorical",
    "CategoryRule",
    "Change",
    "ClippedWarning",
    "Continuous",
    "CutOff",
    "EachWishes",
    "Fault",
    "Feature",
    "Finding",
    "Follows",
    "GAP_WORDS",
    "Layout",
    "Linear",
    "Loosening",
    "Moves",
    "MISSING",
    "Missing",
    "MissingCodes",
    "MissingWords",
    "Narrowing",
    "NumberRule",
    "OutOfRange",
    "Proof",
    "Recourse",
    "RowCodec",
    "RowCodes",
    "Rows",
    "Schema",
    "Start",
    "TableCheck",
    "Target",
    "Usual",
    "ValueIndex",
    "as_frame",
    "Wishes",
    "WishesLike",
    "compact",
    "describe_change",
    "describe_value",
    "features_changed",
    "gaps_of",
    "is_gap",
    "jsonable",
    "limits_in_words",
    "one_hot",
    "proximity",
    "codes_as_none",
    "common_categories",
    "threshold_of_rate",
    "together_in_words",
    "usual_ends",
    "verdicts",
    "wishes_of_rows",
    "codes_as_gaps",
    "without_codes",
    "words_of",
]
