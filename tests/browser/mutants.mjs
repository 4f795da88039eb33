// Checks the checks: each must fail, and for the right reason, on a page that
// was spoiled for it.
//
//   node tests/browser/mutants.mjs PAGE.html
//
// The page is one of several machines that passes; PAGE.json and PAGE.txt lie
// beside it.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessible } from './checks/access.mjs';
import { restoredByAddress, switchesBaseline } from './checks/baseline.mjs';
import { worksWithoutScript } from './checks/bare.mjs';
import { launch } from './checks/browser.mjs';
import { forestIsRight, linksChoose, runsAreRight, runsLeadToTimelines, runsLeadToWhy } from './checks/choices.mjs';
import { readsLegibly } from './checks/colours.mjs';
import { read } from './checks/expected.mjs';
import { gridIsRight } from './checks/grid.mjs';
import { keyboardReaches, keyboardWorks } from './checks/keyboard.mjs';
import { fitsPhone } from './checks/phone.mjs';
import { prints } from './checks/print.mjs';
import { machinesAreRight } from './checks/machines.mjs';
import { opensQuietly } from './checks/quiet.mjs';
import { tradeoffsAreRight } from './checks/tradeoffs.mjs';

/** Adds to the end of the body, and to what the policy allows. */
function add(html, text, allowed) {
  const hash = (code) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`;
  const policy = allowed ? html.replace(`${allowed.of} `, `${allowed.of} ${hash(allowed.code)} `) : html;
  return policy.replace('</body>', () => `${text}</body>`);
}

const script = (code) => (html) => add(html, `<script>${code}</script>`, { of: 'script-src', code });
const style = (code, more = '') => (html) => add(html, `${more}<style>${code}</style>`, { of: 'style-src', code });
const markup = (text) => (html) => add(html, text);
const swap = (from, to) => (html) => html.replace(from, to);
/** The policy is gone, so that nothing but the checks is left. */
const unguarded = (spoil) => (html) => spoil(html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, ''));
/** Runs code whenever something in a place has been drawn. */
const drawn = (place, code) => script(`new MutationObserver(() => { ${code} }).observe(document.querySelector('${place}'), { childList: true, subtree: true });`);
const chosen = (id, code) => script(`document.addEventListener('change', (event) => { if (event.target.id === '${id}') { ${code} } });`);
const CELL = "document.querySelector('td[data-ratio]')";

const MUTANTS = [
  ['an exception', gridIsRight, /error in the script: spoiled/, script("throw new Error('spoiled')")],
  ['a warning', gridIsRight, /console warning: spoiled/, script("console.warn('spoiled')")],
  ['a request', gridIsRight, /request: http:\/\/example\.org/, unguarded(script("fetch('http://example.org/x').catch(() => {})"))],
  ['an image from elsewhere', opensQuietly, /elements that ask/, markup('<img src="http://example.org/x.png" alt="">')],
  ['a request that the policy stops', gridIsRight, /console error: .*Content Security Policy/s, markup('<img src="http://example.org/x.png" alt="">')],
  ['a handler in a name', opensQuietly, /handlers of their own/, markup('<b onclick="alert(1)">x</b>')],
  ['another script', opensQuietly, /the data and the script/, script('1')],
  ['no policy', opensQuietly, /input did not match/, unguarded((html) => html)],
  ['a name that turns the figures behind it', opensQuietly, /turn the direction/, markup('<p>x\u202e 1.234</p>')],
  ['a link out', opensQuietly, /lead out/, markup('<a href="https://example.org/">x</a>')],
  ['a dialog', gridIsRight, /dialog: spoiled/, script("setTimeout(() => alert('spoiled'))")],

  ['a wrong ratio', gridIsRight, /ratio is/, swap(/data-ratio="(\d)/, 'data-ratio="9$1')],
  ['a ratio shown wrongly', gridIsRight, /shows 8\.765/, swap(/(data-ratio=[^>]*>\s*<b>)[^<]*/, '$18.765')],
  ['an interval shown wrongly', gridIsRight, /shows 0\.001/, swap(/(data-low=[^>]*>(?:(?!<\/td>).)*<i>)[^<]*/s, '$10.001\u2009–\u20099.999')],
  ['a bound that is missing', gridIsRight, /low is undefined/, script(`delete ${CELL}.dataset.low`)],
  ['another verdict', gridIsRight, /the verdict/, script(`${CELL}.dataset.verdict = 'sure'`)],
  ['another colour', gridIsRight, /the classes are/, script(`${CELL}.classList.remove('falls', 'rises', 'level')`)],
  ['another mark', gridIsRight, /the mark/, script(`${CELL}.querySelector('.mark').textContent = '!'`)],
  ['a missing cell', gridIsRight, /not in the grid/, script("document.querySelector('table.grid td[data-ratio]').remove()")],
  ['a cell too many', gridIsRight, /not in the document/, script("const cell = document.querySelector('table.grid td[data-ratio]').cloneNode(true); cell.dataset.metric = 'more'; document.querySelector('table.grid tr').append(cell)")],
  ['a cell twice', gridIsRight, /same names/, script("const cell = document.querySelector('table.grid td[data-ratio]'); cell.after(cell.cloneNode(true))")],
  ['columns that changed places', gridIsRight, /names of the columns/, script("const row = document.querySelector('table.grid thead tr'); row.append(row.cells[1])")],
  ['a row that is hidden', gridIsRight, /hidden with one/, script("document.querySelector('table.grid tbody tr').hidden = true")],
  ['another sentence', gridIsRight, /the sentences of the answer/, script("document.querySelector('#answer li').lastElementChild.textContent += ' not'")],
  ['a configuration that the answer leaves out', gridIsRight, /what the answer compares/, script("document.querySelector('#hero li').remove()")],
  ['an answer in colours only', gridIsRight, /: !, /, script("document.querySelector('#hero .outcome').textContent = '!'")],
  ['a colour without its word', gridIsRight, /what the colour means/, script("document.querySelector('table.grid .tone').remove()")],
  ['a wrong tally', gridIsRight, /the tally of/, script("document.querySelector('#tally [data-count]').dataset.count = 999")],
  ['a grid that is hidden', gridIsRight, /the grids that are seen/, style('table.grid { display: none }')],

  ['a stale cell', switchesBaseline, /ratio is 9\.5/, chosen('baseline', `${CELL}.dataset.ratio = 9.5`)],
  ['a baseline that stays', switchesBaseline, /not in the (grid|document)/, script("document.getElementById('baseline').addEventListener('change', (event) => event.stopImmediatePropagation(), true)")],
  ['a name that stays', switchesBaseline, /the name of the baseline/, chosen('baseline', "document.querySelector('.baseline-name').textContent = 'nobody'")],
  ['a choice that is not remembered', restoredByAddress, /does not say/, script('history.replaceState = () => {}')],
  ['a choice that is not restored', restoredByAddress, /what the address restored/, script("if (location.hash) history.replaceState(null, '', location.pathname)")],

  ['a mark in the wrong place', forestIsRight, /a mark is at/, drawn('#forest .plot', "const dot = document.querySelector('#forest circle.dot'); if (dot && !dot.dataset.moved) { dot.dataset.moved = 1; dot.setAttribute('cx', Number(dot.getAttribute('cx')) + 4); }")],
  ['a ratio beside it that is wrong', forestIsRight, /7\.654.* is beside it/, drawn('#forest .plot', "const text = document.querySelector('#forest svg > g text:last-child'); if (text && !text.textContent.startsWith('7.654')) text.textContent = text.textContent.replace(/^\\S+/, '7.654');")],
  ['a mark that is missing', forestIsRight, /marks of ratios/, drawn('#forest .plot', "const group = document.querySelector('#forest svg > g'); if (group && !document.querySelector('#forest [data-gone]')) { group.closest('svg').dataset.gone = 1; group.remove(); }")],
  ['a wrong line of its table', forestIsRight, /the table says/, drawn('#forest .numbers', "const cell = document.querySelector('#forest .numbers td:nth-child(3)'); if (cell && cell.textContent !== '3.210') cell.textContent = '3.210';")],
  ['a timeline that no run leads to', runsLeadToTimelines, /and the timelines/, drawn('#run .tools', "document.querySelector('#run [data-timeline]')?.remove();")],
  ['an answer of why that no run leads to', runsLeadToWhy, /run \d+/, markup('<details class="attributed" data-a="queue" data-b="base" data-workload="stream"><summary>queue executes 5 more instructions</summary></details>')],
  ['a run that is missing', runsAreRight, /marks of/, drawn('#runs .plot', "const all = document.querySelectorAll('#runs .panel [data-run]'); if (all.length && !document.querySelector('#runs [data-gone]')) { all[1].closest('svg').dataset.gone = 1; all[1].remove(); }")],
  ['a wrong run in its table', runsAreRight, /run \d+: 12345/, drawn('#runs .numbers', "const cell = document.querySelector('#runs .numbers td:last-child'); if (cell && cell.textContent !== '12345') cell.textContent = '12345';")],
  ['a row folded that says something', linksChoose, /a row is folded/, style('table.grid tbody tr:not(.quiet-row) { display: none }')],
  ['runs out of order', runsAreRight, /not in their order/, drawn('#runs .plot', "if (document.querySelector('#in-order').textContent.startsWith('By')) for (const mark of document.querySelectorAll('#runs [data-run]')) mark.dataset.run = 9999 - mark.dataset.run;")],
  ['names that choose nothing', linksChoose, /was asked for|nothing opened/, script("addEventListener('click', (event) => { if (event.target.closest('th a')) { event.preventDefault(); event.stopPropagation(); } }, true)")],

  ['a wrong ratio of a machine', machinesAreRight, /8\.642 of/, drawn('#machines .plot', "const text = document.querySelector('#machines svg > g text:last-child'); if (text && text.textContent !== '8.642') text.textContent = '8.642';")],
  ['a pooled figure that contradicts its machines', machinesAreRight, /pooled against its own machines/, drawn('#machines .plot', "for (const panel of document.querySelectorAll('#machines .panel')) { const group = panel.querySelector('svg > g'); if (panel.textContent.includes(': opposite') && !group.querySelector('polygon')) group.append(document.createElementNS('http://www.w3.org/2000/svg', 'polygon')); }")],
  ['a wrong line of all machines', machinesAreRight, /the table of machines says/, script("document.querySelector('#pooled td:nth-child(4)').textContent = '5.432'")],
  ['machines that are left out', machinesAreRight, /rows of the table of machines/, script("document.querySelector('#pooled tbody tr').remove()")],
  ['a figure where machines disagree', gridIsRight, /shows 1\.234/, swap(/<b>disagree<\/b>/, '<b>1.234</b>')],

  ['another standing', tradeoffsAreRight, /the table/, swap(/data-standing="\w+"/, 'data-standing="best"')],
  ['a point that is missing', tradeoffsAreRight, /the plot/, script("document.querySelector('#tradeoffs .point').remove()")],
  ['a standing that only colour tells', tradeoffsAreRight, /time against switches: queue\s/, script("for (const text of document.querySelectorAll('#tradeoffs .point text')) text.textContent = text.textContent.replace(' ?', '')")],

  ['too light a colour', readsLegibly, /too little contrast/, style('.quiet { color: #999 !important }')],
  ['too light a drawing', readsLegibly, /too little contrast/, style('svg text { fill: #aaa !important }')],
  ['a dark page that is light', readsLegibly, /dark page has a ground|in dark colours/, style('body, body * { background: #fff !important; color: #000 !important; fill: #000 !important }')],
  ['better and worse in one colour', readsLegibly, /look alike|same colour/, style('td.good, td.bad, td.good *, td.bad * { background: #eee !important; color: #000 !important }')],
  ['a fixed width', fitsPhone, /as it opens: the page scrolls sideways, by/, style('.spoiled { width: 500px; height: 1px }', '<div class="spoiled"></div>')],
  ['a fixed width in what is opened', fitsPhone, /^(?!.*as it opens).*with all details opened: the page scrolls/s, style('.spoiled { width: 500px; height: 1px }', '<details><summary>x</summary><div class="spoiled"></div></details>')],
  ['no viewport', fitsPhone, /laid out for 980 pixels/, swap(/<meta name="viewport"[^>]*>/, '')],

  ['no outline', keyboardReaches, /focus cannot be seen/, style('* { outline: none !important }')],
  ['an outline as light as the paper', keyboardReaches, /has a contrast/, style('* { outline-color: #eee !important }')],
  ['a control that Tab leaves out', keyboardReaches, /did not reach 1/, script("document.getElementById('metric').tabIndex = -1")],
  ['a focus that does not leave', keyboardReaches, /did not reach/, script("addEventListener('keydown', (event) => { if (event.key === 'Tab' && document.activeElement !== document.body) event.preventDefault(); }, true)")],
  ['something on top of the focus', keyboardReaches, /not in view/, style('.top-most { position: fixed; inset: 0; z-index: 99; pointer-events: auto }', '<div class="top-most"></div>')],
  ['arrow keys that do nothing', keyboardWorks, /says nothing/, script("addEventListener('keydown', (event) => { if (event.target.matches('[data-marks]')) event.stopImmediatePropagation(); }, true)")],
  ['a select that loses the focus', keyboardWorks, /lost the focus/, chosen('metric', 'event.target.blur()')],
  ['details that do not open', keyboardWorks, /Enter does nothing|opened and closed/, script("addEventListener('keydown', (event) => { if (event.target.tagName === 'SUMMARY') event.preventDefault(); }, true)")],
  ['a copy of something else', keyboardWorks, /not in the text that was copied/, script("addEventListener('click', (event) => { if (event.target.matches('.copy')) { event.stopImmediatePropagation(); navigator.clipboard.writeText('x'); } }, true)")],

  ['no language', accessible, /html-has-lang/, swap('<html lang="en">', '<html>')],
  ['a select without a name', accessible, /select-name/, markup('<main><select><option>1</option></select></main>')],
  ['controls on paper', prints, /controls that would be printed/, style('@media print { #controls { display: flex !important } }')],
  ['an answer that is not printed', prints, /#answer is not printed/, style('@media print { #answer { display: none !important } }')],
  ['a grid on paper', prints, /nobody reads on paper/, style('@media print { #grid { display: block !important } }')],
  ['a dark sheet', prints, /from a dark screen/, style('@media (prefers-color-scheme: dark) { body { color: #eee !important } }')],
  ['another mail', worksWithoutScript, /mail is not the text report/, swap(/(<pre tabindex="0" data-copy>)/, '$1x')],
  ['an answer that needs a script', worksWithoutScript, /the sentences of the answer/, swap(/<ol id="answer">.*?<\/ol>/s, '<ol id="answer"></ol>')],
  ['places for plots', worksWithoutScript, /place for plots/, swap('id="plots" class="plots" hidden', 'id="plots" class="plots"')],
];

const [page] = process.argv.slice(2);
if (!page) {
  console.error('mutants.mjs: no page was named; node tests/browser/mutants.mjs PAGE.html');
  process.exit(2);
}
const expected = read(page);
const html = readFileSync(expected.file, 'utf8');
const place = mkdtempSync(join(tmpdir(), 'assize-mutants-'));
const quiet = { diagnostic: () => {} };
let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(place, { recursive: true });
});
MUTANTS.forEach(([name, check, because, spoil], i) => {
  test(`${check.name} notices ${name}`, { timeout: 600_000 }, async () => {
    const spoiled = spoil(html);
    assert.notEqual(spoiled, html, 'nothing was spoiled');
    const file = join(place, `${i}.html`);
    writeFileSync(file, spoiled);
    const own = { ...expected, file, artefact: (kind) => join(place, `${i}.${kind}`) };
    const failed = await check(browser, own, quiet).then(() => null, (error) => error);
    assert.ok(failed, 'it was not noticed');
    const said = `${failed.message} ${JSON.stringify(failed.actual)}`;
    assert.match(said, because, 'it failed for another reason');
  });
});
