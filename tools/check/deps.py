#!/usr/bin/env python3
"""Checks that includes follow the arrows between the layers.

usage: deps.py [ROOT]

Each rule names a folder or file, the most specific first, and what it may
include of Sinter and of the outside libraries that are restricted. The C++
library and everything not named in OUTSIDE is open to all.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sources  # noqa: E402

MLIR = ["mlir", "llvm", "llvm-c", "lld"]
OUTSIDE = MLIR + ["fmt", "flatbuffers", "xxhash.h", "zlib.h", "gtest", "gmock",
                  "benchmark", "rapidcheck.h", "rapidcheck", "sodium.h",
                  "nlohmann", "CLI", "png.h", "turbojpeg.h", "sqlite3.h",
                  "oniguruma.h", "utf8proc.h"]
BASE = ["fmt", "flatbuffers", "xxhash.h"]
GENERATED = "sinter/generated"
# The runtime's part of what users may include.
PUBLIC = "sinter/runtime"
VERSION = "sinter/version.h"
C_API = "sinter/c_api.h"

# (folder or file, what it may include). The first that matches counts.
RULES = [
    # Public headers need the C++ library and each other alone.
    ("runtime/include/sinter/c_api.h", []),
    ("runtime/include/sinter/model.h", [C_API]),
    ("runtime/include/sinter/embedded.h", [C_API]),
    ("runtime/include", [PUBLIC]),
    ("runtime/params", ["runtime", PUBLIC, GENERATED, "zlib.h"] + BASE),
    ("runtime/trust/signatures", ["runtime", PUBLIC, "sodium.h"] + BASE),
    ("runtime/embedded", ["runtime", C_API, "sinter/embedded.h"]),
    ("runtime/capi", ["runtime", PUBLIC, VERSION, C_API] + BASE),
    ("runtime", ["runtime", PUBLIC, VERSION, GENERATED] + BASE),
    # Verifiers call the shape rules that the graph builders call.
    ("dialects", ["dialects", "runtime/graph", "runtime/support", PUBLIC,
                  GENERATED] + MLIR),
    ("compiler/Compiler.h", ["runtime", PUBLIC]),
    ("compiler", ["compiler", "dialects", "runtime/graph", "runtime/program",
                  "runtime/device", "runtime/support", PUBLIC, GENERATED]
     + BASE + MLIR),
    ("frontend/include", ["sinter"]),
    # libsinter-data: what reads other people's data.
    ("frontend/datasets", ["frontend", "sinter", "runtime", "nlohmann",
                           "png.h", "turbojpeg.h", "sqlite3.h"] + BASE),
    ("frontend/transforms", ["frontend", "sinter", "runtime"] + BASE),
    ("frontend/tokenizers", ["frontend", "sinter", "runtime", "nlohmann",
                             "oniguruma.h", "utf8proc.h"] + BASE),
    ("frontend/record", ["frontend", "sinter", "runtime", "nlohmann",
                         "zlib.h"] + BASE),
    ("frontend/monitor", ["frontend", "sinter", "runtime", "nlohmann"] + BASE),
    ("frontend/config", ["frontend", "sinter", "runtime", "nlohmann", "CLI"]
     + BASE),
    ("frontend", ["frontend", "sinter", "runtime", "compiler/Compiler.h"]
     + BASE),
    ("tools/sinter-tblgen", ["tools/sinter-tblgen"] + MLIR),
    ("tools", ["tools", "frontend", "sinter", "runtime",
               "compiler/Compiler.h", "benchmark"] + BASE),
    ("examples", ["examples", "sinter"]),
    ("tests", ["tests", "tools", "frontend", "sinter", "runtime", "compiler",
               "dialects", GENERATED] + OUTSIDE),
]

# Headers that `sinter embed` writes.
MADE = {"bits.h", "digits.h", "model.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def rule_of(path):
    for place, allowed in RULES:
        if path == place or path.startswith(place + "/"):
            return place, allowed
    return None, None


def within(target, places):
    return any(target == p or target.startswith(p + "/") for p in places)


def restricted(target):
    """Whether `target` is Sinter's own or one of the libraries with a rule."""
    own = [place for place, _ in RULES] + ["compiler", "sinter"]
    return within(target, own + OUTSIDE)


def check_file(root, path, text):
    place, allowed = rule_of(str(path))
    if not place:
        return
    for match in INCLUDE.finditer(text):
        quote, target = match.groups()
        line = text.count("\n", 0, match.start(2)) + 1
        if restricted(target):
            if not within(target, allowed):
                yield f"{path}:{line}: {place} may not include {target}"
        elif quote == '"' and target not in MADE and \
                not (root / target).is_file():
            yield (f"{path}:{line}: {target} is not a path from the "
                   "repository's root")


def check(root):
    root = pathlib.Path(root)
    problems = []
    for path in sources.tracked(root, sources.CPP):
        problems += check_file(root, path, sources.read(root, path))
    return problems


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(sources.report("deps", check(sys.argv[1] if sys.argv[1:]
                                          else here)))
