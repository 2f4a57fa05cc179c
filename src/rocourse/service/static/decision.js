// The view that decides on an application.

import { ApiError, post, uuid } from "./api.js";
import { announce, byId, facts, h, hideAlert, showAlert, whileBusy } from "./dom.js";
import { FileError, parseRow } from "./files.js";
import { buildFields } from "./form.js";
import { count, list, moment, percent, short, valueText } from "./format.js";
import { letters } from "./letter.js";
import { optionCards } from "./options.js";
import { certificate, changeList, comparison, copyable, duration, robustness } from "./recourse.js";
import { buildWishes } from "./wishes.js";

/** Makes one key per application, and the same one when it is sent again after a failure. */
function idempotency() {
  let last = { text: null, key: null };
  return {
    keyFor(body) {
      const text = JSON.stringify(body);
      if (text !== last.text) last = { text, key: uuid() };
      return last.key;
    },
    done() {
      last = { text: null, key: null };
    },
  };
}

function outcome(model) {
  return `${model.target} = ${model.favourable}`;
}

/** What was not given, and what the decision takes it for. */
function imputedText(model, names) {
  const known = new Map(model.features.map((feature) => [feature.name, feature]));
  const texts = names.map((name) => {
    const feature = known.get(name);
    return `${name} counts as ${valueText(feature, feature?.fill)}`;
  });
  return `This rests on what was not given: ${list(texts)}.`;
}

function verdict(model, decision) {
  const title = decision.favourable ? "Approved" : "Refused";
  return [
    h(
      "h2",
      { id: "verdict", tabindex: "-1", class: decision.favourable ? "verdict yes" : "verdict no" },
      h("span", { class: "mark", "aria-hidden": "true" }, decision.favourable ? "✓" : "✕"),
      title,
    ),
    h(
      "p",
      {},
      `The model gives the favourable outcome (${outcome(model)}) a probability of `,
      h("strong", {}, percent(decision.probability)),
      ".",
    ),
    decision.imputed?.length ? h("p", {}, imputedText(model, decision.imputed)) : null,
    decision.subject ? h("p", { class: "quiet" }, `Subject: ${decision.subject}`) : null,
  ];
}

function title(before) {
  return before.favourable
    ? "What to change to end where it was wished"
    : "What to change to be approved";
}

function severalOptions(model, before, options) {
  const sure = options.filter((option) => option.id).length;
  const promises = !model.ledger
    ? "Nothing is promised: the service has no ledger."
    : sure === 0
      ? "None of them is promised: whether the next model approves them is not sure."
      : sure === options.length
        ? "Each of them is promised; when one is redeemed, the others are withdrawn."
        : "What is promised comes first; when one is redeemed, the others are withdrawn.";
  return [
    h("h3", {}, title(before)),
    h("p", {}, `There are ${options.length} ways, each enough by itself. ${promises}`),
    optionCards(model, before, options),
    // One letter tells all that are promised.
    sure ? letters(options.find((option) => option.id).id) : null,
  ];
}

function foundRecourse(model, before, recourse) {
  const link = recourse.id ? h("a", { href: `#promise/${recourse.id}` }, "See the promise") : null;
  return [
    h("h3", {}, title(before)),
    changeList(recourse.changes),
    h(
      "p",
      {},
      "With that, the probability goes from ",
      `${percent(before.probability)} to `,
      h("strong", {}, percent(recourse.probability)),
      ".",
    ),
    recourse.robustness ? robustness(recourse.robustness) : null,
    certificate(recourse.certificate),
    comparison(model.features, before.row, recourse.row),
    facts([
      ["Cost of the change", short(recourse.cost)],
      ["Takes about", duration(recourse.months)],
      ["Promised on", moment(recourse.issued_at)],
      ["Good until", moment(recourse.expires_at)],
      ["Promise", recourse.id ? copyable(recourse.id) : "Not recorded: the service has no ledger"],
    ]),
    link ? h("p", {}, link) : null,
    recourse.id ? letters(recourse.id) : null,
  ];
}

function unsureRecourse(model, before, recourse) {
  return [
    h("h3", {}, "What would be approved today"),
    changeList(recourse.changes),
    h(
      "p",
      {},
      "With that, today's model would approve. Whether the next one does is not sure: ",
      recourse.robustness ? `the estimated chance is ${percent(recourse.robustness.share)}. ` : "",
      "Nothing was promised.",
    ),
    certificate(recourse.certificate),
    comparison(model.features, before.row, recourse.row),
  ];
}

function notFound(reason) {
  return [
    h("h3", {}, reason ? "The wishes cannot be met" : "No recourse was found"),
    h(
      "p",
      {},
      reason ??
        "Within what may be changed, the model found nothing that would lead to an approval.",
      " Nothing was promised.",
    ),
  ];
}

function summary(decision) {
  if (decision.favourable) return "Approved.";
  const ways = decision.recourse?.options?.length ?? 0;
  if (ways > 1) return `Refused. There are ${ways} options.`;
  if (decision.recourse?.status === "found_unsure")
    return "Refused. What would be approved today was found, and not promised.";
  if (decision.recourse?.status !== "found") return "Refused. No recourse was found.";
  const changes = count(decision.recourse.changes.length, "change");
  return `Refused. A recourse was found, with ${changes}.`;
}

/** The answer of the service to one applicant, as a card. */
function card(model, row, decision) {
  return h(
    "section",
    { class: "card", "aria-labelledby": "verdict" },
    verdict(model, decision),
    advice(model, { ...decision, row }, decision.recourse),
  );
}

function advice(model, before, recourse) {
  // Who is approved has a recourse only if wishes are not met as things are.
  if (!recourse) return [];
  if (recourse.options?.length > 1) return severalOptions(model, before, recourse.options);
  if (recourse.status === "found") return foundRecourse(model, before, recourse);
  if (recourse.status === "found_unsure") return unsureRecourse(model, before, recourse);
  return notFound(recourse.reason);
}

function describeFill({ missing, unknown, wrong }, source) {
  const parts = [`Filled in from ${source}.`];
  if (missing.length) parts.push(`Missing there, so still empty: ${list(missing)}.`);
  if (unknown.length) parts.push(`Not asked for, so ignored: ${list(unknown)}.`);
  if (wrong.length) parts.push(`Could not be used: ${list(wrong)}.`);
  return parts.join(" ");
}

function say(text) {
  byId("file-note").textContent = text;
  announce(text);
}

async function loadFile(fields, input) {
  const alert = byId("file-alert");
  hideAlert(alert);
  const [file] = input.files;
  if (!file) return;
  try {
    const filled = fields.fill(parseRow(await file.text()));
    say(describeFill(filled, file.name));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    say("");
    showAlert(alert, `${file.name}: ${error.message}`);
  } finally {
    // So that choosing the same file again is noticed.
    input.value = "";
  }
}

/** The subject reference or null; undefined if it is not one, after saying so. */
function readSubject() {
  const input = byId("subject");
  const text = input.value.trim();
  const fine = /^[ -~]{0,255}$/.test(text);
  byId("subject-error").textContent = fine
    ? ""
    : "Use at most 255 plain letters, digits, signs and spaces.";
  if (fine) input.removeAttribute("aria-invalid");
  else input.setAttribute("aria-invalid", "true");
  if (!fine) input.focus();
  return fine ? text || null : undefined;
}

async function decide(model, fields, wishes, keys) {
  const alert = byId("decide-alert");
  hideAlert(alert);
  byId("decision").replaceChildren();
  const row = fields.read();
  if (row === null) return;
  const subject = readSubject();
  if (subject === undefined) return;
  const wished = wishes.read();
  if (wished === undefined) return;
  const options = Number(byId("options").value);
  const body = { applicants: [{ row, subject, options, wishes: wished }] };
  try {
    const answer = await post("v1/decisions", body, { "Idempotency-Key": keys.keyFor(body) });
    keys.done();
    const [decision] = answer.decisions;
    byId("decision").replaceChildren(card(model, row, decision));
    announce(summary(decision));
    byId("verdict").focus();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 422 && fields.blame(error.message)) announce(error.message);
    else showAlert(alert, error.message);
  }
}

/** Wires the view once the model is known; called again when it is loaded anew. */
export function makeDecide(model) {
  const fields = buildFields(byId("decide-fields"), model.features, "decide");
  const wishes = buildWishes(byId("wishes"), model.features, "decide");
  const keys = idempotency();
  const form = byId("decide-form");
  const submit = form.querySelector("[type=submit]");
  form.hidden = false;
  byId("decision").replaceChildren();
  say("");

  form.onsubmit = (event) => {
    event.preventDefault();
    whileBusy(submit, () => decide(model, fields, wishes, keys));
  };
  byId("example").onclick = () => {
    hideAlert(byId("file-alert"));
    say(describeFill(fields.fill(new Map(Object.entries(model.example))), "the example"));
  };
  byId("clear").onclick = () => {
    hideAlert(byId("file-alert"));
    hideAlert(byId("decide-alert"));
    fields.clear();
    wishes.clear();
    byId("subject").value = "";
    readSubject();
    byId("decision").replaceChildren();
    say("The form is empty.");
  };
  byId("file").onchange = (event) => loadFile(fields, event.target);
}
