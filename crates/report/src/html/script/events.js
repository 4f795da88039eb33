// Events per second with their exact intervals.

function drawRates() {
  const section = document.getElementById('rates');
  if (!section) return;
  const plot = section.querySelector('.plot');
  plot.replaceChildren();
  const known = data.rates.filter((rate) => rate.rate_per_s !== null && rate.ci);
  const high = Math.max(0, ...known.map((rate) => rate.ci[1]));
  const keys = [...new Set(known.map((rate) => `${rate.workload}\n${rate.event}`))];
  const panels = html('div', { class: 'panels' });
  plot.append(panels);
  for (const key of keys) {
    const [workload, event] = key.split('\n');
    const rows = known.filter((rate) => rate.workload === workload && rate.event === event);
    const panel = html('div', { class: 'panel' }, html('h4', {}, workload === event ? event : `${event} on ${workload}`));
    panels.append(panel);
    ratePanel(panel, rows, high, `${event} on ${workload}`);
  }
  if (!known.length) plot.append(html('p', { class: 'quiet' }, 'Without exposure there is no rate.'));
  numbers(section.querySelector('.numbers'), ['configuration', 'workload', 'event', 'count', 'seconds', 'per s', '95 % interval', 'note'],
    data.rates.map((rate) => [rate.configuration, rate.workload, rate.event, rate.count, rate.exposure_s === null ? '–' : brief(rate.exposure_s), rate.rate_per_s === null ? '–' : brief(rate.rate_per_s), rate.ci ? rate.ci.map(brief).join('..') : '–', rate.note || '']),
    'Events per second');
}

function ratePanel(panel, rows, high, label) {
  const height = rows.length * ROW + 34, bottom = rows.length * ROW + 8;
  const { drawing, width } = canvas(panel, height, label);
  const names = Math.min(150, width * 0.36);
  const x = scaleOf([0, high * 1.04 || 1], [names + 8, width - 50], false);
  axisX(drawing, x, 2, bottom, (tick) => `${brief(tick)}/s`);
  const marks = rows.map((rate, i) => {
    const y = i * ROW + ROW / 2 + 4;
    drawing.append(svg('text', { x: names, y: y + 4, 'text-anchor': 'end' }, shortened(rate.configuration, names)));
    drawing.append(svg('line', { class: 'ci', x1: x(rate.ci[0]), x2: x(rate.ci[1]), y1: y, y2: y }));
    const element = svg('circle', { class: rate.count ? 'dot' : 'dot hollow', cx: x(rate.rate_per_s), cy: y, r: 4.5 });
    drawing.append(element, svg('text', { x: width - 2, y: y + 4, 'text-anchor': 'end' }, String(rate.count)));
    const words = `${rate.configuration}: ${rate.count} in ${brief(rate.exposure_s)} s\n${brief(rate.rate_per_s)} per s, 95 % interval ${rate.ci.map(brief).join(' to ')}${rate.note ? `\n${rate.note}` : ''}`;
    return { element, x: x(rate.rate_per_s), y, wide: true, words: () => words };
  });
  answering(drawing, marks, label);
}
