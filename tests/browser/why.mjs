// The page of assize why in a real browser: what was planted is found, with its figures.
//
//   node tests/browser/why.mjs PAGE.html…
//
// Beside each page lies PAGE.planted.json: the configurations, how many jobs of each were
// counted, and the frames that were planted, by their place in the graph.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { accessible } from './checks/access.mjs';
import { drawn, launch, within } from './checks/browser.mjs';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

const CHECKS = [
  ['draws frames that add up, with the counts that were planted', drawsFrames],
  ['says of each frame in words which way it differs', saysWords],
  ['is worked with keys', worksWithKeys],
  ['marks what is looked for and is restored by its address', marks],
  ['lists the functions that are searched for, in the order that is chosen', lists],
  ['has no serious finding of axe-core', accessible],
  ['fits a phone, paper, and a browser without script', fits],
];

for (const file of process.argv.slice(2)) {
  const expected = { file: resolve(file), name: 'why', planted: JSON.parse(readFileSync(file.replace(/\.html$/, '.planted.json'), 'utf8')) };
  describe(file.split('/').pop(), () => {
    for (const [name, check] of CHECKS) test(name, { timeout: 600_000 }, (t) => check(browser, expected, t));
  });
}

/** What is said of every frame that is drawn. */
const frames = (page) => page.$$eval('#graph g[role=treeitem]', (all) => all.map((one) => {
  const { frame, name, above, level, way, a, b, ownA, ownB } = one.dataset;
  const box = one.querySelector('rect').getBoundingClientRect();
  return { frame, name, above, level: Number(level), way, all: [a, b].map(Number), own: [ownA, ownB].map(Number), words: one.getAttribute('aria-label'), width: box.width };
}));

async function drawsFrames(browser, { planted, ...expected }) {
  for (const [side, width] of [[0, planted.a], [1, planted.b]]) {
    await within(browser, expected, {}, async (page) => {
      await page.selectOption('#width', { label: width });
      await drawn(page);
      const all = await frames(page);
      const whole = all.find((one) => one.above === '');
      assert.deepEqual(whole.all, planted.all);
      for (const frame of all) {
        const below = all.filter((one) => one.above === frame.frame);
        const sum = below.reduce((sum, one) => sum + one.all[side], frame.own[side]);
        // What is narrower than a pixel is not drawn.
        assert.ok(sum <= frame.all[side] && frame.all[side] - sum <= planted.all[side] / 400, `${frame.name}: ${sum} of ${frame.all[side]}`);
        assert.ok(Math.abs(frame.width / whole.width - frame.all[side] / whole.all[side]) < 0.01, `${frame.name} is ${frame.width} wide`);
      }
      for (const { name, figures } of planted.frames) {
        const found = all.filter((one) => one.name === name);
        assert.equal(found.length, figures[side] ? 1 : 0, name);
        if (found.length) assert.deepEqual(found[0].all, figures);
      }
    });
  }
}

async function saysWords(browser, { planted, ...expected }) {
  await within(browser, expected, {}, async (page) => {
    for (const frame of await frames(page)) {
      const word = { more: 'more in', fewer: 'fewer in', same: 'the same in' }[frame.way];
      assert.ok(frame.words.includes(word), frame.words);
      const [a, b] = frame.all.map((count, side) => count / planted.jobs[side]);
      assert.equal(frame.way, a > b ? 'more' : a < b ? 'fewer' : 'same', frame.name);
    }
    const { name, says } = planted.frames[0];
    await page.locator(`#graph g[data-name="${name}"] rect`).last().hover();
    const said = await page.textContent('#frame');
    for (const words of [name, ...says]) assert.ok(said.includes(words), `${words} is not in ${said}`);
  });
}

async function worksWithKeys(browser, { planted, ...expected }) {
  await within(browser, expected, {}, async (page) => {
    const current = () => page.$eval('#graph .current', (one) => one.dataset.name);
    const wide = (name) => page.$eval(`#graph g[data-name="${name}"] rect`, (one) => one.getBoundingClientRect().width);
    await page.locator('#graph svg').focus();
    assert.equal(await current(), 'all instructions');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const { name } = planted.frames[0];
    assert.equal(await current(), name);
    const before = await wide(name);
    await page.keyboard.press('Enter');
    assert.ok(await wide(name) > before, 'Enter does not zoom');
    // Firefox counts the outline of the chosen one.
    assert.ok(Math.abs(await wide(name) - await wide('all instructions')) <= 3, 'it is not as wide as the whole');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    assert.ok(Math.abs(await wide(name) - before) <= 3, 'Escape does not zoom out');
    assert.equal(await page.isDisabled('#back'), true);
    await page.keyboard.press('Home');
    assert.equal(await current(), 'all instructions');
    const chosen = await page.$eval('#graph svg', (one) => document.getElementById(one.getAttribute('aria-activedescendant')).dataset.name);
    assert.equal(chosen, 'all instructions');
  });
}

async function marks(browser, { planted, ...expected }) {
  const { name, figures } = planted.frames[0];
  await within(browser, expected, {}, async (page) => {
    await page.fill('#seek', name.toUpperCase());
    const found = await page.$$eval('#graph g.found', (all) => all.map((one) => one.dataset.name));
    assert.deepEqual(found, [name]);
    const per = (figures[0] / planted.jobs[0]).toLocaleString('en-US');
    assert.match(await page.textContent('#sought'), new RegExp(`^1 frame: ${per} of `));
    // A thread and what is below it: each instruction counts once.
    await page.fill('#seek', 'e');
    const whole = Math.round(planted.all[0] / planted.jobs[0]).toLocaleString('en-US');
    assert.match(await page.textContent('#sought'), new RegExp(`^[4-9] frames: ${whole} of `));
    await page.fill('#seek', 'nowhere');
    assert.match(await page.textContent('#sought'), /^0 frames: 0 of /);
  });
  await within(browser, expected, { hash: `#width=1&tint=own&mark=${name}` }, async (page) => {
    assert.deepEqual(await page.$$eval('#width, #tint, #seek', (all) => all.map((one) => one.value)), ['1', 'own', name]);
  });
}

async function lists(browser, { planted, ...expected }) {
  await within(browser, expected, {}, async (page) => {
    const rows = () => page.$$eval('#functions tbody tr:not([hidden]):not(.together)', (all) => all.map((row) => ({ name: row.dataset.name, difference: Number(row.querySelectorAll('[data-value]')[2].dataset.value) })));
    const all = await rows();
    const sizes = all.map((row) => Math.abs(row.difference));
    assert.deepEqual(sizes, [...sizes].sort((one, other) => other - one));
    await page.selectOption('#sort', 'less');
    const least = (await rows()).map((row) => row.difference);
    assert.deepEqual(least, [...least].sort((one, other) => one - other));
    const { name } = planted.frames[0];
    await page.fill('#find', name);
    assert.deepEqual((await rows()).map((row) => row.name), [name]);
    assert.equal(await page.textContent('#found'), `1 of ${all.length}`);
    assert.equal(await page.isVisible('#functions .together'), false);
  });
}

async function fits(browser, { planted, ...expected }) {
  for (const options of [{ device: 'phone' }, { media: 'print', size: { width: 718, height: 1047 } }]) {
    await within(browser, expected, options, async (page) => {
      const [content, width] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(content <= width, `${content} pixels on ${width}`);
      if (options.media !== 'print') return;
      const controls = await page.$$eval('select, button, nav, input', (all) => all.filter((one) => one.checkVisibility()).map((one) => one.outerHTML));
      assert.deepEqual(controls, []);
      assert.ok(await page.isVisible('#graph svg'));
    });
  }
  await within(browser, expected, { device: 'bare' }, async (page) => {
    assert.ok((await page.textContent('#answer')).includes(planted.answer));
    assert.ok(await page.isVisible(`#functions tr[data-name="${planted.frames[0].name}"]`));
    assert.ok(await page.isVisible('#script-note'));
  });
}
