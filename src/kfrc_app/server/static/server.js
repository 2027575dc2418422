// Requests to the server. What it refuses is a Refused with a sentence; a server that is gone is a Lost.

export class Refused extends Error {
  constructor(answer, status) {
    super(answer.problem || "This did not work: load the page again.");
    this.where = answer.where || "";
    this.column = answer.column ?? null;
    this.status = status;
  }
}

export class Lost extends Error {}

export async function ask(method, path, { body, headers, signal } = {}) {
  let response;
  try {
    response = await fetch(path, { method, body, headers, signal, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Lost();
  }
  if (response.status === 204) return null;
  const text = await response.text();
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    if (response.status === 403) throw new Lost(); // another server has taken the place of the one that made this page
    answer = { problem: text };
  }
  if (!response.ok) throw new Refused(answer, response.status);
  return answer;
}

export function askJson(method, path, document_, options = {}) {
  return ask(method, path, { body: JSON.stringify(document_), headers: { "content-type": "application/json" }, ...options });
}

// A table of the server, as if it were a file of the user.
export async function example(name) {
  let response;
  try {
    response = await fetch("example", { credentials: "same-origin" });
  } catch {
    throw new Lost();
  }
  if (!response.ok) throw new Lost();
  return new File([await response.blob()], name);
}

export function sendFile(file, signal) {
  const headers = { "content-type": "application/octet-stream", "x-file-name": encodeURIComponent(file.name.toWellFormed?.() ?? file.name) };
  return ask("POST", "tables", { body: file, headers, signal });
}
