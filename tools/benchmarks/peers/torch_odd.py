"""Operators of models by themselves, as in native/Odd.cpp: each gives the
function and its inputs."""

import torch.nn.functional as functional
from torch_models import whole_numbers


def shared_attention(case, tensor):
    b, heads, kv, t, s, d = case.numbers("b", "h", "kv", "t", "s", "d")
    causal = bool(case.number("causal", 0))
    inputs = [tensor((b, heads, t, d), 1), tensor((b, kv, s, d), 2),
              tensor((b, kv, s, d), 3)]
    spelling, group = case.text("spelling", "option"), heads // kv

    def spread(x):
        if spelling == "repeat":
            return x.repeat_interleave(group, 1)
        if spelling == "expand":
            return x.unsqueeze(2).expand(-1, -1, group, -1, -1).flatten(1, 2)
        return x

    def call(q, k, v):
        return functional.scaled_dot_product_attention(
            q, spread(k), spread(v), is_causal=causal,
            enable_gqa=spelling == "option")

    return call, inputs


def linear_gelu(case, tensor):
    m, n, k = case.numbers("m", "n", "k")
    return (lambda x, w, b: functional.gelu(functional.linear(x, w, b),
                                            approximate="tanh"),
            [tensor((m, k), 1), tensor((n, k), 2, 0.1), tensor((n,), 3)])


def embedding(case, tensor):
    words, d, n = case.numbers("words", "d", "n")
    ids = whole_numbers((n,), 2, words)
    return lambda table: functional.embedding(ids, table), [
        tensor((words, d), 1)]


def images(case, tensor):
    return tensor(case.numbers("batch", "c", "h", "w"), 1)


def batch_norm(case, tensor):
    channels = case.number("c")
    return (lambda x, w, b: functional.batch_norm(x, None, None, w, b, True),
            [images(case, tensor), tensor((channels,), 2),
             tensor((channels,), 3)])


def group_norm_silu(case, tensor):
    channels, groups = case.numbers("c", "groups")
    return (lambda x, w, b: functional.silu(
        functional.group_norm(x, groups, w, b)),
            [images(case, tensor), tensor((channels,), 2),
             tensor((channels,), 3)])


def pooling(case, tensor):
    kernel, stride, pad = case.numbers("kernel", "stride", "pad")
    return lambda x: functional.max_pool2d(x, kernel, stride, pad), [
        images(case, tensor)]


FUNCTIONS = {"shared_attention": shared_attention, "linear_gelu": linear_gelu,
             "embedding": embedding, "batch_norm": batch_norm,
             "group_norm_silu": group_norm_silu, "pooling": pooling}
