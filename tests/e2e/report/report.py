#!/usr/bin/env python3
"""The page of `sinter report`: what it says is what other commands say, it
loads nothing, names in models stay text, and a browser shows it.

usage: report.py SINTER
"""

import base64
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

SINTER = pathlib.Path(sys.argv.pop()).resolve()
PROBE = pathlib.Path(__file__).resolve().parent / "probe.js"
CHROMIUM = shutil.which("chromium")

# Several kernels, a value that two of them read, and two outputs.
MODEL = """func.func @main(%x: tensor<32x16xf32> {sinter.name = "x"}, %w: tensor<16x16xf32> {sinter.name = "w"}) -> (tensor<32x16xf32>, tensor<16xf32>) {
  %0 = sinter.matmul %x, %w : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
  %1 = sinter.exp %0 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %2 = sinter.matmul %1, %w : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
  %3 = sinter.add %2, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %4 = sinter.sum %3 {axes = array<i64: 0>, keepdims = false} : (tensor<32x16xf32>) -> tensor<16xf32>
  return %3, %4 : tensor<32x16xf32>, tensor<16xf32>
}
"""
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=" \
    "document.title='owned'>'&amp;<!--"
HOSTILE_MODEL = MODEL.replace('"x"', json.dumps(HOSTILE)).replace(
    '"w"', '"\\E2\\80\\A8w\\E2\\80\\AE\\FF"')
FORMATS = pathlib.Path(__file__).resolve().parents[2] / "formats"
STAGES = ["import", "simplify", "fuse", "plan", "lower", "target"]


def layers(count):
    """Attention without heads and a hidden layer, so many times."""
    square, wide = "tensor<64x64xf32>", "tensor<64x256xf32>"
    row = "tensor<64xf32>"
    lines, value = [], "%x"

    def add(op, operands, kinds, result, attributes=""):
        lines.append(f"  %{len(lines)} = sinter.{op} {', '.join(operands)} "
                     f"{attributes}: ({', '.join(kinds)}) -> {result}")
        return f"%{len(lines) - 1}"

    for _ in range(count):
        q, k, v = (add("matmul", [value, f"%w{i}"], [square] * 2, square)
                   for i in range(3))
        scores = add("exp", [add("matmul", [q, k], [square] * 2, square)],
                     [square], square)
        sums = add("sum", [scores], [square], row,
                   "{axes = array<i64: 1>, keepdims = false} ")
        spread = add("broadcast", [sums], [row], square,
                     "{shape = affine_map<() -> (64, 64)>} ")
        share = add("div", [scores, spread], [square] * 2, square)
        taken = add("matmul", [share, v], [square] * 2, square)
        value = add("add", [value, taken], [square] * 2, square)
        hidden = add("matmul", [value, "%up"], [square, wide], wide)
        hidden = add("tanh", [hidden], [wide], wide)
        down = add("matmul", [hidden, "%down"], [wide, "tensor<256x64xf32>"],
                   square)
        value = add("add", [value, down], [square] * 2, square)
    weights = "".join(f", %w{i}: {square}" for i in range(3))
    return (f"func.func @main(%x: {square}{weights}, %up: {wide}, "
            f"%down: tensor<256x64xf32>) -> {square} {{\n" + "\n".join(lines) +
            f"\n  return {value} : {square}\n}}\n")


def ask(*words, code=0, **more):
    done = subprocess.run([SINTER, *map(str, words)], capture_output=True,
                          text=True, timeout=120, **more)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout + done.stderr


class Page(html.parser.HTMLParser):
    """The elements of a page, and the text of its data."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.data = [], [], ""
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self.inside = dict(attributes).get("id") if tag == "script" else None

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "data":
            self.data += data

    def report(self):
        return json.loads(self.data)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.holder.name)
        cls.model = cls.folder / "net.mlir"
        cls.model.write_text(MODEL)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def write(self, model, *flags, name="page.html"):
        page = self.folder / name
        self.assertEqual(ask("report", model, "--html", page, *flags), "")
        return page

    def read(self, model, *flags):
        return Page(self.write(model, *flags).read_text()).report()


class Data(Case):
    def test_agrees_with_explain(self):
        program = self.read(self.model)["programs"][0]
        explained = json.loads(ask("explain", self.model, "--json"))
        steps = [step for step in program["steps"] if step["kind"] == "launch"]
        kernels = program["kernels"]
        self.assertEqual(
            [{"kernel": kernels[step["kernel"]]["name"],
              "kind": kernels[step["kernel"]]["kind"],
              "nodes": step["nodes"]} for step in steps],
            explained["launches"])
        self.assertEqual(program["totals"]["launches"], len(steps))
        self.assertEqual(program["totals"]["launched"], len(steps))
        self.assertTrue(explained["decisions"])
        for own, other in zip(program["decisions"], explained["decisions"],
                              strict=True):
            self.assertAlmostEqual(own.pop("est_us"), other.pop("est_us"), 2)
            self.assertEqual(own, other)
        for accepted, total in ((True, "saved_bytes"), (False, "lost_bytes")):
            self.assertEqual(program["totals"][total], sum(
                each["bytes"] for each in program["decisions"]
                if each["accepted"] == accepted))

    def check_memory(self, *flags):
        program = self.read(self.model, *flags)["programs"][0]
        text = ask("inspect", self.model, "--memory", *flags)
        found = re.search(r"^peak (\d+) bytes: (\d+) of inputs, (\d+) of "
                          r"outputs, (\d+) of temporaries", text, re.M)
        totals = program["totals"]
        self.assertEqual(
            [int(number) for number in found.groups()],
            [totals[name] for name in ("peak_bytes", "input_bytes",
                                       "output_bytes", "arena_bytes")])
        self.assertEqual(len(program["memory"]["live"]), len(program["steps"]))
        for buffer in program["buffers"]:
            if buffer["role"] == "temporary":
                self.assertLessEqual(buffer["offset"] + buffer["bytes"],
                                     totals["arena_bytes"])
                self.assertIn(f"buffer {buffer['name']}:", text)
        return program

    def test_agrees_with_inspect(self):
        self.check_memory()
        dynamic = ["--dynamic", "x:0=rows"]
        small = self.check_memory(*dynamic)
        large = self.check_memory(*dynamic, "--dim", "s0=64")
        self.assertEqual(small["dims"], ["s0 = 4"])
        self.assertEqual(large["dims"], ["s0 = 64"])
        self.assertEqual(large["totals"]["flops"],
                         16 * small["totals"]["flops"])

    def test_stages(self):
        program = self.read(self.model)["programs"][0]
        self.assertEqual([stage["name"] for stage in program["stages"]], STAGES)
        for stage in program["stages"]:
            packed = base64.b64decode(stage["packed"])
            text = zlib.decompress(packed, -15).decode()
            self.assertEqual(len(text), stage["bytes"])
            self.assertEqual(text, ask("inspect", self.model, "--stage",
                                       stage["name"]))

    def test_edges_are_buffers(self):
        program = self.read(self.model)["programs"][0]
        self.assertTrue(program["edges"])
        for source, target, buffer in program["edges"]:
            self.assertLess(source, target)
            self.assertIn(buffer, program["steps"][source]["writes"])
            self.assertIn(buffer, program["steps"][target]["reads"])

    def test_files(self):
        file = self.folder / "net.sinter"
        ask("compile", self.model, "-o", file)
        program = self.read(file)["programs"][0]
        self.assertTrue(all("packed" in each for each in program["stages"]))
        self.assertEqual([port["from"] for port in program["inputs"]],
                         ["given", "given"])
        self.assertIn("matmul", program["ops"])

    def test_without_compiler(self):
        """Of a file everything but the stages."""
        libraries = [each for each in (SINTER.parents[1] / "lib").glob("*.so*")
                     if "compiler" not in each.name]
        if not libraries:
            self.skipTest("the compiler is part of the tool")
        for name in ("bin", "lib"):
            (self.folder / name).mkdir()
        for each in libraries:
            (self.folder / "lib" / each.name).symlink_to(each)
        own = shutil.copy(SINTER, self.folder / "bin" / "sinter")
        file, page = self.folder / "net.sinter", self.folder / "page.html"
        ask("compile", self.model, "-o", file)
        whole = self.read(file)["programs"][0]
        environment = {**os.environ,
                       "LD_LIBRARY_PATH": str(self.folder / "lib")}
        subprocess.run([own, "report", file, "--html", page], check=True,
                       env=environment)
        program = Page(page.read_text()).report()["programs"][0]
        self.assertEqual([each["name"] for each in program["stages"]], STAGES)
        for stage in program["stages"]:
            self.assertIn("no compiler", stage["problem"])
        for name in ("kernels", "steps", "buffers", "decisions", "totals"):
            self.assertEqual(program[name], whole[name])

    def test_dims_that_do_not_fit(self):
        """The page says so, and shows the rest."""
        program = self.read(self.model, "--dynamic", "x:0=rows", "--dim",
                            f"s0={2**31 - 1}")["programs"][0]
        self.assertIn("2^31 elements or more", program["problem"])
        self.assertIsNone(program["memory"])
        self.assertNotIn("peak_bytes", program["totals"])
        self.assertTrue(program["kernels"])

    def test_loops_and_other_compilers(self):
        """Of a file that this compiler did not make."""
        file = sorted(FORMATS.glob("v*-program.sinter"))[-1]
        program = self.read(file)["programs"][0]
        for stage in program["stages"]:
            self.assertIn("made by compiler", stage["problem"])
        loops = [number for number, step in enumerate(program["steps"])
                 if step["kind"] == "loop"]
        inside = [step for step in program["steps"] if step["in"] == loops[0]]
        self.assertTrue(inside)
        for step in inside:
            self.assertGreater(step["times"], 1)

    def test_twelve_layers_are_small(self):
        model = self.folder / "layers.mlir"
        model.write_text(layers(12))
        page = self.write(model)
        self.assertLess(page.stat().st_size, 5_000_000)
        program = Page(page.read_text()).report()["programs"][0]
        self.assertGreater(program["totals"]["launches"], 5 * 12)

    def test_same_bytes(self):
        first = self.write(self.model, name="a.html").read_bytes()
        self.assertEqual(first, self.write(self.model, name="b.html").read_bytes())
        self.assertEqual(first.decode(), ask("report", self.model, "--html", "-"))

    def test_measured(self):
        program = self.read(self.model, "--run", "--repeat", "2")["programs"][0]
        measured = program["measured"]
        self.assertEqual(measured["device"], "cpu")
        self.assertGreater(measured["bytes_per_s"], 0)
        self.assertGreater(measured["flops_per_s"], 0)
        for step in program["steps"]:
            self.assertGreaterEqual(step["us"], 0)
        self.assertIsNone(self.read(self.model)["programs"][0]["measured"])

    def test_errors(self):
        page = self.folder / "kept.html"
        page.write_text("kept")
        for words, code, said in (
                ([self.model], 2, "--html FILE"),
                ([self.folder / "none.mlir", "--html", page], 1, "No such file"),
                ([self.folder / "net.txt", "--html", page], 1, "a model is"),
                ([self.model, "--html", page, "--target", "pdp11"], 1, "pdp11"),
                ([self.model, "--html", page, "--repeat", "x"], 2, "--repeat"),
                ([self.model, "--html", page, "--dim", "q"], 1, "--dim"),
                ([self.model, "--html", self.folder / "no" / "x.html"], 1, "no")):
            self.assertIn(said, ask("report", *words, code=code))
            self.assertEqual(page.read_text(), "kept")


class Contents(Case):
    def test_loads_nothing(self):
        text = self.write(self.model).read_text()
        page = Page(text)
        for name, value in page.attributes:
            self.assertNotIn(name, {"src", "href", "srcset", "action"}, value)
        self.assertLessEqual(set(page.tags) & {"link", "img", "iframe", "object"},
                             set())
        # The name of SVG's elements alone.
        self.assertEqual(set(re.findall(r"https?://[^\s'\"]+", text)),
                         {"http://www.w3.org/2000/svg"})
        for word in ("@import", "url(", "fetch(", "XMLHttpRequest", "innerHTML",
                     "eval(", "document.write"):
            self.assertNotIn(word, text)
        self.assertIn("default-src 'none'", text)

    def test_hostile_names(self):
        model = self.folder / "hostile.mlir"
        model.write_text(HOSTILE_MODEL)
        text = self.write(model).read_text()
        page, plain = Page(text), Page(self.write(self.model).read_text())
        self.assertEqual(page.tags, plain.tags)
        for letter in "\u2028\u2029\u202e":
            self.assertNotIn(letter, text)
        program = page.report()["programs"][0]
        self.assertEqual(program["inputs"][0]["name"], HOSTILE)


@unittest.skipUnless(CHROMIUM, "not run: there is no chromium")
class Browser(Case):
    def show(self, page, size, *flags):
        """What the probe saw, and the title at the end."""
        probed = self.folder / "probed.html"
        probed.write_text(page.read_text().replace(
            "</body>", f"<script>{PROBE.read_text()}</script></body>"))
        done = subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={self.folder / 'browser'}",
             "--virtual-time-budget=10000", f"--window-size={size}", *flags,
             f"--screenshot={self.folder / 'shot.png'}", "--dump-dom",
             probed.as_uri()],
            capture_output=True, text=True, timeout=60)
        self.assertNotIn("data-error=", done.stdout.split("<head>")[0])
        shown = re.search(r'data-seen="([^"]*)"', done.stdout)
        self.assertTrue(shown, done.stdout[:300] + done.stderr)
        title = re.search(r"<title>(.*?)</title>", done.stdout).group(1)
        return json.loads(html.unescape(shown.group(1))), title

    def check(self, seen, program):
        totals = program["totals"]
        self.assertEqual(seen["totals"]["Kernels"], str(totals["kernels"]))
        self.assertEqual(seen["totals"]["Launches"], str(totals["launches"]))
        self.assertEqual(seen["boxes"], len(program["steps"]))
        self.assertEqual(seen["decisions"], len(program["decisions"]))
        self.assertEqual(seen["filtered"], 0)
        self.assertGreater(seen["points"], 0)
        self.assertGreater(seen["slots"], 0)
        self.assertGreaterEqual(seen["links"], len(program["edges"]))
        self.assertRegex(seen["matches"], r"^1 of \d+$")
        self.assertRegex(seen["second"], r"^2 of \d+$")
        self.assertEqual(seen["none"], "not found")
        self.assertGreater(seen["marks"], 0)
        self.assertRegex(seen["counts"][0], r"^import \(\d+\)$")
        self.assertIn("READS", seen["details"].upper())
        self.assertEqual(seen["chosen"], "1")
        self.assertEqual(seen["wide"], [])

    def test_light_and_dark(self):
        page = self.write(self.model)
        program = Page(page.read_text()).report()["programs"][0]
        light, title = self.show(page, "1280,900")
        self.check(light, program)
        self.assertIn("net.mlir", title)
        dark, _ = self.show(page, "500,800", "--force-dark-mode",
                            "--blink-settings=preferredColorScheme=0")
        self.check(dark, program)
        self.assertEqual((light["theme"], light["other"]), ("light", "dark"))
        self.assertEqual((dark["theme"], dark["other"]), ("dark", "light"))
        self.assertNotEqual(light["back"], dark["back"])
        self.assertNotEqual(light["text"], dark["text"])
        self.assertLess(dark["width"], 600)

    def test_other_variant(self):
        """A file of another one than its stages are made again for."""
        file = self.folder / "scalar.sinter"
        ask("compile", self.model, "-o", file, "--target", "cpu:scalar")
        for words, isOther in ([], True), (["--target", "cpu:scalar"], False):
            seen, _ = self.show(self.write(file, *words), "1280,900")
            self.assertEqual("another variant" in seen["note"], isOther)

    def test_hostile_names(self):
        model = self.folder / "hostile.mlir"
        model.write_text(HOSTILE_MODEL)
        seen, title = self.show(self.write(model), "1280,900")
        self.assertIn("hostile.mlir", title)
        self.assertIn("<img src=x", seen["details"])


if __name__ == "__main__":
    if not CHROMIUM:
        print("not run: there is no chromium")
    unittest.main(verbosity=2)
