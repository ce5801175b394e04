#!/usr/bin/env python3
"""Networks that people have as ONNX files, beside ONNX Runtime.

    real_models.py make DIR [NAME...]    run in the environment of `setup`
    real_models.py check SINTER DIR      prints one line per network
    real_models.py setup VENV            makes the environment, from PyPI
    real_models.py all SINTER DIR        the three of them

`make` writes each network as a folder of the ONNX backend suite: model.onnx,
test_data_set_0 with inputs drawn from a fixed seed, and what ONNX Runtime gives
for them. Weights are random. Nothing of it belongs into the repository.
"""

import json
import os
import subprocess
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import environment  # noqa: E402
from networks import NETWORKS, liven  # noqa: E402

PACKAGES = ["torch", "torchvision", "transformers", "onnx", "onnxscript",
            "ml_dtypes",
            "onnxruntime", "rapidocr-onnxruntime==1.4.4"]
NEEDS = ("import torch, onnxscript, transformers, torchvision, "
         "rapidocr_onnxruntime")

# What ONNX Runtime makes of networks: nodes on codes, codes of what each run
# gives, and floats between two conversions.
QUANTIZED = {"resnet18": ("operators", "dynamic", "qdq"),
             "mobilenet_v3_small": ("operators", "dynamic", "qdq"),
             "bert": ("dynamic", "qdq")}

#===- Making ---------------------------------------------------------------===#


def write_case(folder, model_path, inputs, is_quantized=False):
    """Outputs of ONNX Runtime, as the backend suite has them."""
    import numpy
    import onnx
    import onnxruntime
    from onnx import numpy_helper
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model_path, options, providers=["CPUExecutionProvider"])
    feeds = {entry.name: value
             for entry, value in zip(session.get_inputs(), inputs)}
    outputs = session.run(None, feeds)
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    for index, (name, value) in enumerate(feeds.items()):
        with open(f"{data}/input_{index}.pb", "wb") as file:
            file.write(numpy_helper.from_array(value, name).SerializeToString())
    scale = 1e-30
    for index, (entry, value) in enumerate(zip(session.get_outputs(), outputs)):
        value = numpy.asarray(value)
        if value.dtype.kind == "f":
            finite = abs(value[numpy.isfinite(value)])
            scale = max(scale, float(finite.max(initial=0)))
        with open(f"{data}/output_{index}.pb", "wb") as file:
            tensor = numpy_helper.from_array(value, entry.name)
            file.write(tensor.SerializeToString())
    # Two ways of f32 sums differ by some units of the largest value; what
    # is next to nothing is none of it. Of quantized networks the last place of a
    # sum moves codes: ONNX Runtime is up to three of them from itself without
    # its optimizations.
    share = 3.1 / 127 if is_quantized else 1e-4
    with open(f"{folder}/info.json", "w") as file:
        json.dump({"rtol": 1e-3, "atol": max(share * scale, 1e-6)}, file)


def export(name, folder, dynamo):
    import torch
    torch.manual_seed(1)
    torch.backends.mha.set_fastpath_enabled(False)
    make, _ = NETWORKS[name]
    model, inputs, dynamic = make()
    model.eval()
    liven(model, inputs)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.onnx")
    options = {"dynamo": dynamo, "verbose": False}
    if not dynamo:
        options["opset_version"] = 17
        names = [f"input{index}" for index in range(len(inputs))]
        options["input_names"] = names
        if dynamic and not isinstance(inputs[0], list):
            options["dynamic_axes"] = {
                each: {axis: label for axis, label in dynamic.items()
                       if axis < value.dim()}
                for each, value in zip(names, inputs)}
    with torch.no_grad():
        torch.onnx.export(model, inputs, path, **options)
    flat = inputs[0] if isinstance(inputs[0], list) else inputs
    write_case(folder, path, [value.numpy() for value in flat])


def quantize(source, folder, kind):
    import onnx
    from onnx import numpy_helper
    from onnxruntime import quantization
    from onnxruntime.quantization import QuantFormat, QuantType
    paths = sorted(os.listdir(source + "/test_data_set_0"))
    given = [onnx.load_tensor(f"{source}/test_data_set_0/{path}")
             for path in paths if path.startswith("input_")]
    inputs = {each.name: numpy_helper.to_array(each) for each in given}

    class Reader(quantization.CalibrationDataReader):
        left = [inputs]

        def get_next(self):
            return self.left.pop() if self.left else None

    os.makedirs(folder, exist_ok=True)
    path = folder + "/model.onnx"
    if kind == "dynamic":
        quantization.quantize_dynamic(source + "/model.onnx", path)
    else:
        quantization.quantize_static(
            source + "/model.onnx", path, Reader(),
            quant_format=QuantFormat.QDQ if kind == "qdq"
            else QuantFormat.QOperator,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
            per_channel=kind == "qdq")
    write_case(folder, path, list(inputs.values()), is_quantized=True)


def make_rapidocr(directory):
    import glob
    import shutil

    import numpy
    import rapidocr_onnxruntime
    root = os.path.dirname(rapidocr_onnxruntime.__file__)
    shapes = {"det": [(1, 3, 160, 224), (1, 3, 96, 320)],
              "rec": [(2, 3, 48, 160)], "cls": [(3, 3, 48, 192)]}
    for path in sorted(glob.glob(root + "/models/*.onnx")):
        part = next((each for each in shapes
                     if f"_{each}_" in os.path.basename(path)), None)
        if not part:
            continue
        for number, shape in enumerate(shapes[part]):
            folder = os.path.join(directory, f"rapidocr_{part}_{number}")
            os.makedirs(folder, exist_ok=True)
            shutil.copy(path, folder + "/model.onnx")
            values = numpy.random.default_rng(3).uniform(-1, 1, shape)
            write_case(folder, path, [values.astype(numpy.float32)])


def made(folder, work):
    try:
        work()
        print("made", folder, flush=True)
        return True
    except Exception as error:  # of PyTorch, or of ONNX Runtime
        traceback.print_exc(limit=3)
        print(f"not made: {folder}: {str(error)[:300]}", flush=True)
        return False


def make(directory, names):
    failures = 0
    if not names or "rapidocr" in names:
        make_rapidocr(directory)
    for name, (_, options) in NETWORKS.items():
        if names and name not in names:
            continue
        for dynamo in (False, True):
            if options.get("dynamo", dynamo) != dynamo:
                continue
            folder = os.path.join(directory,
                                  name + ("_dynamo" if dynamo else ""))
            if os.path.exists(folder + "/info.json"):
                continue
            failures += not made(folder, lambda: export(name, folder, dynamo))
        for kind in QUANTIZED.get(name, ()):
            source, folder = f"{directory}/{name}", f"{directory}/{name}_{kind}"
            if not os.path.exists(folder + "/info.json"):
                failures += not made(
                    folder, lambda: quantize(source, folder, kind))
    return failures

#===- Checking -------------------------------------------------------------===#


def check(sinter, directory):
    """A process each: how long one takes, and what it says, is its own."""
    import time
    bad = 0
    for name in sorted(os.listdir(directory)):
        folder = os.path.join(directory, name)
        if not os.path.exists(folder + "/info.json"):
            continue
        start = time.monotonic()
        done = subprocess.run([sinter, "check", "--list", "--differences",
                               folder], capture_output=True, text=True,
                              timeout=900)
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        passed = done.returncode == 0 and "0 unsupported" in done.stdout
        bad += not passed
        print(f"{name:34} {time.monotonic() - start:6.1f} s  "
              f"{lines[0] if lines else done.returncode}", flush=True)
    return bad


def setup(folder, packages=tuple(PACKAGES), needs=NEEDS):
    return environment.setup(folder, packages, needs)


if __name__ == "__main__":
    sys.exit(environment.run(__file__, make, check, setup))
