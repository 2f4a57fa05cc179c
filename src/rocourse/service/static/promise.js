// The view of one promise: where it stands, and the applicant who has come back.

import { ApiError, get, post } from "./api.js";
import { announce, byId, facts, h, hideAlert, showAlert, table, whileBusy } from "./dom.js";
import { buildFields } from "./form.js";
import { digest, moment, percent, valueText } from "./format.js";
import { certificate, comparison, copyable, duration, robustness } from "./recourse.js";
import { wishesText } from "./wishes.js";
import { parts, t } from "./words.js";

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const STATUS = {
  open: t("Open: issued, and neither kept nor failed so far."),
  redeemed: t("Redeemed: the applicant made the change and was approved."),
  broken: t("Broken: the model of the day does not approve the changed application."),
  withdrawn: t("Withdrawn: taken back, as when another option was redeemed."),
  expired: t("Expired: its time ran out."),
};

function path(id) {
  return `v1/recourses/${encodeURIComponent(id)}`;
}

// A broken promise may yet be kept, as when an earlier model returns; the others are final.
const MAY_COME_BACK = new Set(["open", "broken"]);

/** Robustness of a promise: counts, or only the share where that is all that was kept. */
function reliance(value) {
  if (value === null || value === undefined) return null;
  if (typeof value === "object") return robustness(value);
  return h("p", {}, t("{share} of the models of shifted data would honour this.", { share: percent(value) }));
}

function history(events) {
  const rows = events.map((event) => ({
    cells: [
      moment(event.at),
      t(event.status),
      event.model ? digest(event.model) : "–",
      event.detail || "–",
    ],
  }));
  return table(t("History"), [t("When"), t("Status"), t("Model"), t("What happened")], rows);
}

function promiseCard(model, promise) {
  return h(
    "section",
    {
      id: "promise-card",
      class: "card",
      "aria-labelledby": "promise-status",
      "data-id": promise.id,
    },
    h("h2", { id: "promise-status", tabindex: "-1" }, STATUS[promise.status] ?? promise.status),
    facts([
      [t("Promise"), copyable(promise.id)],
      [t("Subject"), promise.subject],
      [t("Issued"), moment(promise.issued_at)],
      [t("Good until"), moment(promise.expires_at)],
      [t("Issued by model"), digest(promise.model)],
      [t("Probability before"), percent(promise.probability_before)],
      [t("Probability after"), percent(promise.probability_after)],
      [t("Takes about"), duration(promise.months)],
      [t("Wished for"), wishesText(model.features, promise.wishes)],
    ]),
    promise.decision && MAY_COME_BACK.has(promise.status)
      ? h("p", {}, t("One of several options: when one is redeemed, the others are withdrawn."))
      : null,
    reliance(promise.robustness),
    certificate(promise.certificate),
    comparison(model.features, promise.row, promise.recourse),
    history(promise.history),
  );
}

function differences(features, title, items, words) {
  if (items.length === 0) return null;
  const known = new Map(features.map((feature) => [feature.name, feature]));
  const lines = items.map((item) => {
    const text = (value) => valueText(known.get(item.feature), value);
    return h("li", {}, h("strong", {}, item.feature), `: ${words(item, text)}`);
  });
  return h("div", {}, h("h3", {}, title), h("ul", {}, lines));
}

function redemptionTitle({ fulfilled, honoured }) {
  if (fulfilled && honoured) return t("The promise is kept");
  if (fulfilled) return t("The promise is broken");
  return honoured ? t("Approved, though not as promised") : t("Not approved, and not as promised");
}

/** What came of a visit, in words. */
function redemptionCard(model, answer) {
  const done = answer.fulfilled
    ? t("Fulfilled: the applicant made every change that was asked for.")
    : t("Not fulfilled: not every change that was asked for was made.");
  const kept = answer.honoured
    ? t("Honoured: the model approves the application as presented.")
    : t("Not honoured: the model does not approve the application as presented.");
  return h(
    "div",
    { class: "outcome" },
    h("h3", { id: "outcome-title", tabindex: "-1" }, redemptionTitle(answer)),
    h("ul", {}, h("li", {}, done), h("li", {}, kept)),
    h(
      "p",
      {},
      parts("Probability of the favourable outcome: {share}.", {
        share: h("strong", {}, percent(answer.probability)),
      }),
    ),
    differences(
      model.features,
      t("Promised, but not as asked"),
      answer.unmet,
      (item, text) => 
        t("{promised} was promised, {presented} is presented.", {
          promised: text(item.promised),
          presented: text(item.presented),
        }),
    ),
    differences(
      model.features,
      t("Changed since, without being asked"),
      answer.drifted,
      (item, text) => 
        t("was {was}, now {now}.", { was: text(item.was), now: text(item.presented) }),
    ),
    differences(
      model.features,
      t("Not as it may be"),
      answer.forbidden,
      (item, text) => 
        `${item.rule}: ${t("was {was}, now {now}.", { was: text(item.was), now: text(item.presented) })}`,
    ),
    h(
      "p",
      {},
      parts("The promise now stands as {status}.", { status: h("strong", {}, t(answer.status)) }),
    ),
  );
}

/** Shows the promise as it stands after a visit; in silence, as the outcome is there already. */
async function redrawn(model, id) {
  const promise = await get(path(id)).catch(() => null);
  const card = byId("promise-card");
  if (promise && card?.dataset.id === id) card.replaceWith(promiseCard(model, promise));
}

/** The form for a returning applicant, filled with what was promised. */
function returnCard(model, promise) {
  const title = h("h2", { id: "return-title" }, t("Has come back"));
  if (!MAY_COME_BACK.has(promise.status)) {
    const text = t("This promise is {status}, so there is nothing left to check.", {
      status: t(promise.status),
    });
    return h(
      "section",
      { class: "card", "aria-labelledby": "return-title" },
      title,
      h("p", {}, text),
    );
  }
  const container = h("div", { class: "fields" });
  const fields = buildFields(container, model.features, "return");
  fields.fill(new Map(Object.entries(promise.recourse)));
  const alert = h("div", { class: "alert", role: "alert", tabindex: "-1", hidden: true });
  const submit = h("button", { type: "submit", class: "main" }, t("Check and record"));
  const result = h("div", {});

  async function redeem() {
    hideAlert(alert);
    result.replaceChildren();
    const row = fields.read();
    if (row === null) return;
    try {
      const answer = await post("v1/redemptions", { id: promise.id, row });
      result.replaceChildren(redemptionCard(model, answer));
      announce(`${redemptionTitle(answer)}.`);
      byId("outcome-title").focus();
      await redrawn(model, promise.id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 422 && fields.blame(error.message)) announce(error.message);
      else showAlert(alert, error.message);
    }
  }

  const form = h("form", { id: "return-form", novalidate: true }, container, alert, submit);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, redeem);
  });
  return h(
    "section",
    { class: "card", "aria-labelledby": "return-title" },
    title,
    h(
      "p",
      {},
      t("The form holds the application as it was promised. Change what is different today; the answer is recorded in the ledger."),
    ),
    form,
    result,
  );
}

/** Shows a promise, unless another one is wanted by the time it arrives. */
async function lookUp(model, id, wanted) {
  const alert = byId("lookup-alert");
  const found = byId("found");
  hideAlert(alert);
  found.replaceChildren();
  if (!ID.test(id)) {
    const example = "0b7e3c1a-5d2f-4c7b-9a41-2f6d8e90c3b5";
    showAlert(alert, id ? t("That is not the id of a promise, such as {example}.", { example }) : t("Enter an id."));
    return;
  }
  try {
    const promise = await get(path(id.toLowerCase()));
    if (!wanted()) return;
    found.replaceChildren(promiseCard(model, promise), returnCard(model, promise));
    announce(STATUS[promise.status] ?? promise.status);
    byId("promise-status").focus();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (wanted()) showAlert(alert, error.message);
  }
}

/** Wires the view; the answer is what to do when an address names a promise. */
export function makePromise(model) {
  const form = byId("lookup");
  const input = byId("promise-id");
  let shown = null;

  function show(id) {
    input.value = id;
    shown = id;
    announce(t("Looking it up."));
    return lookUp(model, id, () => shown === id);
  }

  form.hidden = false;
  byId("found").replaceChildren();
  form.onsubmit = (event) => {
    event.preventDefault();
    const id = input.value.trim();
    const address = `#promise/${encodeURIComponent(id)}`;
    // The address carries the id, so that it can be sent on; an unchanged one asks again.
    if (ID.test(id) && location.hash !== address) location.hash = address;
    else show(id);
  };
  return (id) => (id && id !== shown ? show(id) : undefined);
}
