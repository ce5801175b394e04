"""The suite of models: its table with sides that only pretend, and our own side
at tiny sizes, verified by the reference, where SINTER_BENCH_MODELS is set."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from driver import (main, measure, model_rows, models, odd_cases,  # noqa: E402
                    sides)
from test_driver import FakeStarter  # noqa: E402

WORKERS = os.environ.get("SINTER_BENCH_WORKERS")
DTYPE = os.environ.get("SINTER_BENCH_DTYPE", "f32")
DEVICES = ("cpu", "cuda:0", "vulkan:0")
BUDGET = models.Budget(9, 1)


def row_named(name, device="cuda:0"):
    (row,) = model_rows.chosen([name], model_rows.rows_of(device))
    return row


TRAINING = "gpt2_train_b8_t1024_bf16"


class Rows(unittest.TestCase):
    def test_names(self):
        for device in DEVICES:
            rows = model_rows.rows_of(device)
            names = [row.name for row in rows]
            self.assertEqual(len(names), len(set(names)))
            for row in rows:
                self.assertIn(row.params["kind"], model_rows.TINY)
                self.assertLess(row.gigabytes, 60, row)

    def test_every_model_is_everywhere(self):
        for device in DEVICES:
            found = {row.params["kind"] for row in model_rows.rows_of(device)}
            self.assertEqual(found, set(model_rows.TINY))

    def test_tiny(self):
        row = row_named(TRAINING)
        tiny = model_rows.tiny(row)
        self.assertEqual((tiny.params["batch"], tiny.params["t"]), (2, 12))
        self.assertEqual(tiny.params["do"], "train")
        self.assertEqual(set(tiny.params), set(row.params))

    def test_odd_sizes(self):
        for device in DEVICES:
            cases = odd_cases.cases_of(device)
            self.assertEqual(len({case.name for case in cases}), len(cases))
            for case in cases:
                self.assertLessEqual(set(case.sides()), set(sides.SIDES))


class Measuring(unittest.TestCase):
    def row(self, modes=models.MODES, **settings):
        with FakeStarter(**settings) as starter:
            return models.run_row(row_named(TRAINING), starter, BUDGET, modes)

    def test_ratio(self):
        row = self.row(models=(2, 1), **{"torch-models": (1, 1)})
        self.assertEqual(models.best(row["sides"]), ("eager", 0.5))
        self.assertEqual(row["sides"]["compile"]["error"], 0)

    def test_other_results(self):
        row = self.row(models=(2, 1), **{"torch-models": (1, 1.5)})
        self.assertIn("differs", row["sides"]["eager"]["failure"])
        self.assertEqual(models.best(row["sides"]), ("", None))

    def test_absent(self):
        row = self.row(models=(2, 1))
        self.assertIn("absent", row["sides"]["eager"]["failure"])
        self.assertEqual(models.our_cells(row | {"where": "here"})[1], "2000")

    def test_autotune_only_where_close(self):
        for time, asked in ((1.05, True), (2, False)):
            settings = {"models": (1, 1), "torch-models": (time, 1)}
            with FakeStarter(**settings) as starter:
                row = models.run_row(row_named(TRAINING), starter, BUDGET,
                                     models.MODES, autotune=True)
            self.assertEqual("autotune" in row["sides"], asked)

    def test_table(self):
        rows = [self.row(models=(2, 1), **{"torch-models": (1, 1)})
                | {"where": where} for where in ("here", "there")]
        text = models.table(json.loads(json.dumps(rows)))
        self.assertEqual(text.count("on here"), 1)
        self.assertEqual(text.count("geomean 0.50"), 2)
        line = next(line for line in text.splitlines()
                    if line.startswith(TRAINING))
        self.assertEqual(line.split()[1:6], ["2000", "4000", "1", "9", "6.0"])


class Resuming(unittest.TestCase):
    def run_suite(self, folder, pattern, starter):
        options = main.parse(["--device", "cuda:0", "--models", pattern,
                              "--resume", str(folder / "rows.json")])
        wanted = main.wanted_models(options)
        with contextlib.redirect_stdout(io.StringIO()) as out, \
                contextlib.redirect_stderr(io.StringIO()) as progress:
            status = main.model_suite(wanted, options, starter,
                                      {"machine": main.machine()})
        return status, out.getvalue(), progress.getvalue().count("\n")

    def test_rows_are_merged(self):
        with tempfile.TemporaryDirectory() as name, \
                FakeStarter(models=(1, 1)) as starter:
            folder, starter.device = pathlib.Path(name), "cuda:0"
            _, _, first = self.run_suite(folder, "lstm_*", starter)
            status, text, second = self.run_suite(folder, "[lm][so][te]*",
                                                  starter)
            rows = json.loads((folder / "rows.json").read_text())["rows"]
        self.assertEqual((status, first, second, len(rows)), (0, 4, 4, 8))
        self.assertEqual({row["where"] for row in rows}, {"fake card"})
        self.assertIn("moe_train_n4096_f32", text)

    def test_options(self):
        with mock.patch("builtins.print") as out:
            self.assertEqual(main.main(["--models", "unet", "--list"]), 0)
            self.assertIn("unet_train_b1_f32", out.call_args[0][0])
            self.assertEqual(main.main(["--models", "nothing"]), 2)


@unittest.skipUnless(WORKERS and "SINTER_BENCH_MODELS" in os.environ,
                     "only by itself")
class RealModels(unittest.TestCase):
    """Each model's pass or step, every program of which is compared with
    runtime/reference."""

    def test_tiny_models(self):
        rows = {(row.params["kind"], row.params["do"]): row
                for row in model_rows.rows_of("cuda:0")
                if row.params["dtype"] == DTYPE}
        with tempfile.TemporaryDirectory() as caches:
            starter = sides.Starter(WORKERS, None, 2, pathlib.Path(caches),
                                    None)
            for row in rows.values():
                with self.subTest(row=row.name):
                    self.check(model_rows.tiny(row), starter)

    def check(self, row, starter):
        with starter.start("models", {"SINTER_VERIFY": "1"}) as worker:
            worker.ask("prepare " + row.words())
            worker.ask("call 1")
            sample = [float(word) for word in
                      worker.ask(f"sample {measure.SAMPLES}").split()]
        self.assertTrue(sample)
        self.assertTrue(all(abs(value) < 1e3 for value in sample), sample)
        if row.params["do"] == "train":
            self.assertLess(sample[1], sample[0])


if __name__ == "__main__":
    unittest.main()
