import torch
import torch.nn.functional as functional
from models.common import prepared
from models.resnet import classifier
from torch import nn


class Conv(nn.Module):
    def __init__(self, inputs, out, kernel, stride=1, groups=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, out, kernel, stride, kernel // 2,
                              groups=groups, bias=False)
        self.bn = nn.BatchNorm2d(out, eps=1e-3, momentum=0.01)

    def forward(self, x):
        return self.bn(self.conv(x))


class SqueezeExcite(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        mean = functional.adaptive_avg_pool2d(x, 1)
        weights = self.fc2(torch.relu(self.fc1(mean)))
        return x * functional.hardsigmoid(weights)


class Block(nn.Module):
    def __init__(self, inputs, kernel, wide, out, excites, hard, stride):
        super().__init__()
        self.activated = functional.hardswish if hard else torch.relu
        self.adds = stride == 1 and inputs == out
        self.widen = Conv(inputs, wide, 1) if wide != inputs else None
        self.depthwise = Conv(wide, wide, kernel, stride, wide)
        self.excite = (SqueezeExcite(wide, (wide // 4 + 4) // 8 * 8)
                       if excites else None)
        self.project = Conv(wide, out, 1)

    def forward(self, x):
        y = self.activated(self.widen(x)) if self.widen else x
        y = self.activated(self.depthwise(y))
        if self.excite:
            y = self.excite(y)
        y = self.project(y)
        return x + y if self.adds else y


# In, kernel, wide, out, excites, hardswish, stride; in units of two channels
# when the least are 16.
LARGE = [
    (8, 3, 8, 8, False, False, 1), (8, 3, 32, 12, False, False, 2),
    (12, 3, 36, 12, False, False, 1), (12, 5, 36, 20, True, False, 2),
    (20, 5, 60, 20, True, False, 1), (20, 5, 60, 20, True, False, 1),
    (20, 3, 120, 40, False, True, 2), (40, 3, 100, 40, False, True, 1),
    (40, 3, 92, 40, False, True, 1), (40, 3, 92, 40, False, True, 1),
    (40, 3, 240, 56, True, True, 1), (56, 3, 336, 56, True, True, 1),
    (56, 5, 336, 80, True, True, 2), (80, 5, 480, 80, True, True, 1),
    (80, 5, 480, 80, True, True, 1)]


class MobileNet(nn.Module):
    def __init__(self, least, classes):
        super().__init__()
        self.stem = Conv(3, least, 3, 2)
        self.blocks = nn.ModuleList(
            Block(inputs * least // 8, kernel, wide * least // 8,
                  out * least // 8, *rest)
            for inputs, kernel, wide, out, *rest in LARGE)
        self.last = Conv(10 * least, 60 * least, 1)
        self.fc1 = nn.Linear(60 * least, 80 * least)
        self.fc2 = nn.Linear(80 * least, classes)

    def forward(self, images):
        x = functional.hardswish(self.stem(images))
        for block in self.blocks:
            x = block(x)
        x = functional.adaptive_avg_pool2d(
            functional.hardswish(self.last(x)), 1).flatten(1)
        return self.fc2(functional.hardswish(self.fc1(x)))


def make(case):
    model = MobileNet(*case.numbers("least", "classes"))
    return classifier(prepared(model, case), case, "sgd")
