#!/usr/bin/env python3
"""Runs the `onnx` wheel's node cases and writes the figures.

    scoreboard.py [--folders DIR...] [--device CPU] [--only TEXT] [--jobs N]
                  [--output FILE.json] [--badge FILE.json] [--passes PERCENT]
                  [--failures N]

With --folders the cases are the folders in DIR that are laid out as the ONNX
backend suite (model.onnx, test_data_set_0), in the tolerance of their info.json
or this suite's.

Prints `N passed, N failed, N unsupported`. --output gets the counts, those of
each operator, and why each case did not pass; --badge what shields.io reads.
The exit code is 1 when more cases than --failures (0) are wrong, or when fewer
than --passes percent are right; 77 when a package is missing.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import sys
import warnings

try:
    import ml_dtypes  # noqa: F401, which the backend takes dtypes of
    import numpy
    import onnx
    import onnx.numpy_helper
    from onnx.backend.test.loader import load_model_tests
    from onnx.backend.test.runner import Runner
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import sinter_backend


def too_long(*_):
    raise TimeoutError("more than 300 s")


CASES = []  # of all processes, which are forked once they are there
# What no process that runs a model may have in memory.
COMPILERS = ("libLLVM", "libMLIR", "libsinter-compiler")


@dataclasses.dataclass
class Folder:
    """A case of a folder, read when it is asked for."""
    path: pathlib.Path
    rtol: float = 1e-3
    atol: float = 1e-5
    exact = False

    def __post_init__(self):
        info = self.path / "info.json"
        told = json.loads(info.read_text()) if info.exists() else {}
        self.rtol = told.get("rtol", self.rtol)
        self.atol = told.get("atol", self.atol)

    @property
    def name(self):
        return self.path.name

    @property
    def model(self):
        return onnx.load(self.path / "model.onnx")

    @property
    def data_sets(self):
        for folder in sorted(self.path.glob("test_data_set_*")):
            yield [[onnx.load_tensor(folder / f"{kind}_{index}.pb")
                    for index in range(len(list(folder.glob(f"{kind}_*.pb"))))]
                   for kind in ("input", "output")]


def folders_in(roots):
    for root in map(pathlib.Path, roots):
        for path in sorted({root, *root.iterdir()}):
            if (path / "model.onnx").exists():
                yield Folder(path)


def mapped_compilers():
    maps = pathlib.Path("/proc/self/maps").read_text()
    return [name for name in COMPILERS if name in maps]


def run_case(index, device):
    """(verdict, operator, why)."""
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(300)
    case = CASES[index]
    model = case.model
    operator = model.graph.node[0].op_type
    try:
        rep = sinter_backend.prepare(model, device,
                                     exact=getattr(case, "exact", True))
        for inputs, wanted in case.data_sets:
            got = rep.run([array_of(each) for each in inputs])
            wanted = [array_of(each) for each in wanted]
            if case.name.startswith("test_bernoulli") and \
                    "seed" not in case.name:
                got, wanted = compared_shapes(got), compared_shapes(wanted)
            for one, other in zip(wanted, got):
                assert isinstance(one, list) or one.dtype == other.dtype, \
                    f"{other.dtype}, not {one.dtype}"
            Runner.assert_similar_outputs(
                [promoted(each) for each in wanted],
                [promoted(each) for each in got], case.rtol, case.atol)
        assert not mapped_compilers(), f"in memory: {mapped_compilers()}"
        return ("passed", operator, "")
    except sinter_backend.Unsupported as error:
        return ("unsupported", operator, str(error)[:500])
    except AssertionError as error:
        return ("failed", operator, str(error).strip()[:500])
    except Exception as error:  # what a case raises is its own failure
        return ("failed", operator, f"{type(error).__name__}: {error}"[:500])
    finally:
        signal.alarm(0)


def array_of(value):
    """Cases of types that NumPy lacks hold them as they stand in files."""
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return value


def promoted(value):
    """Those of fewer than 16 bits as f32, which holds them exactly: NumPy does
    not compare them."""
    if isinstance(value, numpy.ndarray) and value.dtype.itemsize == 1 and \
            value.dtype.kind not in "?iu":
        return value.astype(numpy.float32)
    return value


def compared_shapes(values):
    """Of random results."""
    return [numpy.array(value.shape) for value in values]


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folders", nargs="+", metavar="DIR")
    parser.add_argument("--device", default="CPU")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--output")
    parser.add_argument("--badge")
    parser.add_argument("--passes", type=float, default=0)
    parser.add_argument("--failures", type=int, default=0)
    arguments = parser.parse_args()
    if not (os.environ.get("SINTER") or shutil.which("sinter")):
        parser.error("no sinter: SINTER names the tool")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the wheel computes
        found = (folders_in(arguments.folders) if arguments.folders
                 else load_model_tests(kind="node"))
        CASES[:] = [case for case in found if arguments.only in case.name]
    results = {}
    forked = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs,
                                                forked) as pool:
        begun = [pool.submit(run_case, index, arguments.device)
                 for index in range(len(CASES))]
        for case, future in zip(CASES, begun):
            results[case.name] = future.result()
    counts = collections.Counter(each[0] for each in results.values())
    operators = collections.defaultdict(collections.Counter)
    for verdict, operator, _ in results.values():
        operators[operator][verdict] += 1
    print(f"{counts['passed']} passed, {counts['failed']} failed, "
          f"{counts['unsupported']} unsupported")
    if arguments.output:
        write(arguments.output, {
            "onnx": onnx.__version__, "all": counts,
            "operators": dict(sorted(operators.items())),
            "not passed": {name: result for name, result in results.items()
                           if result[0] != "passed"}})
    if arguments.badge:
        share = 100 * counts["passed"] / max(len(results), 1)
        write(arguments.badge, {
            "schemaVersion": 1, "label": f"ONNX {onnx.__version__}",
            "message": f"{share:.1f} % ({counts['passed']}/{len(results)})",
            "color": "brightgreen" if counts["failed"] == 0 else "orange"})
    enough = arguments.passes * len(results) / 100
    good = (results and counts["passed"] >= enough
            and counts["failed"] <= arguments.failures)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
