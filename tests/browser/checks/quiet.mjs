// The page is one file: nothing is said, nothing is asked for, nothing that a
// name brought along runs.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';

import { within } from './browser.mjs';

/** No console message, no request, and none of what would make one. */
export async function opensQuietly(browser, expected) {
  await within(browser, expected, {}, async (page) => {
    const found = await page.evaluate(() => {
      const foreign = 'img, iframe, object, embed, link, base, form, audio, video, source, [src], [srcset], [action], [ping], meta[http-equiv=refresh]';
      const handlers = [...document.querySelectorAll('*')].filter((one) => one.getAttributeNames().some((name) => name.startsWith('on')));
      return {
        foreign: [...document.querySelectorAll(foreign)].map((one) => one.outerHTML.slice(0, 200)),
        handlers: handlers.map((one) => one.outerHTML.slice(0, 200)),
        links: [...document.querySelectorAll('a')].map((one) => one.getAttribute('href')).filter((href) => !href.startsWith('#')),
        scripts: document.scripts.length,
        policy: document.querySelector('meta[http-equiv="Content-Security-Policy"]')?.content || '',
      };
    });
    assert.deepEqual(found.foreign, [], 'elements that ask for something');
    assert.deepEqual(found.handlers, [], 'elements with handlers of their own');
    assert.deepEqual(found.links, [], 'links that lead out of the page');
    assert.equal(found.scripts, 2, 'the data and the script, and no other');
    assert.match(found.policy, /^default-src 'none';/);
    assert.doesNotMatch(found.policy, /unsafe|https?:|\*/);
    const dead = await page.$$eval('a[href^="#"]', (links) => links.map((link) => link.getAttribute('href')).filter((href) => !document.getElementById(href.slice(1))));
    assert.deepEqual(dead, [], 'links to nowhere in the page');
    const turned = await page.evaluate(() => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, (one) => (one.parentElement.closest('script') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
      const found = [];
      while (texts.nextNode()) if (/[\u202a-\u202e\u2066-\u2069]/.test(texts.currentNode.data)) found.push(`${texts.currentNode.parentElement.tagName}: ${texts.currentNode.data.trim().slice(0, 60)}`);
      return [...new Set(found)];
    });
    assert.deepEqual(turned.slice(0, 10), [], 'texts that turn the direction of what follows them');
    const twice = await page.$$eval('[id]', (all) => all.map((one) => one.id).filter((id, i, ids) => ids.indexOf(id) !== i));
    assert.deepEqual(twice, [], 'identifiers that are there twice');
  });
}

/** Says how long it took; how long it may take depends on the machine. */
export async function measuresReady(browser, expected, t) {
  await within(browser, expected, {}, async (page) => {
    const ready = await page.evaluate(() => window.readyAt);
    assert.equal(typeof ready, 'number', 'the page never said that it is ready');
    const size = statSync(expected.file).size;
    t.diagnostic(`${expected.name}: ${(size / 1000).toFixed(0)} kB, ready ${ready.toFixed(0)} ms after it was asked for`);
  });
}
