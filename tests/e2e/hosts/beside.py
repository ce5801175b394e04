#!/usr/bin/env python3
"""usage: beside.py PYTHON GUEST LIBRARY...

One process has Sinter and PyTorch, Triton (which has an MLIR and LLVM of its
own) or ONNX Runtime, loaded in either order: all of them compute. PYTHON, or
SINTER_BENCH_PYTHON, is an interpreter that has them, as that of
`tools/bench --peers`; without it there is nothing to see (exit code 77).
"""
import ctypes
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

ORDERS = ["sinter torch", "torch sinter", "sinter onnxruntime",
          "onnxruntime sinter", "sinter triton", "triton sinter",
          "libraries torch onnxruntime sinter",
          "torch triton onnxruntime libraries sinter"]


# ---- in the process of one order --------------------------------------------
def check(holds, what):
    if not holds:
        sys.exit(f"error: {what} computed something else")


SIZES = itertools.count(1001)  # each of a program that is not compiled yet


def use_sinter(guest):
    total = ctypes.CDLL(guest).sinter_test_sum
    total.restype, total.argtypes = ctypes.c_double, [ctypes.c_long]
    n = next(SIZES)
    check(total(n) == n * (n - 1) / 2, "sinter")


def use_torch():
    import torch
    x = torch.arange(12.).reshape(3, 4).requires_grad_()
    y = torch.relu(x @ torch.ones(4, 2)).sum()
    y.backward()
    check(y.item() == 132 and x.grad.sum().item() == 24, "torch")
    image = torch.ones(1, 3, 8, 8)
    found = torch.nn.functional.conv2d(image, torch.ones(2, 3, 3, 3))
    check(found.sum().item() == 27 * 2 * 36, "torch")


def use_triton():
    from triton._C import libtriton
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    builder = libtriton.ir.builder(context)
    module = builder.create_module()
    check("module" in str(module), "triton")


def field(number, value):
    """Of a protocol buffer: a small number, or text, or a message."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(value)]) + value


def onnx_of_add():
    """x + x for three numbers, as an ONNX model."""
    def named(name):
        kind = field(1, 1) + field(2, field(1, field(1, 3)))
        return field(1, name) + field(2, field(1, kind))
    node = field(1, "x") + field(1, "x") + field(2, "y") + field(4, "Add")
    graph = (field(1, node) + field(2, "g") + field(11, named("x"))
             + field(12, named("y")))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


def use_onnxruntime():
    import numpy
    import onnxruntime
    session = onnxruntime.InferenceSession(
        onnx_of_add(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"x": numpy.array([1, 2, 3], numpy.float32)})[0]
    check(found.tolist() == [2, 4, 6], "onnxruntime")


def use_all(order, guest, libraries):
    uses = {"sinter": lambda: use_sinter(guest), "torch": use_torch,
            "triton": use_triton, "onnxruntime": use_onnxruntime,
            "libraries": lambda: [ctypes.CDLL(path) for path in libraries]}
    names = order.split()
    for count in range(1, len(names) + 1):
        for name in names[:count]:
            uses[name]()
    if "libsinter-compiler" not in pathlib.Path("/proc/self/maps").read_text():
        sys.exit("error: the compiler was not opened")


# ---- all orders -------------------------------------------------------------
def main():
    if sys.argv[1] == "--order":
        return use_all(sys.argv[2], sys.argv[3], sys.argv[4:])
    python = os.environ.get("SINTER_BENCH_PYTHON") or sys.argv[1]
    if not pathlib.Path(python).exists():
        print(f"there is no {python}; SINTER_BENCH_PYTHON names another")
        return 77
    failed = 0
    for order in ORDERS:
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run(
                [python, __file__, "--order", order, *sys.argv[2:]], text=True,
                env=dict(os.environ, SINTER_CACHE_DIR=cache), check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(f"{order}: {done.returncode or 'ok'}")
        if done.returncode:
            failed = 1
            print(done.stdout[-2000:])
    return failed


if __name__ == "__main__":
    sys.exit(main())
