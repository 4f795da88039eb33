// Plain SVG: elements, scales, axes.

const SVG = 'http://www.w3.org/2000/svg';

/** An SVG element with attributes and children. */
function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null) element.setAttribute(name, name === 'aria-label' ? shown(value) : value);
  }
  element.append(...children.map(shown));
  return element;
}

/** Text without control characters, including those that change the text direction. */
function shown(what) {
  return typeof what === 'string' ? what.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (c) => (c === '\n' ? c : c === '\t' ? ' ' : '\ufffd')) : what;
}

/** An HTML element with attributes and children. */
function html(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, name === 'aria-label' ? shown(value) : value);
  }
  element.append(...children.map(shown));
  return element;
}

/** A drawing with the width of its container. */
function canvas(place, height, label) {
  const width = Math.max(260, Math.floor(place.clientWidth || 640));
  const drawing = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  place.append(drawing);
  return { drawing, width };
}

/** A scale from values to pixels, with ticks. */
function scaleOf(domain, range, log) {
  let [from, to] = domain;
  if (log) {
    if (from === to) { from /= 1.02; to *= 1.02; }
    const [a, b] = [Math.log(from), Math.log(to)];
    const scale = (value) => range[0] + ((Math.log(value) - a) / (b - a)) * (range[1] - range[0]);
    return Object.assign(scale, { ticks: () => logTicks(from, to), domain: [from, to], log });
  }
  if (from === to) { from -= Math.abs(from) * 0.02 || 1; to += Math.abs(to) * 0.02 || 1; }
  const scale = (value) => range[0] + ((value - from) / (to - from)) * (range[1] - range[0]);
  return Object.assign(scale, { ticks: () => linearTicks(from, to), domain: [from, to], log });
}

function linearTicks(from, to) {
  const rough = (to - from) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough);
  const ticks = [];
  for (let i = Math.ceil(from / step); i * step <= to + step * 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks(from, to) {
  const decades = Math.log10(to / from);
  if (decades < 0.7) return linearTicks(from, to).filter((tick) => tick > 0);
  const steps = decades > 2.5 ? [1] : decades > 1.3 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) {
    for (const step of steps) {
      const tick = Number((step * 10 ** power).toPrecision(6));
      if (tick >= from * 0.9999 && tick <= to * 1.0001) ticks.push(tick);
    }
  }
  const most = 8;
  const every = Math.ceil(ticks.length / most);
  return ticks.filter((_, i) => i % every === 0);
}

/** A horizontal axis: lines through the plot, and numbers below. */
function axisX(drawing, scale, top, bottom, show) {
  let last = -1e9;
  for (const tick of scale.ticks()) {
    const x = scale(tick);
    drawing.append(svg('line', { class: 'gridline', x1: x, x2: x, y1: top, y2: bottom }));
    const text = show(tick);
    if (x - last < text.length * 7 + 6) continue;
    drawing.append(svg('text', { class: 'tick', x, y: bottom + 15, 'text-anchor': 'middle' }, text));
    last = x;
  }
  if (scale.log) sayLog(drawing, drawing.viewBox.baseVal.width - 2, top + 9, 'end');
}

/** A vertical axis: lines through the plot, and numbers on the left. */
function axisY(drawing, scale, left, right, show) {
  for (const tick of scale.ticks()) {
    const y = scale(tick);
    drawing.append(svg('line', { class: 'gridline', x1: left, x2: right, y1: y, y2: y }));
    drawing.append(svg('text', { class: 'tick', x: left - 5, y: y + 4, 'text-anchor': 'end' }, show(tick)));
  }
  if (scale.log) sayLog(drawing, left + 4, 11, 'start');
}

/** Notes in a corner of the plot that an axis is logarithmic. */
function sayLog(drawing, x, y, anchor) {
  drawing.append(svg('text', { class: 'tick log', x, y, 'text-anchor': anchor }, 'log axis'));
}

/** The colour of a configuration, the same in every plot. */
const colour = (c) => `var(--c${c % 10})`;
const dashes = (c) => (c < 10 ? null : ['6 3', '2 3', '8 3 2 3'][Math.floor(c / 10 - 1) % 3]);

/** The shape of a configuration's marks, so that colour is never the only distinction. */
function shape(c, x, y, r) {
  const fill = colour(c);
  const points = (list) => list.map(([dx, dy]) => `${(x + dx * r).toFixed(1)},${(y + dy * r).toFixed(1)}`).join(' ');
  switch (c % 5) {
    case 0: return svg('circle', { class: 'run', cx: x.toFixed(1), cy: y.toFixed(1), r, fill });
    case 1: return svg('rect', { class: 'run', x: (x - r * 0.9).toFixed(1), y: (y - r * 0.9).toFixed(1), width: r * 1.8, height: r * 1.8, fill });
    case 2: return svg('polygon', { class: 'run', points: points([[0, -1.2], [1.1, 0.9], [-1.1, 0.9]]), fill });
    case 3: return svg('polygon', { class: 'run', points: points([[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]]), fill });
    default: return svg('polygon', { class: 'run', points: points([[-1.1, -0.9], [1.1, -0.9], [0, 1.2]]), fill });
  }
}

/** The smallest and the largest value, with a margin at both ends. */
function extent(values, log, room = 0.04) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value === null || !Number.isFinite(value) || (log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return log ? [1, 10] : [0, 1];
  if (log) {
    const factor = Math.max((high / low) ** room, 1.002);
    return [low / factor, high * factor];
  }
  const margin = (high - low) * room;
  return [low - margin, high + margin];
}

/** Whether an axis for these values should be logarithmic. */
function wantsLog(values) {
  const known = values.filter((value) => value !== null);
  if (!known.length || known.some((value) => value <= 0)) return false;
  return Math.max(...known) / Math.min(...known) > 15;
}
