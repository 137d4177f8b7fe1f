// Numbers, times and tables as the page of a study writes them.

const UNITS = [["days", 86400], ["hours", 3600], ["minutes", 60], ["seconds", 1]];

export const at = (id) => document.getElementById(id);
export const element = (tag, attributes, ...children) => {
  const node = document.createElement(tag);
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};
export const say = (id, text) => { if (at(id).textContent !== text) at(id).textContent = text; };
export const whole = (v) => v.toLocaleString("en");
export const many = (n, one, more = `${one}s`) => `${whole(n)} ${n === 1 ? one : more}`;
// Without exponents, which nobody says.
export const plain = (v, digits = 3) => v.toLocaleString("en", { maximumSignificantDigits: digits }).replace("-", "−");
export const signed = (v, digits = 3) => {
  if (v === null || v === undefined) return "–";
  if (Math.abs(v) < 5e-5) return "0";
  return (v > 0 ? "+" : "") + plain(v, Math.abs(v) < 0.001 ? 1 : digits);
};
export const decimals = (v) => v.toFixed(3).replace("-", "−");
export const percent = (v) => `${(100 * v).toFixed(1)}\u00a0%`;
export const moment = (seconds) => seconds === null ? "–" : new Date(1000 * seconds)
  .toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const unitOf = (seconds) => UNITS.find(([, size]) => seconds >= 2 * size) || UNITS.at(-1);
export const lasting = (seconds) => {
  const [name, size] = unitOf(seconds), n = Math.round(seconds / size);
  return n === 1 ? `1 ${name.slice(0, -1)}` : `${whole(n)} ${name}`;
};

// Replaces what a host shows, and keeps the focus and the open tables where they were.
export const put = (id, ...nodes) => {
  const host = at(id), held = host.contains(document.activeElement) && document.activeElement.dataset.key;
  const open = [...host.querySelectorAll("details[open]")].map((each) => each.dataset.key);
  const left = [...host.querySelectorAll(".wide")].map((each) => [each.scrollLeft, each.scrollTop]);
  host.replaceChildren(...nodes);
  for (const each of host.querySelectorAll("details")) each.open = open.includes(each.dataset.key);
  host.querySelectorAll(".wide").forEach((each, k) => { if (left[k]) [each.scrollLeft, each.scrollTop] = left[k]; });
  if (held) host.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus();
};
export const table = (caption, columns, rows, tall = false) => {
  const kind = (k) => (columns[k][1] ? { class: "number" } : {});
  const head = columns.map(([name], k) => element("th", { scope: "col", ...kind(k) }, name));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell, k) =>
    k ? element("td", kind(k), cell) : element("th", { scope: "row", ...kind(k) }, cell))));
  return element("div", { class: tall ? "wide tall" : "wide", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
};
export const numbers = (caption, columns, rows) =>
  element("details", { "data-key": caption }, element("summary", {}, `Numbers: ${caption}`),
    table(caption, columns, rows, rows.length > 15));
export const person = (name) => element("span", { class: "person" }, name);
export const state = (name) => element("span", { class: `state ${name.replace(" ", "-")}` }, name);
