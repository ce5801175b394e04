#!/usr/bin/env python3
"""Compares the interfaces that everything stands on with their record.

usage: frozen.py [--accept] [ROOT]

The record of an interface is the text of its files without comments and
layout, in tests/checks/frozen. A difference fails: when it is meant, --accept
writes the record anew, and the commit says what changed for whom.
"""

import difflib
import pathlib
import re
import sys

PUBLIC = "runtime/include/sinter/runtime"
INTERFACES = {
    "recording": [f"{PUBLIC}/DType.h", f"{PUBLIC}/Dim.h", f"{PUBLIC}/Graph.h",
                  "runtime/graph/Key.h", f"{PUBLIC}/Node.h",
                  "runtime/support/Key.h", "runtime/program/ProgramCache.h"],
    "emitter": ["compiler/lower/element/ElementSource.h",
                "compiler/lower/element/Emission.h",
                "compiler/lower/kernel/EmitKernel.h",
                "compiler/target/Target.h"],
    "program": ["runtime/program/program.fbs", "runtime/device/KernelAbi.h",
                "runtime/program/CompilerHook.h", "compiler/Compiler.h"],
    "device": [f"{PUBLIC}/DeviceId.h", "runtime/device/WorkGraph.h",
               "runtime/device/Device.h", f"{PUBLIC}/Buffer.h"],
}
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)


def declarations(text):
    """The text without comments, layout and includes, a statement a line."""
    text = COMMENT.sub(lambda m: m.group(1) or "", text)
    text = re.sub(r"^\s*#\s*(include|pragma)\b.*$", "", text, flags=re.M)
    text = " ".join(text.split())
    return re.sub(r"([;{}]) ?", r"\1\n", text)


def current(root, files):
    parts = []
    for file in files:
        path = pathlib.Path(root) / file
        text = declarations(path.read_text()) if path.exists() else "absent\n"
        parts.append(f"==== {file}\n{text.rstrip()}\n")
    return "".join(parts)


def check(root, accept=False):
    """Differences of each interface from its record, as printable lines."""
    folder = pathlib.Path(root) / "tests/checks/frozen"
    found = []
    for name, files in INTERFACES.items():
        now, record = current(root, files), folder / f"{name}.txt"
        if accept:
            folder.mkdir(parents=True, exist_ok=True)
            record.write_text(now)
            continue
        then = record.read_text() if record.exists() else ""
        if now != then:
            found.append(f"error: interface '{name}' is not as recorded:")
            found += difflib.unified_diff(
                then.splitlines(), now.splitlines(), f"recorded {name}",
                f"{name} now", lineterm="", n=1)
    return found


def main():
    arguments = [a for a in sys.argv[1:] if a != "--accept"]
    root = (arguments[0] if arguments
            else pathlib.Path(__file__).resolve().parents[2])
    found = check(root, accept="--accept" in sys.argv)
    print("\n".join(found) if found else "frozen: ok")
    if found:
        print("if this is meant: tools/check/frozen.py --accept, and say in "
              "the commit what changed for whom")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
