// The letter to an applicant, to be saved.

import { ApiError, file } from "./api.js";
import { announce, h, whileBusy } from "./dom.js";

const KINDS = [
  ["pdf", "en", "Letter (PDF)"],
  ["html", "en", "Letter (HTML)"],
  ["pdf", "de", "Brief (PDF, German)"],
];

async function save(id, format, language, note) {
  note.textContent = "";
  const path = `v1/recourses/${encodeURIComponent(id)}/notice?format=${format}&language=${language}`;
  try {
    const url = URL.createObjectURL(await file(path));
    h("a", { href: url, download: `letter-${id}.${format}` }).click();
    // Not at once: the browser has yet to read it.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    announce("The letter was saved.");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    note.textContent = error.message;
  }
}

/** Buttons that save the letter about a promise. */
export function letters(id) {
  const note = h("p", { role: "alert" });
  const buttons = KINDS.map(([format, language, text]) => {
    const button = h("button", { type: "button", class: "small" }, text);
    button.addEventListener("click", () => {
      whileBusy(button, () => save(id, format, language, note));
    });
    return [button, " "];
  });
  return h("div", { class: "letters" }, h("p", {}, buttons), note);
}
