#!/usr/bin/env python3
"""Checks that no library destroys anything while a process ends.

usage: exits.py BUILD

A thread may still compile or run a model while the main thread is in exit().
What such a thread uses must not be destroyed there: a function's static value
is made with `new` and never freed. An object file that has a destructor called
at exit names __cxa_atexit.
"""

import pathlib
import subprocess
import sys

LIBRARIES = ("compiler", "dialects", "frontend", "runtime")


def objects_in(build):
    for library in LIBRARIES:
        yield from sorted((build / library).rglob("*.o"))


def registering(objects):
    """Those of the object files that have something destroyed at exit."""
    text = subprocess.run(
        ["nm", "--undefined-only", "--print-file-name", *objects],
        check=True, capture_output=True, text=True).stdout
    return sorted({line.split(":", 1)[0] for line in text.splitlines()
                   if line.split()[-1] == "__cxa_atexit"})


def main():
    build = pathlib.Path(sys.argv[1])
    objects = list(objects_in(build))
    if not objects:
        sys.exit(f"exits: {build} has no object files")
    found = registering(objects)
    for name in found:
        print(f"{name}: destroys a static value when the process ends; "
              "make it with `new`")
    print(f"exits: {len(objects)} object files, {len(found)} with complaints")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
