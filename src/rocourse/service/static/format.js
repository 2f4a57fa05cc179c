// Values in words.

import { h } from "./dom.js";
import { language, t } from "./words.js";

// No comma in four digits: they may be a year.
const NUMBERS = new Intl.NumberFormat(language, { maximumSignificantDigits: 8, useGrouping: "min2" });
const SHORT = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
const PROVED = new Intl.NumberFormat(language, {
  maximumSignificantDigits: 3,
  roundingMode: "floor",
});
const PERCENT = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });
const MOMENTS = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});

export function number(value) {
  return NUMBERS.format(value);
}

/** A cost, a margin: two digits are enough. */
export function short(value) {
  return typeof value === "number" ? SHORT.format(value) : "–";
}

/** What is proved: three digits, rounded down, so that no more is said than holds. */
export function proved(value) {
  return PROVED.format(value);
}

/** A share; what is not certain is never rounded to 0% or 100%. */
export function percent(share) {
  if (typeof share !== "number") return "–";
  if (share > 0 && share < 0.001) return t("less than 0.1%");
  if (share > 0.999 && share < 1) return t("more than 99.9%");
  return PERCENT.format(share);
}

export function moment(text) {
  if (!text) return null;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return text;
  return h("time", { datetime: text }, `${MOMENTS.format(date)} UTC`);
}

/** The beginning of a digest, with the whole of it at hand. */
export function digest(text) {
  return h("code", { title: text }, shortDigest(text));
}

export function shortDigest(text) {
  return text.slice(0, 8);
}

export function count(n, one, many = `${one}s`) {
  return t(`{n} ${n === 1 ? one : many}`, { n: number(n) });
}

/** Several things, as in "a, b and c". */
export function list(texts) {
  if (texts.length < 2) return texts.join("");
  return t("{first} and {last}", { first: texts.slice(0, -1).join(", "), last: texts.at(-1) });
}

export function categoryLabel(feature, i) {
  return feature.labels?.[i] ?? String(feature.categories[i]);
}

/** A value of a feature as an applicant would say it; `feature` may be unknown. */
export function valueText(feature, value) {
  if (value === null || value === undefined) return t("not given");
  if (feature?.kind === "categorical") {
    const i = feature.categories.indexOf(value);
    return i < 0 ? String(value) : categoryLabel(feature, i);
  }
  if (typeof value !== "number") return String(value);
  return feature?.unit ? `${number(value)} ${feature.unit}` : number(value);
}
