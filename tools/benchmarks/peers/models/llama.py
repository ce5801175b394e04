import torch
import torch.nn.functional as functional
from models.common import in_heads, inputs, joined, prepared
from torch import nn


def rotated(x, cos, sin):
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin,
                      first * sin + second * cos], -1)


class Layer(nn.Module):
    def __init__(self, size, heads, kv_heads, ffn):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        narrow = size // heads * kv_heads
        self.norm1 = nn.RMSNorm(size, eps=1e-5)
        self.wq = nn.Linear(size, size, bias=False)
        self.wk = nn.Linear(size, narrow, bias=False)
        self.wv = nn.Linear(size, narrow, bias=False)
        self.wo = nn.Linear(size, size, bias=False)
        self.norm2 = nn.RMSNorm(size, eps=1e-5)
        self.w1 = nn.Linear(size, ffn, bias=False)
        self.w2 = nn.Linear(ffn, size, bias=False)
        self.w3 = nn.Linear(size, ffn, bias=False)

    def qkv(self, x, cos, sin):
        n = self.norm1(x)
        return (rotated(in_heads(self.wq(n), self.heads), cos, sin),
                rotated(in_heads(self.wk(n), self.kv_heads), cos, sin),
                in_heads(self.wv(n), self.kv_heads))

    def rest(self, x, mixed):
        x = x + self.wo(joined(mixed))
        n = self.norm2(x)
        return x + self.w2(functional.silu(self.w1(n)) * self.w3(n))

    def forward(self, x, cos, sin):
        q, k, v = self.qkv(x, cos, sin)
        return self.rest(x, functional.scaled_dot_product_attention(
            q, k, v, is_causal=True, enable_gqa=True))

    def decode(self, x, cos, sin, cache, position):
        q, k, v = self.qkv(x, cos[position], sin[position])
        keys, values = cache
        keys.index_copy_(2, position, k)
        values.index_copy_(2, position, v)
        seen = torch.arange(keys.shape[2], device=x.device) <= position
        return self.rest(x, functional.scaled_dot_product_attention(
            q, keys, values, attn_mask=seen[None], enable_gqa=True))


class Llama(nn.Module):
    def __init__(self, size, heads, kv_heads, ffn, layers, places):
        super().__init__()
        self.layers = nn.ModuleList(Layer(size, heads, kv_heads, ffn)
                                    for _ in range(layers))
        self.norm = nn.RMSNorm(size, eps=1e-5)
        half = size // heads // 2
        angles = (torch.arange(places, dtype=torch.float64)[:, None]
                  * 10000.0 ** (-torch.arange(half, dtype=torch.float64)
                                / half))
        self.register_buffer("cos", angles.cos().float())
        self.register_buffer("sin", angles.sin().float())

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.cos[:x.shape[1]], self.sin[:x.shape[1]])
        return self.norm(x)

    def decode(self, x, caches, position):
        for layer, cache in zip(self.layers, caches):
            x = layer.decode(x, self.cos, self.sin, cache, position)
        return self.norm(x)


def decoding(model, case, sizes):
    size, heads, kv_heads, _, layers = sizes
    batch, places = case.numbers("batch", "places")
    x = inputs(case, (batch, 1, size), 1)
    shape = (batch, kv_heads, places, size // heads)
    caches = [[inputs(case, shape, 10 + 2 * layer + part) for part in (0, 1)]
              for layer in range(layers)]
    for cache in caches:
        for each in cache:  # so that CUDA graphs may write to it
            torch._dynamo.mark_static_address(each)
    # Positions on the device, which compiled code can take.
    positions = torch.arange(places, device=x.device).unsqueeze(1)
    position = positions[places // 2].clone()
    at = [places // 2]

    def forward():
        return model.decode(x, caches, position)

    def advance():
        at[0] = at[0] + 1 if at[0] + 1 < places else places // 2
        position.copy_(positions[at[0]])

    forward.after = advance
    return model, forward, None, ""


def make(case):
    sizes = case.numbers("size", "heads", "kv_heads", "ffn", "layers")
    decodes = case.text("do") == "decode"
    batch, t = case.number("batch"), case.number("t", 1)
    places = case.number("places") if decodes else t
    model = prepared(Llama(*sizes, places), case)
    if decodes:
        return decoding(model, case, sizes)
    x = inputs(case, (batch, t, sizes[0]), 1)
    target = inputs(case, (batch, t, sizes[0]), 2)
    return (model, lambda: model(x),
            lambda: functional.mse_loss(model(x), target), "adamw")
