// The page of assize why: its tables, and what begins it.

/** Shows the functions that hold all words, in the order that is chosen. */
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

/** What is chosen of the graph. */
function listenToTools() {
  const draws = (id, set) => {
    const control = document.getElementById(id);
    control.addEventListener('input', () => { set(control.value); drawFlame(); remember(); });
  };
  draws('width', (value) => {
    flame.width = Number(value);
    while (flame.zoomed && !flame.frames[flame.zoomed].all[flame.width]) flame.zoomed = flame.frames[flame.zoomed].above;
  });
  draws('tint', (value) => { flame.tint = value; });
  draws('seek', (value) => { flame.words = value; seek(); });
  document.getElementById('back').addEventListener('click', zoomBack);
  document.getElementById('top').addEventListener('click', () => zoomTo(0, 0));
}

function showChosen() {
  document.getElementById('width').value = flame.width;
  document.getElementById('tint').value = flame.tint;
  document.getElementById('seek').value = flame.words;
  seek();
  drawFlame();
}

async function start() {
  listFunctions();
  const note = document.getElementById('script-note');
  try {
    flame.data = await unpack();
  } catch (error) {
    note.textContent = `The graph is missing: this browser cannot unpack the data of the page (${error}).`;
    document.documentElement.dataset.ready = '';
    return;
  }
  flame.frames = framesOf(flame.data);
  const [a, b] = [0, 1].map((side) => flame.frames[0].all[side] / flame.data.jobs[side]);
  flame.width = b > a ? 1 : 0;
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
