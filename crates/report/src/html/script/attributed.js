// Where differences come from: the answers of assize why, and the flame graph of one of them.

/** The answer whose graph is drawn, and how wide it was drawn. */
const graph = { at: null, width: 0 };

/** Shows the graph of an answer, and leads there. */
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

/** The answers about a configuration on a workload; about two of them if `other` is one. */
function answersAbout(w, c, other = null) {
  const about = (answer) => answer.w === w && answer.c.includes(c) && (other === null || answer.c.includes(other));
  return data.why.map((_, at) => at).filter((at) => about(data.why[at]));
}

/** Of a run: buttons to the answers about its configuration. */
function whyButtons(i) {
  const { c, w } = data.runs;
  return answersAbout(w[i], c[i]).map((at) => {
    const [other] = data.why[at].c.filter((one) => one !== c[i]);
    return flameButton(at, other === undefined ? 'Flame graph of this run' : `Flame graph against ${configuration(other)}`);
  });
}

/** Of a comparison: buttons to its answers. */
const whyOf = (row) => answersAbout(row.w, row.c, row.b).map((at) => flameButton(at, 'Flame graph'));

/** How to find out where the first of these comparisons comes from that has no answer. */
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
