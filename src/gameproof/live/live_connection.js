// The service of a study: its token, its requests, and its stream of events.

import { at, say } from "./live_writing.js";

const KEY = "gameproof-token";
// Milliseconds without a byte after which a stream counts as broken, and between two attempts.
const SILENT = 40000, AGAIN = [1000, 2000, 5000, 10000];

let token = sessionStorage.getItem(KEY), scopes = [], current = null;
let show = () => {}; // what to do with an overview

// Whether the token permits something.
export const permits = (scope) => scopes.includes(scope);

class Refusal extends Error {
  constructor(status, body) { super(body.message || `status ${status}`); Object.assign(this, { status, code: body.code }); }
}
const headers = (more = {}) => (token ? { ...more, Authorization: `Bearer ${token}` } : more);
const checked = async (reply) => {
  if (reply.ok) return reply;
  throw new Refusal(reply.status, await reply.json().catch(() => ({})));
};
export const get = async (path) => (await checked(await fetch(`v1/${path}`, { headers: headers() }))).json();
export const post = async (path, body) => {
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const kind = body === undefined ? {} : { "Content-Type": "application/json" };
  return (await checked(await fetch(`v1/${path}`, { method: "POST", headers: headers(kind), ...content }))).json();
};

export const banner = (text, kind = "") => { say("banner", text); at("banner").className = `banner ${kind}`; };
export const fail = (error) => {
  at("failure").hidden = !error;
  if (error) say("failure", error.message);
  if (error && error.code === "no-token") askToken(error.message);
};

const askToken = (why) => {
  banner(token ? why : "A token is needed.", token ? "lost" : "waiting");
  token = null;
  sessionStorage.removeItem(KEY);
  at("study").hidden = true;
  at("access").hidden = false;
  at("token").focus();
};
at("access").addEventListener("submit", (event) => {
  event.preventDefault();
  token = at("token").value.trim();
  sessionStorage.setItem(KEY, token);
  at("token").value = "";
  at("access").hidden = true;
  current?.abort();
  follow(show);
});

// One stream of server-sent events. The browser's EventSource cannot send a token.
const stream = async () => {
  const stop = current = new AbortController();
  let guard = setTimeout(() => stop.abort(), SILENT);
  try {
    const reply = await checked(await fetch("v1/events", { headers: headers(), signal: stop.signal }));
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(guard);
      guard = setTimeout(() => stop.abort(), SILENT);
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) take(part);
    }
  } finally { clearTimeout(guard); }
};
const take = (text) => {
  const kind = /^event: (.*)$/m.exec(text), data = /^data: (.*)$/m.exec(text);
  if (!kind || !data) return;
  const body = JSON.parse(data[1]);
  if (kind[1] === "overview") show(body);
  else if (body.code === "no-token") throw new Refusal(401, body);
  else banner(body.message, "lost");
};

// Shows every overview, for as long as the page is open.
let following = false;
export const follow = async (shows) => {
  show = shows;
  if (following) return;
  following = true;
  for (let failures = 0; ; failures++) {
    try {
      const access = await get("access");
      scopes = access.scopes;
      failures = 0;
      if (at("study").hidden) banner("Connected; the study is being read.", "waiting");
      await stream();
      banner("The service has ended the connection; connecting again.", "waiting");
    } catch (error) {
      if (error.status === 401 || error.status === 403) {
        following = false;
        return askToken(error.message);
      }
      banner(error instanceof Refusal ? error.message : "The service cannot be reached; trying again.", "lost");
    }
    await new Promise((done) => setTimeout(done, AGAIN[Math.min(failures, AGAIN.length - 1)]));
  }
};
