// What an applicant wishes: beside each field, once it is asked for.

import { byId, freshId, h } from "./dom.js";
import { list, valueText } from "./format.js";

const ENDS = ["At least", "At most"];
const DATES = ["From", "Until"];

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

/** What may be wished for one feature; `changed` is called when that was done. */
function makeWish(feature, changed) {
  const id = freshId("wish");
  const lock = h("input", { id, type: "checkbox" });
  const words = feature.kind !== "continuous" ? [] : feature.date ? DATES : ENDS;
  const ends = words.map((end) => endInput(feature, end, changed));
  lock.addEventListener("change", () => {
    // What stays has no other place to end at.
    for (const { input } of ends) input.disabled = lock.checked;
    changed();
  });
  const node = h(
    "div",
    { class: "wish" },
    h(
      "span",
      { class: "keep" },
      lock,
      h("label", { for: id }, "Keep ", h("span", { class: "unseen" }, `${feature.name} `), "as it is"),
    ),
    ends.length
      ? h("span", { class: feature.date ? "ends dates" : "ends" }, ends.map(({ node }) => node))
      : null,
  );
  const end = ({ input }) => (feature.date ? input.value : Number(input.value));
  const limits = () => ends.map((one) => (one.input.value === "" ? null : end(one)));
  return {
    feature,
    node,
    wrong: () => ends.map(({ input }) => input).find((input) => input.validity.badInput),
    locked: () => lock.checked,
    range: () => (lock.checked || limits().every((end) => end === null) ? null : limits()),
    clear() {
      lock.checked = false;
      for (const { input } of ends) {
        input.value = "";
        input.disabled = false;
      }
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
    const count = wishes.filter((wish) => wish.locked() || wish.range()).length;
    button.textContent = count ? `My wishes (${count})` : "My wishes";
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
    const lock = wishes.filter((wish) => wish.locked()).map(({ feature }) => feature.name);
    const ranges = Object.fromEntries(
      wishes.filter((wish) => wish.range()).map((wish) => [wish.feature.name, wish.range()]),
    );
    return lock.length || Object.keys(ranges).length ? { lock, ranges } : null;
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
    return `${name} ends as ${values.map((value) => valueText(feature, value)).join(" or ")}`;
  }
  const words = feature?.date ? DATES : ENDS;
  const ends = values.flatMap((end, i) =>
    end === null ? [] : [`${words[i].toLowerCase()} ${valueText(feature, end)}`],
  );
  return `${name} ${feature?.date ? "" : "of "}${ends.join(" and ")}`;
}

/** Wishes that were made, in words; null without any. */
export function wishesText(features, wishes) {
  if (!wishes) return null;
  const known = new Map(features.map((feature) => [feature.name, feature]));
  const parts = [
    wishes.lock?.length ? `${list(wishes.lock)} as before` : null,
    ...Object.entries(wishes.ranges ?? {}).map(([name, values]) =>
      rangeText(known.get(name), name, values),
    ),
    wishes.only ? `no change but of ${list(wishes.only) || "nothing"}` : null,
    wishes.prefer?.length ? `rather ${list(wishes.prefer)} than others` : null,
  ].filter(Boolean);
  return parts.length ? parts.join("; ") : null;
}
