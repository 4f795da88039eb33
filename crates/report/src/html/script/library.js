// Shows the rows that contain all words of the search.
(() => {
  'use strict';
  const box = document.getElementById('search');
  const rows = [...document.querySelectorAll('tr[data-bundle]')];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const look = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
      found += row.hidden ? 0 : 1;
    });
    document.getElementById('found').textContent = `${found} of ${rows.length}`;
  };
  document.getElementById('searching').hidden = false;
  box.addEventListener('input', look);
  look();
})();
