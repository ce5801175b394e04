"""The driver with sides that only pretend."""

import contextlib
import io
import json
import os
import pathlib
import signal
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from driver import (cases, device_cases, extras, main, measure, sides,  # noqa: E402
                    table, trainings)

FAKE = [sys.executable, str(HERE / "fake_side.py")]
WORKERS = os.environ.get("SINTER_BENCH_WORKERS")


class FakeStarter(sides.Starter):
    """Starts the fake for every side, with a time and a value of its own."""

    def __init__(self, threads=1, **settings):
        super().__init__("", None, threads, pathlib.Path(), None)
        self.settings = settings

    def start(self, name, extra=None):
        if name not in self.settings:
            raise sides.Failed("absent", name)
        time, value = self.settings[name]
        environment = os.environ | {"FAKE_TIME": str(time),
                                    "FAKE_VALUE": str(value)}
        return sides.Worker(FAKE, environment)


def run(case, by="median", **settings):
    starter = FakeStarter(**settings)
    with starter:
        return measure.run_case(case, case.sides(), starter, 3, 0.01, by)


def case_of(*targets, kind="some", **more):
    return cases.Case("it", {"kind": kind}, list(targets),
                      peers=("openblas", "onednn"), **more)


class Protocol(unittest.TestCase):
    def test_fields(self):
        self.assertEqual(sides.fields("a=1.5 b=text word c=1e-3"),
                         {"a": 1.5, "b": "text", "c": 1e-3})

    def test_answers(self):
        with sides.Worker(FAKE, os.environ) as worker:
            self.assertEqual(worker.ask("prepare kind=some"),
                             "first=3 compiling=2 peak=4000")
            with self.assertRaises(sides.Failed) as raised:
                worker.ask("prepare kind=other")
            self.assertEqual(raised.exception.kind, "unsupported")
            with self.assertRaises(sides.Failed) as raised:
                worker.ask("nonsense")
            self.assertEqual(raised.exception.kind, "error")

    def test_ends(self):
        with sides.Worker(FAKE, os.environ) as worker:
            for _ in range(2):
                with self.assertRaises(sides.Failed) as raised:
                    worker.ask("prepare kind=wrong")
                self.assertEqual(raised.exception.kind, "error")

    def test_no_answer(self):
        silent = [sys.executable, "-c", "import time; time.sleep(60)"]
        with sides.Worker(silent, os.environ) as worker:
            with self.assertRaises(sides.Failed) as raised:
                worker.ask("facts", timeout=0.1)
            self.assertIn("in time", raised.exception.why)


class Ratios(unittest.TestCase):
    def test_ratio_is_of_rounds(self):
        self.assertEqual(measure.ratio([1, 2, 4], [[2, 2, 4]]), 1)
        # The fastest peer of each round, then the median.
        self.assertEqual(measure.ratio([1, 1, 1], [[3, 5, 9], [4, 4, 4]]), 4)
        self.assertIsNone(measure.ratio([], [[1]]))
        self.assertIsNone(measure.ratio([1], []))

    def test_slack(self):
        result = measure.TargetResult("x", 1.0, 0.981)
        self.assertEqual(result.verdict(), "pass")
        result.ratio = 0.979
        self.assertEqual(result.verdict(), "MISS")
        result.ratio = None
        self.assertEqual(result.verdict(), "none")

    def test_difference(self):
        self.assertEqual(measure.difference([1, 2], [1, 4]), 0.5)
        self.assertIsNone(measure.difference([1], [1, 2]))
        self.assertIsNone(measure.difference([], []))


class Measuring(unittest.TestCase):
    def test_targets(self):
        case = case_of(cases.Target(("openblas", "onednn"), 2),
                       cases.Target(("onednn",), 5),
                       cases.Target(("onednn",), 1, (2,)))
        result = run(case, sinter=(1, 1), openblas=(2, 1), onednn=(4, 1))
        self.assertEqual([(t.ratio, t.peer, t.verdict())
                          for t in result.targets],
                         [(2, "openblas", "pass"), (4, "onednn", "MISS")])

    def test_targets_with_a_gpu(self):
        case = case_of(cases.Target(("onednn",), 1))
        settings = {"sinter": (1, 1), "onednn": (2, 1)}
        for device, ratios in (("cpu", []), ("cuda:0", [2])):
            with FakeStarter(threads=16, **settings) as starter:
                starter.device, starter.cpus = device, os.sched_getaffinity(0)
                result = measure.run_case(case, case.sides(), starter, 3, 0.01)
            self.assertEqual([t.ratio for t in result.targets], ratios)

    def test_target_of_another_side(self):
        target = cases.Target(("onednn",), 1, ours="openblas")
        result = run(case_of(target), sinter=(9, 1), openblas=(2, 1),
                     onednn=(4, 1))
        self.assertEqual([(t.ratio, t.peer) for t in result.targets],
                         [(2, "onednn")])
        self.assertIsNone(run(case_of(target), sinter=(9, 1),
                              onednn=(4, 1)).targets[0].ratio)

    def test_rate(self):
        case = case_of(cases.Target((), 1, rate=25), flops=100)
        result = run(case, sinter=(1, 1))
        self.assertEqual([(t.ratio, t.verdict()) for t in result.targets],
                         [(2, "pass")])
        self.assertIsNone(run(case, onednn=(1, 1)).targets[0].ratio)

    def test_warm_up(self):
        starter = FakeStarter(sinter=(1, 1))
        with starter:
            result = measure.run_case(case_of(), ("sinter", "onednn"), starter,
                                      3, 0.01, warm=0.01)
        self.assertEqual(result.sides["sinter"].best, [1, 1, 1])
        self.assertTrue(result.sides["onednn"].failure)

    def test_processors_of_rounds(self):
        starter = FakeStarter(sinter=(1, 1))
        cpus = sorted(os.sched_getaffinity(0))
        self.assertIsNone(measure.processor_of(starter, 0, 5))
        starter.device, starter.cpus = "cuda:0", set(cpus)
        self.assertEqual([measure.processor_of(starter, number, len(cpus))
                          for number in range(len(cpus))], cpus)
        with starter.get("sinter") as worker:
            moved = []
            with mock.patch.object(
                    measure, "run_on",
                    side_effect=lambda _, where: moved.append(where)):
                measure.ask_at(worker, "run 0", cpus[-1], starter.cpus)
                with self.assertRaises(sides.Failed):
                    measure.ask_at(worker, "kind=other", cpus[0], starter.cpus)
            self.assertEqual(moved, [{cpus[-1]}, set(cpus),
                                     {cpus[0]}, set(cpus)])
            measure.run_on(worker, {cpus[0]})
            self.assertEqual(os.sched_getaffinity(worker.process.pid),
                             {cpus[0]})

    def test_statistics(self):
        case = case_of()
        result = run(case, sinter=(1, 1), openblas=(3, 1))
        ours = result.sides["sinter"]
        self.assertEqual((ours.time("best"), ours.time("median"),
                          ours.time("cpu"), ours.first), (1, 2, 0.5, 3))

    def test_geomean(self):
        results = []
        for name, time in (("conv2d_3x3", 1), ("conv2d_depthwise", 4)):
            case = case_of(cases.Target(("onednn",), 1))
            case.name = name
            results.append(run(case, sinter=(1, 1), onednn=(time, 1)))
        (pattern, threads, mean), = measure.geomeans(results, cases.GEOMEANS)
        self.assertEqual((threads, mean.ratio, mean.verdict()),
                         (1, 2, "pass"))
        self.assertIn(pattern, table.target_table(results, cases.GEOMEANS))
        results[0].targets[0].ratio = None
        self.assertEqual(measure.geomeans(results, cases.GEOMEANS)[0][2].verdict(), "none")

    def test_other_result(self):
        case = case_of(cases.Target(("openblas",), 1), tolerance=0.1)
        for value in (1.5, "nan"):
            with self.subTest(value=value):
                result = run(case, sinter=(1, 1), openblas=(2, value))
                self.assertIn("differs", result.sides["openblas"].failure)
                self.assertEqual(result.targets[0].verdict(), "none")
                self.assertIn("differs", table.problems([result]))

    def test_extra_sides_are_not_compared(self):
        case = case_of(cases.Target(("memcpy",), 1),
                       extra={"memcpy": {"kind": "copy"}})
        self.assertEqual(case.words("memcpy"), "kind=copy")
        result = run(case, sinter=(1, 1), memcpy=(2, 77))
        self.assertEqual(result.targets[0].verdict(), "pass")

    def test_unsupported(self):
        case = case_of(cases.Target(("openblas",), 1), kind="other")
        result = run(case, sinter=(1, 1), openblas=(2, 1))
        text = table.table([result], "median")
        self.assertIn("unsupported", text)
        self.assertIn("none", table.target_table([result], []))
        self.assertIn("sinter", table.problems([result]))

    def test_time_limit(self):
        class Limited(FakeStarter):
            started = 0

            def start(self, name, extra=None):
                self.started += 1
                if self.started > 2:
                    os.kill(os.getpid(), signal.SIGTERM)
                return super().start(name, extra)

        case = case_of(cases.Target(("openblas",), 1))
        starter = Limited(sinter=(1, 1), openblas=(2, 1))
        options = main.parse(["--rounds", "1", "--sides", "openblas"])
        found = io.StringIO()
        with contextlib.redirect_stderr(found):
            results = main.run([case, case], options, [starter])
        self.assertEqual(len(results), 1)
        self.assertIn("2.00 of openblas", found.getvalue())
        self.assertIn("interrupted", found.getvalue())

    def test_table_and_data(self):
        case = case_of(cases.Target(("openblas",), 1), flops=4e9)
        result = run(case, sinter=(1, 1), openblas=(2, 1))
        lines = table.table([result], "median").splitlines()
        self.assertEqual(lines[0].split(), ["case", "threads", "ours",
                                            "Gflop/s", "openblas"])
        self.assertEqual(lines[1].split(), ["it", "1", "2", "s", "2.0",
                                            "2.00"])
        data = json.loads(json.dumps(table.as_data([result])))
        self.assertEqual(data[0]["sides"]["openblas"]["best"], [2, 2, 2])
        self.assertEqual(data[0]["targets"][0]["verdict"], "pass")

    def test_replace(self):
        with tempfile.TemporaryDirectory() as folder:
            old, link = pathlib.Path(folder, "old"), pathlib.Path(folder, "l")
            link.symlink_to(old)
            main.replace(link, "made")
            main.replace(link, "new")
            main.replace(pathlib.Path("/dev/null"), "gone")
            self.assertEqual(old.read_text(), "new")
            self.assertTrue(link.is_symlink())
            self.assertTrue(pathlib.Path("/dev/null").is_char_device())
            self.assertEqual(len(os.listdir(folder)), 2)


class Extras(unittest.TestCase):
    def test_figures(self):
        starter = FakeStarter(**{"sinter": (1, 1), "torch-eager": (1, 1),
                                 "torch-compile": (1, 1)})
        found = {f.name: f for f in extras.memory(starter, {"step_mlp"}, True)}
        self.assertEqual((found["step_mlp"].ours, found["step_mlp"].theirs,
                          found["step_mlp"].verdict()), (5, 5, "pass"))
        cold = extras.cold(starter, {"step_mlp", "step_transformer"}, True, 1)
        self.assertEqual([(f.name, f.ours, f.verdict()) for f in cold],
                         [("step_mlp", 3, "MISS"),
                          ("step_transformer", 3, "pass"),
                          ("step_transformer_12", 3, "none"),
                          ("step_transformer_12", 1, "pass")])

    def test_growth(self):
        starter = FakeStarter(**{"sinter": (1, 1), "torch-compile": (4, 1)})
        figures = extras.growth(starter, ["growing_chain_*"], 1)
        self.assertEqual([(f.what, f.ours, f.verdict()) for f in figures],
                         [("compiling, times", 1, "pass"),
                          ("peak memory, times", 1, "pass")])
        self.assertEqual(len(extras.growth(starter, [], 1)), 10)
        figure = extras.gpt(starter, 1)
        self.assertEqual((figure.ours, figure.theirs, figure.verdict()),
                         (3, 12, "pass"))


class Trainings(unittest.TestCase):
    def times(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as program:
            program.write(f"#!/bin/sh\nprintf '{text}'\n")
            program.flush()
            return trainings.ours(["sh", program.name], "iris", {})

    def test_times(self):
        self.assertEqual(
            self.times("1.5 s for the first, 0.25 s for the shortest"),
            (1.5, .25))
        self.assertEqual(self.times("9.00 s for the epoch and the test"), (9,))
        self.assertEqual(self.times("nothing"), ())


class Table(unittest.TestCase):
    def test_cases(self):
        for every in (cases.all_cases(), device_cases.cases_of("cuda:0"),
                      device_cases.cases_of("vulkan:0")):
            names = [case.name for case in every]
            self.assertEqual(len(names), len(set(names)))
            for case in every:
                known = set(sides.SIDES)
                self.assertLessEqual(set(case.sides()), known)
                for target in case.targets:
                    self.assertTrue(target.rate or
                                    set(target.peers) & set(case.sides()), case)
        self.assertEqual([c.name for c in cases.chosen(["step_m*"])],
                         ["step_mlp"])
        self.assertEqual(cases.chosen(["nothing"]), [])

    def test_device(self):
        self.assertTrue(cases.chosen(["attention_step_*"],
                                     device_cases.all_cases()))
        with tempfile.TemporaryDirectory() as caches:
            folder = pathlib.Path(caches)
            on_cpu = sides.environment_for(1, folder)
            on_gpu = sides.environment_for(1, folder, device="cuda:0")
            on_vulkan = sides.environment_for(1, folder, device="vulkan:0")
        self.assertEqual(on_cpu["CUDA_VISIBLE_DEVICES"], "")
        self.assertEqual(on_gpu["SINTER_DEVICE"], "cuda:0")
        self.assertEqual(on_vulkan["SINTER_DEVICE"], "vulkan:0")
        self.assertEqual(on_vulkan["SINTER_BENCH_DEVICE"], "cuda:0")
        self.assertEqual(on_gpu.get("CUDA_VISIBLE_DEVICES"),
                         os.environ.get("CUDA_VISIBLE_DEVICES"))

    def test_times(self):
        self.assertEqual([table.time_text(t) for t in
                          (None, 2, 0.5, 1.5e-3, 2.5e-6)],
                         ["-", "2 s", "500 ms", "1.5 ms", "2.5 us"])


@unittest.skipUnless(WORKERS, "no build")
class RealSides(unittest.TestCase):
    """Our own side on a tiny case, with nothing of the peers'."""

    def test_sinter(self):
        case = cases.matmul("tiny", 8, 8, 8,
                            [cases.Target(("sinter-bare",), 0)],
                            {"sinter-bare": {"bias": 0, "relu": 0}},
                            bias=1, relu=1)
        with tempfile.TemporaryDirectory() as caches:
            starter = sides.Starter(WORKERS, None, 1, pathlib.Path(caches),
                                    None)
            with starter:
                result = measure.run_case(
                    case, ("sinter", "sinter-bare", "torch-eager"), starter, 2,
                    0.001)
        self.assertEqual(result.sides["sinter"].failure, "")
        self.assertEqual(len(result.sides["sinter"].best), 2)
        self.assertEqual(result.targets[0].verdict(), "pass")
        self.assertTrue(result.sides["torch-eager"].failure.startswith(
            "absent"))

    def test_step_and_unsupported(self):
        step = "kind=step_mlp in=4 hidden=8 out=3 batch=5"
        with tempfile.TemporaryDirectory() as caches:
            starter = sides.Starter(WORKERS, None, 1, pathlib.Path(caches),
                                    None)
            with starter.start("sinter") as worker:
                worker.ask("prepare " + step)
                loss = [float(v) for v in worker.ask("sample 9").split()]
                self.assertEqual(len(loss), 1)
                self.assertTrue(0 < loss[0] < 10)
                with self.assertRaises(sides.Failed) as raised:
                    worker.ask("prepare kind=nothing_of_that_name")
                self.assertEqual(raised.exception.kind, "unsupported")

    def test_profile(self):
        with tempfile.TemporaryDirectory() as caches, \
                tempfile.TemporaryFile() as log:
            starter = sides.Starter(WORKERS, None, 1, pathlib.Path(caches),
                                    None, log)
            with starter.start("sinter", {"SINTER_PROFILE": "1"}) as worker:
                worker.ask("prepare kind=matmul m=8 n=8 k=8 relu=1")
                worker.ask("run 0.001")
                worker.ask("profile")
            log.seek(0)
            lines = log.read().decode().splitlines()
        # Ceilings, headings, one launch, and which are far from their bound:
        # whether the launch is depends on the build.
        launch = r"100.0% .* contraction .*matmul"
        far = ["^no kernel is under"] if lines[3].startswith("no kernel") \
            else ["^each under", launch]
        expected = ["^ceilings: ", "of it  kernel$", launch] + far
        self.assertEqual(len(lines), len(expected), lines)
        for line, pattern in zip(lines, expected):
            self.assertRegex(line, pattern)


class CommandLine(unittest.TestCase):
    def test_options(self):
        with mock.patch("builtins.print") as out:
            self.assertEqual(main.main(["--list", "topk*"]), 0)
            self.assertIn("topk_8_of_256x1024", out.call_args[0][0])
            self.assertEqual(main.main(["nothing"]), 2)
            self.assertEqual(main.main(["--build", "no/such", "topk*"]), 2)


if __name__ == "__main__":
    unittest.main()
