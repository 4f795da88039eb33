// Runs over time: a lane for each CPU and engine.

/** The timeline shown, and its visible span. */
const view = { at: 0, span: null };

const KINDS = { submitter: 1, worker: 2, thread: 3, job: 5, 'failed-job': 8, merged: 0 };
const KIND_WORDS = { submitter: 'submits jobs', worker: 'runs jobs of others', thread: 'another thread', job: 'a job', 'failed-job': 'a job that failed', merged: 'several, merged' };

/** The run of a timeline in words. */
function timelineOf(timeline) {
  const i = runAt(timeline.run);
  return i === undefined ? `run ${timeline.run}` : `run ${timeline.run}, ${configuration(data.runs.c[i])} on ${data.workloads[data.runs.w[i]]}`;
}

/** A button that shows the timeline of a run, if the page has one. */
function timelineButton(run) {
  const at = data.timelines.findIndex((timeline) => timeline.run === run);
  if (at < 0) return [];
  const button = html('button', { type: 'button', 'data-timeline': run }, 'Timeline of this run');
  button.addEventListener('click', () => {
    view.at = at;
    view.span = null;
    drawTimeline();
    const select = document.getElementById('timeline-run');
    select.value = at;
    document.getElementById('timeline').scrollIntoView();
    select.focus({ preventScroll: true });
  });
  return [button];
}

function drawTimeline() {
  const section = document.getElementById('timeline');
  if (!section) return;
  const timeline = data.timelines[view.at];
  if (!view.span) view.span = [timeline.start, timeline.end];
  timelineTools(section.querySelector('.tools'));
  const plot = section.querySelector('.plot');
  plot.replaceChildren();
  const lane = 26, height = timeline.lanes.length * lane + 34, bottom = timeline.lanes.length * lane + 6;
  const of = timelineOf(timeline);
  const shown = view.span.map((t) => onAxis(t - timeline.start, 'ns'));
  plot.append(html('h4', {}, `${of}: ${shown[0]} to ${shown[1]}`));
  const { drawing, width } = canvas(plot, height, `Timeline of ${of}`);
  const left = 76;
  const x = scaleOf(view.span.map((t) => t - timeline.start), [left, width - 8], false);
  axisX(drawing, x, 2, bottom, (tick) => onAxis(tick, 'ns'));
  const marks = timeline.lanes.flatMap((one, k) => {
    drawing.append(svg('text', { x: left - 6, y: k * lane + 19, 'text-anchor': 'end' }, shortened(one.name, left - 8)));
    const inside = one.from.map((_, i) => i).filter((i) => one.to[i] > view.span[0] && one.from[i] < view.span[1]);
    return inside.map((i) => laneSpan(drawing, one, i, x, k * lane + 4, lane, timeline));
  });
  answering(drawing, marks, `Timeline of ${of}`);
  timelineKey(plot, timeline);
  for (const sentence of timeline.thinned) plot.append(html('p', { class: 'note quiet' }, sentence));
  numbers(section.querySelector('.numbers'), ['lane', 'from', 'to', 'what'],
    timeline.lanes.flatMap((one) => one.from.map((from, i) => [one.name, onAxis(from - timeline.start, 'ns'), onAxis(one.to[i] - timeline.start, 'ns'), one.labels[one.label[i]]])),
    `Timeline of ${of}`);
}

function timelineKey(plot, timeline) {
  const kinds = [...new Set(timeline.lanes.flatMap((one) => one.kind))];
  const keys = kinds.map((kind) => html('span', { class: 'key' },
    svg('svg', { viewBox: '0 0 26 12', 'aria-hidden': 'true' }, svg('rect', { width: 26, height: 12, fill: colour(KINDS[kind]), 'fill-opacity': 0.5 })), KIND_WORDS[kind] || kind));
  plot.append(html('p', { class: 'tools' }, ...keys));
}

function laneSpan(drawing, one, i, x, y, lane, timeline) {
  const label = one.labels[one.label[i]];
  const from = Math.max(one.from[i], view.span[0]), to = Math.min(one.to[i], view.span[1]);
  const px = x(from - timeline.start), width = Math.max(0.8, x(to - timeline.start) - px);
  const element = svg('rect', { class: 'span', x: px, y, width, height: lane - 8, fill: colour(KINDS[one.kind[i]]), 'data-kind': one.kind[i] });
  drawing.append(element);
  if (width > label.length * 7 + 8) drawing.append(svg('text', { class: 'inside', x: px + 4, y: y + 13 }, label));
  const words = `${label}\n${onAxis(one.from[i] - timeline.start, 'ns')} to ${onAxis(one.to[i] - timeline.start, 'ns')} (${onAxis(one.to[i] - one.from[i], 'ns')})`;
  return { element, x: px + width / 2, y: y + lane / 2, words: () => words };
}

/** The controls: other run, zoom in and out, earlier, later. */
function timelineTools(tools) {
  if (tools.children.length) return;
  const move = (factor, shift) => {
    const { start, end } = data.timelines[view.at];
    const half = ((view.span[1] - view.span[0]) / 2) * factor;
    const middle = (view.span[0] + view.span[1]) / 2 + shift * (view.span[1] - view.span[0]);
    const from = Math.max(start, Math.min(middle - half, end - 2 * half));
    view.span = [from, Math.min(end, from + 2 * half)];
    drawTimeline();
  };
  const select = html('select', { id: 'timeline-run' }, ...data.timelines.map((timeline, i) => html('option', { value: i }, timelineOf(timeline))));
  select.addEventListener('change', () => {
    view.at = Number(select.value);
    view.span = null;
    drawTimeline();
  });
  tools.append(html('label', {}, 'Run ', select));
  for (const [text, factor, shift] of [['Closer', 0.5, 0], ['Farther', 2, 0], ['Earlier', 1, -0.5], ['Later', 1, 0.5]]) {
    const button = html('button', { type: 'button' }, text);
    button.addEventListener('click', () => move(factor, shift));
    tools.append(button);
  }
}
