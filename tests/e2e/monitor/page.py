#!/usr/bin/env python3
"""The page of a training in a browser: curves are there, names stay text.

usage: page.py DEMO
"""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from played import play

CHROMIUM = shutil.which("chromium")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes


class Case(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.folder = pathlib.Path(self.holder.name)

    def page(self, *words):
        play(self.folder, *words)
        return self.folder / "report.html"


class Contents(Case):
    def test_loads_nothing(self):
        text = self.page("strange=1").read_text()
        page = Page(text)
        self.assertEqual(set(page.tags) & {
            "script", "link", "img", "iframe", "object", "base", "form"}, set())
        for name, value in page.attributes:
            self.assertNotIn(name, {"src", "href", "srcset", "action"}, value)
            self.assertFalse(name.startswith("on"), name)
        self.assertEqual(re.findall(r"https?://", text), [])
        self.assertEqual(page.tags.count("svg"), 4)

    def test_hostile_names(self):
        text = self.page("hostile=1").read_text()
        plain = self.page().read_text()
        self.assertEqual(Page(text).tags, Page(plain).tags)
        for letter in "\u202e\x1b":
            self.assertNotIn(letter, text)
        for name in ("train", "valid"):
            for log in (self.folder / name).glob("*/*"):
                self.assertRegex(log.name, r"^[\w.+-]+$")

    def test_failed_run(self):
        play(self.folder, "throw-step=300", code=1)
        text = (self.folder / "report.html").read_text()
        self.assertIn("<dd>running</dd>", text)  # of the last epoch


@unittest.skipUnless(CHROMIUM, "not run: there is no chromium")
class Browser(Case):
    PROBE = """<script>
      const seen = [document.documentElement.scrollWidth <= innerWidth,
        getComputedStyle(document.body).backgroundColor,
        [...document.querySelectorAll('svg .curve')].filter(
          (curve) => curve.getBBox().width > 100).length,
        document.querySelectorAll('svg').length];
      document.documentElement.dataset.seen = seen.join('|');
    </script>"""

    def show(self, page, size, *flags, probed=True):
        shown = self.folder / "shown.html"
        text = page.read_text()
        if probed:
            text = text.replace("default-src 'none'; ", "").replace(
                "</body>", self.PROBE + "</body>")
        shown.write_text(text)
        return subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={self.folder / 'browser'}",
             f"--window-size={size}", *flags,
             f"--screenshot={self.folder / 'shot.png'}", "--dump-dom",
             shown.as_uri()],
            capture_output=True, text=True, timeout=60).stdout

    def seen(self, *more, **options):
        dom = self.show(*more, **options)
        return re.search(r'data-seen="([^"]*)"', dom).group(1).split("|")

    def test_curves_light_and_dark(self):
        page = self.page()
        light = self.seen(page, "1280,900")
        # Two metrics with validation, learning rate and speed without.
        self.assertEqual((light[0], light[2:]), ("true", ["6", "4"]))
        dark = self.seen(page, "500,800", "--force-dark-mode",
                         "--blink-settings=preferredColorScheme=0")
        self.assertEqual((dark[0], dark[2:]), ("true", ["6", "4"]))
        self.assertNotEqual(light[1], dark[1])

    def test_hostile_names(self):
        dom = self.show(self.page("hostile=1"), "1280,900", probed=False)
        title = re.search(r"<title>(.*?)</title>", dom, re.S).group(1)
        self.assertIn("&lt;/script&gt;", title)
        self.assertEqual(Page(dom).tags.count("script"), 0)
        self.assertEqual(Page(dom).tags.count("img"), 0)


if __name__ == "__main__":
    if not CHROMIUM:
        print("not run: there is no chromium")
    unittest.main(verbosity=2)
