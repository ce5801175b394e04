#!/usr/bin/env python3
"""Commands on PyTorch programs: lines of Python, sizes that stay open.

usage: commands.py SINTER
"""

import os
import struct
import subprocess
import sys
import tempfile

SMALL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small")
problems = []


def model(name):
    return os.path.join(SMALL, name, "model.pt2")


def run(*words, fails=False):
    done = subprocess.run(words, capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        problems.append(f"{words}: {done.returncode}\n{done.stderr}")
    return done.stdout + done.stderr


def expect(text, part, where):
    if part not in text:
        problems.append(f"{where}: no '{part}' in\n{text}")


def write_ones(path, rows, columns):
    """An array of NumPy's."""
    header = (f"{{'descr': '<f4', 'fortran_order': False, "
              f"'shape': ({rows}, {columns}), }}")
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        file.write(struct.pack("<f", 1) * (rows * columns))


def main(sinter):
    text = run(sinter, "inspect", model("weights_and_batch"))
    expect(text, "0 nodes are not supported", "inspect")
    expect(text, "output output: f32[", "inspect")
    text = run(sinter, "inspect", "--weights", model("weights_and_batch"))
    expect(text, "hidden.weight", "inspect --weights")
    text = run(sinter, "profile", model("weights_and_batch"),
               "--random-inputs", "1")
    expect(text, "features.py:", "profile names a line of Python")
    text = run(sinter, "run", model("custom_operator"), fails=True)
    expect(text, "operators that are not supported", "run")
    with tempfile.TemporaryDirectory() as scratch:
        compiled = os.path.join(scratch, "net.sinter")
        run(sinter, "compile", model("slice_to_five"), "-o", compiled)
        for rows in (3, 5, 9):
            array = os.path.join(scratch, f"{rows}.npy")
            write_ones(array, rows, 3)
            text = run(sinter, "run", compiled, "--input", f"0={array}",
                       fails=rows < 5)
            expect(text, "f32[5,3]" if rows >= 5 else "dims do not fit",
                   f"{rows} rows")
    print("\n".join(problems) or "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
