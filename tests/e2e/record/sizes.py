#!/usr/bin/env python3
"""Prints a table of sizes and times of records beside torch.save.

usage: sizes.py RECORD_SIZES [LAYERS]

RECORD_SIZES is the program of that name in bin/. Without PyTorch its lines are
left out. Times are the processor's, of all threads; files lie in TMPDIR.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time


def timed(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def torch_rows(folder, layers):
    try:
        import torch
        from safetensors.torch import load_file, save_file
    except ImportError:
        return
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024)
                                  for _ in range(layers)])
    file = folder / "model.pt"

    def load():
        model.load_state_dict(torch.load(file, weights_only=True))

    for name, save, read in [
            ("torch.save", lambda: torch.save(model.state_dict(), file), load),
            ("safetensors.torch",
             lambda: save_file(model.state_dict(), file),
             lambda: model.load_state_dict(load_file(file)))]:
        saving = timed(save)
        yield {"format": name, "precision": "full",
               "bytes": file.stat().st_size, "save": saving,
               "load": timed(read)}
    half = {key: value.half() for key, value in model.state_dict().items()}
    saving = timed(lambda: torch.save(half, file))
    yield {"format": "torch.save", "precision": "half",
           "bytes": file.stat().st_size, "save": saving, "load": timed(load)}


def main():
    program, layers = sys.argv[1], int((sys.argv + ["24"])[2])
    with tempfile.TemporaryDirectory(prefix="sinter-sizes-") as name:
        folder = pathlib.Path(name)
        lines = subprocess.run([program, name, str(layers)], check=True,
                               capture_output=True, text=True).stdout
        rows = [json.loads(line) for line in lines.splitlines()]
        print(f"{rows[0]['parameters']} parameters\n")
        rows += torch_rows(folder, layers)
    print("| format | precision | MB | save s | load s |")
    print("|---|---|--:|--:|--:|")
    for row in rows:
        print(f"| {row['format']} | {row['precision']} | "
              f"{row['bytes'] / 1e6:.1f} | {row['save']:.2f} | "
              f"{row['load']:.2f} |")


if __name__ == "__main__":
    main()
