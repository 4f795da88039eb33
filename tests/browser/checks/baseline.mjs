// Another baseline: the same page says what the document against it says.

import assert from 'node:assert/strict';

import { choose, options, within } from './browser.mjs';
import { plain } from './expected.mjs';
import { compareAnswer, compareGrid, compareHero, compareOverview } from './grid.mjs';

/** Every baseline there is, and back to the first. */
export async function switchesBaseline(browser, expected, t) {
  await within(browser, expected, {}, async (page) => {
    const documents = expected.documents.filter((document) => document.comparisons.length);
    if (!documents.length) return t.diagnostic(`${expected.name}: nothing is compared`);
    assert.deepEqual(await options(page, 'baseline'), documents.map((document) => document.baseline), 'the baselines to choose from');
    const [first, ...others] = documents;
    assert.ok(others.length > 0, 'there is no other baseline');
    for (const document of [...others, first]) {
      await choose(page, 'baseline', document.baseline);
      await compareGrid(page, document);
      await compareOverview(page, document);
      await compareAnswer(page, document);
      await compareHero(page, document);
      await saysWhat(page, document);
    }
    return undefined;
  });
}

/** Wherever the page names its baseline, it is the chosen one. */
async function saysWhat(page, document) {
  const named = plain(await page.$$eval('.baseline-name', (all) => all.map((one) => one.textContent)));
  for (const name of named) assert.equal(name, document.baseline, 'the name of the baseline');
}

/** The part of the address behind # restores what was chosen. */
export async function restoredByAddress(browser, expected, t) {
  const document = expected.documents.slice(1).findLast((one) => one.comparisons.length);
  if (!document) return t.diagnostic(`${expected.name}: there is no other baseline`);
  const chosen = await within(browser, expected, {}, async (page) => {
    await choose(page, 'baseline', document.baseline);
    const metrics = await options(page, 'metric');
    await choose(page, 'metric', metrics[metrics.length - 1]);
    await choose(page, 'workload', document.workloads[document.workloads.length - 1]);
    return page.evaluate(state);
  });
  assert.ok(chosen.hash.length > 1, 'the address does not say what was chosen');
  await within(browser, expected, { hash: chosen.hash }, async (page) => {
    assert.deepEqual(await page.evaluate(state), chosen, 'what the address restored');
    await compareGrid(page, document);
  });
  // Of an address that names what is not there, nothing is believed.
  await within(browser, expected, { hash: '#baseline=nobody&metric=&workload=%00&run=-1' }, async (page) => {
    await compareGrid(page, expected.documents[0]);
  });
  return undefined;
}

/** Runs in the page: what is chosen. */
function state() {
  const texts = ['baseline', 'metric', 'workload'].map((id) => document.getElementById(id).selectedOptions[0].textContent);
  return { texts, hash: window.location.hash, runs: document.querySelector('#runs h4')?.textContent };
}
