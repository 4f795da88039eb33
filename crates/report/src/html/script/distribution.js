// Distributions of samples, run by run: cumulative shares, and the tail.

/** Metrics with distributions, in order. */
function latencies() {
  return [...new Set(data.curves.map((curve) => curve.metric))];
}

/** Configurations that the reader has hidden. */
const hidden = new Set();

/** The index, in the columns of runs, of a run by its schedule number. */
function runAt(order) {
  if (!data.byOrder) data.byOrder = new Map(data.runs.order.map((o, i) => [o, i]));
  return data.byOrder.get(order);
}

/** The curves of a distribution on a workload, each with its run and configuration. */
function curvesOf(metric, workload) {
  return data.curves
    .filter((curve) => curve.metric === metric && runAt(curve.run) !== undefined)
    .map((curve) => ({ ...curve, i: runAt(curve.run), c: data.runs.c[runAt(curve.run)] }))
    .filter((curve) => data.runs.w[curve.i] === workload && curve.x.length);
}

function drawDistribution() {
  const section = document.getElementById('distribution');
  if (!section) return;
  const plot = section.querySelector('.plot');
  const curves = curvesOf(state.latency, state.workload);
  const present = [...new Set(curves.map((curve) => curve.c))].sort((a, b) => a - b);
  distributionTools(section.querySelector('.tools'), present);
  plot.replaceChildren();
  const shown = curves.filter((curve) => !hidden.has(curve.c));
  const workload = data.workloads[state.workload];
  if (!curves.length) {
    plot.append(html('p', { class: 'quiet' }, `No samples of ${state.latency} are recorded on ${workload}.`));
    numbers(section.querySelector('.numbers'), ['run'], [], 'Distributions');
    return;
  }
  const unit = curves[0].unit;
  const panels = html('div', { class: 'panels wide' });
  plot.append(panels);
  for (const tail of [false, true]) {
    const title = tail ? 'share above' : 'share up to';
    const panel = html('div', { class: 'panel' }, html('h4', {}, `${state.latency} on ${workload}: ${title}`));
    panels.append(panel);
    distributionPanel(panel, shown, present, unit, tail);
  }
  const at = [0.5, 0.9, 0.99, 0.999];
  numbers(section.querySelector('.numbers'), ['run', 'configuration', 'samples', 'least', ...at.map((share) => `p${share * 100}`), 'greatest'],
    curves.map((curve) => [`run ${curve.run}`, configuration(curve.c), curve.n, onAxis(curve.x[0], unit),
      ...at.map((share) => (curve.n * (1 - share) < 10 ? '–' : onAxis(firstAt(curve, share), unit))), onAxis(curve.x[curve.x.length - 1], unit)]),
    `Distributions of ${state.latency} on ${workload}`);
}

/** The smallest value of a curve at which it reaches a share of the samples. */
function firstAt(curve, share) {
  const at = curve.y.findIndex((y) => y >= share - 1e-9);
  return curve.x[at < 0 ? curve.x.length - 1 : at];
}

function distributionTools(tools, present) {
  const select = html('select', { id: 'latency' }, ...latencies().map((name) => html('option', { value: name }, name)));
  select.value = state.latency;
  select.addEventListener('change', () => { state.latency = select.value; remember(); drawDistribution(); document.getElementById('latency').focus(); });
  tools.replaceChildren(html('label', {}, 'Distribution ', select), ...legend(present, drawDistribution));
}

/** A button for each configuration that shows or hides its lines, and highlights them under the pointer. */
function legend(present, redraw) {
  return present.map((c) => {
    const key = svg('svg', { viewBox: '0 0 26 12', 'aria-hidden': 'true' },
      svg('line', { x1: 1, x2: 25, y1: 6, y2: 6, stroke: colour(c), 'stroke-width': 2.6, 'stroke-dasharray': dashes(c) }), shape(c, 13, 6, 4.2));
    const button = html('button', { type: 'button', class: 'key', 'aria-pressed': String(!hidden.has(c)), 'data-configuration': configuration(c) }, key, configuration(c));
    button.addEventListener('click', () => {
      if (hidden.has(c)) hidden.delete(c);
      else hidden.add(c);
      redraw();
      const again = [...document.querySelectorAll('.tools .key')].find((other) => other.dataset.configuration === configuration(c));
      if (again) again.focus();
    });
    const light = (on) => {
      for (const line of button.closest('figure').querySelectorAll('svg [data-c]')) line.classList.toggle('dimmed', on && line.dataset.c !== String(c));
    };
    button.addEventListener('pointerenter', () => light(true));
    button.addEventListener('pointerleave', () => light(false));
    return button;
  });
}

function distributionPanel(panel, curves, present, unit, tail) {
  const height = 330, left = 46, bottom = height - 26, top = 8;
  const { drawing, width } = canvas(panel, height, `${state.latency}, ${tail ? 'share of samples above' : 'share of samples up to'} each value`);
  const log = curves.every((curve) => curve.x[0] > 0);
  const ends = curves.flatMap((curve) => [tail ? firstAt(curve, 0.5) : curve.x[0], curve.x[curve.x.length - 1]]);
  const scale = scaleOf(extent(ends, log, 0.02), [left, width - 12], log);
  // Values below the visible range are drawn at its edge.
  const x = Object.assign((value) => scale(Math.max(value, scale.domain[0])), scale);
  const bold = present.filter((c) => !hidden.has(c)).map((c) => [c, meanCurve(curves.filter((curve) => curve.c === c))]);
  const least = Math.min(0.1, ...bold.map(([, mean]) => 1 / mean.n));
  const y = tail ? scaleOf([least * 0.7, 1], [bottom, top], true) : scaleOf([0, 1], [bottom, top], false);
  axisX(drawing, x, top, bottom, (tick) => onAxis(tick, unit));
  axisY(drawing, y, left, width - 12, brief);
  const heightOf = tail ? (share, n) => y(Math.max(1 - share, 1 / n)) : (share) => y(share);
  const marks = curves.map((curve) => {
    const line = svg('path', { class: 'thin', d: steps(curve, x, heightOf), stroke: colour(curve.c), 'data-c': curve.c });
    drawing.append(line);
    return lineMark(line, curve, x, heightOf, unit);
  });
  for (const [c, mean] of bold) {
    drawing.append(svg('path', { class: 'bold', d: steps(mean, x, heightOf), stroke: colour(c), 'stroke-dasharray': dashes(c), 'data-c': c }));
    const place = tail ? mean.x.length - 1 : Math.floor(mean.x.length * (0.25 + 0.5 * (present.indexOf(c) / present.length)));
    const mark = shape(c, x(mean.x[place]), heightOf(mean.y[place], mean.n), 5);
    mark.setAttribute('data-c', c);
    drawing.append(mark);
  }
  lineMarks(drawing, marks);
}

/** A step function: between two values the share is that of the smaller one. */
function steps(curve, x, height) {
  let y = height(0, curve.n).toFixed(1);
  let path = `M${x(curve.x[0]).toFixed(1)},${y}`;
  curve.x.forEach((value, i) => {
    y = height(curve.y[i], curve.n).toFixed(1);
    path += `H${x(value).toFixed(1)}V${y}`;
  });
  return path;
}

/** The mean share of several curves, at each value that occurs in one of them. */
function meanCurve(curves) {
  const values = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
  const at = curves.map(() => 0);
  const y = values.map((value) => {
    let sum = 0;
    curves.forEach((curve, k) => {
      while (at[k] < curve.x.length && curve.x[at[k]] <= value) at[k] += 1;
      sum += at[k] ? curve.y[at[k] - 1] : 0;
    });
    return sum / curves.length;
  });
  return { x: values, y, n: curves.reduce((sum, curve) => sum + curve.n, 0) };
}

function lineMark(line, curve, x, height, unit) {
  const last = curve.x.length - 1;
  return {
    element: line, curve,
    points: curve.x.map((value, i) => [x(value), height(curve.y[i], curve.n)]),
    words: (at) => {
      const i = at === undefined ? last : at;
      return `${configuration(curve.c)}, run ${curve.run}: ${brief(curve.y[i] * 100)} % up to ${onAxis(curve.x[i], unit)}\n${curve.n} samples, greatest ${onAxis(curve.x[last], unit)}`;
    },
    choose: () => chooseRun(curve.i),
  };
}

/** The line nearest to the pointer is highlighted; arrow keys move between lines. */
function lineMarks(drawing, marks) {
  const wrapped = marks.map((mark) => {
    const [px, py] = mark.points[mark.points.length - 1];
    return { element: mark.element, x: px, y: py, words: () => mark.words(), choose: mark.choose };
  });
  // Every point of a line counts for the distance, not only its end.
  const flat = wrapped.flatMap((one, i) => marks[i].points.map(([px, py], at) => ({ ...one, x: px, y: py, words: () => marks[i].words(at) })));
  answering(drawing, flat, `Lines of ${marks.length} runs`);
}
