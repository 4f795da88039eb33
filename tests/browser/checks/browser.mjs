// The browser, and pages in it of which every word and request is heard.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { plain } from './expected.mjs';
import { launchFirefox } from './firefox.mjs';

// Where ./setup.sh test installs what package-lock.json pins.
const installed = fileURLToPath(new URL('../../../target/setup/browser/', import.meta.url));
export const require = createRequire(installed);

/** Debian's Chromium, or the one that ASSIZE_CHROMIUM names; the Firefox that ASSIZE_FIREFOX names. */
export async function launch() {
  if (process.env.ASSIZE_FIREFOX) return launchFirefox(process.env.ASSIZE_FIREFOX);
  const { chromium } = require('playwright-core');
  return chromium.launch({
    executablePath: process.env.ASSIZE_CHROMIUM || '/usr/bin/chromium',
    // Chromium's sandbox makes user namespaces, which it refuses to do as root
    // and which containers often forbid. All that is opened here are pages
    // that these tests made.
    args: ['--no-sandbox'],
    timeout: 300_000,
  });
}

/** The part of an address before #. */
const before = (url) => url.split('#')[0];

// A screen, a phone, and a screen without scripts. Each is a process that takes
// longer to start than the page to open, so it is used again.
const DEVICES = {
  screen: {},
  phone: { isMobile: true, hasTouch: true },
  bare: { javaScriptEnabled: false },
};
const SIZES = { screen: { width: 1280, height: 900 }, phone: { width: 390, height: 844 }, bare: { width: 1280, height: 900 } };
const kept = new WeakMap();

async function deviceOf(browser, name) {
  if (!kept.has(browser)) kept.set(browser, new Map());
  const devices = kept.get(browser);
  if (!devices.has(name)) {
    const isFirefox = Boolean(process.env.ASSIZE_FIREFOX);
    const context = await browser.newContext({ ...DEVICES[name], viewport: SIZES[name] });
    context.setDefaultTimeout(300_000);
    // Whatever is asked for is heard either way.
    if (!isFirefox) await context.setOffline(true);
    const page = await context.newPage();
    await page.addInitScript(noteReady);
    const device = { page, heard: [], address: '', close: () => { devices.delete(name); return context.close(); } };
    listen(device);
    devices.set(name, device);
  }
  return devices.get(name);
}

/** What Firefox says of itself when it is slow, whatever the page. */
const OF_THE_BROWSER = /^console: Scroll anchoring was disabled in a scroll container/;

/**
 * Opens a page on a device, waits until it is drawn, and does something with
 * it. Fails if the page then has said anything or asked for anything.
 */
export async function within(browser, expected, options, act) {
  const { device: name = 'screen', hash = '', size = SIZES[name], scheme = 'light', media = 'screen' } = options;
  const device = await deviceOf(browser, name);
  const { page } = device;
  try {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: scheme, media });
    // Where nothing is: what scrolls below a pointer answers to it.
    await page.mouse.move(0, 0);
    device.address = pathToFileURL(expected.file).href;
    await page.goto(device.address + hash);
    if (name !== 'bare') await page.waitForSelector('html[data-ready]', { state: 'attached', timeout: 120_000 });
    const result = await act(page);
    assert.equal(before(page.url()), device.address, 'the page went elsewhere');
    await page.goto('about:blank');
    // Firefox is asked what it heard; Chromium has said it.
    if (page.heard) device.heard.push(...(await page.heard()).filter((said) => !OF_THE_BROWSER.test(said)));
    assert.deepEqual(device.heard, [], 'the page said or asked for something');
    return result;
  } catch (error) {
    // What is left of it must not be the next one's beginning.
    await device.close();
    throw error;
  }
}

/** Hears all that the page of a device says and asks for. */
function listen(device) {
  const { page, heard } = device;
  page.on('console', (said) => {
    if (['error', 'warning'].includes(said.type())) heard.push(`console ${said.type()}: ${said.text()}`);
  });
  page.on('pageerror', (error) => heard.push(`error in the script: ${error.message}`));
  page.on('request', (request) => {
    if (before(request.url()) !== device.address) heard.push(`request: ${request.url()}`);
  });
  page.on('requestfailed', (request) => heard.push(`failed request: ${request.url()}`));
  page.on('websocket', (socket) => heard.push(`socket: ${socket.url()}`));
  page.on('popup', (popup) => heard.push(`window: ${popup.url()}`));
  page.on('crash', () => heard.push('the page crashed'));
  page.on('dialog', (dialog) => {
    heard.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
}

/** Runs in the page before its script: notes when it says that it is ready. */
function noteReady() {
  const look = () => {
    if (window.readyAt === undefined && document.documentElement?.hasAttribute('data-ready')) window.readyAt = performance.now();
  };
  new MutationObserver(look).observe(document, { attributes: true, attributeFilter: ['data-ready'], subtree: true });
}

/** Waits until the page has drawn what was chosen. */
export async function drawn(page) {
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
}

/** Chooses the option of a select with exactly this text. */
export async function choose(page, id, text) {
  const texts = await options(page, id);
  const index = texts.indexOf(text);
  assert.ok(index >= 0, `#${id} has no option ${JSON.stringify(text)} but ${JSON.stringify(texts)}`);
  await page.selectOption(`#${id}`, { index });
  await drawn(page);
}

/** The texts of the options of a select. */
export const options = async (page, id) => plain(await page.$$eval(`#${id} option`, (all) => all.map((option) => option.textContent)));

/** Takes a picture of the whole page, for who wants to see it: that is slow without a GPU. */
export async function picture(page, expected, kind) {
  if (process.env.ASSIZE_PICTURES) await page.screenshot({ path: expected.artefact(kind), fullPage: true });
}

/** Opens every <details>. */
export const openAll = (page) => page.$$eval('details', (all) => { for (const one of all) one.open = true; });
