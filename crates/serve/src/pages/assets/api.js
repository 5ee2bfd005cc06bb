// Asks the server. Every answer is JSON; an error is a Problem (RFC 9457).

const KEY = "pericope-key";

/// What went wrong, in the server's words where it said some.
export class Problem extends Error {
  constructor(status, title, detail, wait) {
    super(detail || title);
    this.status = status;
    this.title = title;
    /// Seconds after which the server asks to be asked again, where it says so.
    this.wait = wait;
  }
}

/// Returns the key that the reader gave, for this tab alone.
export function key() {
  try { return sessionStorage.getItem(KEY) ?? ""; } catch (_) { return kept; }
}

let kept = "";

/// Keeps a key until the tab is closed; an empty one is forgotten.
export function setKey(text) {
  kept = text;
  try {
    if (text) sessionStorage.setItem(KEY, text);
    else sessionStorage.removeItem(KEY);
  } catch (_) { /* Storage may be forbidden: the key then lasts as long as the page. */ }
}

/// Returns a path of the interface with its parameters; lists are repeated, empty values left out.
export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") query.append(name, one);
    }
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/// Returns the path of a document: its folders stay folders.
export function documentPath(id) {
  return `v1/documents/${id.split("/").map(encodeURIComponent).join("/")}`;
}

/// Asks and returns the answer. With `body` it is a POST.
export async function ask(path, { parameters, body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (key()) headers.Authorization = `Bearer ${key()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(address(path, parameters), {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      credentials: "omit",
      cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer", "The server does not answer. Is it running?");
  }
  const text = await response.text();
  let answer = null;
  try { answer = JSON.parse(text); } catch (_) { /* What is not JSON is said below. */ }
  if (response.ok && answer !== null) return answer;
  const wait = Number(response.headers.get("Retry-After")) || undefined;
  if (response.status === 429 || response.status === 503) {
    const again = wait ? ` Try again in ${wait} s.` : " Try again.";
    throw new Problem(response.status, "The server is busy", `The server is busy.${again}`, wait);
  }
  throw new Problem(response.status, answer?.title ?? `Status ${response.status}`, answer?.detail);
}
