"""The models of the training steps, as in native/Training.cpp."""

import torch
import torch.nn.functional as functional
import worker
from torch import nn


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.queries, self.keys = nn.Linear(d, d), nn.Linear(d, d)
        self.values, self.joined = nn.Linear(d, d), nn.Linear(d, d)
        self.wide, self.narrow = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def split(self, x):
        b, t, d = x.shape
        return x.view(b, t, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x):
        y = self.norm1(x)
        mixed = functional.scaled_dot_product_attention(
            self.split(self.queries(y)), self.split(self.keys(y)),
            self.split(self.values(y)), is_causal=True)
        x = x + self.joined(mixed.transpose(1, 2).reshape(x.shape))
        y = functional.gelu(self.wide(self.norm2(x)), approximate="tanh")
        return x + self.narrow(y)


class Transformer(nn.Module):
    def __init__(self, vocab, t, d, heads, layers):
        super().__init__()
        self.tokens = nn.Parameter(torch.zeros(vocab, d))
        self.places = nn.Parameter(torch.zeros(t, d))
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, ids):
        x = functional.embedding(ids, self.tokens) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Mlp(nn.Module):
    def __init__(self, inputs, hidden, out):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, out)

    def forward(self, x):
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class Gru(nn.Module):
    """The cell written out, as on the other sides; steps in a loop."""

    def __init__(self, inputs, size, out):
        super().__init__()
        self.input = nn.Linear(inputs, 3 * size)
        self.hidden = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, out)
        self.size = size

    def forward(self, xs):
        h = xs.new_zeros(xs.shape[1], self.size)
        for x in xs.unbind(0):
            a, b = self.input(x).chunk(3, 1), self.hidden(h).chunk(3, 1)
            reset = torch.sigmoid(a[0] + b[0])
            update = torch.sigmoid(a[1] + b[1])
            following = torch.tanh(a[2] + reset * b[2])
            h = (1 - update) * following + update * h
        return self.out(h)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3)
        self.fc1, self.fc2 = nn.Linear(16 * 8 * 8, 512), nn.Linear(512, 10)

    def forward(self, x):
        x = functional.dropout(self.conv1(x), 0.5)
        x = torch.relu(functional.dropout(self.conv2(x), 0.5))
        x = functional.adaptive_avg_pool2d(x, (8, 8)).flatten(1)
        x = torch.relu(functional.dropout(self.fc1(x), 0.5))
        return self.fc2(x)


class NormedConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs, track_running_stats=False)

    def forward(self, x):
        return self.norm(self.conv(x))


class ResidualBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = NormedConv(channels, channels)
        self.second = NormedConv(channels, channels)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.first(x))))


class ResidualNet(nn.Module):
    def __init__(self, channels, count):
        super().__init__()
        self.stem = NormedConv(3, channels)
        self.blocks = nn.ModuleList(ResidualBlock(channels)
                                    for _ in range(count))
        self.head = nn.Linear(channels, 10)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


def with_first_values(model):
    with torch.no_grad():
        for i, (name, param) in enumerate(model.named_parameters()):
            value = worker.first_value(name, tuple(param.shape), 100 + i)
            param.copy_(torch.from_numpy(value))
    return model.to(worker.DEVICE)


def batch(shape, target_shape, limit):
    return (torch.from_numpy(worker.filled(shape, 1)).to(worker.DEVICE),
            whole_numbers(target_shape, 2, limit))


def whole_numbers(shape, seed, limit):
    return torch.from_numpy(worker.labels(shape, seed, limit)).to(worker.DEVICE)


def make(case):
    """The model and the function that gives its loss."""
    if case.kind == "step_mlp":
        inputs, hidden, out, count = case.numbers("in", "hidden", "out",
                                                  "batch")
        images, digits = batch((count, inputs), (count,), out)
        return with_first_values(Mlp(inputs, hidden, out)), lambda model: (
            functional.cross_entropy(model(images), digits))
    if case.kind == "step_gru":
        steps, count, inputs, size, out = case.numbers(
            "steps", "batch", "in", "size", "out")
        xs, digits = batch((steps, count, inputs), (count,), out)
        return with_first_values(Gru(inputs, size, out)), lambda model: (
            functional.cross_entropy(model(xs), digits))
    if case.kind == "step_cnn":
        count = case.number("batch")
        images, digits = batch((count, 1, 28, 28), (count,), 10)
        return with_first_values(Cnn()), lambda model: (
            functional.cross_entropy(model(images), digits))
    if case.kind == "step_residual":
        count, h, w, channels, blocks = case.numbers("batch", "h", "w", "c",
                                                     "blocks")
        images, digits = batch((count, 3, h, w), (count,), 10)
        return with_first_values(ResidualNet(channels, blocks)), lambda model: (
            functional.cross_entropy(model(images), digits))
    vocab, t, count = case.numbers("vocab", "t", "batch")
    model = Transformer(vocab, t, *case.numbers("d", "heads", "layers"))
    ids = whole_numbers((count, t), 1, vocab)
    following = whole_numbers((count * t,), 2, vocab)
    return with_first_values(model), lambda model: functional.cross_entropy(
        model(ids).view(count * t, vocab), following)
