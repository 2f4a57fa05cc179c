// The page: which view is shown, and which model the service has.

import { ApiError, get, useKey } from "./api.js";
import { makeAudit } from "./audit.js";
import { makeDecide } from "./decision.js";
import { announce, byId, h, hideAlert, showAlert } from "./dom.js";
import { digest } from "./format.js";
import { makePromise } from "./promise.js";
import { t, translatePage } from "./words.js";

const VIEWS = ["decide", "promise", "audit"];

// What each view does when it is opened, once the model is known.
let open = null;

/** The view that an address names, and what follows it: `#promise/ID`. */
function place() {
  const [view, ...rest] = location.hash.slice(1).split("/");
  let detail = rest.join("/");
  try {
    detail = decodeURIComponent(detail);
  } catch {
    // A stray percent sign: taken as it stands.
  }
  return { view: VIEWS.includes(view) ? view : VIEWS[0], detail };
}

function route({ move }) {
  const { view, detail } = place();
  for (const name of VIEWS) byId(name).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const title = byId(`${view}-title`);
  document.title = `${title.textContent} · rocourse`;
  if (move) {
    // The focus tells a screen reader which view has come up.
    title.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  open?.[view](detail);
}

function showModel(model) {
  byId("model").replaceChildren(
    t("In service: "),
    h("strong", {}, model.title ?? model.method),
    " ",
    digest(model.digest),
  );
}

async function loadModel() {
  const alert = byId("model-alert");
  hideAlert(alert);
  try {
    const model = await get("v1/model");
    showModel(model);
    makeDecide(model);
    open = { decide: () => {}, promise: makePromise(model), audit: makeAudit(model) };
    route({ move: false });
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) byId("key-form").hidden = false;
    const again = h("button", { type: "button", on: { click: loadModel } }, t("Try again"));
    showAlert(alert, error.message, again);
    byId("model").textContent = t("Which model is in service is not known");
    return false;
  }
}

byId("key-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  useKey(byId("key").value);
  if (open !== null) announce(t("The key is used from now on."));
  else if (await loadModel()) announce(t("The model is loaded."));
});

byId("key").addEventListener("change", (event) => useKey(event.target.value));

byId("skip").addEventListener("click", (event) => {
  // Not by the address, which names the view.
  event.preventDefault();
  byId("main").focus();
});

// Nothing is ever sent by the browser itself, not even before the views are wired.
document.addEventListener("submit", (event) => event.preventDefault());

addEventListener("hashchange", () => route({ move: true }));
translatePage();
route({ move: false });
loadModel();
