"""What shared libraries and programs define, need and look for."""

import collections
import pathlib
import re
import subprocess
import sys

# Functions and data of `sinter`, what the compiler makes for them (vtables,
# types, thunks, guards), and C names.
OURS = re.compile(r"sinter_|_Z(T[VTIS]|G[VR])?Z?N(K|O|R|KR)?6sinter"
                  r"|_ZT[hv]\w*_NK?6sinter|_ZT[HWC]N6sinter")
LLVMS = re.compile(r"_Z(T[VTISHWC]|G[VR])?Z?N(K|O|R|KR)?(4llvm|4mlir|3lld)"
                   r"|LLVM|mlir")
# The oldest systems that packages are for: glibc 2.34 and GCC 11.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13),
          "GCC": (7, 0, 0)}
SYSTEM = re.compile(r"lib(c|m|gcc_s|stdc\+\+)\.so\.\d+|ld-linux-x86-64\.so\.2")
# What one library alone may need beside these, by numbers that systems share.
FORMATS = {"libsinter-data": re.compile(
    r"lib(png16\.so\.16|turbojpeg\.so\.0|onig\.so\.5)")}


def output(*command):
    return subprocess.run([str(word) for word in command], text=True,
                          check=True, stdout=subprocess.PIPE).stdout


def is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def foreign_names(library):
    """How many names come out of a library, and those that are not ours."""
    names = [line.split()[-1] for line in
             output("nm", "-D", "--defined-only", library).splitlines()]
    return len(names), [name for name in names if not OURS.match(name)]


def needed_versions(path):
    """Kind to number to names, of what `path` needs: GLIBC to (2, 34) to open."""
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for line in output("nm", "-D", "--undefined-only", path).splitlines():
        name, _, version = line.split()[-1].partition("@")
        match = re.fullmatch(r"@?([A-Z]+)_([\d.]+)", version)
        if match:
            number = tuple(map(int, match[2].split(".")))
            found[match[1]][number].add(name)
    return found


def too_new(path):
    """Each name of a newer version than packages may need."""
    for kind, versions in needed_versions(path).items():
        for number, names in versions.items():
            if number > NEWEST.get(kind, ()):
                for name in names:
                    yield f"{name}@{kind}_{'.'.join(map(str, number))}"


def unusual_needs(path):
    """Libraries that not every system has, folders outside of the package, and
    names of LLVM's."""
    dynamic = output("readelf", "-dW", path)
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        also = FORMATS.get(path.name.partition(".")[0])
        if not SYSTEM.fullmatch(name) and not name.startswith("libsinter-") \
                and not (also and also.fullmatch(name)):
            yield f"the library {name}"
    for places in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", dynamic):
        for place in filter(None, places.split(":")):
            if not place.startswith("$ORIGIN"):
                yield f"the folder {place}"
    for line in output("nm", "-D", path).splitlines():
        if LLVMS.match(line.split()[-1]):
            yield f"the name {line.split()[-1]}"


def opens_alone(library):
    """None, or why a program without any environment cannot open it."""
    code = f"import ctypes; ctypes.CDLL({str(library)!r})"
    done = subprocess.run([sys.executable, "-c", code], env={}, text=True,
                          capture_output=True, check=False)
    return done.stderr.strip() if done.returncode else None


def newest_needed(paths):
    """Of every kind the highest version that any of `paths` needs."""
    highest = {}
    for path in paths:
        for kind, versions in needed_versions(path).items():
            highest[kind] = max(highest.get(kind, ()), *versions)
    return {kind: ".".join(map(str, number))
            for kind, number in sorted(highest.items())}


def elf_files(folder):
    return sorted(filter(is_elf, pathlib.Path(folder).rglob("*")))
