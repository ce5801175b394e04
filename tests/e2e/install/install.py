#!/usr/bin/env python3
"""Uses an installed Sinter as other people do.

usage: install.py --build BUILD --cmake CMAKE --compiler COMPILER --llvm FOLDER
                  [--shared-mlir] WAY [FILE...]

  install       installs BUILD, and moves all of it elsewhere
  find_package  builds the consumer by CMake against what was moved, and runs it
  pkg_config    the same by one command line each
  headers       all public headers pass strict warnings, of every compiler here
  subdirectory  configures the consumer with Sinter as a part of it
  symbols       the libraries FILE define Sinter's names alone; type ids of
                MLIR's as well where libMLIR is shared (--shared-mlir)
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import elf

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CONSUMER = HERE / "consumer"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
# What a libsinter-compiler shares with a libMLIR.
TYPE_ID = re.compile(r"_Z(GV)?ZN4mlir6detail14TypeIDResolverINS_\w+"
                     r"13resolveTypeIDEvE2id$")
# What the program with a model inside prints.
EMBEDDED = "4.5 5 0 0 0.5 1\n"
OTHER_COMPILERS = ["g++-13", "g++-14", *(f"clang++-{n}" for n in range(16, 23))]


def run(*command, **options):
    """The output; what fails ends the test."""
    done = subprocess.run([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


class Place:
    """Where the tests of a build work, and what was installed there."""

    def __init__(self, options):
        self.options = options
        self.folder = options.build / "tests/install"
        self.moved = self.folder / "moved"

    def fresh(self, name):
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def lib(self):
        return next(self.moved.rglob("libsinter-runtime.so")).parent

    def configure(self, folder, *arguments):
        return run(self.options.cmake, "-S", CONSUMER, "-B", folder, "-G",
                   "Ninja", f"-DCMAKE_CXX_COMPILER={self.options.compiler}",
                   *arguments)

    def compile(self, source, program, *flags):
        compiler = self.options.compiler
        language = ["-std=c++20"]
        if source.endswith(".c"): # by the C++ compiler's driver, as C
            language = ["-x", "c", "-std=c11"]
        run(compiler, *language, *STRICT, CONSUMER / source, "-x", "none",
            "-o", program, *flags)


def version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(sinter VERSION (\S+)", text)[1]


def check_program(program, expected, *arguments):
    output = run(program, *arguments)
    if not output.startswith(f"sinter {version()}: ") or \
            expected not in output:
        sys.exit(f"error: {program} printed {output}")
    return output.strip()


def check_model(folder):
    """What train writes gives the same numbers in a program in C."""
    model = folder / "learned.sinter"
    trained = check_program(folder / "train", "learned", model)
    print(trained)
    numbers = trained.partition("learned")[2]
    print(check_program(folder / "infer", f": learned{numbers}\n", model))
    if "libsinter-compiler" in run("ldd", folder / "infer"):
        sys.exit("error: infer loads the compiler")


def check_libraries(program, place):
    """Those of Sinter's that the program loads are the installed ones."""
    for name, found in re.findall(r"(libsinter-\S+) => (\S+)",
                                  run("ldd", program)):
        if pathlib.Path(found).resolve().parent != place.lib().resolve():
            sys.exit(f"error: {program} loads {name} from {found}")


def install(place):
    shutil.rmtree(place.moved, ignore_errors=True)
    first = place.fresh("first")
    run(place.options.cmake, "--install", place.options.build, "--prefix",
        first)
    first.rename(place.moved)
    print(check_tool(place))
    check_manual(place)


def check_manual(place):
    """A page for each command that has one."""
    text = run(place.moved / "bin/sinter", "--help")
    commands = set(re.findall(r"^  ([a-z]+) ", text, re.M)) - {"opt"}
    pages = {path.stem.partition("-")[2]
             for path in place.moved.rglob("man1/sinter-*.1")}
    if commands - pages:
        sys.exit(f"error: no manual of {', '.join(sorted(commands - pages))}")


def check_tool(place):
    tool = place.moved / "bin/sinter"
    check_libraries(tool, place)
    return run(tool, "devices").strip()


def find_package(place):
    folder = place.fresh("find_package")
    place.configure(folder, f"-DCMAKE_PREFIX_PATH={place.moved}")
    run(place.options.cmake, "--build", folder)
    check_model(folder)
    for program in ("devices", "devices-static"):
        print(check_program(folder / program, "cuda:0"))
    for program in ("train", "infer", "devices", "devices-static"):
        check_libraries(folder / program, place)
    if run(folder / "embedded") != EMBEDDED:
        sys.exit("error: embedded gives something else")
    if "libsinter" in run("ldd", folder / "devices-static"):
        sys.exit("error: devices-static loads a library of Sinter's")


def pkg_config(place):
    folder = place.fresh("pkg_config")
    environment = dict(os.environ,
                       PKG_CONFIG_PATH=str(place.lib() / "pkgconfig"))

    def ask(*words):
        return run("pkg-config", *words, env=environment).split()

    if ask("--modversion", "sinter") != [version()]:
        sys.exit("error: another version")
    for package, source in (("sinter", "train.cpp"),
                            ("sinter-runtime", "infer.c"),
                            ("sinter-runtime", "devices.cpp")):
        program = folder / source.partition(".")[0]
        place.compile(source, program, *ask("--cflags", "--libs", package),
                      f"-Wl,-rpath,{place.lib()}")
        check_libraries(program, place)
    check_model(folder)
    print(check_program(folder / "devices", "cuda:0"))


def headers(place):
    include = place.moved / "include"
    names = sorted(str(path.relative_to(include))
                   for path in include.rglob("*.h"))
    source = place.fresh("headers") / "all.cpp"
    source.write_text("".join(f"#include <{name}>\n" for name in names))
    others = filter(None, map(shutil.which, OTHER_COMPILERS))
    for compiler in (place.options.compiler, *others):
        run(compiler, "-std=c++20", "-fsyntax-only", *STRICT, "-I", include,
            source)
        run(compiler, "-x", "c", "-std=c11", "-fsyntax-only", *STRICT, "-I",
            include, include / "sinter/c_api.h")
        print(f"{compiler}: {len(names)} headers")


def subdirectory(place):
    folder = place.fresh("subdirectory")
    place.configure(folder, f"-DFETCHCONTENT_SOURCE_DIR_SINTER={ROOT}",
                    f"-DSINTER_LLVM_DIR={place.options.llvm}")
    programs = run("ninja", "-C", folder, "-t", "targets", "all")
    for name in ("train", "infer", "devices", "devices-static", "embedded"):
        if f"\n{name}: " not in programs:
            sys.exit(f"error: {name} is no target")
    # What is Sinter's own alone is not a part of other people's builds.
    if "02_digits" in programs or "frontend-test" in programs:
        sys.exit("error: tests or examples are built, too")
    print(f"{programs.count(': ')} targets")


def symbols(place):
    for library in place.options.files:
        count, foreign = elf.foreign_names(library)
        if place.options.shared_mlir:
            foreign = [name for name in foreign if not TYPE_ID.match(name)]
        if foreign or count < 100:
            sys.exit(f"error: {library} defines {count} names, of others "
                     f"{len(foreign)}:\n" + "\n".join(foreign[:20]))
        print(f"{library}: {count} names")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--cmake")
    parser.add_argument("--compiler")
    parser.add_argument("--llvm")
    parser.add_argument("--shared-mlir", action="store_true")
    ways = {way.__name__: way for way in (install, find_package, pkg_config,
                                          headers, subdirectory, symbols)}
    parser.add_argument("way", choices=ways)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    ways[options.way](Place(options))


if __name__ == "__main__":
    main()
