// The letter to an applicant, to be saved.

import { ApiError, file } from "./api.js";
import { announce, h, whileBusy } from "./dom.js";
import { language, t } from "./words.js";

// In the reader's language, and as PDF in the other.
const KINDS = [
  ["pdf", language, t("Letter (PDF)")],
  ["html", language, t("Letter (HTML)")],
  ["pdf", language === "de" ? "en" : "de", t("Brief (PDF, German)")],
];

async function save(id, format, tongue, note) {
  note.textContent = "";
  const path = `v1/recourses/${encodeURIComponent(id)}/notice?format=${format}&language=${tongue}`;
  try {
    const url = URL.createObjectURL(await file(path));
    h("a", { href: url, download: `letter-${id}.${format}` }).click();
    // Not at once: the browser has yet to read it.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    announce(t("The letter was saved."));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    note.textContent = error.message;
  }
}

/** Buttons that save the letter about a promise. */
export function letters(id) {
  const note = h("p", { role: "alert" });
  const buttons = KINDS.map(([format, tongue, text]) => {
    const button = h("button", { type: "button", class: "small" }, text);
    button.addEventListener("click", () => {
      whileBusy(button, () => save(id, format, tongue, note));
    });
    return [button, " "];
  });
  return h("div", { class: "letters" }, h("p", {}, buttons), note);
}
