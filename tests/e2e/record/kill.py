#!/usr/bin/env python3
"""Kills a training at random moments, while it computes and while it writes,
and starts it again: every start goes on from what was written, and the weights
at the end are those of a run that nobody killed, byte for byte.

usage: kill.py [--kills N] [--device DEVICE] [--seed N] -- COMMAND...

In COMMAND, `{run}` is the folder, or with an extension the file, that the
training goes on from, and `{weights}` the safetensors file that it writes at its
end. It prints `<` before something is written and `>` when that is durable,
`going on from step N` where it goes on, and else perhaps `beginning`; a line that
begins with `warning:` is a failure. Where `{run}` is the folder of a Learner, what
it measured is compared, too, and its last checkpoint has to be found.
SINTER_TEST_SEEDS sets the number of kills.
"""

import argparse
import csv
import os
import pathlib
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PARTS = re.compile(r"(model|optim|scheduler|state)-(\d+)\.")


def weights_of(path):
    """The elements of a safetensors file; record ids are of each run's own."""
    data = path.read_bytes()
    header = int.from_bytes(data[:8], "little")
    return data[8 + header:]


def measured(run):
    """What a Learner's metrics were, step by step; no times."""
    table = run / "metrics.csv"
    if not table.exists():
        return []
    with open(table, newline="") as file:
        return [[row[key] for key in ("event", "split", "epoch", "total_step",
                                      "name", "value")]
                for row in csv.DictReader(file) if row["role"] == "metric"]


def checkpoints(run):
    """Parts of checkpoints that are there, by number."""
    found = {}
    folder = run / "checkpoint"
    for path in folder.iterdir() if folder.is_dir() else []:
        if match := PARTS.match(path.name):
            found.setdefault(int(match[2]), set()).add(match[1])
    return found


def files_of(run):
    return list(run.parent.glob(f"{run.name}.*"))


def newest(run):
    """The last step that can be gone on from; for a file, whether it is."""
    if files_of(run):
        return 0
    return max((number for number, parts in checkpoints(run).items()
                if "state" in parts), default=None)


def remove(run):
    if run.is_dir():
        shutil.rmtree(run)
    for file in files_of(run):
        file.unlink()


class Training:
    """The program as a process whose marks are read."""

    def __init__(self, args, folder, weights):
        environment = dict(os.environ)
        if args.device:
            environment["SINTER_DEVICE"] = args.device
        self.run = folder / "run"
        self.known = newest(self.run)
        command = [word.replace("{run}", str(self.run))
                   .replace("{weights}", str(folder / weights))
                   for word in args.command]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment)
        self.output = b""

    def read(self, until):
        """Reads what it prints, until a time; false once it has ended."""
        out = self.process.stdout
        while (left := until - time.monotonic()) > 0:
            ready, _, _ = select.select([out], [], [], left)
            if ready:
                text = os.read(out.fileno(), 1 << 16)
                if not text:
                    return False
                self.output += text
        return True

    def begin(self, seconds):
        """Reads until it says that it begins or goes on, or has ended."""
        until = time.monotonic() + seconds
        while b"\n" not in self.output and time.monotonic() < until:
            if not self.read(time.monotonic() + 0.02):
                return

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.output += self.process.stdout.read()
        self.process.stderr.close()
        self.process.wait()
        self.check()

    def finish(self):
        out, err = self.process.communicate()
        self.output += out
        if self.process.returncode != 0:
            sys.exit(f"the training ended with {self.process.returncode}: "
                     f"{err.decode()}")
        self.check()

    def check(self):
        """Whether it went on from where it had to, if it came that far."""
        text = self.output.decode()
        if "warning:" in text:
            sys.exit(f"the training warns: {text}")
        step = self.went_on()
        if self.known is None and step is not None:
            sys.exit(f"it goes on from step {step}, where nothing was")
        if self.known is not None and "beginning" in text:
            sys.exit(f"it begins anew, though it was at step {self.known}")
        if self.known and step is not None and step != self.known:
            sys.exit(f"it goes on from step {step}, not from {self.known}")

    def went_on(self):
        match = re.search(rb"going on from step (\d+)\n", self.output)
        return int(match[1]) if match else None

    def records(self):
        return self.output.count(b">")

    def is_writing(self):
        return self.output.count(b"<") > self.output.count(b">")

    def is_torn(self):
        """Whether a checkpoint was left without all of its parts."""
        return any(len(parts) < 4 for parts in checkpoints(self.run).values())


def run(args, folder):
    where = folder / "run"
    # The first one compiles.
    for _ in range(2):
        remove(where)
        started = time.monotonic()
        whole = Training(args, folder, "expected")
        whole.finish()
    seconds = time.monotonic() - started
    expected = weights_of(folder / "expected")
    numbers = measured(where)
    print(f"a run of {whole.records()} records takes {seconds:.2f} s",
          flush=True)
    remove(where)

    chance = random.Random(args.seed)
    kills = writing = torn = resumed = finished = 0

    def ended():
        if weights_of(folder / "weights") != expected:
            sys.exit(f"the weights differ after {kills} kills")
        if measured(where) != numbers:
            sys.exit(f"the metrics differ after {kills} kills")
        (folder / "weights").unlink()
        remove(where)

    while kills < args.kills:
        # Some before it reads its record, and a run is killed several times.
        training = Training(args, folder, "weights")
        if args.begun and chance.random() < 0.8:
            training.begin(seconds)
        running = training.read(
            time.monotonic() + chance.uniform(0, seconds * args.part))
        if running and training.process.poll() is None:
            training.kill()
            writing += training.is_writing()
            torn += training.is_torn()
            kills += 1
            if kills % 50 == 0:
                print(f"{kills} kills", flush=True)
        else:
            training.finish()
            finished += 1
            ended()
        resumed += training.went_on() is not None
    training = Training(args, folder, "weights")
    training.finish()
    finished += 1
    ended()
    print(f"{kills} kills ({writing} within a save, {torn} left a part of one),"
          f" {resumed} starts from a record, {finished} runs to their end: "
          f"weights are the same")
    return 0 if resumed > 0 else 1


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", nargs="+")
    parser.add_argument("--kills", type=int,
                        default=int(os.environ.get("SINTER_TEST_SEEDS", "12")))
    parser.add_argument("--device", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--begun", action="store_true",
                        help="counts the time of four of five kills from the "
                             "first line on: for programs that begin slowly")
    parser.add_argument("--part", type=float, default=1 / 3,
                        help="the most of a run's time until it is killed")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sinter-kill-") as folder:
        sys.exit(run(args, pathlib.Path(folder)))


if __name__ == "__main__":
    main()
