// What a recourse asks for: the row before and after, and how far it can be relied on.

import { announce, choice, h, svg, table } from "./dom.js";
import { number, percent, proved, short, valueText } from "./format.js";
import { t } from "./words.js";

const MOST_SEGMENTS = 24;

/** What the change is, in a word or two: not by colour alone. */
function difference(feature, before, after) {
  const numbers = typeof before === "number" && typeof after === "number";
  if (!numbers || feature?.kind !== "continuous") return t("changed");
  const by = number(Math.abs(after - before));
  return t(after > before ? "up by {n}" : "down by {n}", { n: by });
}

function after(feature, from, to) {
  const text = valueText(feature, to);
  if (from === to) return text;
  return [h("strong", {}, text), " ", h("span", { class: "tag" }, difference(feature, from, to))];
}

/** A name that may be broken between its words, as in `CreditAmount` and `credit_amount`. */
function breakable(name) {
  const words = name.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[_.-])/);
  return words.map((word, i) => (i === 0 ? word : [h("wbr"), word]));
}

/** The names of all fields of two rows: those of the model first, in its order. */
function fieldNames(features, one, other) {
  const names = features.map((feature) => feature.name);
  const present = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...new Set([...names.filter((name) => present.has(name)), ...present])];
}

/** Two rows beside each other, with a choice between all fields and the changed ones. */
export function comparison(features, row, recourse) {
  const known = new Map(features.map((feature) => [feature.name, feature]));
  const rows = fieldNames(features, row, recourse).map((name) => {
    const [feature, from, to] = [known.get(name), row[name], recourse[name]];
    return {
      class: from === to ? "same" : "changed",
      cells: [breakable(name), valueText(feature, from), after(feature, from, to)],
    };
  });
  const box = table(t("Before and after"), [t("Field"), t("Before"), t("After")], rows);
  box.classList.add("changed-only");
  const toggle = choice(
    t("Show"),
    [
      ["changed", t("Changed only")],
      ["all", t("All fields")],
    ],
    (shown) => box.classList.toggle("changed-only", shown === "changed"),
  );
  return h("div", { class: "comparison" }, toggle, box);
}

/** What to change, in words. */
export function changeList(changes) {
  return h(
    "ul",
    { class: "changes" },
    changes.map((change) => h("li", {}, change.text)),
  );
}

/** How long the changes take, where that is known. */
export function duration(months) {
  if (months === null || months === undefined) return null;
  return t(months === 1 ? "1 month" : "{n} months", { n: short(months) });
}

/** Segments of which as many are filled as models honour the recourse. */
function segments(honoured, witnesses) {
  const pieces = Math.min(witnesses, MOST_SEGMENTS);
  const filled = Math.floor((honoured / witnesses) * pieces);
  const width = 240 / pieces;
  return Array.from({ length: pieces }, (_, i) =>
    svg("rect", {
      class: i < filled ? "filled" : "hollow",
      x: i * width + 1,
      y: 1,
      width: width - 3,
      height: 12,
      rx: 2,
    }),
  );
}

/** How many models of shifted data would honour the recourse, in words and as a bar. */
export function robustness({ witnesses, honoured, share }) {
  if (witnesses === null) {
    const estimate = t(
      "The chance that the next model honours this is estimated at {share}.",
      { share: percent(share) },
    );
    return h("div", { class: "robustness" }, h("p", {}, estimate));
  }
  const words = t("{n} of {all} models of shifted data would honour this.", {
    n: honoured,
    all: witnesses,
  });
  const bar = svg(
    "svg",
    // The words beside it say the same.
    { class: "bar", viewBox: "0 0 240 14", "aria-hidden": "true" },
    segments(honoured, witnesses),
  );
  return h("div", { class: "robustness" }, h("p", {}, words), bar);
}

/** What is proved of the recourse, and what is not. */
export function certificate(told) {
  if (!told) return null;
  const at = told.at === null ? "" : t(", {level} asked for", { level: proved(told.at) });
  const sure =
    told.confidence === null
      ? ""
      : t(" at a confidence of {share}", { share: percent(told.confidence) });
  const level = t("Level: {level}", { level: proved(told.level) });
  return h(
    "details",
    { class: "certificate" },
    h("summary", {}, told.holds === false ? t("Not certified") : t("Certified")),
    h("p", {}, `${told.covers} ${level}${sure}${at}.`),
    h("p", { class: "quiet" }, t("It does not say more: {rest}", { rest: told.leaves_out })),
  );
}

async function copy(text, node, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = t("Copied");
    announce(t("The id was copied."));
  } catch {
    // Without HTTPS the clipboard is out of reach: select the text instead.
    getSelection().selectAllChildren(node);
    button.textContent = t("Press Ctrl+C");
    announce(t("The id is selected. Press Ctrl and C to copy it."));
  }
}

/** An id with a button that copies it. */
export function copyable(id) {
  const code = h("code", { class: "id" }, id);
  const button = h("button", { type: "button", class: "small" }, t("Copy the id"));
  button.addEventListener("click", () => copy(id, code, button));
  return h("span", { class: "copyable" }, code, " ", button);
}
