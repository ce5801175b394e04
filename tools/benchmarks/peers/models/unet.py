import torch.nn.functional as functional
from models.common import in_heads, inputs, joined, prepared
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm2 = nn.GroupNorm(groups, channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        y = self.conv1(functional.silu(self.norm1(x)))
        return x + self.conv2(functional.silu(self.norm2(y)))


class Attention(nn.Module):
    def __init__(self, channels, groups, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(groups, channels)
        self.query = nn.Linear(channels, channels)
        self.key = nn.Linear(channels, channels)
        self.value = nn.Linear(channels, channels)
        self.merge = nn.Linear(channels, channels)

    def forward(self, x):
        y = self.norm(x).flatten(2).transpose(1, 2)
        mixed = functional.scaled_dot_product_attention(
            in_heads(self.query(y), self.heads),
            in_heads(self.key(y), self.heads),
            in_heads(self.value(y), self.heads))
        out = self.merge(joined(mixed))
        return x + out.transpose(1, 2).reshape(x.shape)


class UNetBlock(nn.Module):
    def __init__(self, channels, groups, heads):
        super().__init__()
        self.first = Residual(channels, groups)
        self.down = nn.Conv2d(channels, channels, 3, 2, 1)
        self.attention = Attention(channels, groups, heads)
        self.up = nn.Conv2d(channels, channels, 3, padding=1)
        self.last = Residual(channels, groups)

    def forward(self, x):
        wide = self.first(x)
        small = self.attention(self.down(wide))
        large = functional.interpolate(small, scale_factor=2.0)
        return self.last(wide + self.up(large))


def make(case):
    batch, channels, image = case.numbers("batch", "channels", "image")
    model = prepared(UNetBlock(channels, *case.numbers("groups", "heads")),
                     case)
    shape = (batch, channels, image, image)
    x, noise = (inputs(case, shape, seed) for seed in (1, 2))
    return (model, lambda: model(x),
            lambda: functional.mse_loss(model(x), noise), "adamw")
