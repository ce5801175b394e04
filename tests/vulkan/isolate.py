#!/usr/bin/env python3
"""Runs a GoogleTest program so that a test that ends the process fails alone.

    isolate.py PROGRAM [ARGUMENT...]

Tests share one process. When it dies, the test that ran has failed, by the name
of the signal, and those that did not run yet go on in a new one. Where no test
ran, before the first or after the last, the program itself has failed. What the
program prints is passed on. Exit code 0 where all passed, and there was one.
Where GoogleTest's variables ask for one of several shards, the tests are those
of that one.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile

RUNS = "[ RUN      ] "
ENDS = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] ([^ ,]+)")


def tests_of(command):
    """The tests that the arguments choose, in order."""
    listing = subprocess.run(
        [*command, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True
    )
    tests, suite = [], ""
    for line in listing.stdout.splitlines():
        name = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = name
        elif name and not name.startswith("DISABLED_"):
            tests.append(suite + name)
    return tests


def shard_of(tests):
    """Takes the variables out of the environment of the processes."""
    count = int(os.environ.pop("GTEST_TOTAL_SHARDS", 1))
    return tests[int(os.environ.pop("GTEST_SHARD_INDEX", 0)) :: count]


def run(command, tests):
    """One process: its exit code, the tests that ended, and that which did not."""
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        flags.write("--gtest_filter=" + ":".join(tests) + "\n")
        flags.flush()
        process = subprocess.Popen(
            [*command, "--gtest_flagfile=" + flags.name],
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        ended, running = [], None
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith(RUNS):
                running = line[len(RUNS) :].strip()
            elif (end := ENDS.match(line)) and end[2] == running:
                ended.append(running)
                running = None
        return process.wait(), ended, running


def reason(code):
    if code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"


def main(command):
    tests = tests_of(command)
    # Of what a variable asks for there may be nothing.
    died, failed = [], not tests and "GTEST_FILTER" not in os.environ
    if failed:
        print("no test has such a name")
    left = shard_of(tests)
    while left:
        code, ended, running = run(command, left)
        failed |= code != 0
        left = [test for test in left if test not in ended]
        if running:
            died.append(f"{running} ({reason(code)})")
            left.remove(running)
            continue
        # All that were asked for ended, or the program does without tests.
        if left or code not in (0, 1):
            died.append(f"{command[0]} outside its tests ({reason(code)})")
        break
    for each in died:
        print(f"[  DIED    ] {each}")
    return 1 if failed or died else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
