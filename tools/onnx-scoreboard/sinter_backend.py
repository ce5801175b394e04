"""The `onnx.backend` protocol over Sinter's C interface.

A model is compiled to a `.sinter` file by `sinter compile`, which libsinter-
runtime opens and runs; no compiler is in this process. SINTER names the tool,
SINTER_RUNTIME the library.
"""

import ctypes
import os
import re
import shutil
import subprocess
import tempfile

import numpy
import onnx
import onnx.numpy_helper
from onnx.backend.base import Backend, BackendRep

STATUS_UNSUPPORTED = 2
# sinter_dtype by its number, as sinter/c_api.h has them, by the names of NumPy
# and ml_dtypes.
DTYPES = ["float64", "float32", "float16", "bfloat16", "int8", "int16",
          "int32", "int64", "uint8", "bool", "complex64", "complex128",
          "float8_e4m3fn",
          "float8_e5m2", "float8_e8m0fnu", "int4", "uint4", "uint16",
          "uint32", "uint64", "float8_e4m3fnuz", "float8_e5m2fnuz",
          "float4_e2m1fn", "int2", "uint2"]


class Unsupported(RuntimeError):
    """What Sinter says that it does not do."""


class TensorView(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("data", ctypes.c_void_p),
                ("dtype", ctypes.c_int32), ("device_kind", ctypes.c_int32),
                ("device_index", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64))]


class ModelOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("device", ctypes.c_char_p),
                ("check", ctypes.c_int32), ("in_place", ctypes.c_int32),
                ("never_compile", ctypes.c_int32),
                ("threads", ctypes.c_int32),
                ("trust", ctypes.c_int32),
                ("reserved", ctypes.c_int32)]


class EntryInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("description", ctypes.c_char_p),
                ("num_inputs", ctypes.c_uint32),
                ("num_outputs", ctypes.c_uint32)]


class PortInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("description", ctypes.c_char_p), ("dtype", ctypes.c_int32),
                ("ndim", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("dim_names", ctypes.POINTER(ctypes.c_char_p)),
                ("is_scalar", ctypes.c_int32), ("reserved", ctypes.c_int32)]


def sized(kind):
    made = kind()
    made.struct_size = ctypes.sizeof(kind)
    return made


class Library:
    """libsinter-runtime, opened once."""

    opened = None

    def __init__(self):
        path = os.environ.get("SINTER_RUNTIME", "libsinter-runtime.so.0.1")
        self.functions = ctypes.CDLL(path)
        self.functions.sinter_last_error.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        status = getattr(self.functions, name)(*arguments)
        if status == 0:
            return
        text = self.functions.sinter_last_error().decode()
        raise (Unsupported if status == STATUS_UNSUPPORTED
               else RuntimeError)(text)

    @classmethod
    def get(cls):
        cls.opened = cls.opened or cls()
        return cls.opened


def number_of(dtype):
    if dtype.name not in DTYPES:
        raise Unsupported(f"tensors of {dtype.name}")
    return DTYPES.index(dtype.name)


def dtype_of(number):
    name = DTYPES[number]
    try:
        return numpy.dtype(name)
    except TypeError:  # not one of NumPy's own
        import ml_dtypes
        return numpy.dtype(getattr(ml_dtypes, name))


def is_beyond_numpy(array):
    return array.dtype.type.__module__ != "numpy"


def bytes_of(array):
    """Elements as the C interface takes them: those of signed types of fewer
    than 8 bits have their sign in the whole byte."""
    if array.dtype.name in ("int2", "int4"):
        return array.astype(numpy.int8)
    return array


class Session:
    """A `.sinter` file with one entry."""

    def __init__(self, path, device):
        self.library = Library.get()
        self.model, self.session = ctypes.c_void_p(), ctypes.c_void_p()
        options = sized(ModelOptions)
        options.device = device.encode()
        self.library.call("sinter_model_open", path.encode(),
                          ctypes.byref(options), ctypes.byref(self.model))
        self.library.call("sinter_session_open", self.model,
                          ctypes.byref(self.session))
        self.entry = sized(EntryInfo)
        self.library.call("sinter_model_entry", self.model, 0,
                          ctypes.byref(self.entry))

    def close(self):
        self.library.call("sinter_session_close", self.session)
        self.library.call("sinter_model_close", self.model)

    def names(self, kind, count):
        found = []
        for index in range(count):
            port = sized(PortInfo)
            self.library.call(f"sinter_model_{kind}", self.model, 0, index,
                              ctypes.byref(port))
            found.append(port.name.decode())
        return found

    def run(self, feeds):
        count = self.entry.num_inputs
        views, kept = (TensorView * max(count, 1))(), []
        for view, name in zip(views, self.names("input", count)):
            array = numpy.ascontiguousarray(bytes_of(feeds[name]))
            array = array.reshape(feeds[name].shape)  # of no axes, too
            dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
            kept += [array, dims]
            view.struct_size = ctypes.sizeof(TensorView)
            view.data = array.ctypes.data
            view.dtype = number_of(feeds[name].dtype)
            view.ndim = array.ndim
            view.dims = dims
        self.library.call("sinter_session_run", self.session, 0, views,
                          ctypes.c_size_t(count), None, ctypes.c_size_t(0),
                          None)
        names = self.names("output", self.entry.num_outputs)
        return {name: self.output(i) for i, name in enumerate(names)}

    def output(self, index):
        view = sized(TensorView)
        self.library.call("sinter_session_output", self.session, 0, index,
                          ctypes.byref(view))
        shape = [view.dims[axis] for axis in range(view.ndim)]
        result = numpy.zeros(shape, dtype_of(view.dtype))
        to = sized(TensorView)
        to.data, to.dtype, to.ndim = result.ctypes.data, view.dtype, view.ndim
        to.dims = view.dims
        if result.size:
            self.library.call("sinter_tensor_copy", ctypes.byref(view),
                              ctypes.byref(to))
        return result


class SinterRep(BackendRep):
    """A model. What is compiled for inputs of some types is kept."""

    def __init__(self, model, device, exact):
        self.folder = tempfile.TemporaryDirectory(prefix="sinter-backend-")
        self.path = os.path.join(self.folder.name, "model.onnx")
        onnx.save(model, self.path)
        stored = {each.name for each in model.graph.initializer}
        self.inputs = [each.name for each in model.graph.input
                       if each.name not in stored]
        self.outputs = [each.name for each in model.graph.output]
        self.device, self.exact = device, exact
        self.sessions = {}

    def compile(self, constants, sizes):
        """The file; `constants` are inputs that become part of it, `sizes`
        those of axes that the model computes with."""
        number = len(self.sessions)
        output = os.path.join(self.folder.name, f"{number}.sinter")
        tool = os.environ.get("SINTER") or shutil.which("sinter")
        path = self.with_stored(constants, number)
        words = [tool, "compile", path, "-o", output]
        if self.exact:
            words += ["--numerics", "exact"]
        if self.device != "cpu":
            words += ["--target", self.device]
        for name, value in constants.items():
            if is_beyond_numpy(value):
                continue
            place = f"{self.folder.name}/{number}.{len(words)}.npy"
            numpy.save(place, value)
            words += ["--constant", f"{name}={place}"]
        for name, size in sizes.items():
            words += ["--size", f"{name}={size}"]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode < 0 or "internal error" in done.stderr:
            raise RuntimeError(f"sinter compile ends with {done.returncode}: "
                               f"{done.stderr.strip()}")
        if done.returncode != 0:
            raise Unsupported(done.stderr.strip())
        return output

    def with_stored(self, constants, number):
        """The model, of which inputs whose types .npy files do not have are
        initializers."""
        stored = {name: value for name, value in constants.items()
                  if is_beyond_numpy(value)}
        if not stored:
            return self.path
        model = onnx.load(self.path)
        given = [each for each in model.graph.input
                 if each.name not in stored]
        del model.graph.input[:]
        model.graph.input.extend(given)
        model.graph.initializer.extend(
            onnx.numpy_helper.from_array(value, name)
            for name, value in stored.items())
        path = os.path.join(self.folder.name, f"{number}.onnx")
        onnx.save(model, path)
        return path

    def made_constant(self, text, feeds, constants):
        """Inputs whose values a program has to know, as the error says: what
        a shape is computed from, and what only has a shape that is used."""
        idle = re.search(r"depends on input '(.*?)'", text)
        if idle:
            return {idle[1]: feeds[idle[1]]}
        if "has to be known" not in text:
            return {}
        small = {name: value for name, value in feeds.items()
                 if name not in constants and value.size <= 4096}
        whole = {name: value for name, value in small.items()
                 if value.dtype.kind in "iub"}
        return whole or small

    def made_size(self, text, feeds):
        """Of an axis that files leave open, and models have one size of."""
        axis = re.search(r"dynamic '(.*):(\d+)=(.*?)'.*--size", text)
        return ({axis[3]: feeds[axis[1]].shape[int(axis[2])]} if axis else {})

    def session_for(self, feeds):
        key = tuple((name, value.shape, value.dtype.name)
                    for name, value in feeds.items())
        for session, constants in self.sessions.get(key, []):
            if all(numpy.array_equal(feeds[name], value)
                   for name, value in constants.items()):
                return session
        constants, sizes = {}, {}
        while True:
            try:
                path = self.compile(constants, sizes)
                break
            except Unsupported as error:
                known = len(constants) + len(sizes)
                sizes.update(self.made_size(str(error), feeds))
                constants.update(self.made_constant(str(error), feeds,
                                                    constants))
                if len(constants) + len(sizes) == known:
                    raise
        session = Session(path, self.device)
        self.sessions.setdefault(key, []).append((session, constants))
        return session

    def run(self, inputs, **options):
        if isinstance(inputs, dict):
            feeds = dict(inputs)
        else:
            feeds = dict(zip(self.inputs, inputs))
        for name, value in feeds.items():
            if not isinstance(value, (numpy.ndarray, numpy.generic)):
                raise Unsupported(f"input '{name}' is no tensor")
            feeds[name] = numpy.asarray(value)
            number_of(feeds[name].dtype)
        results = self.session_for(feeds).run(feeds)
        return tuple(results[name] for name in self.outputs)


class SinterBackend(Backend):
    """`prepare`, `run_model`, `run_node` and `supports_device`."""

    DEVICES = {"CPU": "cpu", "CUDA": "cuda"}

    @classmethod
    def prepare(cls, model, device="CPU", exact=True, **options):
        """`exact`: each operator is rounded by itself, as cases of single
        operators want it."""
        onnx.checker.check_model(model)
        return SinterRep(model, cls.DEVICES[device.split(":")[0]], exact)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None,
                 **options):
        """The node as a model of its own; without `outputs_info` ONNX infers
        what its outputs are."""
        def info(name, array):
            kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            return onnx.helper.make_tensor_value_info(name, kind, array.shape)
        given = [name for name in node.input if name]
        arrays = [numpy.asarray(each) for each in inputs]
        if outputs_info:
            outputs = [onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)),
                shape) for name, (dtype, shape) in zip(node.output,
                                                       outputs_info)]
        else:
            outputs = [onnx.ValueInfoProto(name=name) for name in node.output
                       if name]
        graph = onnx.helper.make_graph(
            [node], "node", [info(*pair) for pair in zip(given, arrays)],
            outputs)
        opsets = options.get("opset_imports") or [
            onnx.helper.make_opsetid("", onnx.defs.onnx_opset_version())]
        model = onnx.helper.make_model(graph, opset_imports=opsets)
        if not outputs_info:
            model = onnx.shape_inference.infer_shapes(model)
        return cls.run_model(model, arrays, device)

    @classmethod
    def supports_device(cls, device):
        if device.split(":")[0] == "CPU":
            return True
        if device.split(":")[0] != "CUDA":
            return False
        tool = os.environ.get("SINTER") or shutil.which("sinter")
        listed = subprocess.run([tool, "devices"], capture_output=True,
                                text=True).stdout
        return "cuda:0" in listed


prepare = SinterBackend.prepare
run_model = SinterBackend.run_model
run_node = SinterBackend.run_node
supports_device = SinterBackend.supports_device
