"""The jury: the cheapest changes that models of several families, retrained, are sure of."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jax import Array

from rocourse.models import (
    Shift,
    TrainingRows,
    bound,
    class_scores,
    few_at_once,
    in_blocks,
    with_scores,
)
from rocourse.models.jurors import (
    Jurors,
    Lines,
    Networks,
    Trees,
    family_leads,
    train_alike,
    train_jurors,
)
from rocourse.networks import Predictor
from rocourse.options import Span, instance, maybe, option, share, whole
from rocourse.recourse._eager import search_twice
from rocourse.recourse._proposer import Context, Fitting, Pledge, Promise, Proposer, State
from rocourse.recourse.jury._calibration import (
    Calibration,
    Trial,
    Trials,
    calibrate,
    jury_chance,
    run_trials,
)
from rocourse.recourse.jury._search import jury_recourses
from rocourse.recourse.jury._standing import Jury, standing
from rocourse.recourse.jury._swaps import jury_swaps
from rocourse.recourse.jury._task import Grid
from rocourse.recourse.jury._values import usual_values
from rocourse.recourse.search import Edits, FromHere, Space
from rocourse.schema import Layout, Rows, one_hot
from rocourse.schema.constraints import expand

# Apart from the seeds of training, which start from the model's own.
_JURORS, _WITNESSES, _ROWS = 0x4A55525F, 0x57495446, 0x524F5753
# The fewest and the most networks among witnesses, those of each other family, and those that are
# trained as the model was.
_NETWORK_WITNESSES = (60, 200)
_OTHER_WITNESSES = 12
_ALIKE_WITNESSES = 8
# The most edits in the place of changes that are locked: what takes more is hardly found.
_FURTHER_CHANGES = 4
# More rows than this sharpen a level little.
_CALIBRATION_ROWS = 160


class JuryState(NamedTuple):
    """What a jury proposer has learned."""

    jury: Jury
    edits: Edits
    grid: Grid
    trials: Trials
    calibration: Calibration


class Witnesses(NamedTuple):
    """Who says what a recourse is worth, without a part in the search."""

    jurors: Jurors
    alike: list[list[Predictor]]
    """Trained as the model was."""


class JuryProposer(Proposer, kind="jury"):
    """Searches for the cheapest changes that a jury is sure of.

    The jury is the model and small models of three families (networks, logistic regressions,
    boosted trees), each trained on rows as they may look next time. A recourse changes one feature
    after the other, the one that makes the jury surer for its cost first, until every family leads
    for the desired class by as many of its own standard deviations as it takes; then whatever the
    jury can do without is taken back. How many deviations it takes is decided by witnesses: models
    like the jurors that took no part in the search. A recourse that the jury is not so sure of is
    given without a promise.
    """

    needs_network: ClassVar[bool] = True
    promises: ClassVar[bool] = True

    kept: float = option(
        default=0.95,
        doc="The share of promises to be kept when the model is retrained.",
        rule=share(),
        tune=Span(0.5, 0.99),
    )
    jurors: int = option(
        default=8, doc="Models of each family in the jury.", rule=whole(at_least=2)
    )
    witnesses: int | None = option(
        default=None,
        doc="Models of each family that levels are set by; None: as many as `kept` needs, since a "
        "share of 1 − 1/n takes more than n models to show.",
        rule=maybe(whole(at_least=2)),
    )
    shift: Shift = option(
        default=Shift(noise=0.02, flip=0.02, tilt=0.5, label_tilt=0.0, drift=0.4),
        doc="How far rows shift that jurors and witnesses are trained on.",
        rule=instance(Shift),
        tune={"drift": Span(0.1, 1.0), "tilt": Span(0.0, 1.5)},
    )
    group_shift: Shift = option(
        default=Shift(noise=0.02, flip=0.02, tilt=0.2, label_tilt=0.0, drift=0.15, group_tilt=0.7),
        doc="The same for jurors where rows come in groups, which show how far the world moves.",
        rule=instance(Shift),
    )
    added_shift: Shift = option(
        default=Shift(noise=0.02, flip=0.02, tilt=0.5, label_tilt=0.0, drift=0.5, group_tilt=1.5),
        doc="Where rows come in groups: what the rows of the next group are like, which witnesses "
        "learn from besides.",
        rule=instance(Shift),
    )
    min_category_share: float = option(
        default=0.02,
        doc="The least share of the training rows that a category must have to be asked for.",
        rule=share(),
        tune=Span(0.005, 0.1, log=True),
    )
    max_changes: int = option(default=12, doc="The most edits of a row.", rule=whole())

    def fit(self, context: Context, data: TrainingRows, fitting: Fitting) -> State:
        """The jury, the values that may be asked for, and the levels that keep promises."""
        grouped = data.groups is not None
        data = with_scores(data)
        shifts = (self.group_shift, self.added_shift) if grouped else (self.shift, self.shift)
        seeds = [np.random.SeedSequence([context.seed, part]) for part in (_JURORS, _WITNESSES)]
        draws = [int(seed.generate_state(1)[0] >> 1) for seed in seeds]
        jurors = train_jurors(
            data, shifts[0], networks=self.jurors, others=self.jurors, seed=draws[0]
        )
        networks, others, alike = self._n_witnesses
        coming = partial(train_jurors, data, shifts[1], grown=grouped)
        witnesses = Witnesses(
            coming(networks=networks, others=others, seed=draws[1]),
            train_alike(
                data, shifts[1], fitting.trainer, count=alike, seed=draws[1] + 1, grown=grouped
            ),
        )
        layers = [network.layers for network in fitting.networks]
        jury = Jury(
            tuple(
                np.stack([np.asarray(one.weight) for one in each])
                for each in zip(*layers, strict=True)
            ),
            tuple(
                np.stack([np.asarray(one.bias) for one in each])
                for each in zip(*layers, strict=True)
            ),
            jurors,
        )
        edits, grid = usual_values(
            data.rows, data.schema, min_category_share=self.min_category_share
        )
        asking = [_without_class(context, data, target) for target in range(data.n_classes)]
        search = partial(self._search, jury, edits, grid)
        trial = partial(_trial, search, jury, witnesses, context, data, asking)
        trials = run_trials(trial, data.n_classes, self._n_witnesses[0], made_up=not grouped)
        return JuryState(jury, edits, grid, trials, calibrate(trials, kept=self.kept))

    def recalibrated(self, state: State) -> State:
        """The state for another share of promises to be kept, of as many witnesses as there are."""
        return state._replace(calibration=calibrate(state.trials, kept=self.kept))

    @property
    def _n_witnesses(self) -> tuple[int, int, int]:
        """Networks, models of each other family, and models as the model was trained.

        With three times as many networks as must be, chance takes a third of what may be broken.
        """
        if self.witnesses is not None:
            return self.witnesses, self.witnesses, 1
        needed = int(np.clip(np.ceil(3.0 / (1.0 - self.kept)), *_NETWORK_WITNESSES))
        return needed, _OTHER_WITNESSES, _ALIKE_WITNESSES

    def propose(self, state: State, context: Context, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""
        search = partial(self._search, state.jury, state.edits, state.grid)
        return search(state.calibration.levels, context, rows, target)

    def vary(
        self,
        state: State,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        *,
        closed: np.ndarray,
        starts: Rows,
    ) -> Rows:
        """As `propose`, with what is closed to each row; all go together."""
        search = partial(self._search, state.jury, state.edits, state.grid)
        levels = state.calibration.levels
        return search(levels, context, rows, target, from_here=(closed, starts))

    def swap(
        self,
        state: State,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        *,
        closed: np.ndarray,
        starts: Rows,
    ) -> list[tuple[np.ndarray, Rows]]:
        """What single edits make of the starts, the best few of each."""
        jury, edits, grid, _, calibration = state
        return jury_swaps(
            jury, edits, grid, calibration.levels, rows, target, context.space, closed, starts
        )

    def promise(self, state: State, context: Context, rows: Rows, target: np.ndarray) -> Promise:
        """Which rows the jury is sure of, and the chance of each to be kept."""
        standings = _standings(state.jury, rows, target, context.schema.layout)
        calibration: Calibration = state.calibration
        said, chances = jury_chance(standings), np.empty(len(rows))
        for c in np.unique(target):
            own = target == c
            chances[own] = np.interp(said[own], calibration.chances[c], calibration.shares[c])
        return Promise(said >= calibration.thresholds[target], chances)

    def pledge(self, state: State, target: int) -> Pledge:
        """What is promised to those who want a class."""
        calibration: Calibration = state.calibration
        coverage = float(calibration.coverage[target])
        expected = float(calibration.expected[target]) if coverage else None
        return Pledge(self.kept, expected, coverage)

    def revive(self, arrays: dict[str, np.ndarray]) -> State:
        """The state that was stored as arrays by name."""
        return _revived(arrays)

    def _search(
        self,
        jury: Jury,
        edits: Edits,
        grid: Grid,
        levels: np.ndarray,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        *,
        from_here: FromHere | None = None,
    ) -> Rows:
        def search(
            space: Space, rows: Rows, target: np.ndarray, from_here: FromHere | None
        ) -> Rows:
            return jury_recourses(
                jury,
                edits,
                grid,
                levels,
                rows,
                target,
                space,
                max_changes=self.max_changes if from_here is None else _FURTHER_CHANGES,
                from_here=from_here,
            )

        return search_twice(search, context, rows, target, from_here)


def _trial(
    search: Callable[..., Rows],
    jury: Jury,
    witnesses: Witnesses,
    context: Context,
    data: TrainingRows,
    asking: Sequence[Rows | None],
    target: int,
    level: float,
) -> Trial | None:
    """A search at a level for rows that the model does not give the class, and its worth."""
    rows = asking[target]
    if rows is None:
        return None
    wanted = np.full(len(rows), target)
    proposed = search(np.full(data.n_classes, level), context, rows, wanted)
    schema, layout = data.schema, data.schema.layout
    attempts = schema.settle(schema.decode(rows), rows, proposed)
    chance = jury_chance(_standings(jury, attempts, wanted, layout))
    votes = _votes(witnesses.jurors, attempts, wanted, layout)
    networks, *others = [family.mean(axis=0) for family in votes]
    x = one_hot(attempts, layout)
    alike = [class_scores(each, x).argmax(axis=0) == target for each in witnesses.alike]
    # Large networks are few, and small ones not quite what will be trained: each count half.
    own_kind = 0.5 * (networks + np.mean(alike, axis=0))
    return Trial(chance, own_kind, np.mean([own_kind, *others], axis=0))


def _without_class(context: Context, data: TrainingRows, target: int) -> Rows | None:
    """Training rows that the model does not give the class, some of them if there are many."""
    others = np.flatnonzero(context.verdicts(context.predict(data.rows)) != target)
    if not len(others):
        return None
    rng = np.random.default_rng([context.seed, _ROWS, target])
    count = min(len(others), _CALIBRATION_ROWS)
    return data.rows.take(np.sort(rng.choice(others, count, replace=False)))


def _standings(jury: Jury, rows: Rows, target: np.ndarray, layout: Layout) -> np.ndarray:
    """As `standing`, of compact rows: `[4, n]`."""
    bind = partial(bound, _standing_of, (jury,), layout)
    (found,) = in_blocks(bind, rows.continuous, rows.categories, target.astype(np.int32))
    return found.T


def _standing_of(
    jury: tuple[Jury], layout: Layout, continuous: Array, categories: Array, target: Array
) -> tuple[Array]:
    def some(values: Array, codes: Array, wanted: Array) -> Array:
        return standing(jury[0], expand(values, codes, layout), wanted)

    return (few_at_once(some, continuous.T, categories.T, target).T,)


def _votes(jurors: Jurors, rows: Rows, target: np.ndarray, layout: Layout) -> list[np.ndarray]:
    """Which juror gives which row its target, of each family: bool `[jurors, n]`."""
    bind = partial(bound, _leads_of, (jurors,), layout)
    families = in_blocks(bind, rows.continuous, rows.categories, target.astype(np.int32))
    return [leads.T > 0.0 for leads in families]


def _leads_of(
    jurors: tuple[Jurors], layout: Layout, continuous: Array, categories: Array, target: Array
) -> tuple[Array, ...]:
    x = expand(continuous.T, categories.T, layout)
    return tuple(leads.T for leads in family_leads(jurors[0], x, target))


def _revived(arrays: dict[str, np.ndarray]) -> JuryState:
    """The inverse of storing a state by the dotted names of its arrays."""

    def part(kind: type[Any], prefix: str) -> Any:
        return kind(*(arrays[f"{prefix}.{name}"] for name in kind._fields))

    def layers(name: str) -> tuple[np.ndarray, ...]:
        count = sum(stored.startswith(f"jury.{name}.") for stored in arrays)
        return tuple(arrays[f"jury.{name}.{i}"] for i in range(count))

    jurors = Jurors(
        part(Networks, "jury.jurors.networks"),
        part(Lines, "jury.jurors.lines"),
        part(Trees, "jury.jurors.trees"),
    )
    return JuryState(
        Jury(layers("weights"), layers("biases"), jurors),
        part(Edits, "edits"),
        part(Grid, "grid"),
        part(Trials, "trials"),
        part(Calibration, "calibration"),
    )
