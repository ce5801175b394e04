"""What exports have beside operators: state, symbols, control flow, structures
of inputs and outputs.

Each feature is a function of no arguments that gives a dictionary: `module`,
`sets` (pairs of arguments and keywords), `shapes` as dynamic_shapes, and
options of cases.write.
"""

import json

import torch
from torch import nn

from ops.table import A, f, i, p, positive

FEATURES = {}
Dim = torch.export.Dim


def feature(make):
    FEATURES[make.__name__] = make
    return make


class Of(nn.Module):
    """A module of a function and of what it keeps."""

    def __init__(self, function, buffers=None, **parts):
        super().__init__()
        self.function = function
        for name, value in (buffers or {}).items():
            self.register_buffer(name, value)
        for name, value in parts.items():
            setattr(self, name, value)

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


def plain(module, *arguments, **options):
    return dict(module=module, sets=[(arguments, {})], **options)

#===- State ----------------------------------------------------------------===#


@feature
def buffer_counter():
    def forward(self, x):
        self.count.add_(1)
        return x * self.count
    module = Of(forward, {"count": torch.zeros(())})
    return dict(module=module, sets=[((f(3),), {}), ((f(3),), {}),
                                     ((f(3),), {})])


@feature
def buffer_written():
    def forward(self, x):
        self.last.copy_(x)
        self.sums = self.sums + x.sum()
        return self.last + 1
    return dict(module=Of(forward, {"last": torch.zeros(3),
                                    "sums": torch.zeros(())}),
                sets=[((f(3),), {}), ((f(3),), {})])


@feature
def buffer_cache():
    """A part of a buffer is written, as caches of keys are."""
    def forward(self, x, at):
        self.cache[:, at] = x
        return self.cache.sum(1)
    return dict(module=Of(forward, {"cache": torch.zeros(2, 5, 3)}),
                sets=[((f(2, 2, 3), torch.tensor([0, 3])), {}),
                      ((f(2, 2, 3), torch.tensor([1, 4])), {})])


@feature
def batch_norm_training():
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    return dict(module=module.train(), sets=[((f(4, 3, 6, 6),), {}),
                                             ((f(4, 3, 6, 6),), {})])


@feature
def tied_weights():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(9, 4)
            self.head = nn.Linear(4, 9, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, x):
            return self.head(torch.tanh(self.embed(x)))
    return plain(Tied(), i(9, 2, 3))


@feature
def weight_views():
    """Parameters that are views of one storage, one of them transposed."""
    storage = f(24)
    return plain(Of(lambda self, x: x @ self.a + self.b,
                    a=nn.Parameter(storage[:12].reshape(4, 3).t()),
                    b=nn.Parameter(storage[10:14])), f(2, 3))


@feature
def buffers_not_saved():
    def forward(self, x):
        return x * self.scale + self.shift
    module = Of(forward)
    module.register_buffer("scale", positive(3), persistent=False)
    module.register_buffer("shift", f(3))
    return plain(module, f(2, 3))


@feature
def tensor_constants():
    table = f(5, 2)
    return plain(Of(lambda self, x: table[x] + torch.tensor([1.0, 2.0])
                    + torch.tensor(3)), i(5, 4))


@feature
def frozen_part():
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    module[0].weight.requires_grad_(False)
    return plain(module, f(5, 3))


@feature
def half_weights():
    return plain(nn.Linear(3, 4).to(torch.bfloat16), f(2, 3).bfloat16(),
                 rtol=2e-2)


@feature
def empty_weight():
    return plain(Of(lambda self, x: torch.cat([x, self.none]),
                    none=nn.Parameter(torch.zeros(0, 3))), f(2, 3))


@feature
def channels_last_weight():
    module = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    return plain(module, f(2, 3, 5, 5).to(memory_format=torch.channels_last))

#===- Writes through views -------------------------------------------------===#


@feature
def input_written():
    def forward(self, x, y):
        x.add_(y)
        return x * 2
    return plain(Of(forward), f(2, 3), f(3))


@feature
def input_row_written():
    def forward(self, x, y):
        x[1] = y
        x[:, 0].mul_(3)
        return x.sum()
    return plain(Of(forward), f(2, 3), f(3))


@feature
def view_written():
    def forward(self, x):
        y = x.clone()
        y[:, 1:3] += 1
        y[0].zero_()
        z = y.view(-1)
        z[2] = 7
        y.t()[1, 1] = 9
        return y, z
    return plain(Of(forward), f(3, 4))


@feature
def view_read_after_write():
    def forward(self, x):
        y = x * 2
        row = y[1]
        y.add_(1)
        row.mul_(2)
        y.relu_()
        return row, y
    return plain(Of(forward), f(3, 4))


@feature
def mask_written():
    def forward(self, x, m):
        y = x.clone()
        y[m] = 0.0
        y.masked_fill_(x > 1, 5.0)
        y.clamp_(min=-1)
        return y
    return plain(Of(forward), f(3, 4), p(3, 4))


@feature
def loop_of_writes():
    def forward(self, x):
        out = torch.zeros(4, 3)
        for step in range(4):
            out[step] = x[step] + (out[step - 1] if step else 0)
        return out
    return plain(Of(forward), f(4, 3))


@feature
def indexes_written():
    def forward(self, x, j, v):
        y = x.clone()
        y.index_add_(0, j, v)
        y.scatter_add_(0, j[:, None].expand(-1, 3), v)
        y.index_put_((j,), v, accumulate=True)
        y.index_fill_(1, torch.tensor([0]), 2.0)
        return y
    return plain(Of(forward), f(6, 3), i(6, 4), f(4, 3))


@feature
def split_written():
    def forward(self, x):
        y = x.clone()
        a, b = y.chunk(2, 1)
        a.add_(b)
        b.copy_(a * 2)
        for row in y.unbind(0):
            row[0] = 1
        return y
    return plain(Of(forward), f(3, 4))

#===- Symbols --------------------------------------------------------------===#


@feature
def derived_sizes():
    s = Dim("s", min=2, max=30)
    return dict(module=Of(lambda self, x, y: x[1::2] + y),
                sets=[((f(7), f(3)), {}), ((f(11), f(5)), {})],
                shapes=(({0: 2 * s + 1}, {0: s}),))


@feature
def weights_and_batch():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(4, 8)
            self.out = nn.Linear(8, 2)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))
    return dict(module=Net(), sets=[((f(3, 4),), {}), ((f(5, 4),), {})],
                shapes=({0: Dim("batch")},))


@feature
def derived_offset():
    s = Dim("s", min=3, max=30)
    return dict(module=Of(lambda self, x, y: x[1:] * y),
                sets=[((f(4), f(3)), {}), ((f(9), f(8)), {})],
                shapes=(({0: s}, {0: s - 1}),))


@feature
def range_limits():
    s = Dim("s", min=3, max=6)
    return dict(module=Of(lambda self, x: x.softmax(0)),
                sets=[((f(4),), {}), ((f(6),), {})], shapes=(({0: s},),),
                limits=[{"input": 0, "axis": 0, "min": 3, "max": 6}])


@feature
def sizes_as_values():
    def forward(self, x, y):
        n, m = x.shape
        return (x.reshape(m, n) / n, torch.arange(n) * m, y.expand(n, -1),
                torch.full((n,), 2 * m + 1), x[: n // 2], n + 1, n * m)
    return dict(module=Of(forward),
                sets=[((f(4, 3), f(1, 2)), {}), ((f(7, 5), f(1, 2)), {})],
                shapes=(({0: Dim.AUTO, 1: Dim.AUTO}, None),))


@feature
def size_arithmetic():
    def forward(self, x):
        n = x.shape[0]
        half = (n + 1) // 2
        rest = n - half
        padded = torch.nn.functional.pad(x, (0, 0, 0, (-n) % 4))
        return (torch.split(x, [half, rest]), padded,
                x.new_zeros(torch.sym_max(n, 5)), x * (n ** 2), n / 3,
                x.view(n, 2, -1))
    return dict(module=Of(forward), sets=[((f(7, 6),), {}), ((f(8, 6),), {})],
                shapes=(({0: Dim.AUTO},),))


@feature
def size_assertion():
    def forward(self, x):
        torch._check(x.shape[0] > 2)
        torch._check(x.shape[0] % 2 == 0)
        return x.view(x.shape[0] // 2, 2)
    return dict(module=Of(forward), sets=[((f(4),), {}), ((f(10),), {})],
                shapes=(({0: Dim.DYNAMIC},),))


@feature
def two_batches():
    s = Dim("s", min=2, max=50)
    return dict(module=nn.Bilinear(3, 4, 2),
                sets=[((f(3, 3), f(3, 4)), {}), ((f(5, 3), f(5, 4)), {})],
                shapes=({0: s}, {0: s}))


@feature
def unbacked_count():
    def forward(self, x):
        rows = x.nonzero()
        return rows, rows.shape[0], x[rows[:, 0], rows[:, 1]] * 2
    return plain(Of(forward), i(2, 4, 5))


@feature
def unbacked_item():
    def forward(self, x, n):
        count = n.item()
        torch._check(count >= 0)
        torch._check(count <= 5)
        return torch.zeros(count) + 1, x.narrow(0, 0, 3) * count
    return plain(Of(forward), f(5), torch.tensor(4))


@feature
def unbacked_mask():
    return plain(Of(lambda self, x, m: x[m].relu()), f(4, 5), p(4, 5))


@feature
def value_assertion():
    def forward(self, x, n):
        value = n.item()
        torch._check(value > 2, lambda: "n is too small")
        return x * value
    return plain(Of(forward), f(5), torch.tensor(4))


@feature
def tensor_assertion():
    def forward(self, x):
        torch._assert(x.shape[0] == 5, "five")
        A._assert_async.msg((x > -100).all(), "small")
        return x + 1
    return plain(Of(forward), f(5))


@feature
def symbolic_attention():
    """Causal attention of a length that is symbolic, with a mask built of
    it."""
    def forward(self, x):
        n = x.shape[1]
        mask = torch.full((n, n), float("-inf")).triu(1)
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5 + mask
        return scores.softmax(-1) @ x
    return dict(module=Of(forward),
                sets=[((f(2, 4, 3),), {}), ((f(5, 7, 3),), {})],
                shapes=(({0: Dim("b", min=2), 1: Dim("n", min=2)},),))

#===- Structures -----------------------------------------------------------===#


@feature
def nested_inputs():
    def forward(self, parts, more):
        return {"sum": parts["a"] + parts["b"][0],
                "rest": (more[1] * 2, [parts["b"][1]])}
    return plain(Of(forward), {"a": f(3), "b": (f(3), f(2))}, [f(1), f(4)])


@feature
def keyword_inputs():
    def forward(self, x, *, scale, shift=None):
        return x * scale + (0 if shift is None else shift)
    return dict(module=Of(forward),
                sets=[((f(3),), {"scale": f(3), "shift": f(1)})])


@feature
def scalar_inputs():
    def forward(self, x, power, factor, flag, name, none):
        y = x ** power * factor
        return y if flag and none is None and name == "up" else -y
    return plain(Of(forward), positive(3), 3, 0.5, True, "up", None)


@feature
def symbolic_scalar_input():
    def forward(self, x, n):
        return x[:, :2] * n, n + 1
    return dict(module=Of(forward), sets=[((f(3, 4), 5), {}),
                                          ((f(3, 4), 7), {})],
                shapes=((None, Dim.DYNAMIC),))


@feature
def constant_outputs():
    return plain(Of(lambda self, x: (x + 1, None, 3, 2.5, True, "text")), f(3))


@feature
def typed_outputs():
    return plain(Of(lambda self, x: (x > 0, x.int(), x.argmax(), x.half(),
                                     x.double(), x.byte())), positive(5) * 9)


@feature
def input_given_back():
    return plain(Of(lambda self, x, y: (x, y + 1, x, self.w), w=nn.Parameter(
        f(2))), f(3), f(3))


@feature
def output_twice():
    def forward(self, x):
        y = x.relu()
        return y, y, [y]
    return plain(Of(forward), f(3))


@feature
def unused_input():
    return plain(Of(lambda self, x, y: x + 1), f(3), f(4))


@feature
def empty_input():
    return plain(Of(lambda self, x: (x + 1, x.sum(0), x.reshape(-1, 3).shape[
        0])), f(0, 3))


@feature
def rank0_input():
    return plain(Of(lambda self, x: x.exp()), f())


@feature
def no_tensor_work():
    return plain(Of(lambda self, x: x), f(3))


@feature
def named_module_list():
    module = nn.ModuleDict({"first": nn.Linear(3, 4), "out": nn.Linear(4, 2)})
    return plain(Of(lambda self, x: self.parts["out"](
        self.parts["first"](x).relu()), parts=module), f(2, 3))

#===- Control flow ---------------------------------------------------------===#


@feature
def cond_on_value():
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(),
                          (x,))
    return dict(module=Of(forward),
                sets=[((positive(3),), {}), ((-positive(3),), {})])


@feature
def cond_on_size():
    def forward(self, x):
        return torch.cond(x.shape[0] > 4, lambda y: y * 2, lambda y: y - 1,
                          (x,))
    return dict(module=Of(forward), sets=[((f(3),), {}), ((f(6),), {})],
                shapes=(({0: Dim("s", min=2, max=20)},),))


@feature
def cond_with_weights():
    class Chooser(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Linear(3, 2), nn.Linear(3, 2)

        def forward(self, x, flag):
            return torch.cond(flag, lambda y: (self.up(y), y.sum()),
                              lambda y: (self.down(y).tanh(), y.mean()), (x,))
    return dict(module=Chooser(), sets=[((f(4, 3), torch.tensor(True)), {}),
                                        ((f(4, 3), torch.tensor(False)), {})])


@feature
def cond_nested():
    def inner(y):
        return torch.cond(y.max() > 2, lambda z: z * 10, lambda z: z + 10,
                          (y,))

    def forward(self, x):
        return torch.cond(x.sum() > 0, inner, lambda y: y - 1, (x,))
    return dict(module=Of(forward), sets=[
        ((positive(3),), {}), ((positive(3) + 3,), {}), ((-positive(3),), {})])


def while_loop(*arguments):
    from torch._higher_order_ops.while_loop import while_loop as loop
    return loop(*arguments)


@feature
def while_counted():
    def forward(self, n, x):
        return while_loop(lambda k, y: k > 0, lambda k, y: (k - 1, y * 1.5 + k),
                          (n, x))
    return dict(module=Of(forward), sets=[((torch.tensor(4), f(3)), {}),
                                          ((torch.tensor(0), f(3)), {})])


@feature
def while_until():
    class Until(nn.Module):
        def __init__(self):
            super().__init__()
            self.step = nn.Linear(3, 3)

        def forward(self, x):
            return while_loop(
                lambda k, y: torch.logical_and(k < 20, y.norm() < 50),
                lambda k, y: (k + 1, y + self.step(y).abs() + 1),
                (torch.zeros((), dtype=torch.int64), x))
    return plain(Until(), f(3))


def mapped(*arguments):
    from torch._higher_order_ops.map import map as apply
    return apply(*arguments)


@feature
def map_rows():
    def forward(self, x, y):
        return mapped(lambda row, z: row.cumsum(0) * z, x, y)
    return plain(Of(forward), f(4, 3), f(3))


@feature
def map_with_weights():
    class Rows(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 2)

        def forward(self, x):
            return mapped(lambda row: self.linear(row).relu(), x)
    return dict(module=Rows(), sets=[((f(4, 5, 3),), {}), ((f(6, 5, 3),), {})],
                shapes=({0: Dim("s", min=2, max=20)},))


@feature
def scan_sums():
    from torch._higher_order_ops.scan import scan

    def forward(self, start, x):
        return scan(lambda carry, each: (carry + each, (carry * each).clone()),
                    start, x)
    return plain(Of(forward), f(3), f(5, 3))


@feature
def associative_scan_sums():
    from torch._higher_order_ops.associative_scan import associative_scan

    def forward(self, x):
        return associative_scan(lambda a, b: a * b, x, 0,
                                combine_mode="generic")
    return plain(Of(forward), f(5, 3))


@feature
def checkpointed():
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            return checkpoint(lambda y: self.linear(y).tanh(), x,
                              use_reentrant=False) + x
    return plain(Checkpointed(), f(4, 3))


@feature
def without_gradient():
    """An inner graph of torch.no_grad."""
    class Frozen(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 2)

        def forward(self, x):
            with torch.no_grad():
                y = self.a(x).relu()
            return self.b(y) + x.detach().sum()
    return plain(Frozen(), f(4, 3))


@feature
def mixed_precision():
    def forward(self, x, y):
        with torch.autocast("cpu", torch.bfloat16):
            return x @ y
    return plain(Of(forward), f(4, 3), f(3, 2), rtol=2e-2)

#===- What must be refused -------------------------------------------------===#


@feature
def custom_operator():
    @torch.library.custom_op("sinter_test::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_fake
    def _(x):
        return torch.empty_like(x)
    return plain(Of(lambda self, x: twice(x) + 1), f(3), expect="refused",
                 reason="sinter_test.twice")


@feature
def custom_object():
    """A lifted object: what refers to it, and its pickled state."""
    def edit(document, entries):
        specs = document["graph_module"]["signature"]["input_specs"]
        specs[0] = {"custom_obj": {
            "arg": {"name": "obj", "class_fqn": "__torch__.Queue"},
            "custom_obj_name": "queue"}}
        document["graph_module"]["graph"]["inputs"][0] = {"as_custom_obj": {
            "name": "obj", "class_fqn": "__torch__.Queue"}}
        entries["data/constants/custom_obj_0"] = b"\x80\x02N."
    return plain(nn.Linear(3, 2), f(4, 3), edit=edit, expect="refused",
                 reason="object")


@feature
def pickled_weight():
    def edit(document, entries):
        path = "data/weights/model_weights_config.json"
        config = json.loads(entries[path])
        config["config"]["weight"]["use_pickle"] = True
        entries[path] = json.dumps(config).encode()
    return plain(nn.Linear(3, 2), f(4, 3), edit=edit, expect="refused",
                 reason="pickle")


@feature
def sparse_weight():
    def edit(document, entries):
        path = "data/weights/model_weights_config.json"
        config = json.loads(entries[path])
        config["config"]["weight"]["tensor_meta"]["layout"] = 1
        entries[path] = json.dumps(config).encode()
    return plain(nn.Linear(3, 2), f(4, 3), edit=edit, expect="refused",
                 reason="layout")


@feature
def schema_of_major_9():
    def edit(document, entries):
        document["schema_version"] = {"major": 9, "minor": 1}
    return plain(nn.Linear(3, 2), f(4, 3), edit=edit, expect="refused",
                 reason="version")


@feature
def schema_of_minor_99():
    """Later than what is known: read all the same."""
    def edit(document, entries):
        document["schema_version"] = {"major": 8, "minor": 99}
        document["not_known_yet"] = {"deep": [1, 2.5, None]}
    return plain(nn.Linear(3, 2), f(4, 3), edit=edit)


@feature
def unknown_operator():
    def edit(document, entries):
        for node in document["graph_module"]["graph"]["nodes"]:
            node["target"] = "torch.ops.aten.linearly.default"
    return plain(nn.Linear(3, 2), f(4, 3), edit=edit, expect="refused",
                 reason="aten.linearly.default")
