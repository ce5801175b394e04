"""The runner of tests names what died and runs the rest."""

import os
import pathlib
import subprocess
import sys
import unittest

RUNNER = pathlib.Path(__file__).with_name("isolate.py")
CASES = sys.argv.pop()


def isolated(tests, **environment):
    done = subprocess.run(
        [sys.executable, RUNNER, CASES, "--gtest_filter=" + tests],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    lines = done.stdout.splitlines()
    died = [line[len("[  DIED    ] ") :] for line in lines if "DIED" in line]
    passed = [line.split()[3] for line in lines if line.startswith("[       OK")]
    return done.returncode, died, passed


class Isolate(unittest.TestCase):
    def test_all_pass(self):
        code, died, passed = isolated("*.passes*:*.isSkipped:Numbers/*/0")
        self.assertEqual((code, died), (0, []))
        self.assertEqual(
            passed,
            [
                "Isolate.passes",
                "Isolate.passesAfterAFault",
                "Numbers/IsolateEach.abortsAtTwo/0",
            ],
        )

    def test_shards(self):
        tests = "Isolate.passes:Isolate.passesAfterAFault"
        found = [
            isolated(tests, GTEST_TOTAL_SHARDS="2", GTEST_SHARD_INDEX=index)
            for index in "01"
        ]
        self.assertEqual([code for code, *_ in found], [0, 0])
        self.assertEqual(
            [passed for *_, passed in found], [[each] for each in tests.split(":")]
        )

    def test_one_fails(self):
        self.assertEqual(
            isolated("Isolate.passes:Isolate.fails"), (1, [], ["Isolate.passes"])
        )

    def test_some_die(self):
        code, died, passed = isolated("*-IsolateEnd.*")
        self.assertEqual(code, 1)
        self.assertEqual(
            died,
            [
                "Isolate.faults (SIGKILL)",
                "Isolate.leaves (exit code 3)",
                "Numbers/IsolateEach.abortsAtTwo/1 (SIGABRT)",
            ],
        )
        self.assertEqual(
            passed,
            [
                "Isolate.passes",
                "Isolate.passesAfterAFault",
                "Numbers/IsolateEach.abortsAtTwo/0",
                "Numbers/IsolateEach.abortsAtTwo/2",
            ],
        )

    def test_dies_at_its_end(self):
        code, died, passed = isolated("IsolateEnd.*")
        self.assertEqual((code, passed), (1, ["IsolateEnd.ends"]))
        self.assertEqual(died, [f"{CASES} outside its tests (SIGKILL)"])

    def test_has_no_such_test(self):
        self.assertEqual(isolated("Nothing.*"), (1, [], []))


if __name__ == "__main__":
    unittest.main()
