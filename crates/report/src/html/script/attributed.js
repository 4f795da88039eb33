// Attribution of differences: the results of assize why, and the flame graph of one of them.

/** The result whose graph is drawn, and the width at which it was drawn. */
const graph = { at: null, width: 0 };

/** Shows the graph of a result, and scrolls there. */
function showFlame(at) {
  state.why = at;
  remember();
  drawWhy();
  document.querySelectorAll('details.attributed')[at].open = true;
  const title = document.getElementById('flame-title');
  title.scrollIntoView();
  title.focus({ preventScroll: true });
}

function flameButton(at, text) {
  const { c, w } = data.why[at];
  const button = html('button', { type: 'button', class: 'to-why', 'data-why': at, 'aria-label': `${text}: ${configuration(c[0])} against ${configuration(c[1])} on ${data.workloads[w]}` }, text);
  button.addEventListener('click', () => showFlame(at));
  return button;
}

/** Indices of the results on a configuration and a workload; with `other`, on both configurations. */
function answersAbout(w, c, other = null) {
  const about = (answer) => answer.w === w && answer.c.includes(c) && (other === null || answer.c.includes(other));
  return data.why.map((_, at) => at).filter((at) => about(data.why[at]));
}

/** Buttons from a run to the results on its configuration. */
function whyButtons(i) {
  const { c, w } = data.runs;
  return answersAbout(w[i], c[i]).map((at) => {
    const [other] = data.why[at].c.filter((one) => one !== c[i]);
    return flameButton(at, other === undefined ? 'Flame graph of this run' : `Flame graph against ${configuration(other)}`);
  });
}

/** Buttons from a comparison to its results. */
const whyOf = (row) => answersAbout(row.w, row.c, row.b).map((at) => flameButton(at, 'Flame graph'));

/** The command that would explain the first of these comparisons without a result. */
function askWhy(rows) {
  const row = rows.find((one) => !answersAbout(one.w, one.c, one.b).length);
  if (!data.shell || !row) return [];
  const { source, configurations, workloads } = data.shell;
  const command = `assize why ${source} ${configurations[row.b]} ${configurations[row.c]} --workload ${workloads[row.w]} --keep`;
  return [html('p', { class: 'quiet' }, `To see which functions make the difference to ${configuration(row.c)}, run `, html('code', {}, command))];
}

function drawWhy() {
  const section = document.getElementById('flame');
  if (!section) return;
  const place = document.getElementById('graph');
  if (graph.at === state.why && graph.width === place.clientWidth) return;
  const answer = data.why[state.why];
  if (graph.at !== state.why) {
    openFlame(answer);
    document.getElementById('width').value = flame.width;
    seek();
  }
  document.getElementById('flame-title').textContent = shown(`Flame graph: ${answer.a} against ${answer.b} on ${data.workloads[answer.w]}`);
  document.getElementById('drawn').hidden = false;
  drawFlame();
  graph.at = state.why;
  graph.width = place.clientWidth;
}

function listenToWhy() {
  if (!document.getElementById('flame')) return;
  listenToTools();
  document.querySelectorAll('button.to-flame').forEach((button, at) => button.addEventListener('click', () => showFlame(at)));
}
