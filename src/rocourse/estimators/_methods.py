"""The methods: each a trainer, a proposer and perhaps an attack."""

from rocourse.attack import Attack
from rocourse.estimators._base import RecourseClassifier
from rocourse.models import JointTrainer, PlainTrainer, SteadyTrainer
from rocourse.recourse import (
    GeneratorProposer,
    JuryProposer,
    PanelProposer,
    RBRProposer,
    ROARProposer,
    VAEProposer,
    VanillaCFProposer,
)


class RoCourse(
    RecourseClassifier,
    name="rocourse",
    trainer=SteadyTrainer(copies=0, balance=0.0, max_steps=2000, tempered=True),
    proposer=JuryProposer(),
):
    """A classifier that promises: say how many promises are to be kept when it is retrained.

    `kept=0.95` is its one knob. A jury of small models of three families, each trained on rows as
    they may look next time, has to be sure of a recourse; how sure, is decided by further models
    that took no part in the search. What cannot be promised is said to be unsure, with the chance
    that it is kept.

    Examples:
        >>> model = RoCourse(schema, kept=0.9, random_state=0).fit(X, y)
        >>> advice = model.recourse(X_refused)
        >>> set(advice.status) <= {"found", "found_unsure", "not_found"}
        True
    """


class RoCourseNet(
    RecourseClassifier,
    name="rocoursenet",
    trainer=JointTrainer(),
    proposer=GeneratorProposer(),
    attack=Attack(),
):
    """A classifier with a recourse generator whose advice survives retraining (Guo et al., 2023).

    In every step an attacker looks for the data shift whose retrained model breaks the recourses
    (Virtual Data Shift); the generator is trained against that model.

    Examples:
        >>> RoCourseNet(schema, attack__epsilon=0.2, preset="paper-loan").attack.epsilon
        0.2
    """


class CounterNet(
    RecourseClassifier,
    name="counternet",
    trainer=JointTrainer(),
    proposer=GeneratorProposer(),
):
    """A classifier with a recourse generator that is trained beside it (Guo et al., 2021).

    The recourses are valid for the model as it is; nothing prepares them for a retrained one. It is
    `RoCourseNet` without the attack.

    Examples:
        >>> CounterNet(schema).attack is None
        True
    """


class RoCourseNetRandom(
    RecourseClassifier,
    name="rocoursenet-random",
    trainer=JointTrainer(),
    proposer=GeneratorProposer(),
    attack=Attack(shift="random"),
):
    """RoCourseNet with an attacker that draws its shifts at random: the paper's ablation.

    Examples:
        >>> RoCourseNetRandom(schema).attack.shift
        'random'
    """


class CFModel(
    RecourseClassifier,
    name="cf-model",
    trainer=PlainTrainer(),
    proposer=GeneratorProposer(inputs="row"),
):
    """A recourse generator for a trained predictor (the paper's CF Model).

    A network of its own, shaped like CounterNet's encoder and generator, learns from validity and
    proximity while the predictor stays as it is.

    Examples:
        >>> CFModel(schema, model=model).trainer.kind
        'plain'
    """


class RobustCFModel(
    RecourseClassifier,
    name="robust-cf-model",
    trainer=PlainTrainer(),
    proposer=GeneratorProposer(inputs="row"),
    attack=Attack(),
):
    """CF Model trained against the worst-case data shift (the paper's Robust CF Model).

    Examples:
        >>> RobustCFModel(schema).attack == RoCourseNet(schema).attack
        True
    """


class VAECF(
    RecourseClassifier,
    name="vae-cf",
    trainer=PlainTrainer(),
    proposer=VAEProposer(),
):
    """Recourses from a variational auto-encoder for a trained predictor (Mahajan et al., 2019).

    Examples:
        >>> VAECF(schema, proposer__draws=10).proposer.draws
        10
    """


class RobustVAECF(
    RecourseClassifier,
    name="robust-vae-cf",
    trainer=PlainTrainer(),
    proposer=VAEProposer(),
    attack=Attack(),
):
    """VAE-CF trained against the worst-case data shift (the paper's Robust VAE-CF).

    Examples:
        >>> RobustVAECF(schema).proposer == VAECF(schema).proposer
        True
    """


class VanillaCF(
    RecourseClassifier,
    name="vanillacf",
    trainer=PlainTrainer(),
    proposer=VanillaCFProposer(),
):
    """Searches each recourse by gradient descent (Wachter et al., 2017).

    The model's gradients are used where it has any; the probabilities of other models are probed
    column by column. Of the points on the way that have the margin, the cheapest is kept.

    Examples:
        >>> VanillaCF(schema, model=model).fit(X, y).recourse(X_refused.head(2)).desired
        array([1, 1])
    """


class VanillaCFRandom(
    RecourseClassifier,
    name="vanillacf-random",
    trainer=PlainTrainer(),
    proposer=VanillaCFProposer(jitter=0.1),
):
    """VanillaCF for a row that was first moved at random: the paper's robust heuristic.

    Examples:
        >>> VanillaCFRandom(schema).proposer.jitter
        0.1
    """


class ROAR(
    RecourseClassifier,
    name="roar",
    trainer=PlainTrainer(),
    proposer=ROARProposer(),
):
    """Robust recourse on LIME surrogates (Upadhyay et al., 2021).

    Around each row a linear surrogate is fitted to the model's log-odds; the recourse must hold for
    all surrogates whose weights differ by at most `delta_max`. Only probabilities are asked of the
    model.

    Examples:
        >>> ROAR(schema, model=model, random_state=0).fit(X, y).recourse(X_refused.head(2)).desired
        array([1, 1])
    """


class RBR(
    RecourseClassifier,
    name="rbr",
    trainer=PlainTrainer(),
    proposer=RBRProposer(),
):
    """Robust Bayesian recourse (Nguyen et al., 2022).

    From the nearest boundary point towards training rows of the desired class, the recourse moves
    to where the odds of the favourable samples are best under the worst Gaussians. Only
    probabilities are asked of the model. Training rows are kept in the fitted model.

    Examples:
        >>> RBR(schema, model=model, random_state=0).fit(X, y).recourse(X_refused.head(2)).desired
        array([1, 1])
    """


class RoCoursePanel(
    RecourseClassifier,
    name="rocourse-panel",
    trainer=SteadyTrainer(),
    proposer=PanelProposer(),
):
    """Recourses that a panel of retrained models agrees on: our extension, not in the paper.

    The model is trained to change little when it is trained anew: a committee of networks that
    learn from blurred copies of the rows. Beside it, others of its kind are trained on shifted
    training rows. A recourse changes one feature after the other until every member finds it a
    typical row of the desired class; then whatever the panel can do without is taken back.

    Examples:
        >>> RoCoursePanel(schema, proposer__members=5).proposer.members
        5
    """
