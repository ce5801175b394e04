#!/usr/bin/env python3
"""The files of a training's folder say the same, whoever reads them.

usage: files.py [--tensorboard STEPS] DEMO

With --tensorboard the event files of so many steps are read by TensorBoard's
own reader and by tbparse, which are Python packages (`pip install tensorboard
tbparse`); without it by a reader that stands here.
"""

import csv
import json
import math
import pathlib
import struct
import sys
import tempfile
import unittest

from played import play

STEPS = None
if "--tensorboard" in sys.argv:
    at = sys.argv.index("--tensorboard")
    STEPS = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]


def single(value):
    """As f32, which TensorBoard keeps."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def same(left, right):
    return left == right or (math.isnan(left) and math.isnan(right))


TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def masked(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 255] ^ value >> 8
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    """Of a TFRecord file, with its checksums."""
    at = 0
    while at < len(data):
        size, check = struct.unpack_from("<QI", data, at)
        assert check == masked(data[at:at + 8])
        record = data[at + 12:at + 12 + size]
        assert struct.unpack_from("<I", data, at + 12 + size)[0] == \
            masked(record)
        yield record
        at += 16 + size


def fields(data):
    """(number, value) of each field of a message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            value = data[at:at + size]
            at += size
        yield key >> 3, value


def scalars(folder):
    """{tag: [(step, value)]} of the only event file of a folder."""
    file, = pathlib.Path(folder).glob("events.out.tfevents.*")
    found = {}
    for record in records(file.read_bytes()):
        event = dict(fields(record))
        for number, value in fields(event.get(5, b"")):
            assert number == 1
            value = dict(fields(value))
            if 2 in value:
                found.setdefault(value[1].decode(), []).append(
                    (event.get(2, 0), struct.unpack("<f", value[2])[0]))
    return found


def table(folder):
    with open(folder / "metrics.csv", newline="") as file:
        return list(csv.DictReader(file))


def expected(folder, split):
    """What the event file of a split has, by the table."""
    found = {}
    for row in table(folder):
        if row["split"] == split:
            step = row["total_step" if row["event"] == "step" else "epoch"]
            found.setdefault(row["event"] + "/" + row["name"], []).append(
                (int(step), single(float(row["value"]))))
    return found


def refuse(text):
    raise ValueError(text)


class Case(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.folder = pathlib.Path(self.holder.name)

    def check_scalars(self, found, wanted):
        self.assertEqual(set(found), set(wanted))
        for tag, values in wanted.items():
            self.assertEqual(len(found[tag]), len(values), tag)
            for (step, value), (other, right) in zip(found[tag], values):
                self.assertEqual(step, other, tag)
                self.assertTrue(same(value, right), (tag, step, value, right))


@unittest.skipIf(STEPS, "TensorBoard's reader alone")
class Files(Case):
    def test_all_say_the_same(self):
        play(self.folder, "strange=1", "histograms=1")
        rows = table(self.folder)
        steps = [row for row in rows if row["event"] == "step"]
        self.assertEqual(len(steps), 3 * (200 + 40) * 4)
        for odd in ("nan", "inf", "-inf"):
            self.assertTrue([row for row in steps if row["value"] == odd])
        lines = [json.loads(line, parse_constant=refuse) for line in
                 (self.folder / "events.jsonl").read_text().splitlines()]
        told = [(line["split"], line["total_step"], name, float(value))
                for line in lines if line["event"] == "step"
                for name, value in line["values"].items()]
        self.assertEqual(len(told), len(steps))
        for row, (split, step, name, value) in zip(steps, told):
            self.assertEqual((row["split"], int(row["total_step"]),
                              row["name"]), (split, step, name))
            self.assertTrue(same(float(row["value"]), value))
        for split in ("train", "valid"):
            self.check_scalars(scalars(self.folder / "tensorboard" / split),
                               expected(self.folder, split))
            for epoch in (1, 2, 3):
                lines = (self.folder / split / f"epoch-{epoch}" /
                         "Loss.log").read_text().splitlines()
                wanted = [row for row in steps if row["split"] == split and
                          row["name"] == "Loss" and int(row["epoch"]) == epoch]
                self.assertEqual(lines, [
                    f"{row['value']},{row['items']},{row['total_step']}"
                    for row in wanted])

    def test_artifact_layout(self):
        play(self.folder)
        for name in ("experiment.log", "metrics.csv", "events.jsonl",
                     "report.html", "train/epoch-1/Loss.log",
                     "train/epoch-3/Accuracy.log", "valid/epoch-1/Loss.log",
                     "valid/epoch-3/Accuracy.log", "tensorboard/train",
                     "tensorboard/valid"):
            self.assertTrue((self.folder / name).exists(), name)

    def test_killed_and_resumed(self):
        """After SIGKILL at some step, and again, nothing is doubled or lost."""
        whole, parts = self.folder / "whole", self.folder / "parts"
        play(whole, "epochs=4")
        play(parts, "epochs=4", "stop-step=510", code=3)
        play(parts, "epochs=4", "resume=1", "resume-step=70", "stop-step=620",
             code=3)
        play(parts, "epochs=4", "resume=2")
        numbers = [[{key: value for key, value in row.items()
                     if key != "time"} for row in table(folder)]
                   for folder in (whole, parts)]
        self.assertEqual(*numbers)
        for split in ("train", "valid"):
            self.assertEqual(scalars(whole / "tensorboard" / split),
                             scalars(parts / "tensorboard" / split))
            for log in whole.glob(f"{split}/*/*.log"):
                self.assertEqual(
                    log.read_text(),
                    (parts / log.relative_to(whole)).read_text(), log)

    def test_limit_of_file_sizes(self):
        """A disk that takes no more ends the files, not the training."""
        import resource
        import subprocess
        from played import DEMO
        done = subprocess.run(
            [DEMO, self.folder, "steps=20000"], capture_output=True, text=True,
            timeout=120, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (300_000, 300_000)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("finished after", done.stdout)
        self.assertIn("warning: this view of the training ended", done.stdout)
        self.assertIn("metrics.csv", done.stderr)


@unittest.skipUnless(STEPS, "not asked for")
class TensorBoard(Case):
    def test_readers(self):
        from tbparse import SummaryReader
        from tensorboard.backend.event_processing.event_accumulator import \
            EventAccumulator
        print(play(self.folder, "epochs=1", f"steps={STEPS}", "valid=10",
                   "strange=1", "histograms=1", "measure=1", "dashboard=0",
                   ).stderr)
        for split in ("train", "valid"):
            place = str(self.folder / "tensorboard" / split)
            reader = EventAccumulator(place, {"scalars": 0, "histograms": 0,
                                              "tensors": 0})
            reader.Reload()
            found = {tag: [(event.step, event.value)
                           for event in reader.Scalars(tag)]
                     for tag in reader.Tags()["scalars"]}
            self.check_scalars(found, expected(self.folder, split))
        reader = SummaryReader(str(self.folder / "tensorboard"),
                               extra_columns={"dir_name"})
        self.assertEqual(len(reader.scalars),
                         len(table(self.folder)))
        texts = dict(zip(reader.text["tag"], reader.text["value"]))
        self.assertEqual(set(texts),
                         {"config", "model", "devices", "hardware", "fusion"})
        self.assertIn("conv1", texts["model"])
        settings = dict(zip(reader.hparams["tag"], reader.hparams["value"]))
        self.assertEqual(settings, {
            "epochs": 3, "batch_size": 64, "seed": 42, "optimizer.name": "Adam",
            "optimizer.rate": 0.001, "optimizer.nesterov": False})
        self.assertEqual(list(reader.histograms["tag"]),
                         ["histogram/fc.weight"])
        self.assertEqual(sum(reader.histograms["counts"][0]), 1000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
