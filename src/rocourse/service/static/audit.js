// The view that says whether the promises would still be kept.

import { ApiError, get, post } from "./api.js";
import { draw, legend } from "./chart.js";
import { announce, byId, choice, h, hideAlert, showAlert, table, whileBusy } from "./dom.js";
import { count, digest, list, moment, number, percent, short, shortDigest } from "./format.js";
import { parts, t } from "./words.js";

const FIRST_BROKEN = 20;
// Milliseconds between looks at an audit that is under way: the first, and the longest.
const FIRST_LOOK = 50;
const LAST_LOOK = 1000;
// More could not be told apart in the picture; the tables have them all.
const MOST_ISSUERS = 4;

const TOO_MANY = t("Only the {n} models that issued most have a mark of their own.", {
  n: MOST_ISSUERS,
});

const STATUSES = {
  open: t("Open"),
  redeemed: t("Redeemed"),
  broken: t("Broken"),
  withdrawn: t("Withdrawn"),
  expired: t("Expired"),
};

function counts(promises) {
  return h(
    "dl",
    { class: "counts" },
    Object.entries(promises).map(([status, n]) =>
      h("div", {}, h("dt", {}, STATUSES[status] ?? status), h("dd", {}, number(n))),
    ),
  );
}

function judgedPoint(figures) {
  return figures && typeof figures.share === "number" ? figures : null;
}

/** Who issued promises, the most first. */
function issuersOf(models) {
  const most = new Map();
  for (const { issuer, judged } of models.flatMap((model) => model.by_issuer)) {
    most.set(issuer, Math.max(judged, most.get(issuer) ?? 0));
  }
  return [...most.keys()].sort((a, b) => most.get(b) - most.get(a));
}

/** All promises, then those of the models that issued most; one point for each judging model. */
export function seriesOf(models) {
  const issuers = issuersOf(models).slice(0, MOST_ISSUERS);
  const all = { name: t("All promises"), points: models.map(judgedPoint) };
  const each = issuers.map((issuer) => ({
    name: t("Issued by {model}", { model: shortDigest(issuer) }),
    points: models.map((m) => judgedPoint(m.by_issuer.find((part) => part.issuer === issuer))),
  }));
  return [all, ...each];
}

function picture(models) {
  const series = seriesOf(models);
  const box = h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": t("Picture") });
  const few = issuersOf(models).length <= MOST_ISSUERS;
  const wider = t("Bars are intervals: the fewer promises, the wider.");
  const hint = few ? wider : `${wider} ${TOO_MANY}`;
  let zoomed = false;
  let room = 0;
  const redraw = () => box.replaceChildren(draw(models, series, { zoomed, room }));
  const toggle = choice(
    t("Scale"),
    [
      ["whole", t("0 to 100%")],
      ["zoomed", t("Zoomed")],
    ],
    (chosen) => {
      zoomed = chosen === "zoomed";
      redraw();
    },
  );
  new ResizeObserver(() => {
    // Hidden views have no width; and drawing must not be the cause of drawing.
    if (box.clientWidth === 0 || box.clientWidth === room) return;
    room = box.clientWidth;
    redraw();
  }).observe(box);
  return h(
    "section",
    { class: "card", "aria-labelledby": "picture-title" },
    h("h2", { id: "picture-title" }, t("Share of promises that each model honours")),
    toggle,
    legend(series),
    box,
    h("p", { class: "hint" }, hint),
  );
}

const FIGURES = [
  [t("Judged"), "figure"],
  [t("Honoured"), "figure"],
  [t("Share"), "figure"],
  [t("Between"), "figure"],
];

function figures({ judged, honoured, share, low, high }) {
  const between = typeof low === "number" ? list([percent(low), percent(high)]) : "–";
  return [number(judged), number(honoured), percent(share), between];
}

function modelTable(models) {
  const rows = models.map((model) => ({
    cells: [model.name, digest(model.digest), ...figures(model), number(model.unreadable)],
  }));
  const columns = [t("Model"), t("Digest"), ...FIGURES, [t("Unreadable"), "figure"]];
  return table(t("By judging model"), columns, rows);
}

function issuerTable(model) {
  const rows = model.by_issuer.map((part) => ({ cells: [digest(part.issuer), ...figures(part)] }));
  return table(t("By the model that issued them"), [t("Issued by"), ...FIGURES], rows);
}

/** The name of a range of days, `31-90` or `>365`, in words. */
function ageText(days) {
  const [first, last] = days.replace(/^>/, "").split("-");
  if (last === undefined) return t("more than {n} days", { n: first });
  return t("{n} to {m} days", { n: first, m: last });
}

function ageTable(model) {
  const rows = model.by_age.map((part) => ({ cells: [ageText(part.days), ...figures(part)] }));
  return table(t("By age of the promise"), [t("Age"), ...FIGURES], rows);
}

function peopleTable(model) {
  const name = ({ people, few }) => (few ? `${people} (${t("few")})` : people);
  const rows = model.by_people.map((part) => ({ cells: [name(part), ...figures(part)] }));
  return table(t("By people"), [t("People"), ...FIGURES], rows);
}

function brokenRows(broken) {
  return broken.map((promise) => ({
    cells: [
      h("a", { href: `#promise/${promise.id}` }, h("code", {}, promise.id)),
      moment(promise.issued_at),
      digest(promise.issuer),
      percent(promise.probability),
      short(promise.margin),
    ],
  }));
}

/** How many would be broken, and of how many the list below tells. */
function brokenTitle({ judged, honoured, unreadable, broken }) {
  const all = judged - honoured - unreadable;
  const title = t("Promises that would be broken");
  if (all <= broken.length) return title;
  return t("Promises that would be broken: the worst {n} of {all}", {
    n: broken.length,
    all: number(all),
  });
}

function brokenTable(model) {
  const { broken } = model;
  if (broken.length === 0) return h("p", {}, t("It would break no promise that it can read."));
  const columns = [
    t("Promise"),
    t("Issued"),
    t("Issued by"),
    [t("Probability now"), "figure"],
    [t("Margin"), "figure"],
  ];
  const hint = t("Margin: log-odds of an approval; the further below zero, the further from one.");
  const make = (part) => table(brokenTitle(model), columns, brokenRows(part));
  const box = h("div", {}, make(broken.slice(0, FIRST_BROKEN)));
  if (broken.length > FIRST_BROKEN) {
    const showAll = () => {
      box.replaceChildren(make(broken));
      box.firstChild.focus();
    };
    const button = { type: "button", class: "more", on: { click: showAll } };
    box.append(h("button", button, t("Show all {n}", { n: number(broken.length) })));
  }
  return h("div", {}, box, h("p", { class: "hint" }, hint));
}

function modelWords({ judged, honoured, unreadable, share }) {
  if (typeof share !== "number") return t("No promise was judged.");
  const all = count(judged, "promise");
  const words = t("Honours {n} of {all}: {share}.", {
    n: number(honoured),
    all,
    share: percent(share),
  });
  if (!unreadable) return words;
  return `${words} ${t("It cannot read {n} of them.", { n: number(unreadable) })}`;
}

function modelCard(model, i) {
  const id = `audited-${i}`;
  return h(
    "section",
    { class: "card", "aria-labelledby": id },
    h("h2", { id }, `${model.name} `, digest(model.digest)),
    h("p", {}, modelWords(model)),
    model.by_issuer.length ? issuerTable(model) : null,
    model.by_age.length ? ageTable(model) : null,
    model.by_people?.length ? peopleTable(model) : null,
    brokenTable(model),
  );
}

/** Whether promises begin to break, by those that people came back with. */
function driftWords({ kept, outcomes, honoured, evidence, alarm_at: due, alarm }) {
  if (!outcomes) return t("Nobody has come back with a promise yet.");
  const words = t("Of {all} that people came back with, {n} were kept; {kept} is stated.", {
    all: count(outcomes, "promise"),
    n: honoured,
    kept: percent(kept),
  });
  if (alarm) return `${words} ${t("Alarm: fewer promises are kept than stated.")}`;
  const calm = t("No alarm: the evidence is {evidence}, one is due at {due}.", {
    evidence: short(evidence),
    due: short(due),
  });
  return `${words} ${calm}`;
}

function render(report) {
  byId("audit-at").replaceChildren(...parts("Judged on {day}", { day: moment(report.at) }));
  byId("report").replaceChildren(
    h(
      "section",
      { class: "card", "aria-labelledby": "counts-title" },
      h("h2", { id: "counts-title" }, t("Promises")),
      counts(report.promises),
      h("p", { class: report.drift.alarm ? "alert" : "quiet" }, driftWords(report.drift)),
      modelTable(report.models),
    ),
    ...(report.models.length ? [picture(report.models)] : []),
    ...report.models.map(modelCard),
  );
  announce(t("Judged by {models}.", { models: count(report.models.length, "model") }));
}

/** The report of an audit that was asked for, when it is done. */
async function finished(audit) {
  let wait = FIRST_LOOK;
  while (audit.status === "waiting" || audit.status === "running") {
    byId("audit-at").replaceChildren(t("{promises} judged so far …", { promises: count(audit.judged, "promise") }));
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(2 * wait, LAST_LOOK);
    audit = await get(`v1/audits/${audit.id}`);
  }
  if (audit.status !== "done") throw new ApiError(audit.detail);
  return audit.report;
}

async function load() {
  const alert = byId("audit-alert");
  hideAlert(alert);
  try {
    render(await finished(await post("v1/audits")));
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    byId("report").replaceChildren();
    byId("audit-at").replaceChildren();
    showAlert(alert, error.message);
    return false;
  }
}

/** Wires the view; it is filled when it is first opened, and again after a failure. */
export function makeAudit(model) {
  const button = byId("refresh");
  let loaded = false;
  const refresh = () =>
    whileBusy(button, async () => {
      loaded = await load();
    });
  button.onclick = refresh;
  byId("report").replaceChildren();
  byId("audit-tools").hidden = !model.ledger;
  if (!model.ledger) {
    byId("report").replaceChildren(
      h("p", {}, t("The service keeps no ledger, so there is nothing to judge.")),
    );
    return () => {};
  }
  return () => (loaded ? undefined : refresh());
}
