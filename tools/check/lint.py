#!/usr/bin/env python3
"""Runs clang-tidy over the compiled files of the repository.

usage: lint.py BUILD [--changed] [--share N] [--tests] [--jobs N] [FILE...]

A file whose text, headers, flags and checks are those of an earlier clean run
is not looked at again: the stamps lie in BUILD/lint. --changed takes only the
files that differ from HEAD; --share those that the last commits changed, and of
the others one in N, other ones for each commit; --tests takes the tests too.
Files that include MLIR share a precompiled header made by clang, as they do in
the build.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLVM = pathlib.Path(os.environ.get("SINTER_LLVM_DIR", "/usr/lib/llvm-22"))
RECENT = 50  # commits
# A changed line of a patch that says more than what is included.
CHANGED = re.compile(r"[+-](?!\s*(#\s*include\b.*)?$)(?!(\+\+|--) )")
FOLDERS = ["compiler", "dialects", "examples", "frontend", "runtime", "tools"]


def clang_command(entry, pch):
    """The entry's flags as clang takes them, the compiler's name first."""
    words = shlex.split(entry["command"])
    while words and not words[0].endswith(("g++", "gcc")):
        words.pop(0)
    name = "clang++" if words[0].endswith("g++") else "clang"
    kept, skip, used_pch = [name], False, False
    for index, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT"):
            skip = True
        elif word == "-include" and "cmake_pch" in words[index + 1]:
            # Without those of the C++ library: each file includes what it uses.
            # That of targets holds the one of all that includes MLIR.
            skip, used_pch = True, bool(re.search(
                r"/sinter-(target-)?pch\.dir/", words[index + 1]))
        elif word not in ("-fpch-preprocess", "-Winvalid-pch", "-MD", "-c",
                          "-fno-tree-loop-distribute-patterns", entry["file"]):
            kept.append(word)
    if used_pch and pch:
        kept += ["-include-pch", str(pch)]
    return kept, used_pch


def make_pch(build, entries):
    """Compiles compiler/pch.h with the flags of the build's own one."""
    entry = next((e for e in entries
                  if e["file"].endswith("/pch/sinter-pch.cpp")),
                 None)
    if not entry:
        return None
    flags, _ = clang_command(entry, None)
    header = ROOT / "compiler/pch.h"
    key = hashlib.sha256(json.dumps(flags).encode() + header.read_bytes())
    pch = build / "lint" / f"pch-{key.hexdigest()[:16]}.pch"
    if not pch.exists():
        fresh = pch.with_suffix(f".{os.getpid()}")
        subprocess.run([LLVM / "bin/clang++", *flags[1:], "-w", "-x",
                        "c++-header", header, "-o", fresh],
                       cwd=entry["directory"], check=True)
        fresh.rename(pch)
    return pch


def dependencies(build):
    """Headers of each object in the repository, as ninja recorded them."""
    listing = subprocess.run(["ninja", "-C", build, "-t", "deps"],
                             capture_output=True, text=True, check=True)
    deps, current = {}, None
    for line in listing.stdout.split("\n"):
        if line.startswith("    "):
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT) and path.suffix != ".gch":
                current.append(path)
        elif "#deps" in line:
            current = deps.setdefault(line.split(":")[0], [])
    return deps


class Linter:
    def __init__(self, build):
        self.build = build
        entries = json.loads((build / "compile_commands.json").read_text())
        (build / "lint").mkdir(exist_ok=True)
        self.entries = {e["file"]: e for e in entries}
        self.pch = make_pch(build, entries)
        self.deps = dependencies(build)
        version = subprocess.run([LLVM / "bin/clang-tidy", "--version"],
                                 capture_output=True, check=True).stdout
        settings = sorted(ROOT.glob("**/.clang-tidy"))
        self.base = version + b"".join(p.read_bytes() for p in settings)
        self.digests = {}
        database = [dict(directory=e["directory"], file=e["file"],
                         arguments=clang_command(e, self.pch)[0]
                         + ["-c", e["file"]]) for e in entries]
        (build / "lint/compile_commands.json").write_text(
            json.dumps(database))

    def digest(self, path):
        if path not in self.digests:
            data = path.read_bytes() if path.exists() else b""
            self.digests[path] = hashlib.sha256(data).digest()
        return self.digests[path]

    def stamp(self, file):
        entry = self.entries[file]
        words = shlex.split(entry["command"])
        output = words[words.index("-o") + 1]
        key = hashlib.sha256(self.base)
        key.update(json.dumps(clang_command(entry, self.pch)[0]).encode())
        key.update(self.digest(pathlib.Path(file)))
        for path in sorted(self.deps.get(output, [])):
            key.update(str(path).encode() + self.digest(path))
        return self.build / "lint" / key.hexdigest()

    def run(self, file):
        """(file, complaints); an empty text when there are none."""
        stamp = self.stamp(file)
        if stamp.exists():
            return file, ""
        result = subprocess.run(
            [LLVM / "bin/clang-tidy", "--quiet", "-p", self.build / "lint",
             "--extra-arg=-Wno-unknown-warning-option",
             "--extra-arg=-Wno-unused-command-line-argument", file],
            capture_output=True, text=True, check=False)
        if result.returncode == 0:
            stamp.touch()
            return file, ""
        return file, result.stdout + result.stderr


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words],
                          capture_output=True, text=True, check=True).stdout


def changed_files():
    listing = git("status", "--porcelain", "-z")
    return {str(ROOT / line[3:]) for line in listing.split("\0") if line}


def recent_files(log=None):
    """Files whose lines the last commits changed, under today's names; an
    #include is no such line, or a header that is split would have every file
    looked at."""
    if log is None:
        log = git("log", f"-{RECENT}", "--patch", "--unified=0", "--find-renames",
                  "--format=", "--no-ext-diff", "--", "*.cpp", "*.c")
    found, name = set(), None
    now, old = {}, None  # the newest commit comes first
    for line in log.splitlines():
        if line.startswith("rename from "):
            old = line[12:]
        elif line.startswith("rename to "):
            now[old] = now.get(line[10:], line[10:])
        elif line.startswith("+++ "):
            name = line[6:] if line.startswith("+++ b/") else None
            name = now.get(name, name)
        elif name and CHANGED.match(line):
            found.add(str(ROOT / name))
    return found


def share_of(files, count):
    """What changed of late, and one in `count` of the rest."""
    commit, recent = git("rev-parse", "HEAD"), recent_files()

    def falls_to_commit(file):
        name = str(pathlib.Path(file).relative_to(ROOT))
        digest = hashlib.sha256((commit + name).encode()).digest()
        return int.from_bytes(digest[:8], "big") % count == 0

    return [f for f in files if f in recent or falls_to_commit(f)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--share", type=int)
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    linter = Linter(options.build.resolve())
    folders = FOLDERS + (["tests"] if options.tests else [])
    files = [f for f in linter.entries
             if any(f.startswith(f"{ROOT}/{folder}/") for folder in folders)]
    if options.files:
        wanted = {str(pathlib.Path(f).resolve()) for f in options.files}
        files = [f for f in linter.entries if f in wanted]
    if options.changed:
        files = sorted(set(files) & changed_files())
    if options.share:
        files = share_of(files, options.share)
    start, bad = time.time(), 0
    fresh = sum(not linter.stamp(f).exists() for f in files)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for file, complaints in pool.map(linter.run, files):
            if complaints:
                bad += 1
                print(complaints.strip(), flush=True)
    print(f"lint: {len(files)} files, {fresh} not seen before, {bad} with "
          f"complaints, {time.time() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
