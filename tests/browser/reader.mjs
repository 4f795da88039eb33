// Reads no more of a page than its first screen, and must find what was planted there.
//
//   node tests/browser/reader.mjs PAGE.html…
//
// Beside each page lies PAGE.planted.json: for each configuration which way it came out, in
// words, by how many per cent, and what stands above it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, test } from 'node:test';

import { launch, within } from './checks/browser.mjs';
import { textsAndGrounds } from './checks/colours.mjs';

// How much is looked at: the first 600 pixels of a screen, and all that a phone shows.
const SCREENS = [
  ['screen', { size: { width: 1400, height: 900 } }, 600],
  ['phone', { device: 'phone' }, 844],
];

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

for (const file of process.argv.slice(2)) {
  test(file.split('/').pop(), { timeout: 600_000 }, async () => {
    const finds = JSON.parse(readFileSync(file.replace(/\.html$/, '.planted.json'), 'utf8'));
    if (file.endsWith('trend.html')) return follows(resolve(file));
    if (!finds.length) return searches(resolve(file));
    for (const [name, options, height] of SCREENS) {
      await within(browser, { file: resolve(file) }, options, async (page) => {
        const parts = await page.evaluate(seen, height);
        for (const find of finds) isSaid(find, parts, name);
        for (const { tone, left } of parts.flatMap((part) => part.dots)) {
          if (['good', 'bad'].includes(tone)) assert.equal(left, tone === 'good', 'better is not on the left');
        }
      });
    }
  });
}

/** The trend names the fourth bundle, marks it in the plots, and fits a phone and paper. */
async function follows(file) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  const said = [];
  page.on('console', (one) => said.push(one.text()));
  await page.goto(pathToFileURL(file).href);
  assert.deepEqual(await page.$$eval('#changes > li', (all) => all.map((one) => one.dataset.bundle)), ['trend/n3']);
  assert.match(await page.textContent('#changes'), /likely better.*-20/s);
  for (const plot of await page.$$('figure[data-workload]')) {
    const dots = await plot.$$eval('circle', (all) => all.map((one) => [one.parentNode.classList.contains('changed'), one.getBoundingClientRect()].flatMap((at) => at?.x === undefined ? [at] : [at.x, at.y])));
    assert.deepEqual(dots.map(([changed]) => changed), [false, false, false, true, false, false]);
    const [, across, down] = [0, 1, 2].map((of) => dots.map((dot) => dot[of]));
    assert.ok(across.every((x, at) => x > 0 && x < 390 && (!at || x > across[at - 1])), `dots at ${across}`);
    assert.ok(Math.max(...down.slice(0, 3)) < Math.min(...down.slice(3)), `less is not lower: ${down}`);
  }
  for (const media of ['screen', 'print']) {
    await page.emulateMedia({ media });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `the trend is ${wide} pixels wide on a phone, ${media}`);
    assert.ok(await page.isVisible('figure[data-workload] svg'), `no plot on ${media}`);
  }
  await isLegible(page);
  if (page.heard) said.push(...await page.heard());
  assert.deepEqual(said, []);
  await context.close();
}

/** In light and dark, and on paper, which has no controls. */
async function isLegible(page) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, media: 'screen' });
    const { count, faint, paper } = await page.evaluate(textsAndGrounds);
    assert.ok(count > 20, `only ${count} texts were looked at`);
    assert.deepEqual(faint, [], `texts in ${colorScheme} colours have too little contrast`);
    assert.ok(colorScheme === 'dark' ? paper < 0.1 : paper > 0.8, `the ${colorScheme} page has a ground of luminance ${paper}`);
  }
  await page.emulateMedia({ colorScheme: 'light', media: 'print' });
  const controls = await page.$$eval('input, select, button, nav', (all) => all.filter((one) => one.checkVisibility()).map((one) => one.outerHTML));
  assert.deepEqual(controls, [], 'controls that would be printed');
  await page.emulateMedia({ media: 'screen' });
}

/** The index over all bundles shows those that hold the words. */
async function searches(file) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  const said = [];
  page.on('console', (one) => said.push(one.text()));
  page.on('pageerror', (error) => said.push(error.message));
  await page.goto(pathToFileURL(file).href);
  const seen = () => page.$$eval('tr[data-bundle]', (all) => all.filter((one) => one.checkVisibility()).map((one) => one.dataset.bundle));
  const all = await seen();
  assert.ok(all.length > 2, `only ${all}`);
  await page.fill('#search', 'RARE events');
  assert.deepEqual(await seen(), ['rare-events']);
  assert.equal(await page.textContent('#found'), `1 of ${all.length}`);
  await page.fill('#search', '');
  assert.deepEqual(await seen(), all);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `the index is ${wide} pixels wide on a phone`);
  await isLegible(page);
  // Opened again, the focus is nowhere.
  await page.goto(pathToFileURL(file).href);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'search', 'Tab does not reach the search');
  assert.match(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), /solid|auto/, 'the focus cannot be seen');
  if (page.heard) said.push(...await page.heard());
  assert.deepEqual(said, []);
  await context.close();
  const bare = await browser.newContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
  const still = await bare.newPage();
  await still.goto(pathToFileURL(file).href);
  assert.ok(await still.isVisible('tr[data-bundle]'), 'without a script there is no row');
  assert.ok(!await still.isVisible('#search'), 'a search that cannot work is shown');
  await bare.close();
}

/** Runs in the page: the parts of the answer, of which only text above a height is read. */
function seen(height) {
  const read = (element) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const words = [];
    while (texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      const box = range.getBoundingClientRect();
      const shown = texts.currentNode.parentElement.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (shown && box.height > 1 && box.bottom <= height && box.right <= window.innerWidth + 1) words.push(texts.currentNode.textContent);
    }
    return words.join(' ').replace(/\s+/g, ' ');
  };
  return [...document.querySelectorAll('#hero .part')].map((part) => ({
    heading: read(part.querySelector('h2')),
    rows: [...part.querySelectorAll('li')].map((row) => read(row)),
    // Where dots are: to the left of what does not differ, or to the right.
    dots: [...part.querySelectorAll('.interval .dot')].map((dot) => ({
      tone: dot.closest('.lane').classList[1],
      left: parseFloat(dot.getAttribute('cx')) < parseFloat(dot.parentElement.querySelector('.one').getAttribute('x1')),
    })),
  }));
}

function isSaid({ configuration, says, per_cent: size, heading }, parts, screen) {
  const at = `${screen}: ${configuration} ${says} ${size} %: ${JSON.stringify(parts)}`;
  const rows = parts.filter((part) => part.heading.includes(heading)).flatMap((part) => part.rows);
  const row = rows.find((one) => one.trim().startsWith(`${configuration} ${says}`));
  assert.ok(row, `not said on a ${at}`);
  const figures = [...row.matchAll(/([+-]?[\d.]+) %/g)].map((match) => Number(match[1]));
  assert.ok(figures.some((one) => Math.abs(one - size) <= Math.abs(size) / 100 + 0.2), `its size is not said on a ${at}`);
  assert.match(row, /established|supported|equivalent|undecided/, `how sure it is is not said on a ${at}`);
}
