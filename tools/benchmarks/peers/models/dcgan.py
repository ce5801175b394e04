import torch
import torch.nn.functional as functional
from models.common import inputs, prepared
from torch import nn


class Dcgan(nn.Module):
    def __init__(self, noise, width):
        super().__init__()

        def twice(before, after):
            return nn.ConvTranspose2d(before, after, 4, 2, 1, bias=False)

        self.conv1 = nn.ConvTranspose2d(noise, 8 * width, 4, bias=False)
        self.conv2 = twice(8 * width, 4 * width)
        self.conv3 = twice(4 * width, 2 * width)
        self.conv4 = twice(2 * width, width)
        self.conv5 = twice(width, 3)
        self.bn1 = nn.BatchNorm2d(8 * width)
        self.bn2 = nn.BatchNorm2d(4 * width)
        self.bn3 = nn.BatchNorm2d(2 * width)
        self.bn4 = nn.BatchNorm2d(width)

    def forward(self, noise):
        x = torch.relu(self.bn1(self.conv1(noise)))
        x = torch.relu(self.bn2(self.conv2(x)))
        x = torch.relu(self.bn3(self.conv3(x)))
        x = torch.relu(self.bn4(self.conv4(x)))
        return torch.tanh(self.conv5(x))


def make(case):
    batch, noise, width = case.numbers("batch", "noise", "width")
    model = prepared(Dcgan(noise, width), case)
    x = inputs(case, (batch, noise, 1, 1), 1)
    images = inputs(case, (batch, 3, 64, 64), 2)
    return (model, lambda: model(x),
            lambda: functional.mse_loss(model(x), images), "adamw")
