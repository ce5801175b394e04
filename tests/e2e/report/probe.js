// Looks at a report as its reader would, and leaves what it saw where
// --dump-dom shows it.
async function probe() {
  while (document.documentElement.dataset.ready !== 'yes')
    await new Promise((done) => setTimeout(done, 10));
  const pause = () => new Promise((done) => setTimeout(done, 50));
  const seen = {wide: [], theme: document.documentElement.dataset.theme,
    width: innerWidth, back: getComputedStyle(document.body).backgroundColor,
    text: getComputedStyle(document.body).color};
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    tab.click();
    await pause();
    if (document.documentElement.scrollWidth > innerWidth)
      seen.wide.push(tab.id);
    seen[tab.id] = document.getElementById(
      tab.getAttribute('aria-controls')).innerText.length;
  }
  seen.totals = Object.fromEntries([...document.querySelectorAll('#totals div')]
    .map((tile) => [tile.children[0].textContent, tile.children[1].textContent]));
  seen.slots = document.querySelectorAll('.slot').length;
  seen.points = document.querySelectorAll('.point').length;

  seen.note = document.getElementById('stage-note').textContent;

  const type = async (id, words) => {
    const field = document.getElementById(id);
    field.value = words;
    field.dispatchEvent(new Event('input', {bubbles: true}));
    await pause();
  };
  await type('needle', 'sinter.');
  seen.matches = document.getElementById('matches').textContent;
  seen.marks = document.querySelectorAll('#lines mark').length;
  seen.counts = [...document.querySelectorAll('#stage-buttons button')]
    .map((button) => button.textContent);
  document.getElementById('next').click();
  seen.second = document.getElementById('matches').textContent;
  await type('needle', 'no such words');
  seen.none = document.getElementById('matches').textContent;

  document.getElementById('tab-decisions').click();
  seen.decisions = document.querySelectorAll('#decision-table tbody tr').length;
  await type('filter', 'no such words');
  seen.filtered = document.querySelectorAll('#decision-table tbody tr').length;

  document.getElementById('tab-graph').click();
  const boxes = [...document.querySelectorAll('.box[data-step]')];
  seen.boxes = boxes.length;
  boxes[0].dispatchEvent(new MouseEvent('click', {bubbles: true}));
  seen.details = document.getElementById('details').innerText;
  document.getElementById('drawing').dispatchEvent(
    new KeyboardEvent('keydown', {key: 'ArrowDown'}));
  seen.chosen = document.querySelector('.box.chosen').dataset.step;
  seen.links = document.querySelectorAll('.edge').length;
  document.getElementById('theme').click();
  seen.other = document.documentElement.dataset.theme;
  document.documentElement.dataset.seen = JSON.stringify(seen);
}
probe();
