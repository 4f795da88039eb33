// Takes a picture of the top of a page, and writes down what the picture says.
//
//   node tests/browser/picture.mjs PAGE.html PICTURE.png
//
// PICTURE.txt has the name of the page and then each line of text that is wholly in the
// picture. A test of the documentation compares that, and not pixels, with what the
// commands of the page print today.

import { writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';

import { launch, within } from './checks/browser.mjs';

const [page, picture] = process.argv.slice(2);
if (!picture?.endsWith('.png')) {
  console.error('picture.mjs: node tests/browser/picture.mjs PAGE.html PICTURE.png');
  process.exit(2);
}

const WIDE = 1100;
const HIGHEST = 820;

const browser = await launch();
try {
  const options = { size: { width: WIDE, height: HIGHEST } };
  await within(browser, { file: resolve(page) }, options, async (shown) => {
    const { lines, bottom } = await shown.evaluate(read, HIGHEST);
    const clip = { x: 0, y: 0, width: WIDE, height: Math.ceil(bottom) + 8 };
    await shown.screenshot({ path: picture, clip });
    writeFileSync(picture.replace(/png$/, 'txt'), `${[basename(page), ...lines].join('\n')}\n`);
  });
} finally {
  await browser.close();
}

/** Runs in the page: the lines of the answer above a height, and where they end. */
function read(height) {
  const whole = [...document.querySelectorAll('h1, #hero h2, #hero .says, #hero .figures')];
  const seen = whole.filter((one) => one.checkVisibility() && one.getBoundingClientRect().bottom <= height);
  const line = (one) => one.textContent.replace(/\s+/g, ' ').trim();
  return {
    lines: seen.map(line),
    bottom: Math.max(...seen.map((one) => one.getBoundingClientRect().bottom)),
  };
}
