"""The table of cases of single operators, and what they draw inputs with.

A case is a function of tensors and how its inputs are made for a size b of
what may be symbolic. Inputs whose shape does not depend on b have no symbolic
variant.
"""

import torch

CASES = {}
A = torch.ops.aten


def case(name, function, inputs, **options):
    """Adds a case. FUNCTION is called with what INPUTS(b) gives, or is a
    module. Options: `expect`, `reason`, `rtol` as in cases.py; `symbolic` is
    False where sizes cannot be symbolic, `core` where the program does not
    decompose, `keywords` a function of b."""
    assert name not in CASES, name
    CASES[name] = (function, inputs, options)


def f(*shape):
    return torch.randn(shape)


def positive(*shape):
    return torch.rand(shape) + 0.1


def unit(*shape):
    return torch.rand(shape) * 1.8 - 0.9


def i(high, *shape, low=0):
    return torch.randint(low, high, shape)


def p(*shape):
    """Truth values."""
    return torch.rand(shape) > 0.5


def d(*shape):
    return torch.randn(shape, dtype=torch.float64)


def c(*shape):
    return torch.randn(shape, dtype=torch.complex64)


def distinct(*shape):
    """Floats of which no two are equal, in random order."""
    count = 1
    for each in shape:
        count *= each
    return (torch.randperm(count).float() - count / 3).reshape(shape)


def special(*shape):
    """With both infinities, NaN and both zeros."""
    values = torch.randn(shape).flatten()
    values[:5] = torch.tensor([float("nan"), float("inf"), -float("inf"),
                               0.0, -0.0])
    return values.reshape(shape)
