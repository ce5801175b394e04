"""The one table of what is measured, and what it has to reach.

A ratio is the peer's time by ours, so more is better; a target against
several peers means the fastest of them.
"""

import dataclasses
import fnmatch

# From the environment of `--peers`, and from the system.
PYTHON_PEERS = ("torch-eager", "torch-compile", "onnxruntime", "jax", "iree")
NATIVE_PEERS = ("openblas", "onednn")
PEERS = NATIVE_PEERS + PYTHON_PEERS
COPIES = ("memcpy", "stream", "torch-copy")


@dataclasses.dataclass
class Target:
    """At least `ratio` against the fastest of `peers`; without peers, of
    `rate` flop/s. `ours` is the side that has to reach it."""
    peers: tuple
    ratio: float
    threads: tuple = (1, 2)
    what: str = ""
    rate: float = 0
    ours: str = "sinter"

    def text(self):
        peers = "best peer" if self.peers == PEERS else (
            "copy" if self.peers == COPIES else "|".join(self.peers))
        return self.what or f"{self.ratio:g} of {peers}"


@dataclasses.dataclass
class Case:
    """Parameters go to every side; `extra` has sides that only this case has,
    with the parameters in which they differ."""
    name: str
    params: dict
    targets: list = dataclasses.field(default_factory=list)
    extra: dict = dataclasses.field(default_factory=dict)
    peers: tuple = PEERS
    flops: float = 0
    tolerance: float = 1e-4  # of the largest value compared

    def words(self, side):
        params = self.params | self.extra.get(side, {})
        return " ".join(f"{key}={value}" for key, value in params.items())

    def sides(self):
        ours = tuple(target.ours for target in self.targets)
        return tuple(dict.fromkeys(("sinter",) + self.peers
                                   + tuple(self.extra) + ours))


def copy_of(count):
    """Sides that copy `count` f32 from one place to another."""
    return {side: {"kind": "copy", "bytes": 4 * count} for side in COPIES}


def matmul(name, m, n, k, targets, extra=None, **params):
    return Case(name, {"kind": "matmul", "m": m, "n": n, "k": k, **params},
                targets, extra or {}, flops=2 * m * n * k,
                peers=tuple(p for p in PEERS if p != "iree" or m * n < 1 << 22))


def matmul_cases():
    shapes = [(64, 64, 64), (256, 256, 256), (1000, 1000, 1000),
              (1024, 1024, 1024), (2048, 2048, 2048), (129, 257, 100)]
    bare = {"sinter-bare": {"bias": 0, "relu": 0}}
    for m, n, k in shapes:
        size = str(m) if m == n == k else f"{m}x{n}x{k}"
        targets = [Target(("openblas",), 1, what="1 of OpenBLAS's bare gemm"),
                   Target(PEERS, 0.97),
                   Target(("sinter-bare",), 0.97, what="epilogue at most 3 %")]
        extra = dict(bare)
        if m in (1024, 2048):
            extra["sinter-one"] = {}
            targets.append(Target(("sinter-one",), 1.8, (2,),
                                  "1.8 of one thread"))
        yield matmul(f"matmul_bias_relu_{size}", m, n, k, targets, extra,
                     bias=1, relu=1)
    for size in (64, 256, 1000, 1024, 2048):
        yield matmul(f"matmul_packed_{size}", size, size, size,
                     [Target(("onednn",), 1, what="1 of oneDNN prepacked")],
                     bias=1, relu=1, packed=1)
    for m in (1, 2, 4, 8, 16):
        yield matmul(f"matmul_skinny_{m}x1024x1024", m, 1024, 1024,
                     [Target(PEERS, 1)], packed=1)
    # With the weight as PyTorch's linear layers keep it, n x k.
    for m in (1, 2, 4, 8, 16):
        yield matmul(f"matmul_turned_{m}x1024x1024", m, 1024, 1024,
                     [Target(PEERS, 1)], packed=1, turned=1)
    yield matmul("matmul_turned_1024", 1024, 1024, 1024,
                 [Target(PEERS, 0.97)], turned=1)
    yield matmul("matmul_skinny_1x4096x4096", 1, 4096, 4096,
                 [Target(COPIES, 0.85)], copy_of(4096 * 4096 // 2), packed=1)
    for dtype in ("bf16", "f16", "i8"):
        case = matmul(f"matmul_{dtype}_1024", 1024, 1024, 1024,
                      [Target(("onednn", "torch-eager"), 0.9,
                              what="0.9 of oneDNN, or PyTorch's")],
                      dtype=dtype)
        case.tolerance = {"bf16": 2e-2, "f16": 2e-3, "i8": 0}[dtype]
        yield case


def linear_rows_cases():
    shapes = [(2048, 64, 256), (2048, 256, 256), (2048, 512, 512),
              (256, 1024, 1024), (32, 512, 512)]
    for then in ("layer_norm", "softmax"):
        for m, k, n in shapes:
            residual = int(then == "layer_norm")
            yield Case(f"linear_{then}_{m}x{k}x{n}",
                       {"kind": "linear_rows", "m": m, "k": k, "n": n,
                        "then": then, "residual": residual},
                       [Target(("torch-compile",), 1)],
                       peers=("torch-eager", "torch-compile"))


def row_cases():
    small = {"rows": 256, "cols": 1024}
    large = {"rows": 16384, "cols": 4096}
    kinds = [("softmax", {"kind": "softmax"}, 1.4, 0.75),
             ("layer_norm", {"kind": "layer_norm"}, 3, 0.85),
             ("gelu_tanh", {"kind": "gelu", "form": "tanh"}, 3, None),
             ("gelu_erf", {"kind": "gelu", "form": "erf"}, 1.2, None)]
    for name, params, eager, copy in kinds:
        yield Case(f"{name}_256x1024", params | small,
                   [Target(("torch-eager",), eager),
                    Target(("torch-compile",), 1)])
        if copy:
            yield Case(f"{name}_16384x4096", params | large,
                       [Target(COPIES, copy, (2,))], copy_of(16384 * 4096),
                       peers=("onednn", "torch-eager", "torch-compile"))


def stream_cases():
    count = 64 << 20
    yield Case("chain_10_ops_64Mi", {"kind": "chain", "n": count},
               [Target(COPIES, 0.85), Target(("torch-eager",), 5)],
               copy_of(count), peers=("torch-eager", "torch-compile"))
    for kind in ("column_sum", "amax", "argmax", "cumsum"):
        yield Case(f"{kind}_4096x4096",
                   {"kind": kind, "rows": 4096, "cols": 4096},
                   [Target(PEERS, 1)], tolerance=1e-3)
    for count, height, width in ((8, 256, 1024), (50, 64, 32000),
                                 (100, 1, 1 << 20)):
        yield Case(f"topk_{count}_of_{height}x{width}",
                   {"kind": "topk", "rows": height, "cols": width, "k": count},
                   [Target(PEERS, 1)])
    for height, width in ((256, 1024), (1, 1 << 20)):
        yield Case(f"sort_{height}x{width}",
                   {"kind": "sort", "rows": height, "cols": width},
                   [Target(PEERS, 1)])


def conv(name, h, c, o, kernel, targets, **params):
    return Case(name, {"kind": "conv2d", "h": h, "w": h, "c": c, "o": o,
                       "kernel": kernel, **params}, targets)


def conv_cases():
    targets = [Target(("onednn",), 0.95)]
    yield conv("conv2d_3x3_64_56", 56, 64, 64, 3, targets, pad=1)
    yield conv("conv2d_3x3_128_28", 28, 128, 128, 3, targets, pad=1)
    yield conv("conv2d_1x1_64_256", 56, 64, 256, 1, targets)
    yield conv("conv2d_7x7_s2_3_64", 224, 3, 64, 7, targets, pad=3, stride=2)
    yield conv("conv2d_depthwise_112", 112, 32, 32, 3, targets, pad=1,
               groups=32)
    yield Case("max_pool_3x3_s2_112",
               {"kind": "max_pool", "h": 112, "w": 112, "c": 64, "kernel": 3,
                "pad": 1, "stride": 2}, [Target(("onednn",), 0.95)])
    step = conv("conv2d_step_3x3_64_56", 56, 64, 64, 3,
                [Target(("torch-eager", "torch-compile"), 1,
                        what="1 of PyTorch")], pad=1)
    step.params["kind"] = "conv2d_step"
    step.tolerance = 1e-3
    yield step


def attention_cases():
    params = {"b": 2, "h": 8, "t": 512, "d": 64}
    peer = Target(("torch-eager",), 1.2,
                  what="1.2 of scaled_dot_product_attention")
    for causal in (1, 0):
        name = "causal" if causal else "full"
        yield Case(f"attention_{name}", {"kind": "attention", **params,
                                         "causal": causal},
                   [peer] if causal else [])
    yield Case("attention_step_causal",
               {"kind": "attention_step", **params, "causal": 1},
               peers=("torch-eager", "torch-compile"), tolerance=1e-3)


def transformer(layers):
    return {"kind": "step_transformer", "d": 256, "heads": 4, "t": 128,
            "batch": 16, "vocab": 256, "layers": layers}


def step_cases():
    torch = ("torch-eager", "torch-compile")

    def step(name, params, ratio):
        return Case(name, params, [Target(("torch-compile",), ratio)],
                    peers=torch, tolerance=2e-3)

    yield step("step_mlp", {"kind": "step_mlp", "in": 784, "hidden": 1024,
                            "out": 10, "batch": 256}, 1.1)
    cnn = step("step_cnn", {"kind": "step_cnn", "batch": 64}, 1.5)
    cnn.tolerance = 0.2  # dropout's numbers differ
    yield cnn
    # Recorded with the channels first, as PyTorch's; the same net with them
    # last is as fast.
    residual = step("step_residual", {
        "kind": "step_residual", "batch": 8, "h": 28, "w": 28, "c": 64,
        "blocks": 2, "layout": "first"}, 1)
    residual.extra = {"sinter-last": {"layout": "last"}}
    residual.targets.append(Target(("sinter-last",), 0.95, (1, 2),
                                   "0.95 of channels last"))
    yield residual
    yield step("step_transformer", transformer(2), 1.1)
    gru = step("step_gru", {"kind": "step_gru", "steps": 32, "batch": 64,
                            "in": 128, "size": 128, "out": 10}, 1)
    gru.extra = {"sinter-unrolled": {"unrolled": 1}}
    gru.targets = [Target(torch, 1), Target(("sinter-unrolled",), 0.8,
                                            what="0.8 of the loop unrolled")]
    yield gru


# The geometric mean of what some cases reach of their first target.
GEOMEANS = [("conv2d_[0-9d]*", 1.0)]
# Seconds that a first step may take on two cores with nothing cached.
COLD = {"step_cnn": 2.5, "step_mlp": 1.5, "step_transformer": 3}
# A case whose cold compile may take this many times another's.
COLD_RATIO = ("step_transformer_12", "step_transformer", 1.3)
# The cold compile of the small GPT's step, in torch.compile's.
COLD_SHARE = 0.5
# Cases whose peak memory is compared with PyTorch's.
MEMORY = ("step_mlp", "step_cnn", "step_transformer", "attention_causal")


# Twice as many parts may take this many times the seconds and the memory.
GROWTH = 2.2


def growing_cases():
    """Pairs of cases of which the second has twice as many parts; only
    compiled."""
    for kind, count in (("chain", 2000), ("numbers", 2000), ("stencil", 6),
                        ("sines", 48), ("rnn", 250)):
        yield tuple(Case(f"growing_{kind}_{n}",
                         {"kind": f"growing_{kind}", "n": n}, peers=())
                    for n in (count, 2 * count))


def all_cases():
    return [case for make in (matmul_cases, linear_rows_cases, row_cases,
                              stream_cases, conv_cases, attention_cases,
                              step_cases)
            for case in make()]


def twelve_layers():
    """Only compiled, not measured."""
    return Case(COLD_RATIO[0], transformer(12), peers=())


def small_gpt():
    """0.8 million parameters; only compiled, against torch.compile."""
    return Case("step_gpt", transformer(4) | {"d": 128, "t": 64, "vocab": 65},
                peers=())


def chosen(patterns, cases=None):
    """Cases whose name matches one of the patterns, or all."""
    return [case for case in cases or all_cases()
            if not patterns or any(fnmatch.fnmatch(case.name, pattern)
                                   for pattern in patterns)]
