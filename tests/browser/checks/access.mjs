// What axe-core finds: nothing that keeps people from reading the page. Contrasts are
// looked at in colours.mjs, in drawings too, of which axe-core says nothing.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { drawn, openAll, require, within } from './browser.mjs';

/** With all opened and a run chosen. */
export async function accessible(browser, expected, t) {
  const source = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  await within(browser, expected, {}, async (page) => {
    const marks = page.locator('#runs [data-marks]').first();
    if (await marks.count()) {
      await marks.focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      await drawn(page);
    }
    await openAll(page);
    await page.evaluate(source);
    const found = await page.evaluate(async () => {
      const { violations, passes } = await window.axe.run(document, { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } });
      return { passes: passes.length, violations: violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, nodes: nodes.slice(0, 5).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`), count: nodes.length })) };
    });
    assert.ok(found.passes > 10, `axe-core passed only ${found.passes} rules`);
    const heavy = found.violations.filter((one) => ['serious', 'critical'].includes(one.impact));
    for (const { id, impact, count, help } of found.violations) t.diagnostic(`${expected.name}: ${impact} ${id} (${count}): ${help}`);
    assert.deepEqual(heavy, []);
  });
}
