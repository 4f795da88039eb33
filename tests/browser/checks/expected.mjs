// What a page has to say: the verdict documents beside it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * A text, or all texts of a value, as pages may show them: characters that turn
 * the direction of what follows, figures included, are replaced by a sign.
 */
export function plain(value) {
  if (typeof value === 'string') return value.replace(/[\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [plain(name), plain(one)]));
}

/** Reads what lies beside a page. */
export function read(file) {
  const path = resolve(file);
  const stem = path.replace(/\.html$/, '');
  const documents = plain(JSON.parse(readFileSync(`${stem}.json`, 'utf8')));
  assert.ok(Array.isArray(documents) && documents.length > 0, `${stem}.json: not a list of documents`);
  documents.forEach(markDisagreement);
  return {
    file: path,
    name: basename(stem),
    documents,
    text: plain(readFileSync(`${stem}.txt`, 'utf8')),
    artefact: (kind) => join(dirname(path), `${basename(stem)}.${kind}`),
  };
}

/** Marks the comparisons in which machines contradict each other. */
function markDisagreement(document) {
  const opposite = (document.pooled ?? []).filter((one) => one.agreement === 'opposite').map(keyOf);
  for (const row of document.comparisons) row.disagree = opposite.includes(keyOf(row));
}

/** What names one comparison. */
export const keyOf = (row) => JSON.stringify([row.workload, row.metric, row.unit, row.configuration]);

/** The comparisons of a document by what names them. */
export function rowsByKey(document) {
  const rows = new Map(document.comparisons.map((row) => [keyOf(row), row]));
  assert.equal(rows.size, document.comparisons.length, 'two comparisons have the same names');
  return rows;
}

/** Which way a comparison goes. */
export function way(row) {
  const sign = row.ratio === null ? row.difference ?? 0 : row.ratio - 1;
  return sign < 0 ? 'falls' : sign > 0 ? 'rises' : 'level';
}

const MARKS = { established: '**', supported: '*', equivalent: '=', undecided: '?' };

/** The mark beside what is shown of a comparison. */
export const markOf = (row) => (row.disagree ? '!' : MARKS[row.verdict]);

/**
 * Whether the number at the start of a text is this value, rounded to what is
 * shown, and with so many significant digits at least.
 */
export function agrees(text, value, digits) {
  const match = /^([+-]?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?/.exec(text);
  if (!match) return false;
  const [whole, , before, after = '', exponent = '0'] = match;
  const shown = Number(whole);
  if (shown === value) return true;
  const place = 10 ** (Number(exponent) - after.length);
  // Pages have numbers of seven digits where documents have all of them.
  if (Math.abs(shown - value) > place / 2 + Math.abs(value) * 1e-6) return false;
  const significant = `${before}${after}`.replace(/^0+/, '').length;
  return significant >= digits || (after === '' && exponent === '0' && significant >= String(Math.trunc(Math.abs(value))).length);
}

/** Whether what is shown of a comparison is what the document says. */
export function valueAgrees(text, row) {
  if (row.disagree) return text === 'disagree';
  if (row.ratio !== null) return agrees(text, row.ratio, 3);
  if (row.difference === null) return text === '–';
  const [number, ...unit] = text.split(' ');
  return agrees(number, row.difference, 3) && unit.join(' ') === row.unit && number.startsWith('+') === row.difference > 0;
}

/** Whether what is shown of its interval is. */
export function intervalAgrees(text, row) {
  if (row.ci === null || row.disagree) return text === '';
  const ends = text.split(/\u2009–\u2009| to |\.\./);
  const digits = row.ratio === null ? 2 : 3;
  return ends.length === 2 && ends.every((end, i) => agrees(end, row.ci[i], digits));
}

/** Whether two numbers are the same up to what pages are rounded to. */
export const close = (a, b) => a === b || Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b));

/** The metrics that a document compares, each with its unit. */
export function metricsOf(document) {
  const found = new Map(document.comparisons.map((row) => [JSON.stringify([row.metric, row.unit]), row]));
  return [...found.values()].map(({ metric, unit }) => ({ metric, unit }));
}
