// Since when it was certain: the curves of `assize when`.

import assert from 'node:assert/strict';

import { openAll, within } from './browser.mjs';

/** On a screen and on a phone each moment of the table is a point of that height, and none hides another. */
export async function curvesAreRight(browser, expected, t) {
  for (const device of ['screen', 'phone']) {
    const curves = await within(browser, expected, { device }, async (page) => {
      await openAll(page);
      return page.$$eval('#when .moments', shown);
    });
    if (!curves.length) return t.diagnostic(`${expected.name}: no curves`);
    for (const { points, rows, width } of curves) {
      assert.ok(rows.length > 1, 'a curve of several moments');
      assert.deepEqual(points.map(({ share }) => share), rows, `${device}: shares of the points`);
      points.forEach(({ x, radius }, i) => {
        assert.ok(x - radius >= 0 && x + radius <= width, `${device}: point ${i} at ${x} of ${width} pixels`);
        if (i) assert.ok(x - points[i - 1].x >= 2 * radius, `${device}: point ${i} lies on the one before`);
      });
    }
  }
}

/** What the page has; runs in it. */
function shown(all) {
  return all.map((one) => {
    const box = one.querySelector('figure > svg').getBoundingClientRect();
    const [top, , bottom] = [...one.querySelectorAll('.gridline')].map((line) => line.getBoundingClientRect().top);
    const points = [...one.querySelectorAll('circle')].map((circle) => {
      const { left, top: above, width, height } = circle.getBoundingClientRect();
      const share = (bottom - above - height / 2) / (bottom - top);
      return { x: left + width / 2 - box.left, radius: width / 2, share: `${Math.round(share * 100)} %` };
    });
    const rows = [...one.querySelectorAll('.behind tbody tr')].map((row) => row.cells[3].textContent);
    return { points, rows, width: box.width };
  });
}
