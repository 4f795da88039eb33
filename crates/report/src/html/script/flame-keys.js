// Pointer, keyboard and search in the flame graph.

function listenTo(drawing) {
  const frameAt = (event) => {
    const group = event.target.closest('g[data-frame]');
    return group ? Number(group.dataset.frame) : null;
  };
  drawing.addEventListener('pointermove', (event) => { const at = frameAt(event); if (at !== null) point(at); });
  drawing.addEventListener('pointerleave', () => point(flame.current));
  drawing.addEventListener('click', (event) => { const at = frameAt(event); if (at !== null) zoomTo(at, at); });
  drawing.addEventListener('keydown', onKey);
  drawing.addEventListener('focus', () => choose(flame.current));
  drawing.addEventListener('blur', () => unmark());
}

function unmark() {
  for (const group of document.querySelectorAll('#graph .current')) {
    group.classList.remove('current');
    group.setAttribute('aria-selected', 'false');
  }
}

/** Selects a visible frame. */
function choose(i) {
  flame.current = i;
  unmark();
  const group = document.getElementById(`frame-${i}`);
  group.classList.add('current');
  group.setAttribute('aria-selected', 'true');
  group.parentNode.setAttribute('aria-activedescendant', group.id);
  // Moved after the other frames, so that its outline is drawn above them.
  group.parentNode.querySelector('.texts').before(group);
  group.scrollIntoView({ block: 'nearest' });
  point(i);
}

function zoomTo(i, current) {
  flame.zoomed = i;
  flame.current = current;
  drawFlame();
  if (document.getElementById('graph').contains(document.activeElement)) choose(flame.current);
  remember();
}

function zoomBack() {
  const from = flame.zoomed, above = flame.frames[from].above;
  if (above !== null) zoomTo(above, from);
}

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const frame = flame.frames[flame.current];
  const drawn = (one) => one && flame.shownFrames.includes(one.i);
  const beside = frame.above === null ? [frame] : flame.frames[frame.above].below.filter(drawn);
  const go = {
    ArrowDown: () => frame.below.find(drawn),
    ArrowUp: () => (frame.above === null ? null : flame.frames[frame.above]),
    ArrowRight: () => beside[beside.indexOf(frame) + 1],
    ArrowLeft: () => beside[beside.indexOf(frame) - 1],
    Home: () => flame.frames[flame.zoomed],
  }[event.key];
  if (go) {
    const next = go();
    if (next) choose(next.i);
  } else if (event.key === 'Enter' || event.key === ' ') zoomTo(frame.i, frame.i);
  else if (event.key === 'Escape') zoomBack();
  else return;
  event.preventDefault();
}

/** Marks the frames whose names contain the words, and shows their total without double counting. */
function seek() {
  const words = flame.words.toLowerCase().trim();
  const sums = [0, 0];
  let found = 0;
  const look = (frame, inside) => {
    frame.found = words !== '' && frame.name.toLowerCase().includes(words);
    found += frame.found ? 1 : 0;
    if (frame.found && !inside) [0, 1].forEach((side) => { sums[side] += frame.all[side]; });
    for (const below of frame.below) look(below, inside || frame.found);
  };
  look(flame.frames[0], false);
  const { a, b, difference } = perJob(sums);
  const { data } = flame;
  const text = `${found} frame${found === 1 ? '' : 's'}: ${instructions(a)} of ${data.a} and ${instructions(b)} of ${data.b}, ${withSign(difference)}, frames below included, each instruction counted once`;
  document.getElementById('sought').textContent = words ? shown(text) : '';
}

/** Handles the controls of the graph. */
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

/** Shows another graph, initially as wide as the configuration with more instructions. */
function openFlame(opened) {
  const { a, b, jobs } = opened;
  flame.data = opened;
  flame.frames = framesOf(opened);
  flame.zoomed = flame.current = 0;
  const [first, second] = [0, 1].map((side) => flame.frames[0].all[side] / jobs[side]);
  flame.width = second > first ? 1 : 0;
  document.querySelectorAll('#width option').forEach((option, side) => { option.textContent = shown([a, b][side]); });
  for (const name of document.querySelectorAll('#drawn .first')) name.textContent = shown(a);
}
