// The page of assize why: its tables, and its start.

/** Shows the functions that contain all words, in the chosen order. */
function listFunctions() {
  const box = document.getElementById('find'), order = document.getElementById('sort');
  const body = document.querySelector('#functions tbody');
  const rows = [...body.rows].filter((row) => !row.classList.contains('together'));
  const together = body.querySelector('.together');
  const texts = new Map(rows.map((row) => [row, `${row.cells[0].textContent} ${row.cells[1].textContent}`.toLowerCase()]));
  const figures = new Map(rows.map((row) => [row, [...row.querySelectorAll('[data-value]')].map((cell) => Number(cell.dataset.value))]));
  const keys = {
    a: ([a]) => a, b: ([, b]) => b, difference: ([, , difference]) => difference,
    less: ([, , difference]) => -difference, size: ([, , difference]) => Math.abs(difference),
  };
  const look = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => texts.get(row).includes(word));
    const found = rows.filter((row) => !row.hidden).length;
    document.getElementById('found').textContent = `${found} of ${rows.length}`;
    together.hidden = found < rows.length;
  };
  const sort = () => {
    const key = keys[order.value];
    const sorted = key ? rows.sort((one, other) => key(figures.get(other)) - key(figures.get(one))) : rows.sort((one, other) => (texts.get(one) < texts.get(other) ? -1 : 1));
    body.append(...sorted, together);
  };
  box.addEventListener('input', look);
  order.addEventListener('change', sort);
  document.getElementById('searching').hidden = false;
  look();
}

/** Writes the choices to the fragment of the URL. */
function remember() {
  const chosen = new URLSearchParams();
  if (flame.zoomed) chosen.set('frame', flame.zoomed);
  chosen.set('width', flame.width);
  if (flame.tint !== 'all') chosen.set('tint', flame.tint);
  if (flame.words) chosen.set('mark', flame.words);
  history.replaceState(null, '', `#${chosen}`);
}

/** Reads the choices from the fragment of the URL; unknown names are ignored. */
function recall() {
  const text = location.hash.slice(1);
  if (!text.includes('=')) return;
  const chosen = new URLSearchParams(text);
  const frame = Number(chosen.get('frame'));
  if (Number.isInteger(frame) && flame.frames[frame]) flame.zoomed = flame.current = frame;
  if (['0', '1'].includes(chosen.get('width'))) flame.width = Number(chosen.get('width'));
  if (['all', 'own'].includes(chosen.get('tint'))) flame.tint = chosen.get('tint');
  flame.words = chosen.get('mark') || '';
}

async function start() {
  listFunctions();
  const note = document.getElementById('script-note');
  try {
    openFlame(await unpack());
  } catch (error) {
    note.textContent = `The graph is missing: this browser cannot unpack the data of the page (${error}).`;
    document.documentElement.dataset.ready = '';
    return;
  }
  note.hidden = true;
  document.getElementById('drawn').hidden = false;
  recall();
  listenToTools();
  showChosen();
  document.documentElement.dataset.ready = '';
  let width = window.innerWidth, waiting = null;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawFlame, 150);
  });
  window.addEventListener('hashchange', () => { recall(); showChosen(); });
}

start();
