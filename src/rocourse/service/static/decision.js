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
import { parts, t } from "./words.js";

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
    return t("{name} counts as {value}", { name, value: valueText(feature, feature?.fill) });
  });
  return t("This rests on what was not given: {facts}.", { facts: list(texts) });
}

function verdict(model, decision) {
  const title = decision.favourable ? t("Approved") : t("Refused");
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
      parts("The model gives the favourable outcome ({outcome}) a probability of {share}.", {
        outcome: outcome(model),
        share: h("strong", {}, percent(decision.probability)),
      }),
    ),
    decision.imputed?.length ? h("p", {}, imputedText(model, decision.imputed)) : null,
    decision.subject ? h("p", { class: "quiet" }, t("Subject: {subject}", { subject: decision.subject })) : null,
  ];
}

function title(before) {
  return before.favourable
    ? t("What to change to end where it was wished")
    : t("What to change to be approved");
}

function severalOptions(model, before, options) {
  const sure = options.filter((option) => option.id).length;
  const promises = !model.ledger
    ? t("Nothing is promised: the service has no ledger.")
    : sure === 0
      ? t("None of them is promised: whether the next model approves them is not sure.")
      : sure === options.length
        ? t("Each of them is promised; when one is redeemed, the others are withdrawn.")
        : t("What is promised comes first; when one is redeemed, the others are withdrawn.");
  return [
    h("h3", {}, title(before)),
    h("p", {}, `${t("There are {n} ways, each enough by itself.", { n: options.length })} ${promises}`),
    optionCards(model, before, options),
    // One letter tells all that are promised.
    sure ? letters(options.find((option) => option.id).id) : null,
  ];
}

function foundRecourse(model, before, recourse) {
  const link = recourse.id ? h("a", { href: `#promise/${recourse.id}` }, t("See the promise")) : null;
  return [
    h("h3", {}, title(before)),
    changeList(recourse.changes),
    h(
      "p",
      {},
      parts("With that, the probability goes from {before} to {after}.", {
        before: percent(before.probability),
        after: h("strong", {}, percent(recourse.probability)),
      }),
    ),
    recourse.robustness ? robustness(recourse.robustness) : null,
    certificate(recourse.certificate),
    comparison(model.features, before.row, recourse.row),
    facts([
      [t("Cost of the change"), short(recourse.cost)],
      [t("Takes about"), duration(recourse.months)],
      [t("Promised on"), moment(recourse.issued_at)],
      [t("Good until"), moment(recourse.expires_at)],
      [t("Promise"), recourse.id ? copyable(recourse.id) : t("Not recorded: the service has no ledger")],
    ]),
    link ? h("p", {}, link) : null,
    recourse.id ? letters(recourse.id) : null,
  ];
}

function unsureRecourse(model, before, recourse) {
  return [
    h("h3", {}, t("What would be approved today")),
    changeList(recourse.changes),
    h(
      "p",
      {},
      t("With that, today's model would approve. Whether the next one does is not sure."),
      recourse.robustness
        ? ` ${t("The estimated chance is {share}.", { share: percent(recourse.robustness.share) })}`
        : "",
      ` ${t("Nothing was promised.")}`,
    ),
    certificate(recourse.certificate),
    comparison(model.features, before.row, recourse.row),
  ];
}

function notFound(reason) {
  return [
    h("h3", {}, reason ? t("The wishes cannot be met") : t("No recourse was found")),
    h(
      "p",
      {},
      reason ??
        t("Within what may be changed, the model found nothing that would lead to an approval."),
      ` ${t("Nothing was promised.")}`,
    ),
  ];
}

function summary(decision) {
  if (decision.favourable) return t("Approved.");
  const ways = decision.recourse?.options?.length ?? 0;
  if (ways > 1) return t("Refused. There are {n} options.", { n: ways });
  if (decision.recourse?.status === "found_unsure")
    return t("Refused. What would be approved today was found, and not promised.");
  if (decision.recourse?.status !== "found") return t("Refused. No recourse was found.");
  const changes = count(decision.recourse.changes.length, "change");
  return t("Refused. A recourse was found, with {changes}.", { changes });
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
  const parts = [t("Filled in from {source}.", { source })];
  if (missing.length) parts.push(t("Missing there, so still empty: {names}.", { names: list(missing) }));
  if (unknown.length) parts.push(t("Not asked for, so ignored: {names}.", { names: list(unknown) }));
  if (wrong.length) parts.push(t("Could not be used: {names}.", { names: list(wrong) }));
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
    : t("Use at most 255 plain letters, digits, signs and spaces.");
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
    byId("verdict").focus({ preventScroll: true });
    byId("decision").scrollIntoView();
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
    say(describeFill(fields.fill(new Map(Object.entries(model.example))), t("the example")));
  };
  byId("clear").onclick = () => {
    hideAlert(byId("file-alert"));
    hideAlert(byId("decide-alert"));
    fields.clear();
    wishes.clear();
    byId("subject").value = "";
    readSubject();
    byId("decision").replaceChildren();
    say(t("The form is empty."));
  };
  byId("file").onchange = (event) => loadFile(fields, event.target);
}
