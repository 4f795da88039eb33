// Effects of factors with the means behind them; activity of CPUs.

function drawFactors() {
  const section = document.getElementById('factors');
  if (!section) return;
  const fits = data.factorial.filter((fit) => fit.m === state.metric);
  const plot = section.querySelector('.plot');
  plot.replaceChildren();
  const name = titleOf(state.metric);
  if (!fits.length) plot.append(html('p', { class: 'quiet' }, `No full grid of factors has ${name}.`));
  const ends = fits.flatMap((fit) => fit.effects.flatMap((effect) => [effect.ratio, ...(effect.ci || [])]));
  const domain = extent([1, ...ends], true);
  const panels = html('div', { class: 'panels' });
  plot.append(panels);
  for (const fit of fits) {
    const workload = data.workloads[fit.w];
    const panel = html('div', { class: `panel${fit.w === state.workload ? ' chosen' : ''}` }, html('h4', {}, workload));
    panels.append(panel);
    effectsPanel(panel, fit, domain, `Effects on ${name} on ${workload}`);
  }
  const chosen = fits.find((fit) => fit.w === state.workload);
  if (chosen && chosen.factors.length >= 2) {
    const pairs = html('div', { class: 'panels' });
    plot.append(pairs);
    const [a, b] = chosen.factors;
    interactionPanel(pairs, chosen, a, b);
    interactionPanel(pairs, chosen, b, a);
  }
  numbers(section.querySelector('.numbers'), ['effect', 'workload', 'ratio', '95 % interval', 'p corrected', 'verdict', 'runs'],
    fits.flatMap((fit) => fit.effects.map((effect) => [effect.name, data.workloads[fit.w], ratio(effect.ratio), effect.ci ? effect.ci.map(ratio).join('..') : '', effect.p_adjusted === null ? '' : pValue(effect.p_adjusted), effect.verdict, fit.n])),
    `Effects on ${name}`);
}

function effectsPanel(panel, fit, domain, label) {
  const height = fit.effects.length * ROW + 34, bottom = fit.effects.length * ROW + 8;
  const { drawing, width } = canvas(panel, height, label);
  const names = Math.min(130, width * 0.32);
  const x = scaleOf(domain, [names + 8, width - 58], true);
  axisX(drawing, x, 2, bottom, brief);
  drawing.append(svg('line', { class: 'one', x1: x(1), x2: x(1), y1: 2, y2: bottom }));
  const marks = fit.effects.map((effect, i) => {
    const y = i * ROW + ROW / 2 + 4;
    const apart = effect.verdict === 'established' || effect.verdict === 'supported';
    const group = svg('g', { class: `${apart ? 'established' : 'undecided'} ${toneOf(fit.m, effect.ratio < 1)}` });
    group.append(svg('text', { x: names, y: y + 4, 'text-anchor': 'end' }, shortened(effect.name, names)));
    if (effect.ci) group.append(svg('line', { class: 'ci', x1: x(effect.ci[0]), x2: x(effect.ci[1]), y1: y, y2: y }));
    const dot = svg('circle', { class: apart ? 'dot' : 'dot hollow', cx: x(effect.ratio), cy: y, r: 4.5 });
    group.append(dot, svg('text', { x: width - 2, y: y + 4, 'text-anchor': 'end' }, ratio(effect.ratio)));
    drawing.append(group);
    const interval = effect.ci ? `\n95 % interval ${effect.ci.map(ratio).join(' to ')}` : '';
    const p = effect.p_adjusted === null ? '' : `\n${effect.verdict}, p ${pValue(effect.p_adjusted)} corrected`;
    return { element: dot, x: x(effect.ratio), y, wide: true, words: () => `${effect.name}: ${ratio(effect.ratio)}${interval}${p}` };
  });
  answering(drawing, marks, label);
}

/** The means with one factor off and on, with a line for each level of the other factor. */
function interactionPanel(panels, fit, along, lines) {
  const others = fit.factors.filter((factor) => factor !== along && factor !== lines);
  const cells = data.configurations
    .map((one, c) => ({ c, factors: one.factors, mean: meanOf(fit.w, fit.m, c) }))
    .filter(({ factors, mean }) => mean !== null && factors[along] !== undefined && factors[lines] !== undefined);
  const label = `${titleOf(fit.m)} by ${along}, a line for each level of ${lines}`;
  const panel = html('div', { class: 'panel' }, html('h4', {}, label));
  panels.append(panel);
  const height = 200, left = 62, bottom = height - 30;
  const { drawing, width } = canvas(panel, height, label);
  const means = cells.map((cell) => cell.mean);
  const log = means.every((mean) => mean > 0);
  const y = scaleOf(extent(means, log, 0.12), [bottom, 10], log);
  const x = (on) => left + (width - left - 110) * (on ? 0.85 : 0.15);
  axisY(drawing, y, left, width - 90, (tick) => onAxis(tick, unitOf(fit.m)));
  for (const on of [false, true]) drawing.append(svg('text', { class: 'tick', x: x(on), y: bottom + 17, 'text-anchor': 'middle' }, `${along} ${on ? 'on' : 'off'}`));
  const groups = new Map();
  for (const cell of cells) {
    const key = [lines, ...others].map((factor) => `${factor} ${cell.factors[factor] ? 'on' : 'off'}`).join(', ');
    groups.set(key, [...(groups.get(key) || []), cell]);
  }
  const marks = [];
  [...groups].forEach(([key, group], k) => {
    group.sort((a, b) => a.factors[along] - b.factors[along]);
    const points = group.map((cell) => `${x(cell.factors[along])},${y(cell.mean)}`).join(' ');
    drawing.append(svg('polyline', { class: 'bold', points, stroke: 'var(--ink)', 'stroke-dasharray': k ? '5 4' : null }));
    const last = group[group.length - 1];
    drawing.append(svg('text', { x: x(last.factors[along]) + 12, y: y(last.mean) + 4 }, shortened(key, 110)));
    for (const cell of group) {
      const element = shape(cell.c, x(cell.factors[along]), y(cell.mean), 5);
      drawing.append(element);
      marks.push({ element, x: x(cell.factors[along]), y: y(cell.mean), words: () => `${configuration(cell.c)}\nmean ${withUnit(cell.mean, unitOf(fit.m))}` });
    }
  });
  answering(drawing, marks, label);
}

/** Metrics of single CPUs, in the order of the CPUs. */
function cpuMetrics() {
  return data.metrics
    .map(([name], m) => ({ m, cpu: /^cpu(\d+)_non_idle$/.exec(name) }))
    .filter(({ cpu }) => cpu)
    .map(({ m, cpu }) => ({ m, cpu: Number(cpu[1]) }))
    .sort((a, b) => a.cpu - b.cpu);
}

function drawCpus() {
  const section = document.getElementById('cpus');
  if (!section) return;
  const cpus = cpuMetrics().filter(({ m }) => runsWith(m, state.workload).length);
  const plot = section.querySelector('.plot');
  plot.replaceChildren();
  const workload = data.workloads[state.workload];
  if (!cpus.length) plot.append(html('p', { class: 'quiet' }, `Not measured on ${workload}.`));
  const all = cpus.flatMap(({ m }) => runsWith(m, state.workload).map((i) => data.runs.values[m][i]));
  const most = Math.max(0, ...all);
  const panels = html('div', { class: 'panels' });
  plot.append(panels);
  data.configurations.forEach(({ name }, c) => {
    const rows = cpus.map(({ m, cpu }) => ({ m, cpu, runs: runsWith(m, state.workload).filter((i) => data.runs.c[i] === c), mean: meanOf(state.workload, m, c) }));
    if (!rows.some((row) => row.runs.length)) return;
    const panel = html('div', { class: 'panel' }, html('h4', {}, name));
    panels.append(panel);
    cpuPanel(panel, rows, c, most, `${name} on ${workload}`);
  });
  numbers(section.querySelector('.numbers'), ['run', 'configuration', ...cpus.map(({ cpu }) => `CPU ${cpu}`)],
    (cpus.length ? runsWith(cpus[0].m, state.workload) : []).map((i) => [`run ${data.runs.order[i]}`, configuration(data.runs.c[i]), ...cpus.map(({ m }) => (data.runs.values[m][i] === null ? '–' : withUnit(data.runs.values[m][i], unitOf(m))))]),
    'CPUs that are not idle');
}

function cpuPanel(panel, rows, c, most, label) {
  const height = rows.length * ROW + 34, bottom = rows.length * ROW + 8, left = 52;
  const { drawing, width } = canvas(panel, height, `CPUs not idle: ${label}`);
  const x = scaleOf([0, most * 1.04 || 1], [left, width - 12], false);
  axisX(drawing, x, 2, bottom, (tick) => onAxis(tick, unitOf(rows[0].m)));
  const marks = rows.flatMap((row, k) => {
    const y = k * ROW + ROW / 2 + 4;
    drawing.append(svg('text', { x: left - 6, y: y + 4, 'text-anchor': 'end' }, `CPU ${row.cpu}`));
    if (row.mean !== null) drawing.append(svg('rect', { class: 'bar', x: left, y: y - 7, width: Math.max(0, x(row.mean) - left), height: 14, fill: colour(c) }));
    return row.runs.map((i) => {
      const value = data.runs.values[row.m][i];
      const element = shape(c, x(value), y, 3.6);
      drawing.append(element);
      return { element, x: x(value), y, words: () => `CPU ${row.cpu}, run ${data.runs.order[i]}: ${withUnit(value, unitOf(row.m))}`, choose: () => chooseRun(i) };
    });
  });
  answering(drawing, marks, label);
}
