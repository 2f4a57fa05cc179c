// Talking to the service. Paths are relative, so that the service may live under a prefix.

import { t } from "./words.js";

const PATIENCE = 120_000;

let key = "";

/** An answer that is not the one asked for; the message is a sentence for the user. */
export class ApiError extends Error {
  constructor(message, status = 0) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

/** Keeps the key for the requests to come; it lives in memory only. */
export function useKey(text) {
  key = text.trim();
}

function authorization() {
  if (key === "") return {};
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ApiError(t("The API key has a character that no key has. Enter it again."), 401);
  }
  return { Authorization: `Bearer ${key}` };
}

async function contents(response) {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

function sentence(response, body) {
  const detail = typeof body?.detail === "string" ? body.detail : "";
  const wait = response.headers.get("Retry-After");
  const says = detail || t("The service answered with an error ({status}).", { status: response.status });
  switch (response.status) {
    case 401:
      // Not the detail, which is for those who write requests by hand.
      return key === ""
        ? t("The service asks for an API key. Enter it at the top of the page.")
        : t("The service does not know this API key. Enter it again at the top of the page.");
    case 403:
      return detail || t("This API key does not allow that.");
    case 413:
      return detail || t("The application is too large for the service.");
    case 429:
    case 503: {
      const seconds = /^\d+$/.test(wait ?? "") ? Number(wait) : null;
      if (seconds === null) return `${says} ${t("Try again in a while.")}`;
      return `${says} ${t(seconds === 1 ? "Try again in {n} second." : "Try again in {n} seconds.", { n: seconds })}`;
    }
    default:
      return says;
  }
}

/** The answer itself, if it is the one asked for. */
async function answered(path, options) {
  const headers = { Accept: "application/json", ...options.headers, ...authorization() };
  let response;
  try {
    response = await fetch(path, {
      ...options,
      headers,
      cache: "no-store",
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch (error) {
    const late = error.name === "TimeoutError";
    throw new ApiError(
      late
        ? t("The service took too long to answer. Try again.")
        : t("The service could not be reached. Check the connection and try again."),
    );
  }
  if (!response.ok) throw new ApiError(sentence(response, await contents(response)), response.status);
  return response;
}

async function request(path, options) {
  const body = await contents(await answered(path, options));
  if (body === null) throw new ApiError(t("The service gave an answer that cannot be read."));
  return body;
}

/** A file that the service makes. */
export async function file(path) {
  const response = await answered(path, { method: "GET", headers: { Accept: "*/*" } });
  return response.blob();
}

export function get(path) {
  return request(path, { method: "GET" });
}

export function post(path, body, headers = {}) {
  if (body === undefined) return request(path, { method: "POST" });
  return request(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", ...headers },
  });
}

/** A random UUID; `crypto.randomUUID` is missing where the page is not served over HTTPS. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
