// What an applicant wishes: beside each field, once it is asked for.

import { byId, freshId, h } from "./dom.js";
import { list, valueText } from "./format.js";
import { t } from "./words.js";

const ENDS = [t("At least"), t("At most")];
const DATES = [t("From"), t("Until")];

function inputType(feature) {
  if (!feature.date) return "number";
  return feature.integer ? "date" : "datetime-local";
}

/** One end of a range, as a small field. */
function endInput(feature, words, changed) {
  const id = freshId("wish");
  const input = h("input", {
    id,
    type: inputType(feature),
    step: feature.integer ? "1" : "any",
    autocomplete: "off",
    on: { input: changed },
  });
  const label = h("label", { for: id }, words, h("span", { class: "unseen" }, ` ${feature.name}`));
  return { input, node: h("span", { class: "end" }, label, input) };
}

/** A box to tick, and its words; the name of the feature is for those who do not see the field. */
function tick(before, feature, after, changed) {
  const id = freshId("wish");
  const input = h("input", { id, type: "checkbox", on: { change: changed } });
  const name = h("span", { class: "unseen" }, `${feature.name} `);
  return { input, node: h("span", { class: "tick" }, input, h("label", { for: id }, before, name, after)) };
}

/** The categories of a feature, to be ticked if they will do. */
function among(feature, changed) {
  const title = h("summary", {}, t("End as one of …"));
  const boxes = feature.categories.map((category) => {
    const id = freshId("wish");
    const input = h("input", { id, type: "checkbox", on: { change: changed } });
    const label = h("label", { for: id }, valueText(feature, category));
    return { category, input, node: h("span", { class: "tick" }, input, label) };
  });
  const legend = h("legend", { class: "unseen" }, t("{name} may end as", { name: feature.name }));
  const group = h("fieldset", { class: "among" }, legend, boxes.map(({ node }) => node));
  const ticked = () => boxes.filter(({ input }) => input.checked).map(({ category }) => category);
  return { inputs: boxes.map(({ input }) => input), ticked, node: h("details", {}, title, group) };
}

/** What may be wished for one feature; `changed` is called when that was done. */
function makeWish(feature, changed) {
  const continuous = feature.kind === "continuous";
  const ends = (!continuous ? [] : feature.date ? DATES : ENDS).map((end) =>
    endInput(feature, end, changed),
  );
  const kinds = continuous ? null : among(feature, changed);
  const places = continuous ? ends.map(({ input }) => input) : kinds.inputs;
  function locking() {
    // What stays has no other place to end at.
    for (const input of [...places, rather.input]) input.disabled = lock.input.checked;
    changed();
  }
  const lock = tick(t("Keep "), feature, t("as it is"), locking);
  const rather = tick(t("Change "), feature, t("rather than others"), changed);
  const node = h(
    "div",
    { class: "wish" },
    lock.node,
    rather.node,
    continuous
      ? h("span", { class: feature.date ? "ends dates" : "ends" }, ends.map(({ node }) => node))
      : kinds.node,
  );
  const end = ({ input }) => (feature.date ? input.value : Number(input.value));
  const limits = () => ends.map((one) => (one.input.value === "" ? null : end(one)));
  const locked = () => lock.input.checked;
  const wished = () => (continuous ? limits().some((end) => end !== null) : kinds.ticked().length > 0);
  return {
    feature,
    node,
    wrong: () => ends.map(({ input }) => input).find((input) => input.validity.badInput),
    locked,
    preferred: () => !locked() && rather.input.checked,
    range: () => (locked() || !wished() ? null : continuous ? limits() : kinds.ticked()),
    clear() {
      for (const input of [lock.input, rather.input, ...places]) {
        if (input.type === "checkbox") input.checked = false;
        else input.value = "";
        input.disabled = false;
      }
      if (kinds) kinds.node.open = false;
    },
  };
}

/**
 * Wires the button that shows wishes beside the fields of a form.
 *
 * They are made when they are first asked for. Returns `read`, which gives the wishes, null without
 * any, or undefined after moving the focus to what cannot be read; and `clear`.
 */
export function buildWishes(button, features, prefix) {
  let wishes = [];

  function mark() {
    const made = (wish) => wish.locked() || wish.preferred() || wish.range();
    const count = wishes.filter(made).length;
    button.textContent = count ? t("My wishes ({n})", { n: count }) : t("My wishes");
  }

  function make() {
    features.forEach((feature, i) => {
      if (feature.immutable) return;
      const wish = makeWish(feature, mark);
      byId(`${prefix}-${i}`).closest(".field").append(wish.node);
      wishes.push(wish);
    });
  }

  function show(open) {
    if (open && wishes.length === 0) make();
    button.setAttribute("aria-expanded", String(open));
    for (const { node } of wishes) node.hidden = !open;
  }

  function read() {
    const wrong = wishes.map((wish) => wish.wrong()).find(Boolean);
    if (wrong) {
      show(true);
      wrong.focus();
      return undefined;
    }
    const named = (some) => some.map(({ feature }) => feature.name);
    const lock = named(wishes.filter((wish) => wish.locked()));
    const prefer = named(wishes.filter((wish) => wish.preferred()));
    const ranges = Object.fromEntries(
      wishes.filter((wish) => wish.range()).map((wish) => [wish.feature.name, wish.range()]),
    );
    const any = lock.length || prefer.length || Object.keys(ranges).length;
    return any ? { lock, ranges, prefer } : null;
  }

  function clear() {
    for (const wish of wishes) wish.clear();
    mark();
  }

  button.onclick = () => show(button.getAttribute("aria-expanded") !== "true");
  show(false);
  mark();
  return { read, clear };
}

function rangeText(feature, name, values) {
  if (feature?.kind === "categorical") {
    const ends = values.map((value) => valueText(feature, value)).join(t(" or "));
    return t("{name} ends as {ends}", { name, ends });
  }
  const words = feature?.date ? DATES : ENDS;
  const ends = values.flatMap((end, i) =>
    end === null ? [] : [`${words[i].toLowerCase()} ${valueText(feature, end)}`],
  );
  return t(feature?.date ? "{name} {ends}" : "{name} of {ends}", { name, ends: list(ends) });
}

/** Wishes that were made, in words; null without any. */
export function wishesText(features, wishes) {
  if (!wishes) return null;
  const known = new Map(features.map((feature) => [feature.name, feature]));
  const parts = [
    wishes.lock?.length ? t("{names} as before", { names: list(wishes.lock) }) : null,
    ...Object.entries(wishes.ranges ?? {}).map(([name, values]) =>
      rangeText(known.get(name), name, values),
    ),
    wishes.only ? t("no change but of {names}", { names: list(wishes.only) || t("nothing") }) : null,
    wishes.prefer?.length ? t("rather {names} than others", { names: list(wishes.prefer) }) : null,
  ].filter(Boolean);
  return parts.length ? parts.join("; ") : null;
}
