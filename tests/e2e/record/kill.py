#!/usr/bin/env python3
"""Kills a training at random moments, while it computes and while it writes its
record, and starts it again: every start reads the record, and the weights at
the end are those of a run that nobody killed, byte for byte.

usage: kill.py PROGRAM [--kills N] [--device DEVICE] [--epochs N] [--seed N]

PROGRAM is examples/13_records/train_with_checkpoint. SINTER_TEST_SEEDS sets the
number of kills, too.
"""

import argparse
import os
import pathlib
import random
import select
import signal
import subprocess
import sys
import tempfile
import time


def weights_of(path):
    """The elements of a safetensors file; record ids are of each run's own."""
    data = path.read_bytes()
    header = int.from_bytes(data[:8], "little")
    return data[8 + header:]


class Training:
    """The program as a process whose marks are read."""

    def __init__(self, args, folder, weights):
        environment = dict(os.environ)
        if args.device:
            environment["SINTER_DEVICE"] = args.device
        self.process = subprocess.Popen(
            [args.program, "--epochs", str(args.epochs), "--every", "2",
             "--record", str(folder / "run.mpk"), "--weights",
             str(folder / weights), "--marks"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
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

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.output += self.process.stdout.read()
        self.process.stderr.close()
        self.process.wait()

    def finish(self):
        out, err = self.process.communicate()
        self.output += out
        if self.process.returncode != 0:
            sys.exit(f"the training ended with {self.process.returncode}: "
                     f"{err.decode()}")

    def records(self):
        return self.output.count(b">")

    def is_writing(self):
        return self.output.count(b"<") > self.output.count(b">")


def run(args, folder):
    started = time.monotonic()
    whole = Training(args, folder, "expected")
    whole.finish()
    seconds = time.monotonic() - started
    expected = weights_of(folder / "expected")
    print(f"a run of {whole.records()} records takes {seconds:.2f} s")

    chance = random.Random(args.seed)
    (folder / "run.mpk").unlink()
    kills = writing = resumed = finished = 0
    while kills < args.kills:
        # Some before it reads its record, and a run is killed several times.
        training = Training(args, folder, "weights")
        running = training.read(
            time.monotonic() + chance.uniform(0, seconds / 3))
        if running and training.process.poll() is None:
            writing += training.is_writing()
            training.kill()
            kills += 1
        else:
            training.finish()
            finished += 1
            if weights_of(folder / "weights") != expected:
                sys.exit(f"the weights differ after {kills} kills")
            (folder / "weights").unlink()
            (folder / "run.mpk").unlink()
        resumed += b"going on from step" in training.output
    training = Training(args, folder, "weights")
    training.finish()
    finished += 1
    same = weights_of(folder / "weights") == expected
    print(f"{kills} kills ({writing} within a save), {resumed} starts from a "
          f"record, {finished} runs to their end: weights "
          f"{'are the same' if same else 'DIFFER'}")
    return 0 if same and kills == args.kills and resumed > 0 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--kills", type=int,
                        default=int(os.environ.get("SINTER_TEST_SEEDS", "12")))
    parser.add_argument("--device", default="")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sinter-kill-") as folder:
        sys.exit(run(args, pathlib.Path(folder)))


if __name__ == "__main__":
    main()
