"""The command line of tools/bench."""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time

from driver import (cases, device_cases, extras, measure, model_rows, models,
                    odd_cases, table, trainings)
from driver.sides import SIDES, Failed, Starter, fields

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build/bench"
PACKAGES = ["torch", "numpy", "onnxruntime", "onnx", "jax",
            "iree-base-compiler", "iree-base-runtime"]


def replace(path, text):
    """Writes a file: its name has the old one or the whole new one."""
    path = path.resolve()
    if path.exists() and not path.is_file():  # a device or a pipe
        path.write_text(text)
        return
    with tempfile.TemporaryDirectory(dir=path.parent,
                                     prefix=".bench-") as folder:
        new = pathlib.Path(folder) / path.name
        new.write_text(text)
        new.replace(path)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/bench", description="Measures Sinter and its peers side "
        "by side, in one run. See docs/benchmarks.md.")
    parser.add_argument("cases", nargs="*", metavar="CASE",
                        help="names or patterns such as 'matmul_*'; all")
    parser.add_argument("--peers", action="store_true",
                        help="with the peers from PyPI; makes their "
                        "environment in build/bench/venv at the first use "
                        "(SINTER_BENCH_PYTHON names another)")
    parser.add_argument("--sides", help="only these, comma separated; of "
                        "models eager and compile")
    parser.add_argument("--device", default="cpu",
                        help="cpu, or cuda:0 or vulkan:0 with cases of a GPU")
    parser.add_argument("--threads", help="of a side (1,2; with a GPU as many "
                        "as there are processors)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05,
                        help="a side's time in a round (0.05)")
    parser.add_argument("--warm", type=float, default=0,
                        help="a side's time before the first round (0)")
    parser.add_argument("--by", choices=("median", "best", "cpu"),
                        default="median",
                        help="a round's time: of its calls the median; or, for "
                        "a machine with other work, the best, or the least "
                        "time of the process (one thread only)")
    parser.add_argument("--build", default="build/dev", type=pathlib.Path,
                        help="build folder of the native sides (build/dev)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--cold", action="store_true",
                        help="cold compiles of the training steps instead")
    parser.add_argument("--growth", action="store_true",
                        help="what compiling twice as many ops takes instead")
    parser.add_argument("--memory", action="store_true",
                        help="peak memory instead")
    parser.add_argument("--trainings", action="store_true",
                        help="whole trainings of small models instead; needs "
                        "target baselines-test and the data of SINTER_SUITES")
    parser.add_argument("--profile", action="store_true",
                        help="what our launches of the cases take instead")
    parser.add_argument("--odd", action="store_true",
                        help="operators at sizes that are no multiple of "
                        "anything instead")
    parser.add_argument("--models", nargs="?", const="*", metavar="PATTERN",
                        help="whole models instead, each in a process of its "
                        "own: those whose names match; needs target "
                        "bench-models")
    parser.add_argument("--resume", type=pathlib.Path, metavar="FILE",
                        help="of models: goes on with the rows of this JSON "
                        "file, and writes it after each row")
    parser.add_argument("--steps", type=int, default=300,
                        help="of models: consecutive steps of a side (300)")
    parser.add_argument("--budget", type=float, default=10,
                        help="of models: seconds that a side's steps may take; "
                        "then there are fewer (10)")
    parser.add_argument("--autotune", action="store_true",
                        help="of models: torch.compile's max-autotune, too, "
                        "where ours is within 10 %% of PyTorch's best")
    parser.add_argument("--tiny", action="store_true",
                        help="of models: sizes that only compare results")
    parser.add_argument("--list", action="store_true", help="the cases")
    parser.add_argument("--log", type=pathlib.Path,
                        help="what the sides write to standard error")
    return parser.parse_args(arguments)


def peers_python(make):
    """The interpreter of the peers' environment; None without one."""
    named = os.environ.get("SINTER_BENCH_PYTHON")
    if named:
        return named
    python = FOLDER / "venv/bin/python"
    if not make:
        return None
    if not (FOLDER / "venv/complete").exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER / "venv"],
                       check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES],
                       check=True)
        (FOLDER / "venv/complete").touch()
    return python


def processors(threads):
    """The last of those that this process may use."""
    return set(sorted(os.sched_getaffinity(0))[-threads:])


def machine():
    with open("/proc/cpuinfo") as info:
        models = [line.split(":", 1)[1].strip() for line in info
                  if line.startswith("model name")]
    return {"processor": models[0] if models else platform.processor(),
            "processors": len(os.sched_getaffinity(0)),
            "kernel": platform.release(), "load": os.getloadavg()[0],
            "commit": subprocess.run(
                ["git", "-C", ROOT, "describe", "--always", "--dirty"],
                capture_output=True, text=True, check=False).stdout.strip()}


def versions(names, starter):
    """What each side says of itself; sides that do not start are left out."""
    found = {}
    for name in names:
        try:
            worker = starter.get(name)
            found[name] = fields(worker.ask("facts"))
            starter.done(name, worker)
        except Failed:
            pass
    return found


def names_of(case, options):
    names = case.sides()
    if options.sides:
        wanted = set(options.sides.split(",")) | {"sinter"}
        names = tuple(name for name in names if name in wanted)
    return names


def profile(wanted, starter):
    for case in wanted:
        print(f"== {case.name}, threads: {starter.threads}", flush=True)
        try:
            with starter.start("sinter", {"SINTER_PROFILE": "1"}) as worker:
                worker.ask("prepare " + case.words("sinter"))
                worker.ask("run 0.3")
                worker.ask("profile")
        except Failed as failure:
            print(failure)


def wanted_models(options):
    patterns = options.cases + [options.models] * (options.models != "*")
    return model_rows.chosen(patterns, model_rows.rows_of(options.device))


def model_suite(wanted, options, starter, data):
    """The models; 0 if all that were measured agree."""
    if options.tiny:
        wanted = [model_rows.tiny(row) for row in wanted]

    def save(rows):
        for path in {options.resume, options.json} - {None}:
            replace(path, json.dumps(data | {"rows": rows}, indent=1) + "\n")

    if options.profile:
        starter.log = starter.log or sys.stderr
        models.profile(wanted, starter,
                       models.Budget(options.steps, options.budget))
        return 0
    signal.signal(signal.SIGTERM, interrupt)
    rows = models.run(wanted, starter, options, data["machine"], save)
    save(rows)
    print("\n\n".join(text for text in (models.table(rows),
                                        models.problems(rows)) if text))
    return 1 if models.problems(rows) else 0


def wanted_cases(options):
    if options.odd:
        return cases.chosen(options.cases, odd_cases.cases_of(options.device))
    if options.device == "cpu":
        return cases.chosen(options.cases)
    return cases.chosen(options.cases, device_cases.cases_of(options.device))


def threads_of(options):
    """The numbers of threads of a side; with a GPU, and of models, one."""
    everything = len(os.sched_getaffinity(0))
    one = options.device != "cpu" or options.models
    words = options.threads or (str(everything) if one else "1,2")
    threads = [int(word) for word in words.split(",")]
    return [max(threads)] if one else threads


def interrupt(*_):
    raise KeyboardInterrupt


def run(wanted, options, starters):
    """All results, or those before the user or a time limit interrupts."""
    results = []
    signal.signal(signal.SIGTERM, interrupt)
    try:
        measure_all(wanted, options, starters, results)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    return results


def measure_all(wanted, options, starters, results):
    for starter in starters:
        with starter:
            for case in wanted:
                begin = time.monotonic()
                result = measure.run_case(case, names_of(case, options),
                                          starter, options.rounds,
                                          options.seconds, options.by,
                                          options.warm)
                results.append(result)
                print(f"{case.name} ({starter.threads} threads): "
                      f"{table.progress(result, options.by)}, "
                      f"{time.monotonic() - begin:.0f} s", file=sys.stderr,
                      flush=True)


def report(results, options, facts, geomeans):
    print(f"times by {options.by} of the calls, medians of {options.rounds} "
          f"rounds; load {facts['load']:.1f} on {facts['processors']} "
          "processors at the start\n")
    print(table.table(results, options.by) + "\n")
    for text in (table.target_table(results, geomeans), table.problems(results)):
        if text:
            print(text + "\n")


def main(arguments=None):
    options = parse(arguments)
    if options.models and options.list:
        print("\n".join(f"{row.name}  (at most {row.gigabytes} GiB)"
                        for row in wanted_models(options)))
        return 0
    wanted = wanted_models(options) if options.models else wanted_cases(options)
    if options.list:
        print("\n".join(case.name for case in wanted))
        return 0
    if not wanted and not options.growth:
        print("error: no case of that name", file=sys.stderr)
        return 2
    programs = (ROOT / options.build).resolve() / "bench"
    ours = SIDES["models" if options.models else "sinter"].program
    if not (programs / ours).exists():
        print(f"error: no {programs}/{ours}; build target bench-{ours}, and "
              "bench-openblas, bench-onednn, bench-copy for the others",
              file=sys.stderr)
        return 2
    python = peers_python(options.peers) if options.peers else None
    log = open(options.log, "wb") if options.log else None
    data = {"machine": machine(), "by": options.by}

    def starter(threads, **more):
        return Starter(programs, python, threads, FOLDER, processors(threads),
                       log, device=options.device, **more)

    threads = threads_of(options)
    if options.models:
        return model_suite(wanted, options, starter(max(threads)), data)
    if options.cold or options.memory or options.trainings or options.growth:
        names = {case.name for case in wanted}
        figures = []
        if options.cold:
            figures += extras.cold(starter(max(threads)), names, options.peers)
            if options.peers:
                figures.append(extras.gpt(starter(max(threads))))
        if options.growth:
            figures += extras.growth(starter(max(threads)), options.cases)
        if options.memory:
            figures += extras.memory(starter(max(threads), keep_memory=False),
                                     names, options.peers)
        if options.trainings:
            figures += trainings.trainings(programs.parent, python,
                                           max(threads), FOLDER)
        print(table.columns(extras.figure_rows(figures)))
        data["figures"] = [dataclasses.asdict(figure) for figure in figures]
    elif options.profile:
        for count in threads:
            made = starter(count)
            made.log = log or sys.stderr
            profile(wanted, made)
    else:
        starters = [starter(count) for count in threads]
        names = dict.fromkeys(name for case in wanted
                              for name in names_of(case, options))
        data["versions"] = versions(names, starters[0])
        results = run(wanted, options, starters)
        data["cases"] = table.as_data(results)
        geomeans = (odd_cases.GEOMEANS if options.odd else
                    cases.GEOMEANS if options.device == "cpu" else
                    device_cases.GEOMEANS)
        report(results, options, data["machine"], geomeans)
    if options.json:
        replace(options.json, json.dumps(data, indent=1) + "\n")
    return 0
