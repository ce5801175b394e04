"""What the models share: first values and inputs."""

import math

import numpy
import torch
import worker
from torch_side import HALVES, tensor


def dtype_of(case):
    return HALVES.get(case.text("dtype"), torch.float32)


def seed_of(name):
    """FNV-1a of a parameter's name, as native/Models.cpp."""
    seed = 2166136261
    for letter in name.encode():
        seed = ((seed ^ letter) * 16777619) & 0xFFFFFFFF
    return seed


def first_scale(name, shape):
    """As `scaleOf` of native/Models.cpp."""
    if "expert" in name:
        return 1 / math.sqrt(shape[1])
    inputs = math.prod(shape[1:])
    return math.sqrt((6 if len(shape) > 2 else 1) / inputs)


def first_of_vector(name):
    """As `firstValue` of native/Inputs.cpp."""
    if name.endswith("bn3.weight"):
        return 0.25
    return 1 if "weight" in name else 0


def prepared(model, case):
    """The model as all sides begin with it, in the case's dtype."""
    model = model.to(worker.DEVICE)
    with torch.no_grad():
        for name, param in model.named_parameters():
            shape = tuple(param.shape)
            if len(shape) > 1:
                param.copy_(tensor(shape, seed_of(name), float(
                    numpy.float32(first_scale(name, shape)))))
            else:
                param.fill_(first_of_vector(name))
    return model.to(dtype_of(case))


def inputs(case, shape, seed):
    return tensor(shape, seed).to(dtype_of(case))


def whole_numbers(shape, seed, limit):
    return torch.from_numpy(worker.labels(shape, seed, limit)).to(worker.DEVICE)


def in_heads(x, heads):
    """[batch, position, size] as [batch, head, position, size / heads]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def joined(x):
    """The heads side by side again."""
    return x.transpose(1, 2).flatten(2)
