#!/usr/bin/env python3
"""Trainings of the examples, shortened: they learn, leave a whole artifact
folder, and a run that is started again goes on where it was.

usage: trainings.py EXAMPLES_FOLDER
"""

import csv
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

EXAMPLES = pathlib.Path(sys.argv.pop(1))


class Run:
    """One process of an example in a folder of its own."""

    def __init__(self, name, folder, **options):
        command = [EXAMPLES / name / name, "--folder", folder]
        for option, value in options.items():
            command += [f"--{option}", str(value)]
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=500)
        self.code, self.text = done.returncode, done.stdout + done.stderr
        self.folder = pathlib.Path(folder)

    def curve(self, name, split):
        """A metric's values at the ends of epochs."""
        with open(self.folder / "metrics.csv", newline="") as file:
            return [float(row["value"]) for row in csv.DictReader(file)
                    if (row["event"], row["split"], row["name"]) ==
                    ("epoch", split, name)]


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name) / "run"

    def run_example(self, name, code=0, **options):
        run = Run(name, self.folder, **options)
        self.assertEqual(run.code, code, run.text)
        return run

    def check_artifacts(self, *more):
        for name in ("experiment.log", "metrics.csv", "events.jsonl",
                     "report.html", "train/epoch-1", *more):
            self.assertTrue((self.folder / name).exists(), name)
        for split in ("tensorboard/train",):
            self.assertTrue(list((self.folder / split).iterdir()), split)

    def check_checkpoints(self):
        self.check_artifacts("config.json", "checkpoint")
        kinds = {path.name.split("-")[0]
                 for path in (self.folder / "checkpoint").iterdir()}
        self.assertEqual(kinds, {"model", "optim", "scheduler", "state"})


class Mnist(Case):
    def test_lines_of_code(self):
        """Model, data and training: neither blank nor a comment alone."""
        source = pathlib.Path(__file__).parents[3] / "examples/14_mnist/main.cpp"
        lines = [line.strip() for line in source.read_text().splitlines()]
        self.assertLessEqual(
            len([line for line in lines if line and line[:2] != "//"]), 60)

    @unittest.skipUnless("SINTER_SUITES" in os.environ,
                         "SINTER_SUITES is not set")
    def test_one_epoch(self):
        data = pathlib.Path(os.environ["SINTER_SUITES"]) / "data"
        known = json.loads((data / "baselines.json").read_text())["mnist"]
        run = self.run_example("14_mnist", epochs=1, data=data / "mnist")
        accuracy = run.curve("accuracy", "valid")[-1]
        print(f"mnist: {accuracy:.2f} %")
        self.assertGreaterEqual(
            accuracy, 100 * known["cnn_8_16_adam_1e-3_batch64_1_epoch"][0])
        self.check_checkpoints()


class TextClassification(Case):
    def test_learns_and_goes_on(self):
        name = "15_text_classification"
        run = self.run_example(name, epochs=12, required_accuracy=0.6)
        loss = run.curve("loss", "train")
        self.assertLess(loss[-1], 0.7 * loss[0], loss)
        self.check_checkpoints()
        run = self.run_example(name, epochs=13)
        self.assertIn("goes on after epoch 12", run.text)
        self.assertEqual(len(run.curve("loss", "train")), 13)

    def test_wrong_file(self):
        run = self.run_example("15_text_classification", code=1,
                               data=self.folder / "none.tsv")
        self.assertIn("none.tsv", run.text)


class Wgan(Case):
    def test_draws_digits(self):
        run = self.run_example("16_wgan", epochs=10, required_distance=0.3)
        distance = run.curve("distance", "valid")
        self.assertLess(distance[-1], distance[0] / 5, distance)
        self.check_checkpoints()
        for sheet in ("epoch-10", "last"):
            data = (self.folder / "samples" / f"{sheet}.png").read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">II", data[16:24]), (288, 288))


    def test_goes_on_to_the_same_numbers(self):
        whole = self.run_example("16_wgan", epochs=4)
        self.folder = self.folder.with_name("parts")
        self.run_example("16_wgan", epochs=2)
        parts = self.run_example("16_wgan", epochs=4)
        self.assertIn("goes on after epoch 2", parts.text)
        for name, split in (("distance", "valid"), ("critic gap", "train")):
            self.assertEqual(parts.curve(name, split),
                             whole.curve(name, split))


class CustomLearner(Case):
    def test_own_parts(self):
        run = self.run_example("17_custom_learner", epochs=8, goal=2,
                               required_accuracy=0.93)
        self.assertGreater(run.curve("r2", "valid")[-1], 0)
        errors = run.curve("calibration", "valid")
        self.assertEqual(len(errors), 8)
        self.assertTrue(all(0 < error < 0.5 for error in errors), errors)
        table = (self.folder / "epochs.md").read_text().splitlines()
        self.assertEqual(len(table), 2 + 8)
        self.check_checkpoints()

    def test_ends_at_the_goal(self):
        run = self.run_example("17_custom_learner", epochs=8, goal=0.5)
        self.assertIn("(the goal is reached)", run.text)
        self.assertLess(len(run.curve("accuracy", "valid")), 8)


class CustomTrainingLoop(Case):
    def test_goes_on_to_the_same_weights(self):
        name = "18_custom_training_loop"
        run = self.run_example(name, epochs=6, required_accuracy=0.85)
        self.check_artifacts("run.safetensors")
        whole = run.curve("loss", "train")
        self.assertLess(whole[-1], 0.5 * whole[0], whole)

        self.folder = self.folder.with_name("parts")
        self.run_example(name, epochs=2)
        run = self.run_example(name, epochs=6)
        self.assertIn("going on from epoch 2", run.text)
        self.assertEqual(run.curve("loss", "train"), whole)


class Regression(Case):
    def test_explains_the_variance(self):
        run = self.run_example("19_regression", epochs=12, required_r2=0.4)
        error = run.curve("mae", "valid")
        self.assertLess(error[-1], 50, error)
        self.check_checkpoints()


class Finetune(Case):
    def test_frozen_backbone(self):
        run = self.run_example("20_finetune", required_accuracy=0.85)
        self.assertIn("330 of 21546 numbers trained", run.text)
        self.check_checkpoints()

    def test_adapters(self):
        run = self.run_example("20_finetune", tune="lora",
                               required_accuracy=0.8)
        self.assertIn("1 weight adapted", run.text)
        self.assertTrue((self.folder / "adapter_model.safetensors").exists())

    def test_what_the_state_dict_is_worth(self):
        tuned = self.run_example("20_finetune").curve("accuracy", "valid")
        self.folder = self.folder.with_name("scratch")
        scratch = self.run_example("20_finetune", tune="scratch")
        self.assertGreater(tuned[-1],
                           scratch.curve("accuracy", "valid")[-1] + 5)


class CartPole(Case):
    def test_balances(self):
        name = "21_cartpole"
        run = self.run_example(name, epochs=12, required_return=450)
        self.assertGreater(run.curve("return", "train")[-1], 300)
        self.check_checkpoints()
        again = self.run_example(name, epochs=12, required_return=450)
        self.assertIn("goes on after epoch 12", again.text)
        self.assertEqual(run.text.splitlines()[-1],
                         again.text.splitlines()[-1])

    def test_goes_on_within_an_epoch(self):
        """Ctrl-C ends a run between two batches that it plays itself."""
        name, options = "21_cartpole", {"epochs": 8, "updates": 50}
        whole = self.run_example(name, **options)
        self.folder = self.folder.with_name("parts")
        process = subprocess.Popen(
            [EXAMPLES / name / name, "--folder", self.folder] +
            [word for key, value in options.items()
             for word in (f"--{key}", str(value))],
            stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        state = self.folder / "checkpoint" / "state-50.safetensors"
        while process.poll() is None and not state.exists():
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        self.assertIn("interrupted: SIGINT", process.communicate()[0])
        parts = self.run_example(name, **options)
        self.assertIn("goes on after epoch", parts.text)
        for metric in ("return", "loss"):
            self.assertEqual(parts.curve(metric, "train"),
                             whole.curve(metric, "train"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
