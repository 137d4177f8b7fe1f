// What the page of a study shows, and the actions that it offers.

import { banner, fail, follow, get, permits, post } from "./live_connection.js";
import {
  at, decimals, element, lasting, many, moment, numbers, percent, person, plain, put, say, signed, state, table, unitOf, whole,
} from "./live_writing.js";

const PAGE = 12;
const PHASES = {
  pilot: "pilot: learning how people respond", run: "run: improving the classifier",
  risk: "final check: fresh answers for the risk",
};
const SILENCE = {
  wait: "The study waits for people who do not answer.",
  replace: "Somebody else is asked instead of people who do not answer within",
  continue: "A deployment closes without people who do not answer within",
};

// What a risk rests on.
const GROUNDS = {
  answers: (risk) => `, from ${many(risk.n_queries, "answer")} to this very classifier`,
  learnt: (risk) => `, if people respond as was learned from ${many(risk.n_queries, "answer")}`,
  nearest: (risk) => `: that is the risk of the nearest classifier that people were shown, from ${many(risk.n_queries, "answer")}`,
};
const WHOSE = { answers: "recommended", learnt: "recommended, as learned", nearest: "nearest deployment", known: "it ignores the data so far" };

// --- charts

const charts = {};
const draw = (host, name, spec) => {
  const series = spec.series.map((each) => ({ low: [], high: [], look: 0, fill: false, guide: false, ...each }));
  const full = { kind: "lines", labels: [], across: [], upright: [], percent: false, log_x: false, log_y: false,
    from_zero: false, ...spec, series };
  const known = charts[name];
  if (known && known.shape === series.length) {
    known.plot.setAttribute("aria-label", spec.alt);
    return known.chart.update(full);
  }
  const plot = element("div", { class: "plot", role: "img", "aria-label": spec.alt });
  const figure = element("figure", { class: "chart" }, element("figcaption", {}, spec.title), plot);
  if (known) known.figure.replaceWith(figure);
  else at(host).append(figure);
  charts[name] = { figure, plot, shape: series.length, chart: new gameproof.Chart(figure, full) };
};
const drop = (name) => { charts[name]?.figure.remove(); delete charts[name]; };

// --- what is shown

let overview = null;
const show = (now) => {
  overview = now;
  const { status, problem } = now;
  at("study").hidden = false;
  at("access").hidden = true;
  document.title = `${status.name} – live study`;
  say("name", status.name);
  say("method", `Live study, ${status.method}`);
  say("sentence", sentence(status));
  put("warnings", ...status.warnings.map((text) => element("p", { class: "warning" }, `Warning: ${text}`)));
  say("updated", moment(now.at));
  if (!problem) banner(status.state === "finished" ? "Finished." : status.state === "paused" ? "Paused." : "Live.",
    status.state === "paused" ? "waiting" : "");
  else banner(problem.message, problem.code === "computing" ? "waiting" : "lost");
  for (const part of [tiles, actions, budgets, deployment, arrival, quality, learned, missing, newest]) part(now);
  people();
};

const sentence = ({ state, n_answers, n_deployments, n_pending, phase }) => {
  const so_far = `${many(n_answers, "answer")} at ${many(n_deployments, "deployment")}`;
  if (state === "finished") return `Finished: ${so_far}. The recommendation below is final.`;
  if (state === "paused") return `Paused: ${so_far}. Nobody is asked until the study is resumed.`;
  const open = n_pending ? `${many(n_pending, "question")} ${n_pending === 1 ? "is" : "are"} open`
    : "the next deployment is on its way";
  return `${so_far}; ${open} (${PHASES[phase] || phase}).`;
};

const tile = (label, value, note) => element("div", {}, element("dt", {}, label),
  element("dd", {}, value, note ? element("small", {}, note) : null));
const tiles = ({ status, people, recommendation, results }) => {
  const last = results.filter((each) => each.closed && each.accuracy).at(-1);
  const found = recommendation?.risk, risk = found ? [found.value, found.low, found.high] : last?.risk;
  const shown = last ? `deployment ${whole(last.deployment)}` : "", ground = recommendation?.ground;
  const whose = found ? WHOSE[ground] : shown;
  put("tiles",
    tile("Answers", whole(status.n_answers), status.max_answers ? `of at most ${whole(status.max_answers)}` : "no limit"),
    tile("People asked", whole(people.asked), `of ${whole(people.can_be_asked)} who can be asked`),
    tile("Open questions", whole(status.n_pending), `${whole(status.n_leased)} handed out`),
    tile("Late and silent", whole(status.n_late + status.n_silent),
      `${whole(status.n_late)} late, ${whole(status.n_silent)} silent`),
    tile("Accuracy after moving", last ? percent(last.accuracy[0]) : "–", last
      ? `${percent(last.accuracy[1])} to ${percent(last.accuracy[2])}, ${ground === "answers" ? whose : shown}` : "no deployment closed yet"),
    tile("Worst-case risk", risk ? decimals(risk[0]) : "–",
      ground === "known" ? whose : risk ? `${narrow(risk) ? "" : `${decimals(risk[1])} to ${decimals(risk[2])}, `}${whose}` : "no deployment closed yet"));
};

const actions = ({ status, deployment }) => {
  const permitted = permits("manage") && status.state !== "finished";
  at("actions").hidden = !permitted;
  say("pause", status.state === "paused" ? "Resume the study…" : "Pause the study…");
  const empty = !deployment || !deployment.n_answered;
  at("close").disabled = empty;
  say("hint", empty ? "A deployment can be closed once somebody has answered." : "");
};

const budgets = ({ status, people }) => {
  const rows = [
    ["Answers", status.n_answers, status.max_answers],
    ["Deployments", status.n_deployments, status.max_deployments],
    ["Most questions to one person", people.most_asked, status.max_per_person],
  ];
  put("budgets", ...rows.map(([name, used, limit]) => element("div", {},
    element("dt", {}, name),
    element("dd", {}, limit === null ? `${whole(used)} so far, no limit`
      : `${whole(used)} of ${whole(limit)}, ${whole(Math.max(0, limit - used))} left`),
    limit === null ? null : element("progress", { max: limit, value: Math.min(used, limit), "aria-label": name }))));
};

const deployment = ({ deployment, recommendation, status }) => {
  if (deployment) {
    const phase = PHASES[deployment.phase] || deployment.phase;
    say("shown", `Deployment ${whole(deployment.number)}, since ${moment(deployment.opened)} (${phase}): ` +
      `${whole(deployment.n_answered)} of ${many(deployment.n_questions, "answer")} are here.`);
  } else say("shown", recommendation ? "The study is finished; nobody is shown anything. This is the classifier that it recommends."
    : "The study is finished. The classifier that it recommends is being computed.");
  const now = deployment?.columns, best = recommendation && status.n_deployments > 1 ? recommendation.columns : null;
  const any = now || best;
  if (!any) return put("model");
  const bare = any.outcome === null, effect = (each) => each === undefined ? "–" : signed(each);
  const columns = [["Column"], ["Unit", true]], cells = [];
  if (!bare) columns.push(["People can change"]);
  const kinds = bare ? [["per_unit", ""]] : [["per_unit", ": per unit"], ["between_quartiles", ": between quartiles"]];
  for (const [source, title] of [[now, "Shown now"], [best, "Recommended"]])
    if (source) for (const [field, what] of kinds) {
      columns.push([title + what, true]);
      cells.push([source, field]);
    }
  const rows = any.numbers.map((each, k) => [person(each.name), each.unit === null ? "–" : plain(each.unit), ...(bare ? [] : [each.movable || "no"]),
    ...cells.map(([source, field]) => effect(source.numbers[k][field]))]);
  any.levels.forEach((each, k) => rows.push([person(each.name), "", each.movable || "no",
    ...cells.map(([source, field]) => field === "per_unit" ? "" : effect(source.levels[k].effect))]));
  if (!bare || cells.some(([source]) => source.intercept)) rows.push(["intercept", "", ...(bare ? [] : [""]),
    ...cells.map(([source, field], k) => field === kinds.at(-1)[0] ? effect(source.intercept) : "")]);
  put("model", table(bare ? "Coefficients of the features" : `Effect of each column on the log odds of ${any.outcome}`,
    columns, rows, rows.length > 18));
  say("units", bare ? "A coefficient is the change of the score when the feature grows by its unit." :
    "Per unit: the effect of one unit more than the median of the column. Between quartiles: from the " +
    "lower to the upper quartile of the table; for a category, the effect of the level.");
};

const arrival = ({ timeline, status }) => {
  if (!timeline) {
    say("arrival", "No answer has arrived yet.");
    put("arrival-table");
    return drop("arrival");
  }
  const span = timeline.seconds.at(-1), [unit, size] = unitOf(span), x = timeline.seconds.map((v) => v / size);
  const others = timeline.other.at(-1);
  say("arrival", `${many(status.n_answers, "answer")} ${status.n_answers === 1 ? "counts" : "count"}, the last one ` +
    `${lasting(span)} after the start` + (others ? `; ${whole(others)} do not count (late, conflicting or withdrawn).` : "."));
  const series = [{ name: "counted", x, y: timeline.counted, guide: true, fill: true }];
  if (others) series.push({ name: "not counted", x, y: timeline.other, look: 1, guide: true });
  draw("arrival-chart", "arrival", { title: "Answers so far", x_label: `${unit} since the start`, y_label: "answers",
    from_zero: true, series, alt: `Answers over time: ${whole(timeline.counted.at(-1))} counted after ${lasting(span)}.` });
  put("arrival-table", numbers("answers over time",
    [[`${unit} since the start`, true], ["counted", true], ["not counted", true]],
    x.map((v, k) => [plain(v, 4), whole(timeline.counted[k]), whole(timeline.other[k])])));
};

const narrow = ([, low, high]) => decimals(low) === decimals(high);
const interval = (v) => narrow(v) ? "known to three digits" : `between ${decimals(v[1])} and ${decimals(v[2])}`;
const between = (v, write) => v ? `${write(v[0])} (${write(v[1])} to ${write(v[2])})` : "–";
const quality = ({ results, recommendation, status }) => {
  const known = results.filter((each) => each.risk), risk = recommendation?.risk;
  const last = known.filter((each) => each.closed).at(-1) || known.at(-1);
  say("quality", recommendation?.ground === "known" ? "The recommended classifier ignores the data; its worst-case risk is " +
      `${decimals(risk.value)}, whatever people answer.` : risk ? `The recommended classifier has the worst-case risk ${decimals(risk.value)}, ` +
      `${interval([risk.value, risk.low, risk.high])} with ${100 * risk.confidence}\u00a0% confidence${GROUNDS[recommendation.ground]?.(risk) || ""}.`
    : last ? `Deployment ${whole(last.deployment)} decided ${percent(last.accuracy[0])} of people correctly after they moved ` +
      `(${percent(last.accuracy[1])} to ${percent(last.accuracy[2])}); its worst-case risk is ${between(last.risk, decimals)}.`
    : "There is nothing to measure before two people have answered.");
  say("quality-note", known.length ? "Each point is one deployment, measured by its own answers; bands are 95\u00a0% " +
    "intervals. Deployed classifiers probe around the best one so far, so single points jump." : "");
  if (!known.length) {
    put("quality-table");
    return ["risk", "accuracy"].forEach(drop);
  }
  const x = known.map((each) => each.deployment);
  const line = (field) => [{ name: field === "risk" ? "worst-case risk" : "accuracy after moving", x,
    y: known.map((each) => each[field][0]), low: known.map((each) => each[field][1]), high: known.map((each) => each[field][2]) }];
  const about = `${many(known.length, "deployment")}, the last one `;
  draw("quality-charts", "accuracy", { title: "Accuracy after people moved", x_label: "deployment", y_label: "accuracy",
    percent: true, series: line("accuracy"), alt: `Accuracy of ${about}${between(known.at(-1).accuracy, percent)}.` });
  draw("quality-charts", "risk", { title: "Worst-case risk", x_label: "deployment", y_label: "risk",
    series: line("risk"), alt: `Worst-case risk of ${about}${between(known.at(-1).risk, decimals)}.` });
  put("quality-table", numbers("accuracy and risk by deployment",
    [["deployment", true], ["opened"], ["answers", true], ["accuracy", true], ["worst-case risk", true]],
    results.map((each) => [whole(each.deployment), moment(each.opened), `${whole(each.n_answers)} of ${whole(each.n_questions)}`,
      between(each.accuracy, percent), between(each.risk, decimals)])));
};

const learned = ({ recommendation }) => {
  say("learned", recommendation?.why || (recommendation?.learnt ? "" : recommendation
    ? "There are too few answers to learn how people respond." : "The answers so far are being read."));
  say("learnt", recommendation?.learnt ? `All answers so far, late ones included: ${recommendation.learnt}` : "");
};

const missing = ({ status, late, silent, settings }) => {
  const patience = settings.silence === "wait" ? "" : ` ${lasting(settings.patience)}.`;
  say("missing", `${whole(status.n_late)} late, ${whole(status.n_silent)} silent. ${SILENCE[settings.silence]}${patience} ` +
    "Late answers are kept for learning and audits, and never decide what comes next.");
  const columns = [["Person"], ["Deployment", true]];
  put("late", ...(late.length ? [table(`Late answers, the newest ${late.length}`, [...columns, ["Told"]],
    late.map((each) => [person(each.person), whole(each.deployment), moment(each.told)]))] : []));
  put("silent", ...(silent.length ? [table(`Silent people, the newest ${silent.length}`, [...columns, ["Deployed"]],
    silent.map((each) => [person(each.person), whole(each.deployment), moment(each.since)]))] : []));
};

const newest = ({ answers }) => {
  if (!answers.length) return put("newest", element("p", { class: "finding" }, "Nothing yet."));
  const manage = permits("manage");
  const rows = answers.map((each) => [whole(each.answer), person(each.person), whole(each.deployment), state(each.status),
    moment(each.told), ...(manage ? [each.status === "withdrawn" ? "" : withdrawal(each.answer, each.person, "newest")] : [])]);
  put("newest", table(`The newest ${many(answers.length, "answer")}`,
    [["Answer", true], ["Person"], ["Deployment", true], ["Status"], ["Told"], ...(manage ? [["Action"]] : [])], rows));
};

// --- the people of a deployment, page by page

let offset = 0, asking = 0;
const people = async () => {
  const turn = ++asking, query = new URLSearchParams({ offset, limit: PAGE });
  for (const name of ["deployment", "state", "search"]) if (at(name).value.trim()) query.set(name, at(name).value.trim());
  let found;
  try {
    found = await get(`people?${query}`);
  } catch (error) {
    if (turn === asking) { say("asked", error.message); put("people"); say("range", ""); }
    return;
  }
  if (turn !== asking) return;
  if (found.total && offset >= found.total) { offset = 0; return people(); }
  const order = ["answered", "waiting", "not asked", "silent", "late"];
  const counts = order.filter((name) => found.counts[name]).map((name) => `${whole(found.counts[name])} ${name}`);
  say("asked", found.deployment === null ? "Nobody yet." : `Deployment ${whole(found.deployment)}: ${counts.join(", ") || "nobody"}.`);
  const manage = permits("manage");
  const rows = found.people.map((each) => [person(each.person), state(each.state), each.holder || "–", moment(each.shown),
    moment(each.told), ...(manage ? [each.answer === null ? "" : withdrawal(each.answer, each.person, "people")] : [])]);
  put("people", ...(rows.length ? [table("People of this deployment",
    [["Person"], ["State"], ["Asked by"], ["Asked"], ["Answered"], ...(manage ? [["Action"]] : [])], rows)]
    : [element("p", { class: "note" }, "Nobody fits this choice.")]));
  const end = Math.min(offset + PAGE, found.total);
  say("range", found.total ? `${whole(offset + 1)} to ${whole(end)} of ${whole(found.total)}` : "");
  at("earlier").disabled = offset === 0;
  at("further").disabled = end >= found.total;
};
at("earlier").addEventListener("click", () => { offset = Math.max(0, offset - PAGE); people(); });
at("further").addEventListener("click", () => { offset += PAGE; people(); });
at("filter").addEventListener("submit", (event) => event.preventDefault());
at("filter").addEventListener("input", () => { offset = 0; people(); });

// --- actions, each with a confirmation

const confirmed = ({ title, text, yes, reason }) => new Promise((done) => {
  const dialog = at("confirm");
  say("confirm-title", title);
  say("confirm-text", text);
  say("confirm-yes", yes);
  at("confirm-reason").hidden = !reason;
  at("reason").value = "";
  at("reason").required = reason === "required";
  const finish = (answer) => { dialog.close(); done(answer); };
  at("confirm-form").onsubmit = (event) => { event.preventDefault(); finish({ reason: at("reason").value.trim() }); };
  at("confirm-no").onclick = () => finish(null);
  dialog.oncancel = () => done(null);
  dialog.showModal();
  (reason ? at("reason") : at("confirm-no")).focus();
});
const act = async (question, step) => {
  const answer = await confirmed(question);
  if (!answer) return;
  fail(null);
  try {
    await step(answer);
    show(await get("overview"));
  } catch (error) { fail(error); }
};
const withdrawal = (answer, name, where) => {
  const button = element("button", { type: "button", "data-key": `${where}-${answer}`,
    "aria-label": `Withdraw answer ${answer} of ${name}` }, "Withdraw…");
  button.addEventListener("click", () => act({ title: `Withdraw answer ${whole(answer)}?`, yes: "Withdraw the answer",
    text: `The answer of ${name} no longer counts, and this cannot be undone. While its deployment is open, the ` +
      "question is asked again. Later deployments stay as they are.", reason: "required" },
  ({ reason }) => post(`answers/${answer}/withdraw`, { reason })));
  return button;
};
at("pause").addEventListener("click", () => {
  if (overview.status.state === "paused")
    return act({ title: "Resume the study?", text: "People are asked again.", yes: "Resume" }, () => post("resume"));
  return act({ title: "Pause the study?", text: "Nobody is asked until the study is resumed. Answers to questions that " +
    "are out still count.", yes: "Pause", reason: "optional" }, ({ reason }) => post("pause", { reason }));
});
at("close").addEventListener("click", () => {
  const { number, n_answered, n_questions } = overview.deployment;
  const left = n_questions - n_answered;
  act({ title: `Close deployment ${whole(number)}?`, yes: "Close the deployment", text: left
    ? `${many(left, "person", "people")} ${left === 1 ? "has" : "have"} not answered. The study continues without them; answers that come later are late. ` +
      "Silence is rarely random, and this cannot be undone." : "All answers are here." },
  async () => {
    const { closed } = await post(`deployments/${number}/close`);
    if (!closed) throw new Error("Nobody has answered this deployment, so it stays open.");
  });
});

follow(show);
