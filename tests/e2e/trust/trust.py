#!/usr/bin/env python3
"""Keys, signatures and `--trust` on the command line, and what the system sees.

usage: trust.py SINTER MODEL

MODEL is what 02_digits exports. With strace: a file whose graph alone is trusted
is mapped to be read and never to be run, and nothing of its code is copied to
where it could be.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MODEL = pathlib.Path(sys.argv.pop()).resolve()
SINTER = pathlib.Path(sys.argv.pop()).resolve()
HAS_KEYS = "no signatures" not in subprocess.run(
    [SINTER, "keygen", "/nonexistent/x"], capture_output=True, text=True,
    check=False).stderr


class Trust(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        shutil.copy(MODEL, self.folder / "net.sinter")
        self.environment = dict(os.environ, HOME=str(self.folder),
                                SINTER_CACHE_DIR=str(self.folder / "cache"))
        self.environment.pop("XDG_CONFIG_HOME", None)

    def tearDown(self):
        self.scratch.cleanup()

    def ask(self, *words, code=0, **variables):
        done = subprocess.run(
            [SINTER, *words], capture_output=True, text=True, cwd=self.folder,
            env=dict(self.environment, **variables), timeout=120, check=False)
        self.assertEqual(done.returncode, code, (words, done.stderr))
        return done.stdout + done.stderr

    @unittest.skipUnless(HAS_KEYS, "built without libsodium")
    def test_signing(self):
        run = ["run", "net.sinter", "--random-inputs", "1"]
        self.ask("keygen", "own")
        self.assertEqual((self.folder / "own.key").stat().st_mode & 0o777, 0o600)
        self.assertIn("File exists", self.ask("keygen", "own", code=1))
        unsigned = self.ask(*run)
        self.assertIn("nobody signed it",
                      self.ask(*run, "--trust", "signed", "--trusted-keys",
                               "own.pub", code=1))
        self.ask("sign", "net.sinter", "--key", "own.key")
        self.assertIn("unchanged", self.ask("verify", "net.sinter",
                                            "--trusted-keys", "own.pub"))
        self.assertIn("there is no folder",
                      self.ask(*run, "--trust", "signed", code=1))
        keys = self.folder / ".config/sinter/trusted"
        keys.mkdir(parents=True)
        shutil.copy(self.folder / "own.pub", keys)
        self.assertEqual(self.ask(*run, "--trust", "signed"), unsigned)
        self.assertEqual(self.ask(*run, SINTER_TRUST="signed"), unsigned)
        self.ask("keygen", "other")
        self.assertIn("none of the 1", self.ask(
            "verify", "net.sinter", "--trusted-keys", "other.pub", code=1))
        self.ask("sign", "net.sinter", "--key", "other.key", "-o",
                 "theirs.sinter")
        self.assertIn("none of the 1", self.ask("verify", "theirs.sinter",
                                                code=1))
        shutil.copy(self.folder / "own.pub", self.folder / "wrong.key")
        (self.folder / "wrong.key").chmod(0o600)
        self.assertIn("does not begin with", self.ask(
            "sign", "net.sinter", "--key", "wrong.key", code=1))
        # Another file out of it is not signed.
        self.ask("compile", "net.sinter", "-o", "new.sinter", "--target", "cpu")
        self.assertIn("nobody signed it", self.ask("verify", "new.sinter",
                                                   code=1))

    def test_graph(self):
        run = ["run", "net.sinter", "--random-inputs", "1", "--quiet"]
        own = self.ask(*run)
        compiled = self.ask(*run, "--trust", "graph")
        self.assertIn("only its graph is trusted", compiled)
        digits = [line for line in own.splitlines()
                  if line.startswith("digits")]
        self.assertEqual(digits, [line for line in compiled.splitlines()
                                  if line.startswith("digits")])
        self.assertIn("is code, signed or graph",
                      self.ask(*run, "--trust", "all", code=1))
        self.assertIn("takes the code of a file", self.ask(
            "embed", "net.sinter", "-o", "net.o", "--trust", "graph", code=1))
        # An object is of code that is trusted, whoever makes it.
        make = ["compile", "net.sinter", "-o", "net.o", "--emit", "object",
                "--size", "images=1"]
        self.assertIn("give --target", self.ask(*make, code=1,
                                                SINTER_TRUST="graph"))
        self.ask(*make, "--target", "cpu", SINTER_TRUST="graph")
        if HAS_KEYS:
            self.ask("keygen", "own")
            self.assertIn("nobody signed it", self.ask(
                *make, "--trust", "signed", "--trusted-keys", "own.pub",
                code=1))
            (self.folder / "own.key").chmod(0o644)
            self.assertIn("chmod 600", self.ask("sign", "net.sinter", "--key",
                                                "own.key", code=1))

    def traced(self, *words):
        """Calls of a run, as strace prints them."""
        log = self.folder / "calls"
        done = subprocess.run(
            ["strace", "-f", "-y", "-s", "16", "-o", log, "-e",
             "trace=mmap,mprotect,memfd_create,write,execve", SINTER, "run",
             "net.sinter", "--random-inputs", "1", "--quiet", *words],
            capture_output=True, text=True, cwd=self.folder,
            env=self.environment, timeout=120, check=False)
        if "PTRACE" in done.stderr or "ptrace" in done.stderr:
            self.skipTest("strace may not trace here")
        self.assertEqual(done.returncode, 0, done.stderr)
        return log.read_text().splitlines()

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_what_the_system_sees(self):
        # Code that is not what is made here of the graph.
        self.ask("compile", "net.sinter", "-o", "net.sinter", "--target",
                 "cpu:scalar")
        made = [line for line in self.traced() if "memfd_create(" in line]
        self.assertEqual(len(made), 1, "the file's own image")
        self.traced("--trust", "graph")  # compiles, and keeps that
        calls = self.traced("--trust", "graph")
        of_file = [line for line in calls
                   if "mmap(" in line and "net.sinter>" in line]
        self.assertTrue(of_file, "it is mapped")
        for line in of_file:
            self.assertNotIn("PROT_EXEC", line)
        # What runs is one image, of the program that was compiled here.
        made = [line for line in calls if "memfd_create(" in line]
        self.assertEqual(len(made), 1, made)
        cached = list((self.folder / "cache").rglob("*"))
        written = [line for line in calls if re.search(r"write\(.*memfd", line)]
        sizes = {int(line.rsplit("= ", 1)[1]) for line in written}
        own = (self.folder / "net.sinter").read_bytes()
        for path in filter(pathlib.Path.is_file, cached):
            content = path.read_bytes()
            for size in sizes:
                at = content.find(b"\x7fELF")
                if at >= 0 and content[at:at + size] in own:
                    self.fail("an image of the file was loaded")


if __name__ == "__main__":
    unittest.main()
