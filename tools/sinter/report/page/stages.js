/// The text of a stage: what the page holds is deflated.
async function textOf(stage) {
  if (stage.text === undefined) {
    const packed = Uint8Array.from(atob(stage.packed),
      (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream()
      .pipeThrough(new DecompressionStream('deflate-raw'));
    stage.text = await new Response(stream).text();
    stage.lines = stage.text.split('\n');
    stage.longest = stage.lines.reduce((most, {length}) =>
      Math.max(most, length), 0);
  }
  return stage.text;
}

/// IR, of which only the lines in sight are elements.
views.stages = {
  title: 'IR',
  height: 18,
  show(program) {
    this.program = program;
    this.needle = '';
    $('needle').value = '';
    $('stage-buttons').replaceChildren(...program.stages.map((stage) => {
      stage.button = html('button', {type: 'button', 'aria-pressed': 'false',
        onclick: () => this.open(stage)}, stage.name);
      return stage.button;
    }));
    const named = new URLSearchParams(location.search).get('stage');
    return this.open(program.stages.find(({name}) => name === named) ||
      program.stages.find(({name}) => name === 'fuse'));
  },
  start() {
    $('text').addEventListener('scroll', () => this.render());
    new ResizeObserver(() => this.render()).observe($('text'));
    $('needle').addEventListener('input', () => this.search());
    $('needle').addEventListener('keydown', (event) => {
      if (event.key === 'Enter')
        this.go(event.shiftKey ? -1 : 1);
    });
    $('next').onclick = () => this.go(1);
    $('previous').onclick = () => this.go(-1);
  },
  async open(stage) {
    this.stage = stage;
    for (const other of this.program.stages)
      other.button.setAttribute('aria-pressed', String(other === stage));
    $('stage-problem').hidden = stage.problem === undefined;
    $('text').hidden = stage.problem !== undefined;
    $('stage-problem').textContent = stage.problem || '';
    if (stage.problem === undefined) {
      await textOf(stage);
      if (this.stage !== stage)
        return;
      $('lines').style.height = `${stage.lines.length * this.height}px`;
      $('lines').style.width = `${stage.longest + 12}ch`;
      $('text').scrollTo(0, 0);
    }
    await this.search();
    await this.note();
  },
  // A file does not say for which processor it was asked: stages that are made
  // again may be for another.
  async note() {
    const {target, variant, stages} = this.program;
    const last = stages[stages.length - 1];
    const isOther = last.problem === undefined && !(await textOf(last))
      .split('\n')[0].endsWith(`, needs ${variant}`);
    $('stage-note').hidden = !isOther;
    $('stage-note').textContent = isOther ? 'These stages are for another ' +
      `variant of ${target} than the program; --target says which.` : '';
  },
  places(stage, needle) {
    const places = [];
    if (needle && stage.lines)
      stage.lines.forEach((line, number) => {
        const low = line.toLowerCase();
        for (let at = low.indexOf(needle); at >= 0;
          at = low.indexOf(needle, at + needle.length))
          places.push([number, at]);
      });
    return places;
  },
  // In all stages: each button says how often it is there.
  async search() {
    const needle = this.needle = $('needle').value.toLowerCase();
    for (const stage of this.program.stages) {
      let count = '';
      if (needle && stage.problem === undefined) {
        await textOf(stage);
        count = ` (${this.places(stage, needle).length})`;
      }
      if (this.needle !== needle)
        return;
      stage.button.textContent = stage.name + count;
    }
    this.found = this.stage.problem === undefined
      ? this.places(this.stage, needle) : [];
    this.at = -1;
    if (this.found.length)
      this.go(1);
    else
      this.render();
    this.say();
  },
  say() {
    const {stage, found, at} = this;
    $('matches').textContent = this.needle
      ? found.length ? `${at + 1} of ${whole(found.length)}` : 'not found'
      : stage.problem === undefined
        ? `${whole(stage.lines.length)} lines, ${bytes(stage.bytes)}` : '';
  },
  go(by) {
    if (!this.found.length)
      return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    const [line, column] = this.found[this.at];
    const view = $('text');
    view.scrollTop = (line + 0.5) * this.height - view.clientHeight / 2;
    // 7.3 pixels a letter is near enough to bring it into sight.
    const x = (column + 9) * 7.3;
    if (x < view.scrollLeft + 80 || x > view.scrollLeft + view.clientWidth - 80)
      view.scrollLeft = Math.max(0, x - view.clientWidth / 2);
    this.render();
    this.say();
  },
  render() {
    const {stage} = this;
    if (!stage || !stage.lines)
      return;
    const view = $('text');
    const first = Math.max(0, Math.floor(view.scrollTop / this.height) - 5);
    const last = Math.min(stage.lines.length,
      first + Math.ceil((view.clientHeight || 600) / this.height) + 10);
    const rows = [];
    for (let number = first; number < last; ++number)
      rows.push(html('div', {'data-number': number + 1,
        style: `top: ${number * this.height}px`},
      ...this.marked(stage.lines[number], number)));
    $('lines').replaceChildren(...rows);
  },
  marked(line, number) {
    if (!this.needle)
      return [line];
    const [hereLine, hereAt] = this.found && this.found[this.at] || [];
    const low = line.toLowerCase(), size = this.needle.length;
    const parts = [];
    let done = 0;
    for (let at = low.indexOf(this.needle); at >= 0;
      at = low.indexOf(this.needle, done)) {
      const isHere = number === hereLine && at === hereAt;
      parts.push(line.slice(done, at), html('mark', {class: isHere && 'here'},
        line.slice(at, at + size)));
      done = at + size;
    }
    return [...parts, line.slice(done)];
  },
};
