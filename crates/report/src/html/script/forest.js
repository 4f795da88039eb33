// Ratios with intervals, in a panel for each workload.

const ROW = 21;

function drawForest() {
  const section = document.getElementById('forest');
  if (!section) return;
  const plot = section.querySelector('.plot');
  const metric = state.metric;
  const rows = current().rows.filter((row) => row.m === metric);
  const floors = data.floor.filter((row) => row.m === metric);
  const known = rows.filter((row) => row.ratio !== null);
  const ends = known.flatMap((row) => [row.ratio, row.low, row.high]);
  const bands = floors.flatMap((row) => (row.ratio === null || !row.ci ? [] : row.ci));
  const domain = extent([1, ...ends, ...bands], true);
  const panels = html('div', { class: 'panels' });
  plot.replaceChildren(panels);
  data.workloads.forEach((name, w) => {
    const here = rows.filter((row) => row.w === w);
    if (!here.length) return;
    const panel = html('div', { class: `panel${w === state.workload ? ' chosen' : ''}` }, html('h4', {}, name));
    panels.append(panel);
    const raw = here.every((row) => row.ratio === null);
    const floor = floors.find((row) => row.w === w);
    if (raw) forestPanel(panel, here, floor, null, name);
    else forestPanel(panel, here, floor, domain, name);
  });
  if (!panels.children.length) plot.append(html('p', { class: 'quiet' }, `${titleOf(metric)} is not compared with this baseline.`));
  numbers(section.querySelector('.numbers'), ['configuration', 'workload', 'ratio or difference', 'interval', 'verdict', 'p corrected', 'runs'],
    rows.map((row) => [configuration(row.c), data.workloads[row.w], shownValue(row), shownInterval(row), row.verdict, row.p === null ? '–' : pValue(row.p), row.n === null ? '?' : `${row.n}:${row.nBaseline === null ? '?' : row.nBaseline}`]),
    `Ratios of ${titleOf(metric)}`);
}

function forestPanel(panel, rows, floor, domain, name) {
  const raw = domain === null;
  const height = rows.length * ROW + 34;
  const { drawing, width } = canvas(panel, height, `${titleOf(state.metric)} on ${name}`);
  const names = Math.min(150, width * 0.36), values = 64;
  const usual = domain || extent([0, ...rows.flatMap((row) => [row.difference, row.low, row.high]), ...(floor && floor.ci ? floor.ci : [])], false);
  const x = scaleOf(usual, [names + 8, width - values], !raw);
  const bottom = rows.length * ROW + 8;
  if (floor && floor.ci && (floor.ratio === null) === raw) {
    const [low, high] = floor.ci.map(x);
    drawing.append(svg('rect', { class: 'band', x: low, y: 2, width: Math.max(high - low, 1.5), height: bottom - 2 }));
  }
  axisX(drawing, x, 2, bottom, raw ? (tick) => onAxis(tick, unitOf(state.metric)) : brief);
  const none = x(raw ? 0 : 1);
  drawing.append(svg('line', { class: 'one', x1: none, x2: none, y1: 2, y2: bottom }));
  const marks = rows.filter((row) => raw || row.ratio !== null).map((row, i) => forestRow(drawing, row, i, x, names, width, raw));
  answering(drawing, marks, `${titleOf(state.metric)} on ${name}`);
}

function forestRow(drawing, row, i, x, names, width, raw) {
  const y = i * ROW + ROW / 2 + 4;
  const at = x(raw ? row.difference : row.ratio);
  const group = svg('g', { class: `${row.verdict} ${way(row)} ${row.tone}` });
  group.append(svg('text', { x: names, y: y + 4, 'text-anchor': 'end' }, shortened(configuration(row.c), names)));
  drawing.append(group);
  const value = row.disagree ? 'disagree' : raw ? signed(row.difference) : ratio(row.ratio);
  const text = svg('text', { x: width - 2, y: y + 4, 'text-anchor': 'end' }, `${value} ${markOf(row)}`);
  group.append(text);
  if (row.disagree) return { element: text, x: width - 30, y, wide: true, words: () => inWords(row) };
  if (row.low !== null) group.append(svg('line', { class: 'ci', x1: x(row.low), x2: x(row.high), y1: y, y2: y }));
  const dot = forestDot(row.verdict, at, y);
  group.append(...dot);
  return { element: dot[0], x: at, y, wide: true, words: () => inWords(row) };
}

/** The mark of a verdict: filled, half, square or hollow. */
function forestDot(verdict, x, y) {
  if (verdict === 'equivalent') return [svg('rect', { class: 'dot', x: x - 4, y: y - 4, width: 8, height: 8 })];
  if (verdict === 'established') return [svg('circle', { class: 'dot', cx: x, cy: y, r: 4.5 })];
  const hollow = svg('circle', { class: 'dot hollow', cx: x, cy: y, r: 4.5 });
  if (verdict === 'undecided') return [hollow];
  return [hollow, svg('path', { class: 'dot', d: `M${x},${y - 4.5} a4.5,4.5 0 0 0 0,9 z` })];
}

/** A name that is cut if it is too long, with an ellipsis. */
function shortened(text, width) {
  const most = Math.floor(width / 6.6);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
