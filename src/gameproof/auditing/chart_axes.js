// Numbers as text, scales and ticks: what a chart computes before it draws.

const known = (v) => v !== null && v !== undefined;
const clamp = (v, low, high) => Math.min(high, Math.max(low, v));

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

// Round numbers between two values: about as many as requested, but not a single one or none.
const ticks = (low, high, count) => {
  const raw = (high - low) / Math.max(1, count), unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find((m) => m * unit >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
    found.push(+(k * step).toPrecision(12));
  return found.length < 2 && count < 16 ? ticks(low, high, 2 * count) : found;
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

const extent = (values, fallback) => {
  const finite = values.filter(known);
  if (!finite.length) return fallback;
  return [Math.min(...finite), Math.max(...finite)];
};

// Text in lines of at most so many characters, as far as its words allow.
const folded = (text, most) => {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length && longer.length <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
};
