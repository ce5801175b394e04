#!/usr/bin/env python3
"""Networks that people have as programs of torch.export, beside PyTorch.

    torch_models.py make DIR [NAME...]    run in the environment of `setup`
    torch_models.py check SINTER DIR      prints one line per case
    torch_models.py setup VENV            makes the environment, from PyPI
    torch_models.py all SINTER DIR        the three of them

`make` writes a case (cases.py) per network and variant: NAME is of fixed sizes,
NAME_symbolic takes two sets of sizes, NAME_core is decomposed to the core
operators, NAME_train trains. Weights are random. Nothing of it belongs into the
repository.
"""

import copy
import os
import subprocess
import sys
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import cases  # noqa: E402
import environment  # noqa: E402
from networks import NETWORKS, liven  # noqa: E402

PACKAGES = ["torch", "torchvision", "transformers", "safetensors"]
NEEDS = "import torch, torchvision, transformers, safetensors"
STEPS = 5

# Images of these keep the size that they were designed for.
FULL_SIZE = {"resnet18", "mobilenet_v3_small", "vit_b_32", "swin_t", "clip",
             "deeplabv3_mobilenet_v3_large", "unet", "whisper_tiny"}
SMALL = 96
# Variants: s(tatic), y for symbolic, c(ore), t(rain), u for train in core.
VARIANTS = {
    "resnet18": "syctu", "unet": "syctu", "bert": "syctu",
    "vit_small": "syctu", "vit_b_32": "syt", "resnet50": "sct",
    "whisper_tiny": "sct",
    # Not exported: it asks how many boxes are left.
    "fasterrcnn_mobilenet": ""}
OTHERS = "syct"
NAMES = {"s": "", "y": "_symbolic", "c": "_core", "t": "_train",
         "u": "_train_core"}
RATES = (1e-5, 1e-4, 0.001, 0.01, 0.1, 0.5)


def vit_small():
    import torch
    import torchvision
    model = torchvision.models.VisionTransformer(
        image_size=64, patch_size=16, num_layers=3, num_heads=4,
        hidden_dim=96, mlp_dim=192, num_classes=20)
    return model, (torch.randn(2, 3, 64, 64),), {0: "batch"}


def network(name):
    import torch
    torch.manual_seed(1)
    torch.backends.mha.set_fastpath_enabled(False)
    make = vit_small if name == "vit_small" else NETWORKS[name][0]
    model, inputs, dynamic = make()
    if name not in FULL_SIZE:
        inputs = tuple(
            each[..., :SMALL, :SMALL].contiguous()
            if each.dim() == 4 and each.shape[-1] > SMALL else each
            for each in inputs)
    return model, inputs, dynamic


#===- Sizes ----------------------------------------------------------------===#


def resized(value, sizes):
    """A tensor with other sizes of some axes: floats are drawn, and whole
    numbers repeat those that are there."""
    import torch
    shape = [sizes.get(axis, size) for axis, size in enumerate(value.shape)]
    if value.is_floating_point():
        return torch.randn(shape)
    for axis, size in sizes.items():
        repeats = [1] * value.dim()
        repeats[axis] = -(-size // value.shape[axis])
        value = value.repeat(repeats).narrow(axis, 0, size)
    return value.contiguous()


def of_sizes(inputs, dynamic, more):
    """Inputs of other sizes; the smallest that stays symbolic is two."""
    sizes = {label: max(2, inputs[0].shape[axis]) + more
             for axis, label in dynamic.items()}
    return tuple(resized(each, {axis: sizes[label]
                                for axis, label in dynamic.items()
                                if axis < each.dim()}) for each in inputs)


def export(model, inputs, dynamic=None):
    import torch
    shapes = None
    if dynamic:
        dims = {label: torch.export.Dim(label, min=2, max=4096)
                for label in dynamic.values()}
        entries = tuple({axis: dims[label] for axis, label in dynamic.items()
                         if axis < each.dim()} for each in inputs)
        try:
            return exported(model, inputs, entries)
        except Exception:  # sizes that are tied in ways of their own
            shapes = tuple({axis: torch.export.Dim.AUTO for axis in entry}
                           for entry in entries)
    return exported(model, inputs, shapes)


def exported(model, inputs, shapes):
    import inspect

    import torch
    if shapes:
        names = [each.kind for each in
                 inspect.signature(model.forward).parameters.values()]
        if names == [inspect.Parameter.VAR_POSITIONAL]:
            shapes = (shapes,)
    return torch.export.export(model, inputs, dynamic_shapes=shapes)


#===- Training -------------------------------------------------------------===#


def without_dropout(model):
    """Every run of it gives the same."""
    import torch
    from torchvision.ops import StochasticDepth
    for module in model.modules():
        if isinstance(module, (torch.nn.modules.dropout._DropoutNd,
                               StochasticDepth)):
            module.p = 0.0
    model.train()
    for module in model.modules():
        for name in ("dropout", "dropout_prob"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)  # it drops by a function
        if hasattr(module, "layerdrop"):
            module.training = False  # it draws which layers it leaves out
    return model


def inputs_to_train(model, inputs):
    """Several images in a batch, so that statistics of one are of many values;
    small ones where the network takes them."""
    import torch
    if len(inputs) > 1 or inputs[0].dim() != 4:
        return inputs
    size = getattr(model, "image_size", 64)
    return (torch.randn(6, 3, size, size),)


def rate_of(model, inputs, target):
    """The smallest rate at which the loss falls by a thousandth."""
    for rate in RATES:
        losses = step_losses(copy.deepcopy(model), inputs, target, rate)[1]
        if losses[-1] < 0.999 * losses[0]:
            return rate
    raise AssertionError("the loss falls at no rate")


def as_double(values):
    return tuple(each.double() if each.is_floating_point() else each
                 for each in values)


def as_tuples(model):
    """PyTorch writes no programs that give named tuples."""
    import torch

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *inputs):
            return tuple(self.model(*inputs))
    return Plain()


def step_losses(model, inputs, target, rate):
    """The model after the steps, and the losses."""
    import torch
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        output = first_float(cases.leaves(model(*inputs)))[1]
        loss = ((output - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def first_float(outputs):
    return next((index, value) for index, value in enumerate(outputs)
                if value.is_floating_point())


def train(model, inputs, folder, is_core):
    import torch
    torch.manual_seed(5)
    model = without_dropout(copy.deepcopy(model))
    inputs = inputs_to_train(model, inputs)
    output = copy.deepcopy(model)(*inputs)
    if hasattr(output, "_fields"):
        model = as_tuples(model)
    output = first_float(cases.leaves(output))[1]
    target = (torch.randn_like(output) * output.std()).detach().contiguous()
    rate = rate_of(model, inputs, target)
    double = copy.deepcopy(model).double(), as_double(inputs), target.double()
    stepped, losses = step_losses(copy.deepcopy(model), inputs, target, rate)
    exact_stepped, exact = step_losses(copy.deepcopy(double[0]), *double[1:],
                                       rate)
    error = max(abs(a - b) / abs(b) for a, b in zip(losses, exact))
    print(f"  at {rate}: losses {losses[0]:.6g} to {losses[-1]:.6g}, "
          f"of f64 they are {error:.1e} off", flush=True)
    if error > 2e-6:
        # PyTorch's own f32 says too little of such a network.
        model, inputs, target = double
        stepped, losses = exact_stepped, exact
    program = export(model, inputs)
    if is_core:
        program = program.run_decompositions()
    outputs = cases.leaves(copy.deepcopy(model)(*inputs))
    index = first_float(outputs)[0]
    tensors = {"target": target.clone(),
               "loss": torch.tensor(losses, dtype=target.dtype)}
    before = dict(model.named_buffers())
    for buffer, value in stepped.named_buffers():
        if cases.changed(before[buffer], value):
            tensors["after." + buffer] = cases.stored(value)
    cases.add_values(tensors, "in", inputs)
    cases.add_values(tensors, "out", outputs)
    os.makedirs(folder, exist_ok=True)
    cases.save(program, folder + "/model.pt2")
    cases.finish(folder, program, inputs, outputs, tensors, sets=1,
                 layout="2.15",
                 train={"rate": rate, "output": index, "steps": STEPS})


#===- Making ---------------------------------------------------------------===#


def make_variant(name, letter, network_of, folder):
    model, inputs, dynamic = network_of
    if letter in "tu":
        return train(model, inputs, folder, letter == "u")
    model.eval()
    sets = [(inputs, {})]
    if letter == "y":
        inputs = of_sizes(inputs, dynamic, 0)
        sets = [(inputs, {}), (of_sizes(inputs, dynamic, 1), {})]
    program = export(model, inputs, dynamic if letter == "y" else None)
    if letter == "y":
        assert program.range_constraints, "no size is left symbolic"
    if letter == "c" and name == "gpt2":
        # The decomposed attention views what has no such view in a batch.
        inputs = tuple(each[:1] for each in inputs)
        sets = [(inputs, {})]
        program = export(model, inputs)
    if letter == "c":
        program = program.run_decompositions()
    return cases.write(folder, program, model, sets)


def made(folder, work):
    start = time.monotonic()
    try:
        work()
        print(f"made {folder} {time.monotonic() - start:.1f} s", flush=True)
        return True
    except Exception as error:  # of PyTorch
        traceback.print_exc(limit=3)
        print(f"not made: {folder}: {str(error)[:300]}", flush=True)
        return False


def make(directory, names):
    failures = 0
    for name in [*NETWORKS, "vit_small"]:
        if names and name not in names:
            continue
        network_of = None
        for letter in VARIANTS.get(name, OTHERS):
            folder = os.path.join(directory, name + NAMES[letter])
            if os.path.exists(folder + "/case.json"):
                continue
            if not network_of:
                network_of = network(name)
                network_of[0].eval()
                liven(*network_of[:2])
            if letter == "y" and not network_of[2]:
                continue
            failures += not made(folder, lambda: make_variant(
                name, letter, network_of, folder))
    return failures


def check(sinter, directory):
    """A process each: how long one takes, and what it says, is its own."""
    bad = 0
    for name in sorted(os.listdir(directory)):
        folder = os.path.join(directory, name)
        if not os.path.exists(folder + "/case.json"):
            continue
        start = time.monotonic()
        done = subprocess.run([sinter, "check", "--list", folder],
                              capture_output=True, text=True, timeout=900)
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        passed = done.returncode == 0 and "0 unsupported" in done.stdout
        bad += not passed
        print(f"{name:34} {time.monotonic() - start:6.1f} s  "
              f"{lines[0] if lines else done.returncode}", flush=True)
    return bad


def setup(folder):
    return environment.setup(folder, PACKAGES, NEEDS)


if __name__ == "__main__":
    sys.exit(environment.run(__file__, make, check, setup))
