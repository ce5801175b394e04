"""What is measured on a GPU, and what it has to reach there.

The figures are those of an NVIDIA H200; PyTorch's products end with cuBLASLt's
epilogue, its attention and convolutions are cuDNN's, and tf32 is off. A side
`torch-graph` is the same captured in a CUDA graph.
"""

import dataclasses

from driver.cases import Case, Target

TORCH = ("torch-eager", "torch-compile", "torch-graph")
# Where a library's kernel is the whole case, compiling changes nothing.
LIBRARY = ("torch-eager", "torch-graph")
COPY = ("torch-copy",)


def best(ratio, what=""):
    return Target(TORCH, ratio, what=what or f"{ratio:g} of PyTorch's best")


def as_graphs(ratio):
    """CUDA graphs on both sides: no call records ops."""
    return Target(("torch-graph",), ratio, ours="sinter-program",
                  what=f"{ratio:g} of PyTorch's graph, nothing recorded")


def of_copy(ratio):
    return Target(COPY, ratio, what=f"{ratio:g} of copy")


def copy_of(count, rotate=1):
    """A copy that moves as many bytes as reading and writing so many would, of
    so many buffers in turn."""
    return {"torch-copy": {"kind": "copy", "bytes": count, "rotate": rotate}}


def products():
    shapes = [(8192,) * 3, (4096,) * 3, (2048,) * 3, (3072,) * 3, (1024,) * 3,
              (512,) * 3, (8192, 4096, 1024), (512, 4096, 4096),
              (4096, 14336, 4096)]

    def product(m, n, k, targets, dtype="bf16", extra=None, **params):
        size = str(m) if m == n == k else f"{m}x{n}x{k}"
        return Case(f"matmul_bias_relu_{dtype}_{size}",
                    {"kind": "matmul", "m": m, "n": n, "k": k, "bias": 1,
                     "relu": 1, "dtype": dtype, **params},
                    targets, extra or {}, peers=LIBRARY, flops=2 * m * n * k,
                    tolerance=2e-2 if dtype == "bf16" else 1e-4)

    for m, n, k in shapes:
        # Below 50 us what a call costs on the host shows, too.
        short = 2 * m * n * k < 50e-6 * 700e12
        yield product(m, n, k, [best(1)] + [as_graphs(1)] * short)
    # Weights do not stay in the cache from one call to the next.
    for m in (64, 1):
        yield product(m, 4096, 4096,
                      [Target(("torch-eager",), 1.3), of_copy(0.75)], rotate=4,
                      extra=copy_of(4096 * (4096 + 2 * m), rotate=4))
    yield product(4096, 4096, 4096, [best(1)], dtype="f32")


def streams():
    count, rows, cols = 128 << 20, 16384, 4096
    for dtype, size in (("f32", 4), ("bf16", 2)):
        tolerance = 1e-4 if dtype == "f32" else 2e-2

        def case(name, params, targets, moved):
            return Case(f"{name}_{dtype}", params | {"dtype": dtype}, targets,
                        copy_of(moved * size // 2), peers=TORCH,
                        tolerance=tolerance)

        yield case("chain_128Mi", {"kind": "chain", "n": count},
                   [best(1), of_copy(0.95)], 2 * count)
        large = {"rows": rows, "cols": cols}
        for kind in ("softmax", "layer_norm"):
            yield case(f"{kind}_{rows}x{cols}", {"kind": kind} | large,
                       [best(1), of_copy(0.88)], 2 * rows * cols)
        yield case(f"layer_norm_gradient_{rows}x{cols}",
                   {"kind": "layer_norm_gradient"} | large,
                   [best(1), of_copy(0.8)], 3 * rows * cols)
        yield case(f"column_sum_{rows}x{cols}", {"kind": "column_sum"} | large,
                   [best(1), of_copy(0.88)], rows * cols)
        yield case("transpose_add_8192", {"kind": "transpose_add", "n": 8192},
                   [best(1), of_copy(0.88)], 3 * 8192 * 8192)


def attentions():
    shape = {"b": 4, "h": 16, "t": 4096, "d": 128, "dtype": "bf16", "op": 1}
    for causal in (1, 0):
        name = "causal" if causal else "full"
        flops = 4 * 4 * 16 * 4096 * 4096 * 128 / (1 + causal)
        yield Case(f"attention_{name}",
                   {"kind": "attention", **shape, "causal": causal},
                   [best(0.9)], peers=LIBRARY, flops=flops, tolerance=2e-2)
        yield Case(f"attention_step_{name}",
                   {"kind": "attention_step", **shape, "causal": causal},
                   [best(0.8)], peers=LIBRARY, flops=3.5 * flops, tolerance=3e-2)
    # Heads that share keys: a prompt, and one token with what is kept of others.
    for d in (64, 128):
        shape = {"b": 1, "h": 32, "kv": 8, "t": 2048, "d": d, "dtype": "bf16",
                 "op": 1, "causal": 1}
        flops = 4 * 32 * 2048 * 2048 * d / 2
        yield Case(f"attention_shared_d{d}", {"kind": "attention", **shape},
                   [best(0.8)], peers=LIBRARY, flops=flops, tolerance=2e-2)
        yield Case(f"attention_step_shared_d{d}",
                   {"kind": "attention_step", **shape},
                   [best(0.8)], peers=LIBRARY, flops=3.5 * flops, tolerance=3e-2)
    for b in (1, 8):
        yield Case(f"attention_decode_b{b}",
                   {"kind": "attention", "b": b, "h": 32, "kv": 8, "t": 1,
                    "s": 1024, "d": 128, "dtype": "bf16", "op": 1},
                   [best(0.5)], peers=LIBRARY, tolerance=2e-2)


# Height and width, channels in and out, kernel, stride.
RESNET = [(224, 3, 64, 7, 2),
          (56, 64, 64, 1, 1), (56, 64, 64, 3, 1), (56, 64, 256, 1, 1),
          (56, 256, 64, 1, 1), (56, 256, 128, 1, 1), (56, 128, 128, 3, 2),
          (28, 128, 512, 1, 1), (56, 256, 512, 1, 2), (28, 512, 128, 1, 1),
          (28, 128, 128, 3, 1), (28, 512, 256, 1, 1), (28, 256, 256, 3, 2),
          (14, 256, 1024, 1, 1), (28, 512, 1024, 1, 2), (14, 1024, 256, 1, 1),
          (14, 256, 256, 3, 1), (14, 1024, 512, 1, 1), (14, 512, 512, 3, 2),
          (7, 512, 2048, 1, 1), (14, 1024, 2048, 1, 2), (7, 2048, 512, 1, 1),
          (7, 512, 512, 3, 1)]


# Names, and how many products of the same size a call has.
RESNET_KINDS = {"conv2d": ("resnet", 1), "conv2d_step": ("resnet_step", 3)}
# Some of them with both gradients.
RESNET_STEPS = [(224, 3, 64, 7, 2), (56, 64, 64, 3, 1), (56, 128, 128, 3, 2), (28, 128, 128, 3, 1),
                (14, 256, 1024, 1, 1), (7, 512, 512, 3, 1)]


def convolution(kind, size, c, o, kernel, stride):
    prefix, times = RESNET_KINDS[kind]
    name = f"{prefix}_{kernel}x{kernel}_{c}_{o}_{size}"
    out = size // stride
    return Case(name + ("_s2" if stride > 1 else ""),
                {"kind": kind, "batch": 64, "h": size, "w": size, "c": c,
                 "o": o, "kernel": kernel, "stride": stride,
                 "pad": kernel // 2, "dtype": "bf16"},
                [best(0.8)], peers=LIBRARY, tolerance=2e-2,
                flops=times * 2 * 64 * out * out * o * c * kernel * kernel)


def convolutions():
    for shape in RESNET:
        yield convolution("conv2d", *shape)
    for shape in RESNET_STEPS:
        yield convolution("conv2d_step", *shape)


def long_rows():
    """Reductions of few or of long rows, and of windows."""
    many = 64 << 20
    for kind in ("row_sum", "argmax"):
        yield Case(f"{kind}_64Mi", {"kind": kind, "rows": 1, "cols": many,
                                    "dtype": "f32"},
                   [best(0.8)], copy_of(2 * many), peers=LIBRARY,
                   tolerance=1e-3)
    words = {"rows": 2048, "cols": 50257}
    yield Case("softmax_2048x50257_bf16",
               {"kind": "softmax", "dtype": "bf16"} | words, [best(0.8)],
               copy_of(2 * 2048 * 50257), peers=TORCH, tolerance=2e-2)
    image = {"batch": 64, "layout": "first", "dtype": "bf16"}
    pool = {"h": 112, "w": 112, "c": 64, "kernel": 3, "stride": 2, "pad": 1}
    yield Case("max_pool_step_64x64x112", {"kind": "pooling", "step": 1}
               | image | pool, [best(0.8)], peers=LIBRARY, tolerance=2e-2)
    yield Case("batch_norm_step_64x256x56",
               {"kind": "batch_norm", "step": 1, "h": 56, "w": 56, "c": 256}
               | image | {"dtype": "f32"}, [best(0.5)], peers=TORCH,
               tolerance=1e-3)
    yield Case("depthwise_3x3_first_64x256x56",
               {"kind": "conv2d", "h": 56, "w": 56, "c": 256, "o": 256,
                "groups": 256, "kernel": 3, "pad": 1} | image, [best(0.8)],
               peers=LIBRARY, tolerance=2e-2)


def steps():
    for name, params, ratio in (
            ("step_cnn", {"kind": "step_cnn", "batch": 64}, 2),
            ("step_mlp", {"kind": "step_mlp", "in": 784, "hidden": 1024,
                          "out": 10, "batch": 256}, 1.3)):
        yield Case(name, params, [best(ratio)], peers=TORCH,
                   tolerance=0.2 if name == "step_cnn" else 2e-3)


# The geometric mean of what some cases reach of their first target.
GEOMEANS = [("resnet_[137]*", 0.95)]


def on_vulkan():
    """Some of the same, beside what our CUDA makes of them, too."""
    cuda = {"sinter-cuda": {}}

    def case(name, *targets):
        (found,) = (each for each in all_cases() if each.name == name)
        return dataclasses.replace(found, targets=list(targets),
                                   extra=found.extra | cuda)

    def of_cuda(ratio):
        return Target(("sinter-cuda",), ratio)

    def rate(teraflops):
        return Target((), 1, what=f"{teraflops} TFLOP/s", rate=teraflops * 1e12)

    return [case("chain_128Mi_f32", of_copy(0.95)),
            case("softmax_16384x4096_f32", Target(("torch-eager",), 1.4),
                 of_cuda(0.9)),
            case("matmul_bias_relu_f32_4096", rate(40), best(1)),
            case("matmul_bias_relu_bf16_8192", rate(285)),
            case("step_cnn", of_cuda(0.5), best(1)),
            case("step_mlp", best(1))]


def cases_of(device):
    return on_vulkan() if device.startswith("vulkan") else all_cases()


def all_cases():
    return [case for make in (products, attentions, streams, steps,
                              convolutions, long_rows) for case in make()]
