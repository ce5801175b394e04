"""PyTorch: `torch_side.py eager|compile|graph|copy`, on SINTER_BENCH_DEVICE
(cpu); `graph` is eager in one CUDA graph, of training steps with the model
compiled."""

import itertools
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch  # noqa: E402
import torch.nn.functional as functional  # noqa: E402
import torch_models  # noqa: E402
import torch_odd  # noqa: E402
import worker  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from worker import DEVICE, Unsupported, Work, filled, filled_bytes  # noqa: E402

MODE = sys.argv[1] if len(sys.argv) > 1 else "eager"
HALVES = {"bf16": torch.bfloat16, "f16": torch.float16}


def tensor(shape, seed, scale=1.0):
    if DEVICE == "cpu":
        return torch.from_numpy(filled(shape, seed, scale))
    # The same numbers, which the device makes faster.
    mask = 0xFFFFFFFF
    x = torch.arange(math.prod(shape), device=DEVICE)
    x = (x + (seed * 0x9E3779B9 & mask)) & mask
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & mask
    x = ((x ^ (x >> 15)) * 0x846CA68B) & mask
    bits = (x ^ (x >> 16)) >> 8
    return ((bits.to(torch.float32) * 2.0**-23 - 1) * scale).reshape(shape)


def tensor_for(case, shape, seed, scale=1.0):
    """The same in the case's dtype."""
    made = tensor(shape, seed, scale)
    return made.to(HALVES.get(case.text("dtype"), torch.float32))


def result(value):
    return value.detach().float().cpu().numpy()


def made_of(call, result=result):
    """A case's work; captured in a graph if that is the mode."""
    if DEVICE == "cpu":
        return Work(call, result)
    wait = torch.cuda.synchronize
    if MODE != "graph":
        return Work(call, result, wait)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        value = call()

    def replay():
        graph.replay()
        return value

    # A graph does not keep its inputs: their memory would be given to others,
    # and a product of mostly zeros takes less power and is faster.
    replay.inputs = call
    return Work(replay, result, wait)


def work(function, *inputs):
    """The function on these inputs, compiled if that is the mode."""
    if MODE == "compile":
        function = torch.compile(function, dynamic=False)
    return made_of(lambda: function(*inputs))


def matmul(case):
    m, n, k = case.numbers("m", "n", "k")
    dtype = case.text("dtype", "f32")
    if dtype == "i8":
        x = torch.from_numpy(filled_bytes((m, k), 1, 50))
        w = torch.from_numpy(filled_bytes((k, n), 2, 50))
        return work(torch._int_mm, x, w)
    turned = case.number("turned", 0)
    x, w, b = (tensor_for(case, (m, k), 1),
               tensor_for(case, (n, k) if turned else (k, n), 2, 0.1),
               tensor_for(case, (n,), 3))
    bias, relu = case.number("bias", 0), case.number("relu", 0)
    fuses = DEVICE != "cpu" and bias and relu and MODE != "compile"

    def call(x, w, b):
        w = w.t() if turned else w
        if fuses:  # cuBLASLt's epilogue
            return torch._addmm_activation(b, x, w, use_gelu=False)
        y = torch.addmm(b, x, w) if bias else torch.mm(x, w)
        return y.relu_() if relu else y

    if case.number("packed", 0) and MODE == "compile":
        return frozen(call, x, w, b)
    if case.number("rotate", 1) > 1:
        return rotating(call, x, w, b, case.number("rotate"))
    return work(call, x, w, b)


def rotating(call, x, w, b, count):
    """Calls take copies of the weight in turn, so that none is in a cache."""
    weights = itertools.cycle([w] + [w.clone() for _ in range(count - 1)])
    if MODE == "compile":
        call = torch.compile(call, dynamic=False)
    if MODE == "graph":
        raise Unsupported("a graph has one weight")
    return made_of(lambda: call(x, next(weights), b))


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

    return made_of(run)


def linear_rows(case):
    m, n, k = case.numbers("m", "n", "k")
    inputs = [tensor_for(case, (m, k), 1), tensor_for(case, (k, n), 2, 0.1),
              tensor_for(case, (n,), 3), tensor_for(case, (n,), 4),
              tensor_for(case, (m, n), 5)]
    norm = case.text("then") == "layer_norm"
    residual = case.number("residual", 0)

    def call(x, w, b, scale, r):
        y = torch.addmm(b, x, w)
        y = y + r if residual else y
        if norm:
            return functional.layer_norm(y, (n,), scale, b, 1e-5)
        return torch.softmax(y, -1)

    return work(call, *inputs)


def rows(case):
    return tensor_for(case, case.numbers("rows", "cols"), 1, 4)


def softmax(case):
    return work(lambda x: torch.softmax(x, -1), rows(case))


def layer_norm(case):
    cols = case.number("cols")
    return work(
        lambda x, w, b: functional.layer_norm(x, (cols,), w, b, 1e-5),
        rows(case), tensor_for(case, (cols,), 2), tensor_for(case, (cols,), 3))


def layer_norm_gradient(case):
    cols = case.number("cols")
    inputs = [rows(case), tensor_for(case, (cols,), 2),
              tensor_for(case, (cols,), 3)]
    for each in inputs:
        each.requires_grad_(True)
    cotangent = tensor_for(case, inputs[0].shape, 4)

    def forward(x, w, b):
        return functional.layer_norm(x, (cols,), w, b, 1e-5)

    # Compiled and captured functions make the result each time, too.
    if MODE == "compile":
        forward = torch.compile(forward, dynamic=False)
    if MODE == "eager":
        y = forward(*inputs)
        return made_of(lambda: torch.autograd.grad(
            y, inputs, cotangent, retain_graph=True)[0])
    return made_of(
        lambda: torch.autograd.grad(forward(*inputs), inputs, cotangent)[0])


def transpose_add(case):
    shape = (case.number("n"),) * 2
    return work(lambda x, y: x.t() + y, tensor_for(case, shape, 1),
                tensor_for(case, shape, 2))


def gelu(case):
    form = "tanh" if case.text("form") == "tanh" else "none"
    return work(lambda x: functional.gelu(x, approximate=form), rows(case))


def chain(case):
    def call(x):
        y = torch.relu(x * 1.5 + 0.3) * 0.7 - 0.25
        return -torch.sqrt(torch.abs(y) + 1.25) + 3.5

    return work(call, tensor_for(case, (case.number("n"),), 1))


def by_rows(function):
    return lambda case: work(
        function, tensor_for(case, case.numbers("rows", "cols"), 1))


def cumsum(case):
    axis = case.number("axis", 1)
    return work(lambda x: torch.cumsum(x, axis),
                tensor(case.numbers("rows", "cols"), 1))


def row_sum(case):
    return work(lambda x: torch.sum(x, 1),
                tensor_for(case, case.numbers("rows", "cols"), 1))


def topk(case):
    count = case.number("k")
    return work(lambda x: torch.topk(x, count, -1)[0],
                tensor(case.numbers("rows", "cols"), 1))


def sort(case):
    return work(lambda x: torch.sort(x, stable=True)[0],
                tensor(case.numbers("rows", "cols"), 1))


# ---- convolution ------------------------------------------------------------
def channels_first(case):
    return case.text("layout") == "first"


def convolution_inputs(case):
    h, w, c, o, kernel = case.numbers("h", "w", "c", "o", "kernel")
    groups = case.number("groups", 1)
    batch = case.number("batch", 1)
    weight = tensor_for(case, (o, c // groups, kernel, kernel), 2, 0.1)
    if channels_first(case):
        x = tensor_for(case, (batch, c, h, w), 1)
    else:
        x = tensor_for(case, (batch, h, w, c), 1).permute(0, 3, 1, 2)
        weight = weight.contiguous(memory_format=torch.channels_last)
    options = {"stride": case.number("stride", 1),
               "padding": case.number("pad", 0), "groups": groups}
    return x, weight, options


def in_memory_order(case):
    if channels_first(case):
        return result
    return lambda value: result(value.permute(0, 2, 3, 1))


def conv2d(case):
    x, weight, options = convolution_inputs(case)
    made = work(lambda x, w: functional.conv2d(x, w, **options), x, weight)
    made.result = in_memory_order(case)
    return made


def max_pool(case):
    h, w, c, kernel = case.numbers("h", "w", "c", "kernel")
    x = tensor((1, h, w, c), 1).permute(0, 3, 1, 2)
    options = {"stride": case.number("stride", 1),
               "padding": case.number("pad", 0)}
    made = work(lambda x: functional.max_pool2d(x, kernel, **options), x)
    made.result = in_memory_order(case)
    return made


def conv2d_step(case):
    x, weight, options = convolution_inputs(case)
    x.requires_grad_(True)
    weight.requires_grad_(True)
    y = functional.conv2d(x, weight, **options)
    n, c, h, w = y.shape
    if channels_first(case):
        cotangent = tensor_for(case, (n, c, h, w), 3)
    else:
        cotangent = tensor_for(case, (n, h, w, c), 3).permute(0, 3, 1, 2)

    def forward(x, weight):
        return functional.conv2d(x, weight, **options)

    if MODE == "compile":
        forward = torch.compile(forward, dynamic=False)

    def call():
        y = forward(x, weight)
        return torch.autograd.grad(y, (x, weight), cotangent)[0]

    return made_of(call, in_memory_order(case))


# ---- attention --------------------------------------------------------------
def attend(q, k, v, causal):
    shared = q.shape[1] != k.shape[1]  # cuDNN's has no shared heads everywhere
    if DEVICE == "cpu" or MODE == "compile" or shared:
        return functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, enable_gqa=shared)
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return functional.scaled_dot_product_attention(q, k, v,
                                                       is_causal=causal)


def queries_keys_values(case):
    b, h, t, d = case.numbers("b", "h", "t", "d")
    keys = (b, int(case.number("kv", h)), int(case.number("s", t)), d)
    return [tensor_for(case, shape, seed)
            for seed, shape in ((1, (b, h, t, d)), (2, keys), (3, keys))]


def attention(case):
    causal = bool(case.number("causal", 0))
    return work(lambda q, k, v: attend(q, k, v, causal),
                *queries_keys_values(case))


def attention_step(case):
    causal = bool(case.number("causal", 0))
    q, k, v = (x.requires_grad_(True) for x in queries_keys_values(case))
    cotangent = tensor_for(case, tuple(q.shape), 4)

    def forward(q, k, v):
        return attend(q, k, v, causal)

    if MODE == "compile":
        forward = torch.compile(forward, dynamic=False)
    return made_of(lambda: torch.autograd.grad(forward(q, k, v), (q, k, v),
                                               cotangent)[0])


# ---- operators of models ----------------------------------------------------
def odd(case):
    """A function of torch_odd, or with `step` its gradients."""
    function, inputs = torch_odd.FUNCTIONS[case.kind](
        case, lambda *given: tensor_for(case, *given))
    if not case.number("step", 0):
        return work(function, *inputs)
    for each in inputs:
        each.requires_grad_(True)
    cotangent = tensor_for(case, function(*inputs).shape, 9)
    if MODE == "compile":
        function = torch.compile(function, dynamic=False)
    return made_of(lambda: torch.autograd.grad(function(*inputs), inputs,
                                               cotangent)[0])


# ---- training steps ---------------------------------------------------------
def step(case):
    model, loss_of = torch_models.make(case)
    compiled, captured = MODE == "compile", MODE == "graph"
    adam = torch.optim.Adam(model.parameters(), 0.001, foreach=compiled,
                            fused=not compiled, capturable=captured)
    update = torch.compile(adam.step, dynamic=False) if compiled else adam.step
    forward = (torch.compile(loss_of, dynamic=False) if compiled or captured
               else loss_of)
    first = []

    def call():
        adam.zero_grad(set_to_none=True)
        loss = forward(model)
        loss.backward()
        update()
        if not first:
            first.append(loss.detach().clone())
        return loss

    # The loss of the very first step, which capturing has done already.
    return made_of(call, lambda _: result(first[0]))


def copy(case):
    count = case.number("bytes") // 4
    source = tensor((count,), 1)
    pairs = itertools.cycle(
        [(torch.zeros_like(source), source.clone())
         for _ in range(case.number("rotate", 1))])

    def call():
        target, source = next(pairs)
        return target.copy_(source)

    return made_of(call, lambda value: None)


KINDS = {
    "matmul": matmul, "linear_rows": linear_rows, "softmax": softmax, "layer_norm": layer_norm,
    "layer_norm_gradient": layer_norm_gradient,
    "transpose_add": transpose_add, "gelu": gelu, "chain": chain, "topk": topk, "sort": sort, "conv2d": conv2d,
    "conv2d_step": conv2d_step, "attention": attention,
    "attention_step": attention_step, "step_mlp": step, "step_cnn": step,
    "step_transformer": step, "step_gru": step, "step_residual": step,
    "max_pool": max_pool,
    "column_sum": by_rows(lambda x: torch.sum(x, 0)),
    "amax": by_rows(lambda x: torch.amax(x, 1)),
    "argmax": by_rows(lambda x: torch.argmax(x, 1)),
    "cumsum": cumsum, "row_sum": row_sum,
} | dict.fromkeys(torch_odd.FUNCTIONS, odd)


def make(case):
    if MODE == "copy":
        if case.kind != "copy":
            raise Unsupported("only copies")
        return copy(case)
    if case.kind not in KINDS:
        raise Unsupported("no function for " + case.kind)
    torch._dynamo.reset()
    return KINDS[case.kind](case)


def setup():
    """Settles what PyTorch may use; gives what says so."""
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.set_num_interop_threads(1)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    where = DEVICE if DEVICE == "cpu" else torch.cuda.get_device_name()
    return lambda: (f"version={torch.__version__} "
                    f"threads={torch.get_num_threads()} "
                    f"device={where.replace(' ', '_')}")


if __name__ == "__main__":
    worker.serve(make, setup())
