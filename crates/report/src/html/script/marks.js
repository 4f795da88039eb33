// Details of the value under the pointer, or selected by the keyboard.

const tip = document.getElementById('tip');

function showTip(text, box) {
  tip.textContent = shown(text);
  tip.hidden = false;
  const left = Math.min(box.left + box.width / 2 + 12, document.documentElement.clientWidth - tip.offsetWidth - 8);
  const below = box.top + box.height + 10;
  const fits = below + tip.offsetHeight < window.innerHeight;
  tip.style.left = `${Math.max(4, left) + window.scrollX}px`;
  tip.style.top = `${(fits ? below : Math.max(4, box.top - tip.offsetHeight - 10)) + window.scrollY}px`;
}

function hideTip() {
  tip.hidden = true;
}

/**
 * Makes the marks of a drawing interactive: the pointer near a mark, or the
 * arrow keys while the drawing has the focus, show its words; a click or Enter
 * chooses it. Each mark has element, x, y, words and optionally choose.
 */
function answering(drawing, marks, label) {
  if (!marks.length) return;
  const holder = html('div', { tabindex: '0', role: 'group', 'data-marks': marks.length, 'aria-label': `${label}. Arrow keys go from value to value${marks[0].choose ? ', Enter chooses' : ''}.` });
  drawing.replaceWith(holder);
  holder.append(drawing);
  let at = -1;
  const show = (next) => {
    if (at >= 0) marks[at].element.classList.remove('current');
    at = next;
    if (at < 0) return hideTip();
    marks[at].element.classList.add('current');
    showTip(marks[at].words(), marks[at].element.getBoundingClientRect());
  };
  const nearest = (event) => {
    const box = drawing.getBoundingClientRect();
    const factor = drawing.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * factor, y = (event.clientY - box.top) * factor;
    let best = -1, least = 24 ** 2;
    marks.forEach((mark, i) => {
      const distance = (mark.wide ? 0 : (mark.x - x) ** 2) + (mark.y - y) ** 2;
      if (distance < least) { least = distance; best = i; }
    });
    return best;
  };
  drawing.addEventListener('pointermove', (event) => { const next = nearest(event); if (next !== at) show(next); });
  drawing.addEventListener('pointerleave', () => show(-1));
  drawing.addEventListener('click', (event) => {
    const i = nearest(event);
    if (i >= 0 && marks[i].choose) marks[i].choose();
  });
  holder.addEventListener('blur', () => show(-1));
  holder.addEventListener('keydown', (event) => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.key in steps) {
      event.preventDefault();
      show((at + steps[event.key] + marks.length + (at < 0 && steps[event.key] < 0 ? 1 : 0)) % marks.length);
    } else if (event.key === 'Home' || event.key === 'End') {
      event.preventDefault();
      show(event.key === 'Home' ? 0 : marks.length - 1);
    } else if (event.key === 'Escape') {
      show(-1);
    } else if (event.key === 'Enter' && at >= 0 && marks[at].choose) {
      marks[at].choose();
    }
  });
}
