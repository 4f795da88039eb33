// Light and dark: each is what it says, and all text can be read.

import assert from 'node:assert/strict';

import { openAll, picture, within } from './browser.mjs';

/** Contrast and darkness in both, and that they differ. */
export async function readsLegibly(browser, expected) {
  const seen = {};
  for (const scheme of ['light', 'dark']) {
    seen[scheme] = await within(browser, expected, { scheme }, async (page) => {
      await picture(page, expected, `${scheme}.png`);
      await openAll(page);
      const found = await page.evaluate(textsAndGrounds);
      assert.ok(found.count > 50, `only ${found.count} texts were looked at`);
      assert.deepEqual(found.faint.slice(0, 20), [], `${found.faint.length} texts in ${scheme} colours have too little contrast`);
      return found;
    });
  }
  const { light, dark } = seen;
  assert.ok(light.paper > 0.8, `the light page has a ground of luminance ${light.paper}`);
  assert.ok(dark.paper < 0.1, `the dark page has a ground of luminance ${dark.paper}`);
  for (const verdict of Object.keys(light.cells)) {
    assert.notEqual(light.cells[verdict], dark.cells[verdict], `cells that are ${verdict} have the same colour in the dark`);
  }
  const tones = ['established good', 'established bad'].map((name) => light.cells[name]).filter(Boolean);
  assert.equal(new Set(tones).size, tones.length, 'what is better and what is worse look alike');
}

/**
 * Runs in the page. Of every text that is to be seen: its contrast to what is
 * behind it, by the formula of WCAG 2.2 (relative luminance, 1.4.3), also in
 * drawings, of which axe-core says nothing.
 */
export function textsAndGrounds() {
  const parse = (text) => {
    const parts = /rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)/.exec(text);
    return parts ? [Number(parts[1]), Number(parts[2]), Number(parts[3]), parts[4] === undefined ? 1 : Number(parts[4])] : null;
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const paper = parse(getComputedStyle(document.body).backgroundColor);
  const chain = (element) => (element ? [...chain(element.parentElement), element] : []);
  const ground = (element) => chain(element).map((one) => parse(getComputedStyle(one).backgroundColor)).filter((one) => one && one[3] > 0).reduce((below, top) => over(top, below), paper);
  const opacity = (element) => chain(element).reduce((all, one) => all * Number(getComputedStyle(one).opacity), 1);
  const seenAt = (element) => {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && box.right > 0;
  };
  const faint = new Set();
  let count = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || element.closest('script, option') || !seenAt(element)) continue;
    count += 1;
    const style = getComputedStyle(element);
    const drawing = element.closest('svg') !== null;
    const ink = parse(drawing ? style.fill : style.color);
    const inside = drawing && element.classList.contains('inside');
    const behind = inside ? over([...parse(getComputedStyle(element.previousElementSibling).fill).slice(0, 3), Number(getComputedStyle(element.previousElementSibling).fillOpacity)], ground(element)) : ground(element);
    const shown = over([...ink.slice(0, 3), ink[3] * opacity(element) * (drawing ? Number(style.fillOpacity) : 1)], behind);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const got = contrast(shown, behind);
    if (got < (large ? 3 : 4.5)) faint.add(`${got.toFixed(2)}: ${element.tagName.toLowerCase()}.${element.getAttribute('class') || ''} ${walker.currentNode.textContent.trim().slice(0, 40)}`);
  }
  const cells = {};
  for (const cell of document.querySelectorAll('td.verdict')) cells[`${cell.dataset.verdict} ${cell.dataset.tone}`] ??= `${getComputedStyle(cell).backgroundColor} ${getComputedStyle(cell).color}`;
  return { count, faint: [...faint], paper: luminance(paper), cells };
}
