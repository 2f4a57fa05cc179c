// Several options of a recourse, as cards beside each other.

import { facts, h } from "./dom.js";
import { moment, percent, short } from "./format.js";
import { certificate, changeList, comparison, copyable, duration, robustness } from "./recourse.js";

// How sure a share is, in words: the first that it reaches.
const CERTAINTIES = [
  [0.95, "Very likely to hold when the model is renewed"],
  [0.8, "Likely to hold when the model is renewed"],
  [0.5, "More likely than not to hold when the model is renewed"],
  [0, "Unlikely to hold when the model is renewed"],
];

/** How sure an option is, in words. */
export function certainty(share) {
  return CERTAINTIES.find(([least]) => share >= least)[1];
}

function promiseOf(option) {
  if (option.status !== "found") return "Not promised: approved by today's model only";
  if (!option.id) return "Not recorded: the service has no ledger";
  return [
    copyable(option.id),
    h("p", {}, h("a", { href: `#promise/${option.id}` }, "See the promise")),
  ];
}

function optionCard(model, before, option, { number, cheapest }) {
  const promised = option.status === "found" && option.id;
  const id = `option-${number}`;
  return h(
    "li",
    { class: promised ? "option promised" : "option", "aria-labelledby": id },
    h(
      "h4",
      { id },
      `Option ${number}`,
      promised ? h("span", { class: "tag" }, "promised") : null,
      cheapest ? h("span", { class: "tag quiet" }, "cheapest") : null,
    ),
    changeList(option.changes),
    h(
      "div",
      {},
      option.robustness
        ? h("p", { class: "certainty" }, `${certainty(option.robustness.share)}.`)
        : null,
      option.robustness ? robustness(option.robustness) : null,
      certificate(option.certificate),
    ),
    facts([
      ["Cost", short(option.cost)],
      ["Takes about", duration(option.months)],
      ["Probability", percent(option.probability)],
      ["Good until", moment(option.expires_at)],
      ["Promise", promiseOf(option)],
    ]),
    h(
      "details",
      {},
      h("summary", {}, "Before and after"),
      comparison(model.features, before.row, option.row),
    ),
  );
}

/** The options of a recourse, in the order of the service. */
export function optionCards(model, before, options) {
  const least = Math.min(...options.map((option) => option.cost));
  return h(
    "ol",
    { class: "options" },
    options.map((option, i) =>
      optionCard(model, before, option, { number: i + 1, cheapest: option.cost === least }),
    ),
  );
}
