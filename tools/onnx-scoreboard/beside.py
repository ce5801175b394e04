#!/usr/bin/env python3
"""How long ONNX models take, beside ONNX Runtime and OpenVINO.

    beside.py SINTER DIR... [--threads 1,2] [--seconds S] [--rounds N]
              [--only TEXT] [--json FILE] [--sides NAMES]

Each DIR is a case as `sinter check` takes them, or has such in it. Sides take
turns, each in a process of its own: `sinter check --times`, which also compares
the outputs, first with an empty disk cache and then with a full one, and the
Python packages `onnxruntime` and `openvino`, where they can be imported. Times
are milliseconds: `start` is loading and the first run, `later` the median of
later runs, and of rounds the least. Ratios are the best peer's time by Sinter's.
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

LINE = re.compile(r": load ([0-9.]+) ms, first run ([0-9.]+) ms, "
                  r"later ([0-9.]+) ms")


def cases_in(folders):
    for folder in map(pathlib.Path, folders):
        if (folder / "model.onnx").exists():
            yield folder
        else:
            yield from sorted(path.parent
                              for path in folder.glob("*/model.onnx"))


# ---- peers ------------------------------------------------------------------
def inputs_of(case):
    """Tensors by name or place."""
    import onnx
    from onnx import numpy_helper
    files = sorted((case / "test_data_set_0").glob("input_*.pb"),
                   key=lambda path: int(path.stem.split("_")[1]))
    tensors = [onnx.TensorProto.FromString(path.read_bytes()) for path in files]
    return [(each.name, numpy_helper.to_array(each)) for each in tensors]


def onnxruntime_side(path, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"])
    return ([each.name for each in session.get_inputs()],
            lambda feeds: session.run(None, feeds))


def openvino_side(path, threads):
    import openvino
    model = openvino.Core().compile_model(path, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32"})
    request = model.create_infer_request()
    return ([each.get_any_name() for each in model.inputs],
            lambda feeds: request.infer(feeds, share_inputs=True,
                                        share_outputs=True))


PEERS = {"onnxruntime": onnxruntime_side, "openvino": openvino_side}


def measure_peer(side, case, threads, seconds):
    """In a process of its own: its times."""
    __import__(side)
    given = inputs_of(case)
    begin = time.perf_counter()
    names, run = PEERS[side](str(case / "model.onnx"), threads)
    feeds = {name if name in names else place: array
             for place, (name, array) in zip(names, given)}
    run(feeds)
    start = time.perf_counter() - begin
    later, begin = [], time.perf_counter()
    while len(later) < 3 or time.perf_counter() - begin < seconds:
        before = time.perf_counter()
        run(feeds)
        later.append(time.perf_counter() - before)
    return {"start": start * 1e3, "later": statistics.median(later) * 1e3}


def run_peer(side, case, threads, seconds):
    words = [sys.executable, __file__, "--peer", side, case, threads, seconds]
    done = subprocess.run([str(word) for word in words], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        why = done.stderr.strip().splitlines() or [str(done.returncode)]
        print(f"{side}: {case.name}: {why[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


# ---- Sinter -----------------------------------------------------------------
def run_sinter(tool, case, threads, seconds, cache):
    environment = dict(os.environ, SINTER_THREADS=str(threads),
                       SINTER_CACHE_DIR=cache)
    done = subprocess.run([tool, "check", case, "--times", str(seconds)],
                          capture_output=True, text=True, check=False,
                          env=environment)
    found = LINE.search(done.stdout)
    if not found:
        print(f"sinter: {case.name}: {done.stderr.strip()}", file=sys.stderr)
        return None
    load, first, later = map(float, found.groups())
    return {"start": load + first, "later": later}


def measure(options, case, threads):
    """Times of each side; `cold` is Sinter's start without what it keeps."""
    sides = {}

    def note(name, times):
        for key, value in (times or {}).items():
            kept = sides.setdefault(name, {})
            kept[key] = min(value, kept.get(key, math.inf))
    with tempfile.TemporaryDirectory(prefix="sinter-beside-") as cache:
        cold = run_sinter(options.sinter, case, threads, 0, cache)
        for _ in range(options.rounds):
            note("sinter", run_sinter(options.sinter, case, threads,
                                      options.seconds, cache))
            for side in options.sides:
                note(side, run_peer(side, case, threads, options.seconds))
    if cold and "sinter" in sides:
        sides["sinter"]["cold"] = cold["start"]
    return sides


# ---- The table --------------------------------------------------------------
def geomean(values):
    values = list(values)
    return (math.exp(sum(map(math.log, values)) / len(values))
            if values else math.nan)


def cell(value):
    return "-" if value is None else f"{value:.3g}"


def print_row(options, name, sides):
    mine = sides.get("sinter", {})
    others = [sides.get(side, {}) for side in options.sides]
    best = min((each["later"] for each in others if each), default=None)
    ratio = best / mine["later"] if mine and best else None
    print("|", " | ".join(
        [name, cell(mine.get("later"))]
        + [cell(each.get("later")) for each in others]
        + [cell(ratio), cell(mine.get("start"))]
        + [cell(each.get("start")) for each in others]
        + [cell(mine.get("cold"))]), "|", flush=True)
    return ratio


def print_means(options, rows):
    """Geomeans over the cases that both sides ran."""
    for side in options.sides:
        both = [(each["sinter"], each[side]) for each in rows
                if side in each and "cold" in each.get("sinter", {})]
        print(f"{side}: {len(both)} cases: its later runs are "
              f"{geomean(b['later'] / a['later'] for a, b in both):.2f} of "
              f"Sinter's, its start "
              f"{geomean(b['start'] / a['start'] for a, b in both):.2f}; "
              "cold starts beyond 2 s + 5 of its own: "
              f"{sum(a['cold'] > 2e3 + 5 * b['start'] for a, b in both)}")


def main():
    if sys.argv[1:2] == ["--peer"]:
        side, case, threads, seconds = sys.argv[2:]
        print(json.dumps(measure_peer(side, pathlib.Path(case), int(threads),
                                      float(seconds))))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sinter")
    parser.add_argument("dirs", nargs="+")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--sides", default=",".join(PEERS))
    options = parser.parse_args()
    options.sides = [each for each in options.sides.split(",") if each]
    everything = {}
    for threads in map(int, options.threads.split(",")):
        print(f"\n{threads} threads, ms\n")
        head = ["case", "sinter", *options.sides, "ratio", "sinter start",
                *(each + " start" for each in options.sides), "cold start"]
        print("|", " | ".join(head), "|")
        print("|", " | ".join(["---"] * len(head)), "|")
        rows, ratios = [], []
        for case in cases_in(options.dirs):
            if options.only not in case.name:
                continue
            sides = measure(options, case, threads)
            ratio = print_row(options, case.name, sides)
            ratios += [ratio] if ratio else []
            rows.append(sides)
            everything[f"{case.name} {threads}"] = sides
            if options.json:
                pathlib.Path(options.json).write_text(
                    json.dumps(everything, indent=1))
        print(f"\ngeomean {geomean(ratios):.2f}, "
              f"least {min(ratios, default=math.nan):.2f}")
        print_means(options, rows)


main()
