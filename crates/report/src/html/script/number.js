// Formats numbers for readers, like crates/report/src/number.rs.

function significant(value, digits) {
  if (value === 0) return '0';
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  if (magnitude < -4 || magnitude >= 15) return value.toExponential(digits - 1).replace('e+', 'e');
  const decimals = Math.max(0, digits - 1 - magnitude);
  const text = value.toFixed(decimals);
  const shown = text.replace('-', '').replace('.', '').replace(/^0+/, '');
  return decimals > 0 && shown.length > digits ? value.toFixed(decimals - 1) : text;
}

function ratio(value) {
  return value >= 0.1 && value < 10 ? value.toFixed(3) : significant(value, 3);
}

function signed(value) {
  return (value > 0 ? '+' : '') + significant(value, 3);
}

function withUnit(value, unit) {
  return `${significant(value, 4)} ${unit}`.trim();
}

function pValue(p) {
  return p < 0.0005 ? '<0.001' : p.toFixed(3);
}

/** A difference with its unit. A difference of percentages is in points, as it is not relative. */
function withPoints(value, unit) {
  return `${signed(value)} ${unit === '%' ? 'points' : unit}`.trim();
}

/** The ratio or difference of a row. */
function shownValue(row) {
  if (row.disagree) return 'disagree';
  if (row.ratio !== null) return ratio(row.ratio);
  return row.difference === null ? '–' : withPoints(row.difference, unitOf(row.m));
}

/** The interval of a row; empty if there is none. */
function shownInterval(row) {
  if (row.low === null || row.disagree) return '';
  if (row.ratio === null) return `${significant(row.low, 2)} to ${significant(row.high, 2)}`;
  return `${ratio(row.low)}\u2009–\u2009${ratio(row.high)}`;
}

/** A row in words. */
function inWords(row) {
  const parts = [`${configuration(row.c)} to ${configuration(row.b)}: ${shownValue(row)}`];
  if (shownInterval(row)) parts.push(`interval ${shownInterval(row)}`);
  parts.push(row.verdict + (row.p === null ? '' : `, p ${pValue(row.p)} corrected`));
  if (row.n !== null) parts.push(`n ${row.n} against ${row.nBaseline === null ? '?' : row.nBaseline}`);
  if (row.needed !== null) parts.push(needed(row));
  if (row.because) parts.push(row.because);
  return parts.join('\n');
}

/** The number of runs that would suffice, and for what. */
function needed(row) {
  const runs = `${row.needed} runs of each`;
  if (row.verdict === 'supported') return `${runs} could establish it`;
  return `${runs} would likely tell whether they differ by ${brief(data.margin * 100)} %`;
}

const SCALES = { ns: [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]], us: [['s', 1e6], ['ms', 1e3], ['µs', 1]] };

/** A value on an axis, in a unit that suits its size. */
function onAxis(value, unit) {
  const scales = SCALES[unit];
  if (!scales || value === 0) return brief(value);
  const [name, size] = scales.find(([, size]) => Math.abs(value) >= size * 0.9999) || scales[scales.length - 1];
  return `${brief(value / size)} ${name}`;
}

function brief(value) {
  if (value === 0) return '0';
  const magnitude = Math.abs(value);
  if (magnitude >= 1e6 || magnitude < 1e-3) {
    return value.toExponential(2).replace(/\.?0+e/, 'e').replace('e+', 'e');
  }
  return String(Number(value.toPrecision(4)));
}
