// The reader's choices, and drawing the page for them.

/** Fills the lists. Baselines are in the order of configurations; the first document is the requested one. */
function fillSelects() {
  const fill = (id, options, choose) => {
    const select = document.getElementById(id);
    select.replaceChildren(...options.map(([value, text, more]) => html('option', { value, ...more }, text)));
    select.addEventListener('change', () => { choose(select.value); remember(); draw(); });
  };
  fill('baseline', data.judged.map((judged, i) => [i, judged.baseline === null ? '–' : judged.baseline]), (value) => { state.baseline = Number(value); });
  fill('metric', metricOptions(), (value) => { state.metric = Number(value); followMetric(); });
  fill('workload', data.workloads.map((name, i) => [i, name]), (value) => { state.workload = Number(value); });
}

function metricOptions() {
  const order = metricsCompared();
  const rest = data.metrics.map((_, i) => i).filter((i) => !order.includes(i));
  return [...order, ...rest].map((m) => {
    const [name, unit] = data.metrics[m];
    const also = data.metrics.filter(([other]) => other === name).length > 1 ? ` [${unit}]` : '';
    const title = titleOf(m).toLowerCase() === name.toLowerCase() ? '' : `${titleOf(m)} – `;
    return [m, `${title}${name}${also}${data.primary.includes(m) ? ' (primary)' : ''}`, { 'data-metric': name, 'data-unit': unit }];
  });
}

/** Shows the distribution that belongs to the chosen metric. */
function followMetric() {
  const name = metricName(state.metric);
  const own = latencies().find((latency) => name === latency || name.startsWith(`${latency}_`));
  if (own) state.latency = own;
}

/** Writes the choices to the fragment of the URL. */
function remember() {
  const chosen = new URLSearchParams();
  chosen.set('baseline', data.judged[state.baseline].baseline || '');
  chosen.set('metric', metricName(state.metric));
  chosen.set('workload', data.workloads[state.workload] || '');
  if (state.latency) chosen.set('latency', state.latency);
  if (state.run !== null) chosen.set('run', data.runs.order[state.run]);
  if (state.why) chosen.set('why', state.why);
  history.replaceState(null, '', `#${chosen}`);
}

/** Reads the choices from the fragment of the URL; unknown names are ignored. */
function recall() {
  const text = location.hash.slice(1);
  if (!text.includes('=')) return false;
  const chosen = new URLSearchParams(text);
  const set = (name, list, value) => {
    const at = list.indexOf(value);
    if (at >= 0) state[name] = at;
  };
  set('baseline', data.judged.map((judged) => judged.baseline), chosen.get('baseline'));
  set('metric', data.metrics.map(([name]) => name), chosen.get('metric'));
  set('workload', data.workloads, chosen.get('workload'));
  if (latencies().includes(chosen.get('latency'))) state.latency = chosen.get('latency');
  const run = data.runs.order.indexOf(Number(chosen.get('run')));
  state.run = chosen.has('run') && run >= 0 ? run : null;
  state.why = data.why[chosen.get('why')] ? Number(chosen.get('why')) : 0;
  return true;
}

function draw() {
  hideTip();
  closeDetail();
  for (const [id, value] of [['baseline', state.baseline], ['metric', state.metric], ['workload', state.workload]]) {
    document.getElementById(id).value = value;
  }
  drawGrid();
  for (const one of [drawForest, drawMachines, drawDistribution, drawRuns, drawRun, drawFactors, drawCpus, drawRates, drawTimeline, drawWhy]) one();
}

/** Makes the names of metrics in the grid links that choose them. */
function linkMetrics() {
  for (const head of document.querySelectorAll('table.grid th[data-metric]')) {
    const { metric, unit } = head.dataset;
    const m = data.metrics.findIndex(([name, u]) => name === metric && u === unit);
    const workload = head.closest('table').dataset.workload;
    const link = html('a', { href: '#grid', role: 'button', 'aria-expanded': 'false' }, m < 0 ? metric : titleOf(m));
    link.addEventListener('click', (event) => {
      event.preventDefault();
      openDetail(head.parentElement, m, data.workloads.indexOf(workload));
    });
    head.firstChild.replaceWith(link, ' ');
  }
}

async function start() {
  const note = document.getElementById('script-note');
  try {
    data = await unpack();
  } catch (error) {
    note.hidden = false;
    note.textContent = `Plots and other baselines are missing: this browser cannot unpack the data of the page (${error}).`;
    return;
  }
  state.metric = metricsCompared()[0] || 0;
  if (current().rows.length) state.workload = current().rows[0].w;
  state.latency = latencies()[0] || '';
  followMetric();
  recall();
  for (const table of document.querySelectorAll('table[data-copy]')) copyable(table, table.closest('.scroll') || table);
  for (const text of document.querySelectorAll('pre[data-copy]')) copyable(text, text);
  document.getElementById('controls').hidden = !data.judged[0].w.length;
  for (const plots of document.querySelectorAll('.plots')) plots.hidden = !plots.querySelector('section');
  for (const note of document.querySelectorAll('.needs-script')) note.hidden = false;
  fillSelects();
  linkMetrics();
  listenToWhy();
  explainCells();
  draw();
  document.documentElement.dataset.ready = '';
  let width = window.innerWidth, waiting = null;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(draw, 150);
  });
  window.addEventListener('hashchange', () => { if (recall()) draw(); });
}

start();
