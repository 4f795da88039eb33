// The effects on each of several machines, and pooled.

function drawMachines() {
  const section = document.getElementById('machines');
  if (!section) return;
  const { metric, workload } = state;
  const here = (rows) => rows.filter((row) => row.m === metric && row.w === workload);
  // Rows compare with the requested baseline only.
  const single = here(data.machines), pooled = here(data.pooled);
  const plot = section.querySelector('.plot');
  plot.replaceChildren();
  const title = `${titleOf(metric)} on ${data.workloads[workload]}`;
  if (!pooled.length) plot.append(html('p', { class: 'quiet' }, `${title} is not compared on several ${data.several}.`));
  // One axis for all ratios, and one for differences of metrics without ratios.
  const isRaw = (together) => together.ratio === null;
  const of = (together) => [...single.filter((row) => row.c === together.c), together];
  const domains = [true, false].map((raw) => {
    const rows = pooled.filter((together) => isRaw(together) === raw).flatMap(of).filter((row) => isRaw(row) === raw);
    const all = rows.flatMap((row) => [raw ? row.difference : row.ratio, ...(row.ci || []), ...(row.ci_random || []), ...(row.prediction || [])]);
    return extent([raw ? 0 : 1, ...all.filter((value) => value !== null)], !raw);
  });
  const panels = html('div', { class: 'panels' });
  plot.append(panels);
  for (const together of pooled) {
    const rows = single.filter((row) => row.c === together.c);
    const panel = html('div', { class: 'panel' }, html('h4', {}, `${configuration(together.c)} to ${configuration(together.b)}: ${together.agreement}`));
    panels.append(panel);
    machinePanel(panel, rows, together, domains[isRaw(together) ? 0 : 1], isRaw(together), `${title}, ${configuration(together.c)}`);
  }
  const interval = (row) => (row.ci ? row.ci.map((v) => (isRaw(row) ? significant(v, 2) : ratio(v))).join('..') : '–');
  numbers(section.querySelector('.numbers'), ['configuration', 'where', 'ratio or difference', 'interval', 'verdict'],
    pooled.flatMap((together) => {
      const rows = together.agreement === 'opposite' ? of(together).slice(0, -1) : of(together);
      return rows.map((row) => [configuration(row.c), row.machine || 'all, pooled', effectOf(row), interval(row), row.verdict]);
    }),
    `${title} on several ${data.several}`);
}

/** The ratio, or the difference if there is none. */
function effectOf(row) {
  if (row.ratio !== null) return ratio(row.ratio);
  return row.difference === null ? '–' : `d ${withPoints(row.difference, unitOf(state.metric))}`;
}

function machinePanel(panel, rows, pooled, domain, raw, label) {
  const random = { ...pooled, machine: `mean over ${data.several}`, ratio: pooled.ratio_random, difference: pooled.difference_random, ci: pooled.ci_random, verdict: 'undecided' };
  const further = pooled.prediction ? [{ ...random, machine: 'further ones', ratio: null, difference: null, ci: pooled.prediction }] : [];
  // If machines contradict each other, no pooled figure is valid.
  const common = pooled.agreement === 'opposite' ? [] : [{ ...pooled, machine: 'pooled' }];
  const lines = [...rows, ...common, random, ...further];
  const height = lines.length * ROW + 34, bottom = lines.length * ROW + 8;
  const { drawing, width } = canvas(panel, height, label);
  const names = Math.min(150, width * 0.36);
  const x = scaleOf(domain, [names + 8, width - 62], !raw);
  axisX(drawing, x, 2, bottom, raw ? (tick) => onAxis(tick, unitOf(state.metric)) : brief);
  drawing.append(svg('line', { class: 'one', x1: x(raw ? 0 : 1), x2: x(raw ? 0 : 1), y1: 2, y2: bottom }));
  const marks = lines.flatMap((row, i) => machineLine(drawing, row, i, x, names, width, raw));
  answering(drawing, marks, label);
}

function machineLine(drawing, row, i, x, names, width, raw) {
  const y = i * ROW + ROW / 2 + 4, value = raw ? row.difference : row.ratio;
  const group = svg('g', { class: `${row.verdict} ${way(row) === 'level' ? 'same' : toneOf(state.metric, way(row) === 'falls')}` });
  group.append(svg('text', { x: names, y: y + 4, 'text-anchor': 'end' }, shortened(row.machine, names)));
  if (!raw && row.ratio === null && row.difference !== null) {
    // A difference has no position on an axis of ratios, but is printed.
    const text = svg('text', { x: width - 2, y: y + 4, 'text-anchor': 'end' }, effectOf(row));
    group.append(text);
    drawing.append(group);
    return [{ element: text, x: width - 30, y, wide: true, words: () => `${row.machine}: ${effectOf(row)}, a difference` }];
  }
  const line = row.ci ? svg('line', { class: 'ci', x1: x(row.ci[0]), x2: x(row.ci[1]), y1: y, y2: y }) : null;
  if (line) group.append(line);
  drawing.append(group);
  const show = raw ? signed : ratio;
  const words = `${row.machine}${value === null ? '' : `: ${show(value)}`}${row.ci ? `\ninterval ${row.ci.map(show).join(' to ')}` : ''}`;
  if (value === null) return line ? [{ element: line, x: x(row.ci[0]), y, wide: true, words: () => words }] : [];
  const dot = row.machine === 'pooled' ? [svg('polygon', { class: 'dot', points: `${x(value) - 6},${y} ${x(value)},${y - 6} ${x(value) + 6},${y} ${x(value)},${y + 6}` })] : forestDot(row.verdict, x(value), y);
  group.append(...dot, svg('text', { x: width - 2, y: y + 4, 'text-anchor': 'end' }, show(value)));
  return [{ element: dot[0], x: x(value), y, wide: true, words: () => words }];
}
