// Trade-offs: where the page says that each configuration stands, in its table and plot.

import assert from 'node:assert/strict';

import { within } from './browser.mjs';
import { plain } from './expected.mjs';

/** Tables and plots of trade-offs agree with the document, without a script too. */
export async function tradeoffsAreRight(browser, expected, t) {
  const { tradeoffs = [] } = expected.documents[0];
  for (const options of [{}, { device: 'bare' }]) {
    await within(browser, expected, options, async (page) => {
      const figures = plain(await page.$$eval('#tradeoffs figure.tradeoff', shown));
      assert.equal(figures.length, tradeoffs.length, 'trade-offs on the page');
      tradeoffs.forEach((one, i) => compare(one, figures[i]));
    });
  }
  if (!tradeoffs.length) t.diagnostic(`${expected.name}: no trade-offs`);
}

/** What the page has; runs in it. */
function shown(all) {
  const points = (figure) => [...figure.querySelectorAll('svg .point')].map((point) => ({
    configuration: point.dataset.configuration,
    standing: [...point.classList].find((name) => name !== 'point'),
    marks: point.querySelectorAll('.mark-of-point').length,
    label: point.querySelector('text').textContent,
  }));
  const rows = (figure) => [...figure.querySelectorAll('tbody tr')].map((row) => ({
    configuration: row.dataset.configuration,
    standing: row.dataset.standing,
    said: row.querySelector('.stands').textContent,
  }));
  return all.map((figure) => ({
    rows: rows(figure),
    points: points(figure),
    title: figure.querySelector('svg title')?.textContent,
    about: figure.querySelector('svg desc')?.textContent,
    visible: [...figure.querySelectorAll('svg')].every((svg) => svg.getClientRects().length > 0),
  }));
}

function compare(one, figure) {
  const at = `${one.x.metric} against ${one.y.metric}`;
  const standings = (rows) => rows.map((row) => [row.configuration, row.standing]);
  assert.deepEqual(standings(figure.rows), standings(one.points), `${at}: the table`);
  const whole = one.points.filter((point) => point.x.mean !== null && point.y.mean !== null);
  assert.deepEqual(standings(figure.points), standings(whole), `${at}: the plot`);
  one.points.forEach((point, i) => {
    const { said } = figure.rows[i];
    assert.ok(said.startsWith(point.standing), `${at}: ${said}`);
    for (const other of point.dominated_by) assert.ok(said.includes(`by ${other.configuration} (`), `${at}: ${said}`);
    if (point.standing === 'undecided') for (const other of point.not_told_from) assert.ok(said.includes(other), `${at}: ${said}`);
  });
  for (const point of figure.points) {
    assert.equal(point.marks, 1, `${at}: ${point.configuration}`);
    // Colour and shape are not the only signs.
    assert.equal(point.label.endsWith(' ?'), point.standing === 'undecided', `${at}: ${point.label}`);
    assert.ok(figure.about.includes(`${point.standing}.`), `${at}: the description`);
  }
  assert.equal(figure.points.length > 0, Boolean(figure.title && figure.about), `${at}: title and description`);
  assert.ok(figure.visible, `${at}: the plot is not shown`);
}
