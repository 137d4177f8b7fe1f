// A chart that can be read: legend, zoom, and values by pointer and keyboard.

class Chart extends Drawing {
  constructor(figure, spec = JSON.parse(figure.querySelector("script").textContent)) {
    super(figure.querySelector(".plot"), spec);
    this.figure = figure;
    this.at = null;
    this.furnish();
    new ResizeObserver(() => {
      const width = this.plot.clientWidth;
      if (width && width !== this.width) this.draw();
    }).observe(this.plot);
    this.draw();
  }

  // New values for the same series; what is hidden, zoomed to or pointed at stays so.
  update(spec) {
    this.arrange(spec);
    if (this.at !== null && this.at >= this.places.length) this.at = null;
    this.draw();
  }

  draw() {
    super.draw();
    this.reset.disabled = !this.zoomed;
    this.point(this.at);
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
