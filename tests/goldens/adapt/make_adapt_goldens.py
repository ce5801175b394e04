#!/usr/bin/env python3
"""Writes tests/unit/adapt/AdaptGolden.h: what PyTorch makes of small cases.

usage: make_adapt_goldens.py > tests/unit/adapt/AdaptGolden.h
"""

import math

import torch
from torch.optim import swa_utils


def waves(shape, step):
    count = math.prod(shape)
    values = [math.sin(step * i) for i in range(1, count + 1)]
    return torch.tensor(values, dtype=torch.float32).reshape(shape)


def emit(name, tensors):
    flat = []
    for tensor in tensors:
        flat += torch.as_tensor(tensor).double().flatten().tolist()
    numbers = [f"{value:.9g}" for value in flat]
    print(f"inline const std::vector<double> {name} = {{")
    line = "   "
    for number in numbers:
        if len(line) + len(number) + 2 > 79:
            print(line)
            line = "   "
        line += f" {number},"
    print(line + "};")


class Normed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        with torch.no_grad():
            self.fc.weight.copy_(waves((3, 2), 0.7))
            self.fc.bias.copy_(waves((3,), 1.3))

    def forward(self, x):
        return self.norm(self.fc(x))


def batches():
    return [waves((4, 2), 0.31 + 0.2 * i) for i in range(5)]


def values_of(module):
    return [module.fc.weight, module.fc.bias, module.norm.weight,
            module.norm.bias, module.norm.running_mean,
            module.norm.running_var, module.norm.num_batches_tracked]


def average(make, bn=False):
    model = Normed()
    averaged = make(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x in batches():
        optimizer.zero_grad()
        (model(x) - waves((4, 3), 0.9)).square().mean().backward()
        optimizer.step()
        averaged.update_parameters(model)
    if bn:
        swa_utils.update_bn(batches(), averaged)
    return [value.detach() for value in values_of(averaged.module)]


def scaler_case():
    """Ten steps, of which some overflow; Adam counts those it took."""
    p = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    adam = torch.optim.Adam([p], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=8, growth_interval=3)
    scales, values = [], []
    for step in range(12):
        adam.zero_grad()
        factor = math.inf if step in (1, 6) else math.nan if step == 7 else 1.0
        loss = ((p - 0.5).square() * factor).sum()
        scaler.scale(loss).backward()
        scaler.step(adam)
        scaler.update()
        scales.append(scaler.get_scale())
        values.append(p.detach().clone())
    return scales, values


def lora_case():
    w, x = waves((3, 4), 0.7), waves((5, 4), 0.3)
    a = waves((2, 4), 0.5).requires_grad_()
    b = waves((3, 2), 1.1).requires_grad_()
    y = x @ w.T + 3.0 / 2 * (x @ a.T) @ b.T
    y.square().mean().backward()
    return [y.detach(), a.grad, b.grad]


def autocast_case():
    fc1, fc2 = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)
    with torch.no_grad():
        for i, p in enumerate([fc1.weight, fc1.bias, fc2.weight, fc2.bias]):
            p.copy_(waves(tuple(p.shape), 0.3 + 0.2 * i))
    x, labels = waves((6, 4), 0.41), torch.arange(6) % 3
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(
            fc2(torch.relu(fc1(x))), labels)
    loss.backward()
    return [loss.detach(), fc1.weight.grad, fc1.bias.grad, fc2.weight.grad,
            fc2.bias.grad]


def main():
    torch.manual_seed(0)
    print("/// Written by tests/goldens/adapt/make_adapt_goldens.py, with "
          f"PyTorch\n/// {torch.__version__}.\n#pragma once\n\n"
          "#include <vector>\n\nnamespace golden {\n")
    ema = swa_utils.get_ema_multi_avg_fn(0.9)
    model = swa_utils.AveragedModel
    emit("ema", average(lambda m: model(m, multi_avg_fn=ema)))
    emit("emaWithBuffers",
         average(lambda m: model(m, multi_avg_fn=ema, use_buffers=True)))
    emit("swa", average(model))
    emit("swaWithStatistics", average(model, bn=True))
    scales, values = scaler_case()
    emit("scales", scales)
    emit("scaledAdam", values)
    emit("lora", lora_case())
    emit("autocast", autocast_case())
    print("\n} // namespace golden")


main()
