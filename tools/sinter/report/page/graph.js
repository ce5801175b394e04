/// The steps of a program in layers: each below all that it reads.
class Layout {
  constructor(program) {
    this.program = program;
    this.boxes = [];
    this.links = [];
    this.addBoxes();
    this.addLinks();
    this.setLayers();
    this.addBends();
    this.sortLayers();
    this.place();
  }
  addBoxes() {
    const add = (box) => this.boxes.push({above: [], below: [], layer: 0,
      width: 212, height: 46, ...box});
    for (const step of this.program.steps)
      add({step});
    this.ports = new Map();
    const drawn = this.program.drawnPorts();
    this.program.buffers.forEach((buffer, number) => {
      const port = this.program.portOf(buffer);
      if (!port || !drawn.has(port))
        return;
      this.ports.set(number, this.boxes.length);
      add({port, role: buffer.role, width: 170, height: 32});
    });
  }
  addLinks() {
    const known = new Set();
    const link = (from, to) => {
      const key = from * 1e6 + to;
      if (from === to || known.has(key))
        return;
      known.add(key);
      this.links.push({from, to});
      this.boxes[from].below.push(to);
      this.boxes[to].above.push(from);
    };
    for (const [from, to] of this.program.edges)
      link(from, to);
    const lastWriter = new Map();
    this.program.steps.forEach((step, number) => {
      for (const buffer of step.reads)
        if (this.ports.has(buffer) && !lastWriter.has(buffer) &&
            this.program.buffers[buffer].role === 'input')
          link(this.ports.get(buffer), number);
      for (const buffer of step.writes)
        lastWriter.set(buffer, number);
      if (step.in !== null)
        link(step.in, number);
    });
    for (const [buffer, box] of this.ports)
      if (lastWriter.has(buffer) &&
          this.program.buffers[buffer].role === 'output')
        link(lastWriter.get(buffer), box);
  }
  // Steps come after what they read, so their order is one of layers.
  setLayers() {
    const steps = this.program.steps.length;
    const inputs = this.boxes.map((box, number) => number)
      .filter((number) => this.boxes[number].role === 'input');
    const settle = (number) => {
      for (const above of this.boxes[number].above)
        this.boxes[number].layer = Math.max(this.boxes[number].layer,
          this.boxes[above].layer + 1);
    };
    for (let number = 0; number < steps; ++number)
      settle(number);
    this.boxes.forEach((box, number) => {
      if (box.role === 'output')
        settle(number);
    });
    for (const number of inputs) {
      const below = this.boxes[number].below;
      this.boxes[number].layer = below.length
        ? Math.min(...below.map((to) => this.boxes[to].layer)) - 1 : 0;
    }
    const lift = largest(this.boxes.map((box) => -box.layer), 0);
    for (const box of this.boxes)
      box.layer += lift;
  }
  // A link over several layers bends in each: all that begin at one box share
  // their way. Of programs so large that this takes long, links are straight.
  addBends() {
    const count = this.boxes.length, mostBoxes = 1e5;
    this.pieces = [];
    for (let from = 0; from < count; ++from) {
      const start = this.boxes[from];
      let way = [from];
      const targets = [...new Set(start.below)].sort((a, b) =>
        this.boxes[a].layer - this.boxes[b].layer);
      start.below = [];
      for (const to of targets) {
        const depth = this.boxes.length > mostBoxes ? 1
          : Math.max(1, this.boxes[to].layer - start.layer);
        while (way.length < depth) {
          const bend = {bend: true, above: [way[way.length - 1]], below: [],
            layer: start.layer + way.length, width: 4, height: 46, from};
          this.boxes[way[way.length - 1]].below.push(this.boxes.length);
          this.pieces.push({from: way[way.length - 1], to: this.boxes.length,
            ends: []});
          way.push(this.boxes.length);
          this.boxes.push(bend);
        }
        const last = way[depth - 1];
        this.boxes[last].below.push(to);
        this.boxes[to].above = this.boxes[to].above
          .map((above) => above === from ? last : above);
        this.pieces.push({from: last, to});
      }
    }
    this.layers = [];
    this.boxes.forEach((box, number) =>
      (this.layers[box.layer] = this.layers[box.layer] || []).push(number));
    this.layers = this.layers.filter(Boolean);
  }
  // Each near the mean of its neighbours, for a few rounds.
  sortLayers() {
    const rank = new Float64Array(this.boxes.length);
    const number = (layer) => layer.forEach((box, at) => {
      rank[box] = layer.length > 1 ? at / (layer.length - 1) : 0.5;
    });
    this.layers.forEach(number);
    const sort = (layer, side) => {
      const wanted = new Map(layer.map((box) => {
        const others = this.boxes[box][side];
        return [box, others.length
          ? others.reduce((sum, other) => sum + rank[other], 0) / others.length
          : rank[box]];
      }));
      layer.sort((a, b) => wanted.get(a) - wanted.get(b) || a - b);
      number(layer);
    };
    for (let round = 0; round < 4; ++round) {
      for (const layer of this.layers)
        sort(layer, 'above');
      for (const layer of [...this.layers].reverse())
        sort(layer, 'below');
    }
  }
  // A link that passes layers goes down one side of them: the one with fewer.
  chooseSides() {
    const passing = [];
    const ends = new Map();
    for (const {bend, from, layer} of this.boxes)
      if (bend)
        ends.set(from, layer);
    const starts = [...ends.keys()].sort((a, b) =>
      this.boxes[a].layer - this.boxes[b].layer || a - b);
    for (const from of starts) {
      const above = this.boxes[from].layer;
      const counts = [0, 0];
      for (const way of passing)
        if (way.end > above)
          ++counts[way.side];
      passing.push({from, end: ends.get(from),
        side: counts[0] < counts[1] ? 0 : 1});
    }
    this.ways = new Map(passing.map((way) => [way.from, way]));
  }
  // Boxes in the middle; links beside them, those outermost that go farthest.
  place() {
    const row = 84, gap = 22, lane = 9;
    this.chooseSides();
    this.bounds = {left: 0, right: 0, top: -40,
      bottom: this.layers.length * row};
    for (const layer of this.layers) {
      const boxes = layer.map((number) => this.boxes[number]);
      const middle = boxes.filter((box) => !box.bend);
      const width = middle.reduce((sum, box) => sum + box.width + gap, -gap);
      let x = -width / 2;
      for (const box of middle) {
        box.x = x + box.width / 2;
        x += box.width + gap;
      }
      const sides = [0, 1].map((side) => boxes
        .filter((box) => box.bend && this.ways.get(box.from).side === side)
        .sort((a, b) => this.ways.get(a.from).end - this.ways.get(b.from).end ||
          b.from - a.from));
      sides[0].forEach((box, at) => { box.x = -width / 2 - 16 - lane * at; });
      sides[1].forEach((box, at) => { box.x = width / 2 + 16 + lane * at; });
      for (const box of boxes)
        box.y = box.layer * row;
      this.bounds.left = Math.min(this.bounds.left,
        -width / 2 - 40 - lane * sides[0].length);
      this.bounds.right = Math.max(this.bounds.right,
        width / 2 + 40 + lane * sides[1].length);
    }
  }
}

/// The drawing of a layout, and its details.
views.graph = {
  title: 'Graph',
  show(program) {
    this.program = program;
    this.layout = program.layout = program.layout || new Layout(program);
    this.chosen = null;
    this.draw();
    this.legend();
    this.details(null);
    this.fit(true);
    $('find').value = $('found').textContent = '';
  },
  start() {
    const drawing = $('drawing');
    $('zoom-in').onclick = () => this.zoom(1.25);
    $('zoom-out').onclick = () => this.zoom(0.8);
    $('zoom-fit').onclick = () => this.fit(false);
    $('find').oninput = () => this.find($('find').value);
    $('find').onkeydown = (event) => {
      if (event.key === 'Enter')
        this.nextHit();
    };
    drawing.addEventListener('wheel', (event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey)
        this.zoom(Math.exp(-event.deltaY / 300), event);
      else
        this.pan(event.deltaX, event.deltaY);
    }, {passive: false});
    drawing.addEventListener('keydown', (event) => this.key(event));
    this.dragging(drawing);
    new ResizeObserver(() => this.layout && this.apply()).observe(drawing);
  },
  // One pointer pans, two zoom.
  dragging(drawing) {
    const pointers = new Map();
    const spread = () => {
      const [a, b] = [...pointers.values()];
      return Math.hypot(a.x - b.x, a.y - b.y);
    };
    drawing.addEventListener('pointerdown', (event) => {
      pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    });
    drawing.addEventListener('pointermove', (event) => {
      const old = pointers.get(event.pointerId);
      if (!old)
        return;
      const before = pointers.size === 2 ? spread() : 0;
      const now = {x: event.clientX, y: event.clientY};
      pointers.set(event.pointerId, now);
      if (before)
        this.zoom(spread() / before, event);
      else
        this.pan(old.x - now.x, old.y - now.y);
    });
    for (const name of ['pointerup', 'pointercancel', 'pointerleave'])
      drawing.addEventListener(name,
        (event) => pointers.delete(event.pointerId));
  },
  draw() {
    const {boxes, pieces} = this.layout;
    const edges = svg('g', {});
    this.edges = pieces.map(({from, to}) => {
      const a = boxes[from], b = boxes[to];
      const top = a.y + (a.bend ? 23 : a.height / 2);
      const bottom = b.y - (b.bend ? 23 : b.height / 2);
      const middle = (top + bottom) / 2;
      const down = a.bend ? `M${a.x},${a.y - 23}V${top}` : `M${a.x},${top}`;
      const edge = svg('path', {class: 'edge',
        d: `${down}C${a.x},${middle} ${b.x},${middle} ${b.x},${bottom}`});
      edges.append(edge);
      return edge;
    });
    this.shapes = [];
    const shapes = svg('g', {});
    const most = largest(this.program.steps.map(this.weight), 1);
    boxes.forEach((box, number) => {
      if (box.bend)
        return;
      const shape = box.step ? this.stepShape(box, most) : this.portShape(box);
      shape.addEventListener('click', () => this.choose(number, false));
      this.shapes[number] = shape;
      shapes.append(shape);
    });
    $('drawing').replaceChildren(edges, shapes);
  },
  weight: (step) => (step.us || step.moved || 0) * (step.times || 1),
  stepShape(box, most) {
    const {step, x, y, width, height} = box;
    const cost = step.us !== undefined ? duration(step.us)
      : step.moved !== null && step.moved !== undefined ? bytes(step.moved) : '';
    const times = step.in !== null && step.times > 1 ? ` ×${step.times}` : '';
    return svg('g', {class: 'box', 'data-step': step.number,
        transform: `translate(${x - width / 2},${y - height / 2})`},
      svg('rect', {class: 'frame', width, height, rx: 6}),
      svg('rect', {width: 6, height, rx: 3, fill: this.program.colour(step)}),
      svg('rect', {x: 6, y: height - 3, height: 3,
        width: (width - 6) * this.weight(step) / most,
        fill: this.program.colour(step)}),
      svg('text', {x: 14, y: 19}, cut(step.label, 26)),
      svg('text', {x: 14, y: 35, class: 'second'},
        cut(`${step.number}: ${this.program.kindOf(step)}${times}` +
          (cost && step.kind !== 'loop' ? `, ${cost}` : ''), 32)),
      svg('title', {}, step.label));
  },
  portShape({port, role, x, y, width, height}) {
    return svg('g', {class: 'box port',
        transform: `translate(${x - width / 2},${y - height / 2})`},
      svg('rect', {class: 'frame', width, height, rx: height / 2}),
      svg('text', {x: 14, y: 14}, short(port.name, 21)),
      svg('text', {x: 14, y: 26, class: 'second'},
        cut(`${role} ${port.type}`, 25)),
      svg('title', {}, `${role} ${port.name}: ${port.type}`));
  },
  legend() {
    $('legend').replaceChildren(...legendOf(this.program), html('span', {}, 'a bar below: its share of ' +
      (this.program.measured ? 'the time' : 'the bytes') +
      '; weights stand in the details, as do ports of which there are many'));
  },
  //===- Looking around ---------------------------------------------------===//
  size() {
    const {clientWidth, clientHeight} = $('drawing');
    return [clientWidth || 800, clientHeight || 500];
  },
  apply() {
    const [width, height] = this.size();
    const {x, y, scale} = this.view;
    $('drawing').setAttribute('viewBox',
      `${x} ${y} ${width / scale} ${height / scale}`);
  },
  // All of it; at first no smaller than can be read, from the top on.
  fit(isFirst) {
    const [width, height] = this.size();
    const {left, right, top, bottom} = this.layout.bounds;
    let scale = Math.min(1.2, width / (right - left), height / (bottom - top));
    const isCut = isFirst && scale < 0.55;
    if (isCut)
      scale = Math.min(0.8, Math.max(0.55, width / (right - left)));
    const middle = isCut ? 0 : (left + right) / 2;
    this.view = {scale, x: middle - width / scale / 2,
      y: isCut ? top : (top + bottom - height / scale) / 2};
    this.apply();
  },
  pan(dx, dy) {
    this.view.x += dx / this.view.scale;
    this.view.y += dy / this.view.scale;
    this.apply();
  },
  zoom(factor, event) {
    const [width, height] = this.size();
    const place = $('drawing').getBoundingClientRect();
    const px = event ? event.clientX - place.left : width / 2;
    const py = event ? event.clientY - place.top : height / 2;
    const old = this.view.scale;
    const scale = Math.min(4, Math.max(0.02, old * factor));
    this.view.x += px / old - px / scale;
    this.view.y += py / old - py / scale;
    this.view.scale = scale;
    this.apply();
  },
  key(event) {
    const steps = this.program.steps.length;
    const go = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
    if (go && steps)
      this.choose(this.chosen === null || this.chosen >= steps
        ? go > 0 ? 0 : steps - 1 : (this.chosen + go + steps) % steps, true);
    else if (event.key === '+' || event.key === '=')
      this.zoom(1.25);
    else if (event.key === '-')
      this.zoom(0.8);
    else if (event.key === '0')
      this.fit(false);
    else
      return;
    event.preventDefault();
  },
  //===- Finding and choosing ---------------------------------------------===//
  find(text) {
    const wanted = text.trim().toLowerCase();
    this.hits = [];
    this.layout.boxes.forEach((box, number) => {
      if (box.bend)
        return;
      const what = box.step ? [box.step.label,
        box.step.kind === 'launch'
          ? this.program.kernels[box.step.kernel].name : box.step.kind,
        ...this.program.sitesOf(box.step.nodes)].join('\n') : box.port.name;
      const isHit = wanted && what.toLowerCase().includes(wanted);
      this.shapes[number].classList.toggle('hit', Boolean(isHit));
      if (isHit)
        this.hits.push(number);
    });
    $('found').textContent = wanted ? `${this.hits.length} found` : '';
    this.hit = -1;
    if (this.hits.length)
      this.nextHit();
  },
  nextHit() {
    if (!this.hits || !this.hits.length)
      return;
    this.hit = (this.hit + 1) % this.hits.length;
    this.choose(this.hits[this.hit], true);
  },
  choose(number, isBroughtIn) {
    const {boxes, pieces} = this.layout;
    if (this.chosen !== null)
      this.shapes[this.chosen].classList.remove('chosen');
    this.chosen = number;
    this.shapes[number].classList.add('chosen');
    // Bends belong to the link that they are of.
    const start = (at) => boxes[at].bend ? boxes[at].from : at;
    const near = new Set();
    this.edges.forEach((edge, at) => {
      const {from, to} = pieces[at];
      const isOut = start(from) === number;
      const isIn = to === number;
      edge.classList.toggle('chosen', isOut || isIn);
      if (isIn)
        near.add(start(from));
      if (isOut && !boxes[to].bend)
        near.add(to);
    });
    this.shapes.forEach((shape, at) =>
      shape.classList.toggle('near', near.has(at)));
    if (isBroughtIn) {
      const [width, height] = this.size();
      const box = boxes[number];
      this.view.scale = Math.max(this.view.scale, 0.7);
      this.view.x = box.x - width / this.view.scale / 2;
      this.view.y = box.y - height / this.view.scale / 2;
      this.apply();
    }
    this.details(boxes[number]);
  },
  chooseStep(number) {
    showTab('graph');
    this.choose(number, true);
  },
  //===- Details ----------------------------------------------------------===//
  details(box) {
    const panel = $('details');
    panel.scrollTop = 0;
    if (!box)
      panel.replaceChildren(html('p', {class: 'quiet'},
        'Choose a box to see its ops, lines, buffers and IR. Drag to move; the ' +
        'wheel scrolls, with Ctrl it zooms.'), ...this.portLists());
    else if (box.port)
      panel.replaceChildren(html('h2', {}, box.port.name),
        html('p', {}, `${box.role}, ${box.port.type}, ${bytes(box.port.bytes)}`),
        html('p', {class: 'quiet'}, this.program.siteOf(box.port.node)));
    else
      panel.replaceChildren(...this.stepDetails(box.step));
  },
  portLists() {
    const list = (title, ports) => ports.length ? [html('h3', {},
      `${title} (${ports.length})`), html('ul', {}, ...ports.map((port) =>
      html('li', {}, `${port.name}: ${port.type}`)))] : [];
    const {inputs, outputs} = this.program;
    const kept = (port) => ['weight', 'constant'].includes(port.from);
    return [...list('Inputs', inputs.filter((port) => !kept(port))),
      ...list('Outputs', outputs),
      ...list('Weights and constants', inputs.filter(kept))];
  },
  stepDetails(step) {
    const program = this.program;
    const kernel = step.kind === 'launch' ? program.kernels[step.kernel] : null;
    const facts = [];
    if (kernel) {
      const equal = program.steps.filter((other) =>
        other.kernel === step.kernel).length;
      facts.push(`${kernel.kind}, ` + (equal > 1
        ? `one of ${equal} launches of it` : 'launched by this step alone'));
      if (kernel.tile)
        facts.push(`tile ${kernel.tile}`);
      for (const phase of kernel.phases)
        facts.push(`phase ${phase.symbol}: ${phase.chunks} chunks` +
          (phase.prepares ? ', prepares an input' : ''));
    }
    if (step.in !== null)
      facts.push(`in the loop of step ${step.in}` +
        (step.times !== undefined ? `, ${step.times} times` : ''));
    if (step.moved !== null)
      facts.push(`reads ${bytes(step.read)}, writes ${bytes(step.written)}`);
    if (step.flops)
      facts.push(`${flops(step.flops)}` + (step.moved
        ? `, ${(step.flops / step.moved).toPrecision(3)} a byte` : ''));
    if (step.us !== undefined)
      facts.push(`${duration(step.us)}: ` +
        `${scaled(step.moved / step.us * 1e6, 'B/s')}, ` +
        `${scaled(step.flops / step.us * 1e6, 'FLOP/s')}`);
    return [html('h2', {}, `Step ${step.number}: ` +
        (kernel ? kernel.name : step.label)),
      html('p', {}, kernel ? program.opsOf(kernel) : ''),
      html('ul', {}, ...facts.map((fact) => html('li', {}, fact))),
      ...this.bufferLists(step), ...this.lineList(step),
      ...this.decisionList(step),
      ...(kernel ? [html('h3', {}, 'IR'), html('pre', {tabindex: 0},
        kernel.text)] : [])];
  },
  bufferLists(step) {
    const list = (title, numbers) => numbers.length ? [html('h3', {}, title),
      html('ul', {}, ...numbers.map((number) => {
        const buffer = this.program.buffers[number];
        const port = this.program.portOf(buffer);
        return html('li', {}, this.program.bufferName(number) +
          (port ? `: ${port.type}` : '') + (buffer.bytes === undefined ? ''
            : `, ${bytes(buffer.bytes)}`) + (buffer.first === undefined ? ''
            : `, steps ${buffer.first} to ${buffer.last}`));
      }))] : [];
    return [...list('Reads', step.reads), ...list('Writes', step.writes),
      ...list('Workspaces', step.workspaces)];
  },
  lineList(step) {
    const lines = new Map();
    for (const node of step.nodes) {
      const site = this.program.siteOf(node) || 'no line';
      const op = this.program.opOf(node) || `node ${node}`;
      const ops = lines.get(site) || new Map();
      lines.set(site, ops.set(op, (ops.get(op) || 0) + 1));
    }
    return lines.size ? [html('h3', {}, 'Lines'), html('ul', {},
      ...[...lines].map(([site, ops]) =>
        html('li', {}, `${site}: ` + [...ops].map(([op, times]) =>
          times > 1 ? `${op}*${times}` : op).join(' '))))] : [];
  },
  decisionList(step) {
    const own = new Set(step.nodes);
    const all = this.program.decisions.filter((decision) =>
      decision.nodes.some((node) => own.has(node)));
    const most = 40;
    const items = all.slice(0, most).map((decision) => html('li', {},
      html('span', {class: decision.accepted ? 'yes' : 'no'},
        `${decision.accepted ? 'fused' : 'not fused'}, ${decision.rule}`),
      `: ${decision.detail}, ${bytes(decision.bytes)}`));
    if (all.length > most)
      items.push(html('li', {}, `and ${all.length - most} more`));
    return all.length ? [html('h3', {}, 'Decisions'), html('ul', {}, ...items)]
      : [];
  },
};
