"""What shared libraries define."""

import re
import subprocess

# Functions and data of `sinter`, what the compiler makes for them (vtables,
# types, thunks, guards), and C names.
OURS = re.compile(r"sinter_|_Z(T[VTIS]|G[VR])?Z?N(K|O|R|KR)?6sinter"
                  r"|_ZT[hv]\w*_NK?6sinter|_ZT[HWC]N6sinter")


def output(*command):
    return subprocess.run([str(word) for word in command], text=True,
                          check=True, stdout=subprocess.PIPE).stdout


def foreign_names(library):
    """How many names come out of a library, and those that are not ours."""
    names = [line.split()[-1] for line in
             output("nm", "-D", "--defined-only", library).splitlines()]
    return len(names), [name for name in names if not OURS.match(name)]
