#!/usr/bin/env python3
"""Compares the C interface with what programs were compiled with.

usage: abi.py [--accept] HEADER[:HEADER]... RECORD COMPILER [LIBRARY]

The record has every function with its types, every constant with its value and
every struct with its size and the offsets of its fields. What was released
stays: functions and constants are only added, structs only grow at their ends.
LIBRARY has to give out just the functions of the headers.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
FUNCTION = re.compile(r"^([\w *]+?)\b(sinter_\w+)\(([^;{]*)\);", re.M)
CALLBACK = re.compile(r"^typedef\s+[\w *]+\(\*(\w+)\)\([^;]*\);", re.M)
STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\} \1;", re.S)
FIELD = re.compile(r"(\w+);")
# The thread pool's, which no header of users has.
OTHERS = {"sinter_parallel_for"}
CONSTANT = re.compile(r"\b(SINTER_[A-Z0-9_]+)\s*(?:=|,|$)", re.M)


def one_line(text):
    text = re.sub(r"\s*\*\s*", " *", " ".join(text.split()))
    return text.replace("* *", "**").replace("( ", "(").strip()


def plain(headers):
    text = "".join(COMMENT.sub("", pathlib.Path(header).read_text())
                   for header in headers.split(":"))
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


def layouts(compiler, header, structs, constants):
    """Sizes, offsets and values, as the compiler has them."""
    lines = [f'  printf("constant {name} = %d\\n", (int){name});'
             for name in constants]
    for name, fields in structs:
        lines.append(f'  printf("struct {name}: %zu bytes\\n", sizeof({name}));')
        lines += [f'  printf("  {field} at %zu, %zu bytes\\n", '
                  f'offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
                  for field in fields]
    source = ("".join(f'#include "{pathlib.Path(each).resolve()}"\n'
                      for each in header.split(":")) + "#include <stdio.h>\n"
              "int main(void) {\n" + "\n".join(lines) + "\n  return 0;\n}\n")
    with tempfile.TemporaryDirectory() as folder:
        file, program = pathlib.Path(folder, "a.c"), pathlib.Path(folder, "a")
        file.write_text(source)
        include = pathlib.Path(header.split(":")[0]).resolve().parents[1]
        subprocess.run([compiler, "-std=c11", f"-I{include}", file, "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True,
                              text=True).stdout


def functions(text):
    found = {}
    for result, name, arguments in FUNCTION.findall(text):
        found[name] = one_line(f"{result} {name}({arguments})")
    return found


def record(compiler, header):
    text = plain(header)
    structs = [(name, FIELD.findall(body))
               for name, body in STRUCT.findall(text)]
    constants = sorted(set(CONSTANT.findall(
        " ".join(re.findall(r"enum\s*\{(.*?)\}", text, re.S)))))
    lines = [f"function {each}" for _, each in sorted(functions(text).items())]
    lines += [one_line(match.group()) for match in CALLBACK.finditer(text)]
    return "\n".join(lines) + "\n" + layouts(compiler, header, structs,
                                              constants)


def exported(library):
    output = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                            capture_output=True, text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in output.splitlines()}
    return {name for name in names - OTHERS if name.startswith("sinter_")}


def main():
    arguments = [each for each in sys.argv[1:] if each != "--accept"]
    header, recorded, compiler, *library = arguments
    now = record(compiler, header)
    if "--accept" in sys.argv:
        pathlib.Path(recorded).write_text(now)
        return 0
    then = pathlib.Path(recorded).read_text()
    problems = [f"gone or changed: {line}" for line in then.splitlines()
                if line not in now.splitlines()]
    problems += [f"not in the record: {line}" for line in now.splitlines()
                 if line not in then.splitlines()]
    if not problems and now != then:
        problems.append("the order is another one")
    declared = set(functions(plain(header)))
    for path in library:
        for name in sorted(declared ^ exported(path)):
            problems.append(f"{name} is in one of header and library alone")
    print("\n".join(problems) if problems
          else f"abi: ok, {len(declared)} functions")
    if problems:
        print("if this is meant: abi.py --accept, and bump the version's minor "
              "number where anything is gone or changed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
