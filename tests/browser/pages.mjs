// Opens pages of assize in a real browser and checks them.
//
//   node tests/browser/pages.mjs [CHECKS:]PAGE.html…
//
// CHECKS is `all`, or `hostile` (what names can harm) or `large` (how long it takes). With
// ASSIZE_FIREFOX in the environment the browser is that Firefox.
//
// Beside each page lie PAGE.json, the list of its verdict documents (the one
// that the page opens with, then one for each other baseline), and PAGE.txt,
// the same report as text. Screenshots and the printed page go to the same
// place. `./setup.sh test` installs what this needs.

import { after, before, describe, test } from 'node:test';

import { accessible } from './checks/access.mjs';
import { worksWithoutScript } from './checks/bare.mjs';
import { launch } from './checks/browser.mjs';
import { restoredByAddress, switchesBaseline } from './checks/baseline.mjs';
import { forestIsRight, runsAreRight, runsLeadToTimelines, runsLeadToWhy, linksChoose } from './checks/choices.mjs';
import { machinesAreRight } from './checks/machines.mjs';
import { measuresReady, opensQuietly } from './checks/quiet.mjs';
import { gridIsRight } from './checks/grid.mjs';
import { readsLegibly } from './checks/colours.mjs';
import { curvesAreRight } from './checks/moments.mjs';
import { keyboardReaches, keyboardWorks } from './checks/keyboard.mjs';
import { fitsPhone } from './checks/phone.mjs';
import { prints } from './checks/print.mjs';
import { tradeoffsAreRight } from './checks/tradeoffs.mjs';
import { read } from './checks/expected.mjs';

const CHECKS = [
  ['opens without a word on the console and without a request', opensQuietly, 'hostile', 'large'],
  ['says when it is ready', measuresReady, 'large'],
  ['has the verdicts of the document in its grid', gridIsRight, 'hostile', 'large'],
  ['has those of every other baseline that is chosen', switchesBaseline, 'hostile'],
  ['is restored by its address', restoredByAddress],
  ['plots the ratios of the chosen metric', forestIsRight, 'hostile'],
  ['says what several machines say', machinesAreRight],
  ['says where each configuration of a trade-off stands', tradeoffsAreRight],
  ['plots since when it was certain', curvesAreRight, 'hostile'],
  ['plots the runs of the chosen workload', runsAreRight, 'hostile'],
  ['leads from a run to its timeline', runsLeadToTimelines],
  ['leads from runs and comparisons to where they differ', runsLeadToWhy, 'hostile'],
  ['lets the names of metrics choose them', linksChoose],
  ['is legible in light and dark', readsLegibly],
  ['fits a phone in every state', fitsPhone, 'hostile'],
  ['gives the focus to every control, visibly', keyboardReaches, 'hostile'],
  ['is worked with keys', keyboardWorks],
  ['has no serious finding of axe-core', accessible],
  ['prints what matters, without controls', prints, 'hostile'],
  ['says what matters without a script', worksWithoutScript, 'hostile'],
];

const pages = process.argv.slice(2);
if (!pages.length) {
  console.error('pages.mjs: no page was named; node tests/browser/pages.mjs [CHECKS:]PAGE.html…');
  process.exit(2);
}

const KINDS = ['all', 'hostile', 'large'];
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

for (const named of pages) {
  const kind = KINDS.find((one) => named.startsWith(`${one}:`));
  const expected = read(kind ? named.slice(kind.length + 1) : named);
  describe(expected.name, () => {
    for (const [name, check, ...kinds] of CHECKS) {
      if (kind && kind !== 'all' && !kinds.includes(kind)) continue;
      // Long enough for a machine with other work; it ends what hangs.
      test(name, { timeout: 600_000 }, (t) => check(browser, expected, t));
    }
  });
}
