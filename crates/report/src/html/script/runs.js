// Single runs: grouped by configuration or in order, and details of one.

function chooseRun(i) {
  state.run = i;
  remember();
  drawRuns();
  drawRun();
  const title = document.getElementById('run-title');
  title.scrollIntoView({ block: 'nearest' });
  title.focus({ preventScroll: true });
}

/** Whether runs are shown in the order in which they were executed. */
let inOrder = false;

function orderButton() {
  const button = html('button', { type: 'button', class: 'key', id: 'in-order' }, inOrder ? 'By configuration' : 'In order of execution');
  button.addEventListener('click', () => {
    inOrder = !inOrder;
    drawRuns();
    document.getElementById('in-order').focus();
  });
  return button;
}

function drawRuns() {
  const section = document.getElementById('runs');
  if (!section) return;
  const { metric, workload } = state;
  const plot = section.querySelector('.plot');
  const chosen = runsWith(metric, workload);
  const values = chosen.map((i) => data.runs.values[metric][i]);
  plot.replaceChildren();
  const title = `${titleOf(metric)} on ${data.workloads[workload]}`;
  if (!chosen.length) {
    plot.append(html('p', { class: 'quiet' }, `No run on ${data.workloads[workload]} has ${metricName(metric)}.`));
    numbers(section.querySelector('.numbers'), ['run'], [], 'Runs');
    return;
  }
  const present = [...new Set(chosen.map((i) => data.runs.c[i]))].sort((a, b) => a - b);
  section.querySelector('.tools').replaceChildren(...legend(present, drawRuns), orderButton());
  const log = wantsLog(values);
  const domain = extent(values, log, 0.08);
  const shown = chosen.filter((i) => !hidden.has(data.runs.c[i]));
  const panel = html('div', { class: 'panel' }, html('h4', {}, `${title}, ${inOrder ? 'in order of execution' : 'by configuration'}`));
  plot.append(panel);
  if (inOrder) orderPanel(panel, shown, domain, log, title);
  else stripPanel(panel, shown, present.filter((c) => !hidden.has(c)), domain, log, title);
  plot.append(...asNotes(doubts(metric, workload)));
  const unit = unitOf(metric);
  numbers(section.querySelector('.numbers'), ['run', 'configuration', 'repetition', 'block', unit ? `${metricName(metric)} in ${unit}` : metricName(metric)],
    chosen.map((i) => [`run ${data.runs.order[i]}`, configuration(data.runs.c[i]), data.runs.repetition[i], data.runs.block[i] === null ? '–' : data.runs.block[i], data.runs.values[metric][i]]),
    `Runs: ${title}`);
}

/** The sentences as notes, folded if there are several. */
function asNotes(sentences) {
  const notes = sentences.map((sentence) => html('p', { class: 'note' }, sentence));
  return notes.length < 2 ? notes : [html('details', {}, html('summary', {}, `${notes.length} lints about these runs`), ...notes)];
}

/** The lints about the runs that are shown. */
function doubts(metric, workload) {
  const [name, on] = [metricName(metric), data.workloads[workload]];
  const drifts = data.lints.filter((lint) => lint.code === 'drift' && (lint.where === name || (lint.where.startsWith(`${name} on `) && lint.where.includes(on))));
  const apart = data.lints.filter((lint) => lint.code === 'outlier-run' && lint.where.includes(` on ${on},`) && lint.detail.split(/[ ,]+/).includes(name));
  return [...drifts, ...apart].map((lint) => `Lint ${lint.code}: ${lint.where}: ${lint.detail}`);
}

function runWords(i) {
  const value = data.runs.values[state.metric][i];
  const block = data.runs.block[i] === null ? '' : `, block ${data.runs.block[i]}`;
  const line = data.runs.line[i] ? `, line ${data.runs.line[i]}` : '';
  return `run ${data.runs.order[i]}: ${configuration(data.runs.c[i])}${block}${line}\n${value === null ? '' : `${titleOf(state.metric)} ${withUnit(value, unitOf(state.metric))}`}`;
}

function runMark(drawing, i, x, y) {
  const mark = shape(data.runs.c[i], x, y, 4.4);
  mark.setAttribute('data-c', data.runs.c[i]);
  mark.setAttribute('data-run', data.runs.order[i]);
  if (i === state.run) mark.classList.add('current');
  drawing.append(mark);
  return { element: mark, x, y, words: () => runWords(i), choose: () => chooseRun(i) };
}

function stripPanel(panel, chosen, present, domain, log, title, metric = state.metric) {
  const height = Math.max(120, present.length * 26 + 34), bottom = height - 26;
  const { drawing, width } = canvas(panel, height, `${title}, by configuration`);
  const names = Math.min(150, width * 0.32);
  const x = scaleOf(domain, [names + 10, width - 14], log);
  axisX(drawing, x, 2, bottom, (tick) => onAxis(tick, unitOf(metric)));
  const step = bottom / present.length;
  present.forEach((c, row) => drawing.append(svg('text', { x: names, y: (row + 0.5) * step + 4, 'text-anchor': 'end' }, shortened(configuration(c), names))));
  const seen = new Map();
  const marks = chosen.map((i) => {
    const c = data.runs.c[i];
    const at = x(data.runs.values[metric][i]);
    // Equal values are placed next to each other, alternately above and below.
    const key = `${c} ${Math.round(at / 5)}`;
    const before = seen.get(key) || 0;
    seen.set(key, before + 1);
    const away = Math.ceil(before / 2) * 4 * (before % 2 ? 1 : -1);
    const limited = Math.max(-step / 2 + 3, Math.min(step / 2 - 3, away));
    return runMark(drawing, i, at, (present.indexOf(c) + 0.5) * step + limited);
  });
  answering(drawing, marks, `${title}, by configuration`);
}

function orderPanel(panel, chosen, domain, log, title) {
  const height = 250, left = 62, bottom = height - 26;
  const { drawing, width } = canvas(panel, height, `${title}, in order of execution`);
  const x = scaleOf(extent(data.runs.order, false, 0.02), [left, width - 12], false);
  const y = scaleOf(domain, [bottom, 8], log);
  axisX(drawing, x, 8, bottom, brief);
  axisY(drawing, y, left, width - 12, (tick) => onAxis(tick, unitOf(state.metric)));
  const marks = chosen.map((i) => runMark(drawing, i, x(data.runs.order[i]), y(data.runs.values[state.metric][i])));
  marks.sort((a, b) => a.x - b.x);
  answering(drawing, marks, `${title}, in order of execution`);
}

/** The command that stops a run at its worst sample, if it can be repeated and has samples. */
function lookInto(run) {
  if (!data.shell || !data.series.some((one) => one.run === run)) return [];
  const command = (words) => html('code', {}, `assize ${words}`);
  const { source } = data.shell;
  return [html('p', { class: 'quiet' }, command(`debug ${source} ${run} --at worst`), ' stops at its worst sample; ', command(`when ${source} ${run}`), ' finds when it became certain')];
}

/** Draws the chosen run: its samples over time, if the page has them. */
function drawRun() {
  const section = document.getElementById('run');
  if (!section) return;
  const i = state.run;
  section.hidden = i === null;
  if (i === null) return;
  const { order, repetition, c, w, line } = data.runs;
  section.dataset.run = order[i];
  const where = line[i] ? `, read at line ${line[i]}` : '';
  document.getElementById('run-title').textContent = shown(`Run ${order[i]}: ${configuration(c[i])} on ${data.workloads[w[i]]}, repetition ${repetition[i]}${where}`);
  const plot = section.querySelector('.plot'), caption = section.querySelector('figcaption');
  plot.replaceChildren();
  section.querySelector('.tools').replaceChildren(...timelineButton(order[i]), ...whyButtons(i), ...lookInto(order[i]));
  const series = data.series.filter((one) => one.run === order[i]);
  const curves = data.curves.filter((one) => one.run === order[i] && one.x.length);
  caption.textContent = series.length
    ? 'Each sample over time; where there are more than fit, the line goes from the least to the greatest of each stretch.'
    : curves.length
      ? 'The samples of this run were recorded as distributions, without times. Each line is one of them: the share of samples up to a value.'
      : 'No samples of this run were recorded; these are its metrics.';
  const panels = html('div', { class: 'panels wide' });
  plot.append(panels);
  for (const one of series) seriesPanel(panels, one);
  if (!series.length) for (const one of curves) curvePanel(panels, one, c[i]);
  const rows = data.metrics.map(([name, unit], m) => [name, data.runs.values[m][i], unit]).filter((row) => row[1] !== null);
  numbers(section.querySelector('.numbers'), ['metric', 'value', 'unit'], rows, `Metrics of run ${order[i]}`);
  section.querySelector('details').open = !series.length && !curves.length;
}

function seriesPanel(panels, one) {
  const panel = html('div', { class: 'panel' }, html('h4', {}, `${one.metric}: ${one.n} samples over time`));
  panels.append(panel);
  const height = 220, left = 62, bottom = height - 26;
  const { drawing, width } = canvas(panel, height, `${one.metric} over time`);
  const all = [...one.low, ...one.high];
  const log = wantsLog(all);
  const x = scaleOf(extent(one.t, false, 0.01), [left, width - 12], false);
  const y = scaleOf(extent(all, log), [bottom, 8], log);
  axisX(drawing, x, 8, bottom, (tick) => onAxis(tick, 'ns'));
  axisY(drawing, y, left, width - 12, (tick) => onAxis(tick, one.unit));
  const marks = one.t.map((t, i) => {
    const from = y(one.low[i]), to = y(one.high[i]);
    const element = svg('line', { class: 'sample', x1: x(t), x2: x(t), y1: from + 1, y2: to - 1, stroke: 'var(--c1)', 'stroke-width': 2 });
    drawing.append(element);
    const range = one.low[i] === one.high[i] ? onAxis(one.high[i], one.unit) : `${onAxis(one.low[i], one.unit)} to ${onAxis(one.high[i], one.unit)}`;
    return { element, x: x(t), y: to, words: () => `${onAxis(t, 'ns')}: ${range}` };
  });
  answering(drawing, marks, `${one.metric} over time`);
}

function curvePanel(panels, one, c) {
  const panel = html('div', { class: 'panel' }, html('h4', {}, `${one.metric}: ${one.n} samples`));
  panels.append(panel);
  const height = 180, left = 46, bottom = height - 26;
  const { drawing, width } = canvas(panel, height, `${one.metric}, share of samples up to each value`);
  const log = one.x[0] > 0;
  const x = scaleOf(extent([one.x[0], one.x[one.x.length - 1]], log, 0.02), [left, width - 12], log);
  const y = scaleOf([0, 1], [bottom, 8], false);
  axisX(drawing, x, 8, bottom, (tick) => onAxis(tick, one.unit));
  axisY(drawing, y, left, width - 12, brief);
  drawing.append(svg('path', { class: 'bold', d: steps(one, x, (share) => y(share)), stroke: colour(c) }));
  const marks = one.x.map((value, i) => {
    const element = svg('circle', { cx: x(value), cy: y(one.y[i]), r: 2, fill: colour(c) });
    drawing.append(element);
    return { element, x: x(value), y: y(one.y[i]), words: () => `${brief(one.y[i] * 100)} % up to ${onAxis(value, one.unit)}` };
  });
  answering(drawing, marks, one.metric);
}
