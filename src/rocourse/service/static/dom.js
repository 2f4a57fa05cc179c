// Building the page. Whatever is data goes in as text or as an attribute, never as markup.

import { t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

/** An element of HTML; children that are not nodes become text. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** The element with that id, which the page has from the start. */
export function byId(id) {
  return document.getElementById(id);
}

let lastId = 0;

/** An id for an element that is made while the page runs. */
export function freshId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

/** Says something to those who do not see what has changed. */
export function announce(text) {
  byId("announcer").textContent = text;
}

/** Shows what went wrong in an alert region, and moves the focus there. */
export function showAlert(region, text, ...more) {
  region.replaceChildren(h("p", {}, text), ...more);
  region.hidden = false;
  region.focus();
}

export function hideAlert(region) {
  region.replaceChildren();
  region.hidden = true;
}

/** Pairs of a term and what it says; pairs without a value are left out. */
export function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined);
  return h(
    "dl",
    { class: "facts" },
    known.map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))),
  );
}

/**
 * A table in a box of its own that scrolls sideways where the screen is narrow.
 *
 * The first cell of each row is its header. `columns` are texts, or pairs of a text and a class for
 * all cells of the column.
 */
export function table(caption, columns, rows) {
  const heads = columns.map((column) => (Array.isArray(column) ? column : [column, null]));
  const captionId = freshId("caption");
  const body = rows.map(({ cells, ...attributes }) =>
    h(
      "tr",
      attributes,
      cells.map((cell, i) =>
        i === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: heads[i][1] }, cell),
      ),
    ),
  );
  return h(
    "div",
    // Focusable, so that the keyboard can scroll it.
    { class: "scroll", tabindex: "0", role: "group", "aria-labelledby": captionId },
    h(
      "table",
      {},
      h("caption", { id: captionId }, caption),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map(([text, kind]) => h("th", { scope: "col", class: kind }, text)),
        ),
      ),
      h("tbody", {}, body),
    ),
  );
}

/** Radio buttons in a row, the first of which is chosen; `choose` is told the value of another. */
export function choice(legend, options, choose) {
  const name = freshId("choice");
  return h(
    "fieldset",
    { class: "choice" },
    h("legend", {}, legend),
    options.map(([value, text], i) => {
      const id = freshId(name);
      const radio = h("input", { type: "radio", id, name, value, checked: i === 0 });
      radio.addEventListener("change", () => choose(value));
      return h("span", {}, radio, h("label", { for: id }, text));
    }),
  );
}

/** Runs a task for a button, which says so and does nothing more until the task has ended. */
export async function whileBusy(button, task) {
  if (button.getAttribute("aria-disabled") === "true") return;
  const text = button.textContent;
  // Not `disabled`, which would throw the focus off the button.
  button.setAttribute("aria-disabled", "true");
  button.textContent = t("One moment …");
  try {
    await task();
  } finally {
    button.removeAttribute("aria-disabled");
    button.textContent = text;
  }
}
