#!/usr/bin/env python3
"""Makes backbone.pt: a small network that PyTorch trained on MNIST, whose
images are brought to the 8x8 pixels of this example's digits.

usage: pretrain.py MNIST_FOLDER
"""

import gzip
import pathlib
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional

HERE = pathlib.Path(__file__).parent


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.ModuleDict({
            "conv1": nn.Conv2d(1, 16, 3, padding=1),
            "conv2": nn.Conv2d(16, 32, 3, padding=1),
            "fc": nn.Linear(32 * 4 * 4, 32)})
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        layers = self.backbone
        x = functional.relu(layers["conv1"](x))
        x = functional.max_pool2d(functional.relu(layers["conv2"](x)), 2)
        return self.head(functional.relu(layers["fc"](x.flatten(1))))


def read(path, offset):
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=offset)


def load(folder, kind):
    images = read(folder / f"{kind}-images-idx3-ubyte.gz", 16)
    images = torch.tensor(images.reshape(-1, 1, 28, 28) / 255.0,
                          dtype=torch.float32)
    # Digits fill the middle 20x20 pixels.
    small = functional.adaptive_avg_pool2d(images[:, :, 4:24, 4:24], 8)
    return small, torch.tensor(
        read(folder / f"{kind}-labels-idx1-ubyte.gz", 8).astype(numpy.int64))


def main(folder):
    torch.manual_seed(1)
    images, labels = load(folder, "train")
    net = Net()
    adam = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(6):
        for rows in torch.randperm(len(images)).split(128):
            adam.zero_grad()
            functional.cross_entropy(net(images[rows]), labels[rows]).backward()
            adam.step()
        with torch.no_grad():
            x, y = load(folder, "t10k")
            right = (net(x).argmax(1) == y).float().mean()
        print(f"epoch {epoch + 1}: {right:.4f}")
    torch.save({name: value.half() for name, value in net.state_dict().items()},
               HERE / "backbone.pt")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
