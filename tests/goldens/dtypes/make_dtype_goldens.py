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
"""

import itertools
import pathlib
import sys

import ml_dtypes
import numpy as np
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


if __name__ == "__main__":
    main()
