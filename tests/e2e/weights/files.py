"""Small weight files, written and read by nothing but Python."""

import io
import json
import pickle
import struct
import sys
import types
import zipfile

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "BOOL": 1}


def write_safetensors(path, tensors, metadata=None):
    """`tensors`: name to (dtype, shape, bytes)."""
    header, at = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


def read_safetensors(path):
    """What write_safetensors was given, and the metadata."""
    with open(path, "rb") as file:
        data = file.read()
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + at for at in entry["data_offsets"])
        tensors[name] = (entry["dtype"], entry["shape"], data[begin:end])
    return tensors, metadata


def read_npz(path):
    """Name to (header, bytes)."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            length, = struct.unpack_from("<H", data, 8)
            header = data[10:10 + length].decode()
            arrays[name.removesuffix(".npy")] = (header, data[10 + length:])
    return arrays


class Storage:
    """What torch.save calls by a persistent id."""

    def __init__(self, key, values):
        self.key, self.values = key, values


def write_torch(path, tensors, **others):
    """A checkpoint as torch.save writes it: name to (storage, shape, strides)
    of floats, and other entries, below the key `state_dict`."""
    torch = types.ModuleType("torch")
    utils = types.ModuleType("torch._utils")

    def named(name, module):
        def function(*_):
            raise AssertionError(name)
        function.__name__ = function.__qualname__ = name
        function.__module__ = module.__name__
        setattr(module, name, function)
        return function
    rebuild = named("_rebuild_tensor_v2", utils)
    storage_type = named("FloatStorage", torch)

    class Tensor:
        def __init__(self, *arguments):
            self.arguments = arguments

        def __reduce__(self):
            return rebuild, self.arguments

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            if isinstance(value, Storage):
                return ("storage", storage_type, value.key, "cpu",
                        len(value.values))
            return None

    known = {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    sys.modules.update({"torch": torch, "torch._utils": utils})
    torch._utils = utils
    try:
        text = io.BytesIO()
        state = {name: Tensor(storage, 0, tuple(shape), tuple(strides), False,
                              {})
                 for name, (storage, shape, strides) in tensors.items()}
        Pickler(text, protocol=2).dump({"state_dict": state, **others})
    finally:
        for name, module in known.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", text.getvalue())
        archive.writestr("archive/byteorder", "little")
        storages = {storage.key: storage for storage, _, _ in tensors.values()}
        for key, storage in storages.items():
            archive.writestr(f"archive/data/{key}", struct.pack(
                f"<{len(storage.values)}f", *storage.values))
        archive.writestr("archive/version", "3\n")


def write_gguf(path, name, shape, blocks, kind):
    """One tensor of quantized blocks, and a key."""
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()
    data = b"GGUF" + struct.pack("<IQQ", 3, 1, 1)
    data += text("general.architecture") + struct.pack("<I", 8) + text("none")
    data += text(name) + struct.pack("<I", len(shape))
    data += struct.pack(f"<{len(shape)}Q", *reversed(shape))
    data += struct.pack("<IQ", kind, 0)
    data += b"\0" * (-len(data) % 32) + blocks
    with open(path, "wb") as file:
        file.write(data)
