#!/usr/bin/env python3
"""Checks that includes follow the arrows between the layers.

usage: deps.py [ROOT]

Each rule names a folder or file, the most specific first, and what it may
include of Sinter and of the outside libraries that are restricted. The C++
library and everything not named in OUTSIDE is open to all. Within the runtime
and the compiler each folder is a room, and the rooms stand in an order.
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
                  "runtime/device", "runtime/files", "runtime/support",
                  PUBLIC, GENERATED] + BASE + MLIR),
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

# The rooms of the runtime and the compiler, and which others of the same layer
# each may include: only such as stand before it, so that there are no circles.
# A folder's own files are its room; folders in it are others. What is included
# of other layers, and of public headers by everyone, is for the RULES.
ROOMS = [
    ("runtime/include/sinter/runtime", []),
    ("runtime/include/sinter", []),
    ("runtime/support", []),
    ("runtime/digest", []),
    ("runtime/files", ["runtime/support", "runtime/digest"]),
    ("runtime/memory", ["runtime/support"]),
    ("runtime/params", ["runtime/support", "runtime/files"]),
    ("runtime/params/weights", ["runtime/support", "runtime/files",
                                "runtime/params"]),
    ("runtime/params/weights/gguf", ["runtime/support",
                                     "runtime/params/weights"]),
    ("runtime/params/weights/torch", ["runtime/support", "runtime/files",
                                      "runtime/params",
                                      "runtime/params/weights"]),
    ("runtime/params/weights/packed", ["runtime/support",
                                       "runtime/params/weights",
                                       "runtime/params/weights/torch"]),
    ("runtime/device", ["runtime/support", "runtime/memory"]),
    ("runtime/device/cpu", ["runtime/support", "runtime/files",
                            "runtime/device"]),
    ("runtime/device/cuda", ["runtime/support", "runtime/files",
                             "runtime/memory", "runtime/device"]),
    ("runtime/device/null", ["runtime/device"]),
    ("runtime/device/vulkan", ["runtime/support", "runtime/files",
                               "runtime/memory", "runtime/device"]),
    ("runtime/device/registry", ["runtime/device", "runtime/device/cpu",
                                 "runtime/device/cuda", "runtime/device/null",
                                 "runtime/device/vulkan"]),
    ("runtime/graph", ["runtime/support", "runtime/device"]),
    ("runtime/autodiff/rules", ["runtime/support", "runtime/graph"]),
    ("runtime/autodiff", ["runtime/support", "runtime/graph",
                          "runtime/autodiff/rules"]),
    ("runtime/program", ["runtime/support", "runtime/digest", "runtime/files",
                         "runtime/memory", "runtime/device",
                         "runtime/device/cpu", "runtime/params"]),
    ("runtime/embedded", ["runtime/support", "runtime/device",
                          "runtime/device/cpu"]),
    ("runtime/reference", ["runtime/support", "runtime/files", "runtime/graph",
                           "runtime/params", "runtime/program"]),
    ("runtime/tune", ["runtime/support", "runtime/files", "runtime/device",
                      "runtime/graph", "runtime/program"]),
    ("runtime/trust", ["runtime/support", "runtime/files",
                       "runtime/device/cpu", "runtime/program"]),
    ("runtime/trust/signatures", ["runtime/support", "runtime/files",
                                  "runtime/trust"]),
    ("runtime/model", ["runtime/support", "runtime/files", "runtime/memory",
                       "runtime/device", "runtime/program", "runtime/trust"]),
    ("runtime/capi", ["runtime/support", "runtime/memory", "runtime/device",
                      "runtime/program", "runtime/model"]),
    ("compiler/guard", []),
    ("compiler/import", []),
    ("compiler/link", ["compiler/guard"]),
    ("compiler/math", []),
    ("compiler/target", ["compiler/import", "compiler/math"]),
    ("compiler/target/llvm", []),
    ("compiler/target/simt", ["compiler/target"]),
    ("compiler/target/simt/attention", ["compiler/target",
                                        "compiler/target/simt"]),
    ("compiler/target/cpu", ["compiler/link", "compiler/math",
                             "compiler/target", "compiler/target/llvm"]),
    ("compiler/target/cuda", ["compiler/math", "compiler/target",
                              "compiler/target/llvm", "compiler/target/simt",
                              "compiler/target/simt/attention"]),
    ("compiler/target/vulkan", ["compiler/math", "compiler/target",
                                "compiler/target/simt",
                                "compiler/target/simt/attention"]),
    ("compiler/target/names", ["compiler/target", "compiler/target/cpu",
                               "compiler/target/cuda",
                               "compiler/target/vulkan"]),
    ("compiler/analysis", ["compiler/target"]),
    ("compiler/lower/element", ["compiler/analysis", "compiler/math",
                                "compiler/target"]),
    ("compiler/lower/kernel", ["compiler/analysis", "compiler/target",
                               "compiler/lower/element"]),
    ("compiler/lower/fiber", ["compiler/target", "compiler/lower/element",
                              "compiler/lower/kernel"]),
    ("compiler/lower/reduce", ["compiler/analysis", "compiler/target",
                               "compiler/lower/element",
                               "compiler/lower/kernel"]),
    ("compiler/lower/contraction", ["compiler/analysis", "compiler/target",
                                    "compiler/lower/element",
                                    "compiler/lower/kernel",
                                    "compiler/lower/reduce"]),
    ("compiler/lower/attention", ["compiler/analysis", "compiler/target",
                                  "compiler/lower/element",
                                  "compiler/lower/kernel",
                                  "compiler/lower/contraction"]),
    ("compiler/lower", ["compiler/analysis", "compiler/target",
                        "compiler/lower/element", "compiler/lower/kernel",
                        "compiler/lower/contraction"]),
    ("compiler/fuse", ["compiler/import", "compiler/analysis",
                       "compiler/target", "compiler/lower/kernel",
                       "compiler/lower/reduce",
                       "compiler/lower/contraction"]),
    ("compiler/simplify", ["compiler/import", "compiler/analysis",
                           "compiler/fuse"]),
    ("compiler/plan", ["compiler/import", "compiler/fuse"]),
    ("compiler/package", ["compiler/import", "compiler/analysis",
                          "compiler/target", "compiler/lower/kernel",
                          "compiler/fuse", "compiler/plan"]),
]
LAYERS = ("runtime", "compiler")
# The compiler's own files are in no room: they call all rooms. These are what
# every room may know of it as a whole; they know none.
FACES = {"compiler/Compiler.h", "compiler/Passes.h", "compiler/pch.h"}

# Headers that `sinter embed` writes.
MADE = {"bits.h", "digits.h", "model.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def rule_of(path):
    for place, allowed in RULES:
        if path == place or path.startswith(place + "/"):
            return place, allowed
    return None, None


def room_of(path):
    """The folder that `path` is directly in, if it is a room."""
    folder = path.rpartition("/")[0]
    return next((room for room in ROOMS if room[0] == folder), None)


def check_rooms():
    """Each room may include such alone as stand before it."""
    for number, (room, others) in enumerate(ROOMS):
        before = [name for name, _ in ROOMS[:number]]
        for other in others:
            if other not in before:
                yield f"{room} may not include {other}: it stands behind it"


def layer_of(path):
    return path.partition("/")[0]


def check_folder(path):
    """Every folder with files of a layer is a room."""
    folder = path.rpartition("/")[0]
    if layer_of(path) in LAYERS and folder != "compiler" and not room_of(path):
        yield f"{path}: {folder} is not one of the ROOMS"


def check_room(path, line, target):
    own = ("compiler", []) if path in FACES else room_of(path)
    if not own or layer_of(target) != layer_of(path) or target in FACES:
        return
    other = target.rpartition("/")[0]
    if other != own[0] and other not in own[1]:
        yield f"{path}:{line}: {own[0]} may not include {target}"


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
    yield from check_folder(str(path))
    for match in INCLUDE.finditer(text):
        quote, target = match.groups()
        line = text.count("\n", 0, match.start(2)) + 1
        wrong = list(check_room(str(path), line, target))
        if wrong:
            yield from wrong
        elif restricted(target):
            if not within(target, allowed):
                yield f"{path}:{line}: {place} may not include {target}"
        elif quote == '"' and target not in MADE and \
                not (root / target).is_file():
            yield (f"{path}:{line}: {target} is not a path from the "
                   "repository's root")


def check(root):
    root = pathlib.Path(root)
    problems = list(check_rooms())
    for path in sources.tracked(root, sources.CPP):
        problems += check_file(root, path, sources.read(root, path))
    return problems


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(sources.report("deps", check(sys.argv[1] if sys.argv[1:]
                                          else here)))
