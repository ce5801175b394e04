#!/usr/bin/env python3
"""The text of ten networks of SINTER_SUITES through the stages by `sinter opt`
and by `sinter inspect`, for each kind of target: they are the same, and so are
the kernels of the network itself.

usage: stages.py SINTER FOLDER
"""

import os
import pathlib
import subprocess
import sys
import unittest

MODELS = ("acasxu_1_1", "burn_mnist", "cifar_base_kw", "dtln_1", "mnist_8",
          "self_attention_mnist", "super_resolution_10", "squeezenet_fp16",
          "arch_squeezenet_random", "tribuo_cnn_mnist")
TARGETS = ("cpu", "cuda:sm_90", "vulkan")
STAGES = ("fuse", "plan", "lower")


def kernels(text):
    """All but what says where a value of the network came from."""
    return [line for line in text.splitlines() if "sinter.node" not in line]


class Stages(unittest.TestCase):
    def run_tool(self, *arguments):
        done = subprocess.run([SINTER, *map(str, arguments)],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout

    def test_opt_is_inspect(self):
        models = pathlib.Path(os.environ["SINTER_SUITES"]) / "models"
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name in MODELS:
            model = models / name / "model.onnx"
            text = FOLDER / (name + ".mlir")
            text.write_text(self.run_tool("inspect", model, "--stage",
                                          "import"))
            for target in TARGETS:
                for stage in STAGES:
                    with self.subTest(name=name, target=target, stage=stage):
                        shown = self.run_tool("opt", text, "--until", stage,
                                              "--target", target)
                        self.assertEqual(shown, self.run_tool(
                            "inspect", text, "--stage", stage,
                            "--target", target))
                        if stage == "fuse":
                            self.assertEqual(kernels(shown), kernels(
                                self.run_tool("inspect", model, "--stage",
                                              stage, "--target", target)))


if __name__ == "__main__":
    SINTER, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
    if "SINTER_SUITES" not in os.environ:
        print("SINTER_SUITES is not set")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
