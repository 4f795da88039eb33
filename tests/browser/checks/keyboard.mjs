// Without a mouse: every control is reached, is seen to be, and does its work.

import assert from 'node:assert/strict';

import { drawn, options, within } from './browser.mjs';

/** Tab goes through all controls, and the focus can be seen on each. */
export async function keyboardReaches(browser, expected) {
  for (const scheme of ['light', 'dark']) {
    await within(browser, expected, { scheme }, async (page) => {
      const all = await page.evaluate(markControls);
      // What the focus looks like does not depend on how many controls there are.
      const wanted = scheme === 'light' ? all : all.slice(0, 12);
      const reached = new Set();
      for (let pressed = 0; pressed <= wanted.length + 1; pressed++) {
        await page.keyboard.press('Tab');
        let at = await page.evaluate(focused);
        if (at === null) break;
        // Firefox scrolls to the focus in a later frame, on a busy host much later. The page
        // answers for where a scroll ends: not below what sticks to the top.
        if (!at.inView) {
          await page.evaluate(() => document.activeElement.scrollIntoView({ block: 'nearest', inline: 'nearest' }));
          at = await page.evaluate(focused);
        }
        assert.ok(at.outline >= 2, `the focus cannot be seen on ${at.what}`);
        assert.ok(at.contrast >= 3, `the focus on ${at.what} has a contrast of ${at.contrast}`);
        assert.ok(at.inView, `the focus is on ${at.what}, which is not in view: ${at.where}`);
        reached.add(at.number);
      }
      const left = wanted.filter((_, i) => !reached.has(i));
      assert.deepEqual(left, [], `Tab did not reach ${left.length} of ${wanted.length} controls`);
    });
  }
}

/** Runs in the page: numbers all controls that can be seen; says which. */
function markControls() {
  const all = [...document.querySelectorAll('a[href], button:not(:disabled), select, input, textarea, summary, [tabindex="0"]')]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }));
  return all.map((one, i) => {
    one.dataset.control = i;
    return `${one.tagName.toLowerCase()}#${one.id} ${(one.getAttribute('aria-label') || one.textContent).trim().slice(0, 60)}`;
  });
}

/** Runs in the page: what has the focus, and how that looks. */
function focused() {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const style = getComputedStyle(one);
  const luminance = (text) => {
    const parts = text.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const [high, low] = [style.outlineColor, getComputedStyle(document.body).backgroundColor].map(luminance).sort((a, b) => b - a);
  // What sticks to the top must not hide it. A link may lie on several lines.
  const points = [...one.getClientRects()].flatMap((box) => [0.05, 0.5, 0.95].map((part) => [Math.min(box.left + box.width / 2, window.innerWidth - 2), box.top + box.height * part]));
  const seen = points.some(([x, y]) => {
    const top = y >= 0 && y < window.innerHeight && document.elementFromPoint(Math.max(x, 1), y);
    return top && (one.contains(top) || top.contains(one));
  });
  return {
    number: one.dataset.control === undefined ? -1 : Number(one.dataset.control),
    what: `${one.tagName.toLowerCase()}#${one.id} ${(one.getAttribute('aria-label') || one.textContent).trim().slice(0, 60)}`,
    outline: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth),
    contrast: (high + 0.05) / (low + 0.05),
    inView: seen,
    where: `${points.map((point) => point.map(Math.round).join(',')).join(' ')} of ${window.innerWidth} x ${window.innerHeight}, scrolled by ${Math.round(window.scrollY)}`,
  };
}

/** Selects, buttons, details and marks answer to keys. */
export async function keyboardWorks(browser, expected) {
  await within(browser, expected, {}, async (page) => {
    await selectsWork(page);
    await marksWork(page);
    await detailsWork(page);
    await copyWorks(page);
    await keysHoldToggles(page);
  });
}

async function selectsWork(page) {
  for (const id of ['baseline', 'metric', 'workload', 'latency', 'timeline-run']) {
    if (!await page.locator(`#${id}:visible`).count()) continue;
    const texts = await options(page, id);
    if (texts.length < 2) continue;
    await page.focus(`#${id}`);
    const before = await page.$eval(`#${id}`, (select) => select.selectedIndex);
    await page.keyboard.press(before + 1 < texts.length ? 'ArrowDown' : 'ArrowUp');
    await drawn(page);
    const after = await page.$eval(`#${id}`, (select) => select.selectedIndex);
    assert.equal(Math.abs(after - before), 1, `an arrow key on #${id} went from ${before} to ${after}`);
    assert.equal(await page.evaluate(() => document.activeElement.id), id, `#${id} lost the focus when it was used`);
  }
}

/** Arrow keys go from mark to mark and say what it is; Enter chooses a run. */
async function marksWork(page) {
  // One of each section: they are all made by one function.
  await page.evaluate(() => {
    for (const section of document.querySelectorAll('section[id]')) section.querySelector('[data-marks]')?.setAttribute('data-tried', '');
  });
  const holders = page.locator('[data-tried]:visible');
  const count = await holders.count();
  const tip = () => page.$eval('#tip', (one) => (one.hidden ? '' : one.textContent));
  for (let i = 0; i < count; i++) {
    await holders.nth(i).focus();
    assert.equal(await tip(), '', 'words are shown before a key was pressed');
    await page.keyboard.press('ArrowRight');
    const first = await tip();
    assert.notEqual(first, '', `an arrow key says nothing on ${await holders.nth(i).getAttribute('aria-label')}`);
    await page.keyboard.press('Home');
    assert.equal(await tip(), first);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    assert.equal(await tip(), first, 'behind the last comes the first');
    await page.keyboard.press('Escape');
    assert.equal(await tip(), '', 'Escape does not close the words');
  }
  const runs = page.locator('#runs [data-marks]').first();
  if (!await runs.count()) return;
  await runs.focus();
  await page.keyboard.press('ArrowRight');
  const words = await tip();
  await page.keyboard.press('Enter');
  await drawn(page);
  const title = await page.textContent('#run-title');
  assert.ok(await page.isVisible('#run'), 'Enter on a run does not show it');
  assert.ok(title.startsWith(`Run ${/run (\d+)/.exec(words)[1]}:`), `${words}: ${title}`);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'run-title');
}

async function detailsWork(page) {
  const summaries = page.locator('summary:visible');
  const last = await summaries.count() - 1;
  for (const i of new Set([0, Math.floor(last / 2), last].filter((at) => at >= 0))) {
    const summary = summaries.nth(i);
    const isOpen = () => summary.evaluate((one) => one.parentElement.open);
    const before = await isOpen();
    for (const key of ['Enter', ' ']) {
      await summary.focus();
      await page.keyboard.press(key);
    }
    assert.equal(await isOpen(), before, 'opened and closed');
    await summary.focus();
    await page.keyboard.press('Enter');
    assert.equal(await isOpen(), !before, `Enter does nothing on ${await summary.textContent()}`);
  }
}

async function copyWorks(page) {
  const buttons = page.locator('button.copy:visible');
  assert.ok(await buttons.count() > 0, 'nothing can be copied');
  await page.evaluate(() => {
    window.copied = [];
    document.addEventListener('copy', () => window.copied.push(String(window.getSelection()) || document.activeElement.value));
    if (navigator.clipboard) navigator.clipboard.writeText = async (text) => { window.copied.push(text); };
  });
  await buttons.first().focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => window.copied.length > 0);
  const text = await page.evaluate(() => window.copied[0]);
  const rows = await buttons.first().evaluate((button) => { const table = button.previousElementSibling.querySelector('table'); return [...table.rows].map((row) => row.cells[0].firstChild.textContent.trim()); });
  for (const name of rows) assert.ok(text.includes(name), `${name} is not in the text that was copied:\n${text}`);
}

/** Configurations are switched off and on by their key. */
async function keysHoldToggles(page) {
  const toggles = page.locator('#runs button[aria-pressed]:visible');
  if (!await toggles.count()) return;
  const marks = () => page.locator('#runs [data-run]').count();
  const before = await marks();
  await toggles.first().focus();
  await page.keyboard.press('Enter');
  await drawn(page);
  assert.equal(await toggles.first().getAttribute('aria-pressed'), 'false');
  assert.ok(await marks() < before, 'a configuration that was switched off is still there');
  await toggles.first().focus();
  await page.keyboard.press(' ');
  await drawn(page);
  assert.equal(await marks(), before);
}
