import torch
import torch.nn.functional as functional
from models.common import inputs, prepared, whole_numbers
from torch import nn


class Layer(nn.Module):
    def __init__(self, channels, skips, dilation):
        super().__init__()
        self.dilation = dilation
        self.filter = nn.Conv1d(channels, channels, 2, dilation=dilation)
        self.gate = nn.Conv1d(channels, channels, 2, dilation=dilation)
        self.residual = nn.Conv1d(channels, channels, 1)
        self.skip = nn.Conv1d(channels, skips, 1)

    def forward(self, x):
        before = functional.pad(x, (self.dilation, 0))
        y = torch.tanh(self.filter(before)) * torch.sigmoid(self.gate(before))
        return x + self.residual(y), self.skip(y)


class WaveNet(nn.Module):
    def __init__(self, channels, skips, classes, doublings, cycles):
        super().__init__()
        self.first = nn.Conv1d(1, channels, 1)
        self.layers = nn.ModuleList(
            Layer(channels, skips, 1 << i)
            for _ in range(cycles) for i in range(doublings))
        self.last1 = nn.Conv1d(skips, skips, 1)
        self.last2 = nn.Conv1d(skips, classes, 1)

    def forward(self, samples):
        x, total = self.first(samples), 0
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip
        return self.last2(torch.relu(self.last1(torch.relu(total))))


def make(case):
    batch, t, classes = case.numbers("batch", "t", "classes")
    model = prepared(WaveNet(*case.numbers("channels", "skips"), classes,
                             *case.numbers("doublings", "cycles")), case)
    samples = inputs(case, (batch, 1, t), 1)
    following = whole_numbers((batch, t), 2, classes)
    return (model, lambda: model(samples),
            lambda: functional.cross_entropy(model(samples), following),
            "adamw")
