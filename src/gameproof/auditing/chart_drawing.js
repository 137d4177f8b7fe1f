// A chart as SVG: its range, axes, lines and marks.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 330, ROW = 20, LINE = 15, LOOKS = 6;

const make = (tag, attributes, parent, text) => {
  const node = document.createElementNS(SVG, tag);
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
};
const html = (tag, attributes, parent, text) => {
  const node = document.createElement(tag);
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
};
const look = (k) => k % LOOKS;

const marker = (kind, x, y, parent) => {
  const shapes = [
    () => make("circle", { cx: x, cy: y, r: 3.6 }),
    () => make("rect", { x: x - 3.2, y: y - 3.2, width: 6.4, height: 6.4 }),
    () => make("path", { d: `M${x} ${y - 4.2}l4.2 7.4h-8.4z` }),
    () => make("path", { d: `M${x} ${y - 4.6}l4.6 4.6l-4.6 4.6l-4.6 -4.6z` }),
    () => make("path", { d: `M${x} ${y + 4.2}l4.2 -7.4h-8.4z` }),
    () => make("path", { d: `M${x - 1.5} ${y - 4.5}h3v3h3v3h-3v3h-3v-3h-3v-3h3z` }),
  ];
  const node = shapes[kind]();
  node.setAttribute("class", `f${kind}`);
  parent.append(node);
};

let serial = 0;

class Drawing {
  constructor(plot, spec) {
    this.plot = plot;
    this.flat = spec.kind === "lines";
    this.scales = { x: spec.log_x ? LOG : EVEN, y: spec.log_y ? LOG : EVEN };
    this.hidden = new Set();
    this.zoomed = null;
    this.clip = `clip-${++serial}`;
    this.arrange(spec);
  }

  arrange(spec) {
    this.spec = spec;
    this.places = [...new Set(spec.series.flatMap((s) => s.x))].sort((a, b) => a - b);
  }

  get shown() {
    return this.spec.series.filter((_, k) => !this.hidden.has(k));
  }

  // The range of the axes: all data, or the zoomed part.
  spans() {
    const { spec, flat } = this;
    const refers = spec.across.map(([v]) => v);
    let x, y;
    const all = (list, keep) =>
      list.flatMap((s) => [s.y, s.low, s.high].flatMap((v) => v.filter((_, k) => keep(s, k))));
    if (flat) {
      x = extent(spec.series.flatMap((s) => s.x), [0, 1]);
      if (this.zoomed) x = this.zoomed.x;
      const inside = (s, k) => s.x[k] >= x[0] && s.x[k] <= x[1];
      let seen = [...all(this.shown, inside), ...(this.zoomed ? [] : refers)];
      if (spec.log_y) {
        // A band that reaches 0 is cut off a little below the lowest line.
        const lines = this.shown.flatMap((s) => s.y.filter((v, k) => known(v) && v > 0 && inside(s, k)));
        seen = seen.filter((v) => v >= 0.4 * Math.min(...lines));
      }
      y = extent(seen, spec.log_y ? [0.1, 1] : [0, 1]);
      const floor = spec.from_zero || spec.series.some((s) => s.fill), low = Math.min(0, y[0]);
      y = widened(this.scales.y, y, 0.06);
      if (floor) y[0] = low;
      if (spec.percent && !refers.includes(0)) y = [Math.max(0, y[0]), Math.min(1, y[1])];
      if (this.zoomed && this.zoomed.y) y = this.zoomed.y;
    } else {
      x = extent([...all(this.shown, () => true), ...refers], [0, 1]);
      const pad = (x[1] - x[0] || 1) * 0.08;
      if (spec.kind === "bars") x = [Math.min(0, x[0]), Math.max(0, x[1]) || 1];
      else x = [x[0] - pad, x[1] + pad];
      if (this.zoomed) x = this.zoomed.x;
      y = [0, 1];
    }
    if (x[1] === x[0]) x = widened(this.scales.x, x, 0.5);
    return { x, y };
  }

  draw() {
    const { spec, flat } = this;
    this.width = this.plot.clientWidth || 680;
    this.row = spec.kind === "dots" ? 28 : ROW;
    const rows = spec.labels.length * (26 + this.row * Math.max(1, this.shown.length));
    const beside = spec.kind === "bars" ? 62 : 20, most = Math.floor((this.width - beside) / 6.7);
    this.below = spec.x_label.split("\n").flatMap((line) => folded(line, most));
    const under = LINE * (this.below.length - 1);
    const height = (flat ? HEIGHT : rows + 50) + under;
    // Names of vertical reference lines have their own row below the axis title.
    const above = flat ? (spec.upright.length ? 42 : 30) : 6;
    this.span = this.spans();
    const margin = flat ? Math.max(52, 14 + 6.7 * this.longest()) : 16;
    this.inner = { left: margin, right: this.width - beside, top: above, bottom: height - 44 - under };
    const { left, right, top, bottom } = this.inner, { x, y } = this.span;
    this.X = along(this.scales.x, x, left, right);
    this.Y = along(this.scales.y, y, bottom, top);
    const svg = make("svg", { viewBox: `0 0 ${this.width} ${height}`, "aria-hidden": "true" });
    const clip = make("clipPath", { id: this.clip }, make("defs", {}, svg));
    // Leaves room for whole markers at the ends of a line and for text beside marks.
    const ends = flat ? [left - 5, right + 5] : [left - 12, this.width];
    make("rect", { x: ends[0], y: top - 5, width: ends[1] - ends[0], height: bottom - top + 10 }, clip);
    this.axes(svg);
    this.body = make("g", { "clip-path": `url(#${this.clip})` }, svg);
    this.hits = [];
    if (flat) this.lines();
    else this.marks();
    this.over = make("g", {}, svg);
    this.plot.replaceChildren(svg);
    this.svg = svg;
  }

  // The values of the vertical axis and their texts, the longest of which needs room beside it.
  upTicks() {
    const { log_y: log, percent } = this.spec, found = (log ? logTicks : ticks)(...this.span.y, 5);
    return found.map((v) => [v, log ? written(v, false, 6) : tickText(v, percent, found)]);
  }

  longest() {
    return Math.max(...this.upTicks().map(([, text]) => text.length));
  }

  axes(svg) {
    const { spec, flat } = this, { left, right, top, bottom } = this.inner;
    const across = (spec.log_x ? logTicks : ticks)(...this.span.x, clamp(Math.floor((right - left) / 60), 2, 10));
    for (const v of across) {
      make("path", { class: "grid", d: `M${this.X(v)} ${top}V${bottom}` }, svg);
      const text = spec.log_x ? written(v, false, 6) : tickText(v, !flat && spec.percent, across);
      const half = 3.5 * text.length; // a number at the edge stays whole
      const x = clamp(this.X(v), half, this.width - half);
      make("text", { x, y: bottom + 17, "text-anchor": "middle" }, svg, text);
    }
    if (flat) {
      for (const [v, text] of this.upTicks()) {
        make("path", { class: "grid", d: `M${left} ${this.Y(v)}H${right}` }, svg);
        make("text", { x: left - 8, y: this.Y(v) + 4, "text-anchor": "end" }, svg, text);
      }
      make("text", { x: 0, y: 12 }, svg, spec.y_label);
    }
    make("path", { class: "axis", d: `M${left} ${bottom}H${right}` }, svg);
    this.below.forEach((line, k) => {
      make("text", { x: right, y: bottom + 37 + LINE * k, "text-anchor": "end" }, svg, line);
    });
    const within = (v, [low, high]) => v >= low && v <= high;
    const upright = flat ? spec.upright : spec.across;
    for (const [v, name] of upright.filter(([v]) => within(v, this.span.x))) {
      make("path", { class: "refer", d: `M${this.X(v)} ${top - (flat ? 14 : 0)}V${bottom}` }, svg);
      const side = this.X(v) > (left + right) / 2 ? ["end", -5] : ["start", 5];
      if (flat) make("text", { x: this.X(v) + side[1], y: top - 5, "text-anchor": side[0] }, svg, name);
    }
    if (!flat) return;
    for (const [v, name] of spec.across.filter(([v]) => within(v, this.span.y))) {
      make("path", { class: "refer", d: `M${left} ${this.Y(v)}H${right}` }, svg);
      make("text", { ...this.free(this.Y(v), name), "text-anchor": "end" }, svg, name);
    }
  }

  // Where beside a line across, at this height, its name is clear of curves and upright lines: at
  // the right end and above the line if it can be.
  free(height, name) {
    const { left, right, top, bottom } = this.inner, wide = 6.5 * name.length, enough = 12;
    let best = { x: right - 2, y: height - 5 }, most = -1;
    for (const part of [1, 0.8, 0.6, 0.4, 0.2, 0]) {
      const start = left + 2 + part * (right - left - wide - 4), end = start + wide;
      const cut = this.spec.upright.some(([u]) => this.X(u) > start - 4 && this.X(u) < end + 4);
      for (const high of [height - 15, height + 5]) {
        if (cut || high < top || high + 12 > bottom) continue;
        const apart = this.shown.flatMap((s) => this.heights(s, start, end))
          .map((y) => Math.max(0, high - y, y - high - 12));
        const room = Math.min(enough, ...apart);
        if (room > most) [best, most] = [{ x: end, y: high + 10 }, room];
      }
    }
    return best;
  }

  // The height of a curve between two places, every few pixels.
  heights(series, start, end) {
    const found = [], { x, y } = series;
    for (let k = 1; k < x.length; k++) {
      const [a, b] = [this.X(x[k - 1]), this.X(x[k])];
      if (b < start || a > end || !known(y[k - 1]) || !known(y[k])) continue;
      const from = this.Y(y[k - 1]), slope = (this.Y(y[k]) - from) / (b - a || 1);
      for (let at = Math.max(a, start); at <= Math.min(b, end); at += 4) found.push(from + slope * (at - a));
    }
    return found;
  }

  lines() {
    for (const s of [...this.shown].reverse()) {
      const kind = look(s.look), path = (v) => {
        let text = "", pen = "M";
        s.x.forEach((x, k) => {
          if (!known(v[k])) { pen = "M"; return; }
          text += `${pen}${this.X(x).toFixed(1)} ${this.Y(v[k]).toFixed(1)}`;
          pen = "L";
        });
        return text;
      };
      if (s.low.length) {
        const tail = s.x.map((x, k) => [x, s.low[k]]).reverse().filter(([, v]) => known(v));
        const down = (v) => Math.min(this.Y(v), this.inner.bottom);
        const lower = tail.map(([x, v]) => `L${this.X(x).toFixed(1)} ${down(v).toFixed(1)}`).join("");
        make("path", { class: `band f${kind}`, d: path(s.high) + lower + "Z" }, this.body);
      }
      const line = path(s.y);
      if (s.fill && line) {
        const base = this.Y(Math.max(0, this.span.y[0]));
        const d = `${line}L${this.X(s.x.at(-1))} ${base}L${this.X(s.x[0])} ${base}Z`;
        make("path", { class: `band f${kind}`, d }, this.body);
      }
      make("path", { class: `l${kind}`, d: line, "data-series": s.name }, this.body);
      if (s.fill || s.guide) continue;
      const every = Math.max(1, Math.ceil(s.x.length / 24));
      s.x.forEach((x, k) => {
        if (known(s.y[k]) && k % every === 0) marker(kind, this.X(x), this.Y(s.y[k]), this.body);
      });
    }
  }

  // Bars or dots below each other, with a label above each group.
  marks() {
    const { spec } = this, { left } = this.inner, zero = clamp(0, ...this.span.x);
    let y = this.inner.top;
    spec.labels.forEach((label, k) => {
      make("text", { x: left - 10, y: y + 14, class: "strong" }, this.body, label);
      y += 20;
      for (const s of this.shown) {
        const v = s.y[k], kind = look(s.look), middle = y + this.row - ROW / 2;
        if (known(v)) {
          const end = this.X(v);
          if (spec.kind === "bars") {
            const from = Math.min(this.X(zero), end), width = Math.abs(end - this.X(zero));
            const shape = { x: from, y: y + 3, width: Math.max(1, width), height: ROW - 6, rx: 2 };
            make("rect", { ...shape, class: `bar f${kind}`, "data-series": s.name }, this.body);
          }
          if (s.low.length && (known(s.low[k]) || known(s.high[k]))) {
            // An end that is not known is beyond the edge.
            const from = known(s.low[k]) ? this.X(s.low[k]) : 0;
            const to = known(s.high[k]) ? this.X(s.high[k]) : this.width;
            make("path", { class: `whisker w${kind}`, d: `M${from} ${middle}H${to}` }, this.body);
          }
          if (spec.kind === "dots") marker(kind, end, middle, this.body);
          // Beside a bar, or above a dot, where no interval is in the way.
          const place = spec.kind === "bars"
            ? { x: Math.max(end, this.X(zero)) + 8, y: middle + 4 }
            : { x: end, y: middle - 7, "text-anchor": "middle" };
          make("text", place, this.body, written(v, spec.percent));
        }
        this.hits.push({ y: middle, k, s });
        y += this.row;
      }
      y += 6;
    });
  }
}
