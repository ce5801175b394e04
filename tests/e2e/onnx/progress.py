#!/usr/bin/env python3
"""What the command line shows while a model takes long: a line on a terminal,
which is gone at the end, and nothing anywhere else.

    progress.py SINTER
"""

import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

SINTER = ""
STEP = re.compile(r"\r(reading tensor|recording node|compiling kernel) "
                  r"(\d+) of (\d+)\x1b\[K")
WIPE = "\r\x1b[K"


def varint(value):
    """Protobuf's number."""
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes(data + bytes([value]))


def field(number, value):
    """A field of text, of a message or of a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def port(name, size):
    """ValueInfoProto of f32[size]."""
    shape = field(1, field(1, size))
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def long_model(parts):
    """Sums that are kernels of their own, of axes of different sizes."""
    graph = b""
    last = "x"
    for part in range(parts):
        for op, inputs in [("Sin", [last]), ("CumSum", ["s", "axis"]),
                           ("Exp", ["c"]), ("Softmax", ["e"])]:
            name = {"Sin": "s", "CumSum": "c", "Exp": "e",
                    "Softmax": "m"}[op] + str(part)
            named = [each + str(part) if each in "sce" else each
                     for each in inputs]
            node = b"".join(field(1, each) for each in named)
            graph += field(1, node + field(2, name) + field(4, op))
        last = f"m{part}"
        padded = f"p{part}"
        graph += field(1, field(1, last) + field(1, "one") + field(2, padded)
                       + field(4, "Pad"))
        last = padded
    graph += field(2, "long")
    graph += field(5, field(2, 7) + field(8, "axis") + field(9, bytes(8)))
    graph += field(5, field(1, 2) + field(2, 7) + field(8, "one")
                   + field(9, bytes([0] * 8 + [1] + [0] * 7)))
    graph += field(11, port("x", 300)) + field(12, port(last, 300 + parts))
    return (field(1, 8) + field(7, graph)
            + field(8, field(1, "") + field(2, 17)))


class Progress(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = pathlib.Path(self.folder.name, "long.onnx")
        self.model.write_bytes(long_model(30))

    def command(self, cache, *more):
        """Of a compilation that finds nothing in its cache."""
        return ([SINTER, "compile", str(self.model), "-o",
                 str(self.model) + ".sinter", *more],
                dict(os.environ, SINTER_CACHE_DIR=f"{self.folder.name}/{cache}"))

    def on_terminal(self, cache, *more, wait=0):
        """(exit code, what the terminal was sent), where what takes less than
        so many ms is quick."""
        words, environment = self.command(cache, *more)
        environment["SINTER_PROGRESS_WAIT"] = str(wait)
        environment["NO_COLOR"] = "1"  # of errors
        master, slave = pty.openpty()
        one = {min(os.sched_getaffinity(0))}  # also where there are many
        child = subprocess.Popen(
            words, env=environment, stdout=slave, stderr=slave,
            preexec_fn=lambda: os.sched_setaffinity(0, one))
        os.close(slave)
        text = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        os.close(master)
        return child.wait(), text.decode()

    def test_a_terminal_has_a_line(self):
        code, text = self.on_terminal("a")
        self.assertEqual(code, 0, text)
        steps = STEP.findall(text)
        self.assertTrue(steps, repr(text))
        for _, number, total in steps:
            self.assertLessEqual(1, int(number))
            self.assertLessEqual(int(number), int(total))
        self.assertIn("compiling kernel", [step[0] for step in steps])
        # Nothing else was written, and the line is gone.
        self.assertEqual(STEP.sub("", text).replace(WIPE, ""), "")
        self.assertTrue(text.endswith(WIPE), repr(text))

    def test_quiet_has_none(self):
        self.assertEqual(self.on_terminal("b", "--quiet"), (0, ""))

    def test_what_is_quick_has_none(self):
        self.assertEqual(self.on_terminal("c", wait=10**7), (0, ""))

    def test_an_error_stands_alone(self):
        self.model.write_bytes(self.model.read_bytes().replace(b"Sin", b"Sun"))
        code, text = self.on_terminal("d", wait=10**7)
        self.assertEqual(code, 1)
        self.assertTrue(text.startswith("error: "), repr(text))

    def test_a_file_has_none(self):
        words, environment = self.command("e")
        done = subprocess.run(words, env=environment, capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, b"", b""))


if __name__ == "__main__":
    SINTER = sys.argv.pop(1)
    unittest.main()
