// Tables in the page, and as text.

/** A scrollable table that can be copied. */
function numbers(place, heads, rows, label) {
  place.replaceChildren();
  const head = html('tr', {}, ...heads.map((text) => html('th', { scope: 'col' }, text)));
  const body = rows.map((row) => html('tr', {}, ...row.map((text, i) => (i === 0 ? html('th', { scope: 'row' }, String(text)) : html('td', {}, String(text))))));
  const table = html('table', { 'data-copy': true }, html('thead', {}, head), html('tbody', {}, ...body));
  const box = html('div', { class: 'scroll', role: 'group', tabindex: '0', 'aria-label': label }, table);
  place.append(box);
  copyable(table, box);
}

/** A button that copies the table or text before it. */
function copyable(what, place) {
  const button = html('button', { type: 'button', class: 'copy' }, 'Copy as text');
  button.addEventListener('click', async () => {
    const text = what.tagName === 'TABLE' ? asText(what) : what.textContent;
    const done = await copied(text);
    button.textContent = done ? 'Copied' : 'Could not copy';
    setTimeout(() => { button.textContent = 'Copy as text'; }, 1500);
  });
  place.after(button);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = html('textarea', { class: 'sr' });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

const WIDTH = 72;

/** The text of a cell on one line. */
function cellText(cell) {
  const copy = cell.cloneNode(true);
  copy.querySelectorAll('.sr, .primary, .tone, .metric-key').forEach((part) => part.remove());
  if (!copy.querySelector('.mark')) return copy.textContent.replace(/\s+/g, ' ').trim();
  copy.querySelectorAll('.word').forEach((part) => part.remove());
  return copy.textContent.replace(/\u2009–\u2009| to (?=-?\d)/g, '..').replace(/\s+/g, ' ').trim();
}

/** A table as aligned text, at most 72 columns wide if a single column fits. */
function asText(table) {
  const lines = [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].map(cellText));
  const columns = Math.max(...lines.map((line) => line.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...lines.map((line) => (line[i] || '').length)));
  const pad = (text, i) => (text || '').padEnd(widths[i]);
  const caption = table.caption ? `${table.caption.textContent.replace(/\s+/g, ' ').trim()}\n` : '';
  const chunks = [];
  let chunk = [], width = widths[0];
  for (let i = 1; i < columns; i++) {
    if (chunk.length && width + 2 + widths[i] > WIDTH) {
      chunks.push(chunk);
      chunk = [];
      width = widths[0];
    }
    chunk.push(i);
    width += 2 + widths[i];
  }
  chunks.push(chunk);
  const text = chunks.map((chunk) => lines.map((line) => [0, ...chunk].map((i) => pad(line[i], i)).join('  ').trimEnd()).join('\n'));
  return `${caption}${text.join('\n\n')}\n`;
}
