"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const HEIGHT = 330, ROW = 20, LINE = 15, LOOKS = 5;

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
  const known = (v) => v !== null && v !== undefined;
  const clamp = (v, low, high) => Math.min(high, Math.max(low, v));
  const look = (k) => k % LOOKS;

  const written = (v, percent, digits = 3) => {
    if (!known(v)) return "–";
    if (percent) return ((100 * +v.toFixed(3)).toFixed(1) + "\u00a0%").replace("-", "−");
    const size = Math.abs(v), whole = size >= 999.5;
    if (size < 5e-5) return "0"; // no 1e-14, which nobody would say
    if (size >= 1e9) return v > 0 ? "over a billion" : "below −1 billion";
    if (size < 1e-3) return v.toFixed(4).replace("-", "−");
    return (whole ? Math.round(v).toLocaleString("en") : String(+v.toPrecision(digits))).replace("-", "−");
  };

  // Maps values to an axis and back. Values without a logarithm map far below.
  const EVEN = { to: (v) => v, from: (v) => v };
  const LOG = { to: (v) => Math.log10(Math.max(v, 1e-300)), from: (v) => 10 ** v };
  const along = (scale, span, from, to) => {
    const [low, high] = span.map(scale.to);
    return (v) => from + ((scale.to(v) - low) / (high - low)) * (to - from);
  };
  const back = (scale, span, share) => {
    const [low, high] = span.map(scale.to);
    return scale.from(low + share * (high - low));
  };
  const widened = (scale, span, share) => {
    const [low, high] = span.map(scale.to), pad = (high - low || 1) * share;
    return [scale.from(low - pad), scale.from(high + pad)];
  };

  // Round numbers between two values, about as many as requested.
  const ticks = (low, high, count) => {
    const raw = (high - low) / Math.max(1, count), unit = 10 ** Math.floor(Math.log10(raw));
    const step = unit * [1, 2, 5, 10].find((m) => m * unit >= raw * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
      found.push(+(k * step).toPrecision(12));
    return found;
  };
  // Powers of ten, or 1, 2, 5, …; if these are too few, the ticks of a linear axis.
  const logTicks = (low, high, count) => {
    for (const digits of [[1], [1, 2, 5]]) {
      const found = [];
      for (let k = Math.floor(Math.log10(low)); 10 ** k <= high; k++)
        found.push(...digits.map((m) => +(m * 10 ** k).toPrecision(12)).filter((v) => v >= low && v <= high));
      const every = Math.ceil(found.length / 8);
      if (found.length > 2) return found.filter((_, k) => k % every === 0);
    }
    return ticks(low, high, count);
  };
  const tickText = (v, percent, list) => {
    const step = list.length > 1 ? list[1] - list[0] : 1;
    const digits = clamp(Math.ceil(-Math.log10(percent ? 100 * step : step) - 1e-9), 0, 6);
    if (!percent && !digits) return written(v, false, 12);
    return ((percent ? 100 * v : v).toFixed(digits) + (percent ? "\u00a0%" : "")).replace("-", "−");
  };

  const marker = (kind, x, y, parent) => {
    const shapes = [
      () => make("circle", { cx: x, cy: y, r: 3.6 }),
      () => make("rect", { x: x - 3.2, y: y - 3.2, width: 6.4, height: 6.4 }),
      () => make("path", { d: `M${x} ${y - 4.2}l4.2 7.4h-8.4z` }),
      () => make("path", { d: `M${x} ${y - 4.6}l4.6 4.6l-4.6 4.6l-4.6 -4.6z` }),
      () => make("path", { d: `M${x} ${y + 4.2}l4.2 -7.4h-8.4z` }),
    ];
    const node = shapes[kind]();
    node.setAttribute("class", `f${kind}`);
    parent.append(node);
  };

  const extent = (values, fallback) => {
    const finite = values.filter(known);
    if (!finite.length) return fallback;
    return [Math.min(...finite), Math.max(...finite)];
  };

  let serial = 0;

  class Chart {
    constructor(figure, spec = JSON.parse(figure.querySelector("script").textContent)) {
      this.figure = figure;
      this.spec = spec;
      this.plot = figure.querySelector(".plot");
      this.flat = this.spec.kind === "lines";
      this.scales = { x: this.spec.log_x ? LOG : EVEN, y: this.spec.log_y ? LOG : EVEN };
      this.hidden = new Set();
      this.zoomed = null;
      this.at = null;
      this.clip = `clip-${++serial}`;
      this.furnish();
      this.arrange();
      new ResizeObserver(() => {
        const width = this.plot.clientWidth;
        if (width && width !== this.width) this.draw();
      }).observe(this.plot);
      this.draw();
    }

    arrange() {
      this.places = [...new Set(this.spec.series.flatMap((s) => s.x))].sort((a, b) => a - b);
    }

    // New values for the same series; what is hidden, zoomed to or pointed at stays so.
    update(spec) {
      this.spec = spec;
      this.arrange();
      if (this.at !== null && this.at >= this.places.length) this.at = null;
      this.draw();
    }

    // Legend, zoom buttons, the tooltip, and the live region for screen readers.
    furnish() {
      const tools = html("div", { class: "tools" });
      this.figure.insertBefore(tools, this.plot);
      this.spec.series.forEach((series, k) => {
        const key = html("button", { type: "button", class: "key", "aria-pressed": "true" }, tools);
        const icon = make("svg", { width: 30, height: 12, "aria-hidden": "true" }, key);
        if (this.flat) make("path", { d: "M0 6H30", class: `l${look(series.look)}` }, icon);
        if (this.spec.kind === "bars")
          make("rect", { width: 30, height: 12, class: `bar f${look(series.look)}` }, icon);
        else if (!series.guide) marker(look(series.look), 15, 6, icon);
        html("span", {}, key, series.name);
        key.addEventListener("click", () => {
          if (!this.hidden.delete(k)) this.hidden.add(k);
          key.setAttribute("aria-pressed", String(!this.hidden.has(k)));
          this.at = null;
          this.draw();
        });
      });
      const zoom = html("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, tools);
      const button = (text, name, act) => {
        const found = html("button", { type: "button", "aria-label": name, title: name }, zoom, text);
        found.addEventListener("click", act);
        return found;
      };
      button("+", "Zoom in", () => this.scale(0.6));
      button("−", "Zoom out", () => this.scale(1 / 0.6));
      this.reset = button("Reset", "Show all", () => this.zoom(null));
      this.frame = html("div", { class: "frame", tabindex: "0", role: "group" });
      this.frame.setAttribute("aria-label", "Chart; arrow keys read the values");
      this.plot.replaceWith(this.frame);
      this.frame.append(this.plot);
      this.tip = html("div", { class: "tip", hidden: "" }, this.frame);
      this.aloud = html("div", { class: "aside", "aria-live": "polite" }, this.frame);
      this.frame.addEventListener("keydown", (event) => this.key(event));
      this.frame.addEventListener("blur", () => this.point(null));
      this.follow();
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
      const under = LINE * (spec.x_label.split("\n").length - 1);
      const height = (flat ? HEIGHT : rows + 50) + under;
      const beside = spec.kind === "bars" ? 62 : 20;
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
      this.reset.disabled = !this.zoomed;
      this.point(this.at);
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
      const across = (spec.log_x ? logTicks : ticks)(...this.span.x, clamp(Math.floor((right - left) / 80), 2, 10));
      for (const v of across) {
        make("path", { class: "grid", d: `M${this.X(v)} ${top}V${bottom}` }, svg);
        const text = spec.log_x ? written(v, false, 6) : tickText(v, !flat && spec.percent, across);
        make("text", { x: this.X(v), y: bottom + 17, "text-anchor": "middle" }, svg, text);
      }
      if (flat) {
        for (const [v, text] of this.upTicks()) {
          make("path", { class: "grid", d: `M${left} ${this.Y(v)}H${right}` }, svg);
          make("text", { x: left - 8, y: this.Y(v) + 4, "text-anchor": "end" }, svg, text);
        }
        make("text", { x: 0, y: 12 }, svg, spec.y_label);
      }
      make("path", { class: "axis", d: `M${left} ${bottom}H${right}` }, svg);
      spec.x_label.split("\n").forEach((line, k) => {
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
            if (s.low.length && known(s.low[k]))
              make("path", { class: `whisker w${kind}`, d: `M${this.X(s.low[k])} ${middle}H${this.X(s.high[k])}` }, this.body);
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

    // Values at a place: the k-th x of a line chart, the k-th mark of another.
    point(k) {
      this.at = k;
      this.over.replaceChildren();
      const series = this.shown;
      if (k === null || !series.length) {
        this.tip.hidden = true;
        return;
      }
      const { percent } = this.spec, lines = [];
      const value = (s, j) => {
        const around = s.low.length && known(s.low[j]);
        const from = written(s.low[j], percent).replace("\u00a0%", "");
        const interval = around ? ` (${from} to ${written(s.high[j], percent)})` : "";
        return `${s.name}: ${written(s.y[j], percent)}${interval}`;
      };
      let head, x, y;
      if (this.flat) {
        const place = this.places[k];
        head = `${this.spec.x_label.split("\n")[0]} ${written(place)}`;
        x = this.X(place);
        y = this.inner.top;
        make("path", { class: "guide", d: `M${x} ${y}V${this.inner.bottom}` }, this.over);
        for (const s of series) {
          const j = s.x.indexOf(place);
          if (j < 0 || !known(s.y[j])) continue;
          lines.push(value(s, j));
          const inside = s.y[j] >= this.span.y[0] && s.y[j] <= this.span.y[1];
          if (inside && !s.guide) marker(look(s.look), x, this.Y(s.y[j]), this.over);
        }
      } else {
        const hit = this.hits[k];
        head = this.spec.labels[hit.k];
        lines.push(value(hit.s, hit.k));
        x = this.X(clamp(hit.s.y[hit.k] ?? 0, ...this.span.x));
        y = hit.y;
      }
      this.tip.replaceChildren();
      html("b", {}, this.tip, head);
      for (const line of lines) html("div", {}, this.tip, line);
      this.aloud.textContent = [head, ...lines].join("; ");
      this.tip.hidden = false;
      const ratio = this.plot.clientWidth / this.width, room = this.plot.clientWidth;
      const wide = this.tip.offsetWidth, right = x * ratio + 12;
      const across = right + wide > room ? Math.max(0, x * ratio - wide - 12) : right;
      const down = this.flat ? y * ratio + 4 : y * ratio + 12;
      this.tip.style.transform = `translate(${across}px, ${down}px)`;
    }

    near(event) {
      const box = this.svg.getBoundingClientRect(), ratio = this.width / box.width;
      return { x: (event.clientX - box.left) * ratio, y: (event.clientY - box.top) * ratio };
    }

    nearest(at) {
      const list = this.flat
        ? this.places.map((v) => (v < this.span.x[0] || v > this.span.x[1] ? Infinity : Math.abs(this.X(v) - at.x)))
        : this.hits.map((hit) => Math.abs(hit.y - at.y));
      const best = Math.min(...list);
      return Number.isFinite(best) ? list.indexOf(best) : null;
    }

    // Pointer events: hovering shows values, dragging zooms.
    follow() {
      let from = null;
      this.plot.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        from = this.near(event);
        if (event.pointerType === "mouse") event.preventDefault();
        this.plot.setPointerCapture(event.pointerId);
      });
      this.plot.addEventListener("pointermove", (event) => {
        const at = this.near(event);
        this.point(this.nearest(at));
        if (from) this.box(from, at);
      });
      this.plot.addEventListener("pointerup", (event) => {
        const at = this.near(event), start = from;
        from = null;
        if (start && Math.abs(at.x - start.x) > 12) this.select(start, at);
        else this.point(this.nearest(at));
      });
      this.plot.addEventListener("pointercancel", () => { from = null; this.point(null); });
      // After a touch ends, the tooltip stays until the focus moves.
      this.plot.addEventListener("pointerleave", (event) => {
        if (!from && event.pointerType === "mouse") this.point(null);
      });
      this.plot.addEventListener("dblclick", () => this.zoom(null));
    }

    enclosed(one, two) {
      const { left, right, top, bottom } = this.inner;
      const x = [one.x, two.x].map((v) => clamp(v, left, right)).sort((a, b) => a - b);
      const tall = this.flat && Math.abs(one.y - two.y) > 24;
      const y = tall ? [one.y, two.y].map((v) => clamp(v, top, bottom)).sort((a, b) => a - b) : [top, bottom];
      return { x, y, tall };
    }

    box(one, two) {
      const { x, y } = this.enclosed(one, two);
      make("rect", { class: "box", x: x[0], y: y[0], width: x[1] - x[0], height: y[1] - y[0] }, this.over);
    }

    select(one, two) {
      const { x, y, tall } = this.enclosed(one, two), { left, right, top, bottom } = this.inner;
      const across = (v) => back(this.scales.x, this.span.x, (v - left) / (right - left));
      const up = (v) => back(this.scales.y, this.span.y, (bottom - v) / (bottom - top));
      this.zoom({ x: x.map(across), y: tall ? [up(y[1]), up(y[0])] : null });
    }

    scale(factor) {
      const { to, from } = this.scales.x, [low, high] = this.span.x.map(to), half = ((high - low) / 2) * factor;
      const chosen = this.flat && this.at !== null ? to(this.places[this.at]) : (low + high) / 2;
      const zoomed = this.zoomed;
      this.zoomed = null;
      const whole = this.spans().x.map(to), slack = 1e-9 * (whole[1] - whole[0]);
      this.zoomed = zoomed;
      const x = [Math.max(whole[0], chosen - half), Math.min(whole[1], chosen + half)];
      const all = x[0] <= whole[0] + slack && x[1] >= whole[1] - slack;
      this.zoom(all ? null : { x: x.map(from), y: null });
    }

    zoom(window) {
      this.zoomed = window;
      this.at = null;
      this.draw();
    }

    key(event) {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") this.point(null);
      if (!step || event.target !== this.frame) return;
      event.preventDefault();
      const [low, high] = this.span.x, list = [...(this.flat ? this.places : this.hits).keys()];
      const seen = list.filter((k) => !this.flat || (this.places[k] >= low && this.places[k] <= high));
      if (!seen.length) return;
      const now = seen.indexOf(this.at), first = step > 0 ? 0 : seen.length - 1;
      this.point(seen[now < 0 ? first : clamp(now + step, 0, seen.length - 1)]);
    }
  }

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
})();
