// 390 pixels: nothing makes the page scroll sideways, whatever is chosen.

import assert from 'node:assert/strict';

import { choose, drawn, openAll, options, picture, within } from './browser.mjs';

/** As it opens, with all opened, and with each choice. */
export async function fitsPhone(browser, expected) {
  await within(browser, expected, { device: 'phone' }, async (page) => {
    const wrong = [];
    await fits(page, 'as it opens', wrong);
    const links = await page.locator('nav a').evaluateAll((all) => all.filter((one) => !one.checkVisibility()).map((one) => one.textContent));
    for (const link of links) wrong.push(`the navigation hides ${link}`);
    await picture(page, expected, 'phone.png');
    await openAll(page);
    await fits(page, 'with all details opened', wrong);
    for (const id of ['baseline', 'metric', 'workload', 'latency', 'timeline-run']) {
      if (!await page.locator(`#${id}:visible`).count()) continue;
      for (const text of some(await options(page, id))) {
        await choose(page, id, text);
        await openAll(page);
        await fits(page, `with #${id} ${text}`, wrong);
      }
    }
    const mark = page.locator('#runs [data-marks]').first();
    if (await mark.count()) {
      await mark.focus();
      await page.keyboard.press('End');
      await fits(page, 'with the words of a mark', wrong);
      await page.keyboard.press('Enter');
      await drawn(page);
      await openAll(page);
      await fits(page, 'with a run chosen', wrong);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    await page.waitForTimeout(400);
    await drawn(page);
    await fits(page, 'on 320 pixels', wrong);
    assert.deepEqual(wrong, [], 'a phone shows less than all of it');
  });
}

/** The first, the last and one between. */
const some = (all) => [...new Set([all[0], all[Math.floor(all.length / 2)], all[all.length - 1]])].filter((one) => one !== undefined);

/** What is too wide is noted, so that all of it is named at once. */
async function fits(page, state, wrong) {
  const found = await page.evaluate(() => {
    const root = document.documentElement, wide = root.clientWidth;
    const scrolls = (element) => element && (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    // A box may fit while the text in it does not.
    const end = (one) => {
      const box = one.getBoundingClientRect(), within = one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === 'visible';
      return within && one.clientWidth ? Math.max(box.right, box.left + one.scrollWidth) : box.right;
    };
    const beyond = [...document.body.querySelectorAll('*')]
      .filter((one) => end(one) > wide + 1 && one.checkVisibility() && !scrolls(one.parentElement))
      .map((one) => `${one.tagName.toLowerCase()}#${one.id}.${one.getAttribute('class') || ''} to ${end(one).toFixed(0)}: ${one.textContent.slice(0, 40)}`)
      .reverse();
    return { wide, window: window.innerWidth, content: Math.max(root.scrollWidth, document.body.scrollWidth), beyond: beyond.slice(0, 8) };
  });
  const { wide, window, content, beyond } = found;
  if (wide !== page.viewportSize().width) wrong.push(`${state}: the page is laid out for ${wide} pixels`);
  else if (window > wide || content > wide) wrong.push(`${state}: the page scrolls sideways, by ${(content > wide ? content : window) - wide} pixels`);
  for (const one of beyond) {
    const said = `beyond the edge: ${one}`;
    if (!wrong.some((line) => line.endsWith(said))) wrong.push(`${state}: ${said}`);
  }
}
