// The fields of an application, built from the schema of the model.

import { announce, h } from "./dom.js";
import { categoryLabel, count, number, valueText } from "./format.js";
import { t } from "./words.js";

// Beyond this the service takes no number.
const LARGEST = 1e30;

// How an error of the service names a feature: by itself, or as the end of a place.
const QUOTES = [
  ["'", "'"],
  ['"', '"'],
  ["→ ", '"'],
  ["\\u2192 ", '"'],
];

const RULES = {
  fixed: t("cannot be asked to change"),
  up: t("can only go up"),
  down: t("can only go down"),
};

const WAYS = { up: "up", increase: "up", down: "down", decrease: "down" };

/** Whether a field may be left empty, and what is said of one that is. */
function optional(feature) {
  return feature.missing === "impute" || feature.missing === "category";
}

function emptyNote(feature) {
  if (feature.missing === "category") return t("Not given: it counts as missing.");
  return optional(feature) ? t("Not given: it counts as {value}.", { value: valueText(feature, feature.fill) }) : "";
}

function rangeHint(feature) {
  const [low, high] = [feature.low, feature.high].map((end) => (feature.date ? end : number(end)));
  const whole = feature.integer && !feature.date;
  return t(whole ? "Usually {low} to {high}, whole number" : "Usually {low} to {high}", { low, high });
}

/** What a recourse may do to the feature: one of the rules, or null. */
function rule(feature) {
  return feature.immutable ? "fixed" : (WAYS[feature.direction] ?? null);
}

function boundProblem(feature, value) {
  const [lowest, highest] = feature.bounds ?? [null, null];
  if (lowest !== null && value < lowest) return t("Enter {n} or more.", { n: number(lowest) });
  if (highest !== null && value > highest) return t("Enter {n} or less.", { n: number(highest) });
  return null;
}

function clippingNote(feature, text) {
  const value = Number(text);
  const counted = Math.min(Math.max(value, feature.low), feature.high);
  if (text === "" || value === counted || boundProblem(feature, value) !== null) return "";
  return t("Outside what the model has seen: it counts as {n}.", { n: number(counted) });
}

/** Which category a value from a file means: itself, its text, its number or its label; or -1. */
export function categoryOf(feature, value) {
  const exact = feature.categories.indexOf(value);
  if (exact >= 0) return exact;
  const text = String(value).trim().toLowerCase();
  const alike = feature.categories.findIndex(
    (category) =>
      String(category).toLowerCase() === text ||
      (typeof category === "number" && text !== "" && Number(text) === category),
  );
  if (alike >= 0) return alike;
  return (feature.labels ?? []).findIndex((label) => label.toLowerCase() === text);
}

function numberProblem(feature, input) {
  if (input.validity.badInput) return t("Enter a number.");
  if (input.value === "") return optional(feature) ? null : t("Enter a number; it is needed.");
  const value = Number(input.value);
  if (Math.abs(value) > LARGEST) return t("Enter a number that is not so large.");
  if (feature.integer && !Number.isInteger(value)) return t("Enter a whole number.");
  return boundProblem(feature, value);
}

function numberControl(feature, attributes, changed) {
  const [lowest, highest] = feature.bounds ?? [null, null];
  const input = h("input", {
    ...attributes,
    type: "number",
    step: feature.integer ? "1" : "any",
    inputmode: feature.low < 0 ? null : feature.integer ? "numeric" : "decimal",
    min: lowest,
    max: highest,
    on: { input: changed },
  });
  return {
    input,
    problem: () => numberProblem(feature, input),
    value: () => (input.value === "" ? null : Number(input.value)),
    set(value) {
      input.value = value ?? "";
      return value === undefined || value === null || input.value !== ""
        ? null
        : t("“{value}” in the file is not a number.", { value });
    },
    note: () => (input.value === "" ? emptyNote(feature) : clippingNote(feature, input.value)),
  };
}

function dateProblem(feature, input) {
  if (input.validity.badInput) return t("Enter a date.");
  if (input.value === "") return optional(feature) ? null : t("Enter a date; it is needed.");
  const [first, last] = feature.bounds ?? [null, null];
  if (first !== null && input.value < first) return t("Enter {day} or later.", { day: first });
  if (last !== null && input.value > last) return t("Enter {day} or earlier.", { day: last });
  return null;
}

function dateControl(feature, attributes, changed) {
  const [first, last] = feature.bounds ?? [null, null];
  const input = h("input", {
    ...attributes,
    type: feature.integer ? "date" : "datetime-local",
    step: feature.integer ? null : "1",
    min: first,
    max: last,
    on: { input: changed },
  });
  return {
    input,
    problem: () => dateProblem(feature, input),
    value: () => (input.value === "" ? null : input.value),
    set(value) {
      input.value = value ?? "";
      return value === undefined || value === null || value === "" || input.value !== ""
        ? null
        : t("“{value}” in the file is not a date.", { value });
    },
    note: () => (input.value === "" ? emptyNote(feature) : ""),
  };
}

function categoryControl(feature, attributes, changed) {
  const options = feature.categories.map((_, i) =>
    h("option", { value: i }, categoryLabel(feature, i)),
  );
  const input = h(
    "select",
    { ...attributes, on: { change: changed } },
    h("option", { value: "" }, optional(feature) ? t("Not given") : t("Choose …")),
    options,
  );
  return {
    input,
    problem: () =>
      input.value === "" && !optional(feature) ? t("Choose one; it is needed.") : null,
    // The category itself, not its text: whether it is a number, a text or a boolean matters.
    value: () => (input.value === "" ? null : feature.categories[Number(input.value)]),
    set(value) {
      const i = value === undefined || value === null ? -1 : categoryOf(feature, value);
      input.value = i < 0 ? "" : String(i);
      return i >= 0 || value === undefined || value === null || value === ""
        ? null
        : t("“{value}” is not one of the choices.", { value });
    },
    note: () => (input.value === "" ? emptyNote(feature) : ""),
  };
}

function controlOf(feature) {
  if (feature.kind !== "continuous") return categoryControl;
  return feature.date ? dateControl : numberControl;
}

/** One field: label, control, hints and a place for what is wrong. */
function makeField(feature, id) {
  const error = h("p", { id: `${id}-error`, class: "error" });
  const note = h("p", { id: `${id}-note`, class: "note" });
  const described = `${id}-hint ${note.id} ${error.id}`;
  const attributes = { id, autocomplete: "off", "aria-describedby": described };
  const mark = (message) => {
    error.textContent = message ?? "";
    if (message) control.input.setAttribute("aria-invalid", "true");
    else control.input.removeAttribute("aria-invalid");
  };
  const refresh = () => {
    note.textContent = control.note();
  };
  const changed = () => {
    mark(null);
    refresh();
  };
  const control = controlOf(feature)(feature, attributes, changed);
  control.input.addEventListener("change", () => note.textContent && announce(note.textContent));
  const may = rule(feature);
  // A date is no number of days to whoever enters it.
  const unit = feature.date ? null : feature.unit;
  const node = h(
    "div",
    { class: "field" },
    h("label", { for: id }, unit ? `${feature.name} (${unit})` : feature.name),
    control.input,
    h(
      "p",
      { id: `${id}-hint`, class: "hint" },
      feature.kind === "continuous" ? h("span", {}, rangeHint(feature)) : null,
      may ? h("span", { class: `rule ${may}` }, RULES[may]) : null,
    ),
    note,
    error,
  );
  return { feature, node, control, mark, refresh };
}

/**
 * Builds the fields into a container.
 *
 * Returns what can be done with them: `read` gives the row, or null after marking what is wrong and
 * moving the focus there; `fill` takes values by name and says which names it had no field for and
 * which fields it had no value for; `blame` marks the field that an error of the service quotes.
 */
export function buildFields(container, features, prefix) {
  const fields = features.map((feature, i) => makeField(feature, `${prefix}-${i}`));
  container.replaceChildren(...fields.map((field) => field.node));

  function read() {
    const wrong = fields.filter((field) => {
      const problem = field.control.problem();
      field.mark(problem);
      return problem !== null;
    });
    if (wrong.length === 0) {
      return Object.fromEntries(
        fields.map(({ feature, control }) => [feature.name, control.value()]),
      );
    }
    announce(t("{fields} another look.", { fields: count(wrong.length, "field needs", "fields need") }));
    wrong[0].control.input.focus();
    return null;
  }

  function fill(values) {
    const names = new Set(features.map((feature) => feature.name));
    const wrong = [];
    for (const { feature, control, mark, refresh } of fields) {
      const problem = control.set(values.get(feature.name));
      mark(problem);
      refresh();
      if (problem) wrong.push(feature.name);
    }
    return {
      wrong,
      missing: [...names].filter((name) => !values.has(name)),
      unknown: [...values.keys()].filter((name) => !names.has(name)),
    };
  }

  function blame(message) {
    const named = fields.filter(({ feature }) =>
      QUOTES.some(([open, close]) => message.includes(open + feature.name + close)),
    );
    if (named.length !== 1) return false;
    named[0].mark(message);
    named[0].control.input.focus();
    return true;
  }

  return { read, fill, blame, clear: () => fill(new Map()) };
}
