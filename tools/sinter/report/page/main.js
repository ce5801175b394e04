const order = ['graph', 'decisions', 'memory', 'roofline', 'stages'];
let program = programs[0];
let waiting = new Set(order);

/// Shows a view, and fills it when it is shown first.
function showTab(name) {
  for (const other of order) {
    $(other).hidden = other !== name;
    const tab = $('tab-' + other);
    tab.setAttribute('aria-selected', String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
  }
  history.replaceState(null, '', '#view-' + name);
  return waiting.delete(name) ? views[name].show(program) : null;
}

function showHead() {
  document.title = 'sinter report: ' + report.model;
  $('title').textContent = report.model;
  const parts = [`entry ${program.entry}`, `for ${program.target}`,
    `numerics ${program.numerics}`];
  if (program.dims.length)
    parts.push(program.dims.join(', '));
  parts.push(`sinter ${report.sinter}`);
  $('subtitle').textContent = parts.join('; ');
  $('subtitle').title = `${program.variant}\ncompiler ${program.compiler}`;
  $('problem').hidden = program.problem === null;
  $('problem').textContent = program.problem === null ? ''
    : `For these dims nothing is known of memory and work: ${program.problem}. ` +
      '--dim sN=VALUE gives others.';
  const {totals} = program;
  const tiles = [['Kernels', whole(totals.kernels)],
    ['Launches', whole(totals.launched ?? totals.launches)]];
  if (program.problem === null)
    tiles.push(['Read', bytes(totals.bytes_read)],
      ['Written', bytes(totals.bytes_written)],
      ['Operations', flops(totals.flops)],
      ['Peak memory', bytes(totals.peak_bytes)]);
  tiles.push(['Saved by fusion', bytes(totals.saved_bytes)]);
  if (program.measured)
    tiles.push(['A run takes', duration(program.measured.least_us)]);
  $('totals').replaceChildren(...tiles.map(([name, value]) =>
    html('div', {}, html('dt', {}, name), html('dd', {}, value))));
}

function showProgram(number) {
  program = programs[number];
  waiting = new Set(order);
  showHead();
  const open = order.find((name) => !$(name).hidden);
  return open ? showTab(open) : null;
}

function startTabs() {
  $('tabs').append(...order.map((name) => html('button', {type: 'button',
    role: 'tab', id: 'tab-' + name, 'aria-controls': name,
    onclick: () => showTab(name)}, views[name].title)));
  $('tabs').addEventListener('keydown', (event) => {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    const at = order.findIndex((name) => !$(name).hidden);
    if (!by)
      return;
    const next = order[(at + by + order.length) % order.length];
    showTab(next);
    $('tab-' + next).focus();
  });
}

function startTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chosen = new URLSearchParams(location.search).get('theme');
  const apply = () => {
    const theme = chosen || (dark.matches ? 'dark' : 'light');
    document.documentElement.dataset.theme = theme;
    $('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
  };
  dark.addEventListener('change', apply);
  $('theme').onclick = () => {
    chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    apply();
  };
  apply();
}

async function start() {
  startTheme();
  startTabs();
  for (const view of Object.values(views))
    if (view.start)
      view.start();
  $('chooser').hidden = programs.length < 2;
  $('program').append(...programs.map((each, number) => html('option',
    {value: number}, `${each.entry} on ${each.target}, ` +
      `${whole(each.totals.launches)} launches`)));
  $('program').onchange = () => showProgram(Number($('program').value));
  showHead();
  // No element has such a name: the page stays where it is.
  const asked = location.hash.replace('#view-', '');
  await showTab(order.includes(asked) ? asked : order[0]);
  const query = new URLSearchParams(location.search);
  if (query.has('step'))
    views.graph.chooseStep(Number(query.get('step')));
  document.documentElement.dataset.ready = 'yes';
}
start();
