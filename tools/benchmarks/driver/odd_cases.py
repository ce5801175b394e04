"""Operators of models at sizes that are no multiple of anything; beside
PyTorch."""

from driver.cases import Case, Target

# The geometric mean of all, and the least of one.
GEOMEANS = [("odd_*", 0.9)]
LEAST = 0.3


class Table:
    """Cases for a device: on a GPU large ones in bf16 or f32, on the processor
    small ones in f32."""

    def __init__(self, device):
        self.on_gpu = device != "cpu"
        self.peers = ("torch-eager", "torch-compile") + (
            ("torch-graph",) if self.on_gpu else ())
        self.cases = []

    def size(self, large, small):
        return large if self.on_gpu else small

    def add(self, name, kind, dtype="bf16", flops=0, **params):
        dtype = dtype if self.on_gpu else "f32"
        tolerance = 3e-2 if dtype == "bf16" else 1e-3
        self.cases.append(Case(
            f"odd_{name}_{dtype}", {"kind": kind, "dtype": dtype} | params,
            [Target(self.peers, LEAST)], peers=self.peers, flops=flops,
            tolerance=tolerance))

    def steps(self, name, kind, **params):
        """Forward, and with gradients."""
        self.add(name, kind, **params)
        self.add(name + "_step", kind, step=1, **params)


def attentions(table):
    t, heads, kv = table.size((2039, 30, 6), (251, 6, 2))
    shape = {"b": 1, "h": heads, "kv": kv, "t": t, "s": t, "d": 64, "causal": 1}
    for spelling in ("option", "repeat", "expand"):
        table.steps(f"gqa_{spelling}", "shared_attention", spelling=spelling,
                    **shape)
    table.add("gqa_decode", "shared_attention", **shape | {
        "t": 1, "s": table.size(1021, 251), "causal": 0})
    shape = {"b": 1, "h": table.size(11, 3), "t": table.size(997, 251), "d": 64,
             "op": 1}
    table.add("attention", "attention", dtype="f32", causal=1, **shape)
    table.add("attention_step", "attention_step", dtype="f32", causal=1,
              **shape)


def vocabularies(table):
    words = table.size(50257, 5021)
    n, d = table.size((4093, 769), (253, 129))
    table.add("vocabulary_linear", "matmul", m=n, k=d, n=words, turned=1,
              packed=1, flops=2 * n * d * words)
    table.add("vocabulary_softmax", "softmax", rows=n, cols=words)
    table.add("embedding_step", "embedding", words=words, d=d, n=n, step=1)
    table.steps("linear_gelu", "linear_gelu", m=n, k=d, n=4 * d + 3)


def long_rows(table):
    count = table.size(16777213, 1048573)
    table.add("cumsum_row", "cumsum", dtype="f32", rows=1, cols=count)
    rows, cols = table.size((4099, 4093), (1021, 1019))
    for axis in (0, 1):
        table.add(f"cumsum_axis_{axis}", "cumsum", dtype="f32", rows=rows,
                  cols=cols, axis=axis)
    rows, cols = table.size((61, 50257), (13, 5021))
    table.add("sort", "sort", dtype="f32", rows=rows, cols=cols)
    table.add("topk_50", "topk", dtype="f32", rows=rows, cols=cols, k=50)
    count = table.size(67108859, 4194301)
    table.add("sum_row", "row_sum", dtype="f32", rows=1, cols=count)
    table.add("argmax_row", "argmax", dtype="f32", rows=1, cols=count)


def images(table):
    batch, c, h = table.size((61, 251, 57), (3, 37, 29))
    space = {"batch": batch, "c": c, "h": h, "w": h}
    table.steps("batch_norm", "batch_norm", **space)
    conv = {"layout": "first", "kernel": 3, "pad": 1}
    table.add("depthwise_3x3", "conv2d", o=c, groups=c, **space, **conv)
    table.add("depthwise_3x3_step", "conv2d_step", o=c, groups=c, **space,
              **conv)
    h = table.size(225, 61)
    table.add("stem_7x7_step", "conv2d_step", batch=batch, c=3, o=67, h=h, w=h,
              layout="first", kernel=7, stride=2, pad=3)
    h = table.size(113, 31)
    table.add("max_pool_step", "pooling", batch=batch, c=67, h=h, w=h, kernel=3,
              stride=2, pad=1, step=1)
    batch, c, h = table.size((3, 315, 63), (1, 35, 31))
    table.steps("group_norm_silu", "group_norm_silu", batch=batch, c=c, h=h,
                w=h, groups=5)


def cases_of(device):
    table = Table(device)
    for part in (attentions, vocabularies, long_rows, images):
        part(table)
    return table.cases
