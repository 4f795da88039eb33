// The verdict grid says what the document says, no more and no less.

import assert from 'node:assert/strict';

import { choose, options, within } from './browser.mjs';
import { agrees, close, intervalAgrees, keyOf, markOf, metricsOf, plain, rowsByKey, valueAgrees, way } from './expected.mjs';

/** The cells of tables as a person and as a program see them. */
export const cellsOf = async (page, tables) => plain(await page.$$eval(`${tables} td`, (cells) => cells.map((cell) => ({
  ...cell.dataset,
  classes: [...cell.classList],
  value: cell.querySelector('b')?.textContent ?? null,
  interval: cell.querySelector('i')?.textContent ?? null,
  mark: cell.querySelector('.mark')?.textContent ?? null,
  text: cell.textContent.trim(),
}))));

/** The page as it opens. */
export async function gridIsRight(browser, expected) {
  await within(browser, expected, {}, async (page) => {
    const [document] = expected.documents;
    await compareGrid(page, document, (a, b) => a === b);
    await compareOverview(page, document);
    await compareAnswer(page, document);
    await compareHero(page, document);
    await eachWorkloadIsSeen(page, document);
  });
}

/** Compares every cell; `same` says whether two numbers are. */
export async function compareGrid(page, document, same = close) {
  const cells = await cellsOf(page, 'table.grid');
  const rows = rowsByKey(document);
  const judged = cells.filter((cell) => cell.kind === 'verdict');
  const shown = new Set(judged.map(keyOf));
  assert.equal(shown.size, judged.length, 'two cells have the same names');
  assert.deepEqual([...rows.keys()].filter((key) => !shown.has(key)), [], 'comparisons that are not in the grid');
  assert.deepEqual([...shown].filter((key) => !rows.has(key)), [], 'cells that are not in the document');
  for (const cell of judged) compareCell(cell, rows.get(keyOf(cell)), same);
  compareRest(cells.filter((cell) => cell.kind !== 'verdict'), document);
  await compareHeads(page, document, cells);
}

function compareCell(cell, row, same) {
  const at = `${keyOf(row)} to ${row.baseline}`;
  const number = (name, value) => {
    if (value === null) assert.equal(cell[name], undefined, `${at}: ${name}`);
    else assert.ok(same(Number(cell[name]), value), `${at}: ${name} is ${cell[name]}, must be ${value}`);
  };
  number('ratio', row.ratio);
  number('difference', row.ratio === null ? row.difference : null);
  number('low', row.ci && row.ci[0]);
  number('high', row.ci && row.ci[1]);
  assert.equal(cell.verdict, row.verdict, `${at}: the verdict`);
  assert.equal(cell.way, way(row), `${at}: the way`);
  assert.ok(cell.classes.includes(row.verdict) && cell.classes.includes(way(row)), `${at}: the classes are ${cell.classes}`);
  assert.ok(cell.classes.includes(cell.tone), `${at}: the classes are ${cell.classes}`);
  if (['good', 'bad'].includes(cell.tone)) assert.ok(cell.text.includes({ good: 'better', bad: 'worse' }[cell.tone]), `${at}: what the colour means is not said`);
  const inEveryRun = cell.interval === 'in every run';
  if (inEveryRun) assert.ok(same(row.ci[0], row.ci[1]), `${at}: is no fact`);
  if (inEveryRun && row.verdict === 'undecided') {
    assert.equal(cell.mark, '', `${at}: the mark`);
    return;
  }
  assert.equal(cell.mark, markOf(row), `${at}: the mark`);
  assert.ok(valueAgrees(cell.value, row), `${at}: shows ${cell.value} for ${row.ratio ?? row.difference}`);
  assert.ok(inEveryRun || intervalAgrees(cell.interval, row), `${at}: shows ${cell.interval} for ${row.ci}`);
  assert.ok(cell.text.includes(row.verdict), `${at}: the verdict is not said in words`);
}

/** Cells of the baseline show its mean; others that nothing was compared. */
function compareRest(cells, document) {
  for (const cell of cells) {
    const of = document.comparisons.filter((row) => row.workload === cell.workload && row.metric === cell.metric && row.unit === cell.unit);
    const isBaseline = document.comparisons.some((row) => row.workload === cell.workload && row.baseline === cell.configuration);
    const at = `${keyOf(cell)}: ${cell.text}`;
    assert.equal(cell.kind, isBaseline ? 'baseline' : 'none', at);
    const mean = of.map((row) => row.mean_baseline).find((value) => value !== null);
    if (isBaseline && mean !== undefined) assert.ok(agrees(cell.text, mean, 4) && cell.text.endsWith(cell.unit), `${at} for ${mean}`);
    else if (!isBaseline) assert.match(cell.text, /^not compared/, at);
  }
}

/** Each row has a cell for each configuration, below its name. */
async function compareHeads(page, document, cells) {
  const names = document.configurations.filter((one) => !one.repeats).map((one) => one.name);
  const tables = plain(await page.$$eval('table.grid', (all) => all.map((table) => ({
    workload: table.dataset.workload,
    baseline: table.dataset.baseline,
    heads: [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent),
    empty: [...table.tBodies[0].rows].filter((row) => row.hidden !== (row.querySelector('td.verdict') === null)).map((row) => row.textContent.trim()),
    rows: [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1).map((cell) => cell.dataset.configuration)),
  }))));
  for (const table of tables) {
    assert.deepEqual(table.heads, names, `${table.workload}: the names of the columns`);
    assert.deepEqual(table.empty, [], `${table.workload}: rows that are shown without a verdict, or hidden with one`);
    for (const row of table.rows) assert.deepEqual(row, names, `${table.workload}: the cells of a row`);
    const baselines = new Set(document.comparisons.filter((row) => row.workload === table.workload).map((row) => row.baseline));
    if (baselines.size) assert.deepEqual([table.baseline], [...baselines], `${table.workload}: the baseline`);
  }
  assert.equal(cells.length, tables.reduce((sum, table) => sum + table.rows.length * names.length, 0), 'cells in all');
}

/** The overview has all of its metrics and nothing that is not in the document. */
export async function compareOverview(page, document, same = close) {
  const cells = await cellsOf(page, 'table.overview');
  const rows = rowsByKey(document);
  for (const cell of cells) {
    const row = rows.get(keyOf(cell));
    assert.equal(cell.kind === 'verdict', row !== undefined, `${keyOf(cell)} in the overview`);
    if (row) compareCell(cell, row, same);
  }
  const metrics = new Set(cells.map((cell) => JSON.stringify([cell.metric, cell.unit])));
  const shown = new Set(cells.map(keyOf));
  for (const [key, row] of rows) {
    if (metrics.has(JSON.stringify([row.metric, row.unit]))) assert.ok(shown.has(key), `${key} is not in the overview`);
  }
  if (document.comparisons.length) assert.ok(metrics.size > 0, 'there is no overview');
}

/** The sentences and the tally. */
export async function compareAnswer(page, document) {
  const said = plain(await page.$$eval('#answer li', (items) => items.map((item) => item.lastElementChild.textContent)));
  assert.deepEqual(said, document.sentences.map((sentence) => sentence.text), 'the sentences of the answer');
  const tally = await page.$$eval('#tally [data-verdict]', (items) => items.map((item) => [item.dataset.verdict, Number(item.dataset.count), item.textContent.trim()]));
  for (const [verdict, count, text] of tally) {
    assert.equal(count, document.comparisons.filter((row) => row.verdict === verdict).length, `the tally of ${verdict}`);
    assert.ok(text.startsWith(String(count)), `the tally shows ${text} for ${count}`);
  }
  const counted = tally.reduce((sum, [, count]) => sum + count, 0);
  if (document.comparisons.length) assert.equal(counted, document.comparisons.length, 'the tally in all');
}

/** Whether an event of a comparison occurred at all, on either side. */
const occurred = (document, row) => document.rates.some((rate) => rate.count > 0 && rate.event === row.event && rate.workload === row.workload && [row.baseline, row.configuration].includes(rate.configuration));

/** The first thing that is read: each configuration on each metric that leads. */
export async function compareHero(page, document) {
  const primary = document.comparisons.some((row) => row.primary);
  const leading = document.comparisons.filter((row) => row.primary === primary);
  const key = (metric, configuration) => JSON.stringify([metric, configuration]);
  const wanted = new Set([...leading.map((row) => key(row.metric, row.configuration)), ...document.rate_comparisons.filter((row) => occurred(document, row)).map((row) => key(row.event, row.configuration))]);
  const shown = plain(await page.$$eval('#hero li', (all) => all.map((one) => ({
    metric: one.closest('[data-metric]').dataset.metric,
    configuration: one.dataset.configuration,
    words: one.querySelector('.outcome').textContent,
    figures: [...one.querySelectorAll('.lane:not(.between) .figures')].map((lane) => lane.textContent),
  }))));
  assert.deepEqual(new Set(shown.map((one) => key(one.metric, one.configuration))), wanted, 'what the answer compares');
  for (const { metric, configuration, words, figures } of shown) {
    const at = `${metric} of ${configuration}: ${words}, ${figures}`;
    assert.match(words, /better|worse|less|more|no difference larger than|cannot tell/, at);
    const rows = leading.filter((row) => row.metric === metric && row.configuration === configuration);
    if (rows.length === 1 && !rows[0].disagree && rows[0].ratio !== null && Math.abs(rows[0].ratio - 1) < 2) {
      assert.ok(Math.abs(parseFloat(figures[0]) - (rows[0].ratio - 1) * 100) <= Math.abs(rows[0].ratio - 1) * 5 + 0.01, at);
    }
  }
}

/** The grid of the chosen workload, and no other, is there to be seen. */
async function eachWorkloadIsSeen(page, document) {
  if (!metricsOf(document).length) return;
  const names = await options(page, 'workload');
  assert.deepEqual(names, document.workloads, 'the workloads to choose from');
  for (const name of names) {
    if (!document.comparisons.some((row) => row.workload === name)) continue;
    await choose(page, 'workload', name);
    const seen = plain(await page.$$eval('table.grid', (all) => all.filter((table) => table.checkVisibility()).map((table) => table.dataset.workload)));
    assert.deepEqual(seen, [name], 'the grids that are seen');
  }
}
