// Several options of a recourse, as cards beside each other.

import { facts, h } from "./dom.js";
import { moment, percent, short } from "./format.js";
import { certificate, changeList, comparison, copyable, duration, robustness } from "./recourse.js";
import { t } from "./words.js";

// How sure a share is, in words: the first that it reaches.
const CERTAINTIES = [
  [0.95, t("Very likely to hold when the model is renewed")],
  [0.8, t("Likely to hold when the model is renewed")],
  [0.5, t("More likely than not to hold when the model is renewed")],
  [0, t("Unlikely to hold when the model is renewed")],
];

/** How sure an option is, in words. */
export function certainty(share) {
  return CERTAINTIES.find(([least]) => share >= least)[1];
}

function promiseOf(option) {
  if (option.status !== "found") return t("Not promised: approved by today's model only");
  if (!option.id) return t("Not recorded: the service has no ledger");
  return [
    copyable(option.id),
    h("p", {}, h("a", { href: `#promise/${option.id}` }, t("See the promise"))),
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
      t("Option {n}", { n: number }),
      promised ? h("span", { class: "tag" }, t("promised")) : null,
      cheapest ? h("span", { class: "tag quiet" }, t("cheapest")) : null,
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
      [t("Cost"), short(option.cost)],
      [t("Takes about"), duration(option.months)],
      [t("Probability"), percent(option.probability)],
      [t("Good until"), moment(option.expires_at)],
      [t("Promise"), promiseOf(option)],
    ]),
    h(
      "details",
      {},
      h("summary", {}, t("Before and after")),
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
