"""A model card: what a model is for, what was measured, and what it does not cover, in Markdown.

It is made of what is stored with a model alone. Whatever was not measured is said to be so.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rocourse._wording import first_few
from rocourse.reports._parts import as_markdown, shown
from rocourse.schema import (
    Categorical,
    Continuous,
    Feature,
    Schema,
    describe_value,
    limits_in_words,
    together_in_words,
)
from rocourse.schema.check import is_protected

Facts = Mapping[str, Any]

_NOT_MEASURED = "Not measured"
# Of more categories the first ones are told.
_CATEGORIES = 6
_STORED = {
    "arrays": "arrays, read without its library",
    "xgboost": "XGBoost's own JSON",
    "lightgbm": "LightGBM's own text",
    "onnx": "its file in ONNX",
    "skops": "a file of skops",
}


def render_card(facts: Facts, measured: Sequence[Facts] = ()) -> str:
    """The card of a model.

    Args:
        facts: What its header says.
        measured: What was measured since, documents of `rocourse certify --json` and of
            `rocourse evaluate --by … --json`.
    """
    schema = Schema.from_dict(facts["schema"])
    sections = {
        "Intended use": _use(facts, schema),
        "The model": _model(facts),
        "Training rows": _rows(facts, schema),
        "How well it predicts": _figures(facts),
        "What is promised": _promise(facts),
        "Shifts that it is prepared for": _assumed(facts),
        "What advice may ask for": _limits(schema),
        "Certificates": _certificates([one for one in measured if "certificate" in one]),
        "Fairness": _fairness([one for one in measured if "groups" in one]),
        "What it does not cover": _gaps(facts, schema),
        "Options": _options(facts),
    }
    assert schema.target is not None  # every fitted model has one
    head = (
        f"# Model card: {_title(facts)} for {_cell(schema.target.name)}\n\n"
        "Written by rocourse from what is stored with the model. Owner, date and approval are not "
        "known to it: add them where this card is kept."
    )
    body = (f"## {title}\n\n{text}" for title, text in sections.items() if text)
    return "\n\n".join([head, *body]) + "\n"


def _use(facts: Facts, schema: Schema) -> str:
    target = schema.target
    assert target is not None
    classes = " or ".join(f"`{one}`" for one in target.classes)
    lines = [f"Decides whether `{target.name}` is {classes}."]
    if target.favourable is None:
        lines.append("Which class people want is not stated; advice is for the class asked for.")
    else:
        lines.append(
            f"People who are refused `{target.name} = {target.favourable}` are told what to change "
            "to be given it, within the limits below."
        )
    cut_off = facts.get("cut_off")
    if cut_off is not None:
        granted = target.classes[cut_off["favourable"]]
        lines.append(f"`{granted}` is given from a probability of {cut_off['threshold']:.3g} on.")
    elif len(target.classes) == 2:
        lines.append("The more probable class is given.")
    refused = facts["params"]["out_of_range"] == "error"
    lines.append(
        "It is for rows like those that it was trained on: numbers beyond the ranges below are "
        f"{'refused' if refused else 'read as the nearest end, with a warning'}."
    )
    return _bullets(lines)


def _model(facts: Facts) -> str:
    given, versions = facts.get("given"), facts.get("versions", {})
    rows = [("method", f"{_title(facts)}: {facts.get('summary', 'not known')}")]
    if given is None:
        trainer = facts["fitted"]["trainer"]
        networks = trainer.get("committee", 1)
        kind = "a network" if networks == 1 else f"a committee of {networks} networks"
        rows.append(("what decides", f"{kind}, trained here (`{trainer['kind']}`)"))
    else:
        library = f" of {given['library']}" if given.get("library") else ""
        rows.append(("what decides", f"{given['name']}{library}, trained elsewhere"))
        if given.get("sha256"):
            rows.append(("its own digest", f"`{given['sha256']}`"))
        stored = given["stored"]
        rows.append(
            (
                "stored as",
                f"nothing but its answers about made-up rows, because {given.get('reason')}"
                if stored is None
                else _STORED[stored.get("format", "arrays")],
            )
        )
        if given.get("refits"):
            rows.append(("refits", f"{len(given['refits'])}, which advice has to convince as well"))
    if facts.get("digest"):
        rows.insert(0, ("digest, as in ledgers", f"`{facts['digest']}`"))
    if versions:
        rows.append(("made with", ", ".join(f"{name} {told}" for name, told in versions.items())))
    rows.append(("seed", str(facts["seed"])))
    return _table(("", ""), rows)


def _title(facts: Facts) -> str:
    return str(facts.get("title", facts["method"]))


def _rows(facts: Facts, schema: Schema) -> str:
    training = facts.get("training")
    if training is None:
        return "Not known: the model was stored by a release that did not keep this."
    total = training["rows"]
    groups = training["groups"]
    came = (
        "It is not known in which groups (years, branches, batches) they came."
        if groups is None
        else f"They came in {groups} groups."
    )
    kept = facts.get("background")
    if kept is not None:
        came += (
            f" Of them {kept['rows']} rows are stored with the model, which reasons of refusals "
            f"compare with: each the mean of at least {kept['least_people']} that are accepted."
        )
    counts = training["classes"]
    if counts is None:
        return f"{total:,} rows, without labels. {came}"
    assert schema.target is not None
    lines = [
        (f"`{label}`", f"{count:,}", _percent(count / total))
        for label, count in zip(schema.target.classes, counts, strict=True)
    ]
    table = _table((_cell(schema.target.name), "rows", "share"), lines)
    return f"{total:,} rows. {came}\n\n{table}"


def _figures(facts: Facts) -> str:
    measured = facts.get("measured")
    if measured is None:
        return f"{_NOT_MEASURED}: there were no held-out rows with labels."
    rows, networks = measured["rows"], measured.get("networks", 1)
    how = {
        "held out": f"On {rows:,} rows that were held out of training."
        if networks == 1
        else f"On held-out rows, {rows:,} answers: each of {networks} networks about those that it "
        "did not learn from. The committee of them was not measured by itself.",
        "of a refit": "The model was trained elsewhere and may know the rows that were given here. "
        f"So it was fitted again on most of them; the figures are of that refit, on {rows:,} "
        "others.",
        "given": f"{_NOT_MEASURED} on held-out rows: the model was trained elsewhere. The figures "
        f"are of {rows:,} rows that were given here. If it has learned from them, they are too "
        "good.",
    }[measured["rows_are"]]
    table = _table(
        ("measure", "value"),
        [
            ("accuracy", shown(measured["accuracy"])),
            ("accuracy of always giving the most frequent class", shown(measured["majority"])),
            ("Brier score (0 is best)", shown(measured["brier"])),
            ("area under the ROC curve", shown(measured["auc"])),
        ],
    )
    return f"{how}\n\n{table}"


def _promise(facts: Facts) -> str:
    promise = facts.get("promise")
    if promise is None:
        return (
            "Nothing: advice marked `found` is valid for this model. How much of it a retrained "
            f"model keeps was {_NOT_MEASURED.lower()} by the fit."
        )
    rows = [
        ("share of promises to be kept by the next model", _percent(promise["kept"])),
        (
            "kept by models outside the search, of training rows",
            _percent(promise["expected"]) if promise["expected"] is not None else "–",
        ),
        (
            "refused training rows that are promised something",
            _percent(promise["coverage"]),
        ),
    ]
    lines = [
        "A promise is advice with the status `found`; advice that is valid today but cannot be "
        "promised is `found_unsure`.",
    ]
    if not promise["coverage"]:
        lines.insert(0, "**Nothing can be promised at this share:** all advice is `found_unsure`.")
    if (facts.get("training") or {}).get("groups") is None:
        lines.append(
            "How far the world moves was made up, for want of groups (years, branches) that show "
            "it. On some public tables fewer promises than stated were kept in this case."
        )
    given = facts.get("given")
    if given is not None and not given.get("refits"):
        lines.append(
            "The model could not be fitted again, so that promises rest on networks that imitate "
            "it."
        )
    lines.append(
        "What the next model keeps is not known before there is one: `rocourse audit` counts it."
    )
    return f"{_table(('', ''), rows)}\n\n{_bullets(lines)}"


def _assumed(facts: Facts) -> str:
    assumed = facts.get("assumed") or {}
    rows = [
        (who, f"`{name}`", f"{told['value']}", told["means"])
        for who, options in assumed.items()
        for name, told in options.items()
    ]
    if not rows:
        return "None: nothing prepares its advice for a retrained model."
    table = _table(("for", "option", "value", "meaning"), rows)
    if not any("juror" in who for who in assumed):
        return table
    return (
        "Jurors are models that advice has to convince; witnesses took no part in the search, and "
        f"set what can be promised.\n\n{table}"
    )


def _certificates(told: Sequence[Facts]) -> str:
    if not told:
        return f"{_NOT_MEASURED}."
    parts = []
    for one in told:
        stated, levels = one["certificate"], [r["certificate"]["level"] for r in one["records"]]
        known = sorted(level for level in levels if level is not None)
        middle = f", median level {known[len(known) // 2]:.4g}" if known else ""
        sure = stated["confidence"]
        reached = (
            "" if stated["at"] is None else f"; {one['certified']} of them reach {stated['at']:g}"
        )
        parts.append(
            f"{stated['kind']}: {one['advised']} of {one['rows']} rows of {_cell(one['data'])} "
            f"have advice{middle}{'' if sure is None else f' at confidence {sure:g}'}{reached}. "
            f"{stated['covers']} Not: {stated['leaves_out']}"
        )
    return _bullets(parts)


def _fairness(told: Sequence[Facts]) -> str:
    if not told:
        return (
            f"{_NOT_MEASURED}: compare decisions, costs and promises of groups before deployment."
        )

    def cell(group: Facts, name: str) -> str:
        # Figures of before have no ratio.
        value, apart = group.get(name), group["differences"].get(name)
        if value is None:
            return "–"
        if name == "ratio":
            return f"{value:.2f}"
        if name == "cost":
            return f"{value:.2f}" if apart is None else f"{value:.2f} ({apart['value']:+.2f})"
        return _percent(value) + ("" if apart is None else f" ({100.0 * apart['value']:+.1f})")

    names = ("refused", "ratio", "coverage", "promised", "certainty", "cost", "kept")
    rows = [
        (
            f"{name}{' (few)' if group['small'] else ''}",
            str(group["people"]),
            *(cell(group, measure) for measure in names),
        )
        for one in told
        for name, group in one["groups"].items()
    ]
    told_of = _table(("people", "rows", *names), rows)
    return (
        f"{told_of}\n\nIn brackets: beside everyone else. Ratio: the share approved, to that of "
        "the group with the highest; below 0.8 the four-fifths rule sees adverse impact."
    )


def _limits(schema: Schema) -> str:
    rows = [(f"`{one.name}`", _values(one), f"{limits_in_words(one)}") for one in schema.features]
    lines = [together_in_words(rule) for rule in schema.together]
    if schema.max_features is not None:
        lines.append(f"at most {schema.max_features} features change at once")
    protected = [one for one in schema.features if is_protected(one.name)]
    held = [f"`{one.name}`" for one in protected if one.immutable]
    free = [f"`{one.name}`" for one in protected if not one.immutable]
    if held:
        lines.append(
            f"protected by its name, and used to decide but never advised on: {', '.join(held)}"
        )
    if free:
        lines.append(f"**protected by its name, but advice may ask for it: {', '.join(free)}**")
    if not protected:
        lines.append("no feature is protected by its name; others may stand in for such ones")
    return f"{_table(('feature', 'values', 'advice may'), rows)}\n\n{_bullets(lines)}"


def _values(feature: Feature) -> str:
    if isinstance(feature, Continuous):
        low, high = (describe_value(feature, end) for end in feature.limits)
        return f"{low} to {high}"
    assert isinstance(feature, Categorical)
    told = [describe_value(feature, value) for value in feature.categories]
    return first_few(told, _CATEGORIES, separator="; ")


def _gaps(facts: Facts, schema: Schema) -> str:
    lines = [
        "Causes: advice says what convinces the model, not what makes a person a better risk.",
        "Changes of law, product or population beyond the shifts above.",
        "Whether a change is feasible for this person, beyond the limits above and their wishes.",
        "Rows with values that training never saw, such as new categories: they are refused.",
    ]
    if any(getattr(one, "fill", None) is not None for one in schema.features):
        lines.append("Missing values are read as the training rows' usual ones, and told so.")
    if facts.get("given") is not None:
        lines.append("How the model itself was trained, and on whose data: ask its owner.")
    return _bullets(lines)


def _options(facts: Facts) -> str:
    lines = [
        f"{part}.{name} = {json.dumps(value, ensure_ascii=False)}"
        for part, options in facts["fitted"].items()
        for name, value in _flat(options or {})
    ]
    return "```\n" + "\n".join(lines) + "\n```"


def _flat(options: Facts) -> Iterator[tuple[str, Any]]:
    """Options by dotted names; of objects among them what is not switched off."""
    for name, value in options.items():
        if isinstance(value, dict):
            yield from (
                (f"{name}.{inner}", one) for inner, one in _flat(value) if one not in (0, None)
            )
        else:
            yield name, value


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f}%"


def _bullets(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    return as_markdown([header, *(tuple(map(_cell, row)) for row in rows)])


def _cell(text: str) -> str:
    """Text that does not end a cell, or a line."""
    return " ".join(str(text).split()).replace("|", "\\|")
