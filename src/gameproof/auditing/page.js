// The charts of a page, its theme, and printing.

const charts = [...document.querySelectorAll("figure.chart")].map((figure) => new Chart(figure));
// Other scripts of a page draw charts that change.
globalThis.gameproof = { Chart: class extends Chart {
  constructor(...given) { super(...given); charts.push(this); }
} };

const theme = document.getElementById("theme"), root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const current = () => root.dataset.theme || (dark.matches ? "dark" : "light");
const name = () => { theme.textContent = current() === "dark" ? "Light theme" : "Dark theme"; };
theme.addEventListener("click", () => {
  root.dataset.theme = current() === "dark" ? "light" : "dark";
  name();
});
dark.addEventListener("change", name);
theme.hidden = false;
name();

// Printing opens every table.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const each of opened) each.open = true;
  for (const chart of charts) chart.point(null);
});
addEventListener("afterprint", () => { for (const each of opened) each.open = false; });
