#!/usr/bin/env python3
"""Counts the objects that a new elementwise op builds again.

usage: rebuild.py BUILD [--limit N] [--verbose]

BUILD is a build folder of Ninja's, up to date. For each file of elementwise
ops the records get a throw-away op in a copy, the generators run on that copy,
and every object that read what changed is counted. More than N, by default
100, is a failure: a header that many include has come to list ops.
"""

import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAMILIES = ["Elementwise", "Math", "Activations"]
OP = """
def Sinter_ThrowawayOp : Sinter_FloatUnary<"throwaway"> {
  let summary = "Elementwise x, by another name.";
}
"""
RULES = """
def : Gradient<Sinter_ThrowawayOp, [(identity $grad)]>;
def : Scalar<Sinter_ThrowawayOp, (Arith_AddFOp $x, $x)>;
def : Names<Sinter_ThrowawayOp, "", "">;
"""
# Changes with every source of the compiler, the records among them.
DIGEST = "SourceDigest.h"


def generators(build):
    """The TableGen commands of a build, as lists of arguments."""
    listing = subprocess.run(["ninja", "-C", build, "-t", "commands",
                              "sinter-tables", "mlir-tables"],
                             capture_output=True, text=True, check=True).stdout
    found = []
    for line in listing.splitlines():
        for command in line.split(" && "):
            if re.match(r"\S*/(sinter|mlir)-tblgen ", command):
                found.append(shlex.split(command))
    return found


def add_op(root, family):
    """Puts the throw-away op into the records below `root`."""
    path = root / f"dialects/sinter/ops/{family}.td"
    text = path.read_text()
    at = text.rindex("#endif")
    path.write_text(text[:at] + OP + "\n" + text[at:])
    path = root / "dialects/sinter/MathLowerings.td"
    path.write_text(path.read_text() + RULES)


def generate(command, copy, output):
    """Runs a generator on the copied records."""
    arguments = []
    skip = False
    for argument in command:
        if skip:
            skip = False
        elif argument in ("-d", "-o"):
            skip = True
        elif argument != "--write-if-changed":
            arguments.append(argument.replace(str(ROOT / "dialects"),
                                              str(copy / "dialects"), 1)
                             if not argument.endswith("tblgen")
                             else argument)
    # Records include each other from the repository's root.
    arguments = [str(copy) if a == str(ROOT) else a for a in arguments]
    subprocess.run(arguments + ["-o", str(output)], check=True,
                   cwd=copy / "dialects/sinter")


def changed(commands, family):
    """The generated files that a new op of the family changes."""
    files = []
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        shutil.copytree(ROOT / "dialects", copy / "dialects")
        add_op(copy, family)
        for command in commands:
            now = pathlib.Path(command[command.index("-o") + 1])
            generate(command, copy, copy / "output")
            if now.read_bytes() != (copy / "output").read_bytes():
                files.append(str(now))
    return files


def readers(build):
    """For each object, what was read to make it."""
    listing = subprocess.run(["ninja", "-C", build, "-t", "deps"],
                             capture_output=True, text=True, check=True).stdout
    result = {}
    for line in listing.splitlines():
        if line.startswith("    "):
            result[target].add(str((pathlib.Path(build) / line.strip())
                                   .resolve()))
        elif ": #deps" in line:
            target = line.split(":")[0]
            result[target] = set()
    return {name: read for name, read in result.items()
            if name.endswith(".o")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    build = str(pathlib.Path(options.build).resolve())
    commands = [c for c in generators(build) if "dialects/sinter" in str(c)]
    objects = readers(build)
    failed = not commands or not objects
    for family in FAMILIES:
        files = changed(commands, family)
        files.append(f"{build}/generated/sinter/generated/{DIGEST}")
        hit = sorted(name for name, read in objects.items()
                     if read.intersection(files))
        print(f"{family}.td: {len(hit)} of {len(objects)} objects")
        if options.verbose:
            print("\n".join(f"  {name}" for name in files + hit))
        failed = failed or not hit or len(hit) > options.limit
    if failed:
        print(f"error: a new elementwise op builds more than {options.limit} "
              "objects again, or none is known; --verbose lists them")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
