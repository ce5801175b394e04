/// A chart's drawing area: fills its place, is drawn again where that changes.
function chart(place, program, height, draw) {
  const frame = html('div', {class: 'drawn'});
  place.append(html('div', {class: 'chart'}, frame,
    html('div', {class: 'legend'}, ...legendOf(program))));
  const again = () => {
    const width = Math.max(280, frame.clientWidth || 800);
    if (width === frame.drawn)
      return;
    frame.drawn = width;
    const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, height});
    draw(picture, width, height);
    frame.replaceChildren(picture);
  };
  again();
  new ResizeObserver(again).observe(frame);
}

const text = (x, y, content, anchor = 'start') =>
  svg('text', {x, y, 'text-anchor': anchor}, content);
const line = (name, x1, y1, x2, y2) =>
  svg('line', {class: name, x1, y1, x2, y2});

/// A table of rows; a column is [title, cell(row), number(row) to sort by, the
/// pixels that it needs].
function table(place, rows, columns) {
  const body = html('tbody', {});
  let sorted = null, isDown = true;
  const fill = () => body.replaceChildren(...rows.map((row) => html('tr', {},
    ...columns.map(([, cell, key, width]) => {
      const content = cell(row);
      return html('td', {class: key && 'number',
        style: width && `min-width: ${width}px`},
        content instanceof Node ? content : String(content));
    }))));
  const sortBy = (column) => {
    isDown = sorted === column ? !isDown : true;
    sorted = column;
    const value = (row) => column[2](row) ?? -1;
    rows.sort((a, b) => isDown ? value(b) - value(a) : value(a) - value(b));
    fill();
  };
  fill();
  place.append(html('table', {}, html('thead', {}, html('tr', {},
    ...columns.map((column) => html('th', {class: column[2] && 'number'},
      column[2] ? html('button', {type: 'button', title: 'Sort',
        onclick: () => sortBy(column)}, column[0]) : column[0])))), body));
}

const stepLink = (step, label) => html('button', {type: 'button', class: 'link',
  onclick: () => views.graph.chooseStep(step.number)}, label);

//===- Memory -------------------------------------------------------------===//

views.memory = {
  title: 'Memory',
  show(program) {
    const place = $('memory');
    place.replaceChildren();
    if (!program.memory) {
      place.append(html('p', {class: 'problem'},
        `What a run takes is not known: ${program.problem}`));
      return;
    }
    const {totals, memory} = program;
    place.append(html('p', {}, `At its peak ${bytes(totals.peak_bytes)}: ` +
      `${bytes(totals.input_bytes)} of inputs and weights, ` +
      `${bytes(totals.output_bytes)} of outputs, ` +
      `${bytes(totals.arena_bytes)} of temporaries.`));
    const temps = program.buffers.filter((buffer) =>
      buffer.role === 'temporary' && buffer.bytes > 0);
    if (temps.length) {
      place.append(html('h2', {}, 'Temporaries: where each lies, from step to ' +
        'step'), html('p', {class: 'quiet'}, 'A block is one value; the line is ' +
        'the sum of those that are needed. Colours say what kind of kernel ' +
        'writes it first.'));
      chart(place, program, 380, (picture, width, height) =>
        this.draw(program, temps, picture, width, height));
    }
    place.append(html('h2', {}, 'In memory at step ' + memory.peak_step));
    const scroll = html('div', {class: 'scroll short'});
    place.append(scroll);
    table(scroll, memory.at_peak.slice(), [
      ['Value', (use) => this.nameOf(program, use), null, 150],
      ['Bytes', (use) => whole(use.bytes), (use) => use.bytes],
      ['Line', (use) => use.node === null ? '' : program.siteOf(use.node),
        null, 150],
    ]);
  },
  nameOf(program, use) {
    if (use.role === 'temporary')
      return `temporary t${use.index}`;
    const ports = use.role === 'input' ? program.inputs : program.outputs;
    return `${use.role} '${ports[use.index].name}'`;
  },
  draw(program, temps, picture, width, height) {
    const left = 64, right = 12, top = 12, bottom = 34;
    const steps = program.steps.length;
    const most = largest(program.memory.live, program.totals.arena_bytes || 1);
    const x = (step) => left + (width - left - right) * step / steps;
    const y = (value) => height - bottom - (height - top - bottom) * value / most;
    for (let part = 0; part <= 4; ++part) {
      const value = most * part / 4;
      picture.append(line('rule', left, y(value), width - right, y(value)),
        text(left - 6, y(value) + 4, bytes(value), 'end'));
    }
    const marks = Math.min(steps, Math.max(2, Math.floor(width / 110)));
    for (let part = 0; part <= marks; ++part) {
      const step = Math.round(steps * part / marks);
      picture.append(text(x(step), height - 16, step,
        part === marks ? 'end' : 'middle'));
    }
    picture.append(text((left + width) / 2, height - 3, 'step', 'middle'));
    for (const buffer of temps)
      if (buffer.offset !== undefined)
        picture.append(this.slot(program, buffer, x, y, temps.length <= 300));
    let path = '';
    program.memory.live.forEach((value, step) => {
      path += `${path ? 'L' : 'M'}${x(step)},${y(value)}H${x(step + 1)}`;
    });
    picture.append(svg('path', {class: 'live', d: path}));
  },
  slot(program, buffer, x, y, isReached) {
    const first = program.steps[buffer.first];
    const slot = svg('rect', {class: 'slot', x: x(buffer.first),
      width: Math.max(1, x(buffer.last + 1) - x(buffer.first)),
      y: y(buffer.offset + buffer.bytes),
      height: Math.max(0.5, y(buffer.offset) - y(buffer.offset + buffer.bytes)),
      fill: program.colour(first), tabindex: isReached ? 0 : null,
      onclick: () => views.graph.chooseStep(buffer.first)});
    tip(slot, () => `${buffer.name}: ${bytes(buffer.bytes)}, steps ` +
      `${buffer.first} to ${buffer.last}\n${first.label}\n` +
      program.sitesOf(first.nodes).slice(-1).join(''));
    return slot;
  },
};

//===- Roofline -----------------------------------------------------------===//

/// Of positive values: powers of ten around them.
function decades(values) {
  const positive = values.filter((value) => value > 0);
  const least = positive.reduce((a, b) => Math.min(a, b), 1e12);
  const first = Math.floor(Math.log10(least));
  const last = Math.ceil(Math.log10(largest(positive, 1)) + 1e-9);
  return [first, Math.max(last, first + 1)];
}

/// `100 kB`: a power of ten.
function tick(power, unit) {
  const level = Math.max(0, Math.floor(power / 3));
  const value = power < 0 ? `${10 ** power}` : `${10 ** (power - 3 * level)}`;
  return `${power < 0 ? value.slice(0, 6) : value} ` +
    `${['', 'k', 'M', 'G', 'T', 'P'][level] ?? ''}${unit}`;
}

views.roofline = {
  title: 'Roofline',
  show(program) {
    const place = $('roofline');
    place.replaceChildren();
    if (program.problem) {
      place.append(html('p', {class: 'problem'},
        `Bytes and operations are not known: ${program.problem}`));
      return;
    }
    const groups = this.group(program);
    const measured = program.measured;
    if (measured)
      place.append(html('p', {}, `On ${measured.device}: ` +
        `${duration(measured.least_us)} a run at least, of ` +
        `${measured.runs}. Ceilings: ` +
        `${scaled(measured.bytes_per_s, 'B/s')}, ` +
        `${scaled(measured.flops_per_s, 'FLOP/s')}, ${measured.from}.`));
    else
      place.append(html('p', {class: 'quiet'}, 'Not measured: with --run the ' +
        'page has times, and the ceilings of the machine. Operations over bytes ' +
        'say what may limit a kernel: few operations a byte, its memory.'));
    if (groups.length)
      chart(place, program, 420, (picture, width, height) => measured
        ? this.drawRoof(program, groups, picture, width, height)
        : this.drawWork(program, groups, picture, width, height));
    place.append(html('h2', {}, 'Kernels'));
    const scroll = html('div', {class: 'scroll short'});
    place.append(scroll);
    table(scroll, groups, this.columns(program));
  },
  /// Equal launches together.
  group(program) {
    const groups = new Map();
    for (const step of program.steps) {
      if (step.kind !== 'launch')
        continue;
      const key = [step.kernel, step.moved, step.flops].join();
      const group = groups.get(key) || {step, launches: 0,
        kernel: program.kernels[step.kernel], moved: step.moved,
        flops: step.flops, us: step.us};
      group.launches += Math.max(1, step.times);
      groups.set(key, group);
    }
    return [...groups.values()].sort((a, b) =>
      (b.us || 0) * b.launches - (a.us || 0) * a.launches ||
      b.moved * b.launches - a.moved * a.launches);
  },
  columns(program) {
    const columns = [
      ['Kernel', (row) => stepLink(row.step, short(row.step.label, 60)), null,
        170],
      ['Kind', (row) => row.kernel.kind, null, 90],
      ['Launches', (row) => whole(row.launches), (row) => row.launches],
      ['Bytes', (row) => bytes(row.moved), (row) => row.moved],
      ['Operations', (row) => flops(row.flops), (row) => row.flops],
      ['A byte', (row) => (row.flops / Math.max(1, row.moved)).toPrecision(3),
        (row) => row.flops / Math.max(1, row.moved)],
    ];
    if (program.measured)
      columns.push(['Least µs', (row) => row.us === undefined ? '' :
        row.us.toFixed(1), (row) => row.us],
      ['Of its bound', (row) => row.us === undefined ? '' :
        `${(100 * this.bound(program, row) / row.us).toFixed(0)} %`,
      (row) => row.us === undefined ? -1 : this.bound(program, row) / row.us]);
    return columns;
  },
  /// Microseconds that a launch takes at least.
  bound: ({measured}, row) => 1e6 * Math.max(
    row.moved / measured.bytes_per_s, row.flops / measured.flops_per_s),
  /// Axes in powers of ten; gives the two scales.
  axes(picture, width, height, [x0, x1], [y0, y1], names, units) {
    const left = 84, right = 14, top = 14, bottom = 52;
    const x = (value) => left + (width - left - right) *
      (Math.log10(value) - x0) / (x1 - x0);
    const y = (value) => height - bottom - (height - top - bottom) *
      (Math.log10(value) - y0) / (y1 - y0);
    const every = Math.ceil((x1 - x0) * 62 / (width - left - right));
    for (let power = x0; power <= x1; ++power) {
      const value = 10 ** power;
      picture.append(line('rule', x(value), top, x(value), height - bottom));
      if ((power - x0) % every === 0)
        picture.append(text(x(value), height - bottom + 16,
          tick(power, units[0]), power === x1 ? 'end' : 'middle'));
    }
    for (let power = y0; power <= y1; ++power)
      picture.append(line('rule', left, y(10 ** power), width - right,
        y(10 ** power)), text(left - 6, y(10 ** power) + 4,
        tick(power, units[1]), 'end'));
    picture.append(text(width - right, height - 6, names, 'end'));
    return {x, y, left, right, top, floor: height - bottom};
  },
  point(program, group, x, y) {
    const point = svg('circle', {class: 'point', cx: x, cy: y, tabindex: 0,
      r: Math.min(14, 4 + Math.sqrt(group.launches)),
      fill: program.colour(group.step),
      onclick: () => views.graph.chooseStep(group.step.number),
      onkeydown: (event) => event.key === 'Enter' &&
        views.graph.chooseStep(group.step.number)});
    const say = () => `${group.kernel.name}\n${short(group.step.label, 120)}\n` +
      `${group.launches} launches, ${bytes(group.moved)}, ` +
      `${flops(group.flops)}` + (group.us === undefined ? ''
        : `, ${duration(group.us)}: ` +
          scaled(group.flops / group.us * 1e6, 'FLOP/s'));
    point.setAttribute('aria-label', say());
    tip(point, say);
    return point;
  },
  // Measured: operations a second over operations a byte, under the roof.
  drawRoof(program, groups, picture, width, height) {
    const {bytes_per_s: memory, flops_per_s: most} = program.measured;
    const shown = groups.filter((group) =>
      group.us > 0 && group.flops > 0 && group.moved > 0);
    const at = (group) => group.flops / group.moved;
    const rate = (group) => group.flops / group.us * 1e6;
    const ridge = most / memory;
    const {x, y} = this.axes(picture, width, height,
      decades([...shown.map(at), ridge, ridge * 9, ridge / 99]),
      decades([...shown.map(rate), most * 1.5]),
      'operations a byte; up: operations a second', ['', 'FLOP/s']);
    const [x0, x1] = decades([...shown.map(at), ridge, ridge * 9, ridge / 99]);
    const from = 10 ** x0, to = 10 ** x1;
    const [y0] = decades([...shown.map(rate), most * 1.5]);
    const start = Math.max(from, 10 ** y0 / memory);
    picture.append(svg('path', {class: 'roof', d: `M${x(start)},` +
      `${y(start * memory)}L${x(ridge)},${y(most)}L${x(to)},${y(most)}`}),
      text(x(Math.sqrt(ridge * to)), y(most) - 6, scaled(most, 'FLOP/s'),
        'middle'),
      text(x(ridge) - 40, y(most) - 6, scaled(memory, 'B/s'), 'end'));
    for (const group of [...shown].reverse())
      picture.append(this.point(program, group, x(at(group)), y(rate(group))));
  },
  // Not measured: operations over bytes, and lines of equal ratios.
  drawWork(program, groups, picture, width, height) {
    const moved = groups.map((group) => Math.max(1, group.moved));
    const work = groups.map((group) => group.flops);
    const xs = decades(moved), ys = decades(work);
    --ys[0]; // the floor is for those that compute nothing
    const {x, y, left, right, top, floor} = this.axes(picture, width, height,
      xs, ys, 'bytes; up: operations, at the floor if none',
      ['B', 'FLOP']);
    for (const ratio of [0.1, 1, 10, 100]) {
      const from = Math.max(10 ** xs[0], 10 ** ys[0] / ratio);
      const to = Math.min(10 ** xs[1], 10 ** ys[1] / ratio);
      if (from >= to)
        continue;
      picture.append(line('axis', x(from), y(from * ratio), x(to),
        y(to * ratio)), text(x(from) + 4, y(from * ratio) - 8,
        `${ratio} a byte`));
    }
    groups.forEach((group) => picture.append(this.point(program, group,
      x(Math.max(1, group.moved)), group.flops > 0 ? y(group.flops) : floor)));
  },
};
