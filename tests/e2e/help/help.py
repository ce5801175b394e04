#!/usr/bin/env python3
"""What the command line says of itself: help, manual, completion, guesses, and
that --json prints JSON.

usage: help.py SINTER
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SINTER = pathlib.Path(sys.argv.pop()).resolve()
MODEL = """func.func @main(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = sinter.broadcast %y {shape = affine_map<() -> (4, 8)>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %1 = sinter.add %x, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
"""


def ask(*words, code=0, **more):
    done = subprocess.run([SINTER, *map(str, words)], capture_output=True,
                          text=True, timeout=120, **more)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout + done.stderr


def commands():
    """Those that parse by the table of flags."""
    names = re.findall(r"^  ([a-z]+) ", ask("--help"), re.M)
    assert len(names) > 10, names
    return [name for name in names if name != "opt"]


def flags_in(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", text))


class Help(unittest.TestCase):
    def test_examples_are_of_the_command(self):
        for name in commands():
            text = ask(name, "--help")
            usage, _, examples = text.partition("\nExamples:\n")
            self.assertTrue(examples.strip(), name)
            known = flags_in(usage)
            for line in examples.strip().splitlines():
                self.assertIn(f"sinter {name}", line)
                own = line[line.index("sinter "):].split("|")[0]
                self.assertLessEqual(flags_in(own), known, line)

    def test_version(self):
        self.assertRegex(ask("--version"), r"^sinter \d+\.\d+\.\d+\n$")

    def test_guesses(self):
        for words, meant in ((["inspct"], "inspect"), (["rnu"], "run"),
                             (["run", "x", "--memroy"], "--memory"),
                             (["run", "x", "--helpp"], "--help")):
            self.assertIn(f"did you mean '{meant}'?", ask(*words, code=2))
        for words in (["frobnicate"], ["run", "x", "--zzz"], [""], ["x" * 999]):
            self.assertNotIn("did you mean", ask(*words, code=2))

    def test_colours_are_for_terminals(self):
        script = shutil.which("script")
        if not script:
            self.skipTest("no script(1)")
        def typed(**more):
            environment = {**os.environ, "TERM": "xterm", **more}
            return subprocess.run(
                [script, "-qec", f"{SINTER} nothing", "/dev/null"],
                capture_output=True, text=True, env=environment).stdout
        environment = {"NO_COLOR": ""}
        self.assertIn("\033[1;31merror:\033[0m no command", typed(**environment))
        self.assertNotIn("\033[1;31m", typed(NO_COLOR="1"))
        self.assertNotIn("\033", ask("nothing", code=2))


class Manual(unittest.TestCase):
    def test_pages_are_as_man_reads_them(self):
        groff = shutil.which("groff")
        for name in [None, *commands()]:
            page = ask("man", *([name] if name else []))
            self.assertTrue(page.startswith(".TH SINTER"), page[:40])
            if not groff:
                continue
            done = subprocess.run(
                [groff, "-man", "-ww", "-Tascii", "-P-c"], input=page,
                capture_output=True, text=True)
            self.assertEqual(done.stderr, "", name)
            shown = re.sub(".\x08", "", done.stdout)
            if name:
                wanted = flags_in(ask(name, "--help").partition("Examples")[0])
                self.assertLessEqual(wanted, flags_in(shown), name)
        self.assertIn("no page of 'nothing'", ask("man", "nothing", code=1))


class Completion(unittest.TestCase):
    def complete(self, *words):
        """What bash offers for the last word."""
        script = f"""
          source <({SINTER} completion bash)
          COMP_WORDS=({' '.join(f"'{word}'" for word in words)})
          COMP_CWORD={len(words) - 1}
          _sinter
          printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "-euc", script], capture_output=True,
                              text=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(self.complete("sinter", "ins"), ["inspect"])
        self.assertIn("--version", self.complete("sinter", "--"))
        self.assertEqual(self.complete("sinter", "run", "--rep"), ["--repeat"])
        self.assertEqual(self.complete("sinter", "run", "--numerics", ""),
                         ["exact", "default", "fast"])
        self.assertEqual(self.complete("sinter", "inspect", "--stage", "sp"),
                         ["spirv"])
        self.assertEqual(self.complete("sinter", "cache", "v"), ["verify"])
        # Files, which bash knows.
        self.assertEqual(self.complete("sinter", "run", "ne"), [])
        self.assertEqual(self.complete("sinter", "run", "--output-dir", ""), [])
        for name in commands():
            wanted = flags_in(ask(name, "--help").partition("Examples")[0])
            wanted -= {"-h"}
            offered = set(self.complete("sinter", name, "-"))
            self.assertLessEqual(offered, wanted, name)
            self.assertIn("--help", offered)

    def test_others_can_be_read(self):
        for shell in ("zsh", "fish"):
            text = ask("completion", shell)
            for name in commands():
                self.assertIn(name, text)
            if not shutil.which(shell):
                continue
            done = subprocess.run([shell, "-n"], input=text, text=True,
                                  capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("none of bash, zsh, fish",
                      ask("completion", "tcsh", code=1))


class Json(unittest.TestCase):
    """Of every command that has the flag, all of the standard output."""

    def test_is_json(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "net.mlir"
            model.write_text(MODEL)
            weights = pathlib.Path(folder) / "w.safetensors"
            header = (b'{"w":{"dtype":"F32","shape":[1],'
                      b'"data_offsets":[0,4]}}')
            weights.write_bytes(len(header).to_bytes(8, "little") + header +
                                bytes(4))
            calls = {
                "inspect": [weights], "convert": [weights, folder + "/w.npz"],
                "devices": [], "cache": ["info"], "explain": [model],
                "bench": [model, "--seconds", "0"], "diff": [model, model],
                "run": [model, "--random-inputs", "1"],
                "profile": [model, "--repeat", "2"],
                "check": [folder],
            }
            case = pathlib.Path(folder) / "case"
            case.mkdir()
            (case / "model.onnx").write_bytes(b"\x00")  # is no model
            for name in commands():
                has = "--json" in flags_in(
                    ask(name, "--help").partition("Examples")[0])
                self.assertEqual(has, name in calls, name)
                if not has:
                    continue
                done = subprocess.run([SINTER, name, *calls[name], "--json"],
                                      capture_output=True, text=True)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertTrue(done.stdout, (name, done.stderr))
                json.loads(done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
