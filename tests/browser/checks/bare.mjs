// Without a script: the answer, the verdicts and the mail are there.

import assert from 'node:assert/strict';

import { within } from './browser.mjs';
import { plain } from './expected.mjs';
import { compareAnswer, compareGrid, compareHero, compareOverview } from './grid.mjs';

/** What a reader sees whose browser runs no script, or whose mail program shows the file. */
export async function worksWithoutScript(browser, expected) {
  const [document] = expected.documents;
  await within(browser, expected, { device: 'bare' }, async (page) => {
    await compareAnswer(page, document);
    await compareHero(page, document);
    await compareGrid(page, document, (a, b) => a === b);
    await compareOverview(page, document);
    for (const one of await page.locator('#answer, table.grid, table.overview, #lints, #limits, #reproduce').all()) assert.ok(await one.isVisible());
    assert.ok(!await page.isVisible('#controls'), 'controls that cannot work are shown');
    for (const one of await page.locator('.plots').all()) assert.ok(!await one.isVisible(), 'a place for plots is shown');
    const empty = await page.$$eval('button', (all) => all.filter((one) => one.checkVisibility()).length);
    assert.equal(empty, 0, 'buttons that cannot work');
    await page.locator('#mail summary').click();
    assert.ok(await page.locator('#mail pre').isVisible());
    assert.equal(body(plain(await page.locator('#mail pre').textContent())), body(expected.text), 'the mail is not the text report');
  });
}

/** A text without the command that made it. */
const body = (text) => text.split('\nReproduce:')[0].trimEnd();
