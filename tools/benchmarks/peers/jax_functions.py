"""The cases as functions of jax.numpy, for JAX and for IREE."""

import jax
import jax.numpy as jnp
from worker import Unsupported, filled


def matmul(case):
    m, n, k = case.numbers("m", "n", "k")
    dtype = case.text("dtype", "f32")
    if dtype == "i8":
        raise Unsupported("int8")
    turned = case.number("turned", 0)
    x, w, b = (filled((m, k), 1),
               filled((n, k) if turned else (k, n), 2, 0.1), filled((n,), 3))
    if dtype in ("bf16", "f16"):
        half = jnp.bfloat16 if dtype == "bf16" else jnp.float16
        x, w, b = (jnp.asarray(v, half) for v in (x, w, b))
    bias, relu = case.number("bias", 0), case.number("relu", 0)

    def call(x, w, *b):
        y = x @ (w.T if turned else w)
        y = y + b[0] if bias else y
        return jnp.maximum(y, 0) if relu else y

    return call, (x, w, b) if bias else (x, w)


def rows(case):
    return filled(case.numbers("rows", "cols"), 1, 4)


def softmax(case):
    return lambda x: jax.nn.softmax(x, axis=-1), (rows(case),)


def layer_norm(case):
    def call(x, w, b):
        mean = jnp.mean(x, -1, keepdims=True)
        var = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(var + 1e-5) * w + b

    cols = case.number("cols")
    return call, (rows(case), filled((cols,), 2), filled((cols,), 3))


def gelu(case):
    form = case.text("form") == "tanh"
    return lambda x: jax.nn.gelu(x, approximate=form), (rows(case),)


def chain(case):
    def call(x):
        y = jnp.maximum(x * 1.5 + 0.3, 0) * 0.7 - 0.25
        return -jnp.sqrt(jnp.abs(y) + 1.25) + 3.5

    return call, (filled((case.number("n"),), 1),)


def by_rows(function):
    return lambda case: (function, (filled(case.numbers("rows", "cols"), 1),))


def topk(case):
    count = case.number("k")
    return (lambda x: jax.lax.top_k(x, count)[0],
            (filled(case.numbers("rows", "cols"), 1),))


def sort(case):
    """The values alone, which is less than the others do."""
    return (lambda x: jnp.sort(x, -1),
            (filled(case.numbers("rows", "cols"), 1),))


def conv2d(case):
    h, w, c, o, kernel = case.numbers("h", "w", "c", "o", "kernel")
    groups, pad = case.number("groups", 1), case.number("pad", 0)
    stride = case.number("stride", 1)
    x = filled((case.number("batch", 1), h, w, c), 1)
    weight = filled((o, c // groups, kernel, kernel), 2, 0.1)

    def call(x, weight):
        return jax.lax.conv_general_dilated(
            x, weight, (stride, stride), ((pad, pad), (pad, pad)),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups)

    return call, (x, weight.transpose(2, 3, 1, 0).copy())


def attention(case):
    b, h, t, d = case.numbers("b", "h", "t", "d")
    q, k, v = (filled((b, h, t, d), seed) for seed in (1, 2, 3))
    causal = case.number("causal", 0)

    def call(q, k, v):
        scores = jnp.einsum("bhtd,bhsd->bhts", q, k) / jnp.sqrt(float(d))
        if causal:
            seen = jnp.tril(jnp.ones((t, t), bool))
            scores = jnp.where(seen, scores, -jnp.inf)
        return jnp.einsum("bhts,bhsd->bhtd", jax.nn.softmax(scores, -1), v)

    return call, (q, k, v)


KINDS = {
    "matmul": matmul, "softmax": softmax, "layer_norm": layer_norm,
    "gelu": gelu, "chain": chain, "topk": topk, "sort": sort, "conv2d": conv2d,
    "attention": attention,
    "column_sum": by_rows(lambda x: jnp.sum(x, 0)),
    "amax": by_rows(lambda x: jnp.max(x, 1)),
    "argmax": by_rows(lambda x: jnp.argmax(x, 1)),
    "cumsum": by_rows(lambda x: jnp.cumsum(x, 1)),
}


def function_of(case):
    """The function and its arguments."""
    if case.kind not in KINDS:
        raise Unsupported("no function for " + case.kind)
    return KINDS[case.kind](case)
