// Firefox, spoken to by Marionette, the protocol that geckodriver translates to. It reaches
// what WebDriver BiDi does not: dark pages, paper, pages without scripts, any width, and
// keys. What is here has the names of Playwright's methods, as far as the checks use them.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const PATIENCE = 600_000;
const POLL = 50;

/** Starts the Firefox of this path, without a window and with a profile of its own. */
export async function launchFirefox(path) {
  const profile = mkdtempSync(join(tmpdir(), 'assize-firefox-'));
  const port = await freePort();
  const settings = { 'marionette.port': port, 'browser.aboutwelcome.enabled': false, 'datareporting.policy.dataSubmissionEnabled': false, 'network.captive-portal-service.enabled': false, 'ui.useOverlayScrollbars': 1 };
  writeFileSync(join(profile, 'user.js'), Object.entries(settings).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
  // What is wide and high enough for every size that a check asks for.
  const args = ['-headless', '-marionette', '-remote-allow-system-access', '-no-remote', '-profile', profile, '--width', '1400', '--height', '1300'];
  const firefox = spawn(path, args, { stdio: 'ignore' });
  const ended = new Promise((done) => { firefox.on('exit', done); firefox.on('error', done); });
  const socket = await connected(port, firefox);
  const marionette = new Marionette(socket);
  await marionette.begins;
  await marionette.send('WebDriver:NewSession', { capabilities: {} });
  // On a host that also compiles, axe-core has taken longer than Firefox's own 30 s.
  await marionette.send('WebDriver:SetTimeouts', { script: PATIENCE, pageLoad: PATIENCE });
  const page = new Page(marionette);
  await page.prepare();
  return {
    // There is one tab; a form of device is a set of overrides for it.
    newContext: async ({ viewport, javaScriptEnabled = true }) => ({
      setDefaultTimeout: () => {},
      newPage: () => page.as({ viewport, javaScriptEnabled }),
      close: async () => {},
    }),
    close: async () => {
      await marionette.send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {});
      socket.destroy();
      await Promise.race([ended, wait(10_000)]);
      firefox.kill('SIGKILL');
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** A port that nobody listens on now. */
const freePort = () => new Promise((done, failed) => {
  const server = createServer();
  server.on('error', failed);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

async function connected(port, firefox) {
  for (const end = Date.now() + PATIENCE; Date.now() < end && firefox.exitCode === null; await wait(200)) {
    const socket = await new Promise((done) => {
      const one = connect(port, '127.0.0.1', () => done(one));
      one.on('error', () => done(null));
    });
    if (socket) return socket;
  }
  throw new Error(`Firefox does not listen on port ${port}; its exit status: ${firefox.exitCode}`);
}

/** Messages are `LENGTH:JSON`; answers come in the order of commands. */
class Marionette {
  constructor(socket) {
    Object.assign(this, { socket, waiting: [], number: 0, bytes: Buffer.alloc(0) });
    this.begins = this.next();
    socket.on('data', (data) => { this.bytes = Buffer.concat([this.bytes, data]); this.take(); });
    socket.on('close', () => { for (const one of this.waiting.splice(0)) one.failed(new Error('Firefox has ended')); });
  }

  next() {
    return new Promise((done, failed) => { this.waiting.push({ done, failed }); });
  }

  take() {
    for (;;) {
      const colon = this.bytes.indexOf(':');
      const end = colon + 1 + Number(this.bytes.subarray(0, Math.max(colon, 0)));
      if (colon < 0 || this.bytes.length < end) return;
      const message = JSON.parse(this.bytes.subarray(colon + 1, end));
      this.bytes = this.bytes.subarray(end);
      this.waiting.shift()?.done(message);
    }
  }

  async send(command, parameters = {}) {
    const text = JSON.stringify([0, ++this.number, command, parameters]);
    const answer = this.next();
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    const [, , error, result] = await answer;
    if (error) throw new Error(`${command}: ${error.message}`);
    return result;
  }

  /** Runs in the page. */
  async run(script, ...args) {
    return (await this.send('WebDriver:ExecuteScript', { script, args, newSandbox: false })).value;
  }

  /** Runs where Firefox itself runs. */
  async inside(script, ...args) {
    await this.send('Marionette:SetContext', { value: 'chrome' });
    try {
      return await this.run(script, ...args);
    } finally {
      await this.send('Marionette:SetContext', { value: 'content' });
    }
  }
}

/** In the page: the elements of a locator. `:visible` is Playwright's word. */
const FIND = `const find = (steps) => steps.reduce((roots, step) => {
  if (step.at !== undefined) { const one = roots.at(step.at); return one ? [one] : []; }
  const parts = step.css.split(/,(?![^[]*\\])/).map((one) => one.trim());
  const css = parts.map((one) => one.replace(/:visible$/, '')).join(',');
  const visible = parts.every((one) => one.endsWith(':visible'));
  const found = [...new Set(roots.flatMap((root) => [...root.querySelectorAll(css)]))];
  return visible ? found.filter(seen) : found;
}, [document]);
const seen = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;
`;
const KEYS = { ArrowDown: '\uE015', ArrowUp: '\uE013', ArrowLeft: '\uE012', ArrowRight: '\uE014', Enter: '\uE007', Escape: '\uE00C', Tab: '\uE004', Home: '\uE011', End: '\uE010' };
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

class Locator {
  constructor(marionette, steps) {
    Object.assign(this, { marionette, steps });
  }

  locator(css) { return new Locator(this.marionette, [...this.steps, { css }]); }
  nth(at) { return new Locator(this.marionette, [...this.steps, { at }]); }
  first() { return this.nth(0); }
  last() { return this.nth(-1); }
  async all() { return Array.from({ length: await this.count() }, (_, at) => this.nth(at)); }
  count() { return this.marionette.run(`${FIND} return find(arguments[0]).length;`, this.steps); }

  evaluateAll(act, argument) {
    return this.marionette.run(`${FIND} return (${act})(find(arguments[0]), arguments[1]);`, this.steps, argument);
  }

  evaluate(act, argument) {
    const missing = `no element is ${JSON.stringify(this.steps)}`;
    return this.marionette.run(`${FIND} const [one] = find(arguments[0]); if (!one) throw new Error(arguments[2]); return (${act})(one, arguments[1]);`, this.steps, argument, missing);
  }

  $$eval(css, act, argument) { return this.locator(css).evaluateAll(act, argument); }
  textContent() { return this.evaluate((one) => one.textContent); }
  getAttribute(name) { return this.evaluate((one, name) => one.getAttribute(name), name); }
  isVisible() { return this.marionette.run(`${FIND} const [one] = find(arguments[0]); return Boolean(one) && seen(one);`, this.steps); }
  isDisabled() { return this.evaluate((one) => one.disabled); }
  focus() { return this.evaluate((one) => one.focus()); }
  scrollIntoViewIfNeeded() { return this.evaluate((one) => one.scrollIntoView({ block: 'center' })); }
  boundingBox() { return this.evaluate((one) => { const { x, y, width, height } = one.getBoundingClientRect(); return { x, y, width, height }; }); }

  async pointer(...more) {
    await this.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await this.boundingBox();
    await point(this.marionette, x + width / 2, y + height / 2, ...more);
  }

  hover() { return this.pointer(); }
  async click() {
    const element = await this.evaluate((one) => one);
    await this.marionette.send('WebDriver:ElementClick', { id: element[ELEMENT] });
  }
}

async function point(marionette, x, y, ...more) {
  const move = { type: 'pointerMove', x: Math.round(x), y: Math.round(y) };
  await marionette.send('WebDriver:PerformActions', { actions: [{ type: 'pointer', id: 'mouse', actions: [move, ...more] }] });
}

const PRESS = [{ type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 }];

class Page {
  constructor(marionette) {
    this.marionette = marionette;
    this.keyboard = {
      press: (key) => {
        const value = KEYS[key] ?? key;
        return marionette.send('WebDriver:PerformActions', { actions: [{ type: 'key', id: 'keys', actions: [{ type: 'keyDown', value }, { type: 'keyUp', value }] }] });
      },
    };
    this.mouse = {
      move: (x, y) => point(marionette, x, y),
      click: (x, y) => point(marionette, x, y, ...PRESS),
    };
  }

  /** The same tab as another device. */
  async as(form) {
    const page = Object.assign(Object.create(Page.prototype), this, { form });
    await page.emulateMedia({ colorScheme: 'light', media: 'screen' });
    await page.setViewportSize(form.viewport);
    return page;
  }

  /** Firefox notes from now on what is asked for and what is said. */
  async prepare() {
    await this.marionette.inside(`
      window.asked = [];
      Services.obs.addObserver((channel) => {
        const { spec } = channel.QueryInterface(Ci.nsIChannel).URI;
        const by = channel.loadInfo && channel.loadInfo.browsingContext;
        if (by && by.top === window.gBrowser.selectedBrowser.browsingContext) window.asked.push(spec);
      }, 'http-on-opening-request');
      Services.console.reset();`);
  }

  /** What was said and asked for since this was called last. */
  async heard() {
    return this.marionette.inside(`
      const said = Services.console.getMessageArray().map((one) => { try { return one.QueryInterface(Ci.nsIScriptError); } catch { return null; } })
        .filter((one) => one && /^(file|data|http)/.test(one.sourceName)).map((one) => 'console: ' + one.errorMessage);
      const asked = window.asked.splice(0).map((one) => 'request: ' + one);
      Services.console.reset();
      return [...said, ...asked];`);
  }

  override(values) {
    return this.marionette.inside('Object.assign(window.gBrowser.selectedBrowser.browsingContext, arguments[0]);', values);
  }

  async setViewportSize(size) {
    this.size = size;
    await this.marionette.inside(`const { style } = window.gBrowser.selectedBrowser;
      for (const name of ['width', 'min-width', 'max-width']) style.setProperty(name, arguments[0] + 'px');
      for (const name of ['height', 'min-height', 'max-height']) style.setProperty(name, arguments[1] + 'px');`, size.width, size.height);
    await this.waitForFunction((size) => window.innerWidth === size.width && window.innerHeight === size.height, size);
  }

  viewportSize() { return this.size; }

  async emulateMedia({ colorScheme, media }) {
    const values = {};
    if (colorScheme) values.prefersColorSchemeOverride = colorScheme;
    if (media) values.mediumOverride = media === 'print' ? 'print' : '';
    this.values = { ...this.values, ...values };
    await this.override(values);
  }

  async goto(url) {
    await this.marionette.send('WebDriver:Navigate', { url: 'about:blank' });
    if (url !== 'about:blank') await this.marionette.send('WebDriver:Navigate', { url });
    this.address = url;
    // Another address may mean another process, which knows nothing of what was set.
    await this.override(this.values);
    const { javaScriptEnabled } = this.form;
    const ran = await this.marionette.inside('const one = window.gBrowser.selectedBrowser.browsingContext; const ran = one.allowJavascript; one.allowJavascript = arguments[0]; return ran;', javaScriptEnabled);
    if (ran !== javaScriptEnabled) await this.marionette.send('WebDriver:Refresh');
  }

  url() { return this.address; }

  async waitForSelector(css) {
    await this.waitForFunction((css) => document.querySelector(css), css);
    // Not before: when the page has said so can be seen from within only.
    await this.evaluate(() => { window.readyAt ??= performance.now(); });
  }

  async waitForFunction(act, argument) {
    for (const end = Date.now() + PATIENCE; Date.now() < end; await wait(POLL)) {
      if (await this.marionette.run(`return Boolean((${act})(arguments[0]));`, argument)) return;
    }
    throw new Error(`waited in vain for ${act}`);
  }

  waitForTimeout(ms) { return wait(ms); }

  evaluate(act, argument) {
    if (typeof act === 'string') return this.marionette.run(`(function () { ${act}\n}).call(window);`);
    return this.marionette.run(`return (${act})(arguments[0]);`, argument);
  }

  locator(css) { return new Locator(this.marionette, [{ css }]); }
  $eval(css, act, argument) { return this.locator(css).evaluate(act, argument); }
  $$eval(css, act, argument) { return this.locator(css).evaluateAll(act, argument); }
  $$(css) { return this.locator(css).all(); }
  async $(css) { return (await this.locator(css).count()) ? this.locator(css) : null; }
  isVisible(css) { return this.locator(css).isVisible(); }
  isDisabled(css) { return this.locator(css).isDisabled(); }
  textContent(css) { return this.locator(css).textContent(); }
  getAttribute(css, name) { return this.locator(css).getAttribute(name); }
  focus(css) { return this.locator(css).focus(); }

  fill(css, text) {
    return this.locator(css).evaluate((one, text) => {
      one.focus();
      one.value = text;
      one.dispatchEvent(new Event('input', { bubbles: true }));
    }, text);
  }

  selectOption(css, wanted) {
    return this.locator(css).evaluate((one, wanted) => {
      const options = [...one.options];
      const at = wanted.index ?? options.findIndex((option) => (wanted.label === undefined ? option.value === wanted : option.textContent === wanted.label));
      if (!options[at]) throw new Error(`no such option: ${JSON.stringify(wanted)}`);
      one.selectedIndex = at;
      for (const kind of ['input', 'change']) one.dispatchEvent(new Event(kind, { bubbles: true }));
    }, wanted);
  }

  async screenshot({ path, fullPage }) {
    const { value } = await this.marionette.send('WebDriver:TakeScreenshot', { full: Boolean(fullPage) });
    writeFileSync(path, Buffer.from(value, 'base64'));
  }

  async pdf() {
    const { value } = await this.marionette.send('WebDriver:Print', { page: { width: 21, height: 29.7 }, margin: { top: 1, right: 1, bottom: 1, left: 1 }, background: false });
    // Printing ends what was set of the medium.
    await this.override({ mediumOverride: '' });
    await this.override(this.values);
    return Buffer.from(value, 'base64');
  }

  async addInitScript() {}
  on() {}
}
