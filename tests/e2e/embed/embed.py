#!/usr/bin/env python3
"""Programs that hold a model, built as the documentation says.

usage: embed.py BUILD MODEL IMAGES CC CXX

  BUILD   the build folder; MODEL is what 02_digits exports, IMAGES its table

Builds 08_embedded in every way: from an object and an archive, with the whole and
the minimal runtime, shared and static, for this processor and for ARM, where its
compiler and qemu-user are here ("not run" says so). Checks sizes, that a run
allocates nothing, and that both processors give the same bits.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXAMPLE = ROOT / "examples/08_embedded/main.c"
INCLUDES = [f"-I{ROOT}/runtime/include"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
MOST_SHARED, MOST_STATIC = 1_000_000, 3_000_000  # bytes of text and data


def run(*command, stdin=None, **options):
    """The output; what fails ends the test."""
    done = subprocess.run([str(word) for word in command], text=True,
                          stdin=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def build(folder, name, compiler, *words):
    """A program in its own words, which are printed as they are typed."""
    command = [compiler, "-O2", *INCLUDES, "-I.", *words, "-o", name]
    print("$", " ".join(str(word).replace(str(ROOT) + "/", "")
                        for word in command))
    run(*command, cwd=folder)
    return folder / name


def bytes_of(program):
    """Text and data, of `size`."""
    text, data = run("size", program).splitlines()[1].split()[:2]
    return int(text) + int(data)


def needed(program):
    return sorted(re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "-d", program)))


class Test:
    def __init__(self, folder, build_folder, model, images, compilers):
        self.folder = folder
        self.build = build_folder
        self.tool = build_folder / "bin/sinter"
        self.model = model
        self.images = images
        self.cc, self.cxx = compilers
        self.archive = build_folder / "lib/libsinter-runtime.a"
        os.environ["SINTER_CACHE_DIR"] = str(folder / "cache")

    def digits(self, *command):
        with open(self.images, encoding="ascii") as images:
            return run(*command, stdin=images)

    def embed(self, output):
        run(self.tool, "embed", "one.sinter", "-o", output, "--size",
            "images=1", cwd=self.folder)

    def expect(self, output, expected, program):
        if output != expected:
            sys.exit(f"error: {program} printed {output!r}, not {expected!r}")

    def check_size(self, program, most):
        size = bytes_of(program)
        print(f"  {size} bytes of text and data, at most {most}; "
              f"needs {', '.join(needed(program)) or 'no library'}")
        if size > most:
            sys.exit("error: it is larger")

    def minimal(self, name, *flags):
        folder = self.folder / name
        run("cmake", "-S", ROOT, "-B", folder, "-DSINTER_RUNTIME_MINIMAL=ON",
            "-DCMAKE_BUILD_TYPE=Release", *flags)
        run("cmake", "--build", folder)
        return folder / "lib/libsinter-runtime.a"

    def headers(self):
        """As C and C++, with strict warnings."""
        for compiler, suffix in ((self.cc, "c"), (self.cxx, "cpp")):
            source = self.folder / f"header.{suffix}"
            source.write_text('#include "digits.h"\n')
            run(compiler, *STRICT, *INCLUDES, "-fsyntax-only", source,
                cwd=self.folder)

    def here(self):
        run(self.tool, "compile", self.model, "-o", "one.sinter", "--target",
            "cpu:x86-64-v3", cwd=self.folder)
        self.embed("digits.o")
        self.headers()
        minimal = self.minimal("minimal", f"-DCMAKE_CXX_COMPILER={self.cxx}",
                               f"-DCMAKE_C_COMPILER={self.cc}")
        ways = {"whole": [self.archive], "minimal": [minimal],
                "static": [minimal, "-static"]}
        expected = None
        for name, words in ways.items():
            program = build(self.folder, f"digits-{name}", self.cc, *STRICT, EXAMPLE,
                            "digits.o", *words)
            output = self.digits(program)
            expected = expected or output
            self.expect(output, expected, name)
            self.check_size(program,
                            MOST_STATIC if name == "static" else MOST_SHARED)
        print(" ", expected.strip())
        right, count = map(int, re.findall(r"\d+", expected)[:2])
        if right < 0.97 * count:
            sys.exit("error: too few digits are right")
        self.embed("digits.a")
        program = build(self.folder, "archived", self.cc, EXAMPLE, "digits.a",
                        minimal)
        self.expect(self.digits(program), expected, "archived")
        program = build(self.folder, "counted", self.cc, HERE / "counted.c",
                        "digits.o", minimal)
        print(" ", self.digits(program).strip())
        program = build(self.folder, "threads", self.cxx, "-x", "c",
                        HERE / "threads.c", "-x", "none", "digits.o",
                        self.archive, "-pthread")
        print(" ", self.digits(program).strip())

    def bits(self, target, compiler, runtime, *runner):
        """What a model of many kinds of work gives, as text of its bits."""
        folder = self.folder / target.replace(":", "-").replace("+", "-")
        folder.mkdir()
        print("$ sinter compile bits.mlir -o bits.o --emit object "
              f"--numerics exact --target {target}")
        run(self.tool, "compile", HERE / "bits.mlir", "-o", "bits.o", "--emit",
            "object", "--numerics", "exact", "--target", target, cwd=folder)
        program = build(folder, "bits", compiler, HERE / "bits.c", "bits.o",
                        runtime, "-static")
        return run(*runner, program)

    def arm(self):
        compiler = shutil.which("aarch64-linux-gnu-gcc")
        emulator = shutil.which("qemu-aarch64")
        if not compiler or not emulator:
            print("not run: there is no aarch64-linux-gnu-gcc or qemu-aarch64")
            return
        runtime = self.minimal(
            "arm", "-DCMAKE_SYSTEM_NAME=Linux",
            "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
            "-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc",
            "-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++")
        here = self.folder / "minimal/lib/libsinter-runtime.a"
        scalar = self.bits("cpu:scalar+fma", self.cc, here)
        arm = self.bits("cpu:aarch64", compiler, runtime, emulator)
        self.expect(arm, scalar, "the program for ARM")
        print(f"  {len(arm.splitlines())} outputs have the same bits")
        folder = self.folder / "digits-arm"
        folder.mkdir()
        run(self.tool, "compile", self.model, "-o", "digits.o", "--emit",
            "object", "--size", "images=1", "--target", "cpu:aarch64",
            cwd=folder)
        program = build(folder, "digits", compiler, EXAMPLE, "digits.o",
                        runtime, "-static")
        print(" ", self.digits(emulator, program).strip())
        self.check_size(program, MOST_STATIC)


def main():
    folder, model, images = map(pathlib.Path, sys.argv[1:4])
    with tempfile.TemporaryDirectory() as scratch:
        test = Test(pathlib.Path(scratch), folder.resolve(), model.resolve(),
                    images.resolve(), sys.argv[4:6])
        test.here()
        test.arm()


if __name__ == "__main__":
    main()
