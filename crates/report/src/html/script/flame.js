// A differential flame graph: the width of a frame is its instructions; callers are above callees.

const LEVEL = 19, LETTER = 6.7, NARROWEST = 1;
const flame = { data: null, frames: [], zoomed: 0, current: 0, shownFrames: [], width: 0, tint: 'all', words: '' };

/** Formats instructions like crates/report/src/why.rs. */
function instructions(value) {
  const size = Math.abs(value);
  let text;
  if (size >= 1000 || size % 1 === 0) text = Math.round(size).toLocaleString('en-US');
  else if (size < 1) text = size.toPrecision(2);
  else text = size.toFixed(1);
  return value < 0 && text !== '0' && text !== '0.0' ? `-${text}` : text;
}

const withSign = (value) => (value > 0 ? '+' : '') + instructions(value);

/** The frames as objects, with own and total instructions as integers. */
function framesOf({ frames, names, subsystems }) {
  const all = frames.name.map((name, i) => ({
    i, above: frames.above[i], below: [], others: frames.others[i],
    name: nameOf(frames, names, i), subsystem: subsystems[name],
    own: [frames.own_a[i], frames.own_b[i]], all: [frames.own_a[i], frames.own_b[i]],
    entered: [frames.entered_a[i], frames.entered_b[i]], level: 0, found: false,
  }));
  for (const frame of all) {
    if (frame.above === null) continue;
    all[frame.above].below.push(frame);
    frame.level = all[frame.above].level + 1;
  }
  for (let i = all.length - 1; i > 0; i--) {
    for (const side of [0, 1]) all[all[i].above].all[side] += all[i].all[side];
  }
  return all;
}

function nameOf(frames, names, i) {
  const others = frames.others[i];
  if (others) return `${others} other${others === 1 ? '' : 's'}`;
  return frames.above[i] === null ? 'all instructions' : names[frames.name[i]];
}

/** Instructions per job of the first and the second configuration, and the difference. */
function perJob(figures) {
  const [a, b] = [0, 1].map((side) => figures[side] / flame.data.jobs[side]);
  return { a, b, difference: a - b };
}

/** The direction of a difference, as a class and a symbol. */
function wayOf(difference) {
  if (difference > 0) return ['more', '▲'];
  return difference < 0 ? ['fewer', '▼'] : ['same', '='];
}

/** Describes a frame in words, so that colour is never the only distinction. */
function frameInWords(frame) {
  const { a, b } = flame.data;
  const all = perJob(frame.all);
  const size = instructions(Math.abs(all.difference));
  const than = all.difference === 0 ? `the same in ${a} and ${b}` : `${size} ${all.difference > 0 ? 'more' : 'fewer'} in ${a} than in ${b}`;
  return `${frame.name}: ${instructions(all.a)} and ${instructions(all.b)} instructions per ${flame.data.per}, ${than}`;
}

/** Positions of the frames; the callers of the zoomed frame get the whole width. */
function layOut(width) {
  const side = flame.width, places = [];
  let above = flame.frames[flame.zoomed].above;
  while (above !== null) {
    places.push({ frame: flame.frames[above], x: 0, width, above: true });
    above = flame.frames[above].above;
  }
  places.reverse();
  const zoomed = flame.frames[flame.zoomed];
  const scale = zoomed.all[side] ? width / zoomed.all[side] : 0;
  const open = [{ frame: zoomed, x: 0 }];
  while (open.length) {
    const { frame, x } = open.pop();
    const wide = frame.all[side] * scale;
    if (wide < NARROWEST && frame !== zoomed) continue;
    places.push({ frame, x, width: frame === zoomed ? width : wide });
    let next = x;
    const below = frame.below.map((one) => {
      const place = { frame: one, x: next };
      next += one.all[side] * scale;
      return place;
    });
    open.push(...below.reverse());
  }
  return places;
}

/** The opacity of frames: the largest difference in the zoomed frame is the most opaque. */
function strength(places) {
  const size = ({ frame }) => Math.abs(perJob(frame[flame.tint]).difference);
  const largest = Math.max(...places.filter((place) => !place.above).map(size), 0);
  return (place) => (largest ? 0.07 + 0.4 * Math.sqrt(Math.min(1, size(place) / largest)) : 0);
}

function drawFlame() {
  const place = document.getElementById('graph');
  const held = place.contains(document.activeElement);
  place.replaceChildren();
  const width = Math.max(240, Math.floor(place.clientWidth || 640));
  const places = layOut(width), opacity = strength(places);
  const levels = Math.max(...places.map(({ frame }) => frame.level)) + 1;
  const drawing = svg('svg', { width, height: levels * LEVEL + 2, role: 'tree', tabindex: 0, 'aria-label': `${flame.data.stacks ? 'Calls' : 'Threads, subsystems and functions'}, as wide as their instructions` });
  // Hidden from screen readers, which read the frame's description instead of the cut text.
  const texts = svg('g', { class: 'texts', 'aria-hidden': 'true' });
  for (const one of places) {
    drawing.append(drawFrame(one, opacity(one)));
    const text = textOf(one);
    if (text) texts.append(text);
  }
  drawing.append(texts);
  place.append(drawing);
  flame.shownFrames = places.map((one) => one.frame.i);
  if (!flame.shownFrames.includes(flame.current)) flame.current = flame.zoomed;
  listenTo(drawing);
  if (held) drawing.focus({ preventScroll: true });
  point(flame.current);
  sayUndrawn();
  document.getElementById('back').disabled = document.getElementById('top').disabled = flame.zoomed === 0;
}

function drawFrame({ frame, x, width, above }, opacity) {
  const [way] = wayOf(perJob(frame[flame.tint]).difference);
  const y = frame.level * LEVEL + 1;
  const box = { x: x.toFixed(2), y, width: Math.max(width, NARROWEST).toFixed(2), height: LEVEL - 1 };
  const classes = [above && 'above', frame.found && 'found'].filter(Boolean).join(' ');
  const group = svg('g', {
    id: `frame-${frame.i}`, class: classes, role: 'treeitem', 'aria-level': frame.level + 1, 'aria-selected': 'false', 'aria-label': frameInWords(frame),
    'data-frame': frame.i, 'data-name': frame.name, 'data-level': frame.level, 'data-above': frame.above === null ? '' : frame.above, 'data-way': way,
    'data-a': frame.all[0], 'data-b': frame.all[1], 'data-own-a': frame.own[0], 'data-own-b': frame.own[1],
  });
  group.append(svg('rect', { class: 'base', ...box }));
  if (way !== 'same') group.append(svg('rect', { class: `tint ${way}`, 'fill-opacity': opacity.toFixed(3), ...box }));
  return group;
}

/** The text in a frame. */
function textOf({ frame, x, width }) {
  const { difference } = perJob(frame[flame.tint]);
  const text = label(`${wayOf(difference)[1]} ${frame.name}`, ` ${withSign(difference)}`, width);
  return text ? svg('text', { class: frame.found ? 'found' : '', x: (x + 4).toFixed(2), y: frame.level * LEVEL + 14 }, text) : null;
}

/** As much of a name as fits, with the difference if both fit. */
function label(name, difference, width) {
  const letters = Math.floor((width - 7) / LETTER);
  if (letters < 4) return '';
  if (name.length + difference.length <= letters) return name + difference;
  return name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
}

/** Says how much is invisible: frames that the chosen configuration does not execute have no width. */
function sayUndrawn() {
  const { data, frames, width } = flame, other = 1 - width;
  const names = [data.a, data.b];
  let only = 0;
  const open = [frames[flame.zoomed]];
  while (open.length) {
    const frame = open.pop();
    if (!frame.all[width]) only += frame.all[other];
    else open.push(...frame.below);
  }
  const text = `${instructions(only / data.jobs[other])} instructions per ${data.per} of ${names[other]} are in frames that ${names[width]} does not execute, which have no width here. Choose the width of ${names[other]} to see them.`;
  document.getElementById('undrawn').textContent = only ? shown(text) : '';
}

/** Shows all figures of a frame. */
function point(i) {
  const frame = flame.frames[i], { data } = flame;
  const all = perJob(frame.all), own = perJob(frame.own), entered = perJob(frame.entered);
  const way = all.difference === 0 ? 'the same' : `${all.difference > 0 ? 'more' : 'fewer'} in ${data.a}`;
  const parts = [[data.a, instructions(all.a)], [data.b, instructions(all.b)], ['Difference', `${withSign(all.difference)}: ${way}`]];
  if (frame.below.length || data.stacks) parts.push(['Own instructions', `${instructions(own.a)} and ${instructions(own.b)}: ${withSign(own.difference)}`]);
  if (entered.a || entered.b) parts.push([`Entered per ${data.per}`, `${instructions(entered.a)} and ${instructions(entered.b)}`]);
  const share = flame.frames[0].all[flame.width];
  parts.push([`Of all of ${[data.a, data.b][flame.width]}`, `${(share ? (100 * frame.all[flame.width]) / share : 0).toFixed(2)} %`]);
  const whose = frame.subsystem ? `${frame.name} – ${frame.subsystem}` : frame.name;
  const list = parts.map(([name, value]) => html('div', {}, html('dt', {}, name), html('dd', {}, value)));
  document.getElementById('frame').replaceChildren(html('div', { class: 'whose' }, html('dt', { class: 'sr' }, 'Frame'), html('dd', {}, whose)), ...list);
}
