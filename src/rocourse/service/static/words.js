// The page in its reader's language. English sentences are the keys of words/LANG.json.

const OTHERS = ["de"];

/** What the address asks for (`?language=de`), else the first of the browser's that there is. */
function chosen() {
  const asked = new URLSearchParams(location.search).get("language");
  const wanted = [asked, ...navigator.languages].map((tag) => tag?.slice(0, 2).toLowerCase());
  return wanted.find((tag) => tag === "en" || OTHERS.includes(tag)) ?? "en";
}

async function read(name) {
  if (name === "en") return {};
  try {
    return await (await fetch(`static/words/${name}.json`)).json();
  } catch {
    // English is better than nothing.
    return {};
  }
}

export const language = chosen();
const words = await read(language);

const PLACES = /\{(\w+)\}/;

/** A sentence, with values in the places of `{name}`. */
export function t(text, values = {}) {
  return parts(text, values).join("");
}

/** The pieces of a sentence in which some values are elements. */
export function parts(text, values) {
  // Every other piece is the name of a place.
  return (words[text] ?? text)
    .split(PLACES)
    .map((piece, i) => (i % 2 ? (values[piece] ?? "") : piece))
    .filter((piece) => piece !== "");
}

/** Puts what the page has from the start in the reader's language. */
export function translatePage() {
  document.documentElement.lang = language;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const text = node.data.trim().replace(/\s+/g, " ");
    if (Object.hasOwn(words, text)) node.data = words[text];
  }
  for (const node of document.querySelectorAll("[aria-label]")) {
    node.setAttribute("aria-label", t(node.getAttribute("aria-label")));
  }
}
