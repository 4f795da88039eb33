// Fills the tables of the page with the verdicts against the chosen baseline.

function fillCell(cell, baseline) {
  const { unit } = cell.dataset;
  const { w, m, c, row } = rowOfCell(cell);
  for (const name of ['ratio', 'difference', 'low', 'high', 'verdict', 'way', 'tone']) delete cell.dataset[name];
  if (row) return fillVerdict(cell, row);
  const isBaseline = baseline.get(w) === c;
  cell.dataset.kind = isBaseline ? 'baseline' : 'none';
  cell.className = cell.dataset.kind;
  const mean = isBaseline ? meanOf(w, m, c) : null;
  if (isBaseline) cell.replaceChildren(html('span', { class: 'mean' }, mean === null ? '1' : withUnit(mean, unit)));
  else cell.replaceChildren(html('span', { class: 'sr' }, 'not compared'), html('span', { 'aria-hidden': 'true' }, '–'));
}

function fillVerdict(cell, row) {
  const words = cell.closest('table').classList.contains('overview');
  const set = { kind: 'verdict', ratio: row.ratio, difference: row.difference, low: row.low, high: row.high, verdict: row.verdict, way: way(row), tone: row.tone };
  for (const [name, value] of Object.entries(set)) if (value !== null) cell.dataset[name] = value;
  cell.className = `${row.verdict} ${way(row)} ${row.tone} verdict`;
  cell.replaceChildren(
    html('b', {}, shownValue(row)), ' ',
    html('span', { class: 'mark', 'aria-hidden': 'true' }, markOf(row)),
    ...(TONES[row.tone] ? [' ', html('span', { class: 'tone' }, TONES[row.tone])] : []),
    html('span', { class: words ? 'word' : 'sr' }, ` ${row.verdict}`), ' ',
    html('i', {}, shownInterval(row)),
  );
}

/** The baseline of each workload. */
function baselines(judged) {
  const of = new Map();
  for (const row of judged.rows) if (!of.has(row.w)) of.set(row.w, row.b);
  return of;
}

/** The row of the document that a cell shows. */
function rowOfCell(cell) {
  const { workload, metric, unit } = cell.dataset;
  const w = data.workloads.indexOf(workload);
  const m = data.metrics.findIndex(([name, u]) => name === metric && u === unit);
  const c = data.configurations.findIndex((one) => one.name === cell.dataset.configuration);
  return { w, m, c, row: current().found.get(`${w} ${m} ${c}`) };
}

/** Shows all figures of the cell under the pointer. */
function explainCells() {
  for (const table of document.querySelectorAll('table.verdicts')) {
    table.addEventListener('pointerover', (event) => {
      const cell = event.target.closest('td.verdict');
      const { row } = cell ? rowOfCell(cell) : {};
      if (row) showTip(inWords(row), cell.getBoundingClientRect());
      else hideTip();
    });
    table.addEventListener('pointerleave', hideTip);
    table.addEventListener('click', (event) => {
      const link = event.target.closest('td.verdict')?.parentElement.querySelector('th a');
      if (link) link.click();
    });
  }
}

let gridBaseline = 0;

/** Fills the tables and the answer for the chosen baseline. */
function drawGrid() {
  for (const box of document.querySelectorAll('[data-grid]')) {
    const other = box.dataset.grid !== data.workloads[state.workload];
    box.hidden = other;
    const button = box.nextElementSibling;
    if (button && button.classList.contains('copy')) button.hidden = other;
  }
  if (gridBaseline === state.baseline) return foldGrids();
  gridBaseline = state.baseline;
  const judged = current();
  const baseline = baselines(judged);
  for (const cell of document.querySelectorAll('table.verdicts td')) fillCell(cell, baseline);
  // Hides rows that are not compared with this baseline.
  for (const row of document.querySelectorAll('table.grid tbody tr')) row.hidden = !row.querySelector('td.verdict');
  completeOverviews(judged);
  for (const table of document.querySelectorAll('table.grid')) {
    const w = data.workloads.indexOf(table.dataset.workload);
    const name = baseline.has(w) ? configuration(baseline.get(w)) : judged.baseline;
    table.dataset.baseline = name;
    table.querySelector('.baseline-of').textContent = shown(name);
    table.querySelector('.runs').textContent = sameRuns(judged.rows.filter((row) => row.w === w));
  }
  for (const name of document.querySelectorAll('.baseline-name')) name.textContent = shown(judged.baseline);
  drawAnswer(judged);
  foldGrids();
}

/** Grids with all their rows visible. */
const unfolded = new Set();

/** Folds away the rows without a difference, and counts them. */
function foldGrids() {
  for (const table of document.querySelectorAll('table.grid')) {
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden && !row.classList.contains('detail'));
    const tones = rows.map((row) => [...row.querySelectorAll('td.verdict')].map((cell) => cell.dataset.tone));
    const quiet = rows.filter((_, i) => tones[i].every((tone) => tone === 'same' || tone === 'open'));
    const same = rows.filter((_, i) => tones[i].every((tone) => tone === 'same'));
    const all = quiet.length === rows.length;
    for (const row of rows) row.classList.toggle('quiet-row', !all && quiet.includes(row));
    const box = table.closest('.scroll');
    const before = box.querySelector('.unfold');
    if (before) before.remove();
    if (!quiet.length || all) continue;
    const workload = table.dataset.workload;
    table.classList.toggle('folded', !unfolded.has(workload));
    const parts = [[same.length, `unchanged within ${brief(data.margin * 100)} %`], [quiet.length - same.length, 'in which the runs cannot tell']];
    const words = parts.filter(([n]) => n).map(([n, what]) => `${n} ${n === 1 ? 'metric' : 'metrics'} ${what}`).join(', ');
    const button = html('button', { type: 'button', class: 'unfold', 'aria-expanded': String(unfolded.has(workload)) }, `${unfolded.has(workload) ? 'Fold' : 'Show'} ${words}`);
    button.addEventListener('click', () => {
      if (unfolded.has(workload)) unfolded.delete(workload);
      else unfolded.add(workload);
      foldGrids();
      box.querySelector('.unfold').focus();
    });
    box.append(button);
  }
}

function sameRuns(rows) {
  const first = rows[0];
  if (!first || first.n === null) return '';
  const all = rows.every((row) => row.n === first.n && row.nBaseline === first.nBaseline);
  return all ? `, ${first.n} runs against ${first.nBaseline}` : '';
}

/** Rebuilds the rows of the overviews: the configurations that the document compares. */
function completeOverviews(judged) {
  for (const table of document.querySelectorAll('table.overview')) {
    const { metric, unit } = table.dataset;
    const heads = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
    const m = data.metrics.findIndex(([name, u]) => name === metric && u === unit);
    const baseline = baselines(judged);
    const rows = data.configurations.flatMap(({ name }, c) => {
      const some = heads.some((head) => judged.found.has(`${data.workloads.indexOf(head)} ${m} ${c}`));
      if (!some) return [];
      const cells = heads.map((head) => {
        const cell = html('td', { 'data-workload': head, 'data-metric': metric, 'data-unit': unit, 'data-configuration': name });
        return cell;
      });
      return [html('tr', {}, html('th', { scope: 'row' }, name), ...cells)];
    });
    table.tBodies[0].replaceChildren(...rows);
    for (const cell of table.querySelectorAll('td')) fillCell(cell, baseline);
  }
}

/** The answer against the first baseline, as in the page. */
let firstHero = null;

function drawHero(judged) {
  const hero = document.getElementById('hero');
  if (!hero) return;
  if (firstHero === null) firstHero = hero.innerHTML;
  // From the same template as the page, which escapes every name.
  hero.innerHTML = judged === data.judged[0] ? firstHero : judged.hero;
}

function drawAnswer(judged) {
  drawHero(judged);
  const list = document.getElementById('answer');
  if (list.tagName === 'OL') {
    list.replaceChildren(...judged.sentences.map((said) => html('li', { 'data-verdict': said.verdict }, html('strong', { class: `chip ${said.verdict}` }, said.verdict), html('span', {}, said.text))));
  }
  const tally = document.getElementById('tally');
  if (!tally) return;
  tally.dataset.baseline = judged.baseline;
  tally.querySelector('.compared').textContent = judged.rows.length;
  for (const one of judged.tally) {
    const item = tally.querySelector(`[data-verdict="${one.verdict}"]`);
    item.dataset.count = one.count;
    item.querySelector('b').textContent = one.count;
  }
}
