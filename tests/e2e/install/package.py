#!/usr/bin/env python3
"""Looks at the packages that cpack made, and uses them in clean systems.

usage: package.py PACKAGES files          what the archive holds runs alone
       package.py PACKAGES debian SUITE   in a fresh Debian: the packages are
                                          installed, then the archive unpacked;
                                          a project of somebody else's is built,
                                          trains, exports and runs, also in C;
                                          the tool compiles and runs a model

`debian` needs root, debootstrap and a mirror of Debian's.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import elf

HERE = pathlib.Path(__file__).resolve().parent
COMPILERS = {"bookworm": ["12"], "trixie": ["13", "14"]}
STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Werror"


def archive_of(packages):
    found = list(packages.glob("sinter-*.tar.zst"))
    if len(found) != 1:
        sys.exit(f"error: {len(found)} archives in {packages}; tools/dev "
                 "package makes one")
    return found[0]


# ---- files ------------------------------------------------------------------
def problems_of(path):
    """What keeps an unpacked library or program from older systems."""
    for name in elf.too_new(path):
        yield f"{path.name} needs {name}"
    for what in elf.unusual_needs(path):
        yield f"{path.name} needs {what}"
    if ".so" not in path.name:
        return
    count, foreign = elf.foreign_names(path)
    print(f"{path.name}: {path.stat().st_size} bytes, {count} names")
    for name in foreign:
        yield f"{path.name} defines {name}"
    if why := elf.opens_alone(path):
        yield f"{path.name} does not open: {why}"


def files(packages):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-C", folder, "--zstd", "-xf",
                        archive_of(packages)], check=True)
        found = elf.elf_files(folder)
        names = sorted(path.name.partition(".so")[0] for path in found)
        problems = [what for path in found for what in problems_of(path)]
        print("needs at most", elf.newest_needed(found))
    if names != ["libsinter-compiler", "libsinter-data", "libsinter-frontend",
                 "libsinter-runtime", "libsinter-trust", "sinter"]:
        problems.append(f"the archive holds {names}")
    if problems:
        sys.exit("\n".join(f"error: {what}" for what in problems[:40]))


# ---- debian -----------------------------------------------------------------
class System:
    """A fresh Debian in a folder, and how long was spent in it."""

    def __init__(self, suite, folder):
        self.root = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        self.timed(f"debootstrap {suite}",
                   ["debootstrap", "--variant=minbase", suite, folder,
                    mirror()])

    def timed(self, name, command):
        start = time.monotonic()
        done = subprocess.run([str(word) for word in command], text=True,
                              stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit(f"error: {name}\n{done.stdout[-8000:]}")
        print(f"{time.monotonic() - start:6.1f} s  {name}", flush=True)
        return done.stdout

    def run(self, script, name=None):
        """The output of a script that sees this system alone; what it mounts is
        gone afterwards."""
        inside = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                  "HOME=/root", "LC_ALL=C.UTF-8",
                  "DEBIAN_FRONTEND=noninteractive", "sh", "-ec",
                  "mount -t proc proc /proc\n" + script]
        return self.timed(name or script, ["unshare", "--mount", "--pid",
                                           "--fork", "chroot", self.root,
                                           *inside])

    def expect(self, script, expected, name=None):
        printed = self.run(script, name)
        if not re.search(expected, printed):
            sys.exit(f"error: {script} printed\n{printed}")
        print("         ", printed.strip().splitlines()[-1])


def mirror():
    """Where apt takes Debian's packages from here."""
    found = subprocess.run(["apt-get", "indextargets", "--format",
                            "$(REPO_URI)", "Created-By: Packages",
                            "Origin: Debian"], text=True, check=False,
                           stdout=subprocess.PIPE).stdout.split()
    return found[0] if found else "http://deb.debian.org/debian"


def run_trained(system, train, infer):
    """What the C++ program trains and writes runs in the program in C, to the
    bits that it printed."""
    printed = system.run(f"{train} /build/learned.sinter",
                         "train and export").strip()
    print("         ", printed)
    numbers = printed.partition(", learned")[2]
    if not numbers:
        sys.exit(f"error: {train} printed {printed}")
    system.expect(f"{infer} /build/learned.sinter",
                  re.escape(f": learned{numbers}") + "\n", "infer in C")


def build_consumer(system, compiler, prefix):
    """By CMake and by one command line: what is built runs, and finds nothing
    that was compiled before."""
    build = f"/build/{compiler}{prefix}"
    system.run(f"rm -rf /root/.cache && cmake -S /consumer -B {build} -G Ninja "
               f"-DCMAKE_C_COMPILER=gcc-{compiler} "
               f"-DCMAKE_CXX_COMPILER=g++-{compiler} "
               f"-DCMAKE_PREFIX_PATH={prefix} && cmake --build {build}",
               f"cmake --build with g++-{compiler}")
    run_trained(system, f"{build}/train", f"{build}/infer")
    system.expect(f"{build}/embedded", r"4\.5 5 0 0 0\.5 1\n",
                  "a model inside of a program")
    for program in ("devices", "devices-static"):
        system.expect(f"{build}/{program}", "cuda:0")
    system.run(f"cd {prefix}/include && find . -name '*.h' | sed "
               "'s,^[.]/\\(sinter/.*\\),#include <\\1>,;/^[.]/d' "
               f"> /build/all.cpp && g++-{compiler} -std=c++20 {STRICT} "
               f"-fsyntax-only -I{prefix}/include /build/all.cpp",
               f"public headers with g++-{compiler}")
    for command, source, package in (
            (f"g++-{compiler} -std=c++20", "train.cpp", "sinter"),
            (f"gcc-{compiler} -std=c11", "infer.c", "sinter-runtime")):
        system.run(f"export PKG_CONFIG_PATH={prefix}/lib/pkgconfig\n"
                   f"{command} -O2 {STRICT} /consumer/{source} "
                   f"-o {build}/one-{package} "
                   f"$(pkg-config --cflags --libs {package}) "
                   f"-Wl,-rpath,{prefix}/lib",
                   f"pkg-config {package} and {command}")
    run_trained(system, f"{build}/one-sinter", f"{build}/one-sinter-runtime")


def use_tool(system, prefix):
    system.expect(f"{prefix}/bin/sinter devices", "cpu")
    system.expect(f"{prefix}/bin/sinter compile /consumer/model.mlir "
                  "-o /build/model.sinter && ls -l /build/model.sinter",
                  "model.sinter")
    system.expect(f"{prefix}/bin/sinter run /build/model.sinter "
                  "--random-inputs 3", r"f32\[3,2\] 1\.3146\d+ 1\.0351")


def debian(packages, suite):
    start = time.monotonic()
    archive = archive_of(packages)
    system = System(suite, packages / "systems" / suite)
    shutil.copytree(HERE / "consumer", system.root / "consumer")
    for path in (*packages.glob("*.deb"), archive):
        shutil.copy(path, system.root)
    (system.root / "build").mkdir()
    shutil.copy("/etc/resolv.conf", system.root / "etc/resolv.conf")

    compilers = COMPILERS[suite]
    others = " ".join(f"g++-{compiler}" for compiler in compilers)
    system.run(f"apt-get update && apt-get install -y --no-install-recommends "
               f"{others} cmake ninja-build pkgconf zstd", "apt-get install "
               f"{others} cmake ninja-build pkgconf zstd")
    system.run("apt-get install -y --no-install-recommends /*.deb")
    for compiler in compilers:
        build_consumer(system, compiler, "/usr")
    use_tool(system, "/usr")

    system.run("apt-get remove -y libsinter")
    system.run(f"mkdir /elsewhere && tar -C /elsewhere --strip-components 1 "
               f"--zstd -xf /{archive.name}")
    build_consumer(system, compilers[-1], "/elsewhere")
    use_tool(system, "/elsewhere")
    shutil.rmtree(system.root)
    print(f"{time.monotonic() - start:6.1f} s  {suite} in all")


def main():
    packages, way, *rest = sys.argv[1:] or [""] * 2
    if way == "files" and not rest:
        files(pathlib.Path(packages).resolve())
    elif way == "debian" and len(rest) == 1 and rest[0] in COMPILERS:
        if os.geteuid() != 0:
            sys.exit("error: root is needed for a system in a folder")
        debian(pathlib.Path(packages).resolve(), rest[0])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
