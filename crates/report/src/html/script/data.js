// The data of the page, and look-ups in them.

let data = null;
const state = { baseline: 0, metric: 0, workload: 0, latency: '', run: null, why: 0 };

const WORDS = { e: 'established', s: 'supported', q: 'equivalent', u: 'undecided' };
const MARKS = { established: '**', supported: '*', equivalent: '=', undecided: '?' };

/** The rows of one document as objects, indexed by workload, metric and configuration. */
function rowsOf(judged) {
  if (judged.rows) return judged.rows;
  judged.rows = judged.w.map((w, i) => ({
    w, m: judged.m[i], c: judged.c[i], b: judged.b[i],
    ratio: judged.ratio[i], difference: judged.difference[i], low: judged.low[i], high: judged.high[i],
    absolute: judged.absolute[i], mean: judged.mean[i], meanBaseline: judged.mean_baseline[i],
    n: judged.n[i], nBaseline: judged.n_baseline[i], p: judged.p[i], needed: judged.needed[i],
    verdict: WORDS[judged.verdict[i]], tone: judged.tone[i], disagree: judged.opposite.includes(i), because: judged.because[i] || '',
  }));
  judged.found = new Map(judged.rows.map((row) => [`${row.w} ${row.m} ${row.c}`, row]));
  return judged.rows;
}

/** The mark next to a figure; `!` if machines contradict each other, so that no figure is valid for all. */
const markOf = (row) => (row.disagree ? '!' : MARKS[row.verdict]);

/** The document judged against the chosen baseline. */
function current() {
  const judged = data.judged[state.baseline];
  rowsOf(judged);
  return judged;
}

/** The direction in which a metric moves. */
function way(row) {
  const sign = row.ratio !== null ? row.ratio - 1 : row.difference || 0;
  return sign < 0 ? 'falls' : sign > 0 ? 'rises' : 'level';
}

/** The words for colours, so that colour is never the only distinction. */
const TONES = { good: 'better', bad: 'worse' };

/** The colour class of a change to less (or more) of a metric. */
function toneOf(metric, less) {
  const better = data.metrics[metric][3];
  if (better === null) return 'differs';
  return (better === 'lower') === less ? 'good' : 'bad';
}

const configuration = (c) => data.configurations[c].name;
const metricName = (m) => data.metrics[m][0];
const titleOf = (m) => data.metrics[m][2];
const unitOf = (m) => data.metrics[m][1];

/** Metrics that the chosen document compares, in document order. */
function metricsCompared() {
  return [...new Set(current().rows.map((row) => row.m))];
}

/** Indices of the runs of a workload that have a metric. */
function runsWith(metric, workload) {
  const values = data.runs.values[metric];
  return values.map((_, i) => i).filter((i) => values[i] !== null && data.runs.w[i] === workload);
}

/** The mean of a metric from the documents; no mean is computed here. */
function meanOf(workload, metric, c) {
  for (const judged of data.judged) {
    for (const row of rowsOf(judged)) {
      if (row.w !== workload || row.m !== metric) continue;
      if (row.c === c && row.mean !== null) return row.mean;
      if (row.b === c && row.meanBaseline !== null) return row.meanBaseline;
    }
  }
  return null;
}
