#!/usr/bin/env python3
"""The dashboard in a terminal (tmux is one), and lines where there is none.

usage: terminal.py DEMO
"""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from played import DEMO, environment, play

TMUX = shutil.which("tmux")


class Lines(unittest.TestCase):
    def test_without_a_terminal(self):
        done = play("", "epochs=2", "lines=1")
        self.assertNotIn("\033", done.stdout)
        lines = done.stdout.splitlines()
        self.assertEqual(
            lines[0], "digits: 2 epochs of 200 steps on cpu (16 cores)")
        self.assertEqual(lines[1], "seed 42")
        self.assertRegex(lines[2], r"^epoch 1/2 train 10\d/200 \(50 %\)  Loss "
                         r"[\d.]+  Accuracy [\d.]+ %  .*it/s  ETA 0:0\d$")
        self.assertEqual(sum(" done in " in line for line in lines), 4)
        self.assertEqual(lines[-1], "finished after 0:04")

    def test_reader_that_goes_away(self):
        """`demo | head -1` ends the lines, not the training."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.Popen(
                [DEMO, folder, "lines=0", "pace=2000"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=environment())
            done.stdout.readline()
            done.stdout.close()
            self.assertEqual(done.wait(60), 0)
            self.assertIn("the terminal: cannot be written", done.stderr.read())
            done.stderr.close()
            log = (pathlib.Path(folder) / "experiment.log").read_text()
            self.assertIn("finished", log)
            self.assertIn("cannot be written", log)

    def on_terminal(self, *words, **more):
        """What is written to a terminal, and how long that took."""
        ours, theirs = pty.openpty()
        begin = time.monotonic()
        child = subprocess.Popen([DEMO, "", *words], stdout=theirs,
                                 stderr=theirs, env=environment(**more))
        os.close(theirs)
        text = b""
        while True:
            try:
                read = os.read(ours, 65536)
            except OSError:
                read = b""
            if not read:
                break
            text += read
        os.close(ours)
        self.assertEqual(child.wait(), 0)
        return text.decode(), time.monotonic() - begin

    def test_dumb_terminal(self):
        text, _ = self.on_terminal(TERM="dumb")
        self.assertNotIn("\033", text)
        self.assertIn("done in", text)

    def test_at_most_ten_draws_a_second(self):
        text, seconds = self.on_terminal("pace=3000", TERM="xterm")
        draws = text.count("\033[?2026h")
        self.assertGreaterEqual(draws, 2)
        self.assertLessEqual(draws, 10 * seconds + 2)
        # What is there is drawn over, not cleared: nothing flickers.
        self.assertEqual(text.count("\033[2J"), 0)
        self.assertNotIn("\033[?1049h", text)
        self.assertNotIn("\033[?25l", text)

    def test_colors(self):
        plain, _ = self.on_terminal(TERM="xterm", NO_COLOR="1")
        self.assertEqual(re.findall(r"\033\[[\d;]*m", plain), [])
        colored, _ = self.on_terminal(TERM="xterm")
        self.assertIn("\033[36m", colored)

    def test_ascii(self):
        for locale in ({}, {"LANG": "C"}, {"LANG": "en_US.UTF-8",
                                           "LC_ALL": "POSIX"}):
            text, _ = self.on_terminal(TERM="xterm", **locale)
            self.assertTrue(text.isascii(), locale)
        text, _ = self.on_terminal(TERM="xterm", LC_CTYPE="C.utf8")
        self.assertIn("\u2588", text)


@unittest.skipUnless(TMUX, "not run: there is no tmux")
class Terminal(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.socket = str(pathlib.Path(self.holder.name) / "tmux")

    def tmux(self, *words):
        return subprocess.run([TMUX, "-S", self.socket, "-f", "/dev/null",
                               *words], capture_output=True, text=True,
                              check=True, timeout=30,
                              env=environment(LANG="C.UTF-8",
                                              TERM="xterm")).stdout

    def open(self, columns, rows):
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows),
                  "sh")
        self.addCleanup(self.tmux, "kill-server")
        self.send("PS1='rea''dy> '; clear", "Enter")
        self.wait(r"^ready>")

    def send(self, *words):
        self.tmux("send-keys", *words)

    def play(self, *words):
        self.send(" ".join([str(DEMO), "''", *words]), "Enter")

    def screen(self, *flags):
        return self.tmux("capture-pane", "-p", *flags)

    def wait(self, words):
        """The screen as soon as it has words that match."""
        for _ in range(600):
            shown = self.screen()
            if re.search(words, shown):
                return shown
            time.sleep(0.05)
        self.fail(f"never shown: {words}\n{shown}")

    def check_usual(self):
        """A shell's terminal: echo, cursor, no other screen."""
        self.assertEqual(self.tmux(
            "display-message", "-p",
            "#{cursor_flag} #{alternate_on} #{mouse_any_flag}").strip(),
            "1 0 0")
        self.send("stty -a | tr ';' '\\n' | grep -c ' echo '; echo end-of-it",
                  "Enter")
        self.assertRegex(self.wait(r"\nend-of-it"), r"\n1\nend-of-it")

    def test_eighty_by_twenty_four(self):
        self.open(80, 24)
        self.play("pace=4000", "epochs=2")
        shown = self.wait(r"epoch 2/2")
        lines = shown.splitlines()
        self.assertEqual(len(lines), 24)
        self.assertTrue(all(len(line) <= 80 for line in lines))
        self.assertRegex(lines[0], r"^digits  cpu \(16 cores\) +0:\d\d$")
        self.assertRegex(lines[1], r"^(train|valid) +\u2595.*\u258f +\d+ %  "
                         r"\d+/(200|40)")
        self.assertRegex(lines[2], r"^epoch 2/2 .*\u258f +\d+ %  ETA 0:0\d")
        self.assertRegex(lines[3], r"^ +Loss .* Accuracy ")
        self.assertRegex(shown, "[\u2801-\u28ff]")
        self.assertIn("train now", shown)
        self.assertRegex(shown, r"Learning rate [\d.e-]+   Speed \d+ items/s")
        self.assertRegex(shown, r"cpu .* of 64\.0 GB, peak 5\.0 GB  load 87 %"
                         r"  61 .C")
        last = self.wait(r"finished after")
        self.wait(r"finished after[^\n]*\nready>")
        # Every picture went over the one before.
        whole = self.screen("-S", "-")
        self.assertEqual(whole.count("digits  cpu"), 1, whole)
        self.assertEqual(last.count("train now"), 1)
        self.check_usual()

    def test_larger_and_resized(self):
        self.open(160, 50)
        self.play("pace=8000", "epochs=3")
        shown = self.wait(r"epoch 1/3")
        self.assertLessEqual(shown.count("digits  cpu"), 1)
        for columns, rows in ((60, 14), (100, 30), (40, 8), (120, 40)):
            self.tmux("resize-window", "-x", str(columns), "-y", str(rows))
            for _ in range(100):
                time.sleep(0.05)
                lines = self.screen().splitlines()
                if lines and re.match(rf"^digits.{{{columns - 15},}}\d$",
                                      lines[0]):
                    break
            self.assertEqual(sum("digits" in line for line in lines), 1,
                             (columns, rows, lines))
            self.assertTrue(all(len(line) < columns for line in lines), lines)
        self.wait(r"finished after")
        self.check_usual()

    def test_interrupt_that_ends_the_process(self):
        self.open(80, 24)
        self.play("pace=10000")
        self.wait(r"epoch 1/3")
        self.send("C-c")
        self.wait(r"\nready>")
        self.check_usual()

    def test_interrupt_that_is_handled(self):
        self.open(80, 24)
        self.play("pace=10000", "handle=1")
        self.wait(r"epoch 1/3")
        self.send("C-c")
        shown = self.wait(r"interrupted: SIGINT after[^\n]*\nready>")
        self.assertIn("SIGINT: ends after this step", shown)
        self.check_usual()

    def test_exception(self):
        self.open(80, 24)
        self.play("throw-step=150")
        shown = self.wait(r"error: the disk of the data is gone\nready>")
        self.assertRegex(shown, r"train .* 75 %")  # the last picture
        self.check_usual()

    def test_stopped_and_in_the_background(self):
        """Ctrl-Z and bg: nothing is drawn over the shell."""
        self.open(80, 24)
        self.send("set -m", "Enter")
        self.play("pace=5000", "epochs=5")
        self.wait(r"epoch 1/5")
        self.send("C-z")
        self.wait(r"Stopped|Suspended")
        self.send("clear; bg; echo in-the-background", "Enter")
        self.wait(r"\nin-the-background")
        time.sleep(1)
        self.assertNotIn("digits  cpu", self.screen())
        self.send("fg", "Enter")
        self.wait(r"finished after")
        self.check_usual()


if __name__ == "__main__":
    if not TMUX:
        print("not run: there is no tmux")
    unittest.main(verbosity=2)
