#!/usr/bin/env python3
"""Makes the files beside this script, by the writers that people use.

    make_files.py [FOLDER]

Needs torch, numpy, safetensors, gguf, flax and cbor2. Each tensor of each file
is in expected.safetensors as FILE/NAME, dense. The files are committed; run it
again where a format changes.
"""

import json
import pathlib
import struct
import sys

import cbor2
import flax.serialization
import gguf
import numpy
import safetensors.torch
import torch

BLOCKS = 2
EXPECTED = {}


def expect(file, name, tensor):
    if not isinstance(tensor, torch.Tensor):
        tensor = torch.from_numpy(numpy.array(tensor, order="C"))
    EXPECTED[f"{file}/{name}"] = tensor.detach().clone().contiguous()


def ramp(*shape, dtype=torch.float32):
    count = int(numpy.prod(shape))
    return (torch.arange(count) - count // 3).reshape(shape).to(dtype)


#===- PyTorch --------------------------------------------------------------===#

SCALARS = ["float64", "float32", "float16", "bfloat16", "int64", "int32",
           "int16", "int8", "uint8", "bool", "complex64", "uint16", "uint32",
           "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
           "float8_e5m2fnuz", "float8_e8m0fnu"]


def tensors():
    """Every element type, and views of one storage."""
    base = ramp(6, 8)
    values = {}
    for name in SCALARS:
        positive = name.startswith("uint") or name.endswith("fnu")
        source = torch.arange(1, 7) if positive else ramp(2, 3)
        values[name] = source.reshape(2, 3).to(getattr(torch, name))
    return values | {
        "base": base, "turned": base.t(), "row": base[2], "column": base[:, 3],
        "steps": base[1::2, ::3], "repeated": base[0, :3, None].expand(3, 4),
        "scalar": base[3, 3], "empty": torch.zeros(0, 3), "same": base,
    }


def flatten(value, name=""):
    if isinstance(value, torch.Tensor):
        yield name, value
        return
    pairs = value.items() if isinstance(value, dict) else (
        enumerate(value) if isinstance(value, (list, tuple)) else ())
    for key, each in pairs:
        yield from flatten(each, f"{name}.{key}" if name else str(key))


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.register_buffer("count", torch.tensor(7))
        self.register_buffer("scratch", torch.ones(2), persistent=False)


class Net(torch.nn.Module):
    """Is pickled by its name, which no reader has to know."""

    def __init__(self):
        super().__init__()
        self.first = Block()
        self.norm = torch.nn.BatchNorm1d(2)
        self.scale = torch.nn.Parameter(ramp(2))


def checkpoint():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters())
    model(ramp(5, 3)).sum().backward()
    optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(),
            "epoch": 3, "loss": 0.25, "name": "small", "done": False,
            "history": [float(i) for i in range(20)],
            "best": numpy.float64(0.75), "count": numpy.int64(5),
            "layers": [ramp(2), {"bias": ramp(3)}]}


def write_torch(folder):
    def save(file, value, **options):
        torch.save(value, folder / file, **options)
        for name, tensor in flatten(value):
            expect(file, name, tensor)
    legacy = {"_use_new_zipfile_serialization": False}
    save("tensors.pt", tensors())
    save("tensors-legacy.pt", tensors(), **legacy)
    save("tensors-4.pt", tensors(), pickle_protocol=4)
    save("checkpoint.pt", checkpoint())
    save("checkpoint-legacy.pt", checkpoint(), **legacy)
    save("alone.pt", ramp(2, 2))
    EXPECTED["alone.pt/alone"] = EXPECTED.pop("alone.pt/")
    array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    arrays = {"array": array, "turned": numpy.asfortranarray(array),
              "swapped": array.astype(">f4"), "flags": array > 2}
    for file, protocol in (("arrays.pt", 2), ("arrays-5.pt", 5)):
        torch.save(arrays, folder / file, pickle_protocol=protocol)
        for name, each in arrays.items():
            expect(file, name, each.astype(each.dtype.newbyteorder("=")))
    # The legacy form holds the source of a class; its path is no one's matter.
    find_source = torch.serialization.get_source_lines_and_file
    torch.serialization.get_source_lines_and_file = lambda kind: (
        *find_source(kind)[:2], "net.py")
    for file, options in (("module.pt", {}), ("module-legacy.pt", legacy)):
        torch.manual_seed(0)
        module = Net()
        torch.save(module, folder / file, **options)
        for name, tensor in module.state_dict().items():
            expect(file, name, tensor)
    torch.manual_seed(0)
    script = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(3, 2)))
    script.save(str(folder / "script.pt"))
    for name, tensor in script.state_dict().items():
        expect("script.pt", name, tensor)
    frozen = torch.jit.freeze(script.eval())
    frozen.save(str(folder / "frozen.pt"))
    expect("frozen.pt", "constants.0", script.state_dict()["0.weight"])
    expect("frozen.pt", "constants.1", script.state_dict()["0.bias"])


#===- GGUF -----------------------------------------------------------------===#


def write_gguf(folder):
    random = numpy.random.default_rng(0)
    writer = gguf.GGUFWriter(folder / "blocks.gguf", "small", use_temp_file=False)
    writer.add_uint8("small.u8", 200)
    writer.add_int8("small.i8", -100)
    writer.add_uint16("small.u16", 60000)
    writer.add_int16("small.i16", -30000)
    writer.add_uint32("small.u32", 4000000000)
    writer.add_int32("small.i32", -2000000000)
    writer.add_float32("small.f32", 0.25)
    writer.add_uint64("small.u64", 1 << 63)
    writer.add_int64("small.i64", -(1 << 62))
    writer.add_float64("small.f64", 1e-300)
    writer.add_bool("small.bool", True)
    writer.add_string("small.text", "two words")
    writer.add_array("small.tokens", [f"t{i}" for i in range(20)])
    writer.add_array("small.numbers", [1, 2, 3])
    for kind in gguf.quants._type_traits:
        size = gguf.GGML_QUANT_SIZES[kind][1]
        blocks = random.integers(0, 256, (3, BLOCKS * size), numpy.uint8)
        if kind.name == "BF16":
            blocks = random.integers(0, 256, (3, 8), numpy.uint8)
        writer.add_tensor(kind.name, blocks, raw_dtype=kind)
        with numpy.errstate(all="ignore"):
            numbers = gguf.quants.dequantize(blocks, kind)
        if kind.name == "BF16":
            numbers = torch.from_numpy(blocks.view(numpy.int16)).view(
                torch.bfloat16)
        expect("blocks.gguf", kind.name, numbers)
    for dtype in ("float64", "float32", "float16", "int8", "int16", "int32",
                  "int64"):
        array = numpy.arange(6).reshape(1, 2, 3).astype(dtype)
        writer.add_tensor(dtype, array)
        expect("blocks.gguf", dtype, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


#===- Others ---------------------------------------------------------------===#


def write_flax(folder):
    tree = {"params": {"Dense_0": {"kernel": ramp(3, 4).numpy(),
                                   "bias": ramp(4).numpy()}},
            "half": ramp(3).numpy().astype(numpy.float16),
            "step": 12, "rate": 0.5, "name": "adam", "on": True, "none": None,
            "list": [ramp(2).numpy(), ramp(1).numpy()],
            "scalar": numpy.float32(2.5), "large": ramp(5, 5).numpy()}
    flax.serialization.MAX_CHUNK_SIZE = 64  # what is larger comes in parts
    (folder / "flax.msgpack").write_bytes(
        flax.serialization.msgpack_serialize(tree))
    arrays = {"params.Dense_0.kernel": tree["params"]["Dense_0"]["kernel"],
              "params.Dense_0.bias": tree["params"]["Dense_0"]["bias"],
              "half": tree["half"], "list.0": tree["list"][0],
              "list.1": tree["list"][1], "large": tree["large"],
              "scalar": numpy.asarray(tree["scalar"])}
    for name, array in arrays.items():
        expect("flax.msgpack", name, array)


def write_burnpack(folder):
    """The two layouts: aligned to 256 bytes, and what was before it."""
    kinds = [("F32", ramp(2, 3)), ("I64", ramp(3, dtype=torch.int64)),
             ("F16", ramp(4, dtype=torch.float16)),
             ({"Bool": "Native"}, torch.tensor([True, False])),
             ("BF16", ramp(2, dtype=torch.bfloat16)),
             ("U8", torch.arange(5, dtype=torch.uint8))]
    for file, alignment in (("aligned.bpk", 256), ("packed.bpk", 1)):
        descriptors, data = {}, b""
        for number, (kind, tensor) in enumerate(kinds):
            data += bytes(-len(data) % alignment)
            start = len(data)
            data += bytes(tensor.reshape(-1).view(torch.uint8).numpy())
            descriptors[f"layer.{number}"] = {
                "dtype": kind, "shape": list(tensor.shape),
                "data_offsets": [start, len(data)], "param_id": number}
            expect(file, f"layer.{number}", tensor)
        metadata = cbor2.dumps({"tensors": descriptors,
                                "metadata": {"producer": "burn"}})
        head = b"NRUB" + struct.pack("<HI", 1, len(metadata)) + metadata
        (folder / file).write_bytes(
            head + bytes(-len(head) % alignment) + data)


def write_shards(folder):
    shards = {"model-00001-of-00002.safetensors": {"a": ramp(2, 2),
                                                   "b": ramp(3)},
              "model-00002-of-00002.safetensors": {"c": ramp(4),
                                                   "unlisted": ramp(1)}}
    weight_map = {}
    for file, values in shards.items():
        safetensors.torch.save_file(values, folder / file)
        for name, tensor in values.items():
            if name != "unlisted":
                weight_map[name] = file
                expect("model.safetensors.index.json", name, tensor)
    index = {"metadata": {"total_size": 44}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(
        json.dumps(index, indent=2) + "\n")


def main():
    own = pathlib.Path(__file__).resolve().parent / "files"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else own
    folder.mkdir(exist_ok=True)
    for write in (write_torch, write_gguf, write_flax, write_burnpack,
                  write_shards):
        write(folder)
    safetensors.torch.save_file(EXPECTED, folder / "expected.safetensors")


if __name__ == "__main__":
    main()
