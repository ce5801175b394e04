views.decisions = {
  title: 'Decisions',
  show(program) {
    this.program = program;
    const rules = [...new Set(program.decisions.map(({rule}) => rule))].sort();
    $('rule').replaceChildren(html('option', {value: ''}, 'all'),
      ...rules.map((rule) => html('option', {value: rule}, rule)));
    this.most = 500;
    this.fill();
  },
  start() {
    for (const id of ['filter', 'rule', 'taken'])
      $(id).addEventListener('input', () => {
        this.most = 500;
        this.fill();
      });
    $('rest').onclick = () => {
      this.most = Infinity;
      this.fill();
    };
  },
  matching() {
    const wanted = $('filter').value.trim().toLowerCase();
    const rule = $('rule').value, taken = $('taken').value;
    return this.program.decisions.filter((decision) =>
      (!rule || decision.rule === rule) &&
      (!taken || decision.accepted === (taken === 'yes')) &&
      (!wanted || [decision.rule, decision.detail, ...decision.sites]
        .join('\n').toLowerCase().includes(wanted)));
  },
  fill() {
    const all = this.matching();
    const sum = all.reduce((bytes, decision) => bytes + decision.bytes, 0);
    $('counted').textContent =
      `${all.length} of ${this.program.decisions.length}, ${bytes(sum)}`;
    const place = $('decision-table');
    const holder = html('div', {});
    table(holder, all.slice(0, this.most), [
      ['', (decision) => html('span', {class: decision.accepted ? 'yes' : 'no'},
        decision.accepted ? 'fused' : 'not fused')],
      ['Rule', (decision) => decision.rule, null, 100],
      ['Bytes', (decision) => bytes(decision.bytes),
        (decision) => decision.bytes],
      ['About µs', (decision) => decision.est_us.toFixed(1),
        (decision) => decision.est_us],
      ['Reason', (decision) => decision.detail, null, 180],
      ['Steps', (decision) => this.steps(decision), null, 60],
      ['Lines', (decision) => html('div', {class: 'sites'},
        ...decision.sites.map((site) => html('div', {}, site))), null, 200],
    ]);
    place.replaceChildren(...holder.firstChild.childNodes);
    $('rest').hidden = all.length <= this.most;
    $('rest').textContent = `List the other ${all.length - this.most}`;
  },
  steps(decision) {
    const steps = new Set();
    for (const node of decision.nodes)
      for (const step of this.program.stepsOfNode.get(node) || [])
        steps.add(step);
    const shown = [...steps].sort((a, b) => a - b).slice(0, 8);
    return html('span', {}, ...shown.flatMap((number, at) => [at ? ' ' : '',
      stepLink(this.program.steps[number], String(number))]),
    steps.size > 8 ? ' …' : '');
  },
};
