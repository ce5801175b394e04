#!/usr/bin/env python3
"""Weight files on the command line: what `sinter convert` writes and what
`sinter inspect` says, compared with what Python knows of the files.

usage: weights.py SINTER
"""

import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import files

SINTER = pathlib.Path(sys.argv.pop()).resolve()


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


class Weights(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def ask(self, *words, code=0):
        done = subprocess.run(
            [SINTER, *map(str, words)], capture_output=True, text=True,
            cwd=self.folder, timeout=120, check=False)
        self.assertEqual(done.returncode, code, (words, done.stderr))
        return done.stdout + done.stderr

    def checkpoint(self):
        """Two names of one storage, one of them turned."""
        shared = files.Storage("0", [1., 2., 3., 4., 5., 6.])
        own = files.Storage("1", [7., 8.])
        files.write_torch(self.folder / "net.pth", {
            "module.wte": (shared, (2, 3), (3, 1)),
            "module.head": (shared, (2, 3), (3, 1)),
            "module.turned": (shared, (3, 2), (1, 3)),
            "module.bias": (own, (2,), (1,)),
            "steps": (own, (2,), (1,)),
        }, epoch=3)

    def tensors(self):
        tensors = {
            "h.0.w": ("F32", [2, 2], floats(1, 2, 3, 1.00390625)),
            "h.1.w": ("F32", [2, 2], floats(4, 5, 6, 7)),
            "steps": ("I64", [], struct.pack("<q", 9)),
            "mask": ("BOOL", [2], b"\1\0"),
        }
        files.write_safetensors(self.folder / "in.safetensors", tensors,
                                {"made": "here"})
        return tensors

    def test_checkpoint(self):
        self.checkpoint()
        said = self.ask("convert", "net.pth", "out.safetensors",
                        "--top-level-key", "state_dict", "--prefix", "module.",
                        "--rename", "^wte$=embed.weight")
        self.assertIn("head is embed.weight", said)
        self.assertIn("1 left out, without the prefix:\n  state_dict.steps",
                      said)
        tensors, metadata = files.read_safetensors(
            self.folder / "out.safetensors")
        table = floats(1, 2, 3, 4, 5, 6)
        self.assertEqual(tensors, {
            "embed.weight": ("F32", [2, 3], table),
            "head": ("F32", [2, 3], table),
            "turned": ("F32", [3, 2], floats(1, 4, 2, 5, 3, 6)),
            "bias": ("F32", [2], floats(7, 8)),
        })
        self.assertEqual(metadata["format"], "pt")
        self.ask("convert", "net.pth", "out.safetensors", "--top-level-key",
                 "state_dict", "--prefix", "module.", "--drop-ties")
        tensors, metadata = files.read_safetensors(
            self.folder / "out.safetensors")
        self.assertEqual(sorted(tensors), ["bias", "turned", "wte"])
        self.assertEqual(metadata["head"], "wte")

    def test_same_bytes(self):
        wanted = self.tensors()
        self.ask("convert", "in.safetensors", "out.safetensors")
        tensors, metadata = files.read_safetensors(
            self.folder / "out.safetensors")
        self.assertEqual(tensors, wanted)
        self.assertEqual(metadata["made"], "here")
        self.ask("convert", "in.safetensors", "out.npz", "--only", "^h")
        arrays = files.read_npz(self.folder / "out.npz")
        self.assertEqual(sorted(arrays), ["h.0.w", "h.1.w"])
        header, data = arrays["h.1.w"]
        self.assertIn("'<f4'", header)
        self.assertIn("(2, 2)", header)
        self.assertEqual(data, wanted["h.1.w"][2])
        # And back.
        self.ask("convert", "out.npz", "back.safetensors")
        tensors, _ = files.read_safetensors(self.folder / "back.safetensors")
        self.assertEqual(tensors["h.0.w"], wanted["h.0.w"])

    def test_dtype(self):
        self.tensors()
        said = self.ask("convert", "in.safetensors", "out.safetensors",
                        "--dtype", "bf16")
        self.assertIn("2 tensors were cast", said)
        tensors, _ = files.read_safetensors(self.folder / "out.safetensors")
        # Half way, to the even one.
        self.assertEqual(tensors["h.0.w"][0], "BF16")
        self.assertEqual(tensors["h.0.w"][2],
                         b"\x80\x3f\x00\x40\x40\x40\x80\x3f")
        self.assertEqual(tensors["steps"][0], "I64")

    def test_shards(self):
        wanted = self.tensors()
        said = json.loads(self.ask("convert", "in.safetensors",
                                   "out.safetensors", "--shard", "20",
                                   "--json"))
        index = json.loads(
            (self.folder / "out.safetensors.index.json").read_text())
        self.assertEqual(said["files"][-1], "out.safetensors.index.json")
        self.assertEqual(index["metadata"]["total_size"], 42)
        self.assertFalse((self.folder / "out.safetensors").exists())
        places = index["weight_map"]
        self.assertEqual(sorted(places), sorted(wanted))
        for name, place in places.items():
            self.assertRegex(place, r"^out-0000\d-of-0000\d\.safetensors$")
            tensors, _ = files.read_safetensors(self.folder / place)
            self.assertEqual(tensors[name], wanted[name])
            self.assertLessEqual(
                sum(len(data) for _, _, data in tensors.values()), 20)
        # And together again.
        self.ask("convert", "out.safetensors.index.json", "one.safetensors")
        tensors, _ = files.read_safetensors(self.folder / "one.safetensors")
        self.assertEqual(tensors, wanted)
        for words in (["out.safetensors", "--shard", "20"],
                      [places["mask"]]):
            self.assertIn("is a file of the input", self.ask(
                "convert", "out.safetensors.index.json", *words, code=1))

    def test_refusals(self):
        self.tensors()
        before = (self.folder / "in.safetensors").read_bytes()
        os.symlink("in.safetensors", self.folder / "link.safetensors")
        for out in ("in.safetensors", "./in.safetensors", "link.safetensors"):
            self.assertIn("is a file of the input",
                          self.ask("convert", "in.safetensors", out, code=1))
        for words, what in (
                (["out.bin"], "a .safetensors or .npz file"),
                (["out.npz", "--shard", "1KB"], "shards are"),
                (["out.npz", "--prefix", "x."], "no tensor is left"),
                (["out.npz", "--top-level-key", "x"], "no tensor below 'x'"),
                (["out.npz", "--rename", ".*w=w"], "are both 'w'"),
                (["out.npz", "--only", "("], "pattern '('"),
                (["no/out.npz"], "no/out.npz")):
            self.assertIn(what, self.ask("convert", "in.safetensors", *words,
                                         code=1))
        for words, what in ((["--rename", "x"], "REGEX=REPL"),
                            (["--shard", "5 apples"], "a size"),
                            (["--shard", "0"], "a size"),
                            (["--dtype", "i32"], "a float's name")):
            self.assertIn(what, self.ask("convert", "in.safetensors",
                                         "out.npz", *words, code=2))
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["in.safetensors", "link.safetensors"])
        self.assertEqual((self.folder / "in.safetensors").read_bytes(), before)
        self.assertIn("missing.pt",
                      self.ask("convert", "missing.pt", "out.npz", code=1))

    def test_bools(self):
        files.write_safetensors(self.folder / "in.safetensors", {
            "mask": ("BOOL", [2], b"\1\2")})
        for out in ("out.safetensors", "out.npz"):
            self.assertIn("neither 0 nor 1", self.ask(
                "convert", "in.safetensors", out, code=1))
            self.assertFalse((self.folder / out).exists())

    def test_ties_are_written_under_each_name(self):
        shared = files.Storage("0", [1., 2.])
        files.write_torch(self.folder / "net.pth", {
            f"t{i}": (shared, (2,), (1,)) for i in range(100)})
        self.ask("convert", "net.pth", "out.npz")
        arrays = files.read_npz(self.folder / "out.npz")
        self.assertEqual(len(arrays), 100)
        self.assertEqual({data for _, data in arrays.values()},
                         {floats(1, 2)})

    def test_inspect(self):
        self.checkpoint()
        text = self.ask("inspect", "net.pth")
        self.assertRegex(text, r"^torch zip: 5 tensors, ")
        self.assertRegex(text, r"  state_dict\.module\.head +f32\[2,3\] +24  "
                               r"tied to state_dict\.module\.wte\n")
        self.assertIn("  epoch: 3\n", text)

        wanted = self.tensors()
        said = json.loads(self.ask("inspect", "in.safetensors", "--json"))
        self.assertEqual(said["format"], "safetensors")
        self.assertEqual(said["metadata"], [["made", "here"]])
        self.assertEqual(said["bytes"], 42)
        for each in said["tensors"]:
            dtype, shape, data = wanted[each["name"]]
            self.assertEqual((each["type"], each["shape"], each["bytes"]),
                             (dtype, shape, len(data)))
            self.assertNotIn("sha256", each)
        self.assertIn("--json and --sha256 are of weights", self.ask(
            "inspect", "x.mlir", "--json", code=2))

    def test_digests(self):
        wanted = self.tensors()
        done = subprocess.run(
            [SINTER, "inspect", "in.safetensors", "--json", "--sha256"],
            capture_output=True, text=True, cwd=self.folder, check=False)
        if "no signatures" in done.stderr:
            self.skipTest("built without libsodium")
        for each in json.loads(done.stdout)["tensors"]:
            data = wanted[each["name"]][2]
            self.assertEqual(each["sha256"], hashlib.sha256(data).hexdigest())

    def test_names_do_not_steer_a_terminal(self):
        files.write_safetensors(self.folder / "in.safetensors", {
            "\033[31m\n": ("F32", [1], floats(1))}, {"\033": "\033]0;x\7"})
        for words in (["inspect", "in.safetensors"],
                      ["inspect", "in.safetensors", "--json"],
                      ["convert", "in.safetensors", "out.npz"],
                      ["convert", "in.safetensors", "out.npz", "--prefix", "x",
                       "--only", "y"]):
            done = subprocess.run([SINTER, *words], capture_output=True,
                                  cwd=self.folder, check=False)
            self.assertNotIn(b"\033", done.stdout + done.stderr)

    def test_quantized(self):
        # Q8_0: a scale and 32 signed bytes.
        block = struct.pack("<e", 0.5) + struct.pack("32b", *range(-16, 16))
        files.write_gguf(self.folder / "in.gguf", "w", [2, 32], block * 2, 8)
        text = self.ask("inspect", "in.gguf")
        self.assertIn("Q8_0[2,32]", text)
        self.assertIn("general.architecture: none", text)
        said = self.ask("convert", "in.gguf", "out.safetensors")
        self.assertIn("1 quantized tensors became floats", said)
        tensors, _ = files.read_safetensors(self.folder / "out.safetensors")
        row = [value / 2 for value in range(-16, 16)]
        self.assertEqual(tensors["w"], ("F32", [2, 32], floats(*row, *row)))


if __name__ == "__main__":
    unittest.main(verbosity=1)
