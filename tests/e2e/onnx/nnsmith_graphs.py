#!/usr/bin/env python3
"""Random networks of nnsmith, which computes them itself.

    nnsmith_graphs.py make DIR COUNT [SEED]    in the environment of `setup`
    nnsmith_graphs.py check SINTER DIR
    nnsmith_graphs.py all SINTER DIR COUNT

`make` draws valid networks, exports them by PyTorch's older exporter and writes
each as a folder of the ONNX backend suite with ONNX Runtime's outputs. Where
PyTorch's or those of ONNX's own evaluator differ, nobody knows what is right, and
it is left out.
`check` runs them fused, with one op per kernel, and by plain loops.
"""

import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys

import real_models

PACKAGES = ["nnsmith==0.1.0", "torch", "onnx", "onnxscript", "onnxruntime"]


def agree(a, b):
    import numpy
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f":
        return bool((a == b).all())
    return bool(numpy.allclose(a, b, 1e-3, 1e-3, equal_nan=True))


def check_defined(path, feeds, given):
    """Numbers that no integer is have no cast; and ONNX's own evaluator says
    what ONNX Runtime says, which sums of f16 need not."""
    import numpy
    import onnx
    from onnx.reference import ReferenceEvaluator
    model = onnx.load(path)
    values = ReferenceEvaluator(model).run(None, feeds, intermediate=True)
    for node in model.graph.node:
        if node.op_type != "Cast":
            continue
        before = numpy.asarray(values[node.input[0]])
        after = numpy.asarray(values[node.output[0]])
        if before.dtype.kind == "f" and after.dtype.kind in "iu" and not (
                abs(before.astype(numpy.float64)) < 2**31).all():
            raise ValueError("a number is cast to an integer that is none")
    for each, a in zip(model.graph.output, given):
        if not agree(numpy.asarray(a), numpy.asarray(values[each.name])):
            raise ValueError("ONNX Runtime and ONNX's evaluator differ")


def make_one(folder, seed):
    import numpy
    import onnxruntime
    import torch
    from nnsmith.graph_gen import model_gen
    from nnsmith.materialize import Model
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)
    kind = Model.init("torch", "cpu")
    size = random.choice([3, 5, 8, 12])
    generator = model_gen(
        opset=kind.operators(), method="symbolic-cinit", seed=seed,
        max_elem_per_tensor=4096, max_nodes=size, timeout_ms=20000)
    graph = generator.make_concrete()
    model = kind.from_gir(graph)
    model.refine_weights()
    module = model.torch_model.eval()
    inputs = {name: torch.rand(spec.shape).mul(2).sub(1).to(spec.dtype.torch())
              if spec.dtype.torch().is_floating_point
              else torch.randint(0, 2, spec.shape).to(spec.dtype.torch())
              for name, spec in module.input_like.items()}
    os.makedirs(folder, exist_ok=True)
    path = folder + "/model.onnx"
    with torch.no_grad():
        wanted = module(*inputs.values())
        torch.onnx.export(module, tuple(inputs.values()), path, dynamo=False,
                          input_names=list(inputs), opset_version=17)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"])
    names = [entry.name for entry in session.get_inputs()]
    feeds = {name: inputs[name].numpy() for name in names}
    given = session.run(None, feeds)
    for a, b in zip(given, wanted):
        if not agree(numpy.asarray(a), b.numpy()):
            raise ValueError("ONNX Runtime and PyTorch differ")
    check_defined(path, feeds, given)
    real_models.write_case(folder, path, [feeds[name] for name in names])


def make(directory, count, seed=0):
    kinds = collections.Counter()
    made = 0
    while made < count and seed < 20 * count + 1000:
        seed += 1
        folder = os.path.join(directory, f"graph_{seed:05}")
        if os.path.exists(folder + "/info.json"):
            made += 1
            continue
        try:
            make_one(folder, seed)
            made += 1
        except Exception as error:  # of nnsmith, PyTorch or ONNX Runtime
            shutil.rmtree(folder, ignore_errors=True)
            text = str(error).partition("\n")[0][:100]
            kinds[f"{type(error).__name__}: {text}"] += 1
    print(f"{made} networks; not made:")
    for kind, times in kinds.most_common(20):
        print(f"  {times} {kind}")
    return 0 if made >= count else 1


def kind_of(line):
    """A failure without its numbers and names."""
    line = re.sub(r"(failed|unsupported): graph_\d+: ", r"\1: ", line)
    line = re.sub(r"node '.*?'|output '.*?'|/\S+", "..", line)
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "N", line)[:160]


def check(sinter, directory):
    kinds, wrong = collections.Counter(), 0
    ways = {"fused": (["--device", "cpu"], {}),
            "unfused": (["--device", "cpu"], {"SINTER_FUSION": "none"}),
            "plain loops": (["--device", "null"], {})}
    for way, (words, variables) in ways.items():
        done = subprocess.run([sinter, "check", "--list", *words, directory],
                              capture_output=True, text=True,
                              env=dict(os.environ, **variables))
        print(f"{way}: {done.stdout.strip()}")
        wrong += done.returncode != 0
        for line in done.stderr.splitlines():
            if line.startswith(("failed", "unsupported")):
                kinds[f"{way}: {kind_of(line)}"] += 1
                if line.startswith("failed"):
                    print("  " + line[:300])
    for kind, times in kinds.most_common():
        print(f"  {times} {kind}")
    return wrong


def main():
    verb = sys.argv[1]
    if verb == "make":
        return make(sys.argv[2], int(sys.argv[3]), *map(int, sys.argv[4:5]))
    if verb == "check":
        return check(sys.argv[2], sys.argv[3])
    python = real_models.setup(os.path.join(sys.argv[3], "venv"), PACKAGES,
                               "import torch, onnxscript, nnsmith, onnxruntime")
    if not python:
        print("skipped: the environment cannot be made")
        return real_models.environment.SKIPPED
    graphs = os.path.join(sys.argv[3], "graphs")
    made = subprocess.run([python, __file__, "make", graphs,
                           sys.argv[4]]).returncode
    return 1 if made + check(sys.argv[2], graphs) else 0


if __name__ == "__main__":
    sys.exit(main())
