#!/usr/bin/env python3
"""Compiles and runs the blocks of C++ and C of a page of the documentation.

usage: check_code.py REPOSITORY BUILD FILE.md CXX CC

What a block takes for granted stands before it in a comment that readers do not
see: `<!-- given: STATEMENTS -->`, whose lines `#include ...` and structs go before
the block's function, as the block's own do. A comment `<!-- shell: COMMANDS -->`
is run by bash before, in the folder that the blocks run in, with the build's
folder in BUILD, that of the sources in REPOSITORY, and how a program of C++ is compiled in COMPILE. Blocks of a page are one program for each language.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:<!-- given:\s(.*?)-->\n)?^```(cpp|c)\n(.*?)^```",
                   re.M | re.S)
SHELL = re.compile(r"<!-- shell: (.*?)-->", re.S)
OUTSIDE = re.compile(r"^#include.*?$|^namespace \w+ = .*?;$|"
                     r"^(?:static|struct|int64_t|void) [^;]*?\{\n.*?^\};?$|"
                     r"^static char .*?;$", re.M | re.S)
BEFORE = {"cpp": "#include <sinter/sinter.h>\n#include <iostream>\n"
                 "namespace sn = sinter;\n",
          "c": "#include <sinter/c_api.h>\n"}


def program(language, blocks):
    """A function for each block, and main, which calls them in order."""
    text, calls = BEFORE[language], []
    for number, (given, block) in enumerate(blocks):
        code = given + "\n" + block
        outside = [match.group() for match in OUTSIDE.finditer(code)]
        includes = [line for line in outside if line.startswith("#")]
        others = [part for part in outside if not part.startswith("#")]
        inside = OUTSIDE.sub("", code)
        text = "\n".join(includes) + "\n" + text
        if language == "cpp":
            others = [part for part in others
                      if part != "namespace sn = sinter;"]
            text += f"namespace block{number} {{\n" + "\n".join(others) + \
                f"\nvoid run() {{\n{inside}\n}}\n}}\n"
            calls.append(f"  block{number}::run();")
        else:
            text += "\n".join(others) + \
                f"\nstatic void run{number}(void) {{\n{inside}\n}}\n"
            calls.append(f"  run{number}();")
    return text + "int main(void) {\n" + "\n".join(calls) + "\n  return 0;\n}\n"


def build(language, source, folder, root, build_folder, compiler):
    includes = [f"-I{folder}", f"-I{root}/frontend/include",
                f"-I{root}/runtime/include", f"-I{build_folder}/generated"]
    libraries = ["-Wl,--no-as-needed", f"-L{build_folder}/lib",
                 "-lsinter-runtime", f"-Wl,-rpath,{build_folder}/lib"]
    flags = ["-std=c++20"] if language == "cpp" else ["-std=gnu11"]
    if language == "cpp":
        libraries.append("-lsinter-frontend")
        if any((build_folder / "lib").glob("libsinter-data.*")):
            libraries.append("-lsinter-data")
    objects = sorted(folder.glob("*.o"))
    return [compiler, *flags, "-w", *includes, *libraries, source, *objects,
            "-o", folder / f"blocks-{language}"]


def run(command, folder, problems, **more):
    done = subprocess.run([str(word) for word in command], cwd=folder,
                          text=True, capture_output=True, check=False, **more)
    if done.returncode != 0:
        problems.append(f"failed: {' '.join(map(str, command))}\n"
                        f"{done.stdout}{done.stderr}")
    return done.returncode == 0


def main(root, build_folder, document, cxx, cc):
    root, build_folder = (pathlib.Path(each).resolve()
                          for each in (root, build_folder))
    text = pathlib.Path(document).read_text()
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        compile_program = " ".join(map(str, build(
            "cpp", "", folder, root, build_folder, cxx)[:-2]))
        for commands in SHELL.findall(text):
            run(["bash", "-euo", "pipefail", "-c", f"BUILD={build_folder}\n"
                 f"REPOSITORY={root}\nCOMPILE='{compile_program}'\n{commands}"], folder, problems)
        for language, compiler in (("cpp", cxx), ("c", cc)):
            blocks = [(given, block) for given, found, block
                      in BLOCK.findall(text) if found == language]
            if not blocks:
                continue
            count += len(blocks)
            source = folder / f"blocks.{language}"
            source.write_text(program(language, blocks))
            command = build(language, source, folder, root, build_folder,
                            compiler)
            if run(command, folder, problems):
                run([folder / f"blocks-{language}"], folder, problems)
    name = pathlib.Path(document).name
    print("\n".join(problems) or f"{name}: {count} blocks run")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
