#!/usr/bin/env python3
"""usage: ctypes_run.py LIBRARY MODEL IMAGES

Runs the digits model by ctypes alone: batches of 29 and 64 images by DLPack,
without a copy, and with no compiler in the process.
"""

import csv
import ctypes as c
import re
import sys

F32, I64, CPU = 1, 7, 1  # dtypes of Sinter's, and DLPack's kDLCPU


class Tensor(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("data", c.c_void_p),
                ("dtype", c.c_int32), ("device_kind", c.c_int32),
                ("device_index", c.c_int32), ("ndim", c.c_int32),
                ("dims", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64))]


class Device(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("name", c.c_char_p),
                ("description", c.c_char_p), ("kind", c.c_int32),
                ("index", c.c_int32), ("total_bytes", c.c_uint64),
                ("available_bytes", c.c_uint64), ("used_bytes", c.c_uint64)]


class DLTensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32),
                ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8),
                ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class DLManagedTensor(c.Structure):
    pass


DELETER = c.CFUNCTYPE(None, c.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [("dl_tensor", DLTensor), ("context", c.c_void_p),
                            ("deleter", DELETER)]


def sized(kind):
    return kind(struct_size=c.sizeof(kind))


class Sinter:
    def __init__(self, path):
        self.library = c.CDLL(path)
        self.library.sinter_last_error.restype = c.c_char_p

    def __getattr__(self, name):
        function = getattr(self.library, "sinter_" + name)

        def call(*arguments):
            if function(*arguments) != 0:
                sys.exit(f"error: {self.library.sinter_last_error().decode()}")
        return call

    def used_bytes(self):
        info = sized(Device)
        self.device(c.c_size_t(0), c.byref(info))
        return info.used_bytes


def read_images(path):
    with open(path, newline="", encoding="ascii") as file:
        rows = list(csv.reader(file))[1:]
    return [([float(cell) for cell in row[:64]], int(row[64])) for row in rows]


def packed(images):
    """A DLPack tensor over memory of Python's, and what keeps it."""
    memory = (c.c_float * (64 * len(images)))(
        *(pixel for pixels, _ in images for pixel in pixels))
    shape = (c.c_int64 * 4)(len(images), 1, 8, 8)
    tensor = DLTensor(data=c.addressof(memory), device_type=CPU, ndim=4,
                      code=2, bits=32, lanes=1, shape=shape)
    return DLManagedTensor(dl_tensor=tensor), (memory, shape)


def run(sinter, session, images):
    """How many digits are right; what went wrong ends the test."""
    managed, kept = packed(images)
    given, found = sized(Tensor), sized(Tensor)
    sinter.tensor_from_dlpack(c.byref(managed), c.byref(given))
    if given.data != c.addressof(kept[0]):
        sys.exit("error: the view is of other memory")
    sinter.session_run(session, 0, c.byref(given), c.c_size_t(1), None,
                       c.c_size_t(0), None)
    sinter.session_output(session, 0, 0, c.byref(found))
    output = c.POINTER(DLManagedTensor)()
    sinter.session_output_dlpack(session, 0, 0, c.byref(output))
    tensor = output.contents.dl_tensor
    if tensor.data != found.data or tensor.shape[0] != len(images) or \
            (tensor.ndim, tensor.code, tensor.bits) != (1, 0, 64):
        sys.exit("error: the output is another one")
    digits = c.cast(tensor.data, c.POINTER(c.c_int64))[:len(images)]
    output.contents.deleter(output)
    return sum(a == b for a, (_, b) in zip(digits, images))


def check_copies(sinter, session, images):
    """Once weights are packed, a run takes no memory but its output's, which
    was that of the run before."""
    for _ in range(4):
        run(sinter, session, images)
    before = sinter.used_bytes()
    run(sinter, session, images)
    if grown := sinter.used_bytes() - before:
        sys.exit(f"error: {grown} bytes were taken: something was copied")


def check_maps():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        foreign = re.findall(r"\S*(?:LLVM|MLIR|lld|sinter-compiler)\S*",
                             maps.read())
    if foreign:
        sys.exit(f"error: {foreign[0]} is mapped")


def main(library, model_path, images_path):
    sinter, images = Sinter(library), read_images(images_path)
    model, session = c.c_void_p(), c.c_void_p()
    sinter.model_open(model_path.encode(), None, c.byref(model))
    sinter.session_open(model, c.byref(session))
    for count in (29, 64):
        right = run(sinter, session, images[:count])
        print(f"{right} of {count} digits are right")
        if right < count * 0.8:
            sys.exit("error: too few")
    check_maps()  # before devices are listed: drivers of Vulkan have an LLVM
    check_copies(sinter, session, images[:64])
    sinter.session_close(session)
    sinter.model_close(model)


if __name__ == "__main__":
    main(*sys.argv[1:])
