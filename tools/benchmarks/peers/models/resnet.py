import torch
import torch.nn.functional as functional
from models.common import inputs, prepared, whole_numbers
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        out = 4 * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.conv3 = nn.Conv2d(width, out, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        self.bn3 = nn.BatchNorm2d(out)
        self.down = self.bn4 = None
        if stride > 1 or inputs != out:
            self.down = nn.Conv2d(inputs, out, 1, stride, bias=False)
            self.bn4 = nn.BatchNorm2d(out)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = torch.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return torch.relu(y + (self.bn4(self.down(x)) if self.down else x))


class ResNet(nn.Module):
    def __init__(self, stages, width, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        blocks, before = [], width
        for stage, count in enumerate(stages):
            for i in range(count):
                blocks.append(Bottleneck(before, width << stage,
                                         2 if stage and not i else 1))
                before = width << stage + 2
        self.blocks = nn.ModuleList(blocks)
        self.fc = nn.Linear(before, classes)

    def forward(self, images):
        x = torch.relu(self.bn1(self.conv1(images)))
        x = functional.max_pool2d(x, 3, 2, 1)
        for block in self.blocks:
            x = block(x)
        return self.fc(functional.adaptive_avg_pool2d(x, 1).flatten(1))


def classifier(model, case, trainer):
    batch, image, classes = case.numbers("batch", "image", "classes")
    images = inputs(case, (batch, 3, image, image), 1)
    kinds = whole_numbers((batch,), 2, classes)
    return (model, lambda: model(images),
            lambda: functional.cross_entropy(model(images), kinds), trainer)


def make(case):
    stages = [int(count) for count in case.text("stages").split(",")]
    model = ResNet(stages, *case.numbers("width", "classes"))
    return classifier(prepared(model, case), case, "sgd")
