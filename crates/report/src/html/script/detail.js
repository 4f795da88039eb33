// Details of a row of the grid, opened in place: its values and runs.

/** The open row and its details. */
let opened = null;

function closeDetail() {
  if (!opened) return;
  opened.detail.remove();
  opened.link.setAttribute('aria-expanded', 'false');
  opened = null;
}

/** Opens a row, or closes it if it is open. The plots below change to its metric. */
function openDetail(row, m, w) {
  const link = row.querySelector('th a');
  const again = opened !== null && opened.row === row;
  state.metric = m;
  state.workload = w;
  followMetric();
  remember();
  draw();
  if (again) return;
  const place = html('td', { colspan: row.cells.length });
  const detail = html('tr', { class: 'detail' }, place);
  row.after(detail);
  link.setAttribute('aria-expanded', 'true');
  opened = { row, detail, link };
  fillDetail(place, m, w);
}

function fillDetail(place, m, w) {
  const rows = current().rows.filter((one) => one.m === m && one.w === w);
  const list = html('ul', {}, ...rows.map((one) => html('li', { class: one.tone }, html('b', {}, configuration(one.c)), ` ${inDetail(one)} `, ...whyOf(one))));
  const runs = runsWith(m, w);
  const title = `${titleOf(m)} on ${data.workloads[w]}`;
  const box = html('div', { class: 'opened' }, html('h4', {}, title), list, ...askWhy(rows));
  place.append(box);
  if (!runs.length) return;
  const values = runs.map((i) => data.runs.values[m][i]);
  const log = wantsLog(values);
  const present = [...new Set(runs.map((i) => data.runs.c[i]))].sort((a, b) => a - b);
  const panel = html('div', { class: 'panel' });
  box.append(panel);
  stripPanel(panel, runs, present, extent(values, log, 0.08), log, title, m);
}

/** The sentence on a row. */
function inDetail(row) {
  const means = row.absolute === null || row.disagree ? '' : ` (${row.absolute})`;
  const word = TONES[row.tone] ? `${TONES[row.tone]}, ` : '';
  return `${word}${inWords(row).split('\n').slice(1).join('; ')}: ${shownValue(row)}${means}`;
}
