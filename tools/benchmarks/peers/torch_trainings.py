"""The trainings of tests/e2e/baselines in PyTorch: same data, split, batches
and epochs. usage: torch_trainings.py FOLDER RECIPE

Prints the seconds of the first and of the shortest training, tests included."""

import csv
import gzip
import os
import pathlib
import sys
import time

import numpy as np
import torch
from torch import nn

FOLDER = pathlib.Path(sys.argv[1])
SEEDS = 5


def table(name):
    """Rows to train on and to test on: features, normed, and classes."""
    with open(FOLDER / "tabular" / f"{name}.csv", encoding="utf-8") as file:
        rows = [[float(v) for v in row] for row in list(csv.reader(file))[1:]]
    values = np.array(rows)
    x, y = values[:, :-1], values[:, -1].astype(np.int64)
    test = np.arange(len(values)) % 5 == 4
    mean, deviation = x[~test].mean(0), x[~test].std(0)
    x = (x - mean) / np.where(deviation > 0, deviation, 1)
    return [torch.from_numpy(part) for part in
            (x[~test].astype(np.float32), y[~test],
             x[test].astype(np.float32), y[test])]


def mnist():
    def read(name, header):
        with gzip.open(FOLDER / "mnist" / f"{name}.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=header)

    def images(name):
        pixels = read(f"{name}-images-idx3-ubyte", 16).reshape(-1, 784)
        return torch.from_numpy(pixels.copy()).float() / 255

    def labels(name):
        return torch.from_numpy(
            read(f"{name}-labels-idx1-ubyte", 8).astype(np.int64))

    return images("train"), labels("train"), images("t10k"), labels("t10k")


def mlp(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(),
                         nn.Linear(hidden, outputs))


def cnn(side):
    return nn.Sequential(
        nn.Unflatten(1, (1, side, side)),
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(side * side, 10))


# Data, model, epochs, rate, rows of a batch and seeds.
RECIPES = {
    "iris": (lambda: table("iris"), lambda: mlp(4, 16, 3), 150, .01, 32, SEEDS),
    "wine": (lambda: table("wine"), lambda: mlp(13, 16, 3), 60, .01, 32, SEEDS),
    "breast_cancer": (lambda: table("breast_cancer"), lambda: mlp(30, 16, 2),
                      40, .01, 32, SEEDS),
    "digits_mlp": (lambda: table("digits8x8"), lambda: mlp(64, 64, 10),
                   30, .003, 32, SEEDS),
    "digits_cnn": (lambda: table("digits8x8"), lambda: cnn(8),
                   15, .003, 32, SEEDS),
    "mnist": (mnist, lambda: cnn(28), 1, .001, 64, 1),
}


def train(model, rate, data, epochs, size):
    x, y = data[:2]
    adam = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for at in range(0, len(x), size):
            rows = order[at:at + size]
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            adam.zero_grad()
            loss.backward()
            adam.step()


def main():
    load, make, epochs, rate, size, seeds = RECIPES[sys.argv[2]]
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    data = load()
    times, right = [], []
    for seed in range(1, seeds + 1):
        begin = time.perf_counter()
        torch.manual_seed(seed)
        model = make()
        train(model, rate, data, epochs, size)
        with torch.no_grad():
            found = model(data[2]).argmax(1) == data[3]
        right.append(found.float().mean().item())
        times.append(time.perf_counter() - begin)
    print(f"accuracy={np.mean(right)} first={times[0]} least={min(times)}")


main()
