// Metric and workload: plots, and the tables behind them, show the right values.

import assert from 'node:assert/strict';

import { choose, drawn, within } from './browser.mjs';
import { close, intervalAgrees, markOf, metricsOf, plain, valueAgrees, way } from './expected.mjs';

/** What an option of #metric says, for a metric of a document. */
export async function optionOf(page, { metric, unit }) {
  const named = plain(await page.$$eval('#metric option', (all) => all.map((option) => [option.dataset.metric, option.dataset.unit, option.textContent])));
  const found = named.find(([name, of]) => name === metric && of === unit);
  assert.ok(found, `#metric has no ${metric} in ${unit}`);
  assert.ok(found[2].includes(metric), `${found[2]} does not say that it is ${metric}`);
  return found[2];
}

/** Those that are worth the time: the first, the last, and of each kind some. */
function someMetrics(document) {
  const all = metricsOf(document);
  const rows = document.comparisons;
  const first = (test) => all.find(({ metric }) => rows.some((row) => row.metric === metric && test(row)));
  const picked = [
    all[0], all[1], all[Math.floor(all.length / 2)], all[all.length - 1],
    first((row) => row.ratio === null), first((row) => row.verdict === 'equivalent'), first((row) => row.verdict === 'established'),
    first((row) => row.ci === null), first((row) => row.workload === document.workloads[document.workloads.length - 1]),
  ];
  return [...new Set(picked.filter(Boolean))];
}

/** The forest plot and its table, for several metrics and two baselines. */
export async function forestIsRight(browser, expected, t) {
  const documents = expected.documents.filter((document) => document.comparisons.length);
  if (!documents.length) return t.diagnostic(`${expected.name}: nothing is compared`);
  return within(browser, expected, {}, async (page) => {
    for (const document of [documents[0], documents[documents.length - 1]]) {
      await choose(page, 'baseline', document.baseline);
      for (const metric of someMetrics(document)) {
        await choose(page, 'metric', await optionOf(page, metric));
        const rows = document.comparisons.filter((row) => row.metric === metric.metric && row.unit === metric.unit);
        for (const workload of document.workloads) {
          await comparePanel(page, workload, rows.filter((row) => row.workload === workload));
        }
        await compareTable(page, rows);
      }
    }
  });
}

/** The marks of all panels; runs in the page. */
function marksOf(section) {
  const number = (one, attribute) => Number(one.getAttribute(attribute));
  return [...document.querySelectorAll(`${section} .panel`)].map((panel) => ({
    title: panel.querySelector('h4').textContent,
    one: number(panel.querySelector('.one'), 'x1'),
    count: Number(panel.querySelector('[data-marks]')?.dataset.marks ?? 0),
    marks: [...panel.querySelectorAll('svg > g')].map((group) => {
      const dot = group.querySelector('.dot'), line = group.querySelector('.ci');
      const texts = [...group.querySelectorAll('text')].map((text) => text.textContent);
      return {
        name: texts[0],
        value: texts[texts.length - 1],
        classes: [...group.classList],
        at: !dot ? null : dot.tagName === 'rect' ? number(dot, 'x') + number(dot, 'width') / 2 : number(dot, 'cx'),
        ends: line && [number(line, 'x1'), number(line, 'x2')],
      };
    }),
  }));
}

async function comparePanel(page, workload, rows) {
  const panels = plain(await page.evaluate(marksOf, '#forest'));
  const panel = panels.find((one) => one.title === workload) ?? null;
  if (!rows.length) return assert.equal(panel, null, `${workload} has a panel and no ratios`);
  assert.ok(panel, `${workload} has no panel`);
  const raw = rows.every((row) => row.ratio === null);
  const shown = raw ? rows : rows.filter((row) => row.ratio !== null);
  assert.equal(panel.count, shown.length, `${workload}: marks that answer to keys`);
  assert.equal(panel.marks.length, shown.length, `${workload}: marks of ratios`);
  const points = [[raw ? 0 : 1, panel.one]];
  shown.forEach((row, i) => {
    const mark = panel.marks[i];
    const at = `${row.metric} of ${row.configuration} on ${workload}`;
    assert.ok(row.configuration.startsWith(mark.name.replace(/…$/, '')), `${at}: ${mark.name}`);
    assert.ok(mark.classes.includes(row.verdict) && mark.classes.includes(way(row)), `${at}: drawn as ${mark.classes}`);
    const words = mark.value.split(' ');
    assert.equal(words.pop(), markOf(row), at);
    assert.ok(valueAgrees(words.join(' '), raw ? { ...row, unit: '' } : row), `${at}: ${mark.value} is beside it`);
    assert.equal(mark.at === null, row.disagree, `${at}: drawn where machines disagree`);
    assert.equal(mark.ends === null, row.ci === null || row.disagree, at);
    if (row.disagree) return;
    points.push([row.ratio ?? row.difference, mark.at]);
    if (row.ci) points.push([row.ci[0], mark.ends[0]], [row.ci[1], mark.ends[1]]);
  });
  return lieOnAScale(points.map(([value, x]) => [raw ? value : Math.log(value), x]), workload);
}

/** Whether all points lie on one line: value to place, rising. */
function lieOnAScale(points, at) {
  const sorted = [...points].sort((a, b) => a[0] - b[0]);
  const [from, to] = [sorted[0], sorted[sorted.length - 1]];
  if (from[0] === to[0]) return;
  const slope = (to[1] - from[1]) / (to[0] - from[0]);
  assert.ok(slope > 0, `${at}: greater values are not farther right`);
  for (const [value, x] of sorted) {
    const wanted = from[1] + slope * (value - from[0]);
    assert.ok(Math.abs(x - wanted) < 1, `${at}: a mark is at ${x} px, must be at ${wanted}`);
  }
}

/** The rows of the table behind a plot. */
const tableOf = async (page, section) => plain(await page.$$eval(`${section} .numbers tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))));

async function compareTable(page, rows) {
  const table = await tableOf(page, '#forest');
  assert.equal(table.length, rows.length, 'rows of the table behind the forest plot');
  for (const row of rows) {
    const own = table.find(([configuration, workload]) => configuration === row.configuration && workload === row.workload);
    const at = `${row.metric} of ${row.configuration} on ${row.workload}: ${own}`;
    assert.ok(own, at);
    assert.ok(valueAgrees(own[2], row) && intervalAgrees(own[3], row), `the table says ${at}`);
    assert.equal(own[4], row.verdict, `the table says ${at}`);
    const p = row.p_adjusted;
    const saysP = p === null ? own[5] === '–' : own[5] === '<0.001' ? p < 0.0005 : Math.abs(Number(own[5]) - p) <= 0.000501;
    assert.ok(saysP, `${at}: p is ${p}`);
    const n = [row.n, row.n_baseline].map((count) => count ?? '?').join(':');
    assert.equal(own[6], row.n === null ? '?' : n, at);
  }
}

/** The runs of each workload: a mark and a line of the table for each. */
export async function runsAreRight(browser, expected, t) {
  const [document] = expected.documents;
  if (!document.runs.length) return t.diagnostic(`${expected.name}: no runs`);
  return within(browser, expected, {}, async (page) => {
    for (const metric of someMetrics(document).slice(0, 4)) {
      await choose(page, 'metric', await optionOf(page, metric));
      for (const workload of document.workloads) {
        await choose(page, 'workload', workload);
        await compareRuns(page, document, metric, workload);
      }
    }
    await aRunIsChosen(page, document);
  });
}

async function compareRuns(page, document, { metric, unit }, workload) {
  const runs = document.runs.filter((run) => run.workload === workload && run.metrics[metric]?.unit === unit);
  const table = await tableOf(page, '#runs');
  assert.equal(table.length, runs.length, `runs of ${metric} on ${workload}`);
  for (const [name, configuration, repetition, , value] of table) {
    const order = Number(name.replace('run ', ''));
    const run = runs.find((one) => one.order === order && one.configuration === configuration);
    assert.ok(run && String(run.repetition) === repetition, `${name}: ${configuration}, ${repetition}`);
    assert.ok(close(Number(value), run.metrics[metric].value), `${name}: ${value} for ${run.metrics[metric].value}`);
  }
  const marks = () => page.$$eval('#runs .panel', (panels) => panels.map((panel) => panel.querySelectorAll('[data-run]').length));
  const wanted = runs.length ? [runs.length] : [];
  assert.deepEqual(await marks(), wanted, `marks of ${metric} on ${workload}`);
  if (!runs.length) return;
  await page.locator('#in-order').click();
  assert.deepEqual(await marks(), wanted, `marks of ${metric} on ${workload} in order`);
  const places = await page.$$eval('#runs [data-run]', (all) => all.map((one) => [Number(one.dataset.run), one.getBoundingClientRect().left]));
  const byOrder = [...places].sort((a, b) => a[0] - b[0]).map(([, left]) => left);
  assert.ok(byOrder.every((left, i) => i === 0 || left >= byOrder[i - 1] - 4), `${metric} on ${workload}: runs are not in their order`);
  await page.locator('#in-order').click();
}

/** A run of which the page has a timeline leads to it, and no other does. */
export async function runsLeadToTimelines(browser, expected) {
  await within(browser, expected, {}, async (page) => {
    const named = await page.$$eval('#timeline-run option', (all) => all.map((one) => one.textContent));
    const runs = [...new Set(await page.$$eval('#runs [data-run]', (all) => all.map((one) => one.dataset.run)))];
    const led = [];
    for (const mark of runs.slice(0, 12)) {
      const shown = page.locator(`#runs [data-run="${mark}"]`).first();
      await shown.scrollIntoViewIfNeeded();
      const box = await shown.boundingBox();
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      await drawn(page);
      // Another mark may lie on the same place.
      const run = await page.getAttribute('#run', 'data-run');
      const button = page.locator(`#run [data-timeline="${run}"]`);
      const own = named.find((one) => one.startsWith(`run ${run},`));
      assert.equal(await button.count(), own ? 1 : 0, `run ${run} and the timelines ${named}`);
      if (!own) continue;
      await button.click();
      led.push(run);
      assert.ok((await page.textContent('#timeline h4')).startsWith(own), `run ${run} leads to another timeline`);
      assert.ok(await page.evaluate(() => document.getElementById('timeline').getBoundingClientRect().top < innerHeight), `the timeline of run ${run} is not on the screen`);
    }
    assert.ok(!named.length || led.length, `no run leads to the timelines ${named}`);
  });
}

/** A run, and a row that is opened, lead to the flame graphs about them, and no others. */
export async function runsLeadToWhy(browser, expected, t) {
  const [document] = expected.documents;
  await within(browser, expected, {}, async (page) => {
    const answers = plain(await page.$$eval('details.attributed', (all) => all.map((one) => ({ ...one.dataset, says: one.querySelector('summary').textContent }))));
    const buttons = (place) => page.$$eval(`${place} .to-why`, (all) => all.map((one) => Number(one.dataset.why)));
    const about = (names, workload) => answers.map((_, at) => at).filter((at) => answers[at].workload === workload && names.every((name) => [answers[at].a, answers[at].b].includes(name)));
    for (const workload of document.workloads) {
      await choose(page, 'workload', plain(workload));
      const marks = page.locator('#runs .panel [data-run]');
      if (!await marks.count()) continue;
      await page.locator('#runs [data-marks]').first().focus();
      for (const key of ['Home', 'End']) {
        await page.keyboard.press(key);
        await page.keyboard.press('Enter');
        await drawn(page);
        const order = Number(await page.getAttribute('#run', 'data-run'));
        const run = document.runs.find((one) => one.order === order);
        assert.deepEqual(await buttons('#run'), about([run.configuration], run.workload), `run ${order}`);
        await page.locator('#runs [data-marks]').first().focus();
      }
    }
    if (!answers.length) {
      assert.equal(await page.$('#flame'), null, 'there is a flame graph of nothing');
      t.diagnostic(`${expected.name}: no difference was attributed`);
      return;
    }
    for (const [at, { a, b, workload, says }] of answers.entries()) {
      const row = page.locator('table.grid').nth(document.workloads.map(plain).indexOf(workload)).locator('tbody tr:not([hidden]) th a:visible').first();
      // All rows of a workload may be folded away.
      if (await row.count()) {
        await row.click();
        const opened = [...new Set(await buttons('.opened'))];
        const compared = document.baseline === null ? [] : about([plain(document.baseline)], workload);
        assert.deepEqual(opened, compared, `a row on ${workload}`);
        await row.click();
      }
      await page.locator('details.attributed').nth(at).evaluate((one) => { one.open = true; });
      await page.locator('details.attributed').nth(at).locator('button.to-flame').click();
      await drawn(page);
      const title = plain(await page.textContent('#flame-title'));
      for (const name of [a, b, workload]) assert.ok(title.includes(plain(name)), `${name} is not in ${title}`);
      assert.ok(await page.evaluate(() => document.getElementById('flame').getBoundingClientRect().top < innerHeight), 'the graph is not on the screen');
      const words = plain(await page.getAttribute('#graph g[data-above=""]', 'aria-label'));
      const [size] = says.match(/[\d,.]+(?= (?:more|fewer) instructions)/) || ['the same'];
      assert.ok(words.includes(size), `the graph of ${says} says ${words}`);
    }
  });
}

/** A click on a mark shows that run with all of its metrics. */
async function aRunIsChosen(page, document) {
  const mark = page.locator('#runs .panel [data-run]').last();
  if (!await mark.count()) return;
  const order = Number(await mark.getAttribute('data-run'));
  await mark.scrollIntoViewIfNeeded();
  const box = await mark.boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await drawn(page);
  // Another mark may lie on the same place.
  const chosen = Number(await page.getAttribute('#run', 'data-run'));
  const run = document.runs.find((one) => one.order === chosen);
  assert.ok(run, `run ${chosen} was chosen by a click on run ${order}`);
  const table = await tableOf(page, '#run');
  const wanted = Object.entries(run.metrics).map(([metric, { value, unit }]) => [metric, value, unit]);
  assert.equal(table.length, wanted.length, `metrics of run ${chosen}`);
  for (const [metric, value, unit] of wanted) {
    const own = table.find(([name, , of]) => name === metric && of === unit);
    assert.ok(own && close(Number(own[1]), value), `${metric} of run ${chosen}: ${own} for ${value}`);
  }
  const hash = new URLSearchParams((await page.evaluate(() => window.location.hash)).slice(1));
  assert.equal(hash.get('run'), String(chosen));
}

/** Rows in which nothing was found are folded, and no others; a button shows them. */
async function foldsTheQuiet(page) {
  const rows = () => page.$$eval('table.grid', (all) => all.filter((table) => table.checkVisibility()).flatMap((table) => [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => ({
    seen: row.checkVisibility(), quiet: [...row.querySelectorAll('td.verdict')].every((cell) => ['same', 'open'].includes(cell.dataset.tone)),
  }))));
  const before = await rows();
  const quiet = before.filter((row) => row.quiet).length;
  const folds = quiet > 0 && quiet < before.length;
  for (const row of before) assert.equal(row.seen, !(folds && row.quiet), 'a row is folded that says something, or shown that does not');
  const button = page.locator('.unfold:visible');
  assert.equal(await button.count(), folds ? 1 : 0, 'what unfolds them');
  if (!folds) return;
  const counted = (await button.textContent()).match(/\d+(?= metric)/g).map(Number).reduce((a, b) => a + b);
  assert.equal(counted, quiet, 'how many are folded');
  await button.click();
  assert.ok((await rows()).every((row) => row.seen), 'they did not unfold');
}

/** A click on a metric's name in the grid chooses it, and opens its row in place. */
export async function linksChoose(browser, expected, t) {
  const [document] = expected.documents;
  const metrics = metricsOf(document);
  if (!metrics.length) return t.diagnostic(`${expected.name}: nothing is compared`);
  return within(browser, expected, {}, async (page) => {
    const links = page.locator('table.grid tbody tr:not([hidden]) th a:visible');
    await foldsTheQuiet(page);
    for (const at of [0, await links.count() - 1]) {
      const link = links.nth(at);
      const name = await link.evaluate((one) => one.closest('th').dataset.metric);
      await link.click();
      await drawn(page);
      const chosen = await page.$eval('#metric', (select) => select.selectedOptions[0].dataset.metric);
      assert.equal(chosen, name, `${name} was asked for, ${chosen} is shown`);
      const { workload, unit } = await link.evaluate((one) => ({ workload: one.closest('table').dataset.workload, unit: one.closest('th').dataset.unit }));
      const detail = page.locator('tr.detail');
      assert.equal(await detail.count(), 1, `${name}: nothing opened, or more than one`);
      const said = plain(await detail.locator('li').evaluateAll((all) => all.map((one) => one.firstChild.textContent)));
      const rows = document.comparisons.filter((row) => row.metric === name && row.unit === unit && row.workload === workload);
      assert.deepEqual(said, rows.map((row) => row.configuration), `what the row of ${name} opened`);
      const dots = await detail.locator('[data-run]').count();
      assert.equal(dots, document.runs.filter((run) => run.workload === workload && run.metrics[name]?.unit === unit).length, `runs of ${name}`);
      await link.click();
      assert.equal(await detail.count(), 0, `${name} did not close`);
    }
  });
}
