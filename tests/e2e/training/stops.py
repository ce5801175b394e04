#!/usr/bin/env python3
"""Ends a training behind some of its batches and has another process go on: the
weights at the end are those of one process, byte for byte. What a process does
for the first time, as it remembers what lines have shown, must change no bit.

usage: stops.py PROGRAM TRAINING STEP...
"""

import pathlib
import subprocess
import sys
import tempfile


def weights_of(path):
    data = path.read_bytes()
    return data[8 + int.from_bytes(data[:8], "little"):]


def run(program, training, folder, stop=0):
    weights = folder / "weights"
    subprocess.run(
        [program, "--training", training, "--folder", str(folder),
         "--weights", str(weights), "--epochs", "3", "--stop", str(stop)],
        check=True, stdout=subprocess.DEVNULL)
    return weights_of(weights)


def main():
    program, training, *steps = sys.argv[1:]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="sinter-stops-") as root:
        expected = run(program, training, pathlib.Path(root) / "whole")
        for step in steps:
            folder = pathlib.Path(root) / f"stop-{step}"
            run(program, training, folder, int(step))
            if run(program, training, folder) != expected:
                wrong.append(step)
    if wrong:
        sys.exit(f"{training}: the weights differ behind steps "
                 f"{', '.join(wrong)}")
    print(f"{training}: the same weights behind {len(steps)} steps")


if __name__ == "__main__":
    main()
