import torch
import torch.nn.functional as functional
from models.common import in_heads, joined, prepared, whole_numbers
from torch import nn


class Block(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(size)
        self.attn = nn.Linear(size, 3 * size)
        self.gather = nn.Linear(size, size)
        self.ln2 = nn.LayerNorm(size)
        self.fc = nn.Linear(size, 4 * size)
        self.contract = nn.Linear(4 * size, size)

    def forward(self, x):
        q, k, v = self.attn(self.ln1(x)).chunk(3, -1)
        mixed = functional.scaled_dot_product_attention(
            in_heads(q, self.heads), in_heads(k, self.heads),
            in_heads(v, self.heads), is_causal=True)
        x = x + self.gather(joined(mixed))
        y = functional.gelu(self.fc(self.ln2(x)), approximate="tanh")
        return x + self.contract(y)


class Gpt2(nn.Module):
    def __init__(self, words, places, size, heads, layers):
        super().__init__()
        self.wte = nn.Embedding(words, size)
        self.wpe = nn.Embedding(places, size)
        self.h = nn.ModuleList(Block(size, heads) for _ in range(layers))
        self.lnf = nn.LayerNorm(size)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1],
                                                  device=ids.device))
        for block in self.h:
            x = block(x)
        return functional.linear(self.lnf(x), self.wte.weight)


def make(case):
    batch, t, words = case.numbers("batch", "t", "words")
    model = prepared(Gpt2(words, t, *case.numbers("size", "heads", "layers")),
                     case)
    ids = whole_numbers((batch, t), 1, words)
    following = whole_numbers((batch * t,), 2, words)

    def loss():
        return functional.cross_entropy(model(ids).flatten(0, 1), following)

    return model, lambda: model(ids), loss, "adamw"
