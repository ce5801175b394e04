'use strict';
// What goes wrong is shown, and told to who looks at the page by program.
window.addEventListener('error', (event) => fail(event.message));
window.addEventListener('unhandledrejection',
  (event) => fail(String(event.reason)));
function fail(message) {
  document.documentElement.dataset.error = message;
  const problem = document.getElementById('problem');
  problem.textContent = 'This page failed: ' + message;
  problem.hidden = false;
}

const $ = (id) => document.getElementById(id);

/// An element with attributes and children. Strings become text, never markup:
/// names in models are whatever their authors wrote.
function make(space, tag, attributes, children) {
  const made = space ? document.createElementNS(space, tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on'))
      made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false)
      made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}
const html = (tag, attributes, ...children) =>
  make(null, tag, attributes, children);
const svg = (tag, attributes, ...children) =>
  make('http://www.w3.org/2000/svg', tag, attributes, children);

/// `1.5 MB`, `12 kFLOP`: three digits and a prefix.
function scaled(value, unit) {
  if (value === undefined || value === null)
    return 'unknown';
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let level = 0;
  while (value >= 999.5 && level + 1 < prefixes.length) {
    value /= 1000;
    ++level;
  }
  const digits = value >= 99.95 || level === 0 ? 0 : value >= 9.995 ? 1 : 2;
  const text = level === 0 && value % 1 ? value.toPrecision(3)
    : value.toFixed(digits);
  return `${text} ${prefixes[level]}${unit}`;
}
const bytes = (value) => scaled(value, 'B');
const flops = (value) => scaled(value, 'FLOP');
const duration = (us) => us < 1000 ? `${us.toFixed(1)} µs`
  : us < 1e6 ? `${(us / 1e3).toPrecision(3)} ms`
    : `${(us / 1e6).toPrecision(3)} s`;
const largest = (list, least) =>
  list.reduce((most, value) => Math.max(most, value), least);
const whole = (value) => value.toLocaleString('en-US');
/// Long texts cut in the middle.
const short = (text, most) => text.length <= most ? text
  : text.slice(0, Math.ceil(most / 2) - 1) + '…' +
    text.slice(text.length - Math.floor(most / 2));

const cut = (text, most) => text.length <= most ? text
  : text.slice(0, most - 1) + '…';

const report = JSON.parse($('data').textContent);

/// One program with what its views look up.
class Program {
  constructor(data) {
    Object.assign(this, data);
    this.stepsOfNode = new Map();
    this.steps.forEach((step, number) => {
      step.number = number;
      step.label = this.labelOf(step);
      step.moved = step.read === undefined || step.read === null ? null
        : step.read + step.written;
      for (const node of step.nodes)
        this.stepsOfNode.set(node,
          (this.stepsOfNode.get(node) || []).concat(number));
    });
    this.decisions.forEach((decision, number) => {
      decision.number = number;
      decision.sites = this.sitesOf(decision.nodes);
    });
    this.kinds = [...new Set(this.steps.map((step) => this.kindOf(step)))];
  }
  kindOf(step) {
    return step.kind === 'launch' ? this.kernels[step.kernel].kind : step.kind;
  }
  colour(step) {
    return `var(--c${this.kinds.indexOf(this.kindOf(step)) % 8})`;
  }
  /// The ops of a kernel, as its text has them: `matmul add*2`.
  opsOf(kernel) {
    if (kernel.ops === undefined) {
      const ops = [];
      for (const [, op] of kernel.text.matchAll(/ sinter\.([a-z_0-9]+)/g)) {
        if (ops.length && ops[ops.length - 1][0] === op)
          ++ops[ops.length - 1][1];
        else
          ops.push([op, 1]);
      }
      kernel.ops = ops.map(([op, times]) => times > 1 ? `${op}*${times}` : op)
        .join(' ');
    }
    return kernel.ops;
  }
  /// What a box is called: the ops that compute, those that only move left out
  /// where there are others.
  labelOf(step) {
    if (step.kind === 'loop')
      return `loop, ${step.most ? 'at most ' : ''}${step.count} times`;
    if (step.kind === 'copy')
      return 'copy';
    const all = this.opsOf(this.kernels[step.kernel]).split(' ');
    const moves = /^(reshape|broadcast|transpose|full|slice|pad|cast|window)/;
    const main = all.filter((op) => !moves.test(op));
    return (main.length ? main : all).join(' ') || this.kindOf(step);
  }
  siteOf(node) {
    const site = this.node_sites[node];
    return site >= 0 ? this.sites[site] : '';
  }
  opOf(node) {
    const op = this.node_ops[node];
    return op >= 0 ? this.ops[op] : '';
  }
  sitesOf(nodes) {
    return [...new Set(nodes.map((node) => this.siteOf(node)))].filter(Boolean);
  }
  portOf(buffer) {
    return buffer.role === 'input' ? this.inputs[buffer.index]
      : buffer.role === 'output' ? this.outputs[buffer.index] : null;
  }
  /// Inputs and outputs that are boxes of the graph: as many as do not hide the
  /// program. Weights stand in the details.
  drawnPorts() {
    const given = this.inputs.filter(({from}) =>
      !['weight', 'constant', 'random'].includes(from));
    const data = given.filter(({kind}) => kind !== 'parameter');
    return new Set([
      ...(given.length <= 16 ? given : data.length <= 40 ? data : []),
      ...(this.outputs.length <= 40 ? this.outputs : [])]);
  }
  /// `t8`, or `in0 'x'`.
  bufferName(number) {
    const buffer = this.buffers[number];
    const port = this.portOf(buffer);
    return port ? `${buffer.name} '${port.name}'` : buffer.name;
  }
}
const programs = report.programs.map((data) => new Program(data));

/// What the colours stand for.
const legendOf = (program) => program.kinds.map((kind, number) =>
  html('span', {}, html('i', {style: `background: var(--c${number % 8})`}),
    kind));

/// The parts of the page: `show(program)` fills one, when it is looked at.
const views = {};

/// A hint beside the pointer, or below what has the focus.
function tip(target, text) {
  const show = (x, y) => {
    const box = $('tip');
    box.textContent = text();
    box.hidden = false;
    const width = box.offsetWidth, height = box.offsetHeight;
    box.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 8)) + 'px';
    box.style.top = Math.max(4, y + 18 + height > innerHeight
      ? y - height - 10 : y + 18) + 'px';
  };
  const hide = () => { $('tip').hidden = true; };
  target.addEventListener('pointermove',
    (event) => show(event.clientX, event.clientY));
  target.addEventListener('pointerleave', hide);
  target.addEventListener('focus', () => {
    const place = target.getBoundingClientRect();
    show(place.left, place.bottom);
  });
  target.addEventListener('blur', hide);
}
