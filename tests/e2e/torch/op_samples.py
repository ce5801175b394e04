#!/usr/bin/env python3
"""Programs of the samples that PyTorch tests its operators with.

    op_samples.py make DIR [NAME...]    in an environment with PyTorch

`make` writes a case (cases.py) for some samples of each operator: NAME_K, and
NAME_K_core where the core operators are others.
"""

import copy
import logging
import sys
import warnings

import op_cases

SAMPLES = 4
# Values of memory that was not written, or of no tensor at all.
LEFT_OUT = ("empty", "to_sparse", "sparse.", "jiterator", "resize",
            "torch.ops.aten._efficient_attention", "_flash", "tensorfromlist")


def operators():
    from torch.testing._internal.common_methods_invocations import op_db
    return [op for op in op_db
            if not any(part in op.name for part in LEFT_OUT)]


def dtype_of(op):
    import torch
    allowed = op.supported_dtypes("cpu")
    for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
        if dtype in allowed:
            return dtype
    return None


def chosen(op):
    """Samples from all parts of the list."""
    dtype = dtype_of(op)
    if dtype is None:
        return []
    samples = list(op.sample_inputs("cpu", dtype))
    step = max(1, len(samples) // SAMPLES)
    return samples[::step][:SAMPLES]


def program_of(op, sample):
    """A module of the tensors of a sample; all else is part of it."""
    import torch
    from torch.utils import _pytree
    leaves, spec = _pytree.tree_flatten(
        ((sample.input, *sample.args), sample.kwargs))
    places = [index for index, leaf in enumerate(leaves)
              if isinstance(leaf, torch.Tensor)]
    inputs = [leaves[index].detach().clone() for index in places]

    class Module(torch.nn.Module):
        def forward(self, *tensors):
            own = list(leaves)
            for index, tensor in zip(places, tensors):
                own[index] = tensor
            args, kwargs = _pytree.tree_unflatten(own, spec)
            return op.op(*args, **kwargs)
    return Module(), inputs


def options_of(op):
    words = ("rand", "bernoulli", "multinomial", "dropout", "normal", "uniform",
             "exponential", "cauchy", "geometric", "log_normal", "rrelu")
    is_random = any(word in op.name.split(".")[-1] for word in words) and \
        "normalize" not in op.name and "norm" != op.name[-4:]
    return {"expect": "shapes"} if is_random else {}


def make(directory, names):
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    maker = op_cases.Maker(directory, [])
    for op in operators():
        if names and op.name not in names:
            continue
        title = op.name.replace(".", "_") + (
            "_" + op.variant_test_name if op.variant_test_name else "")
        op_cases.seed(title)
        try:
            samples = chosen(op)
        except Exception as error:  # of samples for other builds
            print(f"no samples: {title}: {str(error)[:100]}")
            continue
        for number, sample in enumerate(samples):
            def inputs(_, sample=sample):
                return copy.deepcopy(program_of(op, sample)[1])
            try:
                module = program_of(op, sample)[0]
            except Exception:
                continue
            maker.operator(f"{title}_{number}", module, inputs,
                           options_of(op))
    print(f"{maker.count} made, {len(maker.failures)} not")
    return 0


if __name__ == "__main__":
    sys.exit(make(sys.argv[2], sys.argv[3:]))
