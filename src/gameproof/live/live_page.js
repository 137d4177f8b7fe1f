"use strict";
(() => {
  const KEY = "gameproof-token", PAGE = 12;
  // Milliseconds without a byte after which a stream counts as broken, and between two attempts.
  const SILENT = 40000, AGAIN = [1000, 2000, 5000, 10000];
  const PHASES = {
    pilot: "pilot: learning how people respond", run: "run: improving the classifier",
    risk: "final check: fresh answers for the risk",
  };
  const SILENCE = {
    wait: "The study waits for people who do not answer.",
    replace: "Somebody else is asked instead of people who do not answer within",
    continue: "A deployment closes without people who do not answer within",
  };
  const UNITS = [["days", 86400], ["hours", 3600], ["minutes", 60], ["seconds", 1]];

  const POWERS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

  const at = (id) => document.getElementById(id);
  const element = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const say = (id, text) => { if (at(id).textContent !== text) at(id).textContent = text; };
  const whole = (v) => v.toLocaleString("en");
  const many = (n, one, more = `${one}s`) => `${whole(n)} ${n === 1 ? one : more}`;
  const signed = (v, digits = 3) =>
    v === null || v === undefined ? "–" : (v > 0 ? "+" : "") + short(v, digits);
  const short = (v, digits = 3) => {
    const size = Math.abs(v);
    if (size === 0) return "0";
    if (size >= 1e-4 && size < 1e6) return String(+v.toPrecision(digits)).replace("-", "−");
    const [digit, power] = v.toExponential(digits - 1).split("e");
    return `${digit}·10${[...String(+power)].map((c) => POWERS[c]).join("")}`.replace("-", "−");
  };
  const decimals = (v) => v.toFixed(3).replace("-", "−");
  const percent = (v) => `${(100 * v).toFixed(1)}\u00a0%`;
  const moment = (seconds) => seconds === null ? "–" : new Date(1000 * seconds)
    .toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const unitOf = (seconds) => UNITS.find(([, size]) => seconds >= 2 * size) || UNITS.at(-1);
  const lasting = (seconds) => {
    const [name, size] = unitOf(seconds), n = Math.round(seconds / size);
    return n === 1 ? `1 ${name.slice(0, -1)}` : `${whole(n)} ${name}`;
  };

  // --- the service

  let token = sessionStorage.getItem(KEY), scopes = [], overview = null;

  class Refusal extends Error {
    constructor(status, body) { super(body.message || `status ${status}`); Object.assign(this, { status, code: body.code }); }
  }
  const headers = (more = {}) => (token ? { ...more, Authorization: `Bearer ${token}` } : more);
  const checked = async (reply) => {
    if (reply.ok) return reply;
    throw new Refusal(reply.status, await reply.json().catch(() => ({})));
  };
  const get = async (path) => (await checked(await fetch(`v1/${path}`, { headers: headers() }))).json();
  const post = async (path, body) => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const kind = body === undefined ? {} : { "Content-Type": "application/json" };
    return (await checked(await fetch(`v1/${path}`, { method: "POST", headers: headers(kind), ...content }))).json();
  };

  const banner = (text, kind = "") => { say("banner", text); at("banner").className = `banner ${kind}`; };
  const fail = (error) => {
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
    follow();
  });

  // One stream of server-sent events. The browser's EventSource cannot send a token.
  const stream = async () => {
    const stop = new AbortController();
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

  let following = false;
  const follow = async () => {
    if (following) return;
    following = true;
    for (let failures = 0; ; failures++) {
      try {
        const access = await get("access");
        scopes = access.scopes;
        failures = 0;
        if (!overview) banner("Connected; the study is being read.", "waiting");
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

  // --- tables

  // Replaces what a host shows, and keeps the focus and the open tables where they were.
  const put = (id, ...nodes) => {
    const host = at(id), held = host.contains(document.activeElement) && document.activeElement.dataset.key;
    const open = [...host.querySelectorAll("details[open]")].map((each) => each.dataset.key);
    const left = [...host.querySelectorAll(".wide")].map((each) => [each.scrollLeft, each.scrollTop]);
    host.replaceChildren(...nodes);
    for (const each of host.querySelectorAll("details")) each.open = open.includes(each.dataset.key);
    host.querySelectorAll(".wide").forEach((each, k) => { if (left[k]) [each.scrollLeft, each.scrollTop] = left[k]; });
    if (held) host.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus();
  };
  const table = (caption, columns, rows, tall = false) => {
    const kind = (k) => (columns[k][1] ? { class: "number" } : {});
    const head = columns.map(([name], k) => element("th", { scope: "col", ...kind(k) }, name));
    const body = rows.map((row) => element("tr", {}, ...row.map((cell, k) =>
      k ? element("td", kind(k), cell) : element("th", { scope: "row", ...kind(k) }, cell))));
    return element("div", { class: tall ? "wide tall" : "wide", tabindex: "0", role: "region", "aria-label": caption },
      element("table", {}, element("caption", {}, caption),
        element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
  };
  const numbers = (caption, columns, rows) =>
    element("details", { "data-key": caption }, element("summary", {}, `Numbers: ${caption}`),
      table(caption, columns, rows, rows.length > 15));
  const person = (name) => element("span", { class: "person" }, name);
  const state = (name) => element("span", { class: `state ${name.replace(" ", "-")}` }, name);

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
    const whose = found ? "recommended" : last ? `deployment ${whole(last.deployment)}` : "";
    put("tiles",
      tile("Answers", whole(status.n_answers), status.max_answers ? `of at most ${whole(status.max_answers)}` : "no limit"),
      tile("People asked", whole(people.asked), `of ${whole(people.can_be_asked)} who can be asked`),
      tile("Open questions", whole(status.n_pending), `${whole(status.n_leased)} handed out`),
      tile("Late and silent", whole(status.n_late + status.n_silent),
        `${whole(status.n_late)} late, ${whole(status.n_silent)} silent`),
      tile("Accuracy after moving", last ? percent(last.accuracy[0]) : "–", last
        ? `${percent(last.accuracy[1])} to ${percent(last.accuracy[2])}, ${whose}` : "no deployment closed yet"),
      tile("Worst-case risk", risk ? decimals(risk[0]) : "–",
        risk ? `${decimals(risk[1])} to ${decimals(risk[2])}, ${whose}` : "no deployment closed yet"));
  };

  const actions = ({ status, deployment }) => {
    const permitted = scopes.includes("manage") && status.state !== "finished";
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
      ["Questions to one person", people.most_asked, status.max_per_person],
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
    const columns = [["Column"]], cells = [];
    if (!bare) columns.push(["People can change"]);
    const kinds = bare ? [["per_unit", ""]] : [["per_unit", ": one unit"], ["between_quartiles", ": between quartiles"]];
    for (const [source, title] of [[now, "Shown now"], [best, "Recommended"]])
      if (source) for (const [field, what] of kinds) {
        columns.push([title + what, true]);
        cells.push([source, field]);
      }
    const rows = any.numbers.map((each, k) => [person(each.name), ...(bare ? [] : [each.movable || "no"]),
      ...cells.map(([source, field]) => effect(source.numbers[k][field]))]);
    any.levels.forEach((each, k) => rows.push([person(each.name), each.movable || "no",
      ...cells.map(([source, field]) => field === "per_unit" ? "" : effect(source.levels[k].effect))]));
    if (!bare || cells.some(([source]) => source.intercept)) rows.push(["intercept", ...(bare ? [] : [""]),
      ...cells.map(([source, field], k) => field === kinds.at(-1)[0] ? effect(source.intercept) : "")]);
    put("model", table(bare ? "Coefficients of the features" : `Effect of each column on the log odds of ${any.outcome}`,
      columns, rows, rows.length > 18));
    say("units", bare ? "" : "One unit: the effect of one unit of the column at its median. Between quartiles: from the " +
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
      x.map((v, k) => [short(v, 4), whole(timeline.counted[k]), whole(timeline.other[k])])));
  };

  const between = (v, write) => v ? `${write(v[0])} (${write(v[1])} to ${write(v[2])})` : "–";
  const quality = ({ results, recommendation, status }) => {
    const known = results.filter((each) => each.risk), risk = recommendation?.risk;
    const last = known.filter((each) => each.closed).at(-1) || known.at(-1);
    say("quality", risk ? `The recommended classifier has the worst-case risk ${decimals(risk.value)}, between ` +
        `${decimals(risk.low)} and ${decimals(risk.high)} with ${100 * risk.confidence}\u00a0% confidence, from ${many(risk.n_queries, "answer")} to this very classifier.`
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

  const learned = ({ recommendation }) => say("learned", recommendation?.why ||
    (recommendation ? "This method learns no model of the response; it only uses the answers." : "The answers so far are being read."));

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
    const manage = scopes.includes("manage");
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
    const manage = scopes.includes("manage");
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
      ? `${many(left, "person", "people")} ${left === 1 ? "has" : "have"} not answered. The study goes on without them; answers that come later are late. ` +
        "Silence is rarely random, and this cannot be undone." : "All answers are here." },
    async () => {
      const { closed } = await post(`deployments/${number}/close`);
      if (!closed) throw new Error("Nobody has answered this deployment, so it stays open.");
    });
  });

  follow();
})();
