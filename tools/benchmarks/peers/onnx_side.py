"""ONNX Runtime's CPU provider, inputs and outputs bound beforehand."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
import worker  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from worker import Unsupported, filled, filled_bytes  # noqa: E402

OPSET = 20


class Model:
    """Nodes over `inputs` (bound) and `constants` (packed by the runtime)."""

    def __init__(self):
        self.inputs, self.constants, self.nodes = {}, {}, []
        self.count = 0

    def node(self, op, *names, **attributes):
        self.count += 1
        out = f"t{self.count}"
        outputs = [out, out + "_"] if op == "TopK" else [out]
        self.nodes.append(helper.make_node(op, names, outputs, **attributes))
        return out

    def input(self, name, value):
        self.inputs[name] = value
        return name

    def constant(self, name, value):
        self.constants[name] = numpy.asarray(value)
        return name

    def work(self, result, shape, dtype=numpy.float32, order=None):
        kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
        graph = helper.make_graph(
            self.nodes, "case",
            [helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(value.dtype),
                value.shape) for name, value in self.inputs.items()],
            [helper.make_tensor_value_info(result, kind, shape)],
            [numpy_helper.from_array(value, name)
             for name, value in self.constants.items()])
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 10
        onnx.checker.check_model(model)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options(),
            providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, value in self.inputs.items():
            binding.bind_ortvalue_input(
                name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
        out = numpy.zeros(shape, dtype)
        value = onnxruntime.OrtValue.ortvalue_from_numpy(out)
        binding.bind_ortvalue_output(result, value)

        def read(_):
            found = value.numpy()
            return found.transpose(order) if order else found

        return worker.Work(lambda: session.run_with_iobinding(binding), read)


def options():
    chosen = onnxruntime.SessionOptions()
    chosen.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    chosen.inter_op_num_threads = 1
    chosen.log_severity_level = 3
    return chosen


def matmul(case):
    m, n, k = case.numbers("m", "n", "k")
    dtype = case.text("dtype", "f32")
    model = Model()
    weight = model.constant if case.number("packed", 0) else model.input
    if dtype == "i8":
        x = model.input("x", filled_bytes((m, k), 1, 50))
        w = weight("w", filled_bytes((k, n), 2, 50))
        return model.work(model.node("MatMulInteger", x, w), (m, n),
                          numpy.int32)
    if dtype != "f32":
        raise Unsupported(dtype)
    x = model.input("x", filled((m, k), 1))
    if case.number("turned", 0):
        y = model.node("Gemm", x, weight("w", filled((n, k), 2, 0.1)),
                       transB=1)
    else:
        y = model.node("MatMul", x, weight("w", filled((k, n), 2, 0.1)))
    if case.number("bias", 0):
        y = model.node("Add", y, model.constant("b", filled((n,), 3)))
    if case.number("relu", 0):
        y = model.node("Relu", y)
    return model.work(y, (m, n))


def rows(case, model, scale=4):
    shape = case.numbers("rows", "cols")
    return shape, model.input("x", filled(shape, 1, scale))


def softmax(case):
    model = Model()
    shape, x = rows(case, model)
    return model.work(model.node("Softmax", x, axis=-1), shape)


def layer_norm(case):
    model = Model()
    shape, x = rows(case, model)
    w = model.constant("w", filled(shape[1:], 2))
    b = model.constant("b", filled(shape[1:], 3))
    return model.work(model.node("LayerNormalization", x, w, b, axis=-1,
                                 epsilon=1e-5), shape)


def gelu(case):
    model = Model()
    shape, x = rows(case, model)
    form = "tanh" if case.text("form") == "tanh" else "none"
    return model.work(model.node("Gelu", x, approximate=form), shape)


def chain(case):
    model, shape = Model(), (case.number("n"),)
    x = model.input("x", filled(shape, 1))

    def number(value):
        return model.constant(f"c{value}", numpy.float32(value))

    y = model.node("Add", model.node("Mul", x, number(1.5)), number(0.3))
    y = model.node("Mul", model.node("Relu", y), number(0.7))
    y = model.node("Abs", model.node("Sub", y, number(0.25)))
    y = model.node("Sqrt", model.node("Add", y, number(1.25)))
    y = model.node("Add", model.node("Neg", y), number(3.5))
    return model.work(y, shape)


def column_sum(case):
    model = Model()
    shape, x = rows(case, model, 1)
    axes = model.constant("axes", numpy.array([0], numpy.int64))
    return model.work(model.node("ReduceSum", x, axes, keepdims=0), shape[1:])


def amax(case):
    model = Model()
    shape, x = rows(case, model, 1)
    axes = model.constant("axes", numpy.array([1], numpy.int64))
    return model.work(model.node("ReduceMax", x, axes, keepdims=0), shape[:1])


def argmax(case):
    model = Model()
    shape, x = rows(case, model, 1)
    return model.work(model.node("ArgMax", x, axis=1, keepdims=0), shape[:1],
                      numpy.int64)


def cumsum(case):
    model = Model()
    shape, x = rows(case, model, 1)
    axis = model.constant("axis", numpy.array(1, numpy.int64))
    return model.work(model.node("CumSum", x, axis), shape)


def topk(case):
    model = Model()
    shape, x = rows(case, model, 1)
    count = case.number("k")
    k = model.constant("k", numpy.array([count], numpy.int64))
    return model.work(model.node("TopK", x, k, axis=-1), (shape[0], count))


def sort(case):
    """All of an axis is its top."""
    model = Model()
    shape, x = rows(case, model, 1)
    k = model.constant("k", numpy.array([shape[1]], numpy.int64))
    return model.work(model.node("TopK", x, k, axis=-1, largest=0), shape)


def conv2d(case):
    """In the runtime's own layout, channels first."""
    h, w, c, o, kernel = case.numbers("h", "w", "c", "o", "kernel")
    groups, pad = case.number("groups", 1), case.number("pad", 0)
    stride, batch = case.number("stride", 1), case.number("batch", 1)
    model = Model()
    x = filled((batch, h, w, c), 1).transpose(0, 3, 1, 2)
    y = model.node(
        "Conv", model.input("x", numpy.ascontiguousarray(x)),
        model.constant("w", filled((o, c // groups, kernel, kernel), 2, 0.1)),
        group=groups, pads=[pad] * 4, strides=[stride] * 2)

    def size(dim):
        return (dim + 2 * pad - kernel) // stride + 1

    return model.work(y, (batch, o, size(h), size(w)), order=(0, 2, 3, 1))


KINDS = {"matmul": matmul, "softmax": softmax, "layer_norm": layer_norm,
         "gelu": gelu, "chain": chain, "column_sum": column_sum,
         "amax": amax, "argmax": argmax, "cumsum": cumsum, "topk": topk,
         "sort": sort,
         "conv2d": conv2d}


def make(case):
    if case.kind not in KINDS:
        raise Unsupported("no model for " + case.kind)
    return KINDS[case.kind](case)


if __name__ == "__main__":
    worker.serve(make, lambda: f"version={onnxruntime.__version__}")
