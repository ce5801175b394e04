#!/usr/bin/env python3
"""Makes the golden files of casts, by ml_dtypes and NumPy.

usage: make_dtype_goldens.py [FOLDER]

One safetensors file for each stored dtype: `values` are the f32 of its codes in
order; for each dtype of `SOURCES`, `SOURCE` are numbers at the edges of its
range and between its codes, and `SOURCE_codes` what they become. Where the
format has something beyond its largest number, `SOURCE_saturated` are the codes
after the numbers were brought into the range. What is wider than f32 goes by
way of f32. The codes of NaN are what the format has; of f4e2m1, which has none,
NaN is left out.

integers.safetensors has u16, u32 and u64 at the ends of their ranges, and what
NumPy makes of them: `FROM_to_TO`. Casts of floats out of range saturate and NaN
is 0, which NumPy leaves open, and so is written here.

complex.safetensors has what PyTorch computes with complex numbers, which stand
in it as pairs along a last axis: `DTYPE/x` and `y`, and results by the names of
functions; `c128/grad_NAME_x` and `y` are the gradients of sum |f|^2.
fft.safetensors has transforms of f64: `N/x`, and `N/fft` and so on; options have
their values in the name.
"""

import itertools
import pathlib
import sys

import ml_dtypes
import numpy as np
import torch
from safetensors.numpy import save_file

FLOATS = {
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f4e2m1": ml_dtypes.float4_e2m1fn,
}
INTEGERS = {
    "i4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "i2": ml_dtypes.int2,
    "u2": ml_dtypes.uint2,
}
SOURCES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
}


def codes_of(dtype):
    bits = ml_dtypes.finfo(dtype).bits
    return np.arange(1 << bits, dtype=np.uint8)


def edges(dtype):
    """Each number of the format, the middle to its neighbours, and a little
    above and below that; and what is far beyond."""
    own = codes_of(dtype).view(dtype).astype(np.float64)
    own = np.unique(own[np.isfinite(own)])
    # The middle to what would be the next number.
    beyond = own[-1] + (own[-1] - own[-2]) / 2 * np.array([0.5, 1, 1.5, 2, 4])
    middles = (own[1:] + own[:-1]) / 2
    numbers = np.concatenate([own, middles, beyond])
    near = [numbers, numbers * (1 + 2.0**-20), numbers * (1 - 2.0**-20),
            numbers * (1 + 2.0**-30)]
    least = own[own > 0][0]
    tiny = least * np.array([0.5, 0.25, 0.75, 0.1, 2.0**-30])
    far = np.array([0.0, np.inf, np.nan, 3e38, 1e5, 65504, 1e-40, 1e30])
    numbers = np.concatenate([*near, tiny, far])
    return np.concatenate([numbers, -numbers])


def float_file(name, dtype):
    codes = codes_of(dtype)
    tensors = {"values": codes.view(dtype).astype(np.float32)}
    largest = float(ml_dtypes.finfo(dtype).max)
    for source, wide in SOURCES.items():
        with np.errstate(all="ignore"):
            numbers = np.unique(edges(dtype).astype(wide).astype(np.float64))
            if name == "f4e2m1":
                numbers = numbers[~np.isnan(numbers)]
            # np.unique takes the two zeros for one.
            numbers = np.concatenate([numbers, [-0.0]])
            given = numbers.astype(wide)
            single = given.astype(np.float32)
            coded = single.astype(dtype).view(np.uint8)
            low = (np.float32(2.0**-127) if name == "f8e8m0fnu"
                   else np.float32(-largest))
            saturated = np.clip(single, low, np.float32(largest))
            saturated = saturated.astype(dtype).view(np.uint8)
        if source == "bf16":  # safetensors' NumPy side has none
            given = single
        tensors[source] = given
        tensors[source + "_codes"] = coded
        if name != "f4e2m1":
            tensors[source + "_saturated"] = saturated
    return tensors


def small_integer_file(name, dtype):
    bits = ml_dtypes.iinfo(dtype).bits
    given = np.arange(-40, 300, dtype=np.int32)
    return {
        "i32": given,
        "i32_codes": given.astype(dtype).astype(np.int8).view(np.uint8),
        "values": np.arange(ml_dtypes.iinfo(dtype).min,
                            ml_dtypes.iinfo(dtype).max + 1, dtype=np.float32),
        "bits": np.array([bits], dtype=np.int32),
    }


def saturating(numbers, dtype):
    info = np.iinfo(dtype)
    wide = numbers.astype(np.float64)
    result = np.zeros(wide.shape, dtype)
    for i, number in enumerate(wide):
        if not np.isnan(number):
            whole = int(np.clip(number, -1e30, 1e30))
            result[i] = min(max(whole, info.min), info.max)
    return result


def integer_file():
    unsigned = {"u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
    others = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
              "u8": np.uint8, **unsigned}
    tensors = {}
    for name, dtype in unsigned.items():
        top = np.iinfo(dtype).max
        half = top // 2
        numbers = [0, 1, 2, 127, 128, 255, 256, half - 1, half, half + 1,
                   top - 1, top, top - 255, top // 3, 2**10 + 1]
        if name != "u16":
            numbers += [2**24 - 1, 2**24 + 1, 2**24 + 3, 2**31 - 1]
        if name == "u64":
            numbers += [2**53 + 1, 2**53 + 3, 2**63 + 1024, 2**63 + 1025,
                        2**63 + 3072, 2**40 + 2**15, 2**62 + 2**38]
        given = np.array(numbers, dtype=dtype)
        tensors[name] = given
        for other, to in itertools.chain(others.items()):
            if other != name:
                tensors[f"{name}_to_{other}"] = given.astype(to)
        for other, to in (("f64", np.float64), ("f32", np.float32)):
            tensors[f"{name}_to_{other}"] = given.astype(to)
    reals = np.array([0, -0.0, 0.5, 0.999, 1, 1.5, -0.5, -0.999, -1, -3e9,
                      255.9, 65535, 65535.9, 65536, 2.0**31, 2.0**32 - 0.5,
                      2.0**32, 2.0**53, 2.0**63, 2.0**63 + 2048,
                      2.0**64 - 2048, 2.0**64, 1e30, np.inf, -np.inf, np.nan])
    for source, wide in (("f64", np.float64), ("f32", np.float32)):
        tensors[source] = reals.astype(wide)
        for name, dtype in unsigned.items():
            tensors[f"{source}_to_{name}"] = saturating(tensors[source], dtype)
    return tensors


BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x ** y,
    "real_mul": lambda x, y: x * y.real,
    "real_sub": lambda x, y: y.real - x,
    "real_div": lambda x, y: y.real / x,
    "div_real": lambda x, y: x / y.real,
}
UNARY = {
    "neg": lambda x: -x,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "reciprocal": torch.reciprocal,
    "pow3": lambda x: x ** 3,
    "pow_2": lambda x: x ** -2,
    "pow1_5": lambda x: x ** 1.5,
    "abs": torch.abs,
    "angle": torch.angle,
    "conj": torch.conj,
    "sum": torch.sum,
    "mean": lambda x: torch.mean(x, 0),
    "cumsum": lambda x: torch.cumsum(x, 0),
}
LENGTHS = (1, 2, 7, 60, 127, 521)


def as_array(x):
    x = x.detach().resolve_conj()
    return (torch.view_as_real(x) if x.is_complex() else x).contiguous().numpy()


def complex_tensors(dtype):
    generator = torch.Generator().manual_seed(5)
    # Both sides of the cuts, and the cuts themselves; no zeros.
    edges = torch.tensor([complex(-2, 0.0), complex(-2, -0.0), 3, 2j, -2j,
                          1e-3 + 1e-3j, -40 + 1e-3j, 1 + 1j])
    x = torch.cat([edges, torch.randn(4, generator=generator,
                                      dtype=torch.complex64)]).to(dtype)
    y = torch.randn(12, generator=generator, dtype=torch.complex64).to(dtype)
    x.requires_grad_()
    y.requires_grad_()
    tensors = {"x": x, "y": y}

    def add(name, result, operands):
        tensors[name] = result
        if dtype == torch.complex64:
            return
        loss = result.abs().square().sum()
        grads = torch.autograd.grad(loss, operands)
        for operand, grad in zip("xy", grads):
            tensors[f"grad_{name}_{operand}"] = grad

    for name, function in BINARY.items():
        add(name, function(x, y), (x, y))
    for name, function in UNARY.items():
        add(name, function(x), (x,))
    add("matmul", x.reshape(3, 4) @ y.reshape(4, 3), (x, y))
    add("polar", torch.polar(x.real.abs(), y.real), (x, y))
    return {name: as_array(tensor) for name, tensor in tensors.items()}


def transforms(n):
    x = torch.randn(n, generator=torch.Generator().manual_seed(n),
                    dtype=torch.complex128)
    tensors = {"x": x, "fft": torch.fft.fft(x)}
    if n == 60:
        cube = x.reshape(3, 4, 5)
        tensors |= {
            "ifft_ortho": torch.fft.ifft(x, norm="ortho"),
            "fft_n7_d0": torch.fft.fft(cube, n=7, dim=0),
            "ifft_n2_d1_forward":
                torch.fft.ifft(cube, n=2, dim=1, norm="forward"),
            "rfft": torch.fft.rfft(x.real),
            "rfft_n33": torch.fft.rfft(x.real, n=33),
            "irfft": torch.fft.irfft(x),
            "irfft_n9": torch.fft.irfft(x, n=9),
            "fft2": torch.fft.fft2(cube),
            "ifft2_d02": torch.fft.ifft2(cube, dim=(0, 2)),
            "fftn": torch.fft.fftn(cube),
            "fftn_s36_ortho": torch.fft.fftn(cube, s=(3, 6), norm="ortho"),
            "ifftn": torch.fft.ifftn(cube.real),
        }
    return {name: as_array(tensor) for name, tensor in tensors.items()}


def complex_file():
    tensors = {}
    for name, dtype in (("c64", torch.complex64), ("c128", torch.complex128)):
        for key, array in complex_tensors(dtype).items():
            tensors[f"{name}/{key}"] = array
    return tensors


def fft_file():
    return {f"{n}/{key}": array
            for n in LENGTHS for key, array in transforms(n).items()}


def main():
    own = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else own / "data"
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, tensors):
        save_file(dict(sorted(tensors.items())),
                  folder / f"{name}.safetensors")

    for name, dtype in FLOATS.items():
        write(name, float_file(name, dtype))
    for name, dtype in INTEGERS.items():
        write(name, small_integer_file(name, dtype))
    write("integers", integer_file())
    write("complex", complex_file())
    write("fft", fft_file())


if __name__ == "__main__":
    main()
