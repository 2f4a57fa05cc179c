"""The jury: the cheapest changes that models of several families, retrained, are sure of."""

from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rocourse.models import (
    BatchModel,
    Refittable,
    Shift,
    Trainer,
    TrainingRows,
    has_network,
    with_scores,
)
from rocourse.models.jurors import (
    Jurors,
    Lines,
    Networks,
    Trees,
    refit_shifted,
    train_alike,
    train_jurors,
)
from rocourse.networks import Predictor
from rocourse.options import Span, instance, maybe, option, share, whole
from rocourse.recourse._eager import search_twice
from rocourse.recourse._given import convince, refits_of
from rocourse.recourse._proposer import Context, Fitting, Pledge, Promise, Proposer, State, Swaps
from rocourse.recourse.jury._calibration import (
    Calibration,
    Trials,
    asked_share,
    calibrate,
    run_trials,
)
from rocourse.recourse.jury._search import jury_recourses
from rocourse.recourse.jury._standing import Jury, standings, usual_deviation, usual_deviations
from rocourse.recourse.jury._swaps import jury_swaps
from rocourse.recourse.jury._trials import Witnesses, chance_of, prepare_trials
from rocourse.recourse.search import Asked, Edits, FromHere, Grid, Space, usual_values
from rocourse.schema import Rows, compact

# Apart from the seeds of training, which start from the model's own.
_JURORS, _WITNESSES = 0x4A55525F, 0x57495446
# The fewest and the most networks among witnesses, those of each other family, and those that are
# trained as the model was.
_NETWORK_WITNESSES = (60, 200)
_OTHER_WITNESSES = 12
_ALIKE_WITNESSES = 8
# What surer levels are multiples of, where a class takes less.
_LEAST_LEVEL = 0.5
# What does not tell two chances apart.
_ROUNDING = 1e-6
# The most edits in the place of changes that are locked, after the first one: what takes more is
# hardly found.
_FURTHER_CHANGES = 2


class JuryState(NamedTuple):
    """What a jury proposer has learned."""

    jury: Jury
    edits: Edits
    grid: Grid
    trials: Trials
    calibration: Calibration
    usual: np.ndarray
    """The deviation among refits that is usual among training rows; 0 without any."""
    members: tuple[BatchModel, ...] = ()
    """Refits of a model that is given."""

    def asked(self, context: Context) -> Asked | None:
        """Who is asked besides: the model that is given, if one is, and its refits."""
        if has_network(context.trained):
            return None
        return Asked(context.model, self.members, usual=float(self.usual))


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
    knows_prices: ClassVar[bool] = True
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
        default=Shift(noise=0.02, flip=0.02, tilt=0.5, label_tilt=0.0, drift=0.6),
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
        given = not has_network(context.trained)
        members = refits_of(context, data, shifts[0], draws[0] + 1) if given else ()
        usual = usual_deviation(members, data.rows, data.n_classes, data.schema.layout)
        asked = Asked(context.model, members, usual=usual) if given else None
        witnesses = Witnesses(
            coming(networks=networks, others=others, seed=draws[1]),
            self._alike(context, data, shifts[1], fitting.trainer, alike, draws[1] + 1),
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
            usual_deviations(jurors, data.rows, data.n_classes, data.schema.layout),
        )
        edits, grid = usual_values(
            data.rows, data.schema, min_category_share=self.min_category_share
        )
        search = partial(self._search, jury, edits, grid, asked)
        trial = prepare_trials(search, jury, asked, witnesses, context, data)
        trials = run_trials(trial, data.n_classes, self._n_witnesses[0], made_up=not grouped)
        calibration = calibrate(trials, kept=self.kept, refits=bool(members))
        return JuryState(
            jury, edits, grid, trials, calibration, np.asarray(usual, np.float32), members
        )

    def recalibrated(self, state: State) -> State:
        """The state for another share of promises to be kept, of as many witnesses as there are."""
        refits = bool(state.members)
        return state._replace(calibration=calibrate(state.trials, kept=self.kept, refits=refits))

    def surer(self, state: State, times: float) -> State:
        """The state that asks for so many times the deviations; what is promised stays."""
        levels = np.maximum(state.calibration.levels, _LEAST_LEVEL if times > 1.0 else 0.0) * times
        return state._replace(calibration=state.calibration._replace(levels=levels))

    def _alike(
        self,
        context: Context,
        data: TrainingRows,
        shift: Shift,
        trainer: Trainer,
        count: int,
        seed: int,
    ) -> list[list[Predictor]] | tuple[BatchModel, ...]:
        """Models like the one that decides, each on rows that were shifted anew."""
        given, grown = context.trained, data.groups is not None
        if isinstance(given, Refittable) and given.can_be_refitted:
            return refit_shifted(given, data, shift, count=count, seed=seed, grown=grown)
        return train_alike(data, shift, trainer, count=count, seed=seed, grown=grown)

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
        return self._searched(state, context, rows, target)

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
        return self._searched(state, context, rows, target, (closed, starts))

    def _searched(
        self,
        state: State,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        from_here: FromHere | None = None,
    ) -> Rows:
        level = state.calibration.levels[target]
        what = (state.jury, state.edits, state.grid, state.asked(context))
        return self._search(*what, level, context, rows, target, from_here=from_here)

    def swap(
        self,
        state: State,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        *,
        closed: np.ndarray,
        feature: np.ndarray,
        starts: Rows,
    ) -> Swaps | None:
        """What single edits make of the starts, the best few of each; of given models nothing."""
        if state.asked(context) is not None:
            return None
        what, level = (state.jury, state.edits, state.grid), state.calibration.levels[target]
        return jury_swaps(*what, level, rows, target, context.space, closed, feature, starts)

    def promise(
        self,
        state: State,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        *,
        chosen: bool = False,
    ) -> Promise:
        """Which rows the jury is sure of, and the chance of each to be kept."""
        calibration: Calibration = state.calibration
        said = chance_of(state.jury, state.asked(context), rows, target, context.schema.layout)
        chances = np.empty(len(rows))
        for c in np.unique(target):
            own = target == c
            chances[own] = np.interp(said[own], calibration.chances[c], calibration.shares[c])
        # Rows asked about one by one and together may differ by rounding.
        made = said >= calibration.thresholds[target] - _ROUNDING
        if chosen:
            made &= chances >= asked_share(self.kept, state.trials) - _ROUNDING
        return Promise(made, chances)

    def pledge(self, state: State, target: int) -> Pledge:
        """What is promised to those who want a class."""
        calibration: Calibration = state.calibration
        coverage = float(calibration.coverage[target])
        expected = float(calibration.expected[target]) if coverage else None
        return Pledge(self.kept, expected, coverage)

    def assumed(self, *, grouped: bool) -> dict[str, Shift]:
        """The shifts of jurors and witnesses."""
        if grouped:
            return {"jurors": self.group_shift, "witnesses": self.added_shift}
        return {"jurors and witnesses": self.shift}

    def revive(self, arrays: dict[str, np.ndarray]) -> State:
        """The state that was stored as arrays by name."""
        return _revived(arrays)

    def refits(self, state: State) -> tuple[BatchModel, ...]:
        """Refits of a model that is given."""
        members: tuple[BatchModel, ...] = state.members
        return members

    def with_refits(self, state: State, refits: tuple[BatchModel, ...]) -> State:
        """The state with the refits that it had."""
        return state._replace(members=refits)

    def _search(
        self,
        jury: Jury,
        edits: Edits,
        grid: Grid,
        asked: Asked | None,
        level: np.ndarray,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        *,
        from_here: FromHere | None = None,
    ) -> Rows:
        def search(space: Space, where: np.ndarray) -> Rows:
            what = (jury, edits, grid, level[where])
            some, wanted = rows.take(where), target[where]
            most = self.max_changes if from_here is None else _FURTHER_CHANGES
            begin = None if from_here is None else (from_here[0][where], from_here[1].take(where))
            found = jury_recourses(*what, some, wanted, space, max_changes=most, from_here=begin)
            if asked is None:
                return found
            layout, shut = space.layout, None if begin is None else begin[0]

            def families(x: np.ndarray, target: np.ndarray) -> np.ndarray:
                return standings(jury, compact(x, layout), target, layout)[1:]

            return convince(
                asked,
                families,
                *what[1:],
                some,
                found,
                wanted,
                space,
                max_changes=most,
                closed=shut,
            )

        return search_twice(search, context, target)


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
        Jury(layers("weights"), layers("biases"), jurors, arrays["jury.usual"]),
        part(Edits, "edits"),
        part(Grid, "grid"),
        part(Trials, "trials"),
        part(Calibration, "calibration"),
        arrays["usual"],
    )
