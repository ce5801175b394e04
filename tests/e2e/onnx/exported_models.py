#!/usr/bin/env python3
"""Models that Sinter wrote, checked by ONNX and run by ONNX Runtime.

    exported_models.py TEST SINTER DIR

TEST is export-test, which compares each model with the function that it is of
and leaves the models in DIR. Here onnx.checker reads them, ONNX Runtime runs
them on random inputs, and `sinter check` compares.
"""

import glob
import os
import subprocess
import sys

import real_models


def worker(directory):
    import numpy
    import onnx
    import onnxruntime
    random = numpy.random.default_rng(7)
    dims = {"batch": 3, "n": 2, "length": 5}
    failures = 0
    for path in sorted(glob.glob(directory + "/*/model.onnx")):
        try:
            onnx.checker.check_model(path, full_check=True)
            session = onnxruntime.InferenceSession(
                path, providers=["CPUExecutionProvider"])
            inputs = []
            for entry in session.get_inputs():
                shape = [dims.get(each, each) for each in entry.shape]
                if "int" in entry.type:
                    dtype = entry.type[len("tensor("):-1]
                    inputs.append(random.integers(0, 2, shape).astype(dtype))
                else:
                    values = random.uniform(-2, 2, shape)
                    is_half = "float16" in entry.type
                    inputs.append(values.astype(
                        numpy.float16 if is_half else numpy.float32))
            real_models.write_case(os.path.dirname(path), path, inputs)
        except Exception as error:
            failures += 1
            print(f"{path}: {str(error)[:400]}")
    return failures


def main():
    if len(sys.argv) == 2:
        return worker(sys.argv[1])
    test, sinter, directory = sys.argv[1:]
    python = real_models.setup(os.path.join(directory, "venv"))
    if not python:
        print("skipped: the environment cannot be made")
        return real_models.environment.SKIPPED
    models = os.path.join(directory, "exports")
    environment = dict(os.environ, SINTER_ONNX_EXPORTS=models)
    made = subprocess.run([test, "--gtest_filter=OnnxExport.*"],
                          env=environment).returncode
    made += subprocess.run([python, __file__, models]).returncode
    return 1 if made + real_models.check(sinter, models) else 0


if __name__ == "__main__":
    sys.exit(main())
