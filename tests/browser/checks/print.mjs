// On paper: several sheets, no controls, nothing cut off.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';

import { within } from './browser.mjs';

// A4 less margins of 1 cm, at 96 pixels an inch.
const SHEET = { width: 718, height: 1047 };

/** What is printed of the page. */
export async function prints(browser, expected, t) {
  await within(browser, expected, { size: SHEET }, async (page) => {
    await page.emulateMedia({ media: 'print' });
    const controls = await page.$$eval('select, button, nav, input, #controls, #tip, .skip', (all) => all.filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 80)));
    assert.deepEqual(controls, [], 'controls that would be printed');
    for (const id of ['title', 'hero', 'answer', 'source', 'limits', 'reproduce']) assert.ok(await page.isVisible(`#${id}`), `#${id} is not printed`);
    const cut = await page.$$eval('.scroll, pre', (all) => all.filter((one) => one.checkVisibility() && ['auto', 'scroll', 'hidden'].includes(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1).map((one) => `${one.getAttribute('aria-label') || one.tagName}: ${one.scrollWidth} of ${one.clientWidth}`));
    assert.deepEqual(cut, [], 'boxes that scroll on the screen and are cut off on paper');
    const sheet = await page.pdf({ format: 'A4', margin: { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }, printBackground: false });
    writeFileSync(expected.artefact('pdf'), sheet);
    const sheets = plainPdf(sheet).match(/\/Type\s*\/Page\b/g) || [];
    assert.ok(sheets.length >= 1, 'nothing is printed');
    t.diagnostic(`${expected.name}: ${sheets.length} sheets`);
    const grid = await page.locator('#grid:visible, #plots:visible').count();
    assert.equal(grid, 0, 'what nobody reads on paper is printed');
  });
  // Paper is white, whatever the screen is.
  await within(browser, expected, { size: SHEET, scheme: 'dark' }, async (page) => {
    await page.emulateMedia({ media: 'print' });
    const ink = await page.$eval('body', (body) => getComputedStyle(body).color.match(/\d+/g).map(Number));
    assert.ok(Math.max(...ink) < 100, `prints in ${ink} from a dark screen`);
  });
}

/** A PDF with its streams, in which some programs keep everything, inflated. */
function plainPdf(pdf) {
  const text = pdf.toString('latin1');
  const streams = [...text.matchAll(/\bstream\r?\n([^]*?)\r?\nendstream/g)].map(([, stream]) => {
    try { return inflateSync(Buffer.from(stream, 'latin1')).toString('latin1'); } catch { return ''; }
  });
  return [text, ...streams].join('\n');
}
