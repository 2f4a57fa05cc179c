"""Letters to refused applicants: decision, reasons, what to change, until when, and the rights."""

from rocourse.reports.letters._case import Advice, Case, WithheldLetter, case_of, cases_of
from rocourse.reports.letters._lender import FeatureWords, Lender, read_lender
from rocourse.reports.letters._letter import Letter, make_letter
from rocourse.reports.letters._render import FORMATS, Format, render_letter
from rocourse.reports.letters._words import LANGUAGES, Words, read_words

__all__ = [
    "Advice",
    "Case",
    "FORMATS",
    "FeatureWords",
    "Format",
    "LANGUAGES",
    "Lender",
    "Letter",
    "WithheldLetter",
    "Words",
    "case_of",
    "cases_of",
    "make_letter",
    "read_lender",
    "read_words",
    "render_letter",
]
