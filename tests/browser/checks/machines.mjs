// What several machines say alone and together, where a page has several.

import assert from 'node:assert/strict';

import { choose, within } from './browser.mjs';
import { optionOf } from './choices.mjs';
import { agrees, metricsOf, plain } from './expected.mjs';

/** The plot and the table of machines agree with the document, opposite effects included. */
export async function machinesAreRight(browser, expected, t) {
  const [document] = expected.documents;
  const { pooled = [], machines = [] } = document;
  await within(browser, expected, {}, async (page) => {
    if (!pooled.length) {
      assert.equal(await page.$('#machines, #pooled'), null, 'a page of one machine speaks of several');
      t.diagnostic(`${expected.name}: not of several machines`);
      return;
    }
    await compareTable(page, pooled);
    for (const metric of metricsOf(document)) {
      await choose(page, 'metric', await optionOf(page, metric));
      for (const workload of document.workloads) {
        await choose(page, 'workload', workload);
        const here = (rows) => rows.filter((row) => row.metric === metric.metric && row.unit === metric.unit && row.workload === workload);
        await comparePanels(page, here(pooled), here(machines));
      }
    }
  });
}

/** What is beside a machine: a difference among ratios is marked as one. */
function effectAgrees(text, row, together) {
  if (row.ratio !== null) return agrees(text, row.ratio, 3);
  const [mark, value] = together.ratio === null ? ['d', text] : text.split(' ');
  return mark === 'd' && agrees(value, row.difference, 3);
}

/** The panels; runs in the page. */
function panelsOf() {
  return [...document.querySelectorAll('#machines .panel')].map((panel) => ({
    title: panel.querySelector('h4').textContent,
    rows: [...panel.querySelectorAll('svg > g')].map((group) => ({
      texts: [...group.querySelectorAll('text')].map((text) => text.textContent),
      classes: [...group.classList],
      diamond: group.querySelector('polygon') !== null,
    })),
  }));
}

async function comparePanels(page, pooled, machines) {
  const panels = plain(await page.evaluate(panelsOf));
  assert.equal(panels.length, pooled.length, 'panels of machines');
  pooled.forEach((together, i) => {
    const { title, rows } = panels[i];
    assert.equal(title, `${together.configuration} to ${together.baseline}: ${together.agreement}`);
    const alone = machines.filter((row) => row.configuration === together.configuration);
    const at = `${together.metric} on ${together.workload}, ${title}`;
    alone.forEach((row, n) => {
      const [name, value] = rows[n].texts;
      assert.ok(row.machine.startsWith(name.replace(/…$/, '')), `${at}: ${name} for ${row.machine}`);
      assert.ok(effectAgrees(value, row, together), `${at}: ${value} of ${name}`);
      assert.ok(rows[n].classes.includes(row.verdict), `${at}: ${name} is drawn as ${rows[n].classes}`);
    });
    const common = rows.filter((row) => row.diamond);
    if (together.agreement === 'opposite') return assert.equal(common.length, 0, `${at}: pooled against its own machines`);
    assert.equal(common.length, 1, `${at}: pooled`);
    assert.equal(rows.indexOf(common[0]), alone.length, `${at}: pooled comes after the machines`);
    return assert.ok(agrees(common[0].texts[1], together.ratio ?? together.difference, 3), `${at}: pooled is ${common[0].texts}`);
  });
}

/** The table of all comparisons. */
async function compareTable(page, pooled) {
  const rows = plain(await page.$$eval('#pooled tbody tr', (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent.trim()))));
  assert.equal(rows.length, pooled.length, 'rows of the table of machines');
  pooled.forEach((one, i) => {
    const [metric, workload, configuration, effect, verdict, shownOn, agreement] = rows[i];
    const at = `the table of machines says ${rows[i]}`;
    assert.deepEqual([metric, workload], [one.metric, one.workload], at);
    assert.equal(configuration, `${one.configuration} to ${one.baseline}`, at);
    if (one.agreement === 'opposite') assert.equal(effect, '–', at);
    else assert.ok(agrees(effect, one.ratio ?? one.difference, 3), at);
    assert.ok(verdict.endsWith(one.verdict), at);
    assert.equal(shownOn, `${one.shown_on} of ${one.machines}`, at);
    assert.equal(agreement, one.agreement, at);
  });
}
