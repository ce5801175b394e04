"""PyTorch: `torch_side.py eager|compile|copy`."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch  # noqa: E402
import torch.nn.functional as functional  # noqa: E402
import torch_models  # noqa: E402
import worker  # noqa: E402
from worker import Unsupported, Work, filled, filled_bytes  # noqa: E402

MODE = sys.argv[1] if len(sys.argv) > 1 else "eager"


def tensor(shape, seed, scale=1.0):
    return torch.from_numpy(filled(shape, seed, scale))


def result(value):
    return value.detach().float().numpy()


def work(function, *inputs):
    """The function on these inputs, compiled if that is the mode."""
    if MODE == "compile":
        function = torch.compile(function, dynamic=False)
    return Work(lambda: function(*inputs), result)


def matmul(case):
    m, n, k = case.numbers("m", "n", "k")
    dtype = case.text("dtype", "f32")
    if dtype == "i8":
        x = torch.from_numpy(filled_bytes((m, k), 1, 50))
        w = torch.from_numpy(filled_bytes((k, n), 2, 50))
        return work(torch._int_mm, x, w)
    turned = case.number("turned", 0)
    x, w, b = (tensor((m, k), 1),
               tensor((n, k) if turned else (k, n), 2, 0.1), tensor((n,), 3))
    if dtype in ("bf16", "f16"):
        half = torch.bfloat16 if dtype == "bf16" else torch.float16
        x, w, b = x.to(half), w.to(half), b.to(half)
    bias, relu = case.number("bias", 0), case.number("relu", 0)

    def call(x, w, b):
        w = w.t() if turned else w
        y = torch.addmm(b, x, w) if bias else torch.mm(x, w)
        return y.relu_() if relu else y

    if case.number("packed", 0) and MODE == "compile":
        return frozen(call, x, w, b)
    return work(call, x, w, b)


def frozen(call, x, w, b):
    """With the weights as constants, which inductor may pack."""
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b = torch.nn.Parameter(w), torch.nn.Parameter(b)

        def forward(self, x):
            return call(x, self.w, self.b)

    module = torch.compile(Module().eval(), dynamic=False,
                           options={"freezing": True})

    def run():
        with torch.no_grad():
            return module(x)

    return Work(run, result)


def linear_rows(case):
    m, n, k = case.numbers("m", "n", "k")
    dtype = torch.bfloat16 if case.text("dtype", "f32") == "bf16" \
        else torch.float32
    inputs = [tensor((m, k), 1), tensor((k, n), 2, 0.1), tensor((n,), 3),
              tensor((n,), 4), tensor((m, n), 5)]
    norm = case.text("then") == "layer_norm"
    residual = case.number("residual", 0)

    def call(x, w, b, scale, r):
        y = torch.addmm(b, x, w)
        y = y + r if residual else y
        if norm:
            return functional.layer_norm(y, (n,), scale, b, 1e-5)
        return torch.softmax(y, -1)

    return work(call, *(each.to(dtype) for each in inputs))


def rows(case):
    return tensor(case.numbers("rows", "cols"), 1, 4)


def softmax(case):
    return work(lambda x: torch.softmax(x, -1), rows(case))


def layer_norm(case):
    cols = case.number("cols")
    return work(
        lambda x, w, b: functional.layer_norm(x, (cols,), w, b, 1e-5),
        rows(case), tensor((cols,), 2), tensor((cols,), 3))


def gelu(case):
    form = "tanh" if case.text("form") == "tanh" else "none"
    return work(lambda x: functional.gelu(x, approximate=form), rows(case))


def chain(case):
    def call(x):
        y = torch.relu(x * 1.5 + 0.3) * 0.7 - 0.25
        return -torch.sqrt(torch.abs(y) + 1.25) + 3.5

    return work(call, tensor((case.number("n"),), 1))


def by_rows(function):
    return lambda case: work(function,
                             tensor(case.numbers("rows", "cols"), 1))


def topk(case):
    count = case.number("k")
    return work(lambda x: torch.topk(x, count, -1)[0],
                tensor(case.numbers("rows", "cols"), 1))


def sort(case):
    return work(lambda x: torch.sort(x, stable=True)[0],
                tensor(case.numbers("rows", "cols"), 1))


# ---- convolution ------------------------------------------------------------
def convolution_inputs(case):
    h, w, c, o, kernel = case.numbers("h", "w", "c", "o", "kernel")
    groups = case.number("groups", 1)
    x = tensor((case.number("batch", 1), h, w, c), 1).permute(0, 3, 1, 2)
    weight = tensor((o, c // groups, kernel, kernel), 2, 0.1)
    weight = weight.contiguous(memory_format=torch.channels_last)
    options = {"stride": case.number("stride", 1),
               "padding": case.number("pad", 0), "groups": groups}
    return x, weight, options


def in_memory_order(value):
    return value.detach().permute(0, 2, 3, 1).numpy()


def conv2d(case):
    x, weight, options = convolution_inputs(case)
    made = work(lambda x, w: functional.conv2d(x, w, **options), x, weight)
    made.result = in_memory_order
    return made


def max_pool(case):
    h, w, c, kernel = case.numbers("h", "w", "c", "kernel")
    x = tensor((1, h, w, c), 1).permute(0, 3, 1, 2)
    options = {"stride": case.number("stride", 1),
               "padding": case.number("pad", 0)}
    made = work(lambda x: functional.max_pool2d(x, kernel, **options), x)
    made.result = in_memory_order
    return made


def conv2d_step(case):
    x, weight, options = convolution_inputs(case)
    x.requires_grad_(True)
    weight.requires_grad_(True)
    y = functional.conv2d(x, weight, **options)
    n, c, h, w = y.shape
    cotangent = tensor((n, h, w, c), 3).permute(0, 3, 1, 2)

    def forward(x, weight):
        return functional.conv2d(x, weight, **options)

    if MODE == "compile":
        forward = torch.compile(forward, dynamic=False)

    def call():
        y = forward(x, weight)
        return torch.autograd.grad(y, (x, weight), cotangent)[0]

    return Work(call, in_memory_order)


# ---- attention --------------------------------------------------------------
def attention(case):
    shape = case.numbers("b", "h", "t", "d")
    causal = bool(case.number("causal", 0))
    q, k, v = (tensor(shape, seed) for seed in (1, 2, 3))
    return work(
        lambda q, k, v: functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal), q, k, v)


def attention_step(case):
    shape = case.numbers("b", "h", "t", "d")
    causal = bool(case.number("causal", 0))
    q, k, v = (tensor(shape, seed).requires_grad_(True) for seed in (1, 2, 3))
    cotangent = tensor(shape, 4)

    def forward(q, k, v):
        return functional.scaled_dot_product_attention(q, k, v,
                                                       is_causal=causal)

    if MODE == "compile":
        forward = torch.compile(forward, dynamic=False)
    return Work(lambda: torch.autograd.grad(forward(q, k, v), (q, k, v),
                                            cotangent)[0], result)


# ---- training steps ---------------------------------------------------------
def step(case):
    model, loss_of = torch_models.make(case)
    compiled = MODE == "compile"
    adam = torch.optim.Adam(model.parameters(), 0.001, foreach=compiled,
                            fused=not compiled)
    update = torch.compile(adam.step, dynamic=False) if compiled else adam.step
    forward = torch.compile(loss_of, dynamic=False) if compiled else loss_of

    def call():
        adam.zero_grad(set_to_none=True)
        loss = forward(model)
        loss.backward()
        update()
        return loss

    return Work(call, result)


def copy(case):
    count = case.number("bytes") // 4
    source, target = tensor((count,), 1), torch.zeros(count)
    return Work(lambda: target.copy_(source), lambda value: None)


KINDS = {
    "matmul": matmul, "linear_rows": linear_rows, "softmax": softmax, "layer_norm": layer_norm,
    "gelu": gelu, "chain": chain, "topk": topk, "sort": sort, "conv2d": conv2d,
    "conv2d_step": conv2d_step, "attention": attention,
    "attention_step": attention_step, "step_mlp": step, "step_cnn": step,
    "step_transformer": step, "step_gru": step, "step_residual": step,
    "max_pool": max_pool,
    "column_sum": by_rows(lambda x: torch.sum(x, 0)),
    "amax": by_rows(lambda x: torch.amax(x, 1)),
    "argmax": by_rows(lambda x: torch.argmax(x, 1)),
    "cumsum": by_rows(lambda x: torch.cumsum(x, 1)),
}


def make(case):
    if MODE == "copy":
        if case.kind != "copy":
            raise Unsupported("only copies")
        return copy(case)
    if case.kind not in KINDS:
        raise Unsupported("no function for " + case.kind)
    torch._dynamo.reset()
    return KINDS[case.kind](case)


def main():
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.set_num_interop_threads(1)
    worker.serve(make, lambda: f"version={torch.__version__} "
                 f"threads={torch.get_num_threads()}")


if __name__ == "__main__":
    main()
