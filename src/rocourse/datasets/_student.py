"""Student Performance: pupils of a Portuguese language course at two schools, `gp` and `ms`.

The target `G3` is a final grade of at least 14 of 20 points; note that the pass mark is 10. `G1`
and `G2` are the grades of the first two periods as letters. `absences` is categorical, as in the
paper: each count is a category of its own.
"""

from rocourse.datasets._dataset import DatasetInfo
from rocourse.schema import Categorical, Continuous, Schema, Target

__all__ = ["ACTIONABLE_SCHEMA", "INFO", "SCHEMA"]


def _grade(name: str) -> Categorical:
    return Categorical(
        name,
        categories=("F", "D", "C", "B", "A"),  # worst first, so that "up" is for the better
        labels=(
            "F (below 10 points)",
            "D (10–11 points)",
            "C (12–13 points)",
            "B (14–15 points)",
            "A (16 points or more)",
        ),
    )


def _scale(name: str, least: str, greatest: str) -> Categorical:
    # The questionnaire put words to the two ends only.
    labels = (f"1 ({least})", "2", "3", "4", f"5 ({greatest})")
    return Categorical(name, categories=(1, 2, 3, 4, 5), labels=labels)


def _job(name: str) -> Categorical:
    return Categorical(
        name,
        categories=("at_home", "health", "other", "services", "teacher"),
        labels=("at home", "health care", "other", "civil services", "teacher"),
    )


def _education(name: str) -> Categorical:
    return Categorical(
        name,
        categories=(0, 1, 2, 3, 4),
        labels=("none", "4th grade", "5th to 9th grade", "secondary school", "higher education"),
    )


SCHEMA = Schema(
    features=(
        Continuous("failures", low=0, high=3, integer=True),
        Continuous("age", low=15, high=22, integer=True, unit="years"),
        _grade("G2"),
        _grade("G1"),
        Categorical("higher", categories=("no", "yes")),
        _scale("goout", "very low", "very high"),
        _job("Mjob"),
        _job("Fjob"),
        _scale("health", "very bad", "very good"),
        _scale("freetime", "very low", "very high"),
        Categorical("absences", categories=(*range(17), 18, 21, 22, 24, 26, 30, 32)),
        _scale("Walc", "very low", "very high"),
        _scale("famrel", "very bad", "excellent"),
        _education("Medu"),
        _education("Fedu"),
    ),
    target=Target("G3", classes=(0, 1), favourable=1),
)

# For advice from a teacher before the second period ends. The past (failures, the first grade) and
# the parents' education and jobs are given, and nobody gets younger; nobody should be told to aim
# lower, miss more lessons, drink more, or get on worse with health and family.
ACTIONABLE_SCHEMA = SCHEMA.constrain(
    immutable=("age", "failures", "G1", "Mjob", "Fjob", "Medu", "Fedu"),
    increase_only=("G2", "higher", "health", "famrel"),
    decrease_only=("absences", "Walc"),
)

INFO = DatasetInfo(
    name="student",
    description=(
        "649 pupils of a Portuguese language course at two schools (gp, ms): "
        "does the final grade reach 14 of 20 points?"
    ),
    kind="embedded",
    subsets=("gp", "ms"),
    rows=649,
    target="G3",
    license="CC BY 4.0",
    source="Cortez and Silva, Student Performance, doi:10.24432/C5TG7T",
)
